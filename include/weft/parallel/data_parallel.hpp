// SPDX-License-Identifier: BSL-1.0
/// Data parallelism: a step on several devices at once, each with a part of the batch.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/parallel/collective.hpp"
#include "weft/parallel/collective_ops.hpp"
#include "weft/parallel/detail/updated_with.hpp"
#include "weft/parallel/gradients.hpp"
#include "weft/parallel/parallel_workload.hpp"
#include "weft/plan/plan.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/concepts.hpp"
#include "weft/workload/copy_ops.hpp"
#include "weft/workload/role.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft::parallel {

/// Gradients that are reduced together.
struct gradient_bucket {
  std::vector<tensor_id> gradients = {}; ///< of the step, as they lie one after the other
  byte_count bytes = 0;
  std::vector<op_id> pack = {};   ///< by replica: cuts them into chunks, its outputs
  std::vector<op_id> unpack = {}; ///< by replica: an output for each of their sums, or of those it has a part of
};

/// The workload of several replicas, `replica` of which each op belongs to; `origin` is in the step of one.
struct replicated_workload : parallel_workload {
  std::vector<gradient_bucket> buckets = {};
  byte_count gradient_bytes = 0; ///< of one replica
};

/// Ops that one replica does for all, such as experts, with the rows of all of them. What other ops make of each
/// replica's part of the batch is sent there and joined, and what they make of all rows is cut for the replicas, which
/// together are all-to-alls. Parameters that only they update are there once, and their gradients need no all-reduce.
struct shared_ops {
  /// The same ops with another batch: what is as large there does not grow with the batch, and is not joined or cut.
  const workload* whole = nullptr;
  std::vector<std::uint32_t> owner = {}; ///< by op: the replica that does it; `none`: each does its own; empty: all do
};

struct data_parallel_options {
  /// Gradients that become ready one after the other are reduced together, up to so many bytes; a larger one alone.
  /// The default is that of PyTorch's DistributedDataParallel.
  byte_count bucket_bytes = 25 * 1024 * 1024;
  /// By tensor of the step: gradients with one number are reduced together, whatever their bytes; empty: by bytes.
  std::vector<std::uint32_t> bucket_of = {};
  /// Each replica updates a part of each bucket's parameters, for which alone it holds the optimiser's state: gradients
  /// are reduced to where their part is updated, and the new parameters gathered from there. As much is sent.
  bool shard_updates = false;
  /// … of so many replicas that follow each other, which have all parts together; other groups update the same. The
  /// all-reduce has rings within and between the groups. 0: of all.
  std::uint32_t shard_ranks = 0;
  /// Sharded updates are gathered; not so where a replica keeps only its part of the parameters (`fully_sharded`).
  bool gather_updated = true;
  double element_bytes = 4; ///< of a number in a gradient
  shared_ops shared = {};
};

/// Replicas of a step, which has its part of the batch already, one per placement in `replicas`. Before the updates,
/// each gets the sums of the gradients (`gradients`) of all, bucket by bucket, by an all-reduce among as many ranks. A
/// step that trains nothing has no collectives. Replica r's ops are called `data_r/…`. What else of the step is shared,
/// such as the statistics of a batch normalisation, each replica has for itself. A norm of all gradients by which they
/// are clipped is of the sums if it is of the update (`op_role::update`), else each replica has its own.
///
/// Throws `value_error` if there are not as many replicas as ranks, for a placement of another number of ops, buckets
/// of another number of tensors, if gradients that share a device in one replica do not in another, if updates are to
/// be sharded and the all-reduce leaves some rank no part or an update works on several gradients as a whole, if shared
/// ops belong to no replica or read something of a part of the batch that does not grow with it, and if a parameter
/// follows from gradients of shared ops and of others.
/// Complexity: O(replicas (n + m) + messages).
/// Sources: Li et al., *PyTorch Distributed: Experiences on Accelerating Data Parallel Training*, VLDB 13(12), 2020;
/// for sharded updates Rajbhandari et al., *ZeRO: Memory Optimizations Toward Training Trillion Parameter Models*, SC
/// 2020, stages 1 and 2; Xu et al., *Automatic Cross-Replica Sharding of Weight Update in Data-Parallel Training*,
/// 2020.
template <named_workload Workload>
replicated_workload data_parallel(const Workload& step, const std::vector<placement>& replicas,
                                  const collective& all_reduce, const data_parallel_options& o = {});

