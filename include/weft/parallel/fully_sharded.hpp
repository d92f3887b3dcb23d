// SPDX-License-Identifier: BSL-1.0
/// Fully sharded data parallelism: replicas that hold a part of each parameter, and gather them unit by unit.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/parallel/collective.hpp"
#include "weft/parallel/collective_ops.hpp"
#include "weft/parallel/data_parallel.hpp"
#include "weft/parallel/parameter_gathers.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/concepts.hpp"
#include "weft/workload/copy_ops.hpp"
#include "weft/workload/role.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::parallel {

namespace detail {

template <class Workload>
class fully_sharded_builder {
public:
  fully_sharded_builder(const replicated_workload& replicas, const Workload& step, const parameter_gathers& gathers,
                        const collective& all_reduce, double element_bytes, std::uint32_t shard_ranks)
      : from_{replicas}, step_{step}, gathers_{gathers}, halves_{halves_of(all_reduce, shard_ranks)},
        element_bytes_{element_bytes}, ranks_{all_reduce.ranks}, copy_(std::size_t{ranks_} * step.num_ops(), none),
        holds_(step.num_ops(), false), begun_(gathers.units.size(), false), reduced_(gathers.units.size() + 1) {
    for (const op_id v : ids(from_.origin.size())) {
      if (from_.replica[v] >= ranks_) {
        throw value_error("fully_sharded", "there are more replicas than the all-reduce has ranks");
      }
      if (from_.origin[v] != none) {
        copy_[from_.replica[v] * step.num_ops() + from_.origin[v]] = v;
      }
    }
    for (const auto& u : gathers.units) {
      for (const auto& x : u.parameters) {
        x.holder == none ? void() : void(holds_[x.holder] = true);
      }
    }
    for (const auto& g : gathers.gathers) {
      for (const auto& x : g.readers) {
        for (std::uint32_t r = 0; r < ranks_; ++r) {
          if (copy_of(r, x.op) == none) {
            throw value_error("fully_sharded", "replica " + std::to_string(r) + " of " + std::to_string(ranks_) +
                                                 " has no op '" + std::string{step.name(x.op)} +
                                                 "', which reads parameters; give replicas that do all ops");
          }
        }
      }
    }
    find_reduced();
  }

  replicated_workload make() && {
    made_ = {{{}, from_.where, from_.origin, from_.replica}, from_.buckets, from_.gradient_bytes};
    const auto& w = from_.graph;
    copy_ops(
      b_, w, [&](op_id v) { return holds(v) ? 0 : is_part(v) ? part_of(w.resident_bytes(v)) : w.resident_bytes(v); },
      [&](tensor_id t) { return is_part(w.producer(t)) ? part_of(w.bytes(t)) : w.bytes(t); },
      [&](tensor_id t, op_id reader) { return !is_gathered(t, reader); }, keep_all{},
      [&](op_id v) { return is_part(v) ? w.work(v) / halves_.group : w.work(v); });
    for (std::size_t i = 0; i < gathers_.gathers.size(); ++i) {
      gather(i);
    }
    made_.graph = std::move(b_).build();
    return std::move(made_);
  }

private:
  /// The buckets with a unit's gradients, and the last op of the step that makes one in these.
  struct reduced_unit {
    std::vector<std::size_t> buckets = {};
    std::size_t made = 0; ///< its place in `place_`
  };

  void find_reduced() {
    place_.resize(gathers_.order.size());
    for (std::size_t i = 0; i < gathers_.order.size(); ++i) {
      place_[gathers_.order[i]] = i;
    }
    const auto unit_of = units_of_gradients(step_, gathers_);
    for (std::size_t b = 0; b < from_.buckets.size(); ++b) {
      std::size_t made = 0; // the last one of the bucket
      for (const tensor_id t : from_.buckets[b].gradients) {
        made = std::max(made, place_[step_.producer(t)]);
      }
      for (const tensor_id t : from_.buckets[b].gradients) {
        auto& unit = reduced_[unit_of[t]];
        unit.made = std::max(unit.made, made);
        unit.buckets.empty() || unit.buckets.back() != b ? unit.buckets.push_back(b) : void();
      }
    }
  }

  op_id copy_of(std::uint32_t r, op_id v) const { return copy_[r * step_.num_ops() + v]; }
  bool is_part(op_id v) const { return from_.origin[v] != none && gathers_.in_parts[from_.origin[v]]; }
  bool holds(op_id v) const { return from_.origin[v] != none && holds_[from_.origin[v]]; }
  byte_count part_of(byte_count bytes) const {
    return bytes <= largest_constant ? bytes : (bytes + halves_.group - 1) / halves_.group;
  }
  /// True if the reader gets the tensor as a whole from its gather.
  bool is_gathered(tensor_id t, op_id reader) const {
    return is_part(from_.graph.producer(t)) && from_.graph.bytes(t) > largest_constant && !is_part(reader) &&
           from_.origin[reader] != none && !is_update(from_.graph, reader);
  }

  /// Notes an op that the step does not have.
  void note(std::uint32_t r, device_id d) {
    made_.where.push_back(d);
    made_.origin.push_back(none);
    made_.replica.push_back(r);
  }

  op_id add(std::uint32_t r, device_id d, op o) {
    note(r, d);
    return b_.add_op(std::move(o));
  }

