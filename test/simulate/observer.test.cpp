// SPDX-License-Identifier: BSL-1.0
#include "schedule/small_flow.hpp"
#include "simulate/random_problem.hpp"

#include "weft/schedule/fifo.hpp"
#include "weft/simulate/observer.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace simulate_observer_test {

using namespace weft;
using test::five_ops;

struct event {
  std::string name;
  std::uint32_t id;
  device_id device;
  double time;
  friend bool operator==(const event&, const event&) = default;
};

/// Writes down everything.
struct listener {
  std::vector<event> events;
  std::size_t num_items = 0;

  template <class Problem>
  void on_begin(const placed_flow<Problem>& flow) {
    CHECK(events.empty());
    num_items = flow.num_items();
  }
  void on_op_start(op_id v, device_id d, double now) { events.push_back({"op start", v, d, now}); }
  void on_op_finish(op_id v, device_id d, double now) { events.push_back({"op finish", v, d, now}); }
  void on_send_start(std::uint32_t k, const transfer& x, double now) {
    events.push_back({"send start", k, x.from, now});
  }
  void on_send_finish(std::uint32_t k, const transfer& x, double now) {
    events.push_back({"send finish", k, x.from, now});
  }
  void on_transfer(std::uint32_t k, const transfer& x, double possible, double start) {
    events.push_back({"transfer", k, x.from, start});
    CHECK(start >= possible);
  }
  void on_arrival(std::uint32_t k, const transfer& x, double now) { events.push_back({"arrival", k, x.to, now}); }
};

TEST_CASE("observer: every event of a run, in order") {
  // Device 0: a [0, 2), its send [2, 12), c [12, 18), e [18, 21), c's send [21, 31).
  const five_ops s{10};
  listener heard;
  simulator sim{s.p, schedule::fifo{}};
  sim.run(plan{s.where}, heard);
  CHECK(heard.num_items == 7);
  const std::vector<event> expected{{"op start", 0, 0, 0},     {"op finish", 0, 0, 2},    {"send start", 0, 0, 2},
                                    {"send finish", 0, 0, 12}, {"transfer", 0, 0, 12},    {"op start", 2, 0, 12},
                                    {"arrival", 0, 1, 15},     {"op start", 1, 1, 15},    {"op finish", 1, 1, 17},
                                    {"op finish", 2, 0, 18},   {"op start", 4, 0, 18},    {"op finish", 4, 0, 21},
                                    {"send start", 1, 0, 21},  {"send finish", 1, 0, 31}, {"transfer", 1, 0, 31},
                                    {"arrival", 1, 1, 33},     {"op start", 3, 1, 33},    {"op finish", 3, 1, 37}};
  CHECK(heard.events == expected);
}

TEST_CASE("observer: without sends, a transfer starts as soon as its op has finished") {
  const five_ops s{0};
  listener heard;
  simulator sim{s.p, schedule::fifo{}};
  sim.run(plan{s.where}, heard);
  REQUIRE(heard.events.size() == 5 * 2 + 2 * 2);
  CHECK(heard.events[1] == event{"op finish", 0, 0, 2});
  CHECK(heard.events[2] == event{"transfer", 0, 0, 2});
}

TEST_CASE("observer: on random runs, each event once, and at one instant all endings before any start") {
  rng random{9};
  for (int round = 0; round < 500; ++round) {
    const test::drawn s{random};
    const auto where = test::random_placement(random, s.p);
    simulator sim{s.p, schedule::fifo{}, simulate::port_contention{}};
    listener heard;
    const auto result = sim.run(plan{where}, heard);
    std::size_t starts = 0;
    std::size_t finishes = 0;
    std::size_t arrivals = 0;
    std::size_t transfers = 0;
    for (std::size_t i = 0; i < heard.events.size(); ++i) {
      const auto& e = heard.events[i];
      starts += e.name.ends_with("start");
      finishes += e.name.ends_with("finish");
      arrivals += e.name == "arrival";
      transfers += e.name == "transfer";
      CHECK((i == 0 || heard.events[i - 1].time <= e.time));
    }
    const auto num_transfers = sim.flow().transfers().size();
    const auto sends = s.q.send_work() > 0 ? num_transfers : 0;
    CHECK(starts == s.p.num_ops() + sends);
    CHECK(finishes == starts);
    CHECK(arrivals == num_transfers);
    CHECK(transfers == num_transfers);
    CHECK(result.num_events == finishes + arrivals);
    for (std::size_t i = 1; i < heard.events.size(); ++i) { // what ends after a start at its instant has no duration
      const auto& before = heard.events[i - 1];
      const auto& e = heard.events[i];
      if (before.name == "op start" && e.name == "op finish" && before.time == e.time) {
        CHECK(s.w.work(e.id) == 0);
      }
    }
  }
}

TEST_CASE("observer: any subset of the members will do") {
  const five_ops s{10};
  struct {
    int count = 0;
    void on_arrival(std::uint32_t, const transfer&, double) { ++count; }
  } arrivals;
  struct {
    double busy = 0;
    void on_op_start(op_id, device_id d, double now) { busy -= d == 0 ? now : 0; }
    void on_op_finish(op_id, device_id d, double now) { busy += d == 0 ? now : 0; }
  } busy;
  simulator sim{s.p, schedule::fifo{}};
  sim.run(plan{s.where}, arrivals);
  sim.run(plan{s.where}, busy);
  CHECK(arrivals.count == 2);
  CHECK(busy.busy == 11);
}

TEST_CASE("observer: watching changes nothing") {
  const five_ops s{10};
  simulator sim{s.p, schedule::fifo{}};
  const auto alone = sim.run(plan{s.where});
  listener heard;
  const auto watched = sim.run(plan{s.where}, heard);
  CHECK(alone.makespan == watched.makespan);
  CHECK(alone.num_events == watched.num_events);
}

TEST_CASE("recorder: the same trace is filled again by a smaller run") {
  const five_ops s{10};
  simulator sim{s.p, schedule::fifo{}};
  trace run;
  sim.run(plan{s.where}, simulate::recorder{run});
  CHECK(run.transfers.size() == 2);
  sim.run(plan{{0, 0, 0, 0, 0}}, simulate::recorder{run});
  CHECK(run.transfers.empty());
  CHECK(run.makespan == 23);
  CHECK(run.ops == std::vector<op_record>{{0, 0, 2}, {0, 2, 6}, {0, 6, 12}, {0, 15, 23}, {0, 12, 15}});
}

// The concept tells observers from other things.
struct unrelated {
  void on_something(int) {}
};
struct finish_only {
  void on_send_finish(std::uint32_t, const transfer&, double) {}
};
static_assert(simulate::run_observer<listener> && simulate::run_observer<finish_only>);
static_assert(simulate::run_observer<simulate::recorder> && simulate::run_observer<simulate::no_observer>);
static_assert(!simulate::run_observer<unrelated> && !simulate::run_observer<int>);

} // namespace simulate_observer_test
