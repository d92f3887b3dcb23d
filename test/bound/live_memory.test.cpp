// SPDX-License-Identifier: BSL-1.0
#include "weft/bound/live_memory.hpp"

#include "simulate/random_problem.hpp"

#include "weft/schedule/fifo.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace bound_live_memory_test {

using namespace weft;

/// The most that all devices together hold at an instant.
template <class Problem>
byte_count max_in_all(const Problem& p, const placement& where, const trace& run) {
  simulate::memory_tracker memory{p};
  memory.follow(where, run);
  std::map<double, std::vector<std::pair<device_id, byte_count>>> by_time;
  for (const auto& s : memory.samples(where)) {
    by_time[s.time].emplace_back(s.device, s.bytes);
  }
  std::vector<byte_count> level(p.num_devices(), 0);
  byte_count most = 0;
  for (const auto& [time, changes] : by_time) {
    for (const auto& [d, bytes] : changes) {
      level[d] = bytes;
    }
    byte_count sum = 0;
    for (const byte_count bytes : level) {
      sum += bytes;
    }
    most = std::max(most, sum);
  }
  return most;
}

TEST_CASE("bound::live_memory: no run holds less") {
  rng random{23};
  int tight = 0;
  for (int round = 0; round < 1000; ++round) {
    CAPTURE(round);
    const test::drawn s{random};
    const auto bound = bound::live_memory(s.p);
    for (int k = 0; k < 3; ++k) {
      const auto where = test::random_placement(random, s.p);
      trace run;
      simulator<test::drawn_problem, schedule::fifo>{s.p}.run({where, {}}, simulate::recorder{run});
      const auto held = max_in_all(s.p, where, run);
      CHECK(bound.bytes <= held);
      tight += bound.bytes == held;
    }
  }
  CHECK(tight > 300);
}

TEST_CASE("bound::live_memory: at the loss, what the backward pass needs") {
  workload_builder b; // a chain of 4 forward and 4 backward ops, each of which needs the output of its forward op
  op_id last = none;
  for (op_id v = 0; v < 8; ++v) {
    b.add_op({.work = 1, .bytes = v < 4 ? byte_count{100} : 1, .resident_bytes = 7});
    if (last != none) {
      b.add_edge(last, v);
    }
    if (v > 4) {
      b.add_edge(7 - v, v);
    }
    last = v;
  }
  const auto w = std::move(b).build();
  const platform<uniform_links> q{std::vector<device>(2), {}};
  const problem p{w, q};
  const auto bound = bound::live_memory(p);
  CHECK(bound.bytes == 8 * 7 + 401); // while op 4 runs, the outputs of 0 … 3 and its own are there
  CHECK(bound.op == 4);
  CHECK(bound::live_memory(p, 0).bytes == 56);
  CHECK(bound::live_memory(p, 0).op == none);
}

TEST_CASE("bound::why_too_large: where all devices together have less than every plan holds, and nowhere else") {
  rng random{29};
  int refused = 0;
  for (int round = 0; round < 1000; ++round) {
    CAPTURE(round);
    const test::drawn s{random};
    const auto least = bound::live_memory(s.p);
    std::vector<byte_count> capacity(s.p.num_devices(), least.bytes / s.p.num_devices());
    capacity.front() += least.bytes % s.p.num_devices();
    CHECK_FALSE(bound::why_too_large(s.p.with_capacities(capacity)));
    if (least.bytes > 0) {
      auto& some = *std::ranges::max_element(capacity);
      --some;
      const auto why = bound::why_too_large(s.p.with_capacities(capacity));
      REQUIRE(why);
      CHECK(why->cause == infeasibility::kind::out_of_all_memory);
      CHECK(why->op == least.op);
      CHECK(why->demand == least.bytes);
      CHECK(why->largest_free == least.bytes - 1);
      ++refused;
    }
  }
  CHECK(refused > 900);
}

} // namespace bound_live_memory_test
