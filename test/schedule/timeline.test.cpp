// SPDX-License-Identifier: BSL-1.0
#include "weft/schedule/timeline.hpp"

#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace {

using weft::schedule::timeline;

TEST_CASE("timeline: an empty one is free at once") {
  const timeline t;
  CHECK(t.end() == 0);
  CHECK(t.earliest_gap(3, 10) == 3);
}

TEST_CASE("timeline: gaps between busy stretches") {
  timeline t;
  t.reserve(10, 12);
  t.reserve(2, 5);
  t.reserve(7, 8);
  CHECK(t.end() == 12);
  CHECK(t.earliest_gap(0, 2) == 0); // ends when the first begins
  CHECK(t.earliest_gap(0, 2.5) == 12);
  CHECK(t.earliest_gap(1, 2) == 5);
  CHECK(t.earliest_gap(5.5, 2) == 8);
  CHECK(t.earliest_gap(5, 2) == 5);
  CHECK(t.earliest_gap(9, 1) == 9);
  CHECK(t.earliest_gap(3, 0) == 5); // inside a busy stretch not even for no time
  CHECK(t.earliest_gap(20, 1) == 20);
}

TEST_CASE("timeline: the earliest gap is the first start at which nothing is in the way") {
  weft::rng random{5};
  for (int round = 0; round < 200; ++round) {
    timeline t;
    std::vector<bool> busy(80, false); // by unit of time
    for (int i = 0; i < 8; ++i) {
      const std::size_t length = 1 + random.below(5);
      const auto start = static_cast<std::size_t>(t.earliest_gap(random.below(40), static_cast<double>(length)));
      REQUIRE(start + length <= busy.size());
      for (std::size_t x = start; x < start + length; ++x) {
        REQUIRE_FALSE(busy[x]);
        busy[x] = true;
      }
      t.reserve(static_cast<double>(start), static_cast<double>(start + length));
    }
    const std::size_t ready = random.below(40);
    const std::size_t length = 1 + random.below(6);
    std::size_t expected = ready;
    for (std::size_t x = ready; x < busy.size() && x < expected + length; ++x) {
      expected = busy[x] ? x + 1 : expected;
    }
    CHECK(t.earliest_gap(static_cast<double>(ready), static_cast<double>(length)) == static_cast<double>(expected));
  }
}

} // namespace
