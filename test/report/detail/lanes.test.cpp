// SPDX-License-Identifier: BSL-1.0
#include "weft/report/detail/lanes.hpp"

#include <doctest/doctest.h>

namespace report_detail_lanes_test {

using weft::report::detail::assign_lanes;

TEST_CASE("assign_lanes: what overlaps is apart, what follows is together") {
  const std::vector<std::pair<int, int>> intervals{{5, 9}, {0, 5}, {1, 3}, {3, 4}, {2, 6}};
  const auto [lane, count] = assign_lanes(intervals);
  CHECK(count == 3);
  CHECK(lane == std::vector<std::uint32_t>{0, 0, 1, 1, 2});
}

TEST_CASE("assign_lanes: an empty interval shares the moment in which its neighbours meet") {
  const std::vector<std::pair<int, int>> intervals{{0, 2}, {2, 2}, {2, 4}, {2, 2}};
  const auto [lane, count] = assign_lanes(intervals);
  CHECK(count == 1);
  CHECK(lane == std::vector<std::uint32_t>{0, 0, 0, 0});
  CHECK(assign_lanes(std::vector<std::pair<int, int>>{}).second == 0);
}

} // namespace report_detail_lanes_test
