// SPDX-License-Identifier: BSL-1.0
/// Data parallelism: a step on several devices at once, each with a part of the batch.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/parallel/collective.hpp"
#include "weft/parallel/collective_ops.hpp"
#include "weft/parallel/gradients.hpp"
#include "weft/plan/plan.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/concepts.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::parallel {

/// Gradients that are reduced together.
struct gradient_bucket {
  std::vector<tensor_id> gradients = {}; ///< of the step, as they lie one after the other
  byte_count bytes = 0;
  std::vector<op_id> pack = {};   ///< by replica: cuts them into chunks, its outputs
  std::vector<op_id> unpack = {}; ///< by replica: an output for each of their sums, or for its part of that
};

/// A workload that was made for several devices, with the device of each op.
struct parallel_workload {
  workload graph = {};
  weft::placement where = {};                ///< by op
  std::vector<op_id> origin = {};            ///< by op: the op of the step that it came from; `none` in collectives
  std::vector<std::uint32_t> replica = {};   ///< by op
  std::vector<gradient_bucket> buckets = {};
  byte_count gradient_bytes = 0;             ///< of one replica
};

struct data_parallel_options {
  /// Gradients that become ready one after the other are reduced together, up to so many bytes; a larger one alone.
  /// The default is that of PyTorch's DistributedDataParallel.
  byte_count bucket_bytes = 25 * 1024 * 1024;
  /// Each replica updates a part of every parameter, for which alone it holds the optimiser's state: gradients are
  /// reduced to where their part is updated, and the new parameters gathered from there. As much is sent.
  bool shard_updates = false;
  double element_bytes = 4; ///< of a number in a gradient
};

/// Replicas of a step, which has its part of the batch already, one per placement in `replicas`. Before the updates,
/// each gets the sums of the gradients (`gradients`) of all, bucket by bucket, by an all-reduce among as many ranks.
/// A step that trains nothing has no collectives. Replica r's ops are called `data_r/…`. What else of the step is
/// shared, such as the statistics of a batch normalisation, each replica has for itself, and so does a norm of all
/// gradients by which they are clipped before they are reduced.
///
/// Throws `value_error` if there are not as many replicas as ranks, for a placement of another number of ops, if
/// gradients that share a device in one replica do not in another, and if updates are to be sharded and the all-reduce
/// leaves some rank no part. Complexity: O(replicas (n + m) + messages).
/// Sources: Li et al., *PyTorch Distributed: Experiences on Accelerating Data Parallel Training*, VLDB 13(12), 2020;
/// for sharded updates Rajbhandari et al., *ZeRO: Memory Optimizations Toward Training Trillion Parameter Models*, SC
/// 2020, stages 1 and 2; Xu et al., *Automatic Cross-Replica Sharding of Weight Update in Data-Parallel Training*,
/// 2020.
template <named_workload Workload>
parallel_workload data_parallel(const Workload& step, const std::vector<placement>& replicas,
                                const collective& all_reduce, const data_parallel_options& o = {});

namespace detail {

template <class Workload>
class data_parallel_builder {
public:
  data_parallel_builder(const Workload& step, const std::vector<placement>& replicas, const collective& all_reduce,
                        const data_parallel_options& o)
      : step_{step}, replicas_{replicas}, all_reduce_{all_reduce}, o_{o} {
    if (replicas.size() != all_reduce.ranks) {
      throw value_error("data_parallel", std::to_string(replicas.size()) + " replicas for an all-reduce among " +
                                           std::to_string(all_reduce.ranks));
    }
    for (const auto& where : replicas) {
      if (where.size() != step.num_ops()) {
        throw value_error("data_parallel", "a placement of " + std::to_string(where.size()) + " ops for a step of " +
                                             std::to_string(step.num_ops()));
      }
    }
  }

  parallel_workload make() {
    reduced_.assign(replicas_.size(), {});
    part_.assign(step_.num_ops(), 1);
    if (o_.shard_updates && replicas_.size() > 1) {
      split_messages();
      find_sharded_ops();
    }
    for (std::uint32_t r = 0; r < replicas_.size(); ++r) {
      copy_ops_of(r);
    }
    if (replicas_.size() > 1) {
      reduce(gradients(step_));
    }
    for (std::uint32_t r = 0; r < replicas_.size(); ++r) {
      connect(r);
    }
    for (const auto& x : gathers_) {
      gather(x);
    }
    made_.graph = std::move(b_).build();
    return std::move(made_);
  }

private:
  op_id copy_of(std::uint32_t r, op_id v) const { return static_cast<op_id>(r * step_.num_ops() + v); }

  void note(std::uint32_t r, device_id d, op_id origin) {
    made_.where.push_back(d);
    made_.origin.push_back(origin);
    made_.replica.push_back(r);
  }

