// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"
#include "refine/search_checks.hpp"
#include "simulate/random_problem.hpp"

#include "weft/partition/hash.hpp"
#include "weft/refine/local_search.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/largest_remaining_work.hpp"
#include "weft/schedule/maximum_successor_rank.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <concepts>
#include <stop_token>

namespace refine_local_search_test {

using namespace weft;
using refine::local_search;
using test::drawn;

template <class Problem, class Policy>
double makespan(const Problem& p, const plan& decided, const Policy& policy) {
  simulator<Problem, Policy> sim{p, policy};
  return sim.run(decided).makespan;
}

template <class Policy>
void never_worse(std::uint64_t seed, int many) {
  rng random{seed};
  int better = 0;
  for (int round = 0; round < test::rounds(many); ++round) {
    CAPTURE(round);
    const drawn s{random, {.capacity = 60 + random.below(200)}};
    const bool from_heft = random.below(2) == 0; // has an order
    auto start =
      from_heft ? test::decide(partition::heft{}, s.p) : test::decide(partition::hash{}, s.p, random.below(1000));
    if (!start) {
      continue;
    }
    const Policy policy{};
    const auto search = test::on_plans(local_search{.budget = {.moves = 60}, .patience = 10, .shake = 2});
    const std::uint64_t own_seed = random();
    rng first{own_seed};
    const plan found = search(s.p, start->plan, policy, first);
    CHECK(validate(s.p, found).empty());
    const double before = makespan(s.p, start->plan, policy);
    const double after = makespan(s.p, found, policy);
    CHECK(after <= before);
    CHECK((after < before) == !(found == start->plan)); // something else only if it is better
    CHECK((found.order.empty() != std::same_as<Policy, schedule::static_order> || found == start->plan));
    better += after < before;
    rng second{own_seed};
    CHECK(search(s.p, start->plan, policy, second) == found);
  }
  CHECK(better > test::rounds(many) / 20);
}

TEST_CASE("local_search: never worse, within the constraints, and the same for the same seed") {
  never_worse<schedule::fifo>(1, 700);
  never_worse<schedule::path_completion_time>(2, 700);
  never_worse<schedule::maximum_successor_rank>(3, 500);
  never_worse<schedule::largest_remaining_work>(4, 500);
  never_worse<schedule::static_order>(5, 500);
}

/// Four ops of 1 second, all on the first of four devices.
struct crowd {
  workload w = test::ops_of({1, 1, 1, 1}, {}).build();
  platform<uniform_links> q = test::equal_devices(4);
  problem<workload, platform<uniform_links>> p{w, q};
  plan start{{0, 0, 0, 0}, {}};
  crowd() = default;
  crowd(const crowd&) = delete;
};

TEST_CASE("local_search: spreads what crowds on one device") {
  const crowd s;
  rng random{0};
  const auto found = test::on_plans(local_search{})(s.p, s.start, schedule::fifo{}, random);
  CHECK(makespan(s.p, found, schedule::fifo{}) == 1);
}

TEST_CASE("local_search: moves groups as a whole") {
  auto b = test::ops_of({1, 1, 1, 1}, {});
  b.colocate(0, 1);
  b.colocate(2, 3);
  const workload w = std::move(b).build();
  const auto q = test::equal_devices(4);
  const problem p{w, q};
  rng random{0};
  const auto found = test::on_plans(local_search{})(p, {{0, 0, 0, 0}, {}}, schedule::fifo{}, random);
  CHECK(found.placement[0] == found.placement[1]);
  CHECK(found.placement[2] == found.placement[3]);
  CHECK(makespan(p, found, schedule::fifo{}) == 2);
}

TEST_CASE("local_search: with no moves, or nothing to move, the plan comes back as it was") {
  const crowd s;
  rng random{0};
  const plan ordered{{0, 0, 0, 0}, {step::run(3), step::run(2), step::run(1), step::run(0)}};
  CHECK(test::on_plans(local_search{.budget = {.moves = 0}})(s.p, ordered, schedule::fifo{}, random) == ordered);
  const auto one = test::equal_devices(1);
  CHECK(test::on_plans(local_search{})(problem{s.w, one}, ordered, schedule::fifo{}, random) == ordered);
  const workload nothing;
  CHECK(test::on_plans(local_search{})(problem{nothing, s.q}, plan{}, schedule::fifo{}, random) == plan{});
}

/// Counts how often it is asked, and asks for the end of the search after some times.
struct counting_policy {
  int* runs;
  std::stop_source* stop = nullptr;
  int stop_after = 0;

