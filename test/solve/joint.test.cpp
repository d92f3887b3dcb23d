// SPDX-License-Identifier: BSL-1.0
// Pipelines that end with a concurrency strategy.
#include "weft/concurrency/moldable.hpp"
#include "weft/concurrency/scaling_laws.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/machines.hpp"
#include "weft/refine/branch_and_bound.hpp"
#include "weft/refine/local_search.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/manycore.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/generate.hpp"

#include <doctest/doctest.h>

#include <type_traits>

namespace solve_joint_test {

namespace concurrency = weft::concurrency;

struct usl_cost {
  template <class W>
  double seconds(const W& w, weft::op_id v, const weft::machine& m, weft::team t) const {
    return concurrency::universal_scalability{w.work(v) / m.core_speed, 0.1 + 0.1 * (v % 4), 1e-3 * (v % 3)}(t);
  }
};

using weft::device_kind;

weft::with_machines<weft::platform<weft::uniform_links>> server_with_card(std::uint32_t cores, double card_speed) {
  const weft::device cpu{.kind = device_kind::cpu}, gpu{.kind = device_kind::gpu};
  return {weft::platform<weft::uniform_links>{{cpu, gpu}, {{.latency = 0.1, .bandwidth = 1e3}}},
          {weft::machine{.name = "server", .cores_per_socket = cores, .core_speed = 1},
           weft::accelerator("card", card_speed, 1e10)}};
}

TEST_CASE("joint: a concurrency strategy is a run policy of moldable problems only") {
  using moldable = weft::problem<weft::workload, decltype(server_with_card(1, 1)), concurrency::moldable<usl_cost>>;
  using plain = weft::problem<weft::workload, weft::platform<>>;
  static_assert(weft::run_policy_for<std::remove_const_t<decltype(concurrency::s1)>, moldable>);
  static_assert(!weft::run_policy_for<std::remove_const_t<decltype(concurrency::s1)>, plain>);
  static_assert(weft::run_policy_for<weft::schedule::path_completion_time, plain>);
}

TEST_CASE("joint: never below the bound, search never worse than its start, and the plan's run is the result") {
  weft::rng random{11};
  double together = 0, afterwards = 0;
  for (int i = 0; i < 40; ++i) {
    const auto w = weft::generate::layered(
      {.shape = {.min_width = 1, .max_width = 16, .num_ops = 20 + random.below(30)}, .cpu_only_probability = 0.05,
       .gpu_only_probability = 0.0, .colocation_share = 0.1}, random());
    const auto p = server_with_card(1 + random.below(12), 1 + random.below(6));
    const weft::problem task{w, p, concurrency::moldable<usl_cost>{}};
    const weft::refine::local_search search{.budget = {.moves = 150}};
    const auto start = weft::pipeline(weft::partition::heft{}, concurrency::s1_s2_s3)(task, 5);
    const auto joint = weft::pipeline(weft::partition::heft{}, search, concurrency::s1_s2_s3)(task, 5);
    const auto placed =
      weft::pipeline(weft::partition::heft{}, search, weft::schedule::path_completion_time{})(task, 5);
    REQUIRE(joint.has_plan());
    CHECK(joint.makespan <= start.makespan);
    CHECK(joint.makespan >= joint.bound.value * (1 - 1e-9));
    weft::manycore_simulator run{task, concurrency::s1_s2_s3};
    CHECK(run.run(joint.plan).makespan == joint.makespan);
    run.forget();
    together += joint.makespan;
    afterwards += run.run({placed.plan.placement}).makespan;
  }
  CHECK(together < afterwards); // deciding both at once pays on average
}

TEST_CASE("joint: bounds of searches that run one op at a time do not count where ops share cores") {
  weft::workload_builder b;
  b.add_op({.work = 1});
  b.add_op({.work = 1});
  const auto w = std::move(b).build();
  struct same_for_all_teams {
    double seconds(const weft::workload& of, weft::op_id v, const weft::machine&, weft::team) const {
      return of.work(v);
    }
  };
  const auto two_cores = weft::single({.cores_per_socket = 2});
  const weft::problem p{w, two_cores, concurrency::moldable<same_for_all_teams>{}};
  const auto shared = weft::pipeline(weft::refine::branch_and_bound{}, concurrency::s1_s2_s3)(p);
  CHECK(shared.makespan == doctest::Approx(1));
  CHECK(shared.bound.value <= shared.makespan);
  const auto serial = weft::pipeline(weft::refine::branch_and_bound{}, concurrency::s1)(p);
  CHECK(serial.makespan == doctest::Approx(2));
  CHECK(serial.status == weft::status::solved); // not optimal
}

} // namespace solve_joint_test
