// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"

#include "weft/partition/divide_successors.hpp"

#include <doctest/doctest.h>

#include <set>

namespace partition_divide_successors_test {

using namespace weft;
using partition::divide_successors;
using test::place;

TEST_CASE("divide_successors: sources from device 0, the most remaining work first") {
  const workload w = test::ops_of({1, 5, 3, 4}, {}).build();
  const auto q = test::equal_devices(3);
  CHECK(place(divide_successors{}, problem{w, q}) == placement{0, 0, 2, 1});
}

TEST_CASE("divide_successors: successors are dealt from the op's own device on, breadth first") {
  // 0 and 1 are dealt to 0 and 1. 0's successors 2 (7 left), 3 (6), 4 (5): 0, 1, 2. 1's successors 5 (9) and 4,
  // which is placed: 5 goes to 1. 2's successor 6 goes to 0, and 5's successor 7 to 1.
  const workload w =
    test::ops_of({10, 1, 4, 6, 5, 2, 3, 7}, {{0, 2}, {0, 3}, {0, 4}, {1, 4}, {1, 5}, {2, 6}, {5, 7}}).build();
  const auto q = test::equal_devices(3);
  CHECK(place(divide_successors{}, problem{w, q}) == placement{0, 1, 0, 1, 2, 1, 0, 1});
}

TEST_CASE("divide_successors: the seed breaks ties") {
  const workload w = test::ops_of({1, 1, 1}, {}).build();
  const auto q = test::equal_devices(3);
  std::set<placement> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    seen.insert(place(divide_successors{}, problem{w, q}, seed));
  }
  CHECK(seen.size() == 6);
}

TEST_CASE("divide_successors: a device that does not fit is passed over") {
  const workload w = test::ops_of({9, 8, 7, 6}, {}, 10).build();
  const platform<uniform_links> q{{{.memory_capacity = 10}, {.memory_capacity = 5}, {}}, {}};
  // 0 to device 0; 1's turn is device 1, it goes to 2; 2's turn is 2; 3's turn is 0, it goes to 2.
  CHECK(place(divide_successors{}, problem{w, q}) == placement{0, 2, 2, 2});
}

TEST_CASE("divide_successors: a placed op brings its component, whose successors are dealt, too") {
  auto b = test::ops_of({9, 1, 1, 1, 1}, {{0, 1}, {2, 3}, {4, 2}});
  b.colocate(1, 2);
  const workload w = std::move(b).build();
  const auto q = test::equal_devices(3);
  // 0 and 4 to 0 and 1; 0's successor 1 to 0, and 2 with it; 2's successor 3 to 0.
  CHECK(place(divide_successors{}, problem{w, q}) == placement{0, 0, 0, 0, 1});
}

} // namespace partition_divide_successors_test
