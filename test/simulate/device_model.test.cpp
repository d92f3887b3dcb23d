// SPDX-License-Identifier: BSL-1.0
#include "weft/simulate/device_model.hpp"

#include "simulate/random_problem.hpp"

#include "weft/concurrency/moldable.hpp"
#include "weft/partition/heft.hpp"
#include "weft/refine/local_search.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/manycore.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/under.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace simulate_device_model_test {

using namespace weft;
using test::drawn_problem;

/// One thing at a time, first come, first served, on devices that are there from some instant on. It has a clock and no
/// `release`.
struct late_devices {
  double from = 0; ///< device d: d + 1 times that

  template <class Problem>
  struct state {
    struct doing {
      double until;
      item_id item; ///< `none` while it is not there
    };
    double from;
    const placed_flow<Problem>* flow = nullptr;
    std::vector<std::vector<item_id>> waiting = {};
    std::vector<doing> now_on = {};

    void reset(const placed_flow<Problem>& f, const order&) {
      flow = &f;
      waiting.assign(f.problem().num_devices(), {});
      now_on.clear();
      for (std::size_t d = 0; d < waiting.size(); ++d) {
        now_on.push_back({from * static_cast<double>(d + 1), none});
      }
    }
    void push(item_id i, device_id d, double) { waiting[d].push_back(i); }
    template <class Begin>
    void serve(device_id d, double now, Begin begin) {
      auto& x = now_on[d];
      const bool is_there = x.until < 0 || (x.item == none && x.until <= now);
      if (is_there && !waiting[d].empty()) {
        x = {now + flow->duration(waiting[d].front()), waiting[d].front()};
        waiting[d].erase(waiting[d].begin());
        begin(x.item);
      } else if (is_there) {
        x = {-1, none};
      }
    }
    const doing* first() const {
      const doing* found = nullptr;
      for (const auto& x : now_on) {
        found = x.until >= 0 && (found == nullptr || x.until < found->until) ? &x : found;
      }
      return found;
    }
    bool idle() const { return first() == nullptr; }
    double next() const { return first()->until; }
    template <class Finish, class Wake>
    void advance(double, Finish finish, Wake wake) {
      const auto d = static_cast<device_id>(first() - now_on.data());
      const item_id i = now_on[d].item;
      now_on[d] = {-1, none};
      i == none ? wake(d) : finish(i);
    }
  };

  template <class Problem, class Policy>
  state<Problem> state_for(const Problem&, const Policy&) const {
    return {from};
  }
};

struct without_serve {
  struct state {
    void reset(const placed_flow<drawn_problem>&, const order&) {}
    void push(item_id, device_id, double) {}
  };
  template <class Problem, class Policy>
  state state_for(const Problem&, const Policy&) const {
    return {};
  }
};

using simulate::device_model_for;
using moldable_problem_type =
  problem<workload, with_machines<platform<uniform_links>>, concurrency::moldable<>>;
using strategy_type = std::remove_const_t<decltype(concurrency::s1)>;
static_assert(device_model_for<simulate::slot_devices, drawn_problem, schedule::fifo>);
static_assert(!device_model_for<simulate::slot_devices, drawn_problem, strategy_type>);
static_assert(!device_model_for<simulate::slot_devices, drawn_problem, int>);
static_assert(device_model_for<simulate::shared_cores, moldable_problem_type, strategy_type>);
static_assert(!device_model_for<simulate::shared_cores, drawn_problem, strategy_type>);
static_assert(!device_model_for<simulate::shared_cores, moldable_problem_type, schedule::fifo>);
static_assert(device_model_for<late_devices, drawn_problem, schedule::fifo>);
static_assert(!device_model_for<without_serve, drawn_problem, schedule::fifo>);
static_assert(!device_model_for<int, drawn_problem, schedule::fifo>);
static_assert(std::same_as<simulate::devices_of<strategy_type>, simulate::shared_cores>);
static_assert(std::same_as<simulate::devices_of<schedule::fifo>, simulate::slot_devices>);

