// SPDX-License-Identifier: BSL-1.0
// HEFT with a price on memory, alone and as a part of solve::best.
#include "weft/solve/detail/priced_heft.hpp"

#include "weft/bound/live_memory.hpp"
#include "weft/cost/linear.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/presets.hpp"
#include "weft/problem.hpp"
#include "weft/solve/best.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace solve_priced_heft_test {

using namespace weft;

constexpr int layers = 8;

/// A step through layers and back: in each an op of much work, and a cheap one with a large output; both outputs are
/// kept for the way back. The next layer sees only what a third op makes of the large one.
workload layers_with_large_tensors() {
  workload_builder b;
  std::vector<op_id> kept;
  std::vector<op_id> input;
  op_id last = b.add_op({.work = 1, .bytes = 1, .name = "input"});
  const auto op = [&](const std::string& name, double work, byte_count bytes, op_id from) {
    const op_id v = b.add_op({.work = work, .bytes = bytes, .name = name});
    b.add_edge(from, v);
    return v;
  };
  for (int i = 0; i < layers; ++i) {
    input.push_back(op("dense" + std::to_string(i), 100, 8, last));
    kept.push_back(op("scores" + std::to_string(i), 1, 100, input.back()));
    last = op("sum" + std::to_string(i), 1, 1, kept.back());
  }
  for (int i = layers; i-- > 0;) {
    last = op("scores_grad" + std::to_string(i), 1, 1, last);
    b.add_edge(kept[static_cast<std::size_t>(i)], last);
    b.add_edge(input[static_cast<std::size_t>(i)], last);
  }
  return std::move(b).build();
}

/// A host with much memory, and a GPU ten times as fast.
platform<> host_and_gpu(byte_count capacity) {
  return {{{.kind = device_kind::cpu, .speed = 1, .memory_capacity = 10'000},
           {.kind = device_kind::gpu, .speed = 10, .memory_capacity = capacity}},
          link_matrix{2, {.latency = 0.125, .bandwidth = 100}}};
}

TEST_CASE("priced_heft: without a price it is HEFT") {
  const auto w = layers_with_large_tensors();
  const auto q = host_and_gpu(100'000);
  const problem p{w, q};
  rng random{0};
  workspace scratch;
  const std::vector<std::uint8_t> scarce(p.num_tensors(), 1);
  const std::vector<std::uint8_t> charged(p.num_devices(), 1);
  const std::vector<std::uint8_t> nothing(p.num_tensors(), 0);
  const auto expected = partition::run(partition::heft{}, p, random, scratch);
  REQUIRE(expected);
  for (const auto& s :
       {solve::detail::priced_heft{0, scarce, charged}, solve::detail::priced_heft{1e9, nothing, charged},
        solve::detail::priced_heft{1e9, scarce, nothing}}) {
    const auto r = partition::run(s, p, random, scratch);
    REQUIRE(r);
    CHECK(r->plan.placement == expected->plan.placement);
    CHECK(r->plan.order == expected->plan.order);
  }
}

TEST_CASE(
  "priced_heft: a higher price leaves less on the device that charges, and takes large tensors of little work first") {
  const auto w = layers_with_large_tensors();
  const auto q = host_and_gpu(800);
  const problem p{w, q};
  const auto relaxed = p.with_demands(std::vector<byte_count>(p.num_components(), 0));
  rng random{0};
  workspace scratch;
  const std::vector<std::uint8_t> scarce(p.num_tensors(), 1);
  const std::vector<std::uint8_t> charged{0, 1};
  byte_count before = 10'000;
  for (const double price : {0.0, 20.0, 80.0, 320.0}) {
    const auto r = partition::run(solve::detail::priced_heft{price, scarce, charged}, relaxed, random, scratch);
    REQUIRE(r);
    byte_count kept = 0;
    for (const op_id v : ids(p.num_ops())) {
      if (r->plan.placement[v] == 1) {
        for (const tensor_id t : w.outputs(v)) {
          kept += w.bytes(t);
        }
      } else if (price < 320) {
        CHECK_MESSAGE(w.work(v) < 100, w.name(v));
      }
    }
    CHECK((price == 0 ? kept > 800 : kept <= before));
    before = kept;
  }
  CHECK(before < 400);
}

TEST_CASE("solve::best: where memory binds, a price finds plans that reservations do not") {
  const auto w = zoo::make("gpt2_small@1x128");
  const auto full = presets::workstation(2);
  const cost::linear c;
  auto devices = full.devices();
  for (auto& d : devices) {
    d.send_overhead = 0; // so that time is a question of where tensors are, not of how many are sent
  }
  const auto needed = bound::live_memory(problem{w, full, c}).bytes;
  devices[1].memory_capacity = devices[2].memory_capacity = needed / 20 * 9;
  const platform<> q{devices, full.links()};
  const problem p{w, q, c};
  const auto r = solve::best(p, {.moves = 0, .memory = memory_rule::over_time});
  REQUIRE(r.has_plan());
  CHECK(validate(p, r.plan, memory_rule::over_time).empty());
  double priced = 1e9;
  double others = 1e9;
  for (const auto& a : r.tried) {
    if (a.name.find("simulated_annealing") == a.name.npos) { // they start from what was found
      auto& least = a.name == "heft, priced" ? priced : others;
      least = std::min(least, a.value);
    }
  }
  CHECK_MESSAGE(priced < 0.5 * others, priced << " s, others " << others << " s");
  CHECK(r.makespan <= priced);
}

} // namespace solve_priced_heft_test
