// SPDX-License-Identifier: BSL-1.0
#include "weft/solve/best.hpp"

#include "simulate/random_problem.hpp"

#include "weft/cost/efficiency.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/cost/tabulated.hpp"
#include "weft/networks.hpp"
#include "weft/platform/presets.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <stop_token>

namespace solve_best_on_networks_test {

using namespace weft;

template <class Network, class Problem>
solve::best_result best_on(const Network& network, const Problem& p, const solve::best_options& options = {}) {
  return solve::best(p, simulate::under{schedule::static_order{}, network}, options);
}

constexpr contention_model models[] = {contention_model::port, contention_model::fair};

TEST_CASE("solve::best on a network: never worse than the plan that knows of none") {
  rng random{11};
  int better = 0;
  for (int round = 0; round < 60; ++round) {
    const test::drawn x{random, {.max_ops = 30, .max_devices = 5}};
    for (const auto model : models) {
      const simulate::any_network network{model};
      const solve::best_options budget{.moves = 400, .seed = 3};
      const auto blind = solve::best(x.p, budget);
      const auto r = best_on(network, x.p, budget);
      REQUIRE(r.has_plan() == blind.has_plan());
      if (!r.has_plan()) {
        CHECK(r.status == blind.status);
        continue;
      }
      simulator sim{x.p, schedule::static_order{}, network};
      trace run;
      REQUIRE(sim.run(r.plan, simulate::recorder{run}).makespan == r.makespan);
      REQUIRE(validate(x.p, r.plan.placement, run, {.contention = model}).empty());
      const double unaware = sim.run(blind.plan).makespan;
      REQUIRE(r.makespan <= unaware);
      REQUIRE(r.makespan >= r.bound.value * (1 - 1e-9));
      better += r.makespan < unaware;
      const auto again = best_on(network, x.p, budget);
      REQUIRE(again.plan == r.plan);
    }
  }
  CHECK(better > 10);
}

TEST_CASE("solve::best on a network: GPUs that share uplinks of PCIe switches") {
  const auto w = zoo::make("dcgan");
  const auto q = presets::make("pcie_8gpu");
  const auto efficiencies = cost::typical_efficiencies();
  cost::roofline costs;
  costs.efficiencies = &efficiencies;
  const problem p{w, q, cost::tabulated{costs, w, q}};
  const simulate::any_network fair{contention_model::fair};
  const auto blind = solve::best(p, {.moves = 4000});
  const auto r = best_on(fair, p, {.moves = 4000});
  const double unaware = simulator{p, schedule::static_order{}, fair}.run(blind.plan).makespan;
  CHECK(unaware > 1.05 * blind.makespan); // contention costs something here
  CHECK(r.makespan < 0.9 * unaware);
}

TEST_CASE("solve::best on a network: where nothing is slowed down, the first plan is the result") {
  workload_builder b;
  for (int i = 0; i < 12; ++i) { // tensors without bytes
    const auto made = b.add_op({.work = 1.0 + i, .bytes = 0});
    b.add_edge(made, b.add_op({.work = 3}));
  }
  const auto w = std::move(b).build();
  const platform<> q{std::vector<device>(3), link_matrix{3, {0.1, 1}}};
  const problem p{w, q};
  const auto blind = solve::best(p, {.moves = 500});
  const auto r = best_on(simulate::any_network{contention_model::fair}, p, {.moves = 500});
  CHECK(r.tried.size() == 1);
  CHECK(r.plan == blind.plan);
  CHECK(r.makespan == doctest::Approx(blind.makespan));
}

TEST_CASE("solve::best on a network: progress is of runs on the network, and empty problems are solved") {
  rng random{2};
  const test::drawn x{random, {.max_ops = 40, .max_devices = 5}};
  double told = std::numeric_limits<double>::infinity();
  const std::function<void(const progress&)> listen = [&](const progress& at) {
    CHECK(at.best < told);
    told = at.best;
  };
  const auto r = best_on(simulate::any_network{}, x.p, {.moves = 300, .on_progress = &listen});
  CHECK(told == r.makespan);
  const auto none_at_all = workload_builder{}.build();
  CHECK(best_on(simulate::any_network{}, problem{none_at_all, x.q}).status == status::optimal);
}

TEST_CASE("solve::best on a network: what cannot be") {
  rng random{1};
  const test::drawn x{random};
  const simulate::any_network fair{};
  CHECK_THROWS_WITH_AS(solve::best(x.p, schedule::fifo{}, {.memory = {memory_rule::over_time}}),
                       "solve::best: memory over time is of runs in the plan's order; use memory_rule::reserved, or "
                       "schedule::static_order",
                       value_error);
  std::stop_source stopped;
  stopped.request_stop();
  const auto token = stopped.get_token();
  const auto first = best_on(fair, x.p, {.stop = &token});
  CHECK(first.has_plan());
  CHECK(first.tried.size() == 1);
  CHECK(best_on(fair, x.p, {.moves = 100, .effort = solve::effort::first_plan}).tried.size() == 1);
  CHECK_THROWS_AS(best_on(simulate::any_network{contention_model::none}, x.p), value_error);
}

} // namespace solve_best_on_networks_test
