// SPDX-License-Identifier: BSL-1.0
#include "bound/small.hpp"
#include "support/rounds.hpp"

#include "weft/bound/best.hpp"
#include "weft/bound/exact/path_pieces.hpp"
#include "weft/bound/refutation.hpp"
#include "weft/cost/generate/suite.hpp"
#include "weft/problem.hpp"
#include "weft/solve/best.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <type_traits>
#include <vector>

namespace bound_path_pieces_test {

using namespace weft;
using bound::exact::excerpt;
using bound::exact::path_pieces;

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST_CASE("path_pieces: no plan begins an op sooner than pieces say, and often they say more than the path") {
  rng random{17};
  int raised = 0;
  for (int round = 0; round < test::rounds(500); ++round) {
    CAPTURE(round);
    const auto small = weft_test::random_problem(random);
    small.with([&](const auto& p) {
      const double optimum = weft_test::least_makespan(p);
      if (optimum == infinity) {
        return;
      }
      const bound::detail::relaxation<std::decay_t<decltype(p)>> r{p};
      path_pieces pieces{r};
      double before = bound::communication_path(p);
      for (const std::size_t size : {3u, 4u, 6u}) {
        budget left{.moves = 10'000};
        const double value = pieces.raise(size, left);
        CHECK(value >= before);
        CHECK(value <= optimum * (1 + 1e-12));
        raised += value > before * (1 + 1e-9);
        before = value;
      }
    });
  }
  CHECK(raised > test::rounds(20));
}

TEST_CASE("excerpt: devices in a crowd refute no makespan that the problem has") {
  rng random{23};
  int rounds_with_a_crowd = 0;
  for (int round = 0; round < test::rounds(400); ++round) {
    CAPTURE(round);
    const auto small = weft_test::random_problem(random);
    small.with([&](const auto& p) {
      const double optimum = weft_test::least_makespan(p);
      const double known = bound::critical_path(p);
      if (optimum == infinity || known == 0 || p.num_devices() < 2) {
        return;
      }
      std::vector<device_id> kept;
      std::vector<device_id> crowd;
      for (const device_id d : ids(p.num_devices())) {
        (random.below(2) == 0 ? kept : crowd).push_back(d);
      }
      const std::size_t count = kept.size() + (crowd.empty() ? 0 : 1);
      const std::vector<std::size_t> no_twins(count, count);
      excerpt<std::decay_t<decltype(p)>> part{p, kept, crowd};
      std::vector<op_id> all(p.topological_order().begin(), p.topological_order().end());
      part.take(all);
      budget left{.moves = 10'000};
      CHECK(bound::exact::refute(part, no_twins, known / 4, infinity, left) <= optimum * (1 + 1e-12));
      rounds_with_a_crowd += !crowd.empty();
    });
  }
  CHECK(rounds_with_a_crowd > test::rounds(100));
}

TEST_CASE("path_pieces: long graphs, beyond what is searched as a whole") {
  const std::vector families{"gauss", "cholesky", "series_parallel"};
  for (std::size_t i = 0; i < (test::are_all_rounds ? families.size() : 1); ++i) {
    const auto* const family = families[i];
    CAPTURE(family);
    const auto made = generate::make_suite_instance({family, 10, generate::heterogeneity::unrelated, 1});
    const problem p{made.ops, made.devices, made.costs()};
    const double known = bound::best(p).value;
    const bound::refutation search{.budget = {.moves = test::are_all_rounds ? 2'000'000u : 300'000u}};
    const double value = search(p, known);
    CHECK(value > 1.1 * known);
    CHECK(value == search(p, known)); // for the same moves
    CHECK(value <= solve::best(p, {.moves = 500}).makespan);
    CHECK(search(p, known, 1.1 * known) <= 1.1 * known);
  }
}

TEST_CASE("refutation: without moves, nothing is looked at") {
  const auto made = generate::make_suite_instance({"gauss", 1, generate::heterogeneity::related, 1});
  const problem p{made.ops, made.devices, made.costs()};
  CHECK(bound::refutation{.budget = {.moves = 0}}(p, 1) == 1);
  CHECK(bound::refutation{.budget = {.seconds = 0}}(p, 1) <= bound::communication_path(p));
}

} // namespace bound_path_pieces_test