/// The same with a part of the batch of another size for each replica: `steps` has the same ops for each, in their
/// order. Throws `value_error` also if it has not.
template <named_workload Workload>
replicated_workload data_parallel(const std::vector<const Workload*>& steps, const std::vector<placement>& replicas,
                                  const collective& all_reduce, const data_parallel_options& o = {});

namespace detail {

template <class Workload>
class data_parallel_builder {
public:
  data_parallel_builder(const std::vector<const Workload*>& steps, const std::vector<placement>& replicas,
                        const collective& all_reduce, const data_parallel_options& o)
      : steps_{steps}, step_{*steps.front()}, replicas_{replicas}, all_reduce_{all_reduce}, o_{o} {
    const auto is_other = [&](const Workload* step) { return !have_same_ops(*step, step_); };
    if (steps.size() != replicas.size() || std::any_of(steps.begin(), steps.end(), is_other)) {
      throw value_error("data_parallel", "give a step for each replica, all with the same ops");
    }
    if (replicas.size() != all_reduce.ranks) {
      throw value_error("data_parallel", std::to_string(replicas.size()) + " replicas for an all-reduce among " +
                                           std::to_string(all_reduce.ranks));
    }
    check_messages(all_reduce, "data_parallel");
    for (const auto& where : replicas) {
      if (where.size() != step_.num_ops()) {
        throw value_error("data_parallel", "a placement of " + std::to_string(where.size()) + " ops for a step of " +
                                             std::to_string(step_.num_ops()));
      }
    }
    if (!o.bucket_of.empty() && o.bucket_of.size() != step_.num_tensors()) {
      throw value_error("data_parallel", "buckets of " + std::to_string(o.bucket_of.size()) +
                                           " tensors for a step of " + std::to_string(step_.num_tensors()));
    }
    check_shared();
  }

  replicated_workload make() {
    reduced_.assign(replicas_.size(), {});
    if (replicas_.size() > 1) {
      fill_buckets(gradients(step_));
    }
    if (o_.shard_updates && replicas_.size() > 1) {
      halves_ = halves_of(all_reduce_, o_.shard_ranks);
      find_parts();
      updated_with_ = updated_with(step_, [&](tensor_id t) { return !part_[t].empty(); });
      updates_ = updates_by_gradient(step_, updated_with_);
    }
    for (std::uint32_t r = 0; r < replicas_.size(); ++r) {
      copy_ops_of(r);
    }
    for (std::size_t b = 0; b < made_.buckets.size(); ++b) {
      reduce(b);
    }
    for (std::uint32_t r = 0; r < replicas_.size(); ++r) {
      connect(r);
    }
    for (std::size_t b = 0; b < made_.buckets.size() && is_sharded() && o_.gather_updated; ++b) {
      gather(b);
    }
    made_.graph = std::move(b_).build();
    return std::move(made_);
  }

private:
  /// `none` if the replica has no part of it.
  op_id copy_of(std::uint32_t r, op_id v) const { return copy_[r * step_.num_ops() + v]; }
  bool is_sharded() const { return !halves_.owner.empty(); }
  device_id device_of(const gradient_bucket& b, std::uint32_t r) const {
    return replicas_[r][step_.producer(b.gradients.front())];
  }
  static std::string name_of(std::uint32_t r, const std::string& what) {
    return "data_" + std::to_string(r) + "/" + what;
  }

  /// The replica that does the op for all; `none` if each does its own.
  std::uint32_t owner_of(op_id v) const { return o_.shared.owner.empty() ? std::uint32_t{none} : o_.shared.owner[v]; }
  bool is_shared(op_id v) const { return owner_of(v) != none; }
  /// True for a tensor that grows with the batch, so that each replica has a part of it.
  bool has_parts(tensor_id t) const { return has_shared() && o_.shared.whole->bytes(t) != step_.bytes(t); }
  bool has_shared() const { return !o_.shared.owner.empty(); }
  byte_count bytes_of_all(tensor_id t) const {
    byte_count sum = 0;
    for (const auto* step : steps_) {
      sum += step->bytes(t);
    }
    return has_parts(t) ? sum : step_.bytes(t);
  }
  /// The work of replica r's copy.
  double work_of(std::uint32_t r, op_id v) const {
    if (!is_shared(v) || o_.shared.whole->work(v) == step_.work(v)) {
      return steps_[r]->work(v);
    }
    double sum = 0;
    for (const auto* step : steps_) {
      sum += step->work(v);
    }
    return sum;
  }

