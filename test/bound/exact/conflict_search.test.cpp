// SPDX-License-Identifier: BSL-1.0
#include "bound/small.hpp"
#include "property/brute_force.hpp"
#include "support/rounds.hpp"

#include "weft/bound/exact/conflict_search.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/simulator.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace bound_conflict_search_test {

using namespace weft;
using bound::exact::conflict_search;
using bound::exact::whole_times;

/// Small problems with kinds, groups, slots, sends and, half of them, little memory.
weft_test::small_problem draw(rng& random) {
  auto small = weft_test::random_problem(random);
  if (random.below(2) == 0) {
    small.send_work = 0;
  }
  if (random.below(2) == 0) {
    for (auto& d : small.devices) {
      d.slots = 1;
    }
  }
  if (random.below(2) == 0) {
    for (auto& d : small.devices) {
      d.memory_capacity = 10 + random.below(60);
    }
  }
  return small;
}

TEST_CASE("conflict_search: finds the optimum, and never refutes it where its times are a relaxation") {
  rng random{7};
  constexpr int rounds = test::rounds(3000);
  int exact = 0;
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    const auto small = draw(random);
    small.with([&](const auto& p) {
      const double optimum = test::brute_force{p}.makespan();
      for (component_id c = 0; c < p.num_components(); ++c) {
        bool allowed = false;
        for (const device_id d : ids(p.num_devices())) {
          allowed = allowed || p.allows(c, d);
        }
        if (!allowed) {
          return;
        }
      }
      const double limit = optimum < std::numeric_limits<double>::infinity() ? optimum : 1000.0;
      if (limit == 0) {
        return;
      }
      std::vector<device_id> usable;
      for (const device_id d : ids(p.num_devices())) {
        usable.push_back(d);
      }
      const std::vector<std::size_t> no_twins(usable.size(), usable.size());
      const whole_times q{p, usable, limit};
      conflict_search ask{q, q.limit(2 * limit), no_twins};
      double makespan = 2 * limit;
      for (;;) { // down to the least
        const auto a = ask(q.limit(makespan), [] { return true; });
        if (a == conflict_search::answer::no) {
          break;
        }
        REQUIRE(a == conflict_search::answer::yes);
        if (!q.is_exact) {
          makespan *= 0.9;
          continue;
        }
        plan found{placement(p.num_ops(), 0), {}};
        for (const op_id v : ids(p.num_ops())) {
          found.placement[v] = ask.device_of(v);
        }
        for (const op_id v : ask.sequence()) {
          found.order.push_back(step::run(v));
        }
        simulator<std::decay_t<decltype(p)>, schedule::static_order> sim{p};
        const auto run = sim.run(found);
        REQUIRE(run.complete);
        CHECK(run.makespan <= makespan * (1 + 1e-10));
        CHECK(run.makespan >= optimum * (1 - 1e-12));
        makespan = run.makespan * (1 - 1e-10);
        if (makespan <= 0) {
          break;
        }
      }
      if (optimum < std::numeric_limits<double>::infinity()) {
        CHECK(makespan <= optimum);
        if (q.is_exact) {
          CHECK(makespan == doctest::Approx(optimum));
          ++exact;
        }
      }
    });
  }
  CHECK(exact > rounds / 2);
}

} // namespace bound_conflict_search_test
