// SPDX-License-Identifier: BSL-1.0
#include "weft/solve/adversarial.hpp"

#include "weft/partition/clustered.hpp"
#include "weft/partition/heft.hpp"
#include "weft/refine/branch_and_bound.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/pipeline.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

namespace solve_adversarial_test {

using namespace weft;

double heft_makespan(const adversarial_problem& p) {
  rng random{0};
  workspace scratch;
  const auto decided = partition::heft{}(p, random, scratch);
  simulator<adversarial_problem, schedule::static_order> sim{p};
  return decided ? sim.run(*decided).makespan : std::numeric_limits<double>::infinity();
}

/// Everything on the first device.
double one_device_makespan(const adversarial_problem& p) {
  double sum = 0;
  for (const op_id v : ids(p.num_ops())) {
    sum += p.compute_time(v, 0);
  }
  return sum;
}

TEST_CASE("adversarial_instance: the problem that it describes") {
  const adversarial_instance i{{3, 5}, {{0, 1, 8}}, {2, 4, 1}, {10, 20, 30}};
  const auto w = i.make_workload();
  const auto q = i.make_platform();
  CHECK(w.work(1) == 5);
  CHECK(w.bytes(0) == 8);
  CHECK(w.consumers(0).front() == 1);
  CHECK(q.speed(1) == 4);
  CHECK(q.bandwidth(0, 1) == 10);
  CHECK(q.bandwidth(2, 0) == 20);
  CHECK(q.bandwidth(1, 2) == 30);
}

TEST_CASE("adversarial_search: finds what is known to be bad, within its space, the same each time") {
  const adversarial_search search{
    .min_ops = 4, .max_ops = 6, .min_devices = 2, .max_devices = 3, .max_work = 50, .max_speed = 4, .rounds = 3,
    .budget = {.moves = 1500}};
  rng random{1};
  const auto found = search(one_device_makespan, heft_makespan, random);
  CHECK(found.evaluations == 1500);
  CHECK(found.ratio > 3); // another device is up to four times faster
  const auto w = found.instance.make_workload();
  const auto q = found.instance.make_platform();
  const adversarial_problem p{w, q};
  CHECK(one_device_makespan(p) == found.first);
  CHECK(heft_makespan(p) == found.second);
  CHECK(found.ratio == found.first / found.second);
  CHECK((w.num_ops() >= 4 && w.num_ops() <= 6));
  CHECK((q.num_devices() >= 2 && q.num_devices() <= 3));
  CHECK(std::ranges::all_of(found.instance.work, [](auto x) { return x >= 1 && x <= 50; }));
  CHECK(std::ranges::all_of(found.instance.speed, [](auto x) { return x >= 1 && x <= 4; }));
  CHECK(std::ranges::all_of(found.instance.edges, [](const auto& e) { return e.from < e.to && e.bytes <= 100; }));
  rng again{1};
  CHECK(search(one_device_makespan, heft_makespan, again).instance == found.instance);
  rng other{2};
  CHECK_FALSE(search(one_device_makespan, heft_makespan, other).instance == found.instance);
}

TEST_CASE("adversarial_search: as the guide shows it") {
  // [search]
  const auto run = [](const auto& partitioner) {
    return [&partitioner](const adversarial_problem& p) {
      return pipeline(partitioner, schedule::static_order{})(p).makespan; // 0 without a plan: does not count
    };
  };
  const partition::heft first;
  const partition::dsc second;
  rng random{1};
  const auto found = adversarial_search{.max_ccr = 1, .budget = {.moves = 2'000}}(run(first), run(second), random);
  const workload w = found.instance.make_workload(); // on this one HEFT takes `found.ratio` times as long as DSC
  // [search]
  CHECK(found.ratio > 1.5);
  CHECK(w.num_ops() > 2);
}

TEST_CASE("adversarial_search: annealing beats drawing at random") {
  double drawn = 0, annealed = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    rng random{seed};
    const adversarial_search draws{.rounds = 400, .budget = {.moves = 400}};
    const adversarial_search anneals{.rounds = 1, .budget = {.moves = 400}};
    drawn += draws(heft_makespan, one_device_makespan, random).ratio;
    annealed += anneals(heft_makespan, one_device_makespan, random).ratio;
  }
  CHECK(annealed > drawn * 1.05);
}

TEST_CASE("adversarial_search: no more communication than allowed") {
  for (const double most : {0.0, 0.5, 2.0}) {
    rng random{4};
    const auto found =
      adversarial_search{.max_ccr = most, .budget = {.moves = 800}}(heft_makespan, one_device_makespan, random);
    CHECK(found.ratio > 0.1);
    CHECK(generate::ccr_of(found.instance.make_workload(), found.instance.make_platform()) <= most);
  }
}

TEST_CASE("adversarial_search: against itself, without plans, without budget, out of range") {
  rng random{3};
  const adversarial_search search{.budget = {.moves = 50}};
  CHECK(search(heft_makespan, heft_makespan, random).ratio == 1);
  const auto no_plan = [](const adversarial_problem&) { return std::numeric_limits<double>::infinity(); };
  CHECK(search(heft_makespan, no_plan, random).ratio == 0);
  CHECK(search(no_plan, heft_makespan, random).ratio == 0);
  CHECK(adversarial_search{.budget = {.moves = 0}}(heft_makespan, heft_makespan, random).evaluations == 0);
  CHECK(adversarial_search{.min_ops = 1, .max_ops = 1, .min_devices = 1, .max_devices = 1, .budget = {.moves = 50}}(
          heft_makespan, one_device_makespan, random)
          .ratio == 1);
  CHECK_THROWS_AS((adversarial_search{.min_ops = 9, .max_ops = 8}(heft_makespan, heft_makespan, random)), value_error);
  CHECK_THROWS_AS((adversarial_search{.min_work = 0}(heft_makespan, heft_makespan, random)), value_error);
}

} // namespace solve_adversarial_test
