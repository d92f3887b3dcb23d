// SPDX-License-Identifier: BSL-1.0
#include "simulate/random_problem.hpp"
#include "partition/place.hpp"

#include "weft/partition/hash.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/identical.hpp"
#include "weft/refine/critical_neighbourhood.hpp"
#include "weft/refine/incremental_schedule.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>

namespace refine_critical_neighbourhood_test {

using namespace weft;

template <class Problem>
refine::incremental_schedule<Problem> scheduled(const Problem& p, const plan& x) {
  trace run;
  simulator<Problem, schedule::static_order> sim{p};
  sim.run(x, simulate::recorder{run});
  refine::incremental_schedule<Problem> s{p};
  s.assign(run);
  return s;
}

TEST_CASE("critical neighbourhood: the swap that shortens a job shop is found, although everything starts at once") {
  // Job a: 2 s on device 0, then 5 s on device 1; job b: 3 s on device 0. b first is a longest path of 10 seconds.
  auto ops = test::ops_of({2, 5, 3}, {{0, 1}});
  const auto w = std::move(ops).build();
  const auto q = presets::identical(2);
  const problem p{w, q};
  auto s = scheduled(p, {{0, 1, 0}, {step::run(2), step::run(0), step::run(1)}});
  REQUIRE(s.makespan() == 10);
  refine::critical_neighbourhood critical{p};
  rng random{1};
  const auto& all = critical.collect(s, random, 100);
  CHECK(std::equal(critical.path().begin(), critical.path().end(), std::vector<item_id>{2, 0, 1}.begin()));
  const auto swap = std::find_if(all.begin(), all.end(), [](const auto& x) { return x.to == none && x.item == 2; });
  REQUIRE(swap != all.end());
  CHECK(swap->estimate == 7);
  REQUIRE(critical.apply(s, *swap));
  CHECK(s.evaluate() == 7);
  s.commit();
  CHECK(s.makespan() == 7);
}

// When two neighbours change places, what they wait for and what waits for them does not, so the estimate is the length
// of a path of the new schedule.
TEST_CASE("critical neighbourhood: estimates of neighbours that change places are never too long, and often exact") {
  rng random{3};
  std::size_t exact = 0;
  std::size_t made = 0;
  for (int round = 0; round < 400; ++round) {
    CAPTURE(round);
    const test::drawn d{random, {.capacity = 100'000}};
    const auto start =
      random.below(2) == 0 ? test::decide(partition::heft{}, d.p) : test::decide(partition::hash{}, d.p, 5);
    REQUIRE(start);
    auto s = scheduled(d.p, start->plan);
    refine::critical_neighbourhood critical{d.p};
    const auto& all = critical.collect(s, random, 100);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const auto& x = all[k];
      CHECK(std::none_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k), [&](const auto& y) {
        return x.item == y.item && x.to == y.to && x.other == y.other;
      }));
      const bool neighbours = x.to == none && (x.before ? s.before(x.item) : s.after(x.item)) == x.other;
      if (neighbours && critical.apply(s, x)) {
        const double value = s.evaluate();
        CHECK(x.estimate <= value * (1 + 1e-9));
        exact += x.estimate >= value * (1 - 1e-9);
        ++made;
      }
      s.rollback();
    }
  }
  CHECK(made > 200);
  CHECK(exact > made / 2);
}

TEST_CASE("critical neighbourhood: an item goes next to another wherever the graph allows it") {
  rng random{4};
  int refused = 0;
  int made = 0;
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const test::drawn d{random, {.capacity = 100'000}};
    const auto start = test::decide(partition::hash{}, d.p, static_cast<std::uint64_t>(round));
    REQUIRE(start);
    auto s = scheduled(d.p, start->plan);
    const auto& lanes = s.items().lanes();
    for (std::uint32_t l = 0; l < lanes.size(); ++l) {
      for (std::size_t k = 0; k + 1 < lanes[l].size(); ++k) {
        const item_id i = lanes[l][k].item;
        const item_id next = lanes[l][k + 1].item;
        // Neighbours can change places unless there is another way from one to the other.
        std::vector<item_id> reached;
        const auto reach = [&](item_id x) {
          if (x != none && std::find(reached.begin(), reached.end(), x) == reached.end()) {
            reached.push_back(x);
          }
        };
        s.items().flow().for_each_consumer(i, reach);
        for (std::size_t j = 0; j < reached.size(); ++j) {
          reach(s.after(reached[j]));
          s.items().flow().for_each_consumer(reached[j], reach);
        }
        const bool possible = std::find(reached.begin(), reached.end(), next) == reached.end();
        CHECK(s.put_next_to(i, next, false) == possible);
        made += possible;
        refused += !possible;
        s.rollback();
      }
    }
  }
  CHECK(made > 100);
  CHECK(refused > 100);
}

} // namespace refine_critical_neighbourhood_test
