// SPDX-License-Identifier: BSL-1.0
#include "weft/solve/replan.hpp"

#include "../validate/scene.hpp"
#include "support/rounds.hpp"

#include "weft/core/random.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace solve_replan_test {

using namespace weft;
using weft_test::scene;

const auto by_heft = pipeline(partition::heft{}, schedule::static_order{});

/// Eight ops of 1 s, four on each of two devices.
struct eight {
  static workload make_workload() {
    workload_builder b;
    for (int v = 0; v < 8; ++v) {
      b.add_op({.work = 1});
    }
    return std::move(b).build();
  }
  workload w = make_workload();
  platform<uniform_links> equal{std::vector<device>(2), {}};
  platform<uniform_links> slow{{{.speed = 1}, {.speed = 1.0 / 3}}, {}};
  plan decided = make_plan();

  static plan make_plan() {
    plan x;
    for (const op_id v : ids(8)) {
      x.placement.push_back(v % 2);
      x.order.push_back(step::run(v));
    }
    return x;
  }

  trace run() const {
    const problem p{w, equal};
    trace record;
    simulator{p, schedule::static_order{}}.run(decided, simulate::recorder{record});
    return record;
  }
};

TEST_CASE("replan: what has not begun leaves a device that became slower") {
  const eight e;
  const problem p{e.w, e.slow};
  const auto state = state_at(e.run(), 1);
  for (const auto& r :
       {solve::replan(p, state, e.decided, by_heft), solve::replan(p, state, e.decided, {.moves = 1000})}) {
    CHECK(r.has_plan());
    CHECK(r.carried_on == 10); // three ops of 3 s
    CHECK(r.makespan == 6);    // one there, five here
    CHECK(r.run.makespan == 6);
    CHECK(r.again.empty());
    CHECK(r.plan.placement[0] == 0);
    CHECK(r.plan.placement[1] == 1);
    CHECK(validate(p, state, r.run).empty());
    CHECK(validate(p, r.plan).empty());
  }
  CHECK(solve::replan(p, state, e.decided, {.moves = 1000}).status == status::optimal);
}

TEST_CASE("replan: keeps to the old plan where nothing is better") {
  const eight e;
  const problem p{e.w, e.equal};
  const auto r = solve::replan(p, state_at(e.run(), 1.5), e.decided, by_heft);
  CHECK(r.makespan == 4);
  CHECK(r.carried_on == 4);
  CHECK(r.plan.placement == e.decided.placement);
}

TEST_CASE("replan: a device fails, and what it made and was to make is made elsewhere") {
  const eight e;
  const problem p{e.w, e.equal};
  const auto state = state_at(e.run(), 2.5, {1});
  const auto r = solve::replan(p, state, e.decided, by_heft);
  REQUIRE(r.has_plan());
  CHECK(r.again == std::vector<op_id>{1, 3, 5}); // nobody reads what they make: it is what the run is for
  CHECK(r.carried_on == std::numeric_limits<double>::infinity());
  CHECK(r.makespan == 8);
  CHECK(validate(p, state, r.run).empty());
}

TEST_CASE("replan: devices may be added") {
  const eight e;
  const platform<uniform_links> three{std::vector<device>(3), {}};
  const problem p{e.w, three};
  const auto r = solve::replan(p, state_at(e.run(), 1), e.decided, {.moves = 1000});
  CHECK(r.makespan == 3);
  CHECK(r.carried_on == 4);
}

TEST_CASE("replan: says why nothing can go on") {
  const scene s;
  const plan old{s.where, {}};
  for (const auto& r : {solve::replan(s.p, state_at(s.run, 7, {1}), old, by_heft),
                        solve::replan(s.p, state_at(s.run, 7, {1}), old, {.moves = 100})}) {
    CHECK_FALSE(r.has_plan());
    CHECK(r.status == status::infeasible);
    REQUIRE(r.reason);
    CHECK(r.reason->cause == infeasibility::kind::no_device_of_kind);
  }
}

TEST_CASE("replan: the same budget in moves and seed give the same plan") {
  const scene s;
  const plan old{s.where, {step::run(scene::a), step::run(scene::c), step::run(scene::e), step::run(scene::b),
                           step::run(scene::d)}};
  const auto first = solve::replan(s.p, state_at(s.run, 2.5), old, {.moves = 500, .seed = 3});
  const auto second = solve::replan(s.p, state_at(s.run, 2.5), old, {.moves = 500, .seed = 3, .threads = 2});
  CHECK(first.plan == second.plan);
  CHECK(first.makespan <= first.carried_on);
}

TEST_CASE("replan: refuses memory over time") {
  const scene s;
  const solve::best_options over_time{.memory = memory_rule::over_time};
  CHECK_THROWS_WITH_AS((void)solve::replan(s.p, state_at(s.run, 7), {s.where, {}}, over_time),
                       "solve::replan: memory over time is not kept by what goes on from a state; use "
                       "memory_rule::reserved",
                       value_error);
}

