// SPDX-License-Identifier: BSL-1.0
/// Makespans of some ops of a problem that a search refutes, one after the other.
#pragma once

#include "weft/bound/exact/conflict_search.hpp"
#include "weft/bound/exact/excerpt.hpp"
#include "weft/bound/exact/whole_times.hpp"
#include "weft/core/budget.hpp"
#include "weft/core/rounding.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::bound::exact {

/// Raises `known`, a lower bound above 0, until it comes to `makespan`, everything that is asked has an answer, or the
/// budget is spent, whose moves are visits of pairs of ops. Asks for a makespan far above what is known, and for
/// smaller and smaller ones, after some nodes each, until the answer is "no": what was learned of one holds for smaller
/// ones. Then again, from less far above and with more nodes. `twin`: see `twin_devices`. `budget`: then has the moves
/// that are left.
template <class Problem>
double refute(const excerpt<Problem>& part, const std::vector<std::size_t>& twin, double known, double makespan,
              weft::budget& budget) {
  constexpr double first_spread = 0.6;
  constexpr double least_spread = 0.002;
  constexpr std::uint64_t first_nodes = 16;
  constexpr std::uint64_t max_nodes = std::uint64_t{1} << 40;
  budget_meter meter{budget};
  const std::uint64_t visits = part.num_ops() * part.num_ops() / 2 + 1;
  bool is_over = false;
  const auto spend = [&](std::uint64_t nodes) {
    is_over = is_over || budget.moves < nodes * visits || !meter.spend();
    budget.moves -= is_over ? 0 : nodes * visits;
    return !is_over;
  };
  double possible = makespan;
  double spread = first_spread;
  for (std::uint64_t nodes = first_nodes;
       known + rounded(least_spread * known) < possible && spend(conflict_search::nodes_to_begin);) {
    const double before = known;
    bool is_open = spread > 2 * least_spread;
    double asked = std::min(known + rounded(spread * known), possible);
    const whole_times q{part, 2 * asked};
    conflict_search search{q, q.limit(asked), twin};
    while (asked > known + rounded(least_spread * known)) {
      std::uint64_t nodes_left = nodes;
      const auto a = search(q.limit(asked), [&] { return nodes_left > 0 && (--nodes_left, spend(1)); });
      if (a == conflict_search::answer::no) {
        known = asked;
      } else if (is_over) {
        return known;
      } else if (a == conflict_search::answer::yes && q.is_exact) {
        possible = asked;
      }
      is_open = is_open || a == conflict_search::answer::unknown;
      asked = known + rounded(0.9 * (asked - known));
    }
    if (!is_open && known == before) {
      return known; // all that was asked has an answer
    }
    nodes = std::min(4 * nodes, max_nodes);
    spread = std::max(spread / 2, 2 * least_spread);
  }
  return known;
}

} // namespace weft::bound::exact
