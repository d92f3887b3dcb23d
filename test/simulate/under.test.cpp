// SPDX-License-Identifier: BSL-1.0
#include "weft/simulate/under.hpp"

#include "simulate/random_problem.hpp"

#include "weft/concurrency/moldable.hpp"
#include "weft/partition/heft.hpp"
#include "weft/refine/genetic.hpp"
#include "weft/refine/local_search.hpp"
#include "weft/refine/simulated_annealing.hpp"
#include "weft/refine/tabu_search.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/fair_sharing.hpp"
#include "weft/simulate/manycore.hpp"
#include "weft/simulate/record.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/generate.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <type_traits>
#include <vector>

namespace simulate_under_test {

using namespace weft;
using on_fair = simulate::under<schedule::static_order, simulate::fair_sharing>;
using by_turns = simulate::under<schedule::fifo, simulate::port_contention>;

static_assert(slot_policy_for<on_fair, test::drawn_problem> && !ready_policy_for<on_fair, test::drawn_problem>);
static_assert(refiner_for<refine::simulated_annealing, test::drawn_problem, on_fair>);
static_assert(refiner_for<refine::local_search, test::drawn_problem, by_turns>);

template <class Policy, class Refiner>
void check_refined(const test::drawn_problem& p, const Policy& how, const Refiner& refiner, int& better) {
  const auto before = pipeline(partition::heft{}, how)(p, 1);
  const auto after = pipeline(partition::heft{}, refiner, how)(p, 1);
  REQUIRE(before.has_plan());
  REQUIRE(after.has_plan());
  // The makespan is that of the run on the network.
  REQUIRE(after.makespan == simulator_for<test::drawn_problem, Policy>{p, how}.run(after.plan).makespan);
  REQUIRE(after.makespan <= before.makespan);
  REQUIRE(after.makespan >= after.bound.value * (1 - 1e-9));
  better += after.makespan < before.makespan;
}

TEST_CASE("under: pipelines and refiners minimise the run on the network") {
  rng random{6};
  int better = 0;
  for (int round = 0; round < 60; ++round) {
    const test::drawn x{random, {.max_ops = 25, .max_devices = 5, .kinds = false}};
    const on_fair fair{};
    check_refined(x.p, fair, refine::simulated_annealing{.budget = {.moves = 300}}, better);
    check_refined(x.p, fair, refine::tabu_search{.budget = {.moves = 300}}, better);
    check_refined(x.p, fair, refine::genetic{.budget = {.moves = 20}}, better);
    check_refined(x.p, by_turns{}, refine::local_search{.budget = {.moves = 50}}, better);
    check_refined(x.p, by_turns{}, refine::simulated_annealing{.budget = {.moves = 300}}, better);
  }
  CHECK(better > 100);
}

TEST_CASE("under: targets and progress are of runs on the network, and memory over time is refused") {
  rng random{9};
  const test::drawn x{random, {.max_ops = 40, .max_devices = 5}};
  const on_fair fair{};
  double told = std::numeric_limits<double>::infinity();
  const auto start = pipeline(partition::heft{}, fair)(x.p);
  refine::simulated_annealing s{.budget = {.moves = 2000, .on_progress = [&](const progress& at) { told = at.best; }}};
  const auto better = refine::improve(x.p, start.plan, s, fair, random);
  const double makespan = simulator_for<test::drawn_problem, on_fair>{x.p, fair}.run(better.plan).makespan;
  CHECK(told >= makespan); // the last run of all is not told
  CHECK(better.score.value == makespan);
  s.budget.target = 1e6;
  told = 0;
  CHECK(refine::improve(x.p, start.plan, s, fair, random).plan == start.plan);
  CHECK(told == start.makespan);
  s.memory = memory_rule::over_time;
  CHECK_THROWS_AS(refine::improve(x.p, start.plan, s, fair, random), value_error);
}

TEST_CASE("under: places and threads are decided together for the run on a network") {
  using problem_type = problem<workload, with_machines<platform<uniform_links>>, concurrency::moldable<>>;
  const simulate::under how{concurrency::s1_s2_s3, simulate::fair_sharing{}};
  using policy_type = std::remove_const_t<decltype(how)>;
  static_assert(run_policy_for<policy_type, problem_type> && !slot_policy_for<policy_type, problem_type>);
  int better = 0;
  int differs = 0;
  std::size_t moved = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const workload w = generate::layered({.shape = {.levels = 6, .max_width = 8, .edge_probability = 0.3},
                                          .cpu_only_probability = 0,
                                          .gpu_only_probability = 0},
                                         seed);
    const machine m{.cores_per_socket = 4, .core_speed = 10, .core_bandwidth = 1e4, .socket_bandwidth = 1e4};
    const with_machines<platform<uniform_links>> q{
      {std::vector<device>(3, {.speed = 40}), uniform_links{{0.1, 10}}, 20}, std::vector<machine>(3, m)};
    const problem_type p{w, q, {}};
    const auto before = pipeline(partition::heft{}, how)(p, seed);
    const auto after = pipeline(partition::heft{}, refine::local_search{.budget = {.moves = 60}}, how)(p, seed);
    REQUIRE(after.has_plan());
    REQUIRE(after.makespan <= before.makespan);
    REQUIRE(after.makespan >= after.bound.value * (1 - 1e-9));
    better += after.makespan < before.makespan;
    trace run;
    simulator_for<problem_type, policy_type> sim{p, how};
    REQUIRE(sim.run(after.plan, simulate::recorder{run}).makespan == after.makespan);
    REQUIRE(validate(p, after.plan.placement, run, {.contention = contention_model::fair, .teams = true}).empty());
    moved += run.transfers.size();
    // The network matters: all over the place, transfers are in each other's way.
    plan scattered{placement(p.num_ops(), 0), {}};
    for (op_id v = 0; v < p.num_ops(); ++v) {
      scattered.placement[v] = v % 3;
    }
    differs += manycore_simulator{p, concurrency::s1_s2_s3}.run(scattered).makespan < sim.run(scattered).makespan;
  }
  CHECK(better > 10);
  CHECK(moved > 100);
  CHECK(differs > 10);
}

} // namespace simulate_under_test
