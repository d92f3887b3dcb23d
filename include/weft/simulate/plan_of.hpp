// SPDX-License-Identifier: BSL-1.0
/// The plan that a run followed, under any policy.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <vector>

namespace weft::simulate {

/// The placement and the order of a complete run: ops and sends by start, ties by finish, then topologically, then by
/// tensor and destination. Without
/// contention, on devices of one slot, a run of it under `schedule::static_order` has the same times; with several
/// slots it ends no later. Complexity: O((n + transfers) log).
template <class Problem>
constexpr plan plan_of(const Problem& p, const trace& run) {
  struct entry {
    double start;
    double finish;
    std::uint32_t position; // topological: ops and the sends they cause
    weft::step step;
  };
  buffer<entry> entries;
  entries.reserve(run.ops.size() + run.transfers.size());
  std::vector<std::uint32_t> position(p.num_ops(), 0);
  for (std::uint32_t i = 0; i < p.num_ops(); ++i) {
    position[p.topological_order()[i]] = 2 * i;
  }
  plan result{placement(p.num_ops(), none), {}};
  for (const op_id v : ids(p.num_ops())) {
    result.placement[v] = run.ops[v].device;
    entries.push_back({run.ops[v].start, run.ops[v].finish, position[v], step::run(v)});
  }
  for (const transfer_record& x : run.transfers) {
    if (x.send_finish > x.send_start) {
      const op_id u = p.workload().producer(x.tensor);
      entries.push_back({x.send_start, x.send_finish, position[u] + 1, step::send(u, x.tensor, x.to)});
    }
  }
  weft::sort(entries, [](const entry& a, const entry& b) {
    return a.start != b.start       ? a.start < b.start
           : a.finish != b.finish ? a.finish < b.finish
           : a.position != b.position ? a.position < b.position
           : a.step.tensor != b.step.tensor ? a.step.tensor < b.step.tensor
                                            : a.step.to < b.step.to;
  });
  result.order.reserve(entries.size());
  for (const entry& e : entries) {
    result.order.push_back(e.step);
  }
  return result;
}

} // namespace weft::simulate
