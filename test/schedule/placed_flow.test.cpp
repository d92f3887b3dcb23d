// SPDX-License-Identifier: BSL-1.0
#include "support/small_problem.hpp"

#include "weft/schedule/placed_flow.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>

namespace schedule_placed_flow_test {

using namespace weft;

template <class Range>
bool equal(const Range& range, std::initializer_list<std::uint32_t> expected) {
  return std::ranges::equal(range, expected);
}

/// What makes a transfer what it is, without where its consumers are kept.
void check(const transfer& x, tensor_id t, device_id from, device_id to, double send, double move) {
  CHECK(x.tensor == t);
  CHECK(x.from == from);
  CHECK(x.to == to);
  CHECK(x.send_time == send);
  CHECK(x.transfer_time == move);
}

TEST_CASE("placed_flow: a diamond over three devices") {
  const workload w = test::diamond();
  const auto q = test::three_devices();
  const problem p{w, q};
  placed_flow flow{p};
  CHECK(flow.max_items() == 4 + 5);
  const placement where{0, 1, 2, 1};
  flow.assign(where);
  CHECK(&flow.problem() == &p);
  CHECK(&flow.placement() == &where);
  CHECK(flow.num_ops() == 4);
  REQUIRE(flow.transfers().size() == 3);
  CHECK(flow.num_items() == 7);
  check(flow.transfers()[0], 0, 0, 1, 0.5, 1.5);  // 5 / 10; 0.5 + 100 / 100
  check(flow.transfers()[1], 0, 0, 2, 0.5, 3);    // 1 + 100 / 50
  check(flow.transfers()[2], 3, 2, 1, 0.25, 3.5); // 5 / 20; 0.5 + 300 / 100
  CHECK(equal(flow.transfers_of(0), {0, 1}));
  CHECK(equal(flow.transfers_of(1), {}));
  CHECK(equal(flow.transfers_of(2), {}));
  CHECK(equal(flow.transfers_of(3), {2}));
  CHECK(equal(flow.consumers_of_transfer(0), {1}));
  CHECK(equal(flow.consumers_of_transfer(1), {2}));
  CHECK(equal(flow.consumers_of_transfer(2), {3}));
  CHECK(equal(flow.local_consumers(0), {}));
  CHECK(equal(flow.local_consumers(1), {3})); // d reads both outputs of b
  CHECK(equal(flow.local_consumers(2), {3}));
  CHECK(equal(flow.local_consumers(3), {}));
  CHECK(equal(flow.num_inputs(), {0, 1, 1, 3}));
  CHECK(flow.num_inputs(3) == 3);
  CHECK(flow.duration(0) == 1);
  CHECK(flow.duration(1) == 1);
  CHECK(flow.duration(2) == 1.5);
  CHECK(flow.duration(3) == 2);
}

TEST_CASE("placed_flow: items are ops, then sends") {
  const workload w = test::diamond();
  const auto q = test::three_devices();
  const problem p{w, q};
  placed_flow flow{p};
  const placement where{0, 1, 2, 1};
  flow.assign(where);
  CHECK_FALSE(flow.is_send(3));
  CHECK(flow.is_send(4));
  CHECK(flow.send_of(2) == 6);
  CHECK(flow.transfer_of(6) == 2);
  CHECK(flow.device_of(2) == 2);
  CHECK(flow.device_of(5) == 0);
  CHECK(flow.device_of(6) == 2);
  CHECK(flow.duration(5) == 0.5);
  CHECK(flow.duration(6) == 0.25);
  for (item_id i = 0; i < 7; ++i) {
    CHECK(flow.needs_queue(i));
  }
}

TEST_CASE("placed_flow: ops and sends together must have numbers") {
  constexpr std::size_t most = 0xffff'ffffu;
  CHECK_NOTHROW(check_item_ids(0, 0));
  CHECK_NOTHROW(check_item_ids(1, most - 1));
  CHECK_NOTHROW(check_item_ids(most, 0));
  CHECK_THROWS_WITH_AS(
    check_item_ids(2'000'000'000, 2'294'967'296),
    "the problem: has 2000000000 ops and 2294967296 edges, together more than the 4294967295 that can "
    "be simulated; merge ops",
    value_error);
  CHECK_THROWS_AS(check_item_ids(most + 1, 0), value_error);
  CHECK_THROWS_AS(check_item_ids(1, std::size_t{0} - 1), value_error);
}

TEST_CASE("placed_flow: a tensor goes to a device once, however many consumers wait there") {
  workload_builder b;
  const auto u = b.add_op({.work = 1, .bytes = 100});
  for (int i = 0; i < 5; ++i) {
    b.add_edge(u, b.add_op({.work = 1}));
  }
  const workload w = std::move(b).build();
  const auto q = test::three_devices();
  const problem p{w, q};
  placed_flow flow{p};
  const placement where{0, 2, 1, 2, 0, 1};
  flow.assign(where);
  REQUIRE(flow.transfers().size() == 2);
  CHECK(flow.transfers()[0].to == 2); // its first consumer has the smaller id
  CHECK(flow.transfers()[1].to == 1);
  CHECK(equal(flow.consumers_of_transfer(0), {1, 3}));
  CHECK(equal(flow.consumers_of_transfer(1), {2, 5}));
  CHECK(equal(flow.local_consumers(0), {4}));
}

TEST_CASE("placed_flow: each output of an op is a transfer of its own, and so are its control edges") {
  workload_builder b;
  const auto u = b.add_op({.work = 1, .bytes = 100});
  const auto v = b.add_op({.work = 1});
  const auto after = b.add_op({.work = 1});
  b.add_output(u, 200);
  b.add_edge(u, v);
  b.add_edge(u, v, 1);
  b.add_control_edge(u, after);
  b.add_control_edge(u, v);
  const workload w = std::move(b).build();
  const auto q = test::three_devices();
  const problem p{w, q};
  placed_flow flow{p};
  const placement where{1, 0, 0};
  flow.assign(where);
  REQUIRE(flow.transfers().size() == 3);
  check(flow.transfers()[0], 0, 1, 0, 0.25, 1.5);
  check(flow.transfers()[1], 1, 1, 0, 0.25, 2.5);
  check(flow.transfers()[2], 2, 1, 0, 0.25, 0.5); // no bytes, only the latency
  CHECK(equal(flow.consumers_of_transfer(2), {1, 2}));
  CHECK(equal(flow.num_inputs(), {0, 3, 1}));
}

TEST_CASE("placed_flow: transfers without a send wait in no queue") {
  const workload w = test::diamond();
  const platform<> q{test::three_devices().devices(), test::three_devices().links(), 0};
  const problem p{w, q};
  placed_flow flow{p};
  const placement where{0, 1, 2, 1};
  flow.assign(where);
  CHECK(flow.num_items() == 7);
  for (item_id i = 0; i < 7; ++i) {
    CHECK(flow.needs_queue(i) == (i < 4));
  }
  CHECK(flow.duration(4) == 0);
}

TEST_CASE("placed_flow: another placement replaces everything") {
  const workload w = test::diamond();
  const auto q = test::three_devices();
  const problem p{w, q};
  placed_flow flow{p};
  const placement first{0, 1, 2, 1};
  const placement together{2, 2, 2, 2};
  const placement last{0, 0, 1, 1};
  flow.assign(first);
  flow.assign(together);
  CHECK(flow.transfers().empty());
  CHECK(flow.num_items() == 4);
  CHECK(equal(flow.local_consumers(0), {1, 2}));
  CHECK(equal(flow.local_consumers(3), {3}));
  CHECK(flow.duration(0) == 0.5);
  flow.assign(last);
  REQUIRE(flow.transfers().size() == 3);
  check(flow.transfers()[0], 0, 0, 1, 0.5, 1.5);
  check(flow.transfers()[1], 1, 0, 1, 0.5, 2.5);
  check(flow.transfers()[2], 2, 0, 1, 0.5, 1);
  CHECK(equal(flow.local_consumers(0), {1}));
  CHECK(equal(flow.consumers_of_transfer(0), {2}));
  CHECK(equal(flow.local_consumers(3), {3}));
}

} // namespace schedule_placed_flow_test
