// SPDX-License-Identifier: BSL-1.0
/// The kinds of ways, and the comparison of all of them.
#pragma once

#include "weft/bound/area.hpp"
#include "weft/bound/live_memory.hpp"
#include "weft/cost/lowered.hpp"
#include "weft/instance.hpp"
#include "weft/planner/kinds/batch_by_speed.hpp"
#include "weft/planner/kinds/context.hpp"
#include "weft/planner/kinds/replicas.hpp"
#include "weft/planner/choice.hpp"
#include "weft/planner/comparison.hpp"
#include "weft/planner/devices.hpp"
#include "weft/planner/kinds/run_way.hpp"
#include "weft/planner/made_way.hpp"
#include "weft/planner/model_step.hpp"
#include "weft/planner/options.hpp"
#include "weft/planner/shareable.hpp"
#include "weft/planner/kinds/op_splits.hpp"
#include "weft/planner/kinds/pipelines.hpp"
#include "weft/planner/reasons.hpp"
#include "weft/planner/kinds/task.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft::planner {

namespace detail {

/// True if the whole step fits on the device, as a framework runs it there or in an order that holds less.
inline bool fits_one_device(const task& t, device_id device) {
  made_way x;
  x.part = std::make_shared<const model_step>(t.whole());
  x.ops = t.whole().ops;
  x.origin.resize(x.ops.num_ops());
  std::iota(x.origin.begin(), x.origin.end(), op_id{0});
  run_way(t, replica_on(device, x.ops, t.machine()), x);
  return x.fits();
}

/// A kind of ways: proposes, bounds and makes them for the devices that are alike. `may_be_at_once`: the machine holds
/// the whole step at once. Where there are none, it says why.
using kind_of_way = void (*)(const task& t, const std::vector<device_id>& alike, bool may_be_at_once, comparison& all);

inline void compare_batches(const task& t, const std::vector<device_id>& alike, bool may_be_at_once, comparison& all) {
  using which = wanted_ways::which;
  const auto& wanted = t.wanted();
  if (!(wanted.asks_for(which::data) && !wanted.is_data_and_tensor()) && !wanted.asks_for(which::all)) {
    return;
  }
  if (auto why = why_not_shared(t.whole(), t.machine())) {
    all.why_not = {std::move(why)};
    return;
  }
  if (may_be_at_once) {
    compare_batches_by_speed(t, all);
    if (all.why_not.empty() && alike.size() > 1 && !(wanted.by_speed && *wanted.by_speed)) {
      compare_even_batches(t, alike, all);
    }
  }
  if (wanted.asks_for(which::data) && all.ways.empty() && all.why_not.empty() && alike.size() < 2) {
    all.why_not = {{.is = reason::kind::no_alike_devices}};
  }
}

inline void compare_stages(const task& t, const std::vector<device_id>& alike, bool /*may_be_at_once*/,
                           comparison& all) {
  using which = wanted_ways::which;
  const bool is_given = t.wanted().asks_for(which::pipeline);
  if (!is_given && !t.wanted().asks_for(which::all)) {
    return;
  }
  auto why = alike.empty() ? reason{.is = reason::kind::no_alike_devices} : why_not_in_parts(t.whole());
  if (why = why ? std::move(why) : why_not_in_stages(t.whole()); why) {
    if (is_given) {
      all.why_not = {std::move(why)};
    }
  } else if (is_given || alike.size() > 1 || !fits_one_device(t, alike.front())) {
    compare_pipelines(t, alike, all);
  }
}

inline void compare_ops(const task& t, const std::vector<device_id>& alike, bool may_be_at_once, comparison& all) {
  using which = wanted_ways::which;
  const bool is_given = t.wanted().asks_for(which::tensor) || t.wanted().is_data_and_tensor();
  if (is_given && alike.size() < 2) {
    all.why_not = {{.is = reason::kind::no_alike_devices}};
  } else if (may_be_at_once && (is_given || (t.wanted().asks_for(which::all) && alike.size() > 1))) {
    compare_op_splits(t, alike, all);
  }
}

/// The kinds of ways, in the order in which they are tried.
inline constexpr kind_of_way kinds_of_ways[] = {&compare_batches, &compare_stages, &compare_ops, &compare_contexts};

/// The reason for which the step fits into no number of parts that run at once: it holds more at some moment than all
/// devices together have.
inline reason why_too_large(const instance& whole) {
  const auto why = bound::why_too_large(whole);
  if (!why) {
    return {};
  }
  return {.is = reason::kind::too_large,
          .cause = *why,
          .name = why->op == none ? std::string{} : std::string{whole.workload().name(why->op)}};
}

/// A bound on the time of a step, however it is shared: the work of all ops on all devices.
inline lower_bound bound_on_any_way(const instance& whole) {
  // Without demands: parts may fit where the whole does not.
  return {bound::area(whole.with_demands(std::vector<byte_count>(whole.num_components(), 0))), lower_bound::rule::area};
}

/// The ways of a task, with what runs again said.
inline comparison shared_as(const task& t) {
  comparison all;
  const instance whole{t.whole().ops, t.machine(), cost::lowered{t.costs().ops, t.whole().ops, t.machine()}};
  const auto alike = alike_devices(t.machine());
  const auto too_large =
    t.wanted().asks_for(wanted_ways::which::pipeline) ? reason{} : why_too_large(whole);
  if (too_large) {
    all.add_misfit({.kind = way_kind::placed, .recomputes = t.recomputes()}, too_large);
  }
  for (const auto compare : kinds_of_ways) {
    compare(t, alike, !too_large, all);
  }
  if (!all.kept.empty()) {
    const auto bound = bound_on_any_way(whole);
    for (const auto& x : all.kept) {
      x->bound = bound;
    }
  }
  return all;
}

/// Throws `value_error` for a request that no way can meet.
inline void check(const wanted_ways& x) {
  using which = wanted_ways::which;
  const bool splits_ops = x.asks_for(which::tensor) || x.asks_for(which::context);
  if ((splits_ops && x.ranks == 1) || (x.asks_for(which::data) && x.replicas == 1)) {
    throw value_error("wanted_ways", "one device shares nothing; ask for at least 2, or for 0 to have as many as suit");
  }
  if (x.shards_parameters.value_or(false) && !x.shards_updates.value_or(true)) {
    throw value_error("wanted_ways", "parameters in parts are updated in parts: shards_parameters goes with "
                                     "shards_updates");
  }
  const auto group = x.shard_ranks.value_or(0);
  if (group == 1 || (group > 1 && (x.replicas % group != 0 || x.replicas <= group))) {
    throw value_error("wanted_ways", "groups of " + std::to_string(group) + " devices that hold all parameters: give a "
                                     "number of replicas that is a multiple of it, and larger");
  }
}

/// The search of `share`.
inline comparison share_in_ways(const step_source& model, const model_step& whole, const platform<>& machine,
                                const step_costs& costs, const options& how) {
  check(how.ways);
  comparison all;
  if (how.recomputations.empty()) {
    all = shared_as({model, whole, machine, costs, how});
  }
  for (const auto& again : how.recomputations) {
    std::optional<model_step> own;
    try {
      own = again ? std::optional{model(whole.batch, again)} : std::nullopt;
    } catch (const error& e) { // such as a model without blocks
      all.why_not = {reason_of(e)};
      continue;
    }
    if (own) {
      own->batch = whole.batch;
    }
    const task t{model, own ? *own : whole, machine, costs, how, again};
    auto some = shared_as(t);
    std::move(some.ways.begin(), some.ways.end(), std::back_inserter(all.ways));
    for (auto& x : some.kept) {
      all.keep(std::move(x));
    }
    all.why_not = std::move(some.why_not);
    all.all_fit = some.all_fit;
    if (all.all_fit || t.is_stopped()) {
      break;
    }
  }
  all.sort();
  all.best = choose(all, std::nullopt, how.least_gain).shared;
  return all;
}

} // namespace detail

} // namespace weft::planner
