// SPDX-License-Identifier: BSL-1.0
#include "refine/search_checks.hpp"

#include "weft/cost/table.hpp"
#include "weft/partition/reverse_heft.hpp"
#include "weft/platform/generate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace partition_reverse_heft_test {

using namespace weft;

TEST_CASE("reverse HEFT: valid plans, which on one slot run no longer than planned") {
  rng random{1};
  int made = 0;
  for (int round = 0; round < 2000; ++round) {
    CAPTURE(round);
    const test::drawn s{random, {.capacity = 60 + random.below(200)}};
    const partition::detail::reverse_pass pass{s.p};
    for (const double price : {0.0, 2.0}) {
      const auto r = pass(price);
      if (r.plan.placement.empty()) {
        continue;
      }
      ++made;
      CHECK(validate(s.p, r.plan).empty());
      const auto devices = ids(s.p.num_devices());
      if (std::all_of(devices.begin(), devices.end(), [&](device_id d) { return s.p.platform().slots(d) == 1; })) {
        CHECK(test::makespan_of(s.p, r.plan, schedule::static_order{}) <= r.makespan * (1 + 1e-9));
      }
    }
  }
  CHECK(made > 2000);
}

TEST_CASE("reverse HEFT: sees the sends that a choice causes") {
  // The first device is faster at the first op, but would have to send what it made for longer than it saves.
  const auto w = test::ops_of({1, 1}, {{0, 1}}).build();
  const platform<uniform_links> q{{{}, {}}, {{.latency = 0}}, 5};
  const std::vector<double> seconds{1, 2, 3, 1};
  const problem p{w, q, cost::table{seconds, 2, 2}};
  const auto r = partition::detail::reverse_pass{p}(0);
  CHECK(r.plan.placement == placement{1, 1});
  CHECK(r.makespan == 3);
}

TEST_CASE("reverse HEFT: with a price, ops keep to devices that are good at them") {
  // Each op takes 1 second on one of two devices and 3 on the other, half of them each way, but the first six in
  // reversed order are all good on the same one.
  std::vector<double> seconds;
  for (int v = 0; v < 12; ++v) {
    seconds.insert(seconds.end(), {v < 6 ? 1.0 : 3.0, v < 6 ? 3.0 : 1.0});
  }
  const auto w = test::ops_of({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {}).build();
  const auto q = test::equal_devices(2);
  const cost::table times{seconds, 12, 2};
  const problem p{w, q, times};
  CHECK(partition::detail::reverse_pass{p}(0).makespan > 6);
  CHECK(partition::detail::reverse_pass{p}(8).makespan == 6);
}

TEST_CASE("reverse HEFT: says which component fits nowhere") {
  const platform<uniform_links> q{{{.memory_capacity = 4}}, uniform_links{1}};
  workload_builder b;
  b.add_op({.work = 1, .bytes = 5});
  const auto heavy = std::move(b).build();
  const problem p{heavy, q};
  rng random{0};
  workspace scratch;
  const auto none_fits = partition::run(partition::reverse_heft{}, p, random, scratch);
  REQUIRE(!none_fits);
  const auto by_heft = partition::run(partition::heft{}, p, random, scratch);
  REQUIRE(!by_heft);
  CHECK(to_string(none_fits.error()) == to_string(by_heft.error()));
}

TEST_CASE("reverse HEFT: the best of several prices, which is far ahead of HEFT where sends are many") {
  const auto w = generate::layered_sized(2000, 16, 4, 1);
  const auto q =
    generate::heterogeneous({.devices = 8, .memory_times_speed = std::uint64_t{1} << 62, .send_work = 10}, 1);
  const problem p{w, q};
  rng random{0};
  workspace scratch;
  const auto found = partition::run(partition::reverse_heft{}, p, random, scratch);
  const auto heft = partition::run(partition::heft{}, p, random, scratch);
  REQUIRE(found);
  REQUIRE(heft);
  CHECK(validate(p, found->plan).empty());
  const double makespan = test::makespan_of(p, found->plan, schedule::static_order{});
  CHECK(makespan < 0.95 * test::makespan_of(p, heft->plan, schedule::static_order{}));
  for (const double price : {1.0, 8.0}) {
    CHECK(makespan <= partition::detail::reverse_pass{p}(price).makespan * (1 + 1e-9));
  }
}

} // namespace partition_reverse_heft_test
