// SPDX-License-Identifier: BSL-1.0
#include "weft/bound/lower_bound.hpp"

#include <doctest/doctest.h>

namespace bound_lower_bound_test {

TEST_CASE("lower_bound: names of the rules") {
  using rule = weft::lower_bound::rule;
  CHECK(to_string(rule::critical_path) == "critical_path");
  CHECK(to_string(rule::communication_path) == "communication_path");
  CHECK(to_string(rule::area) == "area");
  CHECK(to_string(rule::group_load) == "group_load");
  CHECK(to_string(rule::windows) == "windows");
  CHECK(to_string(rule::search) == "search");
}

} // namespace bound_lower_bound_test