  void gather(std::size_t number) {
    const auto& g = gathers_.gathers[number];
    const auto& unit = gathers_.units[g.unit];
    const auto sizes = chunk_sizes(unit.bytes, halves_.gather.chunks, element_bytes_);
    const auto name = "gather_" + std::to_string(number);
    std::vector<op_output> have(std::size_t{ranks_} * sizes.size());
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      const op_id begin = add_begin(r, g, name);
      for (std::uint32_t k = 0; k < sizes.size(); ++k) {
        if (halves_.owns(r, k)) {
          have[r * sizes.size() + k] = {begin, b_.add_output(begin, sizes[k])};
        }
      }
    }
    begun_[g.unit] = true;
    add_collective(b_, halves_.gather, sizes, have, name, element_bytes_, [&](std::uint32_t r, op_id) {
      note(r, device_of(r, g));
    });
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      add_end(r, g, name, {have.data() + r * sizes.size(), sizes.size()});
    }
  }

  device_id device_of(std::uint32_t r, const parameter_gather& g) const {
    return from_.where[copy_of(r, g.readers.front().op)];
  }

  /// A replica's part of a unit, which it sends when those are done whose place the unit takes. It is where the parts
  /// lie of parameters that ops of the step hold themselves.
  op_id add_begin(std::uint32_t r, const parameter_gather& g, const std::string& name) {
    byte_count held = 0;
    for (const auto& x : gathers_.units[g.unit].parameters) {
      held += x.holder != none && !begun_[g.unit] ? part_of(x.bytes) : 0;
    }
    const op_id begin = add(r, device_of(r, g), {.resident_bytes = held,
                                                 .name = "data_" + std::to_string(r) + "/" + name + "/parameters",
                                                 .type = collective_types::start});
    for (const auto before : g.in_place_of) {
      op_id last = none;
      for (const auto& x : gathers_.gathers[before].readers) {
        if (const op_id reader = copy_of(r, x.op); reader != last) {
          b_.add_control_edge(reader, begin);
          last = reader;
        }
      }
    }
    return begin;
  }

  /// The parameters of a unit as ops read them, once all chunks are there, and the gradients added up, if they are made
  /// by then, of the unit whose place it takes.
  void add_end(std::uint32_t r, const parameter_gather& g, const std::string& name, std::span<const op_output> chunks) {
    const op_id end = add(r, device_of(r, g), {.name = "data_" + std::to_string(r) + "/" + name + "/unpack",
                                               .type = collective_types::unpack});
    for (const auto& [op, output] : chunks) {
      b_.add_edge(op, end, output);
    }
    for (const auto before : g.in_place_of) {
      const auto& reduced = reduced_[gathers_.gathers[before].unit];
      if (reduced.made < place_[g.readers.front().op]) {
        for (const auto bucket : reduced.buckets) {
          b_.add_control_edge(from_.buckets[bucket].unpack[r], end);
        }
      }
    }
    for (const auto& x : gathers_.units[g.unit].parameters) {
      b_.add_output(end, x.bytes);
    }
    for (const auto& x : g.readers) {
      b_.add_edge(end, copy_of(r, x.op), static_cast<std::uint32_t>(x.parameter));
    }
  }

  const replicated_workload& from_;
  const Workload& step_;
  const parameter_gathers& gathers_;
  all_reduce_halves halves_;
  double element_bytes_;
  std::uint32_t ranks_;
  std::vector<op_id> copy_;  ///< by replica and op of the step
  std::vector<bool> holds_;  ///< by op of the step: what it holds is in a unit
  std::vector<bool> begun_;  ///< by unit
  std::vector<reduced_unit> reduced_; ///< by unit, and of gradients of none
  std::vector<std::size_t> place_;    ///< by op of the step, in a topological order
  workload_builder b_;
  replicated_workload made_;
};

} // namespace detail

/// Replicas of `step`, made by `data_parallel` with sharded updates that are not gathered (`gather_updated`), which
/// hold a part of each parameter of `gathers`: ZeRO's stage 3; or in groups of `shard_ranks` (0: all), each of which
/// holds all parts, as the options of `data_parallel` say: hybrid sharding, as within nodes. A unit of parameters is
/// gathered by all of a group before the ops that read it, and is gone after the last of them; as many units may have
/// gradients that are not added up yet (FSDP's limits); of what it holds a replica sends its part, by the second half
/// of the `all_reduce` that adds gradients up. Ops called `…/gather_3/…` follow those of `replicas`, which keep their
/// ids.
///
/// Throws `value_error` if there are not as many replicas as ranks, if one lacks an op that reads parameters, such as
/// an expert, and as `halves_of`.
/// Complexity: O(n + m + gathers · (messages + ranks · chunks)).
/// Sources: Rajbhandari et al., *ZeRO: Memory Optimizations Toward Training Trillion Parameter Models*, SC 2020; Zhao
/// et al., *PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel*, VLDB 16(12), 2023.
template <named_workload Workload>
replicated_workload fully_sharded(const replicated_workload& replicas, const Workload& step,
                                  const parameter_gathers& gathers, const collective& all_reduce,
                                  double element_bytes = 4, std::uint32_t shard_ranks = 0) {
  if (all_reduce.ranks == 1) {
    return replicas;
  }
  return detail::fully_sharded_builder<Workload>{replicas, step, gathers, all_reduce, element_bytes, shard_ranks}
    .make();
}

} // namespace weft::parallel
