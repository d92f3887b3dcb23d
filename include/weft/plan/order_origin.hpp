// SPDX-License-Identifier: BSL-1.0
/// The origin of the order in which a run took the ops of a plan.
#pragma once

#include "weft/plan/plan.hpp"

#include <cstdint>
#include <string_view>

namespace weft {

/// Heuristics of the literature decide an order with the placement, and their published makespans are of that order.
enum class order_origin : std::uint8_t {
  unknown,   ///< nothing ran
  own,       ///< the strategy that decided the placement decided the order, too
  replaced,  ///< it decided an order, and the ready policy ran another
  undecided, ///< it decided the placement alone, and the ready policy ordered the ops
};

constexpr std::string_view to_string(order_origin o) {
  constexpr std::string_view names[] = {"unknown", "own", "replaced", "undecided"};
  return names[static_cast<std::uint8_t>(o)];
}

/// Of a run of this plan under a ready policy that keeps to the order of a plan that has one, or does not. O(1).
constexpr order_origin order_origin_of(const plan& decided, bool policy_keeps_order) {
  return decided.order.empty() ? order_origin::undecided
         : policy_keeps_order  ? order_origin::own
                               : order_origin::replaced;
}

} // namespace weft
