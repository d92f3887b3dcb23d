// SPDX-License-Identifier: BSL-1.0
/// Placements that frameworks have without a search, and the simplest of them that is fast enough.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/instance.hpp"
#include "weft/parallel/simplest_way.hpp"
#include "weft/partition/first_device.hpp"
#include "weft/partition/layer_split.hpp"
#include "weft/plan/contention.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/planner/choice.hpp"
#include "weft/planner/run.hpp"
#include "weft/validate/memory_shortage.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace weft::planner {

/// A placement that needs no search.
struct usual_placement {
  enum class rule : std::uint8_t {
    first_accelerator, ///< the default of frameworks: on the first accelerator what may run there
    first_device,      ///< … or on the first device, if there is none
    one_device,        ///< on the device that takes least for all ops
    layers,            ///< equal blocks of layers
    work,              ///< blocks of equal work, as names show no layers
    without_hosts      ///< that of a search, with what hosts need not run on accelerators
  };
  rule by = rule::first_device;
  placement where = {};
};

/// True of what is no host: also a device that is called otherwise and works beside one.
inline bool is_accelerator(const instance& p, device_id d) {
  return hardware_kind(p.platform(), d) != device_kind::cpu;
}

namespace detail {

/// Everything on the device that takes least, of those that every op may run on.
inline std::optional<placement> on_one_device(const instance& p) {
  std::vector<double> load(p.num_devices(), 0.0);
  for (component_id c = 0; c < p.num_components(); ++c) {
    for (const device_id d : ids(p.num_devices())) {
      load[d] += p.kinds(c).contains(p.platform().kind(d)) ? p.component_time(c, d)
                                                           : std::numeric_limits<double>::infinity();
    }
  }
  const auto least = std::min_element(load.begin(), load.end());
  if (!(*least < std::numeric_limits<double>::infinity())) {
    return std::nullopt;
  }
  return placement(p.num_ops(), static_cast<device_id>(least - load.begin()));
}

/// Adds a placement, if there is one, that is not one of the others.
template <class Placement> // an optional one, or an outcome
void add_new(std::vector<usual_placement>& all, usual_placement::rule by, const Placement& where) {
  if (where && std::none_of(all.begin(), all.end(), [&](const auto& x) { return x.where == *where; })) {
    all.push_back({by, *where});
  }
}

} // namespace detail

/// The default of frameworks, everything on one device, and blocks of layers where there are several accelerators; each
/// placement once. Complexity: O(n devices + m).
inline std::vector<usual_placement> usual_placements(const instance& p) {
  using enum usual_placement::rule;
  std::vector<usual_placement> all;
  const auto usual = partition::first_device{}(p);
  const bool uses_one =
    usual && std::any_of(usual->begin(), usual->end(), [&](device_id d) { return is_accelerator(p, d); });
  detail::add_new(all, uses_one ? first_accelerator : first_device, usual);
  detail::add_new(all, one_device, detail::on_one_device(p));
  if (const auto some = partition::accelerators(p); some.size() > 1 && is_accelerator(p, some.front())) {
    const bool named = partition::layer_split::finds_layers(p);
    detail::add_new(all, named ? layers : work, partition::layer_split{}(p));
  }
  return all;
}

/// The placement with what hosts need not run on accelerators: that of its largest input, or else the first.
/// Complexity: O(n devices + m).
inline placement without_hosts(const instance& p, placement where) {
  const auto accelerators = partition::accelerators(p);
  for (const op_id v : p.topological_order()) {
    const auto may_run_on = [&](device_id d) {
      return is_accelerator(p, d) && p.kinds(p.component(v)).contains(p.platform().kind(d));
    };
    const auto first = std::find_if(accelerators.begin(), accelerators.end(), may_run_on);
    if (is_accelerator(p, where[v]) || first == accelerators.end()) {
      continue;
    }
    std::pair<byte_count, device_id> nearest{0, *first};
    for (const tensor_id t : p.workload().inputs(v)) {
      const auto bytes = p.workload().bytes(t);
      const device_id d = where[p.workload().producer(t)];
      if (may_run_on(d) && bytes > nearest.first) {
        nearest = {bytes, d};
      }
    }
    for (const op_id member : p.members(p.component(v))) {
      where[member] = nearest.second;
    }
  }
  return where;
}

/// A plan and its run.
struct ran_plan {
  plan made = {};
  trace run = {};
};

/// The plan that a search found, or if times are estimates, the same without ops on hosts, or a usual placement: the
/// simplest that is fast enough, as more devices have to pay for what they ask of a runtime (`simplest_within`). Only
/// placements that fit are taken. Complexity: a simulated run of each.
inline ran_plan simplest_plan(const instance& p, ran_plan found, contention_model how, double least_gain) {
  std::vector<ran_plan> plans;
  plans.push_back(std::move(found));
  auto others = usual_placements(p);
  detail::add_new(others, usual_placement::rule::without_hosts,
                  std::optional{without_hosts(p, plans.front().made.placement)});
  for (auto& x : others) {
    if (x.where == plans.front().made.placement) {
      continue;
    }
    ran_plan other{.made = {std::move(x.where), {}}};
    const auto free_run = run_of(p, other.made.placement, how);
    if (memory_shortages(p, other.made.placement, free_run).empty()) {
      other.run = follow(p, other.made, how);
      plans.push_back(std::move(other));
    }
  }
  std::vector<parallel::timed_way> ways;
  for (const auto& x : plans) {
    ways.push_back(placed_ops_of(p, x.made.placement, x.run, false, least_gain).way);
  }
  const auto chosen = parallel::simplest_within(ways, least_gain);
  return std::move(plans[chosen ? chosen.number : 0]);
}

} // namespace weft::planner
