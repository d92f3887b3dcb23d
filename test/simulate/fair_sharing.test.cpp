// SPDX-License-Identifier: BSL-1.0
#include "weft/simulate/fair_sharing.hpp"

#include "simulate/random_problem.hpp"
#include "simulate/routed_platform.hpp"

#include "weft/cost/compose.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/network.hpp"
#include "weft/simulate/plan_of.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

namespace simulate_fair_sharing_test {

using namespace weft;

static_assert(simulate::network_for<simulate::fair_sharing, test::drawn_problem>);
static_assert(simulate::has_clock<simulate::fair_sharing::state<platform<>>>);
static_assert(simulate::holds_transfers<simulate::port_contention::state>);
static_assert(!simulate::has_clock<simulate::port_contention::state>);
static_assert(!simulate::holds_transfers<simulate::no_contention::state>);

/// Two ops on device 0 that make 10 and 20 bytes, times a factor, for one op each on device 1.
struct pair_of_transfers {
  workload w;
  platform<> q;

  explicit pair_of_transfers(weft::link between, byte_count factor = 1)
      : w{[factor] {
          workload_builder b;
          const op_id first = b.add_op({.work = 1, .bytes = 10 * factor});
          const op_id second = b.add_op({.work = 1, .bytes = 20 * factor});
          b.add_edge(first, b.add_op({.work = 1}));
          b.add_edge(second, b.add_op({.work = 1}));
          return std::move(b).build();
        }()},
        q{{device{.slots = 2}, device{.slots = 2}}, link_matrix{2, between}} {}
};

TEST_CASE("fair_sharing: two transfers share a link, and the one that is left has all of it") {
  const pair_of_transfers x{{0.5, 10}};
  const problem p{x.w, x.q};
  simulator sim{p, schedule::fifo{}, simulate::fair_sharing{}};
  trace run;
  const auto r = sim.run(plan{{0, 0, 1, 1}, {}}, simulate::recorder{run});
  REQUIRE(run.transfers.size() == 2);
  CHECK(run.transfers[0].start == 1);
  CHECK(run.transfers[0].arrival == 1 + 0.5 + 2); // at 5 bytes per second
  CHECK(run.transfers[1].arrival == 1 + 0.5 + 2 + 1);
  CHECK(r.makespan == 5.5);
}

TEST_CASE("fair_sharing: transfers without bytes, and links that never fill, take the latency") {
  const pair_of_transfers empty{{0.5, 10}, 0};
  const problem without_bytes{empty.w, empty.q};
  CHECK(simulator{without_bytes, schedule::fifo{}, simulate::fair_sharing{}}.run(plan{{0, 0, 1, 1}, {}}).makespan ==
        2.5);
  for (const weft::link between : {weft::link{0.5, std::numeric_limits<double>::infinity()}, weft::link{2, 1e30}}) {
    const pair_of_transfers x{between};
    const problem p{x.w, x.q};
    simulator sim{p, schedule::fifo{}, simulate::fair_sharing{}};
    CHECK(sim.run(plan{{0, 0, 1, 1}, {}}).makespan == doctest::Approx(2 + between.latency));
  }
}

TEST_CASE("fair_sharing: what takes for ever ends at infinity, as without contention") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  workload_builder b;
  const op_id first = b.add_op({.work = 1, .bytes = 10});
  const op_id second = b.add_op({.work = 1, .bytes = 10});
  b.add_edge(first, second);
  b.add_edge(second, b.add_op({.work = 1}));
  const auto w = std::move(b).build();
  const platform<> q{std::vector<device>(2), link_matrix{2, {0.5, 10}}};
  const plan decided{{0, 1, 0}, {}};
  const auto run = [&](const auto& p) {
    for (const auto& r : {simulator{p, schedule::fifo{}}.run(decided),
                          simulator{p, schedule::fifo{}, simulate::fair_sharing{}}.run(decided),
                          simulator{p, schedule::fifo{}, simulate::any_network{contention_model::port}}.run(decided)}) {
      CHECK(r.complete);
      CHECK(r.makespan == infinity);
    }
  };
  run(problem{w, q, cost::from_function{[](op_id v, device_id d) { return v == 1 && d == 1 ? infinity : 1.0; }}});
  struct one_way : cost::link_transfers {
    double compute_time(const workload&, op_id, const platform<>&, device_id) const { return 1; }
    double transfer_time(const workload&, tensor_id, const platform<>&, device_id from, device_id) const {
      return from == 0 ? 1.0 : infinity;
    }
  };
  run(problem{w, q, one_way{}});
}

TEST_CASE("fair_sharing: weights of routes are inverse to their latencies where that is asked for") {
  // Devices 0 and 1 send 30 bytes each to device 2 over a link of 10 bytes/s; one is twice as far away.
  workload_builder b;
  const op_id first = b.add_op({.work = 1, .bytes = 30});
  const op_id second = b.add_op({.work = 1, .bytes = 30});
  const op_id last = b.add_op({.work = 1});
  b.add_edge(first, last);
  b.add_edge(second, last);
  const auto w = std::move(b).build();
  test::routed_platform q{platform<>{std::vector<device>(3), link_matrix{3}},
                          {{0, 10}, {1, 100}, {2, 100}},
                          {{}, {}, {1, 0}, {}, {}, {2, 0}, {}, {}, {}}};
  const problem p{w, q};
  trace run;
  simulator sim{p, schedule::fifo{}, simulate::fair_sharing{flow_weights::inverse_latency}};
  sim.run(plan{{0, 1, 2}, {}}, simulate::recorder{run});
  // From 2 to 3 the near one has the link alone; then it has two thirds of it until its other 20 bytes are through.
  CHECK(run.transfers[0].arrival == doctest::Approx(3 + 3));
  CHECK(run.transfers[1].arrival == doctest::Approx(6 + 2));
  CHECK(validate(p, {0, 1, 2}, run, {.contention = contention_model::fair, .weights = flow_weights::inverse_latency})
          .empty());
  CHECK(!validate(p, {0, 1, 2}, run, {.contention = contention_model::fair}).empty());
}

template <class Problem>
void check_runs(const Problem& p, const placement& where, flow_weights weights) {
  simulator free_run{p, schedule::fifo{}, simulate::fair_sharing{weights}};
  const validate_options options{.contention = contention_model::fair, .weights = weights};
  trace run;
  const auto first = free_run.run(plan{where, {}}, simulate::recorder{run});
  REQUIRE(first.complete);
  REQUIRE(first.makespan == run.makespan);
  const auto wrong = validate(p, where, run, options);
  REQUIRE_MESSAGE(wrong.empty(), to_string(wrong.front()));
  // The same again, and in the order of the run.
  trace again;
  free_run.run(plan{where, {}}, simulate::recorder{again});
  REQUIRE(again == run);
  simulator in_order{p, schedule::static_order{}, simulate::fair_sharing{weights}};
  REQUIRE(in_order.run(simulate::plan_of(p, run), simulate::recorder{again}).complete);
  REQUIRE(validate(p, where, again, options).empty());
}

TEST_CASE("fair_sharing: runs are what the validator finds the long way, on matrices and on shared routes") {
  rng random{12};
  for (int round = 0; round < 1500; ++round) {
    const test::drawn x{random, {.max_ops = 40, .max_devices = 6}};
    const auto where = test::random_placement(random, x.p);
    const auto weights = round % 3 == 0 ? flow_weights::inverse_latency : flow_weights::equal;
    check_runs(x.p, where, weights);
    const auto shared = test::random_routes(random, x.q, 12);
    check_runs(problem{x.w, shared}, where, weights);
  }
}

} // namespace simulate_fair_sharing_test
