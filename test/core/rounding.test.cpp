// SPDX-License-Identifier: BSL-1.0
#include "weft/core/rounding.hpp"

#include <doctest/doctest.h>

namespace core_rounding_test {

static_assert(weft::rounded(2.0 * 3.0) + 1 == 7);

TEST_CASE("rounded: a product rounds before it goes into a sum") {
  volatile double source = 1 + 0x1p-30;
  const double a = source;
  CHECK(weft::rounded(a * a) - 1 == 0x1p-29); // the 2^-60 of the exact square are lost
  double sums[8] = {};
  for (double& sum : sums) { // also where loops are vectorised
    sum = weft::rounded(a * a) - 1;
  }
  for (const double sum : sums) {
    CHECK(sum == 0x1p-29);
  }
}

} // namespace core_rounding_test
