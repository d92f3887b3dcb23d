// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"

#include "weft/partition/critical_path.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace partition_critical_path_test {

using namespace weft;
using partition::critical_path;
using test::place;

TEST_CASE("critical_path: the path on the fastest device, the rest where there is least to do") {
  // 0 -> 1 -> 3 and 0 -> 2 -> 3, 2 is the heavier; 4 and 5 stand alone.
  const workload w = test::ops_of({2, 4, 6, 8, 3, 1}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}).build();
  const platform<uniform_links> q{{{.speed = 1}, {.speed = 4}, {.speed = 1}}, {}};
  const problem p{w, q};
  std::set<placement> seen;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto where = place(critical_path{}, p, seed);
    CHECK(where[0] == 1);
    CHECK(where[2] == 1);
    CHECK(where[3] == 1); // 16 / 4 seconds
    // Of 1 (4 s), 4 (3 s), 5 (1 s) the first goes to device 0, the second to 2, the third to the less busy one.
    for (const op_id v : {1u, 4u, 5u}) {
      CHECK((where[v] == 0 || where[v] == 2));
    }
    CHECK_FALSE((where[1] == where[4] && where[4] == where[5]));
    CHECK(where[1] != where[4]); // 5 joins the one with less, or is the one with less
    seen.insert(where);
  }
  CHECK(seen.size() > 2); // the order of the rest is the seed's
}

TEST_CASE("critical_path: transfer times count on the path, as the mean from the first device") {
  // 0 -> 1 has 10 work in all, 2 -> 3 has 9 and a tensor of 8 bytes.
  workload_builder b;
  for (const double work : {5.0, 5.0, 4.0, 5.0}) {
    b.add_op({.work = work, .bytes = work == 4 ? byte_count{8} : 0});
  }
  b.add_edge(0, 1);
  b.add_edge(2, 3);
  const workload w = std::move(b).build();
  link_matrix links{3, {.latency = 0}};
  const auto path_starts_at_2 = [&](double bandwidth) {
    links.set(0, 1, {.bandwidth = bandwidth});
    const platform<> q{{{}, {.speed = 1.5}, {}}, links}; // mean speed 7 / 6
    const problem p{w, q};
    const auto where = place(critical_path{}, p);
    const bool second = where[2] == 1 && where[3] == 1;
    CHECK(second != (where[0] == 1 && where[1] == 1));
    return second;
  };
  // (10 - 9) / (7 / 6) seconds must be made up for by 8 / bandwidth / 2.
  CHECK(path_starts_at_2(4.6));
  CHECK_FALSE(path_starts_at_2(4.7));
}

TEST_CASE("critical_path: ties on the path go to the smaller id") {
  const workload w = test::ops_of({2, 3, 3, 1}, {{0, 2}, {0, 1}, {1, 3}, {2, 3}}).build();
  const platform<uniform_links> q{{{.speed = 1}, {.speed = 4}}, {}};
  CHECK(place(critical_path{}, problem{w, q}) == placement{1, 1, 0, 1});
}

TEST_CASE("critical_path: an op of the path takes its component along") {
  auto b = test::ops_of({5, 5, 1}, {{0, 1}});
  b.colocate(1, 2);
  const workload w = std::move(b).build();
  const platform<uniform_links> q{{{.speed = 1}, {.speed = 4}}, {}};
  CHECK(place(critical_path{}, problem{w, q}) == placement{1, 1, 1});
}

TEST_CASE("critical_path: the next fastest device that fits, when the fastest is full") {
  const workload w = test::ops_of({5, 5, 5}, {{0, 1}, {1, 2}}, 10).build(); // demands 10, 20, 20
  const platform<uniform_links> q{{{.speed = 1}, {.speed = 4, .memory_capacity = 35}, {.speed = 2}}, {}};
  CHECK(place(critical_path{}, problem{w, q}) == placement{1, 1, 2});
}

TEST_CASE("critical_path: a device that computes an op in no time has an average of none") {
  const workload w = test::ops_of({0, 0}, {{0, 1}}).build();
  const platform<uniform_links> q{{{.speed = 1}, {.speed = 4}}, {}};
  CHECK(place(critical_path{}, problem{w, q}) == placement{0, 0});
}

} // namespace partition_critical_path_test