  void check_shared() const {
    if (!has_shared()) {
      return;
    }
    const auto refuse = [](const char* problem) {
      return value_error("data_parallel", std::string{"shared ops: "} + problem);
    };
    const auto* whole = o_.shared.whole;
    if (!whole || o_.shared.owner.size() != step_.num_ops() || !have_same_ops(*whole, step_)) {
      throw refuse("the step with another batch has other ops");
    }
    for (const op_id v : ids(step_.num_ops())) {
      if (is_shared(v) && owner_of(v) >= replicas_.size()) {
        throw refuse("one belongs to a replica that does not exist");
      }
    }
    std::vector<bool> of_batch(step_.num_ops(), false); // follows from something that grows
    for (const op_id v : graph::topological_order(step_)) {
      for (const tensor_id t : step_.inputs(v)) {
        const op_id from = step_.producer(t);
        if (step_.bytes(t) == 0) {
          continue;
        }
        of_batch[v] = of_batch[v] || of_batch[from] || has_parts(t);
        if (is_shared(v) && !is_shared(from) && of_batch[from] && !has_parts(t)) {
          throw value_error("data_parallel", "shared ops: what '" + std::string{step_.name(from)} + "' makes for '" +
                                               std::string{step_.name(v)} +
                                               "' is another thing in each replica, and does not grow with the batch");
        }
      }
    }
  }

  void note(std::uint32_t r, device_id d, op_id origin) {
    made_.where.push_back(d);
    made_.origin.push_back(origin);
    made_.replica.push_back(r);
  }

  /// Adds an op that the step does not have.
  op_id add(std::uint32_t r, device_id d, op o) {
    note(r, d, none);
    return b_.add_op(std::move(o));
  }

