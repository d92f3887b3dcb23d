// SPDX-License-Identifier: BSL-1.0
/// A change that ends with the scope in which it was made.
#pragma once

#include "weft/core/config.hpp"

#include <utility>

namespace weft::nn::detail {

/// Gives something another value for as long as this lives.
template <class T>
class [[nodiscard]] scoped_value {
public:
  scoped_value(T& value, T now) : value_{value}, before_{std::exchange(value, std::move(now))} {}
  scoped_value(const scoped_value&) = delete;
  scoped_value& operator=(const scoped_value&) = delete;
  ~scoped_value() { value_ = std::move(before_); }

private:
  T& value_;
  T before_;
};

} // namespace weft::nn::detail
