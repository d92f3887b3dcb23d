// SPDX-License-Identifier: BSL-1.0
#include "weft/concurrency/sampled_curve.hpp"

#include "weft/concurrency/scaling_laws.hpp"
#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace concurrency_sampled_curve_test {

using namespace weft;
using namespace weft::concurrency;
using doctest::Approx;

static_assert(moldable_curve<sampled_curve>);

std::vector<sample> points_of(const auto& curve, std::vector<std::uint32_t> at) {
  std::vector<sample> points;
  for (const auto p : at) {
    points.push_back({p, curve(team{p})});
  }
  return points;
}

TEST_CASE("sampled_curve: exact where it was measured, in whatever order") {
  const sampled_curve c{{{9, 1.5}, {1, 8}, {5, 2}}, {{1, 8}, {4, 7}}};
  CHECK(c({1}) == 8);
  CHECK(c({5}) == 2);
  CHECK(c({9}) == 1.5);
  CHECK(c({1, affinity::spread}) == 8);
  CHECK(c({4, affinity::spread}) == 7);
  CHECK(c.points(affinity::packed) == std::vector<sample>{{1, 8}, {5, 2}, {9, 1.5}});
}

TEST_CASE("sampled_curve: Amdahl's law comes out exactly between and beyond the points") {
  rng random{3};
  for (int i = 0; i < 200; ++i) {
    const amdahl law{random.uniform(0.1, 10), random.uniform()};
    const sampled_curve c{points_of(law, {1, 5, 9, 64}), {}};
    for (std::uint32_t p = 1; p <= 200; ++p) {
      CHECK(c({p}) == Approx(law({p})).epsilon(1e-9));
    }
  }
}

TEST_CASE("sampled_curve: where time rises, time is a straight line") {
  const sampled_curve c{{{2, 4}, {4, 8}, {6, 20}}, {}};
  CHECK(c({3}) == 6);
  CHECK(c({5}) == 14);
  CHECK(c({8}) == 32); // the last line goes on
  CHECK(c({1}) == 8);  // below: the core-seconds of the first
}

TEST_CASE("sampled_curve: beyond the last point never better than perfect scaling") {
  // 10 core-seconds at 2, 4 at 4 threads: faster than perfect; that does not go on.
  const sampled_curve c{{{2, 5}, {4, 1}}, {}};
  CHECK(c({3}) == Approx(7.0 / 3));
  CHECK(c({8}) == 0.5);
  CHECK(c({400}) == Approx(0.01));
}

TEST_CASE("sampled_curve: one point says how many core-seconds there are") {
  const sampled_curve c{{{4, 3}}, {}};
  CHECK(c({4}) == 3);
  CHECK(c({1}) == 12);
  CHECK(c({12}) == 1);
}

TEST_CASE("sampled_curve: an affinity without points has the other's") {
  const sampled_curve packed{{{1, 8}, {4, 2}}, {}};
  const sampled_curve spread{{}, {{1, 8}, {4, 2}}};
  for (std::uint32_t p = 1; p < 9; ++p) {
    CHECK(packed({p, affinity::spread}) == packed({p}));
    CHECK(spread({p}) == spread({p, affinity::spread}));
    CHECK(packed({p}) == spread({p}));
  }
}

TEST_CASE("sampled_curve: of two times of one number of threads the first counts") {
  const sampled_curve c{{{2, 3}, {1, 8}, {2, 5}}, {}};
  CHECK(c({2}) == 3);
  CHECK(c.points(affinity::packed).size() == 2);
}

TEST_CASE("sampled_curve: bad points") {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(sampled_curve({}, {}), value_error);
  for (const double bad : {0.0, -1.0, infinite, no_number}) {
    CHECK_THROWS_AS(sampled_curve({{1, 1}, {2, bad}}, {}), value_error);
    CHECK_THROWS_AS(sampled_curve({{1, 1}}, {{2, bad}}), value_error);
  }
  CHECK_THROWS_AS(sampled_curve({{0, 1}}, {}), value_error);
}

} // namespace concurrency_sampled_curve_test
