// SPDX-License-Identifier: BSL-1.0
#include "refine/search_checks.hpp"

#include "weft/cost/table.hpp"
#include "weft/refine/detail/reverse_pass.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace refine_reverse_pass_test {

using namespace weft;

TEST_CASE("reverse_pass: valid plans, which on one slot run no longer than planned") {
  rng random{1};
  int made = 0;
  for (int round = 0; round < 2000; ++round) {
    CAPTURE(round);
    const test::drawn s{random, {.capacity = 60 + random.below(200)}};
    const refine::detail::reverse_pass pass{s.p};
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

TEST_CASE("reverse_pass: sees the sends that a choice causes") {
  // The first device is faster at the first op, but would have to send what it made for longer than it saves.
  const auto w = test::ops_of({1, 1}, {{0, 1}}).build();
  const platform<uniform_links> q{{{}, {}}, {{.latency = 0}}, 5};
  const std::vector<double> seconds{1, 2, 3, 1};
  const problem p{w, q, cost::table{seconds, 2, 2}};
  const auto r = refine::detail::reverse_pass{p}(0);
  CHECK(r.plan.placement == placement{1, 1});
  CHECK(r.makespan == 3);
}

TEST_CASE("reverse_pass: with a price, ops keep to devices that are good at them") {
  // Each op takes 1 second on one of two devices and 3 on the other, half of them each way, but the first six in reversed
  // order are all good on the same one.
  std::vector<double> seconds;
  for (int v = 0; v < 12; ++v) {
    seconds.insert(seconds.end(), {v < 6 ? 1.0 : 3.0, v < 6 ? 3.0 : 1.0});
  }
  const auto w = test::ops_of({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {}).build();
  const auto q = test::equal_devices(2);
  const cost::table times{seconds, 12, 2};
  const problem p{w, q, times};
  CHECK(refine::detail::reverse_pass{p}(0).makespan > 6);
  CHECK(refine::detail::reverse_pass{p}(8).makespan == 6);
}

} // namespace refine_reverse_pass_test
