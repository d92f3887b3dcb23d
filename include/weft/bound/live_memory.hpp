// SPDX-License-Identifier: BSL-1.0
/// A lower bound on memory: the bytes that every plan holds at some moment, on all devices together.
#pragma once

#include "weft/plan/infeasibility.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace weft::bound {

/// Bytes that are held at one moment.
struct live_memory_result {
  byte_count bytes = 0;
  op_id op = none; ///< while this op runs; `none`: all the time
};

namespace detail {

/// Marks what can be reached from v along or against the edges, v included.
template <class Problem>
void mark_reachable(const Problem& p, op_id v, bool forward, std::vector<std::uint8_t>& marked,
                    std::vector<op_id>& stack) {
  const auto& w = p.workload();
  std::fill(marked.begin(), marked.end(), std::uint8_t{0});
  const auto visit = [&](op_id u) {
    if (!marked[u]) {
      marked[u] = 1;
      stack.push_back(u);
    }
  };
  visit(v);
  while (!stack.empty()) {
    const op_id u = stack.back();
    stack.pop_back();
    if (forward) {
      graph::for_each_successor(w, u, visit);
    } else {
      graph::for_each_predecessor(w, u, visit);
    }
  }
}

/// The ops of a path with the most ops.
template <class Problem>
std::vector<op_id> max_ops_path(const Problem& p) {
  const auto& w = p.workload();
  std::vector<std::uint32_t> depth(p.num_ops(), 0);
  std::vector<op_id> before(p.num_ops(), none);
  op_id last = none;
  for (const op_id v : p.topological_order()) {
    graph::for_each_predecessor(w, v, [&](op_id u) {
      if (depth[u] + 1 > depth[v]) {
        depth[v] = depth[u] + 1;
        before[v] = u;
      }
    });
    last = last == none || depth[v] > depth[last] ? v : last;
  }
  std::vector<op_id> path;
  for (op_id v = last; v != none; v = before[v]) {
    path.push_back(v);
  }
  return path;
}

} // namespace detail

/// A number of bytes that every plan holds at some moment, on all devices together: what is resident, and, while an op
/// runs that takes time wherever it is, its outputs and every tensor that is made before it, or by it, and is consumed
/// after it, or by it unless it writes over that. For a training step that is, at the loss, all that the backward pass
/// needs of the forward pass. Looks at up to `max_ops` ops, evenly along a path with the most ops, and takes the
/// largest number. Complexity: O(max_ops (n + m)).
template <class Problem>
live_memory_result live_memory(const Problem& p, std::size_t max_ops = 64) {
  const auto& w = p.workload();
  byte_count resident = 0;
  for (const op_id v : ids(p.num_ops())) {
    resident += w.resident_bytes(v);
  }
  live_memory_result most{resident, none};
  if (p.num_ops() == 0) {
    return most;
  }
  const auto path = detail::max_ops_path(p);
  std::vector<std::uint8_t> before(p.num_ops());
  std::vector<std::uint8_t> after(p.num_ops());
  std::vector<op_id> stack;
  const std::size_t count = std::min(max_ops, path.size());
  for (std::size_t k = 0; k < count; ++k) {
    const op_id x = path[count < 2 ? 0 : k * (path.size() - 1) / (count - 1)];
    if (std::ranges::any_of(ids(p.num_devices()), [&](device_id d) { return !(p.compute_time(x, d) > 0); })) {
      continue;
    }
    detail::mark_reachable(p, x, false, before, stack);
    detail::mark_reachable(p, x, true, after, stack);
    byte_count bytes = resident;
    for (const tensor_id t : ids(p.num_tensors())) {
      const op_id u = w.producer(t);
      const auto is_needed = [&](op_id c) { return after[c] != 0 && !(c == x && is_overwritten(w, t)); };
      if (before[u] && (u == x || std::ranges::any_of(w.consumers(t), is_needed))) {
        bytes += is_resident(w, t) ? 0 : w.bytes(t);
      }
    }
    if (bytes > most.bytes) {
      most = {bytes, x};
    }
  }
  return most;
}

/// The proof that no plan keeps to the memory, as all devices together have less than `live_memory`; nothing if they
/// have enough. Nor does any plan that splits the step into parts which run at the same time: together they hold as
/// much. Complexity: that of `live_memory`; O(n + devices) where everything fits at once.
template <class Problem>
std::optional<infeasibility> why_too_large(const Problem& p) {
  byte_count all = 0;
  for (const device_id d : p.memories().of(ids(p.num_devices()))) {
    all += std::min(p.capacity(d), std::numeric_limits<byte_count>::max() - all);
  }
  byte_count everything = 0; // no overflow: a problem's bytes are below 2^62
  for (const op_id v : ids(p.num_ops())) {
    everything += p.workload().resident_bytes(v);
  }
  for (const tensor_id t : ids(p.num_tensors())) {
    everything += p.workload().bytes(t);
  }
  if (everything <= all) {
    return std::nullopt;
  }
  const auto least = live_memory(p);
  return least.bytes > all ? std::optional<infeasibility>{std::in_place, infeasibility::kind::out_of_all_memory,
                                                          least.op, 1u, kind_set{}, least.bytes, all}
                           : std::nullopt;
}

} // namespace weft::bound
