// SPDX-License-Identifier: BSL-1.0
/// A plan, the decision of a solver: a device for each op, and optionally an order on each device.
#pragma once

#include "weft/core/explained.hpp"
#include "weft/core/ids.hpp"

#include <concepts>
#include <vector>

namespace weft {

/// The device of every op, by op id. `none` where an op has not been placed yet.
using placement = std::vector<device_id>;

/// One thing that a device's compute queue does: run an op, or send a tensor to another device.
struct step {
  op_id op = none;         ///< the op that runs, or whose tensor is sent
  tensor_id tensor = none; ///< the tensor that is sent; `none` for running the op
  device_id to = none;     ///< where it is sent; `none` for running the op

  static constexpr step run(op_id v) { return {v, none, none}; }
  static constexpr step send(op_id producer, tensor_id t, device_id to) { return {producer, t, to}; }
  constexpr bool is_send() const { return tensor != none; }
  friend constexpr bool operator==(const step&, const step&) = default;
};

/// Steps in the order in which their devices take them; each device takes its own and skips the others'. Every op
/// is in it once. A send that is not in it comes right after its producer. Empty: no order was decided.
using order = std::vector<step>;

/// A decision: where, and optionally in which order.
struct plan {
  weft::placement placement;
  weft::order order = {};
  friend constexpr bool operator==(const plan&, const plan&) = default;
};

namespace why_not {
template <class T>
struct plan {
  static_assert(std::convertible_to<const T&, const weft::plan&>,
                "weft: what runs is a plan: of a placement, weft::plan{placement}; of a result, result.plan");
};
} // namespace why_not

namespace must_be {
template <class T>
concept plan = std::convertible_to<const T&, const weft::plan&> || explained<why_not::plan<T>>;
} // namespace must_be

} // namespace weft
