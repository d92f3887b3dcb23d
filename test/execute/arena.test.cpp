// SPDX-License-Identifier: BSL-1.0
#include "weft/execute/arena.hpp"

#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace execute_arena_test {

using namespace weft;
using execute::lifetime;

void check_disjoint(const std::vector<lifetime>& all, const execute::arena_layout& l) {
  const auto is_empty = [&](std::size_t i) { return all[i].bytes == 0 || all[i].begin == all[i].end; };
  for (std::size_t i = 0; i < all.size(); ++i) {
    REQUIRE((is_empty(i) || l.offset[i] + all[i].bytes <= l.bytes));
    for (std::size_t j = 0; j < i && !is_empty(i); ++j) {
      if (!is_empty(j) && all[i].begin < all[j].end && all[j].begin < all[i].end) {
        REQUIRE((l.offset[i] + all[i].bytes <= l.offset[j] || l.offset[j] + all[j].bytes <= l.offset[i]));
      }
    }
  }
}

TEST_CASE("lay_out: lives one after the other share a place") {
  const std::vector<lifetime> all{{0, 2, 100}, {2, 4, 100}, {1, 3, 50}, {4, 4, 1000}, {0, 9, 0}};
  const auto l = execute::lay_out(all, 1);
  CHECK(l.bytes == 150);
  CHECK(l.live_bytes == 150);
  CHECK(l.offset[0] == l.offset[1]);
  check_disjoint(all, l);
  const auto aligned = execute::lay_out(all, 64);
  CHECK(aligned.bytes == 192);
  CHECK(aligned.live_bytes == 192);
  for (const auto offset : aligned.offset) {
    CHECK(offset % 64 == 0);
  }
  CHECK(execute::lay_out({}, 64).bytes == 0);
}

TEST_CASE("lay_out: what best fit over time cannot do") {
  // The small one must not go to the bottom, where the large one needs all the room later.
  const std::vector<lifetime> all{{0, 2, 30}, {1, 4, 10}, {2, 5, 40}, {3, 6, 10}};
  const auto l = execute::lay_out(all, 1);
  CHECK(l.live_bytes == 60);
  CHECK(l.bytes == 60);
  check_disjoint(all, l);
}

TEST_CASE("lay_out: what needs a skyline, or a second attempt") {
  const std::vector<lifetime> skyline{{4, 8, 2}, {3, 6, 2}, {1, 5, 5}, {1, 6, 4}, {3, 7, 4},
                                      {0, 1, 1}, {5, 9, 4}, {3, 6, 1}, {5, 10, 3}};
  const std::vector<lifetime> repeated{{0, 4, 2}, {1, 5, 1}, {0, 1, 4}, {4, 6, 3}, {3, 7, 5}, {5, 8, 5}, {1, 5, 4}};
  for (const auto& all : {skyline, repeated}) {
    const auto l = execute::lay_out(all, 1);
    CHECK(l.bytes == l.live_bytes);
    check_disjoint(all, l);
  }
}

TEST_CASE("lay_out: random lives, few and many") {
  rng random{1};
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<lifetime> all(random.below(60));
    for (auto& x : all) {
      x.begin = random.below(50);
      x.end = x.begin + random.below(20);
      x.bytes = random.below(4) == 0 ? 0 : random.below(1000);
    }
    const auto l = execute::lay_out(all, 8);
    CHECK(l.bytes >= l.live_bytes);
    CHECK(l.bytes <= 2 * l.live_bytes);
    check_disjoint(all, l);
  }
  std::vector<lifetime> many(40'000); // so many that only one layout is made
  for (std::uint32_t i = 0; i < many.size(); ++i) {
    many[i] = {i, i + 1 + random.below(40), 1 + random.below(1000)};
  }
  const auto l = execute::lay_out(many, 1);
  CHECK(l.bytes >= l.live_bytes);
  CHECK(l.bytes <= 2 * l.live_bytes);
}

} // namespace execute_arena_test
