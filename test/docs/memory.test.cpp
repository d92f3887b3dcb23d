// SPDX-License-Identifier: BSL-1.0
// The code of docs/memory.md.
#include "weft/platform/presets.hpp"
#include "weft/solve/devices_needed.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <string>

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
  const auto r = weft::solve::best(problem, {.moves = 10'000, .memory = {weft::memory_rule::over_time}});
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

} // namespace docs_memory_test
