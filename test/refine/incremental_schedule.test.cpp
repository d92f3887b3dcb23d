// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"

#include "weft/refine/incremental_schedule.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/generate.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace refine_incremental_schedule_test {

using namespace weft;
using refine::incremental_schedule;

/// The schedule of a plan's run.
template <class Problem>
incremental_schedule<Problem> schedule_of(const Problem& p, const plan& decided) {
  trace run;
  simulator<Problem, schedule::static_order> sim{p};
  REQUIRE(sim.run(decided, simulate::recorder{run}).complete);
  incremental_schedule<Problem> s{p};
  s.assign(run);
  return s;
}

template <class Problem>
double run_of(const Problem& p, const plan& decided) {
  simulator<Problem, schedule::static_order> sim{p};
  return sim.run(decided).makespan;
}

/// A diamond 0 → 1, 2 → 3 with work 1, 2, 3, 1 on two devices; transfers take a second.
struct diamond {
  workload w = test::ops_of({1, 2, 3, 1}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}).build();
  platform<uniform_links> q = test::equal_devices(2);
  problem<workload, platform<uniform_links>> p{w, q};
  diamond() = default;
  diamond(const diamond&) = delete;
};

TEST_CASE("incremental_schedule: takes over a run, with starts, tails and lanes") {
  const diamond x;
  auto s = schedule_of(x.p, {{0, 0, 0, 0}, {step::run(0), step::run(1), step::run(2), step::run(3)}});
  CHECK(s.makespan() == 7);
  CHECK(s.start(2) == 3);
  CHECK(s.finish(2) == 6);
  CHECK(s.tail(2) == 4);
  CHECK(s.path(1) == 7);
  CHECK(s.before(2) == 1);
  CHECK(s.after(2) == 3);
  CHECK(s.before(0) == none);
  CHECK(s.last_input(3) == 2);
  CHECK(s.last_input(0) == none);
  CHECK(s.ready(2) == 1);
  std::vector<item_id> seen;
  s.for_each_in_window(0, 1, 6, [&](item_id i) { seen.push_back(i); });
  CHECK(seen == std::vector<item_id>{1, 2});
}

TEST_CASE("incremental_schedule: a move is evaluated, made, and taken back") {
  const diamond x;
  auto s = schedule_of(x.p, {{0, 0, 0, 0}, {step::run(0), step::run(1), step::run(2), step::run(3)}});
  // 0 on [0, 1], 2 on [1, 4], 1 on the other device on [2, 4], its tensor there at 5.
  REQUIRE(s.move(x.p.component(1), 1));
  CHECK(s.evaluate() == 6);
  CHECK(s.makespan() == 7); // until the commit
  s.rollback();
  CHECK(s.device(1) == 0);
  CHECK(s.start(2) == 3);
  CHECK(s.to_plan().placement == placement{0, 0, 0, 0});

  REQUIRE(s.move(x.p.component(1), 1));
  CHECK(s.evaluate(6) == 6);
  s.commit();
  CHECK(s.makespan() == 6);
  CHECK(s.device(1) == 1);
  CHECK(run_of(x.p, s.to_plan()) == 6);
  CHECK(s.evaluations() == 2);
}

TEST_CASE("incremental_schedule: beyond its limit an evaluation says infinity, at its limit the makespan") {
  const diamond x;
  auto s = schedule_of(x.p, {{0, 0, 0, 0}, {step::run(0), step::run(1), step::run(2), step::run(3)}});
  REQUIRE(s.move(x.p.component(3), 1)); // its inputs come a second later
  CHECK(s.evaluate(7.5) == s.infinity);
  s.rollback();
  REQUIRE(s.move(x.p.component(3), 1));
  CHECK(s.evaluate(8) == 8);
  s.rollback();
  CHECK(s.makespan() == 7);
}

TEST_CASE("incremental_schedule: items change places in a lane, but not against the graph") {
  const diamond x;
  auto s = schedule_of(x.p, {{0, 0, 0, 0}, {step::run(0), step::run(1), step::run(2), step::run(3)}});
  REQUIRE(s.put_before(2, 1));
  CHECK(s.evaluate() == 7);
  s.commit();
  CHECK(s.before(1) == 2);
  CHECK_FALSE(s.put_before(3, 1));
  s.rollback();
  CHECK_FALSE(s.put_before(2, 0));
  s.rollback();
  REQUIRE(s.shift(1, 0));
  CHECK(s.evaluate() == 7);
  s.commit();
  CHECK(s.after(0) == s.before(s.after(s.after(0))));
  CHECK(run_of(x.p, s.to_plan()) == 7);
}

