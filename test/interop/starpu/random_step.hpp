// SPDX-License-Identifier: BSL-1.0
/// Random training steps that the tests run by StarPU.
#pragma once

#include "support/random_plans.hpp"

#include "weft/execute/memory.hpp"
#include "weft/execute/program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace interop_starpu_test {

/// A random graph with a plan, and a third of its tensors to be looked at afterwards.
struct random_step {
  weft::workload workload;
  weft::plan plan;
  std::vector<weft::tensor_id> kept = {};

  weft::execute::program program() const { return {workload, plan, {.keep = kept}}; }
};

inline random_step draw_step(std::uint64_t seed, std::uint32_t num_devices, std::uint32_t max_ops = 40) {
  weft::rng random{seed};
  auto w = weft::test::random_graph(random, max_ops, 200);
  auto p = weft::test::random_plan(w, random, num_devices);
  random_step made{std::move(w), std::move(p)};
  for (const auto t : weft::ids(made.workload.num_tensors())) {
    if (random.below(3) == 0) {
      made.kept.push_back(t);
    }
  }
  return made;
}

/// What each device runs, as the plan says, or the program, where the plan has no order.
inline std::vector<std::vector<weft::op_id>> ops_by_device(const random_step& s) {
  std::vector<std::vector<weft::op_id>> ops(16);
  for (const auto& step : s.plan.order) {
    if (!step.is_send()) {
      ops[s.plan.placement[step.op]].push_back(step.op);
    }
  }
  if (s.plan.order.empty()) {
    const auto program = s.program();
    for (const auto v : program.sequence()) {
      ops[s.plan.placement[v]].push_back(v);
    }
  }
  return ops;
}

/// Whether the kept tensors hold what they hold after so many runs on one device, as far as the memory has them.
inline bool holds_results(const random_step& s, const weft::execute::memory& m, int runs) {
  const auto expected = weft::test::tensors_after(s.workload, runs, weft::test::hashing_kernel{});
  return std::ranges::all_of(s.kept, [&](weft::tensor_id t) {
    return !m.has(m.program().buffers()[t].device) || std::ranges::equal(m.tensor(t), expected[t]);
  });
}

} // namespace interop_starpu_test
