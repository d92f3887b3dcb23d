// SPDX-License-Identifier: BSL-1.0
#include "weft/evaluate/risk_measure.hpp"

#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace objective_risk_measure_test {

using namespace weft;
using namespace weft::objective;

double of(risk_measure m, std::vector<double> values) { return m.of(values); }

TEST_CASE("risk_measure: by hand") {
  const std::vector<double> x{4, 1, 3, 2};
  CHECK(of(mean, x) == 2.5);
  CHECK(of(quantile(0.25), x) == 1);
  CHECK(of(quantile(0.26), x) == 2);
  CHECK(of(quantile(0.5), x) == 2);
  CHECK(of(quantile(0.75), x) == 3);
  CHECK(of(quantile(1), x) == 4);
  CHECK(of(conditional_value_at_risk(0), x) == 2.5);
  CHECK(of(conditional_value_at_risk(0.5), x) == 3.5);
  CHECK(of(conditional_value_at_risk(0.6), x) == doctest::Approx((4 + 0.6 * 3) / 1.6)); // a share of 1.6 values
  CHECK(of(conditional_value_at_risk(0.75), x) == 4);
  CHECK(of(conditional_value_at_risk(0.9), x) == 4);
  CHECK(of(conditional_value_at_risk(1), x) == 4);
  for (const auto m : {mean, quantile(0.5), conditional_value_at_risk(0.5)}) {
    CHECK(of(m, {7}) == 7);
  }
  CHECK(to_string(mean) == "mean");
  CHECK(to_string(quantile(0.95)) == "quantile(0.95)");
  CHECK(to_string(conditional_value_at_risk(0.9)) == "cvar(0.9)");
}

TEST_CASE("risk_measure: levels that are whole numbers of values but for rounding") {
  for (const std::size_t n : {10u, 20u, 100u, 200u, 1000u}) {
    std::vector<double> x(n);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = static_cast<double>(i + 1);
    }
    for (std::size_t k = 1; k <= n; ++k) {
      const double level = static_cast<double>(k) / static_cast<double>(n);
      CHECK(of(quantile(level), x) == static_cast<double>(k));
      const double mean_of_worst = 0.5 * static_cast<double>(std::min(k + 1, n) + n);
      CHECK(of(conditional_value_at_risk(level), x) == doctest::Approx(mean_of_worst).epsilon(1e-12));
    }
  }
}

TEST_CASE("risk_measure: the definition as a minimum, and the order of the measures") {
  rng random{5};
  for (int round = 0; round < 2000; ++round) {
    std::vector<double> x(1 + random.below(30));
    for (double& value : x) {
      value = random.below(4) == 0 ? 5 : random.uniform(0, 10);
    }
    const double level = random.uniform(0.01, 0.99);
    const auto n = static_cast<double>(x.size());
    double least = std::numeric_limits<double>::infinity(); // Rockafellar and Uryasev: over all c, and one of x is best
    for (const double c : x) {
      double above = 0;
      for (const double value : x) {
        above += std::max(0.0, value - c) / n;
      }
      least = std::min(least, c + above / (1 - level));
    }
    const double cvar = of(conditional_value_at_risk(level), x);
    CHECK(cvar == doctest::Approx(least).epsilon(1e-9));
    CHECK(cvar >= of(quantile(level), x) * (1 - 1e-12));
    CHECK(cvar >= of(mean, x) * (1 - 1e-12));
    const double q = of(quantile(level), x);
    CHECK(static_cast<double>(std::count_if(x.begin(), x.end(), [&](double v) { return v <= q; })) >= level * n - 1e-6);
    CHECK(static_cast<double>(std::count_if(x.begin(), x.end(), [&](double v) { return v < q; })) < level * n);
    auto larger = x; // no measure falls where a value rises
    larger[random.below(larger.size())] += random.uniform(0, 3);
    for (const auto m : {mean, quantile(level), conditional_value_at_risk(level)}) {
      CHECK(of(m, larger) >= of(m, x) * (1 - 1e-12));
    }
  }
}

TEST_CASE("risk_measure: levels that are none") {
  CHECK_THROWS_WITH(quantile(0), "quantile: 0 is not a level; a level is a share of the samples, such as 0.95");
  CHECK_THROWS_AS(quantile(95), value_error);
  CHECK_THROWS_AS(quantile(std::numeric_limits<double>::quiet_NaN()), value_error);
  CHECK_THROWS_WITH(conditional_value_at_risk(1.5),
                    "conditional value at risk: 1.5 is not a level; a level is a share of the samples, such as 0.95");
  CHECK_THROWS_AS(conditional_value_at_risk(-0.1), value_error);
}

} // namespace objective_risk_measure_test
