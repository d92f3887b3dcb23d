// SPDX-License-Identifier: BSL-1.0
#include "weft/simulate/contention.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace simulate_contention_test {

using namespace weft;

/// The ports of four devices and the transfers `(from, to)` that share them, all of one second.
struct ports {
  std::vector<transfer> transfers;
  simulate::port_contention::state state;
  explicit ports(std::vector<std::pair<device_id, device_id>> routes) : state{4, routes.size()} {
    for (const auto& [from, to] : routes) {
      transfers.push_back({.from = from, .to = to, .transfer_time = 1});
    }
    state.reset(transfers);
  }
  /// What begins, in this order; those of `instant` take no time.
  std::vector<std::uint32_t> granted(std::vector<std::uint32_t> instant = {}) {
    std::vector<std::uint32_t> begun;
    state.settle(0, [&](std::uint32_t k, double) {
      begun.push_back(k);
      return std::find(instant.begin(), instant.end(), k) == instant.end();
    });
    return begun;
  }
};
using numbers = std::vector<std::uint32_t>;

TEST_CASE("port_contention: one tensor at a time out of a device and into a device") {
  ports p{{{0, 1}, {0, 2}, {3, 1}, {1, 0}}};
  for (std::uint32_t k = 0; k < 4; ++k) {
    p.state.request(k, 5);
  }
  CHECK(p.granted() == numbers{0, 3}); // sending and receiving are different ports
  p.state.release(3);
  CHECK(p.granted().empty());
  p.state.release(0);
  CHECK(p.granted() == numbers{1, 2});
}

TEST_CASE("port_contention: who waits for one port does not keep the other") {
  ports p{{{0, 1}, {2, 1}, {2, 3}}};
  p.state.request(0, 0);
  CHECK(p.granted() == numbers{0});
  p.state.request(1, 1);
  CHECK(p.granted().empty());
  p.state.request(2, 2);
  CHECK(p.granted() == numbers{2}); // although 1 was first at the port of device 2
  p.state.release(0);
  CHECK(p.granted().empty());
  p.state.release(2);
  CHECK(p.granted() == numbers{1});
}

TEST_CASE("port_contention: the order of requests decides among all routes, and it is told when each was made") {
  ports p{{{0, 1}, {2, 1}, {0, 3}, {0, 1}, {2, 3}}};
  p.state.request(3, 0);
  CHECK(p.granted() == numbers{3});
  for (const std::uint32_t k : {4u, 2u, 1u, 0u}) {
    p.state.request(k, 1 + k);
  }
  CHECK(p.granted() == numbers{4});
  p.state.release(3);
  p.state.release(4);
  std::vector<double> since;
  p.state.settle(0, [&](std::uint32_t, double asked) {
    since.push_back(asked);
    return true;
  });
  CHECK(since == std::vector<double>{3, 2}); // 2 to device 3 and 1 to device 1; 0 has to wait
  p.state.reset(p.transfers);
  CHECK(p.granted().empty());
  p.state.request(0, 0);
  CHECK(p.granted() == numbers{0});
}

TEST_CASE("port_contention: what takes no time needs free ports, but holds them for no time") {
  ports p{{{0, 1}, {0, 1}, {0, 2}, {3, 1}}};
  for (std::uint32_t k = 0; k < 4; ++k) {
    p.state.request(k, 0);
  }
  CHECK(p.granted({0, 1}) == numbers{0, 1, 2, 3});
  for (std::uint32_t k = 0; k < 4; ++k) {
    p.state.release(k);
  }
  p.state.request(3, 1);
  CHECK(p.granted() == numbers{3});
  p.state.request(0, 2);
  CHECK(p.granted({0}).empty());
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

TEST_CASE("simulator: a pair of ports does not stay idle because of a transfer that waits elsewhere") {
  // Op 0's 40 bytes go from device 0 to 1 in [1, 11). Op 1's first tensor waits for device 1's in-port from 1 on; its
  // second one goes to device 3 meanwhile.
  workload_builder b;
  b.add_op({.work = 1, .bytes = 40});
  b.add_op({.work = 1, .bytes = 8});
  b.add_output(1, 4);
  b.add_edge(0, b.add_op({.work = 1}));
  b.add_edge(1, b.add_op({.work = 1}));
  b.add_edge(1, b.add_op({.work = 1}), 1);
  const workload w = std::move(b).build();
  const platform<uniform_links> q{{{}, {}, {}, {}}, {{.latency = 0, .bandwidth = 4}}};
  const problem p{w, q};
  trace run;
  simulator sim{p, schedule::fifo{}, simulate::port_contention{}};
  CHECK(sim.run(plan{{0, 2, 1, 1, 3}}, simulate::recorder{run}).makespan == 14);
  CHECK(run.transfers == std::vector<transfer_record>{
                           {0, 0, 1, 1, 1, 1, 11}, {1, 2, 1, 1, 1, 11, 13}, {2, 2, 3, 1, 1, 1, 2}});
}

} // namespace simulate_contention_test
