// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"

#include "weft/partition/heft.hpp"
#include "weft/refine/neighbourhood.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/generate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace refine_neighbourhood_test {

using namespace weft;
using problem_type = problem<workload, platform<uniform_links>>;
using moves_type = refine::neighbourhood<problem_type>;

/// A layered graph on some devices, as HEFT schedules it.
struct scheduled {
  workload w;
  platform<uniform_links> q;
  problem_type p{w, q};
  refine::incremental_schedule<problem_type> s{p};

  scheduled(std::uint32_t ops, std::uint32_t devices)
      : w{generate::layered({.shape = {.min_width = 1, .max_width = std::max(2u, ops / 8), .num_ops = ops},
                             .cpu_only_probability = 0,
                             .gpu_only_probability = 0,
                             .colocation_share = 0.1},
                            1)},
        q{test::equal_devices(devices)} {
    const auto start = test::decide(partition::heft{}, p);
    REQUIRE(start);
    trace run;
    simulator<problem_type, schedule::static_order> sim{p};
    sim.run(start->plan, simulate::recorder{run});
    s.assign(run);
  }
  scheduled(const scheduled&) = delete;
};

TEST_CASE("neighbourhood: of many random items the one on the longest path comes") {
  const scheduled x{60, 3};
  rng random{1};
  double few = 0;
  for (int k = 0; k < 200; ++k) {
    const item_id i = refine::near_critical(x.s, random, 500);
    CHECK(x.s.is_live(i));
    CHECK(x.s.path(i) == doctest::Approx(x.s.makespan()));
    few += x.s.path(refine::near_critical(x.s, random, 1)) / 200;
  }
  CHECK(few < x.s.makespan());
}

TEST_CASE("neighbourhood: neighbours are all producers and consumers") {
  const auto w = test::ops_of({1, 1, 1, 1, 1}, {{0, 2}, {1, 2}, {2, 3}}).build();
  const auto q = test::equal_devices(2);
  const problem_type p{w, q};
  const moves_type moves{p};
  rng random{1};
  std::set<op_id> of_2;
  for (int k = 0; k < 100; ++k) {
    of_2.insert(moves.neighbour(2, random));
    CHECK(moves.neighbour(0, random) == 2);
    CHECK(moves.neighbour(4, random) == none);
  }
  CHECK(of_2 == std::set<op_id>{0, 1, 3});
}

TEST_CASE("neighbourhood: changes take ops to all devices, in small and large pieces, and can all be undone") {
  scheduled x{80, 4};
  const plan before = x.s.to_plan();
  moves_type moves{x.p};
  rng random{2};
  std::set<device_id> reached;
  std::size_t most = 0;
  int reordered = 0;
  for (int k = 0; k < 3'000; ++k) {
    if (moves.change(x.s, refine::near_critical(x.s, random, 3), random) && x.s.evaluate() < x.s.infinity) {
      const plan after = x.s.to_plan();
      std::size_t moved = 0;
      for (const op_id v : ids(x.p.num_ops())) {
        if (after.placement[v] != before.placement[v]) {
          ++moved;
          reached.insert(after.placement[v]);
        }
      }
      most = std::max(most, moved);
      reordered += moved == 0 && !(after == before);
    }
    x.s.rollback();
    REQUIRE(x.s.to_plan() == before);
  }
  CHECK(reached.size() == 4);
  CHECK(most > 10);
  CHECK(reordered > 50);
}

TEST_CASE("neighbourhood: on one device only the order changes") {
  scheduled x{20, 1};
  moves_type moves{x.p, {.stretches = 1}};
  rng random{3};
  const double before = x.s.makespan();
  int changed = 0;
  for (int k = 0; k < 500; ++k) {
    if (moves.change(x.s, refine::near_critical(x.s, random, 2), random) && x.s.evaluate() < x.s.infinity) {
      x.s.commit();
      ++changed;
    } else {
      x.s.rollback();
    }
  }
  CHECK(changed > 50);
  CHECK(x.s.to_plan().placement == placement(20, 0));
  CHECK(x.s.makespan() == doctest::Approx(before)); // all ops, one after the other
}

TEST_CASE("neighbourhood: the same seed draws the same changes") {
  scheduled a{50, 3};
  scheduled b{50, 3};
  moves_type moves_a{a.p};
  moves_type moves_b{b.p};
  rng ra{5};
  rng rb{5};
  for (int k = 0; k < 300; ++k) {
    const auto step = [](scheduled& x, moves_type& moves, rng& random) {
      if (moves.change(x.s, refine::near_critical(x.s, random, 3), random) && x.s.evaluate() < x.s.infinity) {
        x.s.commit();
      } else {
        x.s.rollback();
      }
      return x.s.makespan();
    };
    REQUIRE(step(a, moves_a, ra) == step(b, moves_b, rb));
  }
  CHECK(a.s.to_plan() == b.s.to_plan());
}

} // namespace refine_neighbourhood_test
