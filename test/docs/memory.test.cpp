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
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <string>
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

} // namespace docs_memory_test
