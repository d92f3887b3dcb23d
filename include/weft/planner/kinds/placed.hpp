// SPDX-License-Identifier: BSL-1.0
/// Plans with each op on one device, beside ways to share the step.
#pragma once

#include "weft/bound/best.hpp"
#include "weft/core/ids.hpp"
#include "weft/cost/lowered.hpp"
#include "weft/instance.hpp"
#include "weft/parallel/simplest_way.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/plan/plan.hpp"
#include "weft/planner/best_way.hpp"
#include "weft/planner/choice.hpp"
#include "weft/planner/comparison.hpp"
#include "weft/planner/costs.hpp"
#include "weft/planner/kinds/run_way.hpp"
#include "weft/planner/made_way.hpp"
#include "weft/planner/model_step.hpp"
#include "weft/planner/options.hpp"
#include "weft/planner/share.hpp"
#include "weft/planner/usual_placements.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/under.hpp"
#include "weft/solve/best.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

namespace weft::planner {

/// The least time that a plan with each op on one device can take, if a way is kept that is the one to take even beside
/// such a plan; none if such a plan may be. Complexity: that of `bound::best`.
inline std::optional<double> beaten_placements(const comparison& all, const instance& p, bool recomputes,
                                               double least_gain) {
  const double least = bound::best(p.with_resident_demands()).value;
  const parallel::timed_way simplest{{.recomputes = recomputes}, least};
  const bool is_beaten = std::any_of(all.kept.begin(), all.kept.end(), [&](const auto& x) {
    return parallel::seconds_with_complexity(x->timed(), least_gain) <
           parallel::seconds_with_complexity(simplest, least_gain);
  });
  return is_beaten && std::isfinite(least) ? std::optional{least} : std::nullopt;
}

namespace detail {

/// A step with each op on one device, without a plan.
inline std::shared_ptr<made_way> placed_step(const model_step& whole, const platform<>& machine,
                                             const step_costs& costs) {
  auto x = std::make_shared<made_way>();
  x->part = std::make_shared<const model_step>(whole);
  x->figures.how = {.kind = way_kind::placed};
  x->ops = whole.ops;
  x->returned = whole.returned;
  x->problem = std::make_unique<instance>(x->ops, machine, cost::lowered{costs.ops, x->ops, machine});
  return x;
}

/// Gives it the plan that a search finds, or a simpler one that is fast enough; false if none fits.
inline bool search_placement(const options& how, const search_budget& budget, made_way& x) {
  const solve::best_options search{.seconds = budget.seconds,
                                   .moves = budget.moves,
                                   .seed = how.seed,
                                   .threads = how.jobs,
                                   .stop = how.stop,
                                   .memory = memory_rule::over_time};
  auto r = how.contention == contention_model::none
             ? solve::best(*x.problem, search)
             : solve::best(*x.problem,
                           simulate::under<schedule::static_order, simulate::any_network>{{}, {how.contention}},
                           search);
  if (!r.has_plan()) {
    return false;
  }
  ran_plan found{.made = std::move(r.plan)};
  found.run = follow(*x.problem, found.made, how.contention);
  found = how.least_gain > 0 ? simplest_plan(*x.problem, std::move(found), how.contention, how.least_gain)
                             : std::move(found);
  x.plan = std::move(found.made);
  x.run = std::move(found.run);
  x.bound = r.bound;
  take_figures(*x.problem, x.plan.placement, x.run, 0, x.figures);
  return true;
}

/// The search of `best`.
inline best_way best_of(const step_source& model, const model_step& whole, const platform<>& machine,
                        const step_costs& costs, const options& how, const search_budget& budget) {
  best_way x{.ways = share(model, whole, machine, costs, how)};
  if (!how.ways.asks_for(wanted_ways::which::all)) {
    return x;
  }
  const auto placed = placed_step(whole, machine, costs);
  if (beaten_placements(x.ways, *placed->problem, whole.recomputes, how.least_gain)) {
    return x;
  }
  if (how.on_attempt) {
    how.on_attempt({.is = attempt::kind::ops_each_on_one});
  }
  std::optional<placed_ops> once;
  if (search_placement(how, budget, *placed)) {
    once = placed_ops_of(*placed->problem, placed->plan.placement, placed->run, whole.recomputes, how.least_gain);
    placed->features = once->way.how;
    x.placed = placed;
  }
  auto chosen = choose(x.ways, once, how.least_gain);
  x.ways.best = std::move(chosen.shared);
  x.faster = std::move(chosen.faster);
  return x;
}

} // namespace detail

} // namespace weft::planner
