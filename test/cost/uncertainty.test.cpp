// SPDX-License-Identifier: BSL-1.0
#include "weft/cost/uncertainty.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace cost_uncertainty_test {

using namespace weft;

struct moments {
  double mean = 0, deviation = 0, smallest = 1e300, largest = 0;
};

/// Of what comes out of `value(factor)`.
template <class Value>
moments of(const cost::spread& s, Value value) {
  constexpr int count = 100'000;
  rng random{3};
  moments m;
  double squares = 0;
  for (int i = 0; i < count; ++i) {
    const double x = value(s(random));
    m.mean += x / count;
    squares += x * x / count;
    m.smallest = std::min(m.smallest, x);
    m.largest = std::max(m.largest, x);
  }
  m.deviation = std::sqrt(squares - m.mean * m.mean);
  return m;
}
constexpr auto itself = [](double x) { return x; };

TEST_CASE("spread: a lognormal factor has mean 1, and its logarithm is normal") {
  for (const double sigma : {0.1, 0.3, 1.0}) {
    const cost::spread s{cost::lognormal{sigma}};
    CHECK(of(s, itself).mean == doctest::Approx(1).epsilon(0.02));
    CHECK(of(s, itself).smallest > 0);
    const auto logarithm = of(s, [](double x) { return std::log(x); });
    CHECK(logarithm.mean == doctest::Approx(-sigma * sigma / 2).epsilon(0.02));
    CHECK(logarithm.deviation == doctest::Approx(sigma).epsilon(0.02));
    // Shares of a normal distribution within one and two standard deviations.
    const auto share_within = [&](double width) {
      const auto is_within = [&](double x) { return std::abs(std::log(x) + sigma * sigma / 2) < width * sigma; };
      return of(s, [&](double x) { return is_within(x) ? 1.0 : 0.0; }).mean;
    };
    CHECK(share_within(1) == doctest::Approx(0.6827).epsilon(0.01));
    CHECK(share_within(2) == doctest::Approx(0.9545).epsilon(0.01));
  }
}

TEST_CASE("spread: the same bits on every machine") {
  rng random{1};
  const cost::spread s{cost::lognormal{0.2}};
  CHECK(s(random) == 0x1.6dc9fbed9eb8bp+0); // as Python computes it, too
  CHECK(s(random) == 0x1.45936ba192b58p+0);
}

TEST_CASE("spread: uniform, empirical and exact") {
  const auto even = of(cost::uniform{0.3}, itself);
  CHECK(even.mean == doctest::Approx(1).epsilon(0.01));
  CHECK(even.deviation == doctest::Approx(0.6 / std::sqrt(12.0)).epsilon(0.01));
  CHECK(even.smallest >= 0.7);
  CHECK(even.largest < 1.3);

  const cost::spread measured{cost::empirical{{0.5, 1, 4}}};
  for (const double factor : {0.5, 1.0, 4.0}) {
    const double share = of(measured, [&](double x) { return x == factor ? 1.0 : 0.0; }).mean;
    CHECK(share == doctest::Approx(1.0 / 3).epsilon(0.02));
  }
  for (const cost::spread& exact : {cost::spread{}, cost::spread{cost::lognormal{0}}, cost::spread{cost::uniform{0}}}) {
    CHECK(exact.is_exact());
    CHECK(of(exact, itself).smallest == 1);
    CHECK(of(exact, itself).largest == 1);
  }
  CHECK_FALSE(measured.is_exact());
}

TEST_CASE("spread: what is no distribution is refused in one line") {
  const auto message = [](auto s) {
    try {
      (void)cost::spread{s};
    } catch (const value_error& e) {
      return std::string{e.what()};
    }
    return std::string{};
  };
  CHECK(message(cost::lognormal{-0.1}).starts_with("lognormal spread: -0.1 is not a spread: sigma"));
  CHECK(message(cost::lognormal{std::nan("")}).find("lognormal spread: ") == 0);
  CHECK(message(cost::uniform{1}).starts_with("uniform spread: 1 is not a spread: the width"));
  CHECK(message(cost::empirical{}) == "empirical spread: has no factors to draw from; give at least one");
  CHECK(message(cost::empirical{{1, 0}}).starts_with("empirical spread: 0 is not a spread"));
  CHECK(message(cost::empirical{{HUGE_VAL}}).starts_with("empirical spread: inf is not a spread"));
}

TEST_CASE("uncertainty: by op type") {
  cost::uncertainty times{cost::uniform{0.5}};
  times.set("Conv", cost::lognormal{1}).set("Add", {});
  times.set("MatMul", cost::lognormal{1}).set("MatMul", cost::empirical{{2}});
  CHECK(of(times.of_type("MatMul"), itself).smallest == 2);
  CHECK(times.of_type("Add").is_exact());
  CHECK(of(times.of_type("Conv"), itself).largest > 2);
  for (const char* other : {"", "Ad", "Addd", "Relu", "Zeros"}) {
    CHECK(of(times.of_type(other), itself).largest < 1.5);
    CHECK(of(times.of_type(other), itself).largest > 1.4);
  }
  CHECK(times.of_transfers().is_exact());
  times.set_transfers(cost::uniform{0.1});
  CHECK_FALSE(times.of_transfers().is_exact());
  CHECK(cost::uncertainty{}.of_type("Conv").is_exact());
}

} // namespace cost_uncertainty_test
