// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"

#include "weft/schedule/changing_flow.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace schedule_changing_flow_test {

using namespace weft;

/// 0 → 1, 2, 3, the tensor to all three the same; 1 → 3.
struct fork {
  workload w = test::ops_of({1, 1, 1, 1}, {{0, 1}, {0, 2}, {0, 3}, {1, 3}}).build();
  platform<uniform_links> q = test::equal_devices(3);
  problem<workload, platform<uniform_links>> p{w, q};
  fork() = default;
  fork(const fork&) = delete;
};

std::vector<item_id> sources_of(const changing_flow& f, op_id v) {
  std::vector<item_id> found;
  f.for_each_source(v, [&](item_id s) { found.push_back(s); });
  return found;
}
std::vector<item_id> consumers_of(const changing_flow& f, item_id i) {
  std::vector<item_id> found;
  f.for_each_consumer(i, [&](item_id s) { found.push_back(s); });
  std::sort(found.begin(), found.end());
  return found;
}

TEST_CASE("changing_flow: a placement says what comes by itself and what by a transfer, which knows its users") {
  const fork x;
  changing_flow f{x.p};
  CHECK(f.num_ops() == 4);
  CHECK(f.num_items() == 4 + 3 + 1); // at most a transfer per consumer and device
  const item_id to_1 = f.free_transfer(0, f.destinations());
  f.settle({0, 0, 1, 1}, {1, none, none, 1});
  const item_id s = f.find(0, 1);
  CHECK(s == to_1);
  CHECK(f.is_live(s));
  CHECK_FALSE(f.is_live(s + 1));
  CHECK(f.tensor(s) == 0);
  CHECK(f.producer(s) == 0);
  CHECK(f.device_of(s) == 0);
  CHECK(f.destination(s) == 1);
  CHECK(f.users(s) == 2);
  CHECK(f.find(0, 2) == none);
  CHECK(sources_of(f, 1) == std::vector<item_id>{0});
  CHECK(sources_of(f, 2) == std::vector<item_id>{s});
  CHECK(sources_of(f, 3).size() == 2);
  CHECK(sources_of(f, s) == std::vector<item_id>{0});
  CHECK(consumers_of(f, 0) == std::vector<item_id>{1, s});
  CHECK(consumers_of(f, s) == std::vector<item_id>{2, 3});
}

TEST_CASE("changing_flow: changes are taken back, all of them") {
  const fork x;
  changing_flow f{x.p};
  f.settle({0, 0, 1, 1}, {1, none, none, 1});
  const item_id old = f.find(0, 1);
  const auto edge = *f.inputs(2).begin();
  f.set_device(2, 2);
  f.set_users(old, 1);
  const item_id made = f.take(0, 2);
  f.set_users(made, 1);
  f.set_source(edge, made);
  CHECK(consumers_of(f, made) == std::vector<item_id>{2});
  CHECK(consumers_of(f, 0) == std::vector<item_id>{1, old, made});
  CHECK_FALSE(f.is_settled());
  f.rollback();
  CHECK(f.is_settled());
  CHECK(f.device(2) == 1);
  CHECK(f.users(old) == 2);
  CHECK_FALSE(f.is_live(made));
  CHECK(f.source(edge) == old);
  f.drop(old);
  f.commit();
  f.rollback();
  CHECK(f.find(0, 1) == none);
}

} // namespace schedule_changing_flow_test