TEST_CASE("incremental_schedule: sends stand in lanes, one per destination") {
  const auto w = test::ops_of({1, 1, 1}, {{0, 1}, {0, 2}}).build();
  const platform<uniform_links> q{std::vector<device>(3), {{.latency = 1}}, 2};
  const problem p{w, q};
  auto s = schedule_of(p, {{0, 1, 1}, {}});
  CHECK(s.makespan() == 1 + 2 + 1 + 2);
  REQUIRE(s.move(p.component(2), 2)); // now two sends, one after the other
  CHECK(s.evaluate() == 1 + 2 + 2 + 1 + 1);
  s.commit();
  CHECK(run_of(p, s.to_plan()) == s.makespan());
  REQUIRE(s.move(p.component(0), 1)); // one send
  CHECK(s.evaluate() == 1 + 2 + 1 + 1);
  s.commit();
  REQUIRE(s.move(p.component(2), 1)); // none
  CHECK(s.evaluate() == 3);
  s.commit();
  CHECK(s.to_plan().order.size() == 3);
}

TEST_CASE("incremental_schedule: memory is reserved by component") {
  auto b = test::ops_of({1, 1, 1}, {}, 10);
  b.colocate(0, 2);
  const auto w = std::move(b).build();
  const platform<uniform_links> q{{{.memory_capacity = 30}, {.memory_capacity = 15}}, {{.latency = 1}}};
  const problem p{w, q};
  auto s = schedule_of(p, {{0, 0, 0}, {}});
  CHECK(s.free(0) == 0);
  CHECK_FALSE(s.fits(p.component(0), 1));
  REQUIRE(s.fits(p.component(1), 1));
  REQUIRE(s.move(p.component(1), 1));
  CHECK(s.free(0) == 10);
  CHECK(s.free(1) == 5);
  s.rollback();
  CHECK(s.free(0) == 0);
  CHECK(s.free(1) == 15);
}

TEST_CASE("incremental_schedule: a device of two slots has two lanes") {
  const auto w = test::ops_of({1, 1, 2}, {}).build();
  const platform<uniform_links> q{{{.slots = 2}, {.slots = 1}}, {{.latency = 1}}};
  const problem p{w, q};
  auto s = schedule_of(p, {{0, 0, 1}, {}});
  CHECK(s.makespan() == 2);
  CHECK(s.after(0) == none);
  CHECK(s.after(1) == none);
  REQUIRE(s.move(p.component(2), 0));
  CHECK(s.evaluate() == 3);
  s.commit();
  CHECK(run_of(p, s.to_plan()) <= 3);
}

TEST_CASE("incremental_schedule: saved states come back, and make plans later") {
  const diamond x;
  auto s = schedule_of(x.p, {{0, 0, 0, 0}, {}});
  decltype(s)::snapshot saved;
  s.save(saved);
  const plan kept = s.to_plan();
  REQUIRE(s.move(x.p.component(1), 1));
  CHECK(s.evaluate() < s.infinity);
  s.commit();
  CHECK(s.to_plan(saved) == kept);
  s.restore(saved);
  CHECK(s.makespan() == saved.makespan);
  CHECK(s.to_plan() == kept);
}

TEST_CASE("incremental_schedule: an op that takes no time, and one without outputs") {
  workload_builder b;
  b.add_op({.work = 0});
  b.add_op({.work = 2});
  b.add_output(0, 0);
  b.add_edge(0, 1);
  const auto w = std::move(b).build();
  const auto q = test::equal_devices(2);
  const problem p{w, q};
  auto s = schedule_of(p, {{0, 0}, {}});
  CHECK(s.makespan() == 2);
  REQUIRE(s.move(p.component(0), 1));
  CHECK(s.evaluate() == 3);
  s.commit();
  CHECK(run_of(p, s.to_plan()) == 3);
}

TEST_CASE("incremental_schedule: thousands of changes in one place find room") {
  const auto w = test::ops_of({1, 1, 1}, {}).build();
  const auto q = test::equal_devices(1);
  const problem p{w, q};
  auto s = schedule_of(p, {{0, 0, 0}, {}});
  int made = 0;
  for (int k = 0; k < 5'000; ++k) { // labels between two others get closer and closer
    const item_id last = s.before(0) == none ? s.after(s.after(0)) : s.after(0) == none ? 0 : s.after(0);
    if (s.put_before(last, s.before(last)) && s.evaluate() == 3) {
      s.commit();
      ++made;
    } else {
      s.rollback();
    }
  }
  CHECK(made > 4'900);
  CHECK(run_of(p, s.to_plan()) == 3);
}

TEST_CASE("incremental_schedule: an estimate of a move without company is exact") {
  const diamond x;
  auto s = schedule_of(x.p, {{0, 0, 0, 0}, {step::run(0), step::run(1), step::run(2), step::run(3)}});
  CHECK(s.inputs_ready(1, 1) == 2);
  CHECK(s.inputs_ready(1, 0) == 1);
  CHECK(s.path_if_moved(3, 1) == 8);
}

} // namespace refine_incremental_schedule_test
