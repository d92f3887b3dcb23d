// SPDX-License-Identifier: BSL-1.0
// The code of docs/memory.md.
#include "weft/allocate/offsets.hpp"
#include "weft/allocate/on_devices.hpp"
#include "weft/platform/presets.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/devices_needed.hpp"
#include "weft/solve/offloading.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace docs_memory_test {

weft::workload eight_layers() {
  weft::workload_builder b;
  for (int i = 0; i < 8; ++i) {
    b.add_op({.work = 1e9, .resident_bytes = 30, .kinds = weft::device_kind::gpu});
  }
  return std::move(b).build();
}

TEST_CASE("docs: memory over time, and how many devices") {
  const auto workload = eight_layers();
  const auto full = weft::presets::dgx_a100();
  auto devices = full.devices();
  for (auto& d : devices) {
    d.memory_capacity = 60;
  }
  const weft::platform<> platform{devices, full.links()};
  const weft::cost::linear cost;
  const weft::problem problem{workload, platform, cost};
  // [over_time]
  const auto r = weft::solve::best(problem, {.moves = 10'000, .memory = weft::memory_rule::over_time});
  // r.plan under schedule::static_order never exceeds a capacity; r.peaks: bytes per device at its worst moment
  // [over_time]
  REQUIRE(r.has_plan());
  CHECK(r.peaks == std::vector<weft::byte_count>{0, 30, 30, 30, 30, 30, 30, 30, 30});
  // [devices]
  const weft::device_id like = 1; // a GPU
  const auto needed = weft::solve::devices_needed(workload, platform, cost, like);
  const std::string answer = to_string(needed); // 4 such devices do, and no fewer
  // [devices]
  CHECK(answer == "4 such devices do, and no fewer");
}

TEST_CASE("docs: one memory") {
  // [shared]
  const weft::platform<> machine{{{.kind = weft::device_kind::cpu, .speed = 1e12, .memory_capacity = 121ull << 30},
                                  {.kind = weft::device_kind::gpu, .speed = 3e13, .memory_of = 0}},
                                 weft::link_matrix{2, weft::uniform_links{{.latency = 1e-5}}}};
  // machine.memory_of(1) is 0, machine.memory_capacity(1) is 121 GiB: whatever cpu and gpu hold counts there, together
  // [shared]
  CHECK(machine.memory_of(1) == 0);
  CHECK(machine.memory_capacity(1) == 121ull << 30);
}

TEST_CASE("docs: offsets") {
  // [offsets]
  const std::vector<weft::allocate::lifetime> buffers{
    {.begin = 0, .end = 3, .bytes = 4}, {3, 9, 4}, {0, 9, 4}, {9, 21, 4}, {0, 21, 4}};
  const auto found = weft::allocate::least(buffers); // in as little memory as possible
  // found.offsets[i] for buffers[i], found.bytes == 12, and found.is_least(): no memory of fewer bytes can do
  const auto none = weft::allocate::within(buffers, 11); // none.outcome is fit::impossible: that is proven
  // [offsets]
  CHECK(found.offsets.size() == 5);
  CHECK(found.bytes == 12);
  CHECK(found.is_least());
  CHECK(none.outcome == weft::allocate::fit::impossible);
}

TEST_CASE("docs: offsets on devices") {
  weft::workload_builder b;
  b.add_op({.work = 1e9, .bytes = 100, .resident_bytes = 30});
  b.add_op({.work = 1e9, .bytes = 50});
  b.add_edge(0, 1);
  const auto workload = std::move(b).build();
  const auto platform = weft::presets::dgx_a100();
  const weft::problem problem{workload, platform, weft::cost::linear{}};
  const weft::plan plan{{1, 1}, {}};
  // [on_devices]
  weft::trace run;
  weft::simulator{problem, weft::schedule::static_order{}}.run(plan, weft::simulate::recorder{run});
  const auto layouts = weft::allocate::on_devices(problem, plan.placement, run, {.alignment = 64});
  weft::byte_count above_bound = 0;
  for (const auto& device : layouts) { // device.stays[i] lies at device.offsets[i]
    above_bound += device.bytes - device.bound;
  }
  // [on_devices]
  REQUIRE(layouts.size() == 9);
  CHECK(layouts[1].bytes == 64 + 64 + 100); // the smaller tensor first
  CHECK(above_bound == 0); // with offsets that are multiples of 64 no fewer do
}

TEST_CASE("docs: what waits on the host") {
  weft::workload_builder b; // two forward ops, and three backward, the last of which reads what the first made
  for (const weft::byte_count bytes : {100u, 100u, 10u, 10u, 10u}) {
    b.add_op({.work = 1e12, .bytes = bytes});
  }
  for (const auto& [from, to] : {std::pair{0u, 1u}, {1u, 2u}, {2u, 3u}, {3u, 4u}, {0u, 4u}}) {
    b.add_edge(from, to);
  }
  const auto step = std::move(b).build();
  const weft::device_id cpu = 0, gpu = 1;
  const weft::platform<> machine{
    {{.kind = weft::device_kind::cpu, .speed = 1e11, .memory_capacity = 1000},
     {.kind = weft::device_kind::gpu, .speed = 1e12, .memory_capacity = 200}},
    weft::link_matrix{2, {.latency = 0, .bandwidth = 1000}}};
  // [offload]
  const auto times = weft::solve::times_on(step, machine, weft::cost::linear{}, gpu, cpu);
  const auto chosen = weft::solve::least_offloading(step, times, {}, [&](const weft::solve::offloaded_step& x) {
    return weft::solve::run_on(x, machine, weft::cost::linear{}, gpu, cpu);
  });
  // chosen.fits, chosen.step.graph: the workload; chosen.step.bytes: sent to the host, and as many back
  // [offload]
  CHECK(chosen.fits);
  CHECK(chosen.step.bytes == 100);
  CHECK(chosen.verdict.seconds == doctest::Approx(5));
}

} // namespace docs_memory_test
