// SPDX-License-Identifier: BSL-1.0
#include "weft/bound/critical_path.hpp"

#include "weft/cost/table.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <array>

namespace bound_critical_path_test {

const weft::platform<weft::uniform_links> cpu_and_gpu{
  {{.kind = weft::device_kind::cpu, .speed = 1}, {.kind = weft::device_kind::gpu, .speed = 4}}, {{.latency = 100}}};

/// a(4) -> b(8) -> c(4), and a -> d(10) -> c.
weft::workload diamond(weft::kind_set kind_of_d, bool b_with_d = false) {
  weft::workload_builder w;
  w.add_op({.work = 4, .bytes = 1});
  w.add_op({.work = 8, .bytes = 1});
  w.add_op({.work = 4});
  w.add_op({.work = 10, .bytes = 1, .kinds = kind_of_d});
  w.add_edge(0, 1);
  w.add_edge(1, 2);
  w.add_edge(0, 3);
  w.add_edge(3, 2);
  if (b_with_d) {
    w.colocate(1, 3);
  }
  return std::move(w).build();
}

TEST_CASE("bound::critical_path: every op on its fastest device, communication free") {
  const auto w = diamond(weft::kind_set::all());
  CHECK(weft::bound::critical_path(weft::problem{w, cpu_and_gpu}) == (4 + 10 + 4) / 4.0);
}

TEST_CASE("bound::critical_path: kinds count, and so do those of the group") {
  const auto alone = diamond(weft::device_kind::cpu);
  CHECK(weft::bound::critical_path(weft::problem{alone, cpu_and_gpu}) == 1 + 10 + 1);
  const auto together = diamond(weft::device_kind::cpu, true); // b slows down as well, but d is longer
  CHECK(weft::bound::critical_path(weft::problem{together, cpu_and_gpu}) == 1 + 10 + 1);
}

TEST_CASE("bound::critical_path: a device that is too small for the component does not count") {
  weft::workload_builder b;
  b.add_op({.work = 8, .resident_bytes = 10});
  const weft::workload w = std::move(b).build();
  auto devices = cpu_and_gpu.devices();
  devices[1].memory_capacity = 10;
  const weft::platform<weft::uniform_links> fits{devices, {}};
  CHECK(weft::bound::critical_path(weft::problem{w, fits}) == 2);
  devices[1].memory_capacity = 9;
  const weft::platform<weft::uniform_links> small{devices, {}};
  CHECK(weft::bound::critical_path(weft::problem{w, small}) == 8);
}

TEST_CASE("bound::critical_path: unrelated devices") {
  const auto w = diamond(weft::kind_set::all());
  constexpr std::array seconds{3.0, 2.0, 7.0, 8.0, 1.0, 5.0, 6.0, 4.0};
  const weft::problem p{w, cpu_and_gpu, weft::cost::table{seconds, 4, 2}};
  CHECK(weft::bound::critical_path(p) == 2 + 7 + 1);
}

} // namespace bound_critical_path_test