using late = simulate::under<schedule::fifo, simulate::no_contention, late_devices>;
static_assert(slot_policy_for<late, drawn_problem>);
static_assert(run_policy_for<strategy_type, moldable_problem_type>);
static_assert(!slot_policy_for<strategy_type, moldable_problem_type>);
static_assert(run_policy_for<simulate::under<strategy_type, simulate::any_network>, moldable_problem_type>);
static_assert(!slot_policy_for<simulate::under<strategy_type, simulate::any_network>, moldable_problem_type>);

/// Devices that are there from the start do what slots do.
template <class Network>
void compare(const Network& network, contention_model contention) {
  rng random{11};
  for (int round = 0; round < 300; ++round) {
    const test::drawn x{random, {.max_ops = 30, .max_devices = 5, .slots = 0}};
    const plan decided{test::random_placement(random, x.p), {}};
    trace run, expected;
    simulator punctual{x.p, schedule::fifo{}, network, late_devices{}};
    const auto got = punctual.run(decided, simulate::recorder{run});
    simulator slots{x.p, schedule::fifo{}, network};
    const auto wanted = slots.run(decided, simulate::recorder{expected});
    REQUIRE(got.complete);
    REQUIRE(got.num_events == wanted.num_events);
    REQUIRE(got.transfer_bytes == wanted.transfer_bytes);
    REQUIRE(got.makespan == run.makespan);
    REQUIRE(validate(x.p, decided.placement, run, {.contention = contention}).empty());
    REQUIRE(punctual.run(decided).makespan == got.makespan); // again
    // Once a device is there it can only follow.
    simulator later{x.p, schedule::fifo{}, network, late_devices{2}};
    REQUIRE(later.run(decided, simulate::recorder{run}).complete);
    REQUIRE(validate(x.p, decided.placement, run, {.contention = contention}).empty());
    for (const auto& r : run.ops) {
      REQUIRE(r.start >= 2 * (r.device + 1.0));
    }
  }
}

TEST_CASE("device model: one with a clock, on every network") {
  compare(simulate::no_contention{}, contention_model::none);
  compare(simulate::port_contention{}, contention_model::port);
  compare(simulate::any_network{contention_model::port}, contention_model::port);
  compare(simulate::fair_sharing{}, contention_model::fair);
}

TEST_CASE("device model: a device that is woken serves what waits") {
  workload_builder b;
  b.add_op({.work = 2, .bytes = 4});
  b.add_op({.work = 1});
  b.add_edge(0, 1);
  const auto w = std::move(b).build();
  const platform<uniform_links> q{std::vector<device>(2), uniform_links{{0, 4}}};
  const problem p{w, q};
  trace run;
  simulator sim{p, schedule::fifo{}, simulate::no_contention{}, late_devices{5}};
  CHECK(sim.run({{0, 1}}, simulate::recorder{run}).makespan == 11);
  CHECK(run.ops[0] == op_record{0, 5, 7});
  CHECK(run.transfers[0].arrival == 8);
  CHECK(run.ops[1] == op_record{1, 10, 11});
}

TEST_CASE("device model: pipelines and refiners minimise the run on it") {
  rng random{3};
  int better = 0;
  for (int round = 0; round < 30; ++round) {
    const test::drawn x{random, {.max_ops = 20, .max_devices = 4, .kinds = false}};
    const late how{{}, {}, {4}};
    const auto before = pipeline(partition::heft{}, how)(x.p);
    const auto after = pipeline(partition::heft{}, refine::local_search{.budget = {.moves = 100}}, how)(x.p);
    REQUIRE(after.has_plan());
    REQUIRE(after.makespan == simulator_for<drawn_problem, late>{x.p, how}.run(after.plan).makespan);
    REQUIRE(after.makespan <= before.makespan);
    better += after.makespan < before.makespan;
  }
  CHECK(better > 10);
}

} // namespace simulate_device_model_test
