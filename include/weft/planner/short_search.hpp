// SPDX-License-Identifier: BSL-1.0
/// Short searches, which judge a model rather than place it: whether it fits, and about how fast it is.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/core/stop_pointer.hpp"
#include "weft/instance.hpp"
#include "weft/parallel/simplest_way.hpp"
#include "weft/partition/first_device.hpp"
#include "weft/plan/contention.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/plan/plan.hpp"
#include "weft/planner/best_way.hpp"
#include "weft/planner/choice.hpp"
#include "weft/planner/run.hpp"
#include "weft/planner/usual_placements.hpp"
#include "weft/solve/best.hpp"
#include "weft/validate/memory_shortage.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace weft::planner {

/// The way in which a short search is made and judged.
struct short_search {
  search_budget budget = {.moves = 1000}; ///< of it at most a second is taken
  contention_model contention = contention_model::none; ///< of the run; the search knows none
  double least_gain = 0.05;
  std::uint64_t seed = 0;
  unsigned jobs = 1;
  stop_pointer stop = nullptr;
  bool recomputes = false; ///< its ops run again
};

/// A step as a short search has it.
struct short_run {
  parallel::timed_way way = {}; ///< of the plan that counts for least (`seconds_with_complexity`)
  double seconds = std::numeric_limits<double>::infinity(); ///< of its run; infinite if no plan was found that fits
  byte_count lacks = 0; ///< bytes that are lacking in the plan that came nearest, if that is known
  bool spills = true;   ///< ops run on a host for want of memory: one accelerator does not hold all it may run

  /// Its time as it counts beside that of other ways.
  double counted(double least_gain) const { return parallel::seconds_with_complexity(way, least_gain); }
};

/// The plan that is found within a second, or within the moves if the budget is not in seconds, without contention.
inline solve::best_result search_shortly(const instance& p, const short_search& how) {
  const bool timed = how.budget.seconds < std::numeric_limits<double>::infinity();
  return solve::best(p, {.seconds = timed ? std::min(how.budget.seconds, 1.0) : how.budget.seconds,
                         .moves = how.budget.moves,
                         .seed = how.seed,
                         .threads = how.jobs,
                         .stop = how.stop,
                         .memory = memory_rule::over_time});
}

/// True if ops run on a host that might be on an accelerator. Complexity: O(n devices).
inline bool uses_host(const instance& p, const placement& where) {
  const auto devices = ids(p.num_devices());
  const auto all = ids(p.num_ops());
  return std::any_of(all.begin(), all.end(), [&](op_id v) {
    return !is_accelerator(p, where[v]) && std::any_of(devices.begin(), devices.end(), [&](device_id d) {
             return is_accelerator(p, d) && p.kinds(p.component(v)).contains(p.platform().kind(d));
           });
  });
}

namespace detail {

/// Runs the plan on the network, and takes it for `x` if it fits there and counts for less; whether it fits.
inline bool offer(const instance& p, const short_search& how, plan made, short_run& x) {
  const auto run = follow(p, made, how.contention);
  if (!memory_shortages(p, made.placement, run).empty()) {
    return false;
  }
  const auto way = placed_ops_of(p, made.placement, run, how.recomputes, how.least_gain).way;
  if (parallel::seconds_with_complexity(way, how.least_gain) < x.counted(how.least_gain)) {
    x.way = way;
    x.seconds = run.makespan;
  }
  return true;
}

} // namespace detail

/// The better of two plans by what they count for: that of a framework without a search, and that of a short search,
/// each run as it would be. Complexity: that of the search.
inline short_run run_shortly(const instance& p, const short_search& how) {
  short_run x;
  if (const auto usual = partition::first_device{}(p); usual && !uses_host(p, *usual)) {
    x.spills = !detail::offer(p, how, {*usual, {}}, x);
  }
  auto found = search_shortly(p, how);
  if (found.has_plan()) {
    x.spills = x.spills && uses_host(p, found.plan.placement);
    detail::offer(p, how, std::move(found.plan), x);
  } else if (found.shortage) {
    x.lacks = found.shortage->excess();
  } else if (found.reason && found.reason->demand > found.reason->largest_free) {
    x.lacks = found.reason->demand - found.reason->largest_free;
  }
  return x;
}

} // namespace weft::planner
