// SPDX-License-Identifier: BSL-1.0
#include "partition/place.hpp"

#include "weft/partition/heft.hpp"
#include "weft/platform/generate.hpp"
#include "weft/refine/incremental_schedule.hpp"
#include "weft/refine/neighbourhood.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/generate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
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

/// Charges that have nothing to do with each other, some of them 0 and some large.
struct charged {
  objective_parts::price_of_time time{};
  std::uint64_t seed = 0;

  double draw(std::uint64_t key) const {
    rng random{rng::mix(seed + key)};
    const double share = random.uniform();
    return random.below(4) == 0 ? 0 : random.below(8) == 0 ? 1e6 * share : share;
  }
  template <class Problem>
  objective_parts::price_of_time price(const Problem&) const {
    return time;
  }
  template <class Problem>
  double op_charge(const Problem&, op_id v, device_id d) const {
    return draw(v * std::uint64_t{64} + d);
  }
  template <class Problem>
  double transfer_charge(const Problem&, tensor_id t, device_id from, device_id to) const {
    return draw((std::uint64_t{1} << 40) + (t * std::uint64_t{64} + from) * 64 + to);
  }
};

/// The value of the schedule's plan, summed up from nothing.
template <class Problem>
double value_of(const Problem& p, const plan& x, double makespan, const charged& o) {
  double sum = 0;
  for (const op_id v : ids(p.num_ops())) {
    sum += o.op_charge(p, v, x.placement[v]);
  }
  placed_flow<Problem> flow{p};
  flow.assign(x.placement);
  for (const auto& t : flow.transfers()) {
    sum += o.transfer_charge(p, t.tensor, x.placement[p.workload().producer(t.tensor)], t.to);
  }
  return o.time.of(makespan) + sum;
}

TEST_CASE("incremental_schedule: the value is what the makespan costs, and the charges, whatever was changed") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const generate::level_options shape{.min_width = 8, .max_width = 8, .num_ops = 20 + 10 * seed, .in_degree = 3};
    const auto w = generate::layered({.shape = shape, .cpu_only_probability = 0, .gpu_only_probability = 0}, seed);
    const auto q = generate::heterogeneous({.devices = 4, .memory_times_speed = std::uint64_t{1} << 40}, seed);
    const problem p{w, q};
    rng random{seed};
    workspace scratch;
    const auto start = partition::run(partition::heft{}, p, random, scratch);
    REQUIRE(start);
    trace run;
    simulator<std::remove_const_t<decltype(p)>, schedule::static_order>{p}.run(start->plan, simulate::recorder{run});
    const double due = run.makespan * (seed % 3 == 0 ? 0.8 : 1.1);
    const charged o{{.per_second = seed % 4 == 0 ? 0.0 : 2.0,
                     .deadline = seed % 2 == 0 ? due : std::numeric_limits<double>::infinity(),
                     .per_late_second = seed % 2 == 0 ? 50.0 : 0.0},
                    seed};
    incremental_schedule s{p, objective_parts::sum_of(p, o)};
    s.assign(run);
    refine::neighbourhood moves{p};
    int committed = 0;
    int refused = 0;
    for (int k = 0; k < 4'000; ++k) {
      const double before = s.value();
      if (!moves.change(s, refine::near_critical(s, random, 2), random)) {
        s.rollback();
        CHECK(s.value() == before);
        continue;
      }
      auto full = s;
      const double value = full.evaluate();
      const double limit = random.below(3) == 0 ? s.infinity : random.below(2) == 0 ? value : before;
      const double known = s.evaluate(limit);
      CHECK(known == (value > limit ? s.infinity : value));
      if (known < s.infinity && (known <= before * 1.01 || random.below(4) == 0)) {
        s.commit();
        ++committed;
        CHECK(s.value() == value);
        const double summed = value_of(p, s.to_plan(), s.makespan(), o);
        CHECK(s.value() == doctest::Approx(summed).epsilon(1e-13));
      } else {
        s.rollback();
        ++refused;
        CHECK(s.value() == before);
      }
    }
    CHECK(committed > 100);
    CHECK(refused > 100);
    // All that came and went leaves no trace.
    decltype(s) anew{p, objective_parts::sum_of(p, o)};
    trace now;
    s.record(now);
    anew.assign(now);
    CHECK(anew.charges() == s.charges());
    CHECK(anew.value() == s.value());
    typename decltype(s)::snapshot saved;
    s.save(saved);
    CHECK(saved.value == s.value());
  }
}

} // namespace refine_incremental_schedule_test
