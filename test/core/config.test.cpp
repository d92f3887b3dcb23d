// SPDX-License-Identifier: BSL-1.0
// A handler of one's own, plugged in before anything of weft is included.
namespace {
int violations = 0;
} // namespace
#define WEFT_ASSERT(...) ((__VA_ARGS__) ? static_cast<void>(0) : static_cast<void>(++violations))
#include "weft/core/config.hpp"

#include <doctest/doctest.h>

#include <type_traits>

TEST_CASE("config: preconditions go to a handler that was defined before") {
  const bool fine = true;
  WEFT_ASSERT(std::is_same_v<decltype(fine), const bool>); // commas may be in it
  CHECK(violations == 0);
  WEFT_ASSERT(!fine);
  CHECK(violations == 1);
}
