// SPDX-License-Identifier: BSL-1.0
// The exact search against trying everything, and every other strategy against the exact search.
#include "property/brute_force.hpp"
#include "property/property.hpp"
#include "property/strategies.hpp"

#include "weft/bound/best.hpp"
#include "weft/validate/validate.hpp"

#include <cmath>

namespace weft::test {
namespace property_exact_test {

using problem_type = sampled_problem::problem_type;

outcome<partition::decided> solve_exactly(const problem_type& p) {
  rng random;
  workspace scratch;
  return partition::run(refine::branch_and_bound{}, p, random, scratch);
}

/// The plan that the exact search returns takes exactly as long as it says when its order is followed.
double run_in_order(const problem_type& p, const partition::decided& exact) {
  expect_none("branch_and_bound", validate(p, exact.plan));
  simulator<problem_type, schedule::static_order> sim{p};
  const auto run = sim.run(exact.plan);
  RC_ASSERT(run.complete);
  return run.makespan;
}

/// As many ops as trying everything takes well under a second for.
sample_options small(std::uint32_t ops, std::uint32_t devices) {
  return {.max_ops = ops, .max_devices = devices, .max_slots = 2};
}

void check_against_brute_force(const sample& s) {
  const sampled_problem made{s};
  brute_force<problem_type> all{made.task};
  const double least = all.makespan();
  const auto exact = solve_exactly(made.task);
  RC_ASSERT(exact.has_value() == std::isfinite(least));
  if (exact) {
    RC_ASSERT(about(exact->bound, least));
    RC_ASSERT(about(run_in_order(made.task, *exact), exact->bound));
    RC_ASSERT(at_least(least, bound::best(made.task).value));
  }
}

TEST_CASE("property: branch and bound finds what trying everything finds, on up to 5 ops and 3 devices") {
  holds_for_all("brute force, 3 devices", small(5, 3), check_against_brute_force);
}

TEST_CASE("property: branch and bound finds what trying everything finds where sending occupies nobody") {
  holds_for_all("brute force, no sends", small(6, 3), [](sample s) {
    s.send_work = 0;
    check_against_brute_force(s);
  });
}

TEST_CASE("property: branch and bound finds what trying everything finds, on up to 8 ops and 2 devices") {
  holds_for_all("brute force, 2 devices", small(8, 2), check_against_brute_force);
}

TEST_CASE("property: nothing beats branch and bound") {
  holds_for_all("nothing beats it", small(7, 3), [](const sample& s) {
    const sampled_problem made{s};
    const auto& p = made.task;
    const auto exact = solve_exactly(p);
    const auto simulators = all_simulators(p);
    if (exact) {
      const double makespan = run_in_order(p, *exact);
      if (exact->bound < makespan && exact->bound >= bound::best(p).value) {
        RC_DISCARD("out of budget, one case in 30 000");
      }
      RC_ASSERT(about(makespan, exact->bound));
    }
    trace ignored;
    for (const auto& name : partitioner_names(p.num_ops(), 100)) {
      rng random{s.seed};
      workspace scratch;
      const auto decided = (*all_strategies().find_partitioner(name))(p, random, scratch);
      RC_ASSERT(!decided || exact);
      for (const auto& simulator : simulators) {
        if (decided) {
          simulator.run->prepare(decided->plan);
          const double makespan = simulator.run->run_prepared(ignored).makespan;
          RC_ASSERT(makespan >= exact->bound || about(makespan, exact->bound));
        }
      }
    }
  });
}

TEST_CASE("branch and bound: its order starts what is beside each other in slots at the right time") {
  sample s;
  s.ops = {{.work = 1, .kinds = device_kind::gpu, .outputs = {2}},
           {.work = 1, .outputs = {0}},
           {.work = 1, .outputs = {3}},
           {.work = 3, .resident_bytes = 6, .outputs = {0}},
           {.work = 1, .resident_bytes = 2, .outputs = {3}}};
  s.edges = {{3, 0, 1}, {0, 0, 2}, {0, 0, 4}};
  s.devices = {{.kind = device_kind::gpu, .speed = 2, .memory_bandwidth = 1}, {.memory_bandwidth = 3, .slots = 2}};
  s.connected = sample::topology::matrix;
  s.links = {{.bandwidth = 1}, {.bandwidth = 2}, {.bandwidth = 1}, {.bandwidth = 1}};
  s.send_work = 1;
  s.cost = sample::cost_kind::roofline;
  check_against_brute_force(s);
}

TEST_CASE("branch and bound: a component that is allowed nowhere is named") {
  sample s;
  s.ops = {{.outputs = {3}}, {.resident_bytes = 5}};
  s.edges = {{0, 0, 1}};
  s.devices = {{.memory_capacity = 7}};
  s.links = {{}};
  const sampled_problem made{s};
  const auto exact = solve_exactly(made.task);
  REQUIRE(!exact);
  CHECK(exact.error().cause == infeasibility::kind::out_of_memory);
  CHECK(exact.error().op == 1);
  CHECK(exact.error().largest_free == 7);
}

TEST_CASE("brute force: problems with a known optimum") {
  // A fork of two ops of 4 s: one device takes 1 + 8, two take 1 + send 1 + transfer 2 + 4, or 5 for the local one.
  sample fork;
  fork.ops = {{.work = 1, .outputs = {2}}, {.work = 4}, {.work = 4}};
  fork.edges = {{0, 0, 1}, {0, 0, 2}};
  fork.devices = {{}, {}};
  fork.links = {{.latency = 0, .bandwidth = 1}};
  fork.send_work = 1;
  const auto optimum = [](const sample& s) {
    const sampled_problem made{s};
    return brute_force<problem_type>{made.task}.makespan();
  };
  CHECK(optimum(fork) == 8);
  fork.colocations = {{0, 1}, {0, 2}};
  CHECK(optimum(fork) == 9);
  fork.colocations = {{1, 2}}; // together on one device, which may be their producer's
  CHECK(optimum(fork) == 9);
  fork.devices[0].slots = 2; // side by side
  CHECK(optimum(fork) == 5);
  fork.devices[1].memory_capacity = 0;
  fork.devices[0].memory_capacity = 5; // three times the tensor is 6
  CHECK(std::isinf(optimum(fork)));
}

} // namespace property_exact_test
} // namespace weft::test
