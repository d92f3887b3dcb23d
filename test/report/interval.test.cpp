// SPDX-License-Identifier: BSL-1.0
#include "weft/report/interval.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace report_interval_test {

using namespace weft::report;

TEST_CASE("student_t_95: the quantiles of the tables") {
  CHECK(std::isnan(student_t_95(0)));
  CHECK(student_t_95(1) == doctest::Approx(12.7062).epsilon(1e-6));
  CHECK(student_t_95(4) == doctest::Approx(2.776445).epsilon(1e-6));
  CHECK(student_t_95(30) == doctest::Approx(2.042272).epsilon(1e-6));
  CHECK(student_t_95(31) == doctest::Approx(2.039513).epsilon(1e-6));
  CHECK(student_t_95(49) == doctest::Approx(2.009575).epsilon(1e-6));
  CHECK(student_t_95(120) == doctest::Approx(1.979930).epsilon(1e-6));
  CHECK(student_t_95(1'000'000) == doctest::Approx(1.959966).epsilon(1e-6));
  for (std::size_t n = 1; n < 100; ++n) {
    CHECK(student_t_95(n + 1) < student_t_95(n));
  }
}

TEST_CASE("mean_interval: a sample whose interval is known") {
  // Student's own data (Biometrika 6, 1908): the additional hours of sleep of ten patients; mean 1.58, s = 1.230.
  const std::vector<double> hours{1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};
  const auto i = mean_interval(hours);
  CHECK(i.mean == doctest::Approx(1.58));
  CHECK(i.low == doctest::Approx(0.7001142).epsilon(1e-6));
  CHECK(i.high == doctest::Approx(2.4598858).epsilon(1e-6));
}

TEST_CASE("mean_interval: few, equal and unusable samples") {
  CHECK(std::isnan(mean_interval({}).mean));
  const auto one = mean_interval(std::vector<double>{3});
  CHECK(one.mean == 3);
  CHECK(std::isnan(one.low));
  CHECK(std::isnan(one.high));
  const auto equal = mean_interval(std::vector<double>(7, .1));
  CHECK(equal.mean == .1);
  CHECK(equal.low == .1);
  CHECK(equal.high == .1);
  CHECK(std::isnan(mean_interval(std::vector<double>{1, INFINITY}).low));
}

TEST_CASE("geometric_interval: that of the logarithms") {
  const auto i = geometric_interval(std::vector<double>{1, 4});
  CHECK(i.mean == doctest::Approx(2));
  CHECK(std::log(i.high) - std::log(i.mean) == doctest::Approx(12.706205 * std::log(2)).epsilon(1e-6));
  CHECK(i.low * i.high == doctest::Approx(4));
  CHECK(geometric_interval(std::vector<double>{1, 1, 1}).high == 1);
  CHECK(std::isnan(geometric_interval({}).mean));
}

} // namespace report_interval_test
