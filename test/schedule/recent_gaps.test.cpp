// SPDX-License-Identifier: BSL-1.0
#include "weft/schedule/recent_gaps.hpp"

#include "weft/core/random.hpp"
#include "weft/schedule/timeline.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace schedule_recent_gaps_test {

using weft::schedule::recent_gaps;

TEST_CASE("recent_gaps: an empty one is free at once") {
  const recent_gaps<4> g;
  CHECK(g.end() == 0);
  CHECK(g.last_gap() < 0);
  CHECK(g.earliest_gap(3, 10) == 3);
}

TEST_CASE("recent_gaps: while nothing is lost, what a timeline finds") {
  weft::rng random{3};
  for (int round = 0; round < 500; ++round) {
    recent_gaps<64> g;
    weft::schedule::timeline all;
    for (int i = 0; i < 60; ++i) {
      const double ready = random.below(100);
      const double duration = 1 + random.below(6);
      const double start = g.earliest_gap(ready, duration);
      REQUIRE(start == all.earliest_gap(ready, duration));
      g.reserve(start, start + duration);
      all.reserve(start, start + duration);
      REQUIRE(g.end() == all.end());
      REQUIRE(g.last_gap() == all.last_gap());
    }
  }
}

TEST_CASE("recent_gaps: the first gaps are lost, and what is found is free") {
  recent_gaps<2> g;
  g.reserve(1, 2);
  g.reserve(4, 5);
  CHECK(g.earliest_gap(0, 1) == 0);
  g.reserve(9, 10); // [0, 1) is lost
  CHECK(g.earliest_gap(0, 1) == 2);
  g.reserve(6, 7); // parts [5, 9), and [2, 4) is lost
  CHECK(g.earliest_gap(0, 1) == 5);
  CHECK(g.earliest_gap(0, 2) == 7);
  CHECK(g.earliest_gap(0, 3) == 10);
  g.reserve(5, 6);
  g.reserve(7, 9);
  CHECK(g.last_gap() < 0);
  CHECK(g.earliest_gap(0, 0) == 10);
}

TEST_CASE("recent_gaps: what takes no time keeps a gap apart, and needs one itself") {
  recent_gaps<4> g;
  g.reserve(0, 2);
  CHECK(g.earliest_gap(0, 0) == 2);
  CHECK(g.earliest_gap(1, 0) == 2);
  g.reserve(6, 7);
  g.reserve(4, 4);
  CHECK(g.earliest_gap(2, 3) == 7);
  CHECK(g.earliest_gap(2, 2) == 2);
  CHECK(g.earliest_gap(5, 1) == 5);
}

} // namespace schedule_recent_gaps_test
