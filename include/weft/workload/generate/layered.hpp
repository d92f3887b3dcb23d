// SPDX-License-Identifier: BSL-1.0
/// Random workloads: a layered DAG with random work, sizes, device constraints and colocation groups.
#pragma once

#include "weft/graph/generate.hpp"
#include "weft/workload/builder.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace weft::generate {

/// Options of random layered workloads. The defaults are those of the critical-path paper's generator ([CP], classes
/// GraphConfig and Connected_DAG_Generator of its published code). Amounts are drawn uniformly from closed intervals;
/// their units are those of the platform they are meant for.
struct layered_dag_options {
  level_options shape = {};
  std::uint32_t min_work = 1; ///< work units per op
  std::uint32_t max_work = 100;
  std::uint32_t min_bytes = 1; ///< size of an op's output tensor
  std::uint32_t max_bytes = 100;
  std::uint32_t min_resident_bytes = 1; ///< memory an op needs beside its tensors
  std::uint32_t max_resident_bytes = 100;
  double cpu_only_probability = 0.01; ///< of an op that may only run on a CPU
  double gpu_only_probability = 0.01; ///< of an op that may only run on a GPU
  /// Of n ops, about n · share · U · 2^-i groups have i = 2, 3, … members (U uniform in [0, 1), drawn once per i).
  double colocation_share = 0.2;
};

namespace detail {

inline void check(const layered_dag_options& o) {
  require(o.min_work <= o.max_work, "min_work, max_work", "the smaller comes first");
  require(o.min_bytes <= o.max_bytes, "min_bytes, max_bytes", "the smaller comes first");
  require(o.min_resident_bytes <= o.max_resident_bytes, "min_resident_bytes, max_resident_bytes",
          "the smaller comes first");
  require(is_probability(o.cpu_only_probability) && is_probability(o.gpu_only_probability) &&
            is_probability(o.cpu_only_probability + o.gpu_only_probability),
          "cpu_only_probability, gpu_only_probability", "must be from 0 to 1, and so must their sum");
  require(is_probability(o.colocation_share), "colocation_share", "must be from 0 to 1");
}

/// Colocates random ops in groups of 2, 3, …; a group's members allow a common device kind.
inline void add_colocations(workload_builder& b, double share, rng& random) {
  std::vector<op_id> free(b.num_ops(), 0);
  for (const op_id v : ids(free.size())) {
    free[v] = v;
  }
  random.shuffle(free);
  std::vector<op_id> group;
  double expected = share * static_cast<double>(b.num_ops()) / 2;
  for (std::size_t size = 2; expected / 2 >= 1; ++size) {
    expected /= 2;
    for (auto count = static_cast<std::uint64_t>(expected * random.uniform()); count > 0; --count) {
      group.clear();
      kind_set allowed = kind_set::all();
      for (std::size_t i = free.size(); i-- > 0 && group.size() < size;) { // from the end: taken ones go cheaply
        const op_id v = free[i];
        if (const auto common = allowed & b.kinds(v); !common.empty()) {
          allowed = common;
          group.push_back(v);
          free.erase(free.begin() + static_cast<std::ptrdiff_t>(i));
        }
      }
      for (std::size_t i = 1; i < group.size(); ++i) {
        b.colocate(group[i - 1], group[i]);
      }
    }
  }
}

} // namespace detail

/// A random workload on a layered DAG; every op has one output tensor. The same options and seed give the same
/// workload everywhere. Throws `value_error` for options that are out of range.
/// Complexity: O(n + m log m) expected. Source: the generator published with [CP].
inline workload layered(const layered_dag_options& o = {}, std::uint64_t seed = 0) {
  detail::check(o);
  rng random{seed};
  auto g = layered_structure(o.shape, random);
  workload_builder b;
  for (std::size_t v = 0; v < g.num_ops(); ++v) {
    const auto draw = [&random](std::uint32_t low, std::uint32_t high) { return random.between(low, high); };
    op made{.work = static_cast<double>(draw(o.min_work, o.max_work))};
    made.bytes = static_cast<byte_count>(draw(o.min_bytes, o.max_bytes));
    made.resident_bytes = static_cast<byte_count>(draw(o.min_resident_bytes, o.max_resident_bytes));
    const double u = random.uniform();
    made.kinds = u < o.cpu_only_probability                            ? kind_set{device_kind::cpu}
                 : u < o.cpu_only_probability + o.gpu_only_probability ? kind_set{device_kind::gpu}
                                                                       : kind_set::all();
    b.add_op(std::move(made));
  }
  b.reserve_edges(g.arcs.size());
  for (const auto& [u, v] : g.arcs) {
    b.add_edge(u, v);
  }
  g = {}; // before the builder needs room for as much again
  detail::add_colocations(b, o.colocation_share, random);
  return std::move(b).build();
}

/// A random workload of exactly that many ops, on levels of `width` ops with `in_degree` expected inputs per op (fewer
/// on the first levels, which have little before them); everything else as by default.
inline workload layered_sized(std::uint64_t num_ops, std::uint32_t width, double in_degree, std::uint64_t seed = 0) {
  return layered({.shape = {.min_width = width, .max_width = width, .num_ops = num_ops, .in_degree = in_degree}}, seed);
}

} // namespace weft::generate