/// Whether the ops that are left can be placed within the memory of the devices that are left, besides what had begun:
/// all placements.
template <class Problem>
bool has_room(const Problem& p, const run_state& s, std::span<const op_id> left, const std::vector<device_id>& gone) {
  const auto demand = [&](op_id v) {
    byte_count sum = p.workload().resident_bytes(v);
    for (const tensor_id t : p.workload().outputs(v)) {
      sum += p.workload().bytes(t);
    }
    for (const tensor_id t : p.workload().inputs(v)) {
      sum += p.workload().bytes(t);
    }
    return sum;
  };
  std::vector<byte_count> used(p.num_devices(), 0);
  for (const op_id v : ids(p.num_ops())) {
    if (std::find(left.begin(), left.end(), v) == left.end() && s.begun.ops[v].device != none) {
      used[s.begun.ops[v].device] += demand(v);
    }
  }
  const auto place = [&](const auto& self, std::size_t i) -> bool {
    if (i == left.size()) {
      return true;
    }
    for (const device_id d : ids(p.num_devices())) {
      const auto bytes = demand(left[i]);
      const bool is_gone = std::find(gone.begin(), gone.end(), d) != gone.end();
      if (!is_gone && (bytes == 0 || used[d] + bytes <= p.capacity(d))) {
        used[d] += bytes;
        const bool found = self(self, i + 1);
        used[d] -= bytes;
        if (found) {
          return true;
        }
      }
    }
    return false;
  };
  return place(place, 0);
}

TEST_CASE("replan: what had begun may hold more than a device has now, and what is left goes elsewhere") {
  workload_builder b;
  for (int v = 0; v < 2; ++v) {
    b.add_op({.work = 4, .resident_bytes = 10});
  }
  const auto w = std::move(b).build();
  const platform<uniform_links> roomy{std::vector<device>(2), {}};
  const platform<uniform_links> tight{{{.memory_capacity = 5}, {.memory_capacity = 10}}, {}};
  const problem p{w, roomy}, q{w, tight};
  const plan old{{0, 0}, {step::run(0), step::run(1)}};
  trace record;
  simulator{p, schedule::static_order{}}.run(old, simulate::recorder{record});
  const auto s = state_at(record, 1);
  CHECK(!validate(q, s, record).empty());
  const auto r = solve::replan(q, s, old, {.moves = 100});
  CHECK(r.carried_on == std::numeric_limits<double>::infinity());
  CHECK(r.plan.placement == placement{0, 1});
  CHECK(validate(q, s, r.run).empty());
}

TEST_CASE("replan: keeps to the memory that there is now, and finds a plan where there is one") {
  rng random{7};
  int plans = 0, none_at_all = 0, moved = 0;
  for (int round = 0; round < test::rounds(600); ++round) {
    CAPTURE(round);
    workload_builder b;
    const auto n = 2 + random.below(5);
    for (op_id v = 0; v < n; ++v) {
      b.add_op({.work = static_cast<double>(1 + random.below(5)), .bytes = random.below(4),
                .resident_bytes = random.below(12)});
      for (op_id u = 0; u < v; ++u) {
        if (random.below(3) == 0) {
          b.add_edge(u, v);
        }
      }
    }
    const auto w = std::move(b).build();
    const auto k = 2 + random.below(2);
    std::vector<device> before(k), now(k);
    for (device_id d = 0; d < k; ++d) {
      before[d].speed = now[d].speed = 1.0 / (1 + random.below(3));
      now[d].memory_capacity = random.below(40);
    }
    const platform<uniform_links> roomy{before, uniform_links{{.latency = 0.5, .bandwidth = 10}}};
    const platform<uniform_links> tight{now, uniform_links{{.latency = 0.5, .bandwidth = 10}}};
    const problem p{w, roomy}, q{w, tight};
    plan old{placement(n, 0), {}};
    for (op_id v = 0; v < n; ++v) {
      old.placement[v] = random.below(k);
      old.order.push_back(step::run(v));
    }
    trace record;
    simulator{p, schedule::static_order{}}.run(old, simulate::recorder{record});
    const std::vector<device_id> gone(random.below(4) == 0 ? 1 : 0, random.below(k));
    const auto s = state_at(record, random.uniform() * record.makespan, gone);
    const solve::continuation rest{q, s};
    const bool is_possible = has_room(q, s, rest.left(), gone);
    const auto searched = solve::replan(q, s, old, {.moves = 300});
    CHECK(searched.has_plan() == is_possible);
    for (const auto& r : {searched, solve::replan(q, s, old, by_heft)}) {
      REQUIRE((!r.has_plan() || validate(q, s, r.run).empty()));
      REQUIRE((r.has_plan() || r.reason.has_value()));
    }
    plans += searched.has_plan();
    none_at_all += !searched.has_plan();
    moved += searched.has_plan() && !(searched.carried_on < std::numeric_limits<double>::infinity());
  }
  CHECK(plans > test::rounds(600) / 4);
  CHECK(none_at_all > test::rounds(600) / 20);
  CHECK(moved > test::rounds(600) / 20);
}

} // namespace solve_replan_test
