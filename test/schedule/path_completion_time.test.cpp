// SPDX-License-Identifier: BSL-1.0
#include "schedule/small_flow.hpp"

#include "weft/schedule/path_completion_time.hpp"

#include <doctest/doctest.h>

namespace schedule_path_completion_time_test {

using namespace weft;
using test::five_ops;
using test::keys_of;

TEST_CASE("path_completion_time: keys worked out by hand, with sends of 10 units") {
  // d 8/2 = 4, b 4/2 + 4 = 6, e 3.
  // c's send: 10 on the sender, 1 + 4/4 on the link, 10/2 to receive on device 1, then d: 10 + 2 + 5 + 4 = 21.
  // a's send: 10 + 3 + 5 + 6 = 24. c 6 + 21 = 27; a 2 + max(27, 3, 24) = 29.
  const five_ops s{10};
  CHECK(keys_of(schedule::path_completion_time{}, s.p, s.where) == std::vector<double>{29, 6, 27, 4, 3, 24, 21});
}

TEST_CASE("path_completion_time: without sends there is no receive") {
  // c's transfer: 2 + 4, c 12; a's transfer 3 + 6; a 14.
  const five_ops s{0};
  CHECK(keys_of(schedule::path_completion_time{}, s.p, s.where) == std::vector<double>{14, 6, 12, 4, 3, 9, 6});
}

TEST_CASE("path_completion_time: on one device, only compute times count") {
  const five_ops s{10};
  CHECK(keys_of(schedule::path_completion_time{}, s.p, {0, 0, 0, 0, 0}) == std::vector<double>{16, 12, 14, 8, 3});
  CHECK(keys_of(schedule::path_completion_time{}, s.p, {1, 1, 1, 1, 1}) == std::vector<double>{8, 6, 7, 4, 1.5});
}

TEST_CASE("path_completion_time: a transfer counts the most urgent of its consumers") {
  const five_ops s{10};
  // All but a on device 1: b 2 + 4 = 6, c 3 + 4 = 7, e 1.5; one send, 10 + 3 + 5 + 7 = 25; a 27.
  CHECK(keys_of(schedule::path_completion_time{}, s.p, {0, 1, 1, 1, 1}) == std::vector<double>{27, 6, 7, 4, 1.5, 25});
}

} // namespace schedule_path_completion_time_test
