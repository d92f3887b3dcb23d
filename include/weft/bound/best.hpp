// SPDX-License-Identifier: BSL-1.0
/// The best of all lower bounds.
#pragma once

#include "weft/bound/area.hpp"
#include "weft/bound/communication_path.hpp"
#include "weft/bound/critical_path.hpp"
#include "weft/bound/group_load.hpp"
#include "weft/bound/lower_bound.hpp"

namespace weft::bound {

/// The largest lower bound on the makespan, and which rule gave it; of equal ones, the first in the order of
/// `lower_bound::rule`. Infinite if some component is allowed on no device. Holds under every contention model.
/// Does what the rules have in common once. Complexity: that of its parts.
template <class Problem>
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
  return found;
}

} // namespace weft::bound
