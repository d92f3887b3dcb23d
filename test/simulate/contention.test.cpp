// SPDX-License-Identifier: BSL-1.0
#include "weft/simulate/contention.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

namespace simulate_contention_test {

using namespace weft;

TEST_CASE("no_contention: every transfer begins at once") {
  simulate::no_contention::state ports{3};
  CHECK(ports.reserve(4, 10, 0, 1) == 4);
  CHECK(ports.reserve(4, 10, 0, 1) == 4);
  CHECK(ports.reserve(5, 10, 0, 1) == 5);
}

TEST_CASE("port_contention: one tensor at a time out of a device and into a device") {
  simulate::port_contention::state ports{4};
  CHECK(ports.reserve(0, 10, 0, 1) == 0);
  CHECK(ports.reserve(2, 5, 0, 2) == 10); // waits for the sender
  CHECK(ports.reserve(3, 5, 3, 1) == 10); // waits for the receiver
  CHECK(ports.reserve(4, 1, 1, 0) == 4);  // sending and receiving are different ports
  CHECK(ports.reserve(5, 1, 0, 3) == 15); // granted in the order of request
  CHECK(ports.reserve(6, 1, 2, 2) == 15);
  CHECK(ports.reserve(40, 1, 0, 1) == 40);
  ports.reset();
  CHECK(ports.reserve(1, 1, 0, 1) == 1);
}

/// Three ops on device 0 at once, one of them with consumers on 1 and 2, the others with one on 1.
struct fan {
  workload w = [] {
    workload_builder b;
    for (int i = 0; i < 3; ++i) {
      b.add_op({.work = 1, .bytes = 4});
    }
    for (const op_id from : {0u, 0u, 1u, 2u}) {
      b.add_edge(from, b.add_op({.work = 1}));
    }
    return std::move(b).build();
  }();
  platform<uniform_links> q{{{.slots = 3}, {}, {}}, {{.latency = 1, .bandwidth = 4}}};
  problem<workload, platform<uniform_links>> p{w, q};
  plan decided{{0, 0, 0, 2, 1, 1, 1}, {}};

  fan() = default;
  fan(const fan&) = delete;
};

TEST_CASE("simulator: without contention, transfers overlap") {
  const fan f;
  trace run;
  simulator sim{f.p, schedule::fifo{}};
  CHECK(sim.run(f.decided, simulate::recorder{run}).makespan == 6);
  for (const auto& x : run.transfers) {
    CHECK(x.start == 1);
    CHECK(x.arrival == 3);
  }
}

TEST_CASE("simulator: with port contention, transfers wait for both ports in the order in which they could begin") {
  const fan f;
  trace run;
  simulator sim{f.p, schedule::fifo{}, simulate::port_contention{}};
  CHECK(sim.run(f.decided, simulate::recorder{run}).makespan == 10);
  REQUIRE(run.transfers.size() == 4);
  for (std::size_t k = 0; k < 4; ++k) {
    const auto at = static_cast<double>(k);
    CHECK(run.transfers[k].send_finish == 1);
    CHECK(run.transfers[k].start == 1 + 2 * at);
    CHECK(run.transfers[k].arrival == 3 + 2 * at);
  }
  CHECK(run.transfers[0].to == 2);
  CHECK(run.ops[3].start == 3);
  CHECK(run.ops[6].start == 9);
}

TEST_CASE("simulator: into one port, transfers of different senders take turns") {
  workload_builder b;
  const auto sink = b.add_op({.work = 1});
  for (const double work : {1.0, 2.0}) {
    b.add_edge(b.add_op({.work = work, .bytes = 12}), sink);
  }
  const workload w = std::move(b).build();
  const platform<uniform_links> q{{{}, {}, {}}, {{.latency = 1, .bandwidth = 4}}};
  const problem p{w, q};
  trace run;
  simulator sim{p, schedule::fifo{}, simulate::port_contention{}};
  CHECK(sim.run(plan{{0, 1, 2}}, simulate::recorder{run}).makespan == 10);
  CHECK(run.transfers[0].start == 1);
  CHECK(run.transfers[1].start == 5); // could begin at 2
}

} // namespace simulate_contention_test
