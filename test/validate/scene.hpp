// SPDX-License-Identifier: BSL-1.0
/// A small problem with a plan and its trace, for the tests of the validator.
#pragma once

#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/validate/violation.hpp"
#include "weft/workload/builder.hpp"

#include <vector>

namespace weft_test {

/// ```
///   a(2) ──x──► b(4) ──y──► d(2)        a, c and e on device 0 (cpu, speed 1, one slot)
///     └───x───► c(6) ──z──► d           b and d on device 1 (gpu, speed 2, one slot)
///     └───x───► e(1)                    b and d are colocated and need a gpu
/// ```
/// x has 8 bytes, y 4, z 2; links carry 4 bytes per second after 1 second; a send is 1 unit of work.
///
/// ```
///   time      0     1     2     3     4     5     6     7     8     9    10    11    12    13
///   device 0  |     a     |send |                c                  |send |  e  |
///   links                       |  x to device 1  |                       |z to dev.|
///   device 1                                      |     b     |                     |  d  |
/// ```
struct scene {
  static constexpr weft::op_id a = 0, b = 1, c = 2, d = 3, e = 4;
  static constexpr weft::tensor_id x = 0, y = 1, z = 2;

  static weft::workload make_workload() {
    using namespace weft;
    workload_builder w;
    w.add_op({.work = 2, .bytes = 8, .resident_bytes = 100, .name = "a"});
    w.add_op({.work = 4, .bytes = 4, .resident_bytes = 10, .kinds = device_kind::gpu, .name = "b"});
    w.add_op({.work = 6, .bytes = 2, .name = "c"});
    w.add_op({.work = 2, .kinds = device_kind::gpu, .name = "d"});
    w.add_op({.work = 1, .name = "e"});
    w.add_edge(a, b);
    w.add_edge(a, c);
    w.add_edge(a, e);
    w.add_edge(b, d);
    w.add_edge(c, d);
    w.colocate(b, d);
    return std::move(w).build();
  }

  scene() = default;
  scene(const scene&) = delete;
  scene& operator=(const scene&) = delete;

  weft::workload w = make_workload();
  weft::platform<weft::uniform_links> platform{
    {{.kind = weft::device_kind::cpu, .speed = 1, .memory_capacity = 200},
     {.kind = weft::device_kind::gpu, .speed = 2, .memory_capacity = 100}},
    {{.latency = 1, .bandwidth = 4}},
    1};
  weft::problem<weft::workload, weft::platform<weft::uniform_links>> p{w, platform};
  weft::placement where{0, 1, 0, 1, 0};
  weft::trace run{
    .ops = {{0, 0, 2}, {1, 6, 8}, {0, 3, 9}, {1, 11.5, 12.5}, {0, 10, 11}},
    .transfers = {{x, 0, 1, 2, 3, 3, 6}, {z, 0, 1, 9, 10, 10, 11.5}},
    .makespan = 12.5};
};

/// The kinds of the violations, in the order in which they were found.
inline std::vector<weft::violation::kind> kinds_of(const std::vector<weft::violation>& found) {
  std::vector<weft::violation::kind> kinds;
  for (const auto& x : found) {
    kinds.push_back(x.what);
  }
  return kinds;
}

} // namespace weft_test
