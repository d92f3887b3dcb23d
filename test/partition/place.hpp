// SPDX-License-Identifier: BSL-1.0
/// Calls partitioners in tests.
#pragma once

#include "weft/partition/concepts.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/builder.hpp"

#include <cstdint>
#include <initializer_list>
#include <set>
#include <utility>
#include <vector>

namespace weft::test {

/// What a partitioner decides for a seed.
template <class Partitioner, class Problem>
outcome<partition::decided> decide(const Partitioner& s, const Problem& p, std::uint64_t seed = 0) {
  rng random{seed};
  workspace scratch;
  return partition::run(s, p, random, scratch);
}

/// The placement alone; empty if there is none.
template <class Partitioner, class Problem>
placement place(const Partitioner& s, const Problem& p, std::uint64_t seed = 0) {
  auto decided = decide(s, p, seed);
  return decided ? std::move(decided->plan.placement) : placement{};
}

/// Ops with these amounts of work, one output of `bytes` each, and edges between them.
inline workload_builder ops_of(std::initializer_list<double> work, std::initializer_list<std::pair<op_id, op_id>> edges,
                               byte_count bytes = 0) {
  workload_builder b;
  for (const double w : work) {
    b.add_op({.work = w, .bytes = bytes});
  }
  for (const auto& [u, v] : edges) {
    b.add_edge(u, v);
  }
  return b;
}

/// `count` equal devices; links take 1 second.
inline platform<uniform_links> equal_devices(std::size_t count, const device& each = {}) {
  return {std::vector<device>(count, each), {{.latency = 1}}};
}

/// Σ of the transfer times of each tensor to each device that needs it, among the ops that are placed.
template <class Problem>
double total_traffic(const Problem& p, const placement& where) {
  double seconds = 0;
  for (const tensor_id t : ids(p.num_tensors())) {
    const device_id from = where[p.workload().producer(t)];
    std::set<device_id> destinations;
    for (const op_id c : p.workload().consumers(t)) {
      if (where[c] != none && where[c] != from) {
        destinations.insert(where[c]);
      }
    }
    for (const device_id to : destinations) {
      seconds += from == none ? 0 : p.transfer_time(t, from, to);
    }
  }
  return seconds;
}

} // namespace weft::test
