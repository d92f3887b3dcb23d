// SPDX-License-Identifier: BSL-1.0
/// What objectives made from other objectives have in common.
#pragma once

#include "weft/bound/lower_bound.hpp"
#include "weft/core/ids.hpp"
#include "weft/evaluate/concepts.hpp"

#include <string_view>

namespace weft::objective::detail {

/// An objective whose values are those of another one: its unit, its bound and, if it is a sum, its prices are passed on
/// here; who derives from this says what it changes.
template <class Objective>
struct wrapper_of {
  Objective of{};

  static constexpr std::string_view unit = [] {
    if constexpr (requires { Objective::unit; }) {
      return std::string_view{Objective::unit};
    } else {
      return std::string_view{};
    }
  }();

  template <class Problem>
    requires objective_parts::has_bound<Objective, Problem>
  constexpr double bound(const Problem& p, const lower_bound& makespan) const {
    return of.bound(p, makespan);
  }

  template <class Problem>
    requires objective_parts::is_sum<Objective, Problem>
  constexpr objective_parts::price_of_time price(const Problem& p) const {
    return of.price(p);
  }
  template <class Problem>
    requires objective_parts::is_sum<Objective, Problem>
  constexpr double op_charge(const Problem& p, op_id v, device_id d) const {
    return of.op_charge(p, v, d);
  }
  template <class Problem>
    requires objective_parts::is_sum<Objective, Problem>
  constexpr double transfer_charge(const Problem& p, tensor_id t, device_id from, device_id to) const {
    return of.transfer_charge(p, t, from, to);
  }
};

} // namespace weft::objective::detail
