// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"

#include "weft/partition/least_loaded.hpp"

#include <doctest/doctest.h>

namespace partition_least_loaded_test {

using namespace weft;
using test::place;

TEST_CASE("least_loaded: each op where least is to be done") {
  const workload w = test::ops_of({5, 3, 1, 4}, {{0, 3}}).build();
  const auto q = test::equal_devices(2);
  CHECK(place(partition::least_loaded{}, problem{w, q}) == placement{0, 1, 1, 1});
}

} // namespace partition_least_loaded_test
