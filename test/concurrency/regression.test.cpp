// SPDX-License-Identifier: BSL-1.0
#include "weft/concurrency/regression.hpp"

#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

namespace concurrency_regression_test {

using namespace weft;
using namespace weft::concurrency;
using doctest::Approx;

op_features random_op(rng& random) {
  return {random.uniform(1, 1e9), random.uniform(0, 1e6), random.uniform(0, 1e6),
          {1 + random.below(64), random.below(2) == 0 ? affinity::packed : affinity::spread}};
}

/// A law that is linear in the features: a power of the work, of the bytes and of the threads.
double power_law(const op_features& f) {
  const double spread = f.team.affinity == affinity::spread ? 0.25 : 0;
  return 1e-6 * std::pow(1 + f.work, 0.75) * std::pow(1 + f.input_bytes, 0.25) * std::pow(f.team.threads, -0.5) *
         std::exp(spread);
}

std::vector<observation> observe(std::size_t count, rng& random) {
  std::vector<observation> seen;
  for (std::size_t i = 0; i < count; ++i) {
    const auto f = random_op(random);
    seen.push_back({f, power_law(f)});
  }
  return seen;
}

TEST_CASE("least_squares: exact on data that it can represent") {
  rng random{4};
  const least_squares predict{observe(400, random), 1e-13};
  for (int i = 0; i < 200; ++i) {
    const auto f = random_op(random);
    CHECK(predict(f) == Approx(power_law(f)).epsilon(1e-4));
  }
}

TEST_CASE("least_squares: one observation, and features that never vary, do no harm") {
  const observation only{{1e6, 10, 10, {4}}, 0.5};
  const least_squares one{std::array{only}};
  CHECK(one(only.of) == Approx(0.5).epsilon(1e-3));
  std::vector<observation> seen;
  for (std::uint32_t p = 1; p <= 32; ++p) {
    seen.push_back({{1e6, 10, 10, {p}}, 3.0 / p});
  }
  const least_squares predict{seen};
  for (const auto& o : seen) {
    CHECK(predict(o.of) == Approx(o.seconds).epsilon(1e-2));
  }
  CHECK_THROWS_AS(least_squares(std::vector<observation>{}), value_error);
}

TEST_CASE("solve_positive: a system solved by hand") {
  const std::array<std::array<double, 2>, 2> a{{{4, 2}, {2, 5}}};
  const auto x = concurrency::detail::solve_positive<2>(a, {10, 13}); // 4x + 2y = 10, 2x + 5y = 13
  CHECK(x[0] == Approx(1.5));
  CHECK(x[1] == Approx(2));
}

TEST_CASE("nearest_neighbours: with k = 1 what was seen comes back") {
  rng random{6};
  const auto seen = observe(100, random);
  const nearest_neighbours predict{seen, 1};
  for (const auto& o : seen) {
    CHECK(predict(o.of) == o.seconds);
  }
}

TEST_CASE("nearest_neighbours: the median of the k nearest") {
  std::vector<observation> seen;
  const std::array<double, 5> seconds{10, 20, 90, 40, 50};
  for (std::uint32_t p = 1; p <= 5; ++p) { // 1, 2, 4, 8, 16 threads
    seen.push_back({{1, 0, 0, {1u << (p - 1)}}, seconds[p - 1]});
  }
  CHECK(nearest_neighbours{seen, 3}({1, 0, 0, {1}}) == 20);  // 10, 20, 90
  CHECK(nearest_neighbours{seen, 3}({1, 0, 0, {16}}) == 50); // 50, 40, 90
  CHECK(nearest_neighbours{seen, 99}({1, 0, 0, {1}}) == 40); // all there are
  CHECK(nearest_neighbours{seen, 0}({1, 0, 0, {4}}) == 90);  // at least one
  CHECK_THROWS_AS(nearest_neighbours(std::vector<observation>{}), value_error);
}

} // namespace concurrency_regression_test
