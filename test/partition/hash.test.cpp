// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"

#include "weft/partition/hash.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace partition_hash_test {

using namespace weft;
using partition::hash;
using test::place;

TEST_CASE("hash: groups in their order, then single ops in random order, round-robin from device 0") {
  auto b = test::ops_of({1, 1, 1, 1, 1, 1, 1, 1, 1}, {});
  b.colocate(1, 5); // group 0
  b.colocate(2, 7); // group 1
  const workload w = std::move(b).build();
  const auto q = test::equal_devices(3);
  const problem p{w, q};
  std::set<placement> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto where = place(hash{.starts = 1}, p, seed);
    CHECK(where[1] == 0);
    CHECK(where[5] == 0);
    CHECK(where[2] == 1);
    CHECK(where[7] == 1);
    std::vector<int> singles(3, 0);
    for (const op_id v : {0u, 3u, 4u, 6u, 8u}) {
      ++singles[where[v]];
    }
    CHECK(singles == std::vector<int>{2, 1, 2}); // 2, 0, 1, 2, 0
    seen.insert(where);
  }
  CHECK(seen.size() == 30); // 5! / (2! 1! 2!): every deal occurs
}

TEST_CASE("hash: a device that does not fit is passed over, and the deal goes on after its turn") {
  // Groups 0, 1, 2 of 2 ops; device 1 has room for nothing.
  auto b = test::ops_of({1, 1, 1, 1, 1, 1}, {}, 10);
  b.colocate(0, 1);
  b.colocate(2, 3);
  b.colocate(4, 5);
  const workload w = std::move(b).build();
  const platform<uniform_links> q{{{}, {.memory_capacity = 5}, {}}, {}};
  CHECK(place(hash{.starts = 1}, problem{w, q}) == placement{0, 0, 2, 2, 2, 2});
}

TEST_CASE("hash: of the deals that it tries, the one whose busiest device is least busy") {
  // Group 0 has 4 units of work, group 1 has 12. Dealt from device 0, the large one lands on the slow device 1.
  auto b = test::ops_of({2, 2, 6, 6}, {});
  b.colocate(0, 1);
  b.colocate(2, 3);
  const workload w = std::move(b).build();
  const platform<uniform_links> q{{{.speed = 4}, {.speed = 1}}, {}};
  const problem p{w, q};
  CHECK(place(hash{.starts = 1}, p) == placement{0, 0, 1, 1});
  CHECK(place(hash{.starts = 2}, p) == placement{1, 1, 0, 0});
  CHECK(place(hash{}, p) == placement{1, 1, 0, 0});
}

TEST_CASE("hash: ties between deals go to the first") {
  auto b = test::ops_of({1, 1, 1, 1}, {});
  b.colocate(0, 1);
  b.colocate(2, 3);
  const workload w = std::move(b).build();
  const auto q = test::equal_devices(2);
  CHECK(place(hash{}, problem{w, q}) == placement{0, 0, 1, 1});
}

TEST_CASE("hash: fewer starts than devices are spread over them") {
  // One group; of the devices 0, 2, 4 it likes the fastest.
  auto b = test::ops_of({1, 1}, {});
  b.colocate(0, 1);
  const workload w = std::move(b).build();
  const platform<uniform_links> q{{{.speed = 1}, {.speed = 9}, {.speed = 2}, {.speed = 9}, {.speed = 3}, {.speed = 9}},
                                  {}};
  CHECK(place(hash{.starts = 3}, problem{w, q}) == placement{4, 4});
  CHECK(place(hash{.starts = 0}, problem{w, q}) == placement{0, 0}); // at least one
}

TEST_CASE("hash: another start may find room where the first did not") {
  // From device 0 the small group takes the room that the large one needs.
  workload_builder b;
  for (const byte_count bytes : {1u, 1u, 10u, 10u}) {
    b.add_op({.work = 1, .resident_bytes = bytes});
  }
  b.colocate(0, 1);
  b.colocate(2, 3);
  const workload w = std::move(b).build();
  const platform<uniform_links> q{{{.memory_capacity = 20}, {.memory_capacity = 2}}, {}};
  const problem p{w, q};
  CHECK_FALSE(test::decide(hash{.starts = 1}, p));
  CHECK(test::decide(hash{.starts = 1}, p).error().op == 2);
  CHECK(place(hash{.starts = 2}, p) == placement{1, 1, 0, 0});
}

} // namespace partition_hash_test
