// SPDX-License-Identifier: BSL-1.0
#include "weft/bound/group_load.hpp"

#include "weft/cost/table.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <array>

namespace bound_group_load_test {

const weft::platform<weft::uniform_links> two{{{.speed = 1}, {.speed = 2}}, {}};

/// Three ops of work 6 in one group.
weft::workload_builder trio() {
  weft::workload_builder b;
  for (int i = 0; i < 3; ++i) {
    b.add_op({.work = 6, .bytes = 0});
  }
  b.colocate(0, 1);
  b.colocate(1, 2);
  return b;
}

double bound_of(weft::workload_builder b, const weft::platform<weft::uniform_links>& platform) {
  const weft::workload w = std::move(b).build();
  return weft::bound::group_load(weft::problem{w, platform});
}

TEST_CASE("bound::group_load: a group on its best device") {
  CHECK(bound_of(trio(), two) == 18 / 2);
}

TEST_CASE("bound::group_load: what comes before all members and after all members counts") {
  auto b = trio();
  const auto first = b.add_op({.work = 2, .bytes = 0});
  const auto last = b.add_op({.work = 4});
  for (weft::op_id v = 0; v < 3; ++v) {
    b.add_edge(first, v);
    b.add_edge(v, last);
  }
  CHECK(bound_of(std::move(b), two) == 1 + 9 + 2);
}

TEST_CASE("bound::group_load: what comes before some members counts if they are enough to do") {
  auto b = trio();
  const auto first = b.add_op({.work = 8, .bytes = 0});
  b.add_edge(first, 0);
  b.add_edge(first, 1);
  CHECK(bound_of(std::move(b), two) == 4 + 6); // the third runs meanwhile
}

TEST_CASE("bound::group_load: slots share the load, but not a chain of members") {
  const weft::platform<weft::uniform_links> wide{{{.slots = 2}}, {}};
  CHECK(bound_of(trio(), wide) == 9);
  auto b = trio();
  b.add_edge(0, 1);
  b.add_edge(1, 2);
  CHECK(bound_of(std::move(b), wide) == 18);
}

TEST_CASE("bound::group_load: one device for all members, though each would prefer another") {
  weft::workload_builder b;
  b.add_op({.work = 1});
  b.add_op({.work = 1});
  b.colocate(0, 1);
  const weft::workload w = std::move(b).build();
  constexpr std::array seconds{1.0, 9.0, 10.0, 1.0};
  CHECK(weft::bound::group_load(weft::problem{w, two, weft::cost::table{seconds, 2, 2}}) == 10);
}

TEST_CASE("bound::group_load: nothing without groups") {
  weft::workload_builder b;
  b.add_op({.work = 5});
  CHECK(bound_of(std::move(b), two) == 0);
}

TEST_CASE("bound::group_load: the heaviest group, wherever it comes") {
  for (const bool heavy_first : {true, false}) {
    weft::workload_builder b;
    for (int i = 0; i < 4; ++i) {
      b.add_op({.work = (i < 2) == heavy_first ? 20.0 : 3.0});
    }
    b.colocate(0, 1);
    b.colocate(2, 3);
    CHECK(bound_of(std::move(b), two) == 20);
  }
}

} // namespace bound_group_load_test
