// SPDX-License-Identifier: BSL-1.0
/// The least number of devices of one class on which a workload fits into memory.
#pragma once

#include "weft/bound/live_memory.hpp"
#include "weft/core/least_enough.hpp"
#include "weft/platform/platform.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/detail/kept_routes.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft::solve {

/// The platform with `count` devices like `like` instead of those that it has: the other devices first, in their order.
/// Two of the new ones are linked as those of the same numbers are, counted in rounds of how many there were; two of
/// the same number in different rounds as the first two. Where there is one such device only, `between` links the new
/// ones; without it, they are linked as the device is to the one to which it has the fastest link.
///
/// Where devices share links, those that the platform has go on to share them. Which of them more devices would share
/// the platform does not tell: each pair with one of these has a link of its own, so that runs under contention are too
/// short where the machine would have them share. For more than what a machine has, describe the larger machine.
/// Precondition: the device exists. Complexity: O(devices²) and the links on all routes.
template <link_model Links>
platform<> with_devices_like(const platform<Links>& q, device_id like, std::size_t count,
                             std::optional<link> between = std::nullopt) {
  std::vector<device_id> alike;
  std::vector<device_id> origin; // of the new devices
  for (const device_id d : ids(q.num_devices())) {
    (q.devices()[d] == q.devices()[like] ? alike : origin).push_back(d);
  }
  const std::size_t others = origin.size();
  for (std::size_t i = 0; i < count; ++i) {
    origin.push_back(alike[i % alike.size()]);
  }
  if (!between && alike.size() > 1) {
    between = q.links()(alike[0], alike[1]);
  }
  for (std::size_t k = 0; !between && k < others; ++k) {
    const link l = q.links()(like, origin[k]);
    between = std::all_of(origin.begin(), origin.begin() + static_cast<std::ptrdiff_t>(others),
                          [&](device_id d) { return q.links()(like, d).bandwidth <= l.bandwidth; })
                ? std::optional{l}
                : std::nullopt;
  }
  const std::size_t kept = others + std::min(count, alike.size());
  const link_matrix before{q.num_devices(), q.links()};
  link_matrix links = before.shares_links()
                        ? link_matrix{origin.size(), detail::kept_routes{before.wiring(), origin, kept}}
                        : link_matrix{origin.size()};
  bool named = false;
  for (const device_id a : ids(origin.size())) {
    named = named || !q.name(origin[a]).empty();
    for (const device_id b : ids(origin.size())) {
      if (a != b && !(before.shares_links() && a < kept && b < kept)) {
        links.set(a, b, origin[a] != origin[b] ? before(origin[a], origin[b]) : between.value_or(link{}));
      }
    }
  }
  platform<> made{chosen_devices(q.devices(), origin), std::move(links), q.send_work()};
  if (named) {
    std::vector<std::string> names;
    std::string stem{q.name(alike.front())};
    stem.erase(stem.find_last_not_of("0123456789") + 1);
    for (std::size_t i = 0; i < origin.size(); ++i) {
      names.push_back(i < kept ? std::string{q.name(origin[i])} : stem + std::to_string(i - others));
    }
    made.set_names(std::move(names));
  }
  return made.with_link_share(q.link_share());
}

namespace detail {

/// A lower bound on the number of devices like the last one, `d`, with all others full: by what only they may hold all
/// the time, and by what every plan holds at some moment; at least 1.
template <class Problem>
std::size_t least_devices(const Problem& p, device_id d) {
  kind_set others;
  double elsewhere = 0;
  for (const device_id e : ids(d)) {
    others = others | p.platform().kind(e);
  }
  for (const device_id e : p.memories().of(ids(d))) {
    elsewhere += static_cast<double>(p.capacity(e));
  }
  double only_here = 0;
  for (component_id c = 0; c < p.num_components(); ++c) {
    only_here += (p.kinds(c) & others).empty() ? static_cast<double>(p.resident_bytes(c)) : 0;
  }
  const double at_once = static_cast<double>(bound::live_memory(p).bytes) - elsewhere;
  const auto capacity = static_cast<double>(p.capacity(d));
  const double bytes = std::max(only_here, at_once) * (1 - 1e-9); // the sums are rounded
  return static_cast<std::size_t>(std::clamp(bytes > 0 ? std::ceil(bytes / capacity) : 1.0, 1.0, 1e9));
}

/// The cost model for a platform: `cost`, or what it makes of the platform.
template <class Cost>
constexpr auto costs_on(const Cost& cost, const platform<>& q) {
  if constexpr (std::invocable<const Cost&, const platform<>&>) {
    return cost(q);
  } else {
    return cost;
  }
}

} // namespace detail

