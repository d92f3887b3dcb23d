// SPDX-License-Identifier: BSL-1.0
#include "bound/small.hpp"

#include "weft/refine/detail/sequencing.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace refine_detail_sequencing_test {

using namespace weft;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr auto unlimited = [](std::uint64_t) { return true; };

TEST_CASE("sequencing: the best order of a placement, as trying every order finds it") {
  rng random{61};
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const auto small = weft_test::random_problem(random);
    small.with([&](const auto& p) {
      using problem_type = std::remove_cvref_t<decltype(p)>;
      refine::detail::sequencing<problem_type> search{p};
      for (int again = 0; again < 2; ++again) {
        placement where(p.num_ops(), 0); // groups and kinds do not matter here
        for (auto& d : where) {
          d = random.below(p.num_devices());
        }
        const double expected = weft_test::exhaustive_scheduler<problem_type>{p, where, infinity}.best();
        CHECK(search.minimise(where, infinity, unlimited) == doctest::Approx(expected));
        const plan best{where, search.best_order()};
        CHECK(search.minimise(where, expected * (1 - 1e-9), unlimited) == expected * (1 - 1e-9)); // nothing is below
        simulator<problem_type, schedule::static_order> sim{p};
        const auto run = sim.run(best);
        CHECK(run.complete);
        CHECK(run.makespan == doctest::Approx(expected));
      }
    });
  }
}

TEST_CASE("sequencing: pays for every visit, and stops when it cannot") {
  rng random{62};
  const auto small = weft_test::random_problem(random);
  small.with([&](const auto& p) {
    refine::detail::sequencing search{p};
    int visits = 0;
    CHECK(search.minimise(placement(p.num_ops(), 0), infinity, [&](std::uint64_t n) {
      CHECK(n == p.num_ops());
      return ++visits < 3;
    }) == infinity);
    CHECK(visits == 3);
  });
}

} // namespace refine_detail_sequencing_test
