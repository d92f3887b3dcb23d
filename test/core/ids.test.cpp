// SPDX-License-Identifier: BSL-1.0
#include "weft/core/ids.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <vector>

namespace core_ids_test {

static_assert(std::ranges::sized_range<weft::id_range>);
static_assert(std::random_access_iterator<weft::id_range::iterator>);
static_assert(std::is_same_v<std::ranges::range_value_t<weft::id_range>, weft::op_id>);

constexpr std::uint32_t sum(weft::id_range range) {
  std::uint32_t total = 0;
  for (const auto id : range) {
    total += id;
  }
  return total;
}
static_assert(sum(weft::ids(5)) == 10);
static_assert(sum(weft::id_range{3, 6}) == 12);
static_assert(sum(weft::ids(0)) == 0);
static_assert(weft::id_range{3, 6}.size() == 3);
static_assert(weft::id_range{}.empty() && !weft::ids(1).empty());

TEST_CASE("ids: a range counts up") {
  const weft::id_range range{2, 6};
  CHECK(std::vector<weft::op_id>(range.begin(), range.end()) == std::vector<weft::op_id>{2, 3, 4, 5});
  CHECK(range.front() == 2);
  CHECK(range.back() == 5);
  CHECK(range[1] == 3);
}

TEST_CASE("ids: iterators jump and compare like pointers") {
  const weft::id_range range{10, 20};
  auto i = range.begin();
  CHECK(*i++ == 10);
  CHECK(*i == 11);
  CHECK(*++i == 12);
  CHECK(*i-- == 12);
  CHECK(*--i == 10);
  i += 7;
  CHECK(*i == 17);
  i -= 2;
  CHECK(*i == 15);
  CHECK(i[3] == 18);
  CHECK(*(i + 1) == 16);
  CHECK(*(1 + i) == 16);
  CHECK(*(i - 5) == 10);
  CHECK(range.end() - range.begin() == 10);
  CHECK(range.begin() - range.end() == -10);
  CHECK(range.begin() < i);
  CHECK(*std::ranges::lower_bound(range, 14u) == 14);
}

TEST_CASE("ids: ranges work with the standard views") {
  std::vector<weft::op_id> odd;
  for (const auto v : weft::ids(8) | std::views::filter([](weft::op_id id) { return id % 2 == 1; }) |
                        std::views::reverse) {
    odd.push_back(v);
  }
  CHECK(odd == std::vector<weft::op_id>{7, 5, 3, 1});
}

TEST_CASE("ids: the last id below `none` can be part of a range") {
  const weft::id_range range{weft::none - 2, weft::none};
  CHECK(range.size() == 2);
  CHECK(range.back() == weft::none - 1);
}

TEST_CASE("ids: numbers that are no ids become `none`") {
  CHECK(weft::to_id(std::size_t{7}) == 7);
  CHECK(weft::to_id(std::int64_t{7}) == 7);
  CHECK(weft::to_id(std::uint64_t{weft::none} - 1) == weft::none - 1);
  CHECK(weft::to_id(std::uint64_t{1} << 32) == weft::none);
  CHECK(weft::to_id((std::int64_t{1} << 32) + 3) == weft::none);
  CHECK(weft::to_id(std::int64_t{-1}) == weft::none);
  CHECK(weft::to_id(-1) == weft::none);
  CHECK(weft::to_id(short{3}) == 3);
}

} // namespace core_ids_test