/// The number of devices needed.
struct devices_result {
  std::size_t devices = 0;  ///< the smallest number for which a plan was found; 0: for none
  std::size_t at_least = 1; ///< proven: fewer would not do
  best_result best = {};    ///< the plan for that many
  platform<> on = {};       ///< what the plan is for
  std::optional<infeasibility> reason = {}; ///< proven: no number would do
  std::vector<std::pair<std::size_t, bool>> tried = {}; ///< numbers, and whether a plan was found
  bool out_of_time = false; ///< more numbers would have been tried

  bool minimal() const { return devices != 0 && devices == at_least; }
};

/// One line that says how many. `op_name` is that of the reason's op, and may be empty.
inline std::string to_string(const devices_result& r, std::string_view op_name = {}) {
  if (r.reason) {
    return "no number of such devices would do: " + to_string(*r.reason, op_name);
  }
  const auto at_least = "it takes at least " + std::to_string(r.at_least);
  if (r.devices == 0) {
    return r.tried.empty() ? at_least + " such devices, " +
                               (r.out_of_time ? "and there was no time to try" : "more than were to be tried")
                           : "no plan was found for " + std::to_string(r.tried.back().first) +
                               " such devices or fewer" + (r.out_of_time ? " in time; " : "; ") + at_least;
  }
  return std::to_string(r.devices) + (r.devices == 1 ? " such device does" : " such devices do") +
         (r.minimal() ? ", and no fewer" : "; " + at_least);
}

/// The smallest number of devices like `like`, beside the other devices of the platform, for which a plan is found that
/// keeps to the memory over time. From a lower bound up, steps double until there is a plan, then bisection. What every
/// plan holds at some moment (`bound::live_memory`) proves the bound; that heuristics find no plan for a number proves
/// nothing, so `minimal` says whether the number is known to be the smallest. An op that needs more than any device has
/// is a proof that no number would do, and so is the memory that every plan needs if these devices bring none.
///
/// The cost model must not depend on which devices there are, as cost::table does; or give a function that makes one
/// for a `platform<>`. `options.moves` counts for each number tried; with 0, the default, the first plan that
/// heuristics find is enough, as plans are to be found, not improved. `options.seconds` counts for all numbers
/// together: no other one is tried when they are over. `on_number`, if it is there, hears of each number before it is
/// tried. Complexity: that of O(log most) runs of `best`.
template <class Workload, link_model Links, class Cost>
devices_result devices_needed(const Workload& w, const platform<Links>& q, const Cost& cost, device_id like,
                              std::optional<link> between = std::nullopt, std::size_t most = 256,
                              best_options options = {.moves = 0},
                              const std::function<void(std::size_t)>& on_number = {}) {
  const stopwatch clock;
  options.memory = memory_rule::over_time;
  devices_result r;
  const auto in_time = [&] {
    r.out_of_time = clock.seconds() >= options.seconds || (options.stop != nullptr && options.stop->stop_requested());
    return !r.out_of_time;
  };
  const auto enough = [&](std::size_t count) {
    if (on_number) {
      on_number(count);
    }
    platform<> on = with_devices_like(q, like, count, between);
    const problem p{w, on, detail::costs_on(cost, on)};
    auto mine = options;
    mine.seconds = std::max(0.0, options.seconds - clock.seconds());
    mine.effort = options.moves == 0 ? effort::first_plan : options.effort;
    auto found = best(p, mine);
    const bool has_plan = found.has_plan();
    r.tried.emplace_back(count, has_plan);
    if (has_plan) {
      r.devices = count;
      r.best = std::move(found);
      r.on = std::move(on);
    } else if (found.reason && found.reason->cause != infeasibility::kind::not_found) {
      r.at_least = std::max(r.at_least, count + 1); // what does not fit on these does not fit on fewer
    }
    return has_plan;
  };
  {
    const platform<> on = with_devices_like(q, like, 1, between);
    const problem p{w, on, detail::costs_on(cost, on)};
    r.reason = detail::why_impossible(p);
    const auto last = static_cast<device_id>(on.num_devices() - 1); // like all of the new ones
    const bool brings_memory = on.memory_of(last) == last;
    if (r.reason && (r.reason->cause != infeasibility::kind::out_of_all_memory || !brings_memory)) {
      return r;
    }
    r.reason.reset();
    r.at_least = detail::least_devices(p, last);
  }
  least_enough(r.at_least, most, [&](std::size_t count) {
    return in_time() ? std::optional{enough(count)} : std::nullopt;
  });
  return r;
}

} // namespace weft::solve
