// SPDX-License-Identifier: BSL-1.0
#include "weft/core/time_grid.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

namespace core_time_grid_test {

constexpr double unit_of(std::initializer_list<double> times, double largest = 1000) {
  weft::time_grid g;
  for (const double t : times) {
    g.add(t);
  }
  return g.unit(largest);
}

TEST_CASE("time_grid: the largest unit of which all times are multiples") {
  static_assert(unit_of({6, 9, 0, 15}) == 3);
  static_assert(unit_of({1.5, 2}) == 0.5);
  static_assert(unit_of({}) == 0);
  static_assert(unit_of({0}) == 0);
  static_assert(unit_of({1, 0.1}) == 0);           // 0.1 is no multiple of any useful unit
  static_assert(unit_of({1}, 1e9) == 0);           // too small to be told from rounding
  static_assert(unit_of({1, std::numeric_limits<double>::infinity()}) == 0);
  static_assert(unit_of({1e-3 * 1024, 0x1p60}) == 0);
  static_assert(weft::round_up(7.2, 3) == 9);
  static_assert(weft::round_up(6.0000001, 3) == 6); // a rounding error
  static_assert(weft::round_up(7.2, 0) == 7.2);
  CHECK(unit_of({6, 9, 0, 15}) == 3); // at run time, too
  CHECK(weft::round_up(7.2, 3) == 9);
}

} // namespace core_time_grid_test