  void copy_ops_of(std::uint32_t r) {
    std::vector<op_id> first(step_.num_groups(), none);
    const std::string prefix = "data_" + std::to_string(r) + "/";
    for (const op_id v : ids(step_.num_ops())) {
      const op_id made = b_.add_op({.work = step_.work(v) * part_[v],
                                    .resident_bytes = part_of(step_.resident_bytes(v), part_[v]),
                                    .kinds = step_.kinds(v),
                                    .name = prefix + std::string{step_.name(v)},
                                    .type = std::string{step_.type(v)}});
      for (const tensor_id t : step_.outputs(v)) {
        b_.add_output(made, step_.bytes(t));
      }
      if (const auto g = step_.group(v); g != none) {
        first[g] == none ? void(first[g] = made) : b_.colocate(first[g], made);
      }
      note(r, replicas_[r][v], v);
    }
  }

  static byte_count part_of(byte_count bytes, double part) {
    return part == 1 ? bytes : static_cast<byte_count>(std::ceil(static_cast<double>(bytes) * part));
  }

  /// The part of the all-reduce that adds, the rest, and who has the sum of each chunk between them.
  void split_messages() {
    const auto middle = std::find_if(all_reduce_.messages.begin(), all_reduce_.messages.end(),
                                     [](const message& m) { return !m.adds; });
    scatter_ = gather_ = {all_reduce_.ranks, all_reduce_.chunks};
    scatter_.messages.assign(all_reduce_.messages.begin(), middle);
    gather_.messages.assign(middle, all_reduce_.messages.end());
    owner_.assign(all_reduce_.chunks, none);
    std::vector<bool> owns(all_reduce_.ranks, false);
    for (const auto& m : gather_.messages) {
      auto& owner = owner_[m.chunk];
      owner = owner == none ? m.from : owner;
      owns[owner] = true;
    }
    if (std::find(owns.begin(), owns.end(), false) != owns.end()) {
      throw value_error("data_parallel", "an all-reduce after whose additions some rank has no part cannot shard "
                                         "updates; take a ring");
    }
  }

  /// Updates of gradients, and the state that nothing but updates reads, are there in parts.
  void find_sharded_ops() {
    const double part = 1.0 / static_cast<double>(replicas_.size());
    for (const op_id v : ids(step_.num_ops())) {
      const auto read_by = [&](bool updates) {
        for (const tensor_id t : step_.outputs(v)) {
          for (const op_id reader : step_.consumers(t)) {
            if (step_.bytes(t) > 0 && is_update(step_.type(reader)) == updates) {
              return true;
            }
          }
        }
        return false;
      };
      const bool is_state = step_.resident_bytes(v) > 0 && read_by(true) && !read_by(false);
      part_[v] = is_update(step_.type(v)) || is_state ? part : 1;
    }
  }

  /// Fills buckets in the order in which gradients become ready, those of each device apart.
  void reduce(const std::vector<tensor_id>& ready) {
    struct bucket {
      device_id device = none; ///< in the first replica
      byte_count bytes = 0;
      std::vector<tensor_id> tensors = {};
    };
    std::vector<bucket> open;
    for (const tensor_id t : ready) {
      const device_id d = replicas_[0][step_.producer(t)];
      auto at = std::find_if(open.begin(), open.end(), [d](const bucket& x) { return x.device == d; });
      if (at != open.end() && at->bytes + step_.bytes(t) > o_.bucket_bytes) {
        reduce_together(at->tensors, at->bytes);
        open.erase(at);
        at = open.end();
      }
      if (at == open.end()) {
        at = open.insert(at, bucket{.device = d});
      }
      at->tensors.push_back(t);
      at->bytes += step_.bytes(t);
      made_.gradient_bytes += step_.bytes(t);
    }
    for (const auto& rest : open) {
      reduce_together(rest.tensors, rest.bytes);
    }
  }

  void reduce_together(const std::vector<tensor_id>& tensors, byte_count bytes) {
    const auto number = std::to_string(made_.buckets.size());
    auto& bucket = made_.buckets.emplace_back(gradient_bucket{.gradients = tensors, .bytes = bytes});
    const auto chunks = all_reduce_.chunks;
    const auto sizes = chunk_sizes(bytes);
    std::vector<op_output> have;
    std::vector<device_id> device;
    for (std::uint32_t r = 0; r < replicas_.size(); ++r) {
      device.push_back(replicas_[r][step_.producer(tensors.front())]);
      const op_id pack = b_.add_op({.name = "data_" + std::to_string(r) + "/all_reduce_" + number + "/pack",
                                    .type = collective_types::pack});
      bucket.pack.push_back(pack);
      note(r, device[r], none);
      for (const tensor_id t : tensors) {
        const op_id v = step_.producer(t);
        if (replicas_[r][v] != device[r]) {
          throw value_error("data_parallel", "the gradients '" + std::string{step_.name(step_.producer(tensors[0]))} +
                                               "' and '" + std::string{step_.name(v)} +
                                               "' are on one device in replica 0, but not in replica " +
                                               std::to_string(r));
        }
        b_.add_edge(copy_of(r, v), pack, t - *step_.outputs(v).begin());
      }
      for (std::uint32_t k = 0; k < chunks; ++k) {
        b_.add_output(pack, sizes[k]);
        have.push_back({pack, k});
      }
    }
    const bool sharded = !owner_.empty();
    add_collective(b_, sharded ? scatter_ : all_reduce_, sizes, have, "all_reduce_" + number, o_.element_bytes,
                   [&](std::uint32_t r, op_id) { note(r, device[r], none); });
    for (std::uint32_t r = 0; r < replicas_.size(); ++r) {
      const op_id unpack = add_unpack(r, device[r], number, have, sharded);
      bucket.unpack.push_back(unpack);
      for (const tensor_id t : tensors) {
        const auto there = part_of(step_.bytes(t), sharded ? 1.0 / static_cast<double>(replicas_.size()) : 1);
        reduced_[r].emplace_back(t, op_output{unpack, b_.add_output(unpack, there)});
      }
    }
    if (sharded) {
      gathers_.push_back({number, tensors, sizes, std::move(device)});
    }
  }

