// SPDX-License-Identifier: BSL-1.0
#include "weft/concurrency/scaling_laws.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace concurrency_scaling_laws_test {

using namespace weft;
using namespace weft::concurrency;
using doctest::Approx;

static_assert(moldable_curve<amdahl> && moldable_curve<universal_scalability>);
static_assert(amdahl{8, 0.75}({1}) == 8);
static_assert(amdahl{8, 0.75}({3}) == 4);   // 2 serial, 6 / 3
static_assert(amdahl{8, 0}({64}) == 8);     // nothing to share
static_assert(amdahl{8, 1}({64}) == 0.125); // all of it
static_assert(amdahl{8, 0.75}({3, affinity::spread}) == 4);

TEST_CASE("scaling laws: USL by hand") {
  CHECK(universal_scalability{6, 0, 0}({3}) == 2);
  CHECK(universal_scalability{6, 0.5, 0}({3}) == 4);    // 6 (1 + 0.5 · 2) / 3
  CHECK(universal_scalability{6, 0, 0.5}({3}) == 8);    // 6 (1 + 0.5 · 3 · 2) / 3
  CHECK(universal_scalability{6, 0.25, 0.25}({2}) == Approx(6 * 1.75 / 2));
  CHECK(universal_scalability{6, 0.3, 0.7}({1}) == 6);
}

TEST_CASE("scaling laws: without coherency cost USL is Amdahl's law") {
  for (std::uint32_t p = 1; p <= 64; ++p) {
    CHECK(universal_scalability{3, 0.25, 0}({p}) == Approx(amdahl{3, 0.75}({p})));
  }
}

TEST_CASE("scaling laws: USL is smallest at its best number of threads") {
  const universal_scalability c{5, 0.19, 0.0025};
  CHECK(c.best() == Approx(18)); // √(0.81 / 0.0025)
  for (std::uint32_t p = 1; p <= 100; ++p) {
    CHECK(c({p}) >= c({18}));
  }
  CHECK(c({17}) > c({18}));
  CHECK(c({19}) > c({18}));
  CHECK(std::isinf(universal_scalability{1, 0.5, 0}.best()));
}

} // namespace concurrency_scaling_laws_test
