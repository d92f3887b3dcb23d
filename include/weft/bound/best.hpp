// SPDX-License-Identifier: BSL-1.0
/// The best of all lower bounds.
#pragma once

#include "weft/bound/area.hpp"
#include "weft/bound/communication_path.hpp"
#include "weft/bound/critical_path.hpp"
#include "weft/bound/group_load.hpp"
#include "weft/bound/lower_bound.hpp"
#include "weft/bound/refutation.hpp"
#include "weft/bound/windows.hpp"
#include "weft/core/budget.hpp"
#include "weft/core/time_grid.hpp"

#include <algorithm>
#include <limits>

namespace weft::bound {

namespace detail {

/// The unit that all compute, transfer and send times that may occur are multiples of; 0 if there is none, or if it
/// takes more than a million look-ups to know. Stops at the first time that does not fit.
template <class Problem>
constexpr double common_unit(const relaxation<Problem>& r, double largest) {
  const auto& p = r.problem();
  const auto& devices = r.usable_devices();
  constexpr std::size_t most = 1'000'000;
  if (p.num_ops() * r.types().size() > most || p.num_tensors() * devices.size() * devices.size() > most) {
    return 0;
  }
  time_grid grid;
  for (const op_id v : ids(p.num_ops())) {
    for (const std::uint32_t i : r.choice(v).types) {
      if (const double time = r.time(v, i); time < infinity) {
        grid.add(time);
      }
    }
    if (!grid.usable()) {
      return 0;
    }
  }
  for (const tensor_id t : ids(p.num_tensors())) {
    if (std::ranges::empty(p.workload().consumers(t))) {
      continue;
    }
    for (const device_id from : devices) {
      for (const device_id to : devices) {
        if (from != to) {
          grid.add(p.send_time(t, from, to));
          grid.add(p.transfer_time(t, from, to));
        }
      }
    }
    if (!grid.usable()) {
      return 0;
    }
  }
  return grid.unit(largest);
}

} // namespace detail

/// The largest lower bound on the makespan, and which rule gave it; of equal ones, the first in the order of
/// `lower_bound::rule`. Infinite if some component is allowed on no device. Holds under every contention model.
/// Does what the rules have in common once. Complexity: that of its parts.
///
/// Where all compute, transfer and send times are multiples of some unit, the bound is rounded up to one: take the
/// starts of any plan in their order and let each be as early as the ones before it allow; no item gets later, and
/// every start is then 0 or the largest of some sums of such times, so the makespan is a multiple, too.
template <must_be::problem Problem>
constexpr lower_bound best(const Problem& p) {
  using rule = lower_bound::rule;
  const detail::relaxation<Problem> r{p};
  if (!r.feasible()) {
    return {detail::infinity, rule::critical_path};
  }
  lower_bound found{detail::longest(r, detail::longest_paths(r)), rule::critical_path};
  const auto raise = [&](double value, rule which) {
    if (value > found.value) {
      found = {value, which};
    }
  };
  const auto around = detail::communication_paths(r);
  raise(detail::longest(r, around), rule::communication_path);
  raise(detail::area(r), rule::area);
  raise(detail::group_bound{r, around}(found.value), rule::group_load);
  raise(detail::window_bound{r, around}(found.value), rule::windows);
  if (found.value < detail::infinity) {
    found.value = std::max(found.value, round_up(found.value, detail::common_unit(r, found.value)));
  }
  return found;
}

/// The same, raised by bound/refutation.hpp as far as a budget allows. `makespan`: of a plan, if one is known.
template <must_be::problem Problem>
lower_bound best(const Problem& p, const budget& effort, double makespan = std::numeric_limits<double>::infinity()) {
  lower_bound found = best(p);
  if (found.value < detail::infinity) {
    if (const double value = refutation{effort}(p, found.value, makespan); value > found.value) {
      found = {value, lower_bound::rule::search};
    }
  }
  return found;
}

} // namespace weft::bound
