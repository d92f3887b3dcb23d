// SPDX-License-Identifier: BSL-1.0
#include "weft/allocate/lay_out.hpp"

#include "support/offsets.hpp"
#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace allocate_lay_out_test {

using namespace weft;
using allocate::lifetime;

void check(const std::vector<lifetime>& all, const allocate::allocation& l) {
  CHECK(weft_test::wrong_with(all, l.offsets, l.bytes) == "");
}

TEST_CASE("lay_out: lives one after the other share a place") {
  const std::vector<lifetime> all{{0, 2, 100}, {2, 4, 100}, {1, 3, 50}, {4, 4, 1000}, {0, 9, 0}};
  const auto l = allocate::lay_out(all);
  CHECK(l.bytes == 150);
  CHECK(l.bound == 150);
  CHECK(l.offsets[0] == l.offsets[1]);
  check(all, l);
  auto at_lines = all;
  for (auto& x : at_lines) {
    x.alignment = 64;
  }
  const auto aligned = allocate::lay_out(at_lines);
  CHECK(aligned.bytes == 164); // 50 at the bottom, 100 at 64
  CHECK(aligned.bound == 150);
  check(at_lines, aligned);
  CHECK(allocate::lay_out({}).bytes == 0);
}

TEST_CASE("lay_out: what lies over another lives in its place") {
  std::vector<lifetime> all{{4, 6, 8}, {0, 2, 8}, {2, 4, 8}, {0, 3, 5}, {1, 9, 4}, {6, 7, 2}};
  const auto first = allocate::join_in_place(std::vector<std::uint32_t>{2, none, 1, none, none, 0}, all);
  CHECK(first == std::vector<std::uint32_t>{1, 1, 1, 3, 4, 1});
  CHECK(all == std::vector<lifetime>{{4, 6, 0}, {0, 7, 8}, {2, 4, 0}, {0, 3, 5}, {1, 9, 4}, {6, 7, 0}});
}

TEST_CASE("lay_out: what best fit over time cannot do") {
  // The small one must not go to the bottom, where the large one needs all the room later.
  const std::vector<lifetime> all{{0, 2, 30}, {1, 4, 10}, {2, 5, 40}, {3, 6, 10}};
  const auto l = allocate::lay_out(all);
  CHECK(l.bound == 60);
  CHECK(l.bytes == 60);
  check(all, l);
}

TEST_CASE("lay_out: what needs a skyline, or a second attempt") {
  const std::vector<lifetime> skyline{{4, 8, 2}, {3, 6, 2}, {1, 5, 5}, {1, 6, 4}, {3, 7, 4},
                                      {0, 1, 1}, {5, 9, 4}, {3, 6, 1}, {5, 10, 3}};
  const std::vector<lifetime> repeated{{0, 4, 2}, {1, 5, 1}, {0, 1, 4}, {4, 6, 3}, {3, 7, 5}, {5, 8, 5}, {1, 5, 4}};
  for (const auto& all : {skyline, repeated}) {
    const auto l = allocate::lay_out(all);
    CHECK(l.bytes == l.bound);
    check(all, l);
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
      x.alignment = repeat < 100 ? 1 : 1 + random.below(9);
    }
    const auto l = allocate::lay_out(all);
    CHECK(l.bytes >= l.bound);
    CHECK(l.bytes <= 2 * l.bound + 10);
    check(all, l);
  }
  std::vector<lifetime> many(40'000); // so many that only one layout is made
  for (std::uint32_t i = 0; i < many.size(); ++i) {
    many[i] = {i, i + 1 + random.below(40), 1 + random.below(1000)};
  }
  const auto l = allocate::lay_out(many);
  CHECK(l.bytes >= l.bound);
  CHECK(l.bytes <= 2 * l.bound);
}

} // namespace allocate_lay_out_test
