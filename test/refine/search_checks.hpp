// SPDX-License-Identifier: BSL-1.0
/// Checks for every refiner that searches placements and orders.
#pragma once

#include "partition/place.hpp"
#include "simulate/random_problem.hpp"
#include "support/rounds.hpp"

#include "weft/core/budget.hpp"
#include "weft/partition/hash.hpp"
#include "weft/partition/heft.hpp"
#include "weft/refine/concepts.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/generate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <stop_token>
#include <utility>
#include <vector>

namespace weft::test {

template <class Problem, class Policy>
double makespan_of(const Problem& p, const plan& decided, const Policy& policy) {
  simulator<Problem, Policy> sim{p, policy};
  return sim.run(decided).makespan;
}

/// A refiner as a function of a plan and a policy.
template <class Refiner>
auto on_plans(Refiner refiner) {
  return [refiner](const auto& p, plan start, const auto& policy, rng& random) {
    return refine::improve(p, std::move(start), refiner, policy, random).plan;
  };
}

/// Never worse, valid, the given plan unless something is better, and the same again for the same seed.
/// `refiner(moves)` has a budget of that many moves; `many` problems are drawn, fewer under sanitizers.
template <class Policy, class Refiner>
void never_worse(Refiner refiner, std::uint64_t moves, std::uint64_t seed, int many) {
  rng random{seed};
  const Policy policy{};
  int better = 0;
  for (int round = 0; round < rounds(many); ++round) {
    CAPTURE(round);
    const drawn s{random, {.capacity = 60 + random.below(200)}};
    const bool from_heft = random.below(2) == 0; // has an order
    const auto start = from_heft ? decide(partition::heft{}, s.p) : decide(partition::hash{}, s.p, random.below(1000));
    if (!start) {
      continue;
    }
    static_assert(refiner_for<decltype(refiner(moves)), decltype(s.p), Policy>);
    const auto search = on_plans(refiner(moves));
    const std::uint64_t own_seed = random();
    rng first{own_seed};
    const plan found = search(s.p, start->plan, policy, first);
    CHECK(validate(s.p, found).empty());
    const double before = makespan_of(s.p, start->plan, policy);
    const double after = makespan_of(s.p, found, policy);
    CHECK(after <= before);
    CHECK((after < before) == !(found == start->plan));
    better += after < before;
    rng second{own_seed};
    CHECK(search(s.p, start->plan, policy, second) == found);
    rng third{own_seed};
    CHECK(on_plans(refiner(0))(s.p, start->plan, policy, third) == start->plan);
  }
  CHECK(better > rounds(many) / 20);
}

/// Four ops of 1 second, all on the first of four devices.
struct crowd {
  workload w = ops_of({1, 1, 1, 1}, {}).build();
  platform<uniform_links> q = equal_devices(4);
  problem<workload, platform<uniform_links>> p{w, q};
  plan start{{0, 0, 0, 0}, {}};
  crowd() = default;
  crowd(const crowd&) = delete;
};

/// Nothing to do, one op, one device, groups, kinds, memory, an order that cannot be run.
template <class Refiner>
void manages_small_problems(Refiner refiner) {
  const schedule::static_order policy;
  rng random{0};
  const auto search = on_plans(refiner(400));
  const crowd s;

  const workload nothing;
  CHECK(search(problem{nothing, s.q}, plan{}, policy, random) == plan{});

  const auto single = ops_of({3}, {}).build();
  const problem one_op{single, s.q};
  CHECK(makespan_of(one_op, search(one_op, {{1}, {}}, policy, random), policy) == 3);

  const auto one = equal_devices(1);
  const auto two_chains = ops_of({1, 1, 2, 2}, {{0, 1}, {2, 3}}).build();
  const problem one_device{two_chains, one};
  CHECK(makespan_of(one_device, search(one_device, {{0, 0, 0, 0}, {}}, policy, random), policy) == 6);

  const auto free_ops = ops_of({0, 0, 0}, {{0, 1}}).build();
  const problem no_work{free_ops, s.q};
  CHECK(makespan_of(no_work, search(no_work, {{0, 0, 0}, {}}, policy, random), policy) == 0);

  CHECK(makespan_of(s.p, search(s.p, s.start, policy, random), policy) == 1);
  rng own{0};
  CHECK(makespan_of(s.p, search(s.p, s.start, schedule::fifo{}, own), schedule::fifo{}) == 1);

  auto grouped = ops_of({1, 1, 1, 1}, {});
  grouped.colocate(0, 1);
  grouped.colocate(2, 3);
  const auto groups = std::move(grouped).build();
  const problem in_groups{groups, s.q};
  const auto together = search(in_groups, {{0, 0, 0, 0}, {}}, policy, random);
  CHECK(together.placement[0] == together.placement[1]);
  CHECK(together.placement[2] == together.placement[3]);
  CHECK(makespan_of(in_groups, together, policy) == 2);

  const platform<uniform_links> mixed{{{.kind = device_kind::cpu}, {.kind = device_kind::gpu}}, {{.latency = 1}}};
  workload_builder kinds;
  kinds.add_op({.work = 1, .kinds = device_kind::cpu});
  kinds.add_op({.work = 1, .kinds = device_kind::cpu});
  const auto cpu_only = std::move(kinds).build();
  const problem bound{cpu_only, mixed};
  CHECK(search(bound, {{0, 0}, {}}, policy, random).placement == placement{0, 0});

  const platform<uniform_links> tight{{{.memory_capacity = 20}, {.memory_capacity = 5}}, {{.latency = 1}}};
  const auto large = ops_of({1, 1}, {}, 10).build();
  const problem full{large, tight};
  CHECK(search(full, {{0, 0}, {}}, policy, random).placement == placement{0, 0});

  const auto chain = ops_of({1, 1}, {{0, 1}}).build();
  const problem ordered{chain, s.q};
  const plan stuck{{0, 0}, {step::run(1), step::run(0)}};
  CHECK(search(ordered, stuck, policy, random) == stuck);
}

/// With infinite moves: ends at the target, or when it is asked to, and tells of every better schedule.
/// `refiner(budget)`.
template <class Refiner>
void heeds_its_budget(Refiner refiner) {
  const schedule::static_order policy;
  const crowd s;
  rng random{0};
  const auto at_target = on_plans(refiner(budget{.target = 2}))(s.p, s.start, policy, random);
  CHECK(makespan_of(s.p, at_target, policy) <= 2);
  CHECK(on_plans(refiner(budget{.target = 4}))(s.p, s.start, policy, random) == s.start);

  std::stop_source source;
  source.request_stop();
  const auto token = source.get_token();
  CHECK(on_plans(refiner(budget{.stop = &token}))(s.p, s.start, policy, random) == s.start);

  CHECK(makespan_of(s.p, on_plans(refiner(budget{.seconds = 0.01}))(s.p, s.start, policy, random), policy) <= 4);

  const auto w = generate::layered({.shape = {.min_width = 1, .max_width = 8, .num_ops = 60}, .cpu_only_probability = 0,
                                    .gpu_only_probability = 0, .colocation_share = 0}, 1);
  const auto q = equal_devices(4);
  const problem larger{w, q};
  const plan pile{placement(w.num_ops(), 0), {}};
  std::stop_source later;
  const auto sometime = later.get_token();
  std::vector<progress> told;
  const auto listen = [&](const progress& x) {
    told.push_back(x);
    if (told.size() == 6) {
      later.request_stop();
    }
  };
  const auto found = on_plans(refiner(budget{.stop = &sometime, .on_progress = listen}))(larger, pile, policy, random);
  REQUIRE(told.size() >= 6);
  CHECK(told.front().moves == 0);
  CHECK(told.front().best == doctest::Approx(makespan_of(larger, pile, policy)));
  CHECK(told.back().best == makespan_of(larger, found, policy));
  CHECK(std::adjacent_find(told.begin(), told.end(), [](const progress& a, const progress& b) {
          return b.best >= a.best || b.moves < a.moves || b.seconds < a.seconds;
        }) == told.end());
}

} // namespace weft::test
