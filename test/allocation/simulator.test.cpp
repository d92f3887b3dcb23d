// SPDX-License-Identifier: BSL-1.0
/// After set-up and one run, running other plans allocates nothing.
#include "support/counting_allocator.hpp"

#include "simulate/random_problem.hpp"

#include "weft/schedule/fifo.hpp"
#include "weft/schedule/largest_remaining_work.hpp"
#include "weft/schedule/maximum_successor_rank.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/fair_sharing.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"

#include <doctest/doctest.h>

#include <type_traits>
#include <vector>

namespace allocation_simulator_test {

using namespace weft;
using weft::test::allocation_counter;
using weft::test::drawn;
using weft::test::drawn_problem;

/// Plans from the one with the fewest transfers to the one with the most.
std::vector<plan> plans_for(const drawn_problem& p, rng& random) {
  std::vector<plan> plans{{placement(p.num_ops(), 0)}};
  for (int i = 0; i < 20; ++i) {
    plans.push_back({weft::test::random_placement(random, p)});
  }
  plans.push_back({placement(p.num_ops(), 0)});
  for (const op_id v : ids(p.num_ops())) { // ignores groups and kinds, about which the simulator does not ask
    plans.back().placement[v] = static_cast<device_id>(v % p.num_devices());
  }
  for (std::size_t i = 0; i < plans.size(); i += 2) {
    for (const op_id v : p.topological_order()) {
      plans[i].order.push_back(step::run(v));
    }
  }
  return plans;
}

struct sum_of_waits {
  double seconds = 0;
  void on_transfer(std::uint32_t, const transfer&, double possible, double start) {
    seconds += start - possible;
  }
};

template <class Contention, class Policy>
void check(const Policy& policy) {
  rng random{17};
  for (int round = 0; round < 20; ++round) {
    const drawn s{random, {.max_ops = 60, .max_devices = 6}};
    const auto plans = plans_for(s.p, random);
    simulator<drawn_problem, Policy, Contention> sim{s.p, policy};
    trace run;
    simulate::memory_tracker memory{s.p};
    sum_of_waits waits;
    const bool shares = std::is_same_v<Contention, simulate::fair_sharing>; // what it keeps grows with the pairs in use
    for (std::size_t i = 0; i < (shares ? plans.size() : 1); ++i) {
      sim.run(plans[i], simulate::recorder{run});
      memory.follow(plans[i].placement, run);
    }
    const allocation_counter counter;
    bool complete = true;
    for (const auto& decided : plans) {
      complete = sim.run(decided, simulate::recorder{run}).complete && complete;
      memory.follow(decided.placement, run);
      sim.run(decided, waits);
      sim.run(decided);
    }
    const auto allocations = counter.count();
    CHECK(allocations == 0);
    CHECK(complete);
  }
}

template <class Policy>
void check_all(const Policy& policy = {}) {
  check<simulate::no_contention>(policy);
  check<simulate::port_contention>(policy);
  check<simulate::fair_sharing>(policy);
}

TEST_CASE("simulator, recorder and memory_tracker run again without allocating") {
  check_all<schedule::fifo>();
  check_all<schedule::path_completion_time>();
  check_all<schedule::largest_remaining_work>();
  check_all<schedule::maximum_successor_rank>();
  check_all<schedule::static_order>();
  check_all([](const placed_flow<drawn_problem>& f, item_id i) { return f.duration(i); });
}

TEST_CASE("placed_flow takes another placement without allocating") {
  rng random{18};
  const drawn s{random, {.max_ops = 200, .max_devices = 6}};
  const auto plans = plans_for(s.p, random);
  placed_flow flow{s.p};
  const allocation_counter counter;
  std::size_t transfers = 0;
  for (const auto& decided : plans) {
    flow.assign(decided.placement);
    transfers += flow.transfers().size();
  }
  CHECK(counter.count() == 0);
  CHECK(transfers > 0);
}

} // namespace allocation_simulator_test
