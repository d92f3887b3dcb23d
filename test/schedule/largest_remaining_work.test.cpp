// SPDX-License-Identifier: BSL-1.0
#include "schedule/small_flow.hpp"

#include "weft/schedule/largest_remaining_work.hpp"

#include <doctest/doctest.h>

namespace schedule_largest_remaining_work_test {

using namespace weft;
using test::five_ops;
using test::keys_of;

TEST_CASE("largest_remaining_work: work units to a sink, wherever the ops are") {
  const five_ops s{10};
  const std::vector<double> of_ops{16, 12, 14, 8, 3};
  CHECK(keys_of(schedule::largest_remaining_work{}, s.p, {0, 0, 0, 0, 0}) == of_ops);
  CHECK(keys_of(schedule::largest_remaining_work{}, s.p, {1, 1, 1, 1, 1}) == of_ops);
}

TEST_CASE("largest_remaining_work: a send counts the best of the consumers that it reaches") {
  const five_ops s{10};
  CHECK(keys_of(schedule::largest_remaining_work{}, s.p, s.where) == std::vector<double>{16, 12, 14, 8, 3, 12, 8});
  CHECK(keys_of(schedule::largest_remaining_work{}, s.p, {0, 1, 1, 1, 1}) == std::vector<double>{16, 12, 14, 8, 3, 14});
}

} // namespace schedule_largest_remaining_work_test
