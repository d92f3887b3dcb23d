// SPDX-License-Identifier: BSL-1.0
// What docs/starpu.md quotes.
#include "weft/interop/starpu.hpp"

#include "interop/starpu/environment.hpp"
#include "support/random_plans.hpp"

#include "weft/partition/heft.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/solve/pipeline.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace docs_starpu_test {

TEST_CASE("docs: a plan by StarPU") {
  const interop_starpu_test::starpu_home home;
  [[maybe_unused]] const interop_starpu_test::unchecked_for_leaks initialising;
  weft::rng random{1};
  const weft::workload workload = weft::test::random_graph(random, 40, 100);
  const weft::platform platform{std::vector<weft::device>(2), weft::uniform_links{{0.1, 1e3}}};
  const auto solve = weft::pipeline(weft::partition::heft{}, weft::schedule::static_order{});
  const weft::plan plan = solve(weft::problem{workload, platform}).plan;
  const weft::test::hashing_kernel kernel;
  // [run]
  weft::starpu::session starpu{{.cpus = 2}};
  const weft::execute::program program{workload, plan};
  weft::starpu::executor run{starpu, program};
  const weft::execute::memory memory{program};
  const auto report = run(kernel, memory, {.record = true});
  // [run]
  CHECK(report.num_finished == workload.num_ops());

  const std::vector<double> profile(workload.num_ops(), 1e-3);
  // [models]
  const weft::starpu::performance_models models{starpu, workload};
  weft::starpu::executor learn{starpu, program, {.models = &models}};
  for (int step = 0; step < 12; ++step) {
    learn(kernel, memory);
  }
  const weft::starpu::performance_cost cost{models, workload, platform, learn.workers()};
  const auto better = solve(weft::problem{workload, platform, cost});
  // [models]
  CHECK(better.has_plan());
  const weft::op_id v = 0;
  // [add]
  models.add(v, learn.workers()[0], profile[v]);
  // [add]
}

} // namespace docs_starpu_test
