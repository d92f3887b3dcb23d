// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/starpu/performance.hpp"

#include "interop/starpu/environment.hpp"
#include "interop/starpu/random_step.hpp"

#include "weft/interop/starpu/executor.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/solve/pipeline.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace interop_starpu_performance_test {

using namespace weft;
using interop_starpu_test::quiet_session;
using interop_starpu_test::starpu_home;

/// Two matrix products of one size, one of another, and a sum, in a chain.
workload four_ops() {
  workload_builder b;
  b.add_op({.work = 8, .bytes = 64, .type = "MatMul"});
  b.add_op({.work = 8, .bytes = 64, .type = "MatMul"});
  b.add_op({.work = 64, .bytes = 256, .type = "MatMul"});
  b.add_op({.work = 1, .bytes = 64, .type = "Sum/2 of x"});
  b.add_edge(0, 3);
  b.add_edge(1, 3);
  b.add_edge(2, 3);
  return std::move(b).build();
}

/// As often as StarPU wants to be told.
void teach(const starpu::performance_models& models, op_id v, int worker, double seconds) {
  for (int i = 0; i < 20; ++i) {
    models.add(v, worker, seconds);
  }
}

TEST_CASE("starpu: what a performance model was told holds for ops of the same class") {
  quiet_session s;
  const workload w = four_ops();
  const starpu::performance_models models{s.starpu, w};
  CHECK(models.num_ops() == 4);
  CHECK(std::string{models.symbol(0)} == "weft_MatMul");
  CHECK(std::string{models.symbol(3)} == "weft_Sum_2_of_x");
  const int worker = s.starpu.cpu_workers()[0];
  for (const op_id v : ids(w.num_ops())) {
    CHECK(std::isnan(models.seconds(v, worker)));
  }
  teach(models, 0, worker, 3e-3);
  teach(models, 3, worker, 5e-6);
  CHECK(models.seconds(0, worker) == doctest::Approx(3e-3));
  CHECK(models.seconds(1, worker) == doctest::Approx(3e-3));
  CHECK(std::isnan(models.seconds(2, worker)));
  CHECK(models.seconds(3, worker) == doctest::Approx(5e-6));
  CHECK_THROWS_AS(models.add(0, worker, -1), value_error);
  CHECK_THROWS_AS(models.add(0, worker, std::numeric_limits<double>::quiet_NaN()), value_error);
}

TEST_CASE("starpu: a regression over bytes tells times of sizes that were not seen") {
  quiet_session s;
  workload_builder b;
  for (byte_count bytes = 1; bytes <= 64; ++bytes) {
    b.add_op({.bytes = 10'000 * bytes, .type = "copy"});
  }
  const workload w = std::move(b).build();
  const starpu::performance_models models{s.starpu, w, {.type = STARPU_REGRESSION_BASED}};
  const int worker = s.starpu.cpu_workers()[0];
  for (op_id v = 0; v < 64; v += 2) {
    teach(models, v, worker, 1e-9 * static_cast<double>(w.bytes(v)));
  }
  CHECK(models.seconds(31, worker) == doctest::Approx(1e-9 * static_cast<double>(w.bytes(31))).epsilon(0.01));
  CHECK_THROWS_WITH_AS((starpu::performance_models{s.starpu, w}),
                       "the performance model 'weft_copy': is there already, and of another type", value_error);
}

TEST_CASE("starpu: models learn from runs, and are in StarPU's files for the next session") {
  const starpu_home home;
  [[maybe_unused]] const interop_starpu_test::unchecked_for_leaks initialising;
  ::setenv("STARPU_HISTORY_MAX_ERROR", "1000000", 1); // per cent: other programs may take the cores meanwhile
  const workload w = four_ops();
  double learned = 0;
  {
    starpu::session s{{.cpus = 2, .calibrate = true}};
    const starpu::performance_models models{s, w};
    starpu::executor run{s, w, {{0, 1, 0, 1}}, {.models = &models}};
    for (int i = 0; i < 30; ++i) {
      REQUIRE(run([](op_id) { starpu_usleep(2000); }).num_finished == 4);
    }
    learned = models.seconds(0, run.workers()[0]);
    CHECK(learned >= 0.002);
    CHECK(learned < 10);
  }
  starpu::session s{{.cpus = 2}};
  const starpu::performance_models models{s, w};
  CHECK(models.seconds(0, s.cpu_workers()[0]) == doctest::Approx(learned).epsilon(0.01));
  ::unsetenv("STARPU_HISTORY_MAX_ERROR");
}

TEST_CASE("starpu: models change nothing of what runs compute") {
  quiet_session s;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto drawn = interop_starpu_test::draw_step(seed, 2);
    const auto program = drawn.program();
    const starpu::performance_models models{s.starpu, drawn.workload};
    starpu::executor run{s.starpu, program, {.models = &models}};
    const execute::memory memory{program};
    REQUIRE(run(test::hashing_kernel{}, memory).status == execute::run_status::finished);
    REQUIRE(interop_starpu_test::holds_results(drawn, memory, 1));
  }
}

TEST_CASE("starpu: expected times as costs of a problem, and the rest from another model") {
  quiet_session s;
  const workload w = four_ops();
  const auto q = platform{std::vector<device>(2), uniform_links{{0.1, 1e3}}};
  const starpu::performance_models models{s.starpu, w};
  teach(models, 0, s.starpu.cpu_workers()[0], 2);
  const starpu::performance_cost cost{models, w, q, s.starpu.cpu_workers()};
  CHECK(cost.num_known() == 4); // two ops on two devices, whose workers are of one kind
  CHECK(cost.compute_time(w, 1, q, 1) == doctest::Approx(2));
  CHECK(cost.compute_time(w, 2, q, 0) == 64); // the linear model's
  CHECK(cost.transfer_time(w, 0, q, 0, 1) == 0); // both workers are in main memory
  const auto solve = pipeline(partition::heft{}, schedule::static_order{});
  const auto result = solve(problem{w, q, cost});
  CHECK(result.makespan == doctest::Approx(65)); // the long product beside the two others, then the sum
  const std::vector<int> one{0};
  CHECK_THROWS_WITH_AS((starpu::performance_cost{models, w, q, one}),
                       "performance_cost: 1 workers for 2 devices; give one per device", value_error);
}

static_assert(cost_model_for<starpu::performance_cost, workload, platform<>>);
static_assert(cost_parts::has_transfer_lines<starpu::performance_cost, workload, platform<>>);

} // namespace interop_starpu_performance_test
