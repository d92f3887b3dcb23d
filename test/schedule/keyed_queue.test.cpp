// SPDX-License-Identifier: BSL-1.0
#include "schedule/small_flow.hpp"

#include "weft/core/random.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/keyed_queue.hpp"
#include "weft/schedule/maximum_successor_rank.hpp"
#include "weft/schedule/static_order.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace schedule_keyed_queue_test {

using namespace weft;
using test::five_ops;
using five_problem = problem<workload, platform<uniform_links>>;

struct by_id {
  double step = 1;
  constexpr double operator()(const placed_flow<five_problem>&, item_id i) const { return step * i; }
};

TEST_CASE("keyed_queue: each device has its own heap, the largest key first") {
  const five_ops s{10};
  placed_flow flow{s.p};
  flow.assign(s.where);
  const order no_order;
  schedule::keyed_queue<by_id, five_problem> q{s.p};
  q.reset(by_id{}, {flow, no_order});
  CHECK(q.pop(0, 0) == schedule::nothing);
  for (const item_id i : {0u, 6u, 1u, 2u, 5u, 3u, 4u}) {
    q.push(i, 0);
  }
  for (const item_id i : {6u, 5u, 4u, 2u, 0u}) {
    CHECK(q.pop(0, 0) == i);
  }
  CHECK(q.pop(0, 0) == schedule::nothing);
  CHECK(q.pop(1, 0) == 3);
  CHECK(q.pop(1, 0) == 1);
  CHECK(q.pop(1, 0) == schedule::nothing);
}

TEST_CASE("keyed_queue: among equal keys, the first that came goes first") {
  const five_ops s{10};
  placed_flow flow{s.p};
  flow.assign(s.where);
  const order no_order;
  schedule::keyed_queue<by_id, five_problem> q{s.p};
  rng random{3};
  for (int round = 0; round < 50; ++round) {
    q.reset(by_id{0}, {flow, no_order});
    std::vector<item_id> here{0, 2, 4, 5, 6};
    random.shuffle(here);
    for (const item_id i : here) {
      q.push(i, 0);
    }
    for (const item_id i : here) {
      CHECK(q.pop(0, 0) == i);
    }
  }
}

TEST_CASE("keyed_queue: a reset forgets what was there and takes the new placement") {
  const five_ops s{10};
  placed_flow flow{s.p};
  const order no_order;
  schedule::keyed_queue<schedule::fifo, five_problem> q{s.p};
  flow.assign(s.where);
  q.reset({}, {flow, no_order});
  q.push(0, 0);
  q.push(1, 0);
  const placement other{1, 1, 1, 1, 1};
  flow.assign(other);
  q.reset({}, {flow, no_order});
  CHECK(q.pop(0, 0) == schedule::nothing);
  CHECK(q.pop(1, 0) == schedule::nothing);
  for (item_id i = 0; i < 5; ++i) {
    q.push(i, 0);
  }
  for (item_id i = 0; i < 5; ++i) {
    CHECK(q.pop(1, 0) == i);
  }
}

// A function of (flow, item) is a policy, whether it captures something or not; one of anything else is not.
using flow_type = placed_flow<five_problem>;
const auto by_duration = [](const flow_type& f, item_id i) { return f.duration(i); };
const auto scaled = [factor = 2.0](const flow_type& f, item_id i) { return factor * f.duration(i); };
const auto of_item_only = [](item_id) { return 1.0; };
const auto of_text = [](const flow_type&, item_id) { return "soon"; };
template <class F>
constexpr bool accepted(const F&) {
  return ready_policy_for<F, five_problem>;
}
static_assert(accepted(by_duration) && accepted(scaled) && !accepted(of_item_only) && !accepted(of_text));
static_assert(!ready_policy_for<int, five_problem>);
static_assert(schedule::key_policy<schedule::fifo, five_problem> &&
              !schedule::selection_policy<schedule::fifo, five_problem>);
static_assert(schedule::selection_policy<schedule::static_order, five_problem>);
static_assert(schedule::selection_policy<schedule::maximum_successor_rank, five_problem>);
static_assert(std::is_same_v<schedule::queue_for<schedule::fifo, five_problem>,
                             schedule::keyed_queue<schedule::fifo, five_problem>>);
static_assert(std::is_same_v<schedule::queue_for<schedule::static_order, five_problem>,
                             schedule::static_order::queue<five_problem>>);

} // namespace schedule_keyed_queue_test
