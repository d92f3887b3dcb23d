// SPDX-License-Identifier: BSL-1.0
/// The order in which a plan's ops run: checked, and topological.
#pragma once

#include "weft/concurrency/op_graph.hpp"
#include "weft/core/error.hpp"
#include "weft/plan/plan.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace weft::execute::detail {

inline constexpr device_id max_devices = 4096;

/// The ops as the plan's order names them, or a topological order where it has none. Throws `value_error` if the plan
/// is none of these ops.
inline std::vector<op_id> planned_order(const concurrency::op_graph& g, const plan& p) {
  const auto n = g.num_ops();
  if (p.placement.size() != n) {
    throw value_error("the plan", "places " + std::to_string(p.placement.size()) + " ops, the workload has " +
                                    std::to_string(n));
  }
  for (const op_id v : ids(n)) {
    if (p.placement[v] == none) {
      throw value_error("op " + std::to_string(v), "has no device in the plan");
    }
    if (p.placement[v] >= max_devices) {
      throw value_error("op " + std::to_string(v), "is on device " + std::to_string(p.placement[v]) + "; at most " +
                                                     std::to_string(max_devices) + " can run a plan");
    }
  }
  if (p.order.empty()) {
    return {g.topological_order().begin(), g.topological_order().end()};
  }
  std::vector<op_id> ops;
  ops.reserve(n);
  std::vector<std::uint8_t> seen(n, 0);
  for (const step& s : p.order) {
    if (s.is_send()) {
      continue;
    }
    if (s.op >= n || seen[s.op]) {
      throw value_error("the plan's order", "has op " + std::to_string(s.op) +
                                              (s.op >= n ? ", which does not exist" : " twice"));
    }
    seen[s.op] = 1;
    ops.push_back(s.op);
  }
  if (ops.size() != n) {
    throw value_error("the plan's order",
                      "has " + std::to_string(ops.size()) + " ops, the workload " + std::to_string(n));
  }
  return ops;
}

inline bool is_topological(const concurrency::op_graph& g, const std::vector<op_id>& ops) {
  graph::release_counter waiting{g};
  for (const op_id v : ops) {
    if (!waiting.is_ready(v)) {
      return false;
    }
    for (const op_id u : g.consumers(v)) {
      waiting.arrive(u);
    }
  }
  return true;
}

/// Turns `ops` into an order that is topological, too, and the same on every device. Follows all devices as if they
/// ran, one op at a time: who is never reached waits for itself. Throws `constraint_error`.
template <class W>
void make_topological(const W& w, const concurrency::op_graph& g, const placement& where, std::vector<op_id>& ops) {
  if (is_topological(g, ops)) {
    return;
  }
  graph::release_counter waiting{g};
  const auto num_devices = ops.empty() ? 0 : std::size_t{*std::max_element(where.begin(), where.end())} + 1;
  std::vector<std::vector<op_id>> sequence(num_devices);
  for (const op_id v : ops) {
    sequence[where[v]].push_back(v);
  }
  std::vector<std::size_t> next(num_devices, 0);
  std::vector<op_id> reached;
  reached.reserve(ops.size());
  const auto advance = [&](device_id d) {
    while (next[d] < sequence[d].size() && waiting.is_ready(sequence[d][next[d]])) {
      reached.push_back(sequence[d][next[d]++]);
    }
  };
  for (device_id d = 0; d < num_devices; ++d) {
    advance(d);
  }
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const op_id u : g.consumers(reached[i])) {
      waiting.arrive(u);
      advance(where[u]);
    }
    advance(where[reached[i]]);
  }
  if (reached.size() != ops.size()) {
    std::vector<std::uint8_t> is_reached(ops.size(), 0);
    for (const op_id v : reached) {
      is_reached[v] = 1;
    }
    device_id stuck = 0;
    while (next[stuck] == sequence[stuck].size()) {
      ++stuck;
    }
    for (std::size_t i = 0; i < num_devices; ++i) { // some only wait for those that wait for themselves
      for (const tensor_id t : w.inputs(sequence[stuck][next[stuck]])) {
        if (const auto u = static_cast<op_id>(w.producer(t)); !is_reached[u]) {
          stuck = where[u];
          break;
        }
      }
    }
    const op_id v = sequence[stuck][next[stuck]];
    throw constraint_error({v}, "the plan's order contradicts the graph: op " + std::to_string(v) + " on device " +
                                  std::to_string(stuck) + " waits, through its device's order, for itself");
  }
  ops = std::move(reached);
}

} // namespace weft::execute::detail