  void copy_ops_of(std::uint32_t r) {
    std::vector<op_id> first(step_.num_groups(), none);
    for (const op_id v : ids(step_.num_ops())) {
      const double part = !is_sharded() || updated_with_[v] == none ? 1 : part_[updated_with_[v]][r];
      if (part == 0 || (is_shared(v) && owner_of(v) != r)) {
        copy_.push_back(none);
        continue;
      }
      op o = op_of(step_, v);
      o.work = work_of(r, v) * part;
      o.resident_bytes = part_of(steps_[r]->resident_bytes(v), part);
      o.name = name_of(r, o.name);
      const op_id made = b_.add_op(std::move(o));
      copy_.push_back(made);
      for (const tensor_id t : step_.outputs(v)) {
        b_.add_output(made, is_shared(v) ? bytes_of_all(t) : steps_[r]->bytes(t));
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

  /// The part of each gradient that each replica updates: where it overlaps with the chunks of which that has the sum.
  void find_parts() {
    part_.assign(step_.num_tensors(), {});
    for (const auto& b : made_.buckets) {
      const auto sizes = chunk_sizes(b.bytes);
      byte_count begin = 0; // of a gradient in the bucket
      for (const tensor_id t : b.gradients) {
        const byte_count end = begin + step_.bytes(t);
        auto& parts = part_[t];
        parts.assign(replicas_.size(), 0);
        byte_count first = 0; // of a chunk
        for (std::uint32_t k = 0; k < all_reduce_.chunks; ++k) {
          const byte_count last = first + sizes[k];
          if (std::max(first, begin) < std::min(last, end)) {
            const double part = static_cast<double>(std::min(last, end) - std::max(first, begin)) /
                                static_cast<double>(end - begin);
            for (auto r = halves_.owner[k]; r < parts.size(); r += halves_.group) {
              parts[r] += part;
            }
          }
          first = last;
        }
        begin = end;
      }
    }
  }

  /// The most updates on a path to each op.
  std::vector<std::uint32_t> updates_before() const {
    std::vector<std::uint32_t> before(step_.num_ops(), 0);
    for (const op_id v : graph::topological_order(step_)) {
      for (const tensor_id t : step_.inputs(v)) {
        const op_id from = step_.producer(t);
        before[v] = std::max(before[v], before[from] + (is_update(step_, from) ? 1 : 0));
      }
    }
    return before;
  }

  /// The ops that follow from what shared ops make of all rows.
  std::vector<bool> after_shared() const {
    std::vector<bool> after(step_.num_ops(), false);
    for (const op_id v : graph::topological_order(step_)) {
      for (const tensor_id t : step_.inputs(v)) {
        const op_id from = step_.producer(t);
        const bool of_all = is_shared(from) ? !has_parts(t) : after[from];
        after[v] = after[v] || (of_all && step_.bytes(t) > 0 && !is_update(step_, from));
      }
    }
    return after;
  }

  /// Fills buckets in the order in which gradients become ready, those of each device apart. Gradients that are made
  /// after some update, such as those of a second optimiser, are in later buckets than those before it.
  void fill_buckets(const std::vector<tensor_id>& ready) {
    const auto before = updates_before();
    std::vector<gradient_bucket> open;
    const auto after = after_shared();
    for (const tensor_id t : ready) {
      if (const op_id v = step_.producer(t); is_shared(v) && !has_parts(t)) {
        continue; // it is that of all replicas already
      } else if (is_shared(v) || after[v]) {
        throw value_error("data_parallel", "shared ops: the gradient '" + std::string{step_.name(v)} +
                                             "' has terms of all replicas and terms of each");
      }
      const device_id d = replicas_[0][step_.producer(t)];
      const auto level = before[step_.producer(t)];
      const auto number = [&](tensor_id x) { return o_.bucket_of.empty() ? 0 : o_.bucket_of[x]; };
      auto at = std::find_if(open.begin(), open.end(), [&](const auto& b) {
        const tensor_id first = b.gradients.front();
        return device_of(b, 0) == d && before[step_.producer(first)] == level && number(first) == number(t);
      });
      if (at != open.end() && o_.bucket_of.empty() && at->bytes + step_.bytes(t) > o_.bucket_bytes) {
        made_.buckets.push_back(std::move(*at));
        open.erase(at);
        at = open.end();
      }
      if (at == open.end()) {
        at = open.insert(at, gradient_bucket{});
      }
      at->gradients.push_back(t);
      at->bytes += step_.bytes(t);
      made_.gradient_bytes += step_.bytes(t);
    }
    made_.buckets.insert(made_.buckets.end(), open.begin(), open.end());
  }

  void reduce(std::size_t number) {
    auto& bucket = made_.buckets[number];
    const auto name = "all_reduce_" + std::to_string(number);
    const auto sizes = chunk_sizes(bucket.bytes);
    std::vector<op_output> have;
    for (std::uint32_t r = 0; r < replicas_.size(); ++r) {
      const device_id d = device_of(bucket, r);
      const op_id pack = add(r, d, {.name = name_of(r, name + "/pack"), .type = collective_types::pack});
      bucket.pack.push_back(pack);
      for (const tensor_id t : bucket.gradients) {
        const op_id v = step_.producer(t);
        if (replicas_[r][v] != d) {
          throw value_error("data_parallel",
                            "the gradients '" + std::string{step_.name(step_.producer(bucket.gradients.front()))} +
                              "' and '" + std::string{step_.name(v)} +
                              "' are on one device in replica 0, but not in replica " + std::to_string(r));
        }
        const auto from = source(r, t, false);
        b_.add_edge(from.op, pack, from.output);
      }
      for (std::uint32_t k = 0; k < sizes.size(); ++k) {
        have.push_back({pack, b_.add_output(pack, sizes[k])});
      }
    }
    add_collective(b_, is_sharded() ? halves_.scatter : all_reduce_, sizes, have, name, o_.element_bytes,
                   [&](std::uint32_t r, op_id) { note(r, device_of(bucket, r), none); });
    for (std::uint32_t r = 0; r < replicas_.size(); ++r) {
      const op_id unpack = add_unpack(bucket, r, name + "/unpack", have, is_sharded());
      bucket.unpack.push_back(unpack);
      for (const tensor_id t : bucket.gradients) {
        const double part = is_sharded() ? part_[t][r] : 1;
        if (part > 0) {
          reduced_[r].emplace_back(t, op_output{unpack, b_.add_output(unpack, part_of(step_.bytes(t), part))});
        }
      }
    }
  }

  std::vector<byte_count> chunk_sizes(byte_count bytes) const {
    return parallel::chunk_sizes(bytes, all_reduce_.chunks, o_.element_bytes);
  }

  /// Reads all chunks that rank r has, or only those of which it has the sum.
  op_id add_unpack(const gradient_bucket& b, std::uint32_t r, const std::string& name,
                   const std::vector<op_output>& have, bool own) {
    const op_id unpack = add(r, device_of(b, r), {.name = name_of(r, name), .type = collective_types::unpack});
    for (std::uint32_t k = 0; k < all_reduce_.chunks; ++k) {
      if (!own || halves_.owns(r, k)) {
        const auto& [op, output] = have[std::size_t{r} * all_reduce_.chunks + k];
        b_.add_edge(op, unpack, output);
      }
    }
    return unpack;
  }

  /// Gathers a bucket's parameters after their updates.
  void gather(std::size_t number) {
    const auto& bucket = made_.buckets[number];
    const auto name = "all_gather_" + std::to_string(number);
    std::vector<op_id> updates;
    for (const tensor_id t : bucket.gradients) {
      updates.insert(updates.end(), updates_[t].begin(), updates_[t].end());
    }
    const auto sizes = chunk_sizes(bucket.bytes);
    std::vector<op_output> have(std::size_t{all_reduce_.ranks} * all_reduce_.chunks);
    for (std::uint32_t r = 0; r < replicas_.size(); ++r) {
      const op_id parts = add(r, device_of(bucket, r), {.name = name_of(r, name + "/parameters"), // are where they are
                                                        .type = collective_types::start});        // sent from
      for (const op_id update : updates) {
        if (copy_of(r, update) != none) {
          b_.add_control_edge(copy_of(r, update), parts);
        }
      }
      for (std::uint32_t k = 0; k < all_reduce_.chunks; ++k) {
        if (halves_.owns(r, k)) {
          have[std::size_t{r} * all_reduce_.chunks + k] = {parts, b_.add_output(parts, sizes[k])};
        }
      }
    }
    add_collective(b_, halves_.gather, sizes, have, name, o_.element_bytes,
                   [&](std::uint32_t r, op_id) { note(r, device_of(bucket, r), none); });
    for (std::uint32_t r = 0; r < replicas_.size(); ++r) {
      const op_id all = add_unpack(bucket, r, name + "/unpack", have, false);
      for (const op_id reader : after(updates)) {
        if (copy_of(r, reader) != none) {
          b_.add_control_edge(all, copy_of(r, reader));
        }
      }
    }
  }

  /// The ops that follow these updates and are none, in order.
  std::vector<op_id> after(const std::vector<op_id>& updates) const {
    std::vector<op_id> found;
    for (const op_id update : updates) {
      for (const tensor_id done : step_.outputs(update)) {
        for (const op_id reader : step_.consumers(done)) {
          is_update(step_, reader) ? void() : found.push_back(reader);
        }
      }
    }
    sort_unique(found);
    return found;
  }

  /// The edges of a replica; its updates read the sums instead of its own gradients.
  void connect(std::uint32_t r) {
    std::vector<op_output> sum(step_.num_tensors());
    for (const auto& [t, output] : reduced_[r]) {
      sum[t] = output;
    }
    for (const tensor_id t : ids(step_.num_tensors())) {
      for (const op_id reader : step_.consumers(t)) {
        if (copy_of(r, reader) == none) {
          continue;
        }
        if (is_of_parts(t, reader)) {
          connect_to_parts(r, t, copy_of(r, reader));
          continue;
        }
        const bool reads_sum = is_update(step_, reader) && (sum[t].op != none || (is_sharded() && !part_[t].empty()));
        const auto from = reads_sum ? sum[t] : source(r, t, is_shared(reader)); // of which it may have no part
        if (from.op != none) {
          b_.add_edge(from.op, copy_of(r, reader), from.output);
        }
      }
    }
  }

  /// True for what an update makes of its part of a gradient, such as a norm of it, and `reader` reads of all parts.
  bool is_of_parts(tensor_id t, op_id reader) const {
    const op_id from = step_.producer(t);
    return is_sharded() && is_update(step_, from) && updated_with_[from] != none && is_update(step_, reader) &&
           updated_with_[reader] == none;
  }
  void connect_to_parts(std::uint32_t rank, tensor_id t, op_id reader) {
    const op_id v = step_.producer(t);
    const auto first = rank / halves_.group * halves_.group;
    for (auto r = first; r < first + halves_.group; ++r) {
      if (const op_id part = copy_of(r, v); part != none) {
        b_.add_edge(part, reader, static_cast<std::uint32_t>(t - *step_.outputs(v).begin()));
      }
    }
  }

  /// The tensor as an op of a replica reads it, which does it for all if it is shared.
  op_output source(std::uint32_t r, tensor_id t, bool for_all) {
    const op_id v = step_.producer(t);
    const auto output = static_cast<std::uint32_t>(t - *step_.outputs(v).begin());
    if (is_shared(v)) {
      const op_output made{copy_of(owner_of(v), v), output};
      if (for_all || !has_parts(t)) {
        // What only waits for it does so where it is.
        return for_all || step_.bytes(t) > 0 || r == owner_of(v) ? made : op_output{};
      }
      return {cut(t, made), r};
    }
    return for_all && has_parts(t) ? joined(r, t, output) : op_output{copy_of(r, v), output};
  }

  /// A tensor of all replicas, one part after the other, where replica r makes its own.
  op_output joined(std::uint32_t r, tensor_id t, std::uint32_t output) {
    const op_id v = step_.producer(t);
    op_id& join = joined_.try_emplace({t, r}, op_id{none}).first->second;
    if (join == none) {
      join = add(r, replicas_[r][v], {.name = name_of(r, std::string{step_.name(v)} + "/all_to_all/join"),
                                      .type = collective_types::unpack});
      for (std::uint32_t from = 0; from < replicas_.size(); ++from) {
        b_.add_edge(sent(from, t, output), join);
      }
      b_.add_output(join, bytes_of_all(t));
    }
    return {join, 0};
  }

  /// The op whose output is a replica's part of a tensor, as its message to those that join all of them.
  op_id sent(std::uint32_t r, tensor_id t, std::uint32_t output) {
    const op_id v = step_.producer(t);
    op_id& made = sent_.try_emplace({t, r}, op_id{none}).first->second;
    if (made == none) {
      made = add(r, replicas_[r][v], {.bytes = steps_[r]->bytes(t),
                                      .name = name_of(r, std::string{step_.name(v)} + "/all_to_all/send"),
                                      .type = collective_types::start,
                                      .memory = output_memory::view});
      b_.add_edge(copy_of(r, v), made, output);
    }
    return made;
  }

  /// The op that cuts a tensor into the parts of the replicas, its outputs.
  op_id cut(tensor_id t, const op_output& whole) {
    const op_id v = step_.producer(t);
    op_id& made = cut_.try_emplace(t, op_id{none}).first->second;
    if (made == none) {
      const auto r = owner_of(v);
      made = add(r, replicas_[r][v], {.name = name_of(r, std::string{step_.name(v)} + "/all_to_all/cut"),
                                      .type = collective_types::start});
      b_.add_edge(whole.op, made, whole.output);
      for (const auto* step : steps_) {
        b_.add_output(made, step->bytes(t));
      }
    }
    return made;
  }

  const std::vector<const Workload*>& steps_; ///< by replica
  const Workload& step_;                      ///< of the first one, for what all have in common
  const std::vector<placement>& replicas_;
  const collective& all_reduce_;
  const data_parallel_options& o_;
  workload_builder b_;
  replicated_workload made_;
  std::vector<std::vector<std::pair<tensor_id, op_output>>> reduced_; ///< by replica
  std::vector<op_id> copy_;               ///< by replica and op
  std::vector<tensor_id> updated_with_;   ///< by op: the gradient in whose parts it is there; `none`: as a whole
  std::vector<std::vector<op_id>> updates_; ///< if they are sharded: by gradient
  std::vector<std::vector<double>> part_; ///< if updates are sharded: by gradient and replica
  all_reduce_halves halves_; ///< without owners if updates are not sharded
  std::map<std::pair<tensor_id, std::uint32_t>, op_id> joined_, sent_; ///< by tensor and replica
  std::map<tensor_id, op_id> cut_;
};

} // namespace detail

template <named_workload Workload>
replicated_workload data_parallel(const std::vector<const Workload*>& steps, const std::vector<placement>& replicas,
                                  const collective& all_reduce, const data_parallel_options& o) {
  if (steps.empty()) {
    throw value_error("data_parallel", "there are no replicas");
  }
  return detail::data_parallel_builder<Workload>{steps, replicas, all_reduce, o}.make();
}

template <named_workload Workload>
replicated_workload data_parallel(const Workload& step, const std::vector<placement>& replicas,
                                  const collective& all_reduce, const data_parallel_options& o) {
  return data_parallel(std::vector<const Workload*>(replicas.size(), &step), replicas, all_reduce, o);
}

} // namespace weft::parallel