  template <class Problem>
  void assign_keys(const schedule::context<Problem>&, std::span<double> keys) const {
    std::fill(keys.begin(), keys.end(), 0.0);
    if (++*runs == stop_after && stop != nullptr) {
      stop->request_stop();
    }
  }
};

TEST_CASE("local_search: a move costs at most one simulation") {
  const crowd s;
  for (const std::uint64_t moves : {1u, 10u, 100u}) {
    int runs = 0;
    rng random{0};
    (void)test::on_plans(local_search{.budget = {.moves = moves}})(s.p, s.start, counting_policy{&runs}, random);
    CHECK(runs >= (moves < 100 ? 2 : 30));      // some draws move nothing
    CHECK(runs <= 2 + static_cast<int>(moves)); // the plan as it came, and without its order
  }
}

TEST_CASE("local_search: stops when it is asked to") {
  const crowd s;
  std::stop_source at_once;
  at_once.request_stop();
  int runs = 0;
  rng random{0};
  const auto now = at_once.get_token();
  const local_search stopped{.budget = {.stop = &now}};
  CHECK(test::on_plans(stopped)(s.p, s.start, counting_policy{&runs}, random) == s.start);
  CHECK(runs <= 2);

  std::stop_source later;
  runs = 0;
  const auto sometime = later.get_token();
  const local_search endless{.budget = {.stop = &sometime}}; // moves are not limited
  (void)test::on_plans(endless)(s.p, s.start, counting_policy{&runs, &later, 50}, random);
  CHECK(runs >= 50);
  CHECK(runs < 50 + 200); // the request is looked at now and then
}

local_search with(budget b) {
  local_search search;
  search.budget = b;
  return search;
}
local_search with_moves(std::uint64_t moves) { return with({.moves = moves}); }

TEST_CASE("local_search: under static_order, small problems, constraints, targets and progress") {
  test::manages_small_problems(with_moves);
  test::heeds_its_budget(with);
}

TEST_CASE("local_search: under static_order orders are searched, and a move is many changes") {
  // Placement is fixed by kinds; 2 waits for 1, which waits for its turn.
  const platform<uniform_links> pair{{{.kind = device_kind::cpu}, {.kind = device_kind::gpu}}, {{.latency = 0}}};
  workload_builder b;
  for (const double work : {3.0, 1.0}) {
    b.add_op({.work = work, .bytes = 1, .kinds = device_kind::cpu});
  }
  b.add_op({.work = 3, .kinds = device_kind::gpu});
  b.add_edge(1, 2);
  const auto fixed = std::move(b).build();
  const problem orders{fixed, pair};
  const plan late{{0, 0, 1}, {step::run(0), step::run(1), step::run(2)}};
  CHECK(makespan(orders, late, schedule::static_order{}) == 7);
  rng random{0};
  const auto found =
    test::on_plans(local_search{.budget = {.moves = 20}})(orders, late, schedule::static_order{}, random);
  CHECK(makespan(orders, found, schedule::static_order{}) == 4);
  CHECK(found.placement == late.placement);
  const local_search once{.budget = {.moves = 1}, .changes_per_move = 100};
  CHECK(makespan(orders, test::on_plans(once)(orders, late, schedule::static_order{}, random),
                 schedule::static_order{}) == 4);
}

TEST_CASE("iterated_local_search: at least as good as the plan that it starts from") {
  rng random{6};
  int better = 0;
  for (int round = 0; round < test::rounds(300); ++round) {
    const drawn s{random, {.capacity = 60 + random.below(200)}};
    const auto first = test::decide(partition::heft{}, s.p);
    const auto found =
      test::decide(refine::iterated_local_search<>{.search = {.budget = {.moves = 100}}}, s.p, random());
    REQUIRE(found.has_value() == first.has_value());
    if (!found) {
      CHECK(found.error() == first.error());
      continue;
    }
    const double before = makespan(s.p, first->plan, schedule::path_completion_time{});
    const double after = makespan(s.p, found->plan, schedule::path_completion_time{});
    CHECK(after <= before);
    CHECK(found->bound == 0);
    better += after < before;
  }
  CHECK(better > test::rounds(20));
}

TEST_CASE("iterated_local_search: from another start and under another policy") {
  const crowd s;
  static constexpr auto pile = [](const auto& p) { return placement(p.num_ops(), 0); };
  static constexpr refine::iterated_local_search<decltype(pile), schedule::fifo> search{.start = pile};
  const auto found = test::decide(search, s.p);
  REQUIRE(found);
  CHECK(makespan(s.p, found->plan, schedule::fifo{}) == 1);
}

} // namespace refine_local_search_test
