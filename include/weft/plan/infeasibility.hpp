// SPDX-License-Identifier: BSL-1.0
/// Infeasibility as a value, with its cause, and the result type that carries it.
#pragma once

#include "weft/core/config.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/readable.hpp"
#include "weft/platform/kinds.hpp"

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace weft {

/// The component (a colocation group, or a single op) that fits nowhere, and the cause.
struct infeasibility {
  enum class kind : std::uint8_t {
    no_device_of_kind, ///< the platform has no device that the component allows
    out_of_memory,     ///< no allowed device had enough memory left when the component's turn came
    out_of_all_memory, ///< while the op runs, more is alive in every plan than all devices together can hold
    never_ends,        ///< on every allowed device with enough memory left its time is infinite
    every_placement_fails, ///< a search came to its end: some device needs too much memory in any order of its ops
    every_plan_fails,  ///< a search came to its end: the run of every plan needs too much memory, or has no end
    not_found,         ///< a search ended without a plan and without a proof that there is none
  };

  kind cause = kind::not_found;
  op_id op = none;             ///< the component's smallest op
  std::size_t num_members = 1; ///< how many ops the component has
  kind_set kinds = {};         ///< what it allows
  byte_count demand = 0;       ///< bytes it needs; of all memory: that all ops need
  byte_count largest_free = 0; ///< the most that was left on an allowed device; of all memory: that there is

  /// True if a search that came to its end has proven it.
  constexpr bool is_of_search() const {
    return cause == kind::every_placement_fails || cause == kind::every_plan_fails;
  }
  /// True if more memory, or a model that needs less, may help.
  constexpr bool lacks_memory() const { return cause != kind::no_device_of_kind && cause != kind::never_ends; }
  friend constexpr bool operator==(const infeasibility&, const infeasibility&) = default;
};

/// One line that says what fits nowhere and why. `op_name` may be empty.
inline std::string to_string(const infeasibility& i, std::string_view op_name = {}) {
  std::string who = "op " + std::to_string(i.op);
  if (!op_name.empty()) {
    who += " '" + std::string{op_name} + "'";
  }
  if (i.num_members > 1) {
    who = "the colocation group of " + who + " (" + std::to_string(i.num_members) + " ops)";
  }
  switch (i.cause) {
  case infeasibility::kind::no_device_of_kind:
    return who + " fits nowhere: it allows only " + to_string(i.kinds) + " and the platform has no such device" +
           (i.kinds.empty() ? "" : "; add a " + to_string(i.kinds) + " device to the platform");
  case infeasibility::kind::out_of_memory:
    return who + " fits nowhere: it needs " + readable_bytes(i.demand) + " and the most that is left on an allowed " +
           "device (" + to_string(i.kinds) + ") is " + readable_bytes(i.largest_free);
  case infeasibility::kind::out_of_all_memory:
    return "in every plan at least " + readable_bytes(i.demand) + " are needed at once" +
           (i.op == none ? "" : ", while " + who + " runs,") + " and all devices together have " +
           readable_bytes(i.largest_free);
  case infeasibility::kind::never_ends:
    return who + " fits nowhere: it would take forever on every allowed device (" + to_string(i.kinds) +
           ") that has room for it; its time must be finite somewhere";
  case infeasibility::kind::every_placement_fails:
    return "in every placement the ops of some device need more memory at some moment than it has, in whatever order "
           "they run, as an exact search found";
  case infeasibility::kind::every_plan_fails:
    return "every plan needs more memory on some device than it has at some moment, or has no end, as an exact search "
           "found";
  case infeasibility::kind::not_found: break;
  }
  return "no plan was found within the budget, and none was proven impossible";
}

/// Writes that line. For a result's `reason`, too, which a plan that is late or never ends leaves empty.
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             const std::optional<infeasibility>& why) {
  return out << (why ? to_string(*why) : "nothing is proven to be in the way of a plan");
}

/// A value, or why there is none. Like `std::expected`, which C++20 does not have.
template <class T>
class outcome {
public:
  constexpr outcome(T value) : value_{std::move(value)} {}
  constexpr outcome(infeasibility i) : error_{i} {}

  constexpr explicit operator bool() const { return value_.has_value(); }
  constexpr bool has_value() const { return value_.has_value(); }

  constexpr T& operator*() { return *value_; }
  constexpr const T& operator*() const { return *value_; }
  constexpr T* operator->() { return &*value_; }
  constexpr const T* operator->() const { return &*value_; }

  /// Precondition: there is no value.
  constexpr const infeasibility& error() const { return WEFT_ASSERT(!has_value()), error_; }

private:
  std::optional<T> value_;
  infeasibility error_{};
};

} // namespace weft
