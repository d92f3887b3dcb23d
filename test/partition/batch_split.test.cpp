// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"

#include "weft/partition/batch_split.hpp"

#include <doctest/doctest.h>

namespace partition_batch_split_test {

using namespace weft;
using test::place;

TEST_CASE("batch_split: batches of falling importance") {
  // Importances: 0, 1, 3 lie on the path of 16; 2 on one of 9; 4 and 5 are alone with 3 and 5.
  const workload w = test::ops_of({2, 6, 1, 8, 3, 5}, {{0, 1}, {1, 3}, {2, 3}}).build();
  const auto two = test::equal_devices(2);
  CHECK(place(partition::batch_split{}, problem{w, two}) == placement{0, 0, 1, 0, 1, 1});
  const auto three = test::equal_devices(3);
  CHECK(place(partition::batch_split{}, problem{w, three}) == placement{0, 0, 1, 1, 2, 2});
  const auto four = test::equal_devices(4); // positions 0 to 5 over batches of 1.5: 0, 0, 1, 2, 2, 3
  CHECK(place(partition::batch_split{}, problem{w, four}) == placement{0, 0, 2, 1, 3, 2});
}

TEST_CASE("batch_split: ties in importance go by ascending id") {
  const workload w = test::ops_of({1, 1, 1, 1}, {}).build();
  const auto q = test::equal_devices(2);
  CHECK(place(partition::batch_split{}, problem{w, q}) == placement{0, 0, 1, 1});
}

TEST_CASE("batch_split: batches end where single precision says") {
  // 16 / 14 as a float is a little more than 8 / 7, so that position 8 is still before the seventh batch.
  const workload w = test::ops_of({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {}).build();
  const auto q = test::equal_devices(14);
  CHECK(place(partition::batch_split{}, problem{w, q}) ==
        placement{0, 0, 1, 2, 3, 4, 5, 6, 6, 7, 8, 9, 10, 11, 12, 13});
}

TEST_CASE("batch_split: an op takes its component along, and a device that does not fit is passed over") {
  auto b = test::ops_of({9, 8, 7, 6}, {}, 10);
  b.colocate(0, 3);
  const workload w = std::move(b).build();
  const platform<uniform_links> q{{{.memory_capacity = 25}, {.memory_capacity = 5}, {.memory_capacity = 20}}, {}};
  // 0 and 3 go to device 0, which has 5 bytes left; 1 belongs there, too, but fits only on 2; so does 2.
  CHECK(place(partition::batch_split{}, problem{w, q}) == placement{0, 2, 2, 0});
}

TEST_CASE("batch_split: passing over wraps around") {
  const workload w = test::ops_of({9, 8}, {}, 10).build();
  const platform<uniform_links> q{{{.memory_capacity = 20}, {.memory_capacity = 5}}, {}};
  CHECK(place(partition::batch_split{}, problem{w, q}) == placement{0, 0});
}

TEST_CASE("batch_split: more devices than ops") {
  const workload w = test::ops_of({3, 2}, {}).build();
  const auto q = test::equal_devices(5); // batches of 0.4: positions 0 and 1 are 0 and 2.5
  CHECK(place(partition::batch_split{}, problem{w, q}) == placement{0, 2});
}

} // namespace partition_batch_split_test
