// SPDX-License-Identifier: BSL-1.0
#include "weft/solve/best.hpp"

#include "simulate/random_problem.hpp"
#include "support/rounds.hpp"

#include "weft/cost/efficiency.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/cost/tabulated.hpp"
#include "weft/networks.hpp"
#include "weft/platform/presets.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/fair_sharing.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <stop_token>
#include <utility>

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
  for (int round = 0; round < test::rounds(60); ++round) {
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
  CHECK((better > 10 || !test::are_all_rounds));
}

TEST_CASE("solve::best on a network: GPUs that share uplinks of PCIe switches") {
  const auto w = zoo::make("dcgan");
  const auto q = presets::make("pcie_8gpu");
  const auto efficiencies = cost::typical_efficiencies();
  cost::roofline costs;
  costs.efficiencies = &efficiencies;
  const problem p{w, q, cost::tabulated{costs, w, q}};
  const simulate::any_network fair{contention_model::fair};
  const auto blind = solve::best(p, {.moves = 1000});
  const auto r = best_on(fair, p, {.moves = 1000});
  const double unaware = simulator{p, schedule::static_order{}, fair}.run(blind.plan).makespan;
  CHECK(unaware > 1.05 * blind.makespan); // contention costs something here
  CHECK(r.makespan < 0.9 * unaware);
}

/// Stages one after the other: an op, two branches of `length` ops each, and the op that takes up both and begins the
/// next stage. Ops take as long as it takes to launch them on a GPU, tensors have no size to speak of.
workload forks(int stages, int length) {
  workload_builder b;
  const auto add = [&](auto... inputs) {
    const auto v = b.add_op({.bytes = 1000, .kinds = device_kind::gpu, .type = "Add"});
    (b.add_edge(inputs, v), ...);
    return v;
  };
  auto last = add();
  for (int s = 0; s < stages; ++s) {
    auto left = add(last);
    auto right = add(last);
    for (int i = 1; i < length; ++i) {
      left = add(left);
      right = add(right);
    }
    last = add(left, right);
  }
  return std::move(b).build();
}

/// By how much a plan for several GPUs of a platform that share its links is faster than one GPU.
double promised(const workload& w, const platform<>& q, std::uint64_t moves = 1000) {
  const auto efficiencies = cost::typical_efficiencies();
  cost::roofline costs;
  costs.efficiencies = &efficiencies;
  const problem p{w, q, cost::tabulated{costs, w, q}};
  const simulate::fair_sharing network;
  const auto r = best_on(network, p, {.moves = moves});
  REQUIRE(r.has_plan());
  trace run;
  simulator{p, schedule::static_order{}, network}.run(r.plan, simulate::recorder{run});
  CHECK(validate(p, r.plan.placement, run, {.contention = contention_model::fair}).empty());
  CHECK(r.bound.value <= r.makespan * (1 + 1e-9));
  double alone = 0;
  for (const op_id v : ids(p.num_ops())) {
    alone += p.compute_time(v, 1);
  }
  return alone / r.makespan;
}

/// The platform as it would be if transfers started by themselves.
platform<> with_free_sends(const platform<>& q) {
  auto devices = q.devices();
  for (device& d : devices) {
    d.send_overhead = 0;
  }
  return {std::move(devices), q.links(), q.send_work()};
}

// A branch of n ops of 5 µs that goes to another GPU and comes back is away for n·5 µs, two launches of 5 µs and two
// latencies L, while the first GPU runs the other branch of n·5 µs. So a stage cannot end after less than
// (n + 1)·5 + 2·(5 + L) µs, or, where it ends on the other GPU, (n + 1)·5 + 2·5 + L µs, as the first GPU sends twice.
// One GPU takes (2n + 1)·5 µs. Over NVLink, L is 5 µs: branches of up to 3 ops gain nothing.
TEST_CASE("solve::best on presets: small ops are not promised a speed-up that launches and latencies eat") {
  const auto chain = forks(29, 3); // 1.02 ms on one GPU
  for (const char* name : {"dgx_a100", "hgx_a100_4gpu", "p3_8xlarge", "pcie_4gpu"}) {
    CAPTURE(name);
    const auto q = presets::make(name);
    CHECK(promised(forks(1, 2), q) == doctest::Approx(1).epsilon(1e-6));
    CHECK(promised(chain, q) == doctest::Approx(1).epsilon(1e-6));
  }
  CHECK(promised(chain, with_free_sends(presets::dgx_a100())) > 1.1); // which is what made the promise
}

// With branches of 100 ops, the least of both is 520 + L µs, where the end is on the other GPU, and one takes 1010 µs.
TEST_CASE("solve::best on presets: long branches of small ops are worth launching transfers for") {
  const auto w = forks(1, 100);
  for (const auto& [name, latency] : {std::pair{"dgx_a100", 5.0}, {"p3_8xlarge", 5.0}, {"pcie_4gpu", 20.0}}) {
    CAPTURE(name);
    const double gain = promised(w, presets::make(name), 20'000);
    CHECK(gain > 1.4);
    CHECK(gain <= 1010 / (520 + latency) * 1.001); // ops also move 3 kB each
    if (!test::are_all_rounds) {
      break;
    }
  }
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
  const auto listen = [&](const progress& at) {
    CHECK(at.best < told);
    told = at.best;
  };
  const auto r = best_on(simulate::any_network{}, x.p, {.moves = 300, .on_progress = listen});
  CHECK(told == r.makespan);
  const auto none_at_all = workload_builder{}.build();
  CHECK(best_on(simulate::any_network{}, problem{none_at_all, x.q}).status == status::optimal);
}

TEST_CASE("solve::best on a network: what cannot be") {
  rng random{1};
  const test::drawn x{random};
  const simulate::any_network fair{};
  CHECK_THROWS_WITH_AS(solve::best(x.p, schedule::fifo{}, {.memory = memory_rule::over_time}),
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
