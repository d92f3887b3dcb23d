// SPDX-License-Identifier: BSL-1.0
/// A request from outside to stop, as budgets hold it.
#pragma once

#include "weft/core/explained.hpp"

#include <concepts>
#include <cstddef>
#include <stop_token>
#include <type_traits>

namespace weft {

namespace why_not {
template <class T>
struct pointer_to_stop_token {
  static_assert(!std::same_as<T, std::stop_token>,
                "weft: stop is a pointer to a std::stop_token, since a token itself cannot be in a constant: keep the "
                "token for as long as the work takes and pass its address, as in .stop = &token");
  static_assert(!std::same_as<T, std::stop_source>,
                "weft: stop is a pointer to a std::stop_token, not a std::stop_source: keep source.get_token() in a "
                "variable for as long as the work takes and pass its address, as in .stop = &token");
};
template <class T>
concept stops = std::same_as<T, std::stop_token> || std::same_as<T, std::stop_source>;
} // namespace why_not

/// A pointer to a `std::stop_token` that must outlive the work, or none. A literal type, so that strategies with a
/// budget can be constants.
class stop_pointer {
public:
  constexpr stop_pointer() = default;
  constexpr stop_pointer(std::nullptr_t) {}
  constexpr stop_pointer(const std::stop_token* token) : token_{token} {}

  /// Never chosen: says what to pass in place of the token itself.
  template <class T>
    requires why_not::stops<std::remove_cvref_t<T>> &&
             explained<why_not::pointer_to_stop_token<std::remove_cvref_t<T>>>
  constexpr stop_pointer(T&&);

  constexpr operator const std::stop_token*() const { return token_; }
  constexpr const std::stop_token* operator->() const { return token_; }

private:
  const std::stop_token* token_ = nullptr;
};

} // namespace weft