  /// Whole numbers of elements that add up, but for what is left of one.
  std::vector<byte_count> chunk_sizes(byte_count bytes) const {
    const auto element = std::max<byte_count>(1, static_cast<byte_count>(o_.element_bytes));
    const byte_count elements = bytes / element, chunks = all_reduce_.chunks;
    std::vector<byte_count> sizes;
    for (byte_count k = 0; k < chunks; ++k) {
      sizes.push_back((elements / chunks + (k < elements % chunks ? 1 : 0)) * element);
    }
    sizes.back() += bytes % element;
    return sizes;
  }

  /// Reads all chunks that rank r has, or only those of which it has the sum.
  op_id add_unpack(std::uint32_t r, device_id d, const std::string& number, const std::vector<op_output>& have,
                   bool own) {
    const op_id unpack = b_.add_op({.name = "data_" + std::to_string(r) + "/all_reduce_" + number + "/unpack",
                                    .type = collective_types::unpack});
    note(r, d, none);
    for (std::uint32_t k = 0; k < all_reduce_.chunks; ++k) {
      if (!own || owner_[k] == r) {
        const auto& [op, output] = have[std::size_t{r} * all_reduce_.chunks + k];
        b_.add_edge(op, unpack, output);
      }
    }
    return unpack;
  }

  /// A bucket whose parameters are to be gathered after their updates.
  struct gathered {
    std::string number;
    std::vector<tensor_id> gradients;
    std::vector<byte_count> sizes; ///< of the chunks
    std::vector<device_id> device; ///< by replica
  };

  void gather(const gathered& x) {
    std::vector<op_output> have(std::size_t{all_reduce_.ranks} * all_reduce_.chunks);
    for (std::uint32_t r = 0; r < replicas_.size(); ++r) {
      const op_id parts = b_.add_op({.name = "data_" + std::to_string(r) + "/all_gather_" + x.number + "/parameters",
                                     .type = collective_types::unpack}); // they are where they are sent from
      note(r, x.device[r], none);
      for (const tensor_id t : x.gradients) {
        for (const op_id reader : step_.consumers(t)) {
          if (is_update(step_.type(reader))) {
            b_.add_control_edge(copy_of(r, reader), parts);
          }
        }
      }
      for (std::uint32_t k = 0; k < all_reduce_.chunks; ++k) {
        if (owner_[k] == r) {
          have[std::size_t{r} * all_reduce_.chunks + k] = {parts, b_.add_output(parts, x.sizes[k])};
        }
      }
    }
    add_collective(b_, gather_, x.sizes, have, "all_gather_" + x.number, o_.element_bytes,
                   [&](std::uint32_t r, op_id) { note(r, x.device[r], none); });
    for (std::uint32_t r = 0; r < replicas_.size(); ++r) {
      add_unpack(r, x.device[r], x.number + "/gathered", have, false);
    }
  }

  /// The edges of a replica; its updates read the sums instead of its own gradients.
  void connect(std::uint32_t r) {
    std::vector<op_output> sum(step_.num_tensors());
    for (const auto& [t, output] : reduced_[r]) {
      sum[t] = output;
    }
    for (const tensor_id t : ids(step_.num_tensors())) {
      const op_id v = step_.producer(t);
      for (const op_id reader : step_.consumers(t)) {
        if (sum[t].op != none && is_update(step_.type(reader))) {
          b_.add_edge(sum[t].op, copy_of(r, reader), sum[t].output);
        } else {
          b_.add_edge(copy_of(r, v), copy_of(r, reader), t - *step_.outputs(v).begin());
        }
      }
    }
  }

  const Workload& step_;
  const std::vector<placement>& replicas_;
  const collective& all_reduce_;
  const data_parallel_options& o_;
  workload_builder b_;
  parallel_workload made_;
  std::vector<std::vector<std::pair<tensor_id, op_output>>> reduced_; ///< by replica
  std::vector<double> part_;         ///< by op: of it in each replica
  collective scatter_, gather_;      ///< if updates are sharded
  std::vector<std::uint32_t> owner_; ///< … by chunk; empty if they are not
  std::vector<gathered> gathers_;
};

} // namespace detail

template <named_workload Workload>
parallel_workload data_parallel(const Workload& step, const std::vector<placement>& replicas,
                                const collective& all_reduce, const data_parallel_options& o) {
  return detail::data_parallel_builder<Workload>{step, replicas, all_reduce, o}.make();
}

} // namespace weft::parallel
