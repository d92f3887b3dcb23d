// SPDX-License-Identifier: BSL-1.0
#include "weft/core/reversed.hpp"
#include "weft/core/sort.hpp"

#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace core_sort_test {

struct item {
  std::uint32_t key;
  std::uint32_t place; // before
  friend bool operator==(const item&, const item&) = default;
};
constexpr auto by_key = [](const item& a, const item& b) { return a.key < b.key; };

TEST_CASE("sort: as std::sort does, stable_sort as std::stable_sort, on random sizes and numbers of ties") {
  weft::rng random{1};
  for (int round = 0; round < 3000; ++round) {
    std::vector<item> a(random.below(round % 10 == 0 ? 2000 : 60), item{});
    const auto keys = 1 + random.below(round % 3 == 0 ? 5 : 100'000);
    for (std::uint32_t i = 0; i < a.size(); ++i) {
      a[i] = {static_cast<std::uint32_t>(random.below(keys)), i};
    }
    auto sorted = a;
    weft::sort(sorted, by_key);
    CHECK(std::is_sorted(sorted.begin(), sorted.end(), by_key));
    auto places = sorted;
    weft::sort(places, [](const item& x, const item& y) { return x.place < y.place; });
    CHECK(places == a);
    auto stable = a;
    weft::stable_sort(stable, by_key);
    std::stable_sort(a.begin(), a.end(), by_key);
    CHECK(stable == a);
  }
}

TEST_CASE("sort: orders that make quicksort slow") {
  // With the median of three this order needs n² / 4 steps (Musser 1997), so heap sort ends it.
  const std::uint32_t n = 20'000;
  std::vector<std::uint32_t> a;
  for (std::uint32_t i = 1; i <= n / 2; ++i) {
    a.push_back(i % 2 == 1 ? i : n / 2 + i - 1);
  }
  for (std::uint32_t i = 1; i <= n / 2; ++i) {
    a.push_back(2 * i);
  }
  std::uint64_t compared = 0;
  weft::sort(a, [&](std::uint32_t x, std::uint32_t y) { return ++compared, x < y; });
  CHECK(std::is_sorted(a.begin(), a.end()));
  CHECK(compared < 100 * n);
}

TEST_CASE("sort: sorted, reversed and equal elements; what can only be moved; other orders") {
  std::vector<int> up(1000);
  for (int i = 0; i < 1000; ++i) {
    up[static_cast<std::size_t>(i)] = i;
  }
  auto down = up;
  std::reverse(down.begin(), down.end());
  auto x = down;
  weft::sort(x);
  CHECK(x == up);
  weft::sort(x, weft::descending);
  CHECK(x == down);
  std::vector<int> same(1000, 7);
  weft::sort(same);
  CHECK(same == std::vector<int>(1000, 7));
  std::vector<std::string> words{"b", "c", "a"};
  weft::sort(words);
  CHECK(words == std::vector<std::string>{"a", "b", "c"});
  std::vector<int> none;
  weft::sort(none);
  weft::stable_sort(none);
  CHECK(none.empty());
}

constexpr bool sorts_at_compile_time() {
  std::array<int, 40> a{};
  for (int i = 0; i < 40; ++i) {
    a[static_cast<std::size_t>(i)] = (i * 17) % 40;
  }
  auto b = a;
  weft::sort(a);
  weft::stable_sort(b);
  for (int i = 0; i < 40; ++i) {
    if (a[static_cast<std::size_t>(i)] != i || b[static_cast<std::size_t>(i)] != i) {
      return false;
    }
  }
  return true;
}
static_assert(sorts_at_compile_time());

TEST_CASE("sort_unique: what a set of the elements has") {
  weft::rng random{2};
  for (std::size_t size = 0; size < 60; ++size) {
    std::vector<std::string> list;
    for (std::size_t i = 0; i < size; ++i) {
      list.push_back(std::string(40, 'x') + std::to_string(random.below(20)));
    }
    const std::set<std::string> expected(list.begin(), list.end());
    weft::sort_unique(list);
    CHECK(list == std::vector<std::string>(expected.begin(), expected.end()));
  }
}

TEST_CASE("reversed: the last element first") {
  const std::vector<int> a{1, 2, 3};
  std::vector<int> seen;
  for (const int x : weft::reversed(a)) {
    seen.push_back(x);
  }
  CHECK(seen == std::vector{3, 2, 1});
  std::vector<int> changed{1, 2};
  for (int& x : weft::reversed(changed)) {
    x *= 10;
  }
  CHECK(changed == std::vector{10, 20});
}

} // namespace core_sort_test
