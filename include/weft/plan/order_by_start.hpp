// SPDX-License-Identifier: BSL-1.0
/// The order of a plan whose start times a heuristic has decided.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/sort.hpp"
#include "weft/plan/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// The ops by their planned start, in any unit; topologically where several start at once, so that an op that takes no
/// time comes before those that wait for it. Sends follow their producers. For heuristics that decide when ops start,
/// such as those that insert ops into gaps: `schedule::static_order` then runs what they planned.
/// Throws `value_error` if there are not as many starts as ops, or for one that is not a number.
/// Complexity: O(n log n).
template <class Problem>
constexpr order order_by_start(const Problem& p, std::span<const double> starts) {
  if (starts.size() != p.num_ops()) {
    throw value_error("starts", "are of " + std::to_string(starts.size()) + " ops, and the problem has " +
                                  std::to_string(p.num_ops()));
  }
  struct entry {
    double start;
    std::uint32_t position;
    op_id op;
  };
  std::vector<entry> entries;
  entries.reserve(starts.size());
  for (const op_id v : p.topological_order()) {
    if (starts[v] != starts[v]) {
      throw value_error("starts: op " + std::to_string(v), "is not a number");
    }
    entries.push_back({starts[v], static_cast<std::uint32_t>(entries.size()), v});
  }
  weft::sort(entries, [](const entry& a, const entry& b) {
    return a.start != b.start ? a.start < b.start : a.position < b.position;
  });
  order result;
  result.reserve(entries.size());
  for (const entry& e : entries) {
    result.push_back(step::run(e.op));
  }
  return result;
}

} // namespace weft
