// SPDX-License-Identifier: BSL-1.0
/// The roles of ops in a training step: which make gradients, and which change parameters with them.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/workload/detail/name_prefix.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft {

/// The role of an op in a step.
enum class op_role : std::uint8_t {
  by_name,            ///< not given: what type and name say
  forward,            ///< that of ops without any other
  gradient,           ///< it is of the backward pass, or made again for that
  parameter_gradient, ///< what it makes for updates are gradients of parameters
  update              ///< it changes parameters or the optimiser's state, or works on gradients for those that do
};

inline constexpr std::string_view op_role_names[] = {"", "forward", "gradient", "parameter_gradient", "update"};

constexpr std::string_view to_string(op_role r) { return op_role_names[static_cast<std::size_t>(r)]; }

/// True if ops of that type update parameters, by the names that TensorFlow gives such types.
constexpr bool is_update(std::string_view type) {
  for (const std::string_view way : {"Resource", "Sparse"}) {
    type.remove_prefix(type.starts_with(way) ? way.size() : 0);
  }
  return type.starts_with("Apply");
}

/// The role of an op that nobody gives one, by its type and its name. Complexity: linear in them.
constexpr op_role role_by_name(std::string_view type, std::string_view name) {
  return is_update(type)                         ? op_role::update
         : detail::name_prefix{name}.is_gradient ? op_role::gradient
                                                 : op_role::forward;
}

/// The role of an op in a workload, whether that keeps roles or only names and types.
template <class Workload>
constexpr op_role role_of(const Workload& w, op_id v) {
  if constexpr (requires { op_role{w.role(v)}; }) {
    return w.role(v);
  } else {
    return role_by_name(w.type(v), w.name(v));
  }
}

template <class Workload>
constexpr bool is_update(const Workload& w, op_id v) {
  return role_of(w, v) == op_role::update;
}
/// True for an op that its name tells to be of the backward pass. Of traced steps that is not known.
template <class Workload>
constexpr bool is_gradient(const Workload& w, op_id v) {
  return role_of(w, v) == op_role::gradient;
}
/// True for a training step: some op updates parameters. Complexity: O(n).
template <class Workload>
constexpr bool is_training_step(const Workload& w) {
  for (const op_id v : ids(static_cast<std::size_t>(w.num_ops()))) {
    if (is_update(w, v)) {
      return true;
    }
  }
  return false;
}

} // namespace weft
