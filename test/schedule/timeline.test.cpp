// SPDX-License-Identifier: BSL-1.0
#include "weft/schedule/timeline.hpp"

#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace schedule_timeline_test {

using weft::schedule::timeline;

TEST_CASE("timeline: an empty one is free at once") {
  timeline t;
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

TEST_CASE("timeline: with thousands of gaps, the same as looking at all of them") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    weft::rng random{seed};
    timeline t;
    std::vector<weft::schedule::interval> gaps; // ascending
    double end = 0;
    for (int i = 0; i < 1500; ++i) {
      const bool late = random.below(100) < 30 + 10 * (seed % 7);
      const double ready = late                      ? end + random.below(20)
                           : random.uniform() < 0.3 ? 0
                                                    : random.below(static_cast<std::size_t>(end) + 1);
      const double duration = random.below(5) == 0 ? 0 : static_cast<double>(random.below(16)) / 2;
      double expected = std::max(ready, end);
      std::size_t in = gaps.size();
      for (std::size_t g = 0; g < gaps.size() && in == gaps.size(); ++g) {
        if (std::max(ready, gaps[g].start) + duration <= gaps[g].finish) {
          expected = std::max(ready, gaps[g].start);
          in = g;
        }
      }
      if (ready == 0 && duration == 0) {
        expected = 0;
      }
      const double start = t.earliest_gap(ready, duration);
      REQUIRE(start == expected);
      CHECK((gaps.empty() || t.last_gap() == gaps.back().finish));
      t.reserve(start, start + duration);
      if (in < gaps.size() && start >= gaps[in].start) {
        const auto old = gaps[in];
        gaps.erase(gaps.begin() + static_cast<std::ptrdiff_t>(in));
        auto at = gaps.begin() + static_cast<std::ptrdiff_t>(in);
        if (start + duration < old.finish) {
          at = gaps.insert(at, {start + duration, old.finish});
        }
        if (old.start < start) {
          gaps.insert(at, {old.start, start});
        }
      } else if (start >= end) {
        if (start > end) {
          gaps.push_back({end, start});
        }
        end = start + duration;
      }
      REQUIRE(t.end() == end);
    }
  }
}

} // namespace schedule_timeline_test
