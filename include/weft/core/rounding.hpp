// SPDX-License-Identifier: BSL-1.0
/// Products that round everywhere alike.
#pragma once

#include "weft/core/config.hpp"

#include <type_traits>

namespace weft {

/// x, where x is a product that goes on into a sum: `rounded(a * b) + c`. Compilers may fuse the two into one operation
/// that rounds once (g++ does wherever the processor can), and then results that are compared differ from machine to
/// machine. Costs nothing where there is no such operation, and keeps g++ and clang from fusing, or vectorising, where
/// there is.
constexpr double rounded(double x) {
#if defined(__GNUC__) && (defined(__FMA__) || defined(__FMA4__))
  if (!std::is_constant_evaluated()) {
    asm("" : "+x"(x)); // changes nothing, but the compiler does not look through it
  }
#elif defined(__GNUC__) && defined(__aarch64__)
  if (!std::is_constant_evaluated()) {
    asm("" : "+w"(x));
  }
#elif defined(__GNUC__) && !defined(__clang__) && !defined(__x86_64__)
  x = __builtin_assoc_barrier(x);
#endif
  return x;
}

} // namespace weft
