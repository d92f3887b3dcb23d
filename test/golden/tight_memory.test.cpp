// SPDX-License-Identifier: BSL-1.0
// A case in which each rule of batch_split, path_completion_time and maximum_successor_rank changes the result.
#include "weft/io/critical_path_csv.hpp"
#include "weft/partition/batch_split.hpp"
#include "weft/schedule/maximum_successor_rank.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <vector>

namespace golden_tight_memory_test {

// tight_graph.csv on tight_devices.csv; times below were computed in exact fractions by a separate program, which
// reproduces the published makespans of batch_split on the graphs of the critical-path paper to the last digit, too.
//
// Placement. Importance: ops 1, 3, 4, 5, 7, 8: 2820; 6, 9, 10: 2760; 0, 2: 2720; 11: 2400. So the sequence is
// 1 3 4 5 | 7 8 6 9 | 10 0 2 11, and each device is due for four of them:
//   device 0 (CPU, speed 20): 1, with it 11 of its group, 3, 4; not 5, which needs a GPU: it goes to device 1
//   device 1 (GPU, speed 80): 7, 8; of 2300 bytes 205 are left, so 6, which demands 785, goes to device 2, as does 9
//   device 2 (GPU, speed 25): 10, 0, 2; 11 is placed already
//
// Transfers: op 0 (50 bytes) to devices 0 and 1, 1 (310) to 1, 2 (210) to 0, 3 (370) to 1, 4 (210) to 1 and 2,
// 6 (340) to 0: 1750 bytes in all. A send takes 10 / speed: 0.5 on device 0, 0.4 on device 2.
//
// Run under PCT, `[start, finish)`; the links carry 10 bytes per second (0-1), 8 (0-2) and 16 (1-2):
//   device 0: op 1 [0, 36), send 1->1 [36, 36.5), op 3 [51.45, 63.45), op 4 [63.45, 76.45), send 4->2 [76.45, 76.95),
//             send 3->1 [76.95, 77.45), send 4->1 [77.45, 77.95), op 11 [168.5, 199.5)
//   device 1: op 5 [114.45, 117.95), op 7 [117.95, 128.2), op 8 [128.2, 134.45)
//   device 2: op 0 [0, 8.8), op 2 [8.8, 24.8), send 2->0 [24.8, 25.2), send 0->0 [25.2, 25.6), send 0->1 [25.6, 26),
//             op 6 [103.2, 125.6), send 6->0 [125.6, 126), op 9 [126, 139.6), op 10 [139.6, 165.2)
//
// Under MSR device 2 sends 0->1 right after op 0: 8 points, since device 1 has nothing to run. Op 2 has 4, for three
// local consumers and a send. The send 0->0 has 3, since device 0 will have a send to run after op 1. So op 3 starts
// 0.4 later, at 51.85, but device 0 sends 3->1 before it runs op 4, and op 11 ends at 200.4. Were the 5 extra points
// never given, it would end at 200.0; were they always given, at 200.8.

struct tight_case {
  std::filesystem::path folder = std::filesystem::path{__FILE__}.parent_path();
  weft::workload w = weft::io::read_workload_csv(folder / "tight_graph.csv");
  weft::platform<> q = weft::io::read_platform_csv(folder / "tight_devices.csv");
  weft::problem<weft::workload, weft::platform<>> p{w, q};

  weft::plan decide() const {
    weft::rng random;
    weft::workspace scratch;
    const auto decided = weft::partition::batch_split{}(p, random, scratch);
    REQUIRE(decided);
    return {*decided, {}};
  }

  template <class Policy>
  weft::simulation run(weft::trace& record) const {
    const auto decided = decide();
    weft::simulator<weft::problem<weft::workload, weft::platform<>>, Policy> sim{p};
    const auto result = sim.run(decided, weft::simulate::recorder{record});
    CHECK(validate(p, decided.placement, record).empty());
    return result;
  }
};

TEST_CASE("golden: batch_split with a group, a constraint and little memory") {
  CHECK(tight_case{}.decide().placement == weft::placement{2, 0, 2, 0, 0, 1, 2, 1, 1, 2, 2, 0});
}

TEST_CASE("golden: batch_split with path_completion_time where memory is tight") {
  weft::trace record;
  const auto result = tight_case{}.run<weft::schedule::path_completion_time>(record);
  CHECK(result.makespan == doctest::Approx(199.5).epsilon(1e-12));
  CHECK(result.transfer_bytes == 1750);
  const std::vector<double> starts{0, 0, 8.8, 51.45, 63.45, 114.45, 103.2, 117.95, 128.2, 126, 139.6, 168.5};
  for (std::size_t v = 0; v < starts.size(); ++v) {
    CAPTURE(v);
    CHECK(record.ops[v].start == doctest::Approx(starts[v]).epsilon(1e-12));
  }
}

TEST_CASE("golden: batch_split with maximum_successor_rank where a receiver starves") {
  weft::trace record;
  const auto result = tight_case{}.run<weft::schedule::maximum_successor_rank>(record);
  CHECK(result.makespan == doctest::Approx(200.4).epsilon(1e-12));
  CHECK(result.transfer_bytes == 1750);
  const std::vector<double> starts{0, 0, 9.2, 51.85, 64.35, 101.35, 104.1, 104.85, 115.1, 126.9, 140.5, 169.4};
  for (std::size_t v = 0; v < starts.size(); ++v) {
    CAPTURE(v);
    CHECK(record.ops[v].start == doctest::Approx(starts[v]).epsilon(1e-12));
  }
}

} // namespace golden_tight_memory_test
