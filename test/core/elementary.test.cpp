// SPDX-License-Identifier: BSL-1.0
#include "weft/core/elementary.hpp"

#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace core_elementary_test {

using weft::portable_exp;
using weft::portable_log;

TEST_CASE("portable_log and portable_exp are those of the standard library, up to the last bits") {
  weft::rng random{1};
  double log_error = 0;
  double exp_error = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double x = std::ldexp(1 + random.uniform(), static_cast<int>(random.between(-300, 300)));
    const long double ln = std::log(static_cast<long double>(x));
    log_error = std::max(log_error, static_cast<double>(std::abs(portable_log(x) - ln) / std::max(1.0L, std::abs(ln))));
    const double y = i % 2 == 0 ? random.uniform(-4, 4) : random.uniform(-708, 709);
    const long double e = std::exp(static_cast<long double>(y));
    exp_error = std::max(exp_error, static_cast<double>(std::abs(portable_exp(y) - e) / e /
                                                        std::max(1.0L, std::abs(static_cast<long double>(y)) / 100)));
  }
  CHECK(log_error < 1e-15);
  CHECK(exp_error < 4e-16);
}

TEST_CASE("portable_log and portable_exp: what is exact, and the ends") {
  CHECK(portable_log(1) == 0);
  CHECK(portable_log(std::numeric_limits<double>::denorm_min()) == doctest::Approx(-744.44));
  CHECK(portable_exp(0) == 1);
  CHECK(portable_exp(-708.5) == 0);
  CHECK(portable_exp(-std::numeric_limits<double>::infinity()) == 0);
  CHECK(portable_exp(709.5) == std::numeric_limits<double>::infinity());
  CHECK(std::isnan(portable_exp(std::numeric_limits<double>::quiet_NaN())));
}

TEST_CASE("portable_log and portable_exp: these very bits, on every machine") {
  CHECK(portable_log(0.1) == -0x1.26bb1bbb55515p+1);
  CHECK(portable_log(12345.678) == 0x1.2d79559791e31p+3);
  CHECK(portable_exp(0.1) == 0x1.1aec7b35a00d4p+0);
  CHECK(portable_exp(-5.4321) == 0x1.1ea5e193a73ebp-8);
}

} // namespace core_elementary_test
