// SPDX-License-Identifier: BSL-1.0
/// Makespans that a search refutes, one after the other.
#pragma once

#include "weft/bound/exact/conflict_search.hpp"
#include "weft/bound/detail/relaxation.hpp"
#include "weft/bound/exact/twin_devices.hpp"
#include "weft/core/budget.hpp"
#include "weft/core/rounding.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft::bound {

/// The largest makespan, at least `known`, of which a search that learns from its dead ends (docs/exact.md) finds
/// within the budget that no plan keeps to it; seconds. It asks for a makespan far above what is proven, and for
/// smaller and smaller ones, after some nodes each, until the answer is "no": what was learned of one holds for
/// smaller ones. Then again, from less far above and with more nodes. `known`: a lower bound above 0, such as that of
/// the other rules. `makespan`: of a plan, if one is known: nothing above it is asked for.
///
/// What sends cost their senders counts as delay, and devices with several slots count with sums of work. For up to
/// `most_ops` ops and a few dozen devices; others return `known`. Holds under every contention model. Deterministic
/// if the budget is in moves, which are counted as by refine/branch_and_bound.hpp. Complexity: what the budget
/// allows. Memory: O(n² + n · devices²). Precondition: each component is allowed somewhere.
struct refutation {
  static constexpr std::size_t most_ops = 600;
  weft::budget budget = {.moves = 20'000'000}; ///< some seconds at most

  template <class Problem>
  double operator()(const Problem& p, double known, double makespan = std::numeric_limits<double>::infinity()) const {
    if (p.num_ops() > most_ops || !(known > 0) || !(known < makespan) || known == detail::infinity) {
      return known;
    }
    const std::vector<device_id> usable = detail::relaxation<Problem>{p}.usable_devices();
    if (!exact::conflict_search::is_affordable(std::max(p.num_ops(), p.num_tensors()), usable.size())) {
      return known;
    }
    const auto twin = exact::twin_devices(p, usable);
    budget_meter meter{budget};
    const std::uint64_t visits = p.num_ops() * p.num_ops() / 2 + 1;
    std::uint64_t left = budget.moves;
    const auto spend = [&](std::uint64_t nodes) {
      if (left < nodes * visits || !meter.spend()) {
        left = 0;
        return false;
      }
      left -= nodes * visits;
      return true;
    };
    double possible = makespan;
    double spread = first_spread;
    for (std::uint64_t nodes = first_nodes;
         known + rounded(least_spread * known) < possible && spend(exact::conflict_search::nodes_to_begin);) {
      const double before = known;
      bool is_open = spread > 2 * least_spread;
      double asked = std::min(known + rounded(spread * known), possible);
      const exact::whole_times q{p, usable, 2 * asked};
      exact::conflict_search search{q, q.limit(asked), twin};
      while (asked > known + rounded(least_spread * known)) {
        std::uint64_t nodes_left = nodes;
        const auto a = search(q.limit(asked), [&] { return nodes_left > 0 && (--nodes_left, spend(1)); });
        if (a == exact::conflict_search::answer::no) {
          known = asked;
        } else if (left == 0) {
          return known;
        } else if (a == exact::conflict_search::answer::yes && q.is_exact) {
          possible = asked;
        }
        is_open = is_open || a == exact::conflict_search::answer::unknown;
        asked = known + rounded(0.9 * (asked - known));
      }
      if (!is_open && known == before) {
        return known; // all that was asked has an answer
      }
      nodes = std::min(4 * nodes, most_nodes);
      spread = std::max(spread / 2, 2 * least_spread);
    }
    return known;
  }

private:
  static constexpr double first_spread = 0.6;
  static constexpr double least_spread = 0.002;
  static constexpr std::uint64_t first_nodes = 16;
  static constexpr std::uint64_t most_nodes = std::uint64_t{1} << 40;
};

} // namespace weft::bound
