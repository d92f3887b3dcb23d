// SPDX-License-Identifier: BSL-1.0
#include "bound/small.hpp"
#include "partition/published_example.hpp"
#include "support/rounds.hpp"

#include "weft/bound/best.hpp"
#include "weft/bound/refutation.hpp"
#include "weft/cost/generate/suite.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace bound_refutation_test {

using namespace weft;

TEST_CASE("refutation: never above the optimum, and often at it") {
  rng random{31};
  int at_optimum = 0;
  int raised = 0;
  for (int round = 0; round < test::rounds(400); ++round) {
    CAPTURE(round);
    const auto small = weft_test::random_problem(random);
    small.with([&](const auto& p) {
      const double optimum = weft_test::least_makespan(p);
      const double known = bound::best(p).value;
      if (optimum == std::numeric_limits<double>::infinity() || known == 0) {
        return;
      }
      const double value = bound::refutation{.budget = {.moves = 20'000}}(p, known);
      CHECK(value >= known);
      CHECK(value <= optimum * (1 + 1e-12));
      CHECK(bound::refutation{.budget = {.moves = 20'000}}(p, known, 1.5 * optimum) <= optimum * (1 + 1e-12));
      at_optimum += value >= optimum * 0.99;
      raised += value > known;
    });
  }
  CHECK(raised > test::rounds(20));
  CHECK(at_optimum > test::rounds(300));
}

TEST_CASE("refutation: the published example") {
  const test::published_example s;
  const double value = bound::refutation{}(s.p, bound::best(s.p).value, 80);
  CHECK(value <= 73);
  CHECK(value > 72);
  const auto found = bound::best(s.p, budget{.moves = 1'000'000}, 80);
  CHECK(found.which == lower_bound::rule::search);
  CHECK(found.value > 72);
  CHECK(bound::refutation{.budget = {.moves = 0}}(s.p, 50, 80) == 50);
}

TEST_CASE("refutation: the same for the same moves, and better for more") {
  const auto made = generate::make_suite_instance({"random_dag", 10, generate::heterogeneity::unrelated, 1});
  const problem p{made.ops, made.devices, made.costs()};
  const double known = bound::best(p).value;
  const double little = bound::refutation{.budget = {.moves = 2'000'000}}(p, known);
  CHECK(little == bound::refutation{.budget = {.moves = 2'000'000}}(p, known));
  CHECK(little > 1.1 * known);
}

} // namespace bound_refutation_test
