// SPDX-License-Identifier: BSL-1.0
/// The choice among ways to share a step and a plan with each op on one device.
#pragma once

#include "weft/instance.hpp"
#include "weft/parallel/placed_way.hpp"
#include "weft/parallel/simplest_way.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/planner/comparison.hpp"
#include "weft/planner/made_way.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace weft::planner {

/// A plan with each op on one device, as one of the ways to run a step.
struct placed_ops {
  parallel::timed_way way = {}; ///< as it counts
  double seconds = 0;           ///< of its run
  std::size_t hand_overs = 0;   ///< of tensors between host and accelerators
};

/// A plan that ran. With `least_gain` 0, where times are taken at their word, it counts as its run. Complexity: O(n +
/// devices + transfers).
inline placed_ops placed_ops_of(const instance& p, const placement& where, const trace& run, bool recomputes,
                                double least_gain) {
  placed_ops x{parallel::placed_way(p, where, run), run.makespan, parallel::count_hand_overs(p, run)};
  x.way.how.recomputes = recomputes;
  x.way.seconds = least_gain == 0 ? run.makespan : x.way.seconds;
  return x;
}

/// A way that is faster than the one that was taken, though not by enough.
struct untaken {
  std::shared_ptr<const made_way> shared = {}; ///< null: the plan with each op on one device
  double gain = 0;            ///< by which it is faster
  double asked = 0;           ///< … and should be; 0: it is on paper alone, for its hand-overs
  std::size_t hand_overs = 0; ///< … these
  std::vector<parallel::feature> more = {}; ///< that it needs and the one that was taken does not
  bool needs_more_devices = false;
};

/// The way to take.
struct choice {
  std::shared_ptr<made_way> shared = {};   ///< null: the plan with each op on one device, if there is one
  bool has_any = false;                    ///< something may be taken
  std::optional<untaken> faster = {};
};

/// The simplest of the ways that are kept, and of `once` if there is one, whose features pay for themselves, as
/// `parallel::simplest_within` says, and the fastest of those that are faster. Throws as that.
/// Complexity: O(n log n).
inline choice choose(const comparison& all, const std::optional<placed_ops>& once, double least_gain) {
  constexpr double told = 0.0005; // smaller gains are none
  std::vector<parallel::timed_way> ways;
  for (const auto& x : all.kept) {
    ways.push_back(x->timed());
  }
  if (once) {
    ways.push_back(once->way);
  }
  const auto chosen = parallel::simplest_within(ways, least_gain);
  if (!chosen) {
    return {};
  }
  const auto shared_at = [&](std::size_t i) { return i < all.kept.size() ? all.kept[i] : nullptr; };
  choice c{.shared = shared_at(chosen.number), .has_any = true};
  const auto& taken = ways[chosen.number];
  const auto& others = chosen.not_taken;
  const double least = others.empty() ? taken.seconds : ways[others.front().number].seconds;
  if (once && once->way.seconds > taken.seconds && once->seconds * (1 + told) < least) {
    c.faster = untaken{.gain = taken.seconds / once->seconds - 1, .hand_overs = once->hand_overs};
  } else if (!others.empty() && others.front().gain >= told) {
    const auto& how = ways[others.front().number].how;
    c.faster = untaken{.shared = shared_at(others.front().number),
                       .gain = others.front().gain,
                       .asked = others.front().asked,
                       .needs_more_devices = how.devices > taken.how.devices};
    for (std::size_t f = 0; f < parallel::num_features; ++f) {
      if (const auto x = static_cast<parallel::feature>(f); how.has(x) && !taken.how.has(x)) {
        c.faster->more.push_back(x);
      }
    }
  }
  return c;
}

} // namespace weft::planner
