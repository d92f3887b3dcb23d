// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"

#include "weft/partition/iterated_critical_path.hpp"

#include <doctest/doctest.h>

namespace partition_iterated_critical_path_test {

using namespace weft;
using partition::iterated_critical_path;
using test::place;

TEST_CASE("iterated_critical_path: path after path, each where least is assigned") {
  // Paths: 0 2 3 (16), then 0 1 3 over what is left (14), then 0 4 (5).
  const workload w = test::ops_of({2, 4, 6, 8, 3}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {0, 4}}).build();
  const auto two = test::equal_devices(2);
  CHECK(place(iterated_critical_path{}, problem{w, two}) == placement{0, 1, 0, 0, 1});
  const auto three = test::equal_devices(3);
  CHECK(place(iterated_critical_path{}, problem{w, three}) == placement{0, 1, 0, 0, 2});
}

TEST_CASE("iterated_critical_path: on devices of different speed, the piece itself counts as assigned") {
  // 10 units in 10, 2.5 or 5 seconds; then 4 units in 4, 2.5 + 1 or 2; then 3 units in 3, 3.25 or 3.5.
  const workload w = test::ops_of({10, 4, 3}, {}).build();
  const platform<uniform_links> q{{{.speed = 1}, {.speed = 4}, {.speed = 2}}, {}};
  CHECK(place(iterated_critical_path{}, problem{w, q}) == placement{1, 2, 0});
}

TEST_CASE("iterated_critical_path: an op on several paths is cut out of all but the first") {
  // 0 -> 1 -> 2 -> 3 -> 4 is the longest; then 5 -> 2 -> 6: two pieces, before and after 2.
  const workload w = test::ops_of({1, 1, 9, 1, 1, 1, 1}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {5, 2}, {2, 6}}).build();
  const auto q = test::equal_devices(3);
  const auto where = place(iterated_critical_path{}, problem{w, q});
  CHECK(where == placement{0, 0, 0, 0, 0, 2, 1}); // paths are taken from their end
}

TEST_CASE("iterated_critical_path: a path is cut where no kind suits both sides") {
  workload_builder b;
  for (const kind_set kinds : {kind_set{device_kind::cpu}, kind_set::all(), kind_set{device_kind::gpu}}) {
    b.add_op({.work = 1, .bytes = 0, .kinds = kinds});
  }
  b.add_edge(0, 1);
  b.add_edge(1, 2);
  const workload w = std::move(b).build();
  const platform<uniform_links> q{{{.kind = device_kind::cpu}, {.kind = device_kind::gpu}}, {}};
  CHECK(place(iterated_critical_path{}, problem{w, q}) == placement{0, 1, 1}); // from its end: 2 and 1, then 0
}

TEST_CASE("iterated_critical_path: a piece that fits nowhere is cut in two of about equal demand") {
  workload_builder b;
  for (const byte_count bytes : {10u, 10u, 10u, 10u}) {
    b.add_op({.work = 1, .bytes = 0, .resident_bytes = bytes});
  }
  b.add_edge(0, 1);
  b.add_edge(1, 2);
  b.add_edge(2, 3);
  const workload w = std::move(b).build();
  const auto large = test::equal_devices(4, {.memory_capacity = 40});
  CHECK(place(iterated_critical_path{}, problem{w, large}) == placement{0, 0, 0, 0});
  const auto half = test::equal_devices(4, {.memory_capacity = 39});
  CHECK(place(iterated_critical_path{}, problem{w, half}) == placement{1, 1, 0, 0});
  const auto small = test::equal_devices(4, {.memory_capacity = 10});
  CHECK(place(iterated_critical_path{}, problem{w, small}) == placement{3, 2, 1, 0});
}

TEST_CASE("iterated_critical_path: components go with the first of their ops that a path meets") {
  auto b = test::ops_of({9, 9, 1, 1}, {{0, 1}, {2, 3}});
  b.colocate(1, 2);
  const workload w = std::move(b).build();
  const auto q = test::equal_devices(2);
  CHECK(place(iterated_critical_path{}, problem{w, q}) == placement{0, 0, 0, 1});
}

} // namespace partition_iterated_critical_path_test
