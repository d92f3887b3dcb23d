// SPDX-License-Identifier: BSL-1.0
/// Makespans that a search refutes, one after the other.
#pragma once

#include "weft/bound/detail/relaxation.hpp"
#include "weft/bound/exact/conflict_search.hpp"
#include "weft/bound/exact/excerpt.hpp"
#include "weft/bound/exact/path_pieces.hpp"
#include "weft/bound/exact/refute.hpp"
#include "weft/bound/exact/twin_devices.hpp"
#include "weft/core/budget.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft::bound {

/// The largest makespan, at least `known`, of which a search that learns from its dead ends (docs/exact.md) finds
/// within the budget that no plan keeps to it; seconds. First, for up to 20,000 ops, it looks at pieces of a longest
/// path, all that lies on the ways from one op to another: of few ops, which are searched to the end, then of more.
/// Each refuted piece makes the path longer. Then it looks at the whole, if that has up to `max_ops` ops and a few
/// dozen devices. `known`: a lower bound above 0, such as that of the other rules. `makespan`: of a plan, if one is
/// known: nothing above it is asked for.
///
/// What sends cost their senders counts as delay, and devices with several slots count with sums of work. Holds under
/// every contention model. Deterministic if the budget is in moves, which are counted as by
/// refine/branch_and_bound.hpp.
/// Complexity: what the budget allows, and that of bound/communication_path.hpp. Memory: O(n² + n · devices²) for the
/// whole, O(n + tensors) for pieces. Precondition: each component is allowed somewhere.
struct refutation {
  static constexpr std::size_t max_ops = 600;
  weft::budget budget = {.moves = 20'000'000}; ///< some seconds at most

  template <class Problem>
  double operator()(const Problem& p, double known, double makespan = std::numeric_limits<double>::infinity()) const {
    if (!(known > 0) || !(known < makespan) || known == detail::infinity) {
      return known;
    }
    const bool by_pieces = p.num_ops() >= 2 * first_size && p.num_ops() <= max_ops_for_paths &&
                           budget.moves >= moves_for_paths * p.num_ops();
    if (!by_pieces && p.num_ops() > max_ops) {
      return known;
    }
    const stopwatch clock;
    const detail::relaxation<Problem> r{p};
    const auto& devices = r.usable_devices();
    const bool as_a_whole = p.num_ops() <= max_ops && exact::conflict_search::is_affordable(
                                                         std::max(p.num_ops(), p.num_tensors()), devices.size());
    auto left = budget;
    if (by_pieces) {
      const std::uint64_t kept = as_a_whole ? budget.moves / 2 : 0;
      const double until = as_a_whole ? budget.seconds / 2 : budget.seconds;
      left.moves -= kept;
      exact::path_pieces pieces{r};
      std::size_t size = first_size;
      for (unsigned cuts = num_cuts; cuts > 0 && known < makespan && clock.seconds() < until;
           --cuts, size += size / 2) {
        const unsigned share = cuts == num_cuts ? 1 : cuts; // of the first, most are searched to the end
        auto mine = left;
        mine.moves /= share;
        mine.seconds = (until - clock.seconds()) / share;
        left.moves -= mine.moves;
        known = std::clamp(pieces.raise(size, mine), known, makespan);
        left.moves += mine.moves;
      }
      left.moves += kept;
    }
    if (as_a_whole && known < makespan) {
      left.seconds = budget.seconds - clock.seconds();
      known =
        exact::refute(exact::excerpt<Problem>{p, devices}, exact::twin_devices(p, devices), known, makespan, left);
    }
    return known;
  }

private:
  static constexpr std::size_t first_size = 20; ///< ops of a piece
  static constexpr unsigned num_cuts = 3;
  static constexpr std::size_t max_ops_for_paths = 20'000; ///< of more, longest paths take too long
  static constexpr std::uint64_t moves_for_paths = 50; ///< to find longest paths, per op
};

} // namespace weft::bound
