// SPDX-License-Identifier: BSL-1.0
// expect: seconds_must_outlive_the_table
#include "weft/cost/table.hpp"

#include <vector>

auto times() {
#ifdef WEFT_COMPILE_FAIL
  return weft::cost::table{std::vector<double>(6, 1.0), 3, 2};
#else
  static const std::vector<double> seconds(6, 1.0);
  return weft::cost::table{seconds, 3, 2};
#endif
}
