// SPDX-License-Identifier: BSL-1.0
#include "weft/simulate/any_network.hpp"

#include "simulate/random_problem.hpp"

#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"

#include <doctest/doctest.h>

namespace simulate_any_network_test {

using namespace weft;

template <class Network>
void check_same(const test::drawn_problem& p, const placement& where, Network network, simulate::any_network chosen) {
  trace expected, run;
  const auto a =
    simulator{p, schedule::path_completion_time{}, network}.run(plan{where, {}}, simulate::recorder{expected});
  simulator sim{p, schedule::path_completion_time{}, chosen};
  for (int again = 0; again < 2; ++again) {
    const auto b = sim.run(plan{where, {}}, simulate::recorder{run});
    REQUIRE(run == expected);
    REQUIRE(b.num_events == a.num_events);
    REQUIRE(b.makespan == a.makespan);
  }
}

TEST_CASE("any_network: runs are those of the network of that name") {
  rng random{5};
  for (int round = 0; round < 500; ++round) {
    const test::drawn x{random, {.max_ops = 30, .max_devices = 5}};
    const auto where = test::random_placement(random, x.p);
    check_same(x.p, where, simulate::port_contention{}, {contention_model::port});
    check_same(x.p, where, simulate::fair_sharing{}, {contention_model::fair});
    check_same(x.p, where, simulate::fair_sharing{flow_weights::inverse_latency},
               {contention_model::fair, flow_weights::inverse_latency});
  }
}

} // namespace simulate_any_network_test
