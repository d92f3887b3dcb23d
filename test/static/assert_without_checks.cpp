// SPDX-License-Identifier: BSL-1.0
// Under NDEBUG a precondition costs nothing, is not evaluated, and leaves no variable unused.
#ifndef NDEBUG
#define NDEBUG
#endif
#include "weft/core/config.hpp"

#include <span>

namespace {

[[maybe_unused]] void only_for_the_check(std::span<const int> values) {
  const bool sorted = values.size() < 2;
  WEFT_ASSERT(sorted);
  for (const int value : values) {
    WEFT_ASSERT(value > 0);
  }
}

constexpr int evaluated() {
  int count = 0;
  WEFT_ASSERT(++count > 5);
  return WEFT_ASSERT(++count > 5), count;
}
static_assert(evaluated() == 0);

} // namespace
