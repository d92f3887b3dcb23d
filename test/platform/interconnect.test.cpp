// SPDX-License-Identifier: BSL-1.0
#include "routes.hpp"
#include "weft/core/random.hpp"
#include "weft/platform/interconnect.hpp"
#include "weft/platform/links.hpp"

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace platform_interconnect_test {

using namespace weft;
using weft_test::amount;
using weft_test::route;
using links_taken = std::vector<link_id>;
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST_CASE("interconnect: routes have the fewest links, then the least latency, then the links added first") {
  interconnect_builder b{3};
  const auto far = b.add_switch("far");
  const auto near = b.add_switch("near");
  const auto other = b.add_switch();
  for (const device_id d : {0u, 1u}) {
    b.join(d, far, {2, 100});   // 0, 1 and 4, 5
    b.join(d, near, {1, 10});   // 4, 5 and 6, 7 …
  }
  for (const device_id d : {0u, 1u}) {
    b.join(d, other, {1, 50}, {1, 60});
  }
  b.join(0, 2, {9, 1}); // 12, 13
  b.join(1, far, {5, 5});
  b.join(2, far, {5, 5}); // 16, 17
  const interconnect net = std::move(b).build();
  CHECK(net.num_devices() == 3);
  CHECK(net.num_switches() == 3);
  CHECK(net.switch_name(1) == "near");
  CHECK(net.switch_name(2).empty());
  CHECK(net.ends(2) == link_ends{0, near});
  CHECK(net.ends(3) == link_ends{near, 0});
  CHECK(route(net, 0, 1) == links_taken{2, 7}); // near before other, both nearer than far
  CHECK(route(net, 1, 0) == links_taken{6, 3});
  CHECK(route(net, 0, 2) == links_taken{12}); // the direct link, however slow
  CHECK(route(net, 2, 1) == links_taken{16, 5});
  CHECK(route(net, 2, 2).empty());
  CHECK(net(0, 1) == weft::link{2, 10});
  CHECK(net(2, 1) == weft::link{7, 5});
}

TEST_CASE("interconnect: devices hand on nothing unless they are told to, and links go one way") {
  const auto ring = [](bool through_devices) {
    interconnect_builder b{3, {.through_devices = through_devices}};
    for (const device_id d : {0u, 1u, 2u}) {
      b.add_link(d, (d + 1) % 3, {1, 10});
    }
    return std::move(b).build();
  };
  CHECK(route(ring(true), 0, 2) == links_taken{0, 1});
  CHECK_THROWS_WITH_AS(ring(false),
                       "network: there is no route from device 1 to device 0; join them, or switches that they are "
                       "joined to",
                       value_error);
}

TEST_CASE("interconnect: routes are spread by destination where several do equally well") {
  const auto net = [](bool spread) {
    interconnect_builder b{8, {.spread = spread}};
    const auto left = b.add_switch();
    const auto right = b.add_switch();
    for (device_id d = 0; d < 8; ++d) {
      b.join(d, d < 4 ? left : right, {0.1, 1});
    }
    for (const double latency : {0.3, 0.3, 0.4}) { // 16, 18, 20
      b.join(left, right, {latency, 1});
    }
    return std::move(b).build();
  };
  for (device_id to = 4; to < 8; ++to) {
    for (device_id from = 0; from < 4; ++from) {
      CHECK(route(net(false), from, to)[1] == 16);
      CHECK(route(net(true), from, to)[1] == (to % 2 == 0 ? 16 : 18));
    }
  }
}

TEST_CASE("interconnect: latencies that differ by the order in which they are added up are equal") {
  interconnect_builder b{8, {.through_devices = true}}; // a cube
  for (const device_id dimension : {0u, 1u, 2u}) {
    for (const device_id d : ids(8)) {
      b.add_link(d, d ^ (1u << dimension), {std::array{0.3, 0.2, 0.1}[dimension], 1});
    }
  }
  const interconnect net = std::move(b).build();
  for (const device_id from : ids(8)) {
    links_taken dimension_by_dimension;
    device_id at = from;
    for (const device_id dimension : {0u, 1u, 2u}) {
      dimension_by_dimension.push_back(8 * dimension + at);
      at ^= 1u << dimension;
    }
    CHECK(route(net, from, from ^ 7u) == dimension_by_dimension);
  }
}

/// The fewest links and, with them, the least latency between all nodes, by repeated improvement.
std::vector<std::pair<double, double>> shortest(const interconnect& net) {
  const auto n = net.num_devices() + net.num_switches();
  std::vector<std::pair<double, double>> best(n * n, {infinity, infinity});
  for (std::size_t v = 0; v < n; ++v) {
    best[v * n + v] = {0, 0};
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const link_id l : ids(net.num_links())) {
      const auto [from, to] = net.ends(l);
      for (std::size_t target = 0; target < n; ++target) {
        if (to != target && to < net.num_devices() && !net.routing().through_devices) {
          continue;
        }
        const auto [links, latency] = best[to * n + target];
        const std::pair through{links + 1, latency + net.link_at(l).latency};
        if (through < best[from * n + target]) {
          best[from * n + target] = through;
          changed = true;
        }
      }
    }
  }
  return best;
}

TEST_CASE("interconnect: random networks, against brute force") {
  rng random{11};
  int built = 0;
  for (int i = 0; i < 400; ++i) {
    const auto devices = 2 + random.below(5);
    const auto nodes = devices + random.below(5);
    interconnect_builder b{devices, {.through_devices = random.below(2) == 0, .spread = random.below(2) == 0}};
    for (auto s = devices; s < nodes; ++s) {
      b.add_switch();
    }
    for (auto k = 2 * nodes; k > 0; --k) {
      const auto from = random.below(nodes);
      const auto to = random.below(nodes);
      if (from != to) {
        b.join(from, to, {random.below(4) * 0.25, 1.0 + random.below(9)}, {random.below(4) * 0.25, 2});
      }
    }
    try {
      const interconnect net = std::move(b).build();
      const auto best = shortest(net);
      const link_matrix matrix{net};
      const link_matrix again{devices, matrix};
      CHECK(again.wiring().num_switches() == net.num_switches());
      const link_matrix fewer{2, matrix}; // the routes between the first ones
      CHECK(route(fewer, 1, 0) == route(net, 1, 0));
      CHECK(fewer.wiring().num_switches() == (devices == 2 ? net.num_switches() : 0));
      ++built;
      for (const device_id from : ids(devices)) {
        for (const device_id to : ids(devices)) {
          if (from == to) {
            continue;
          }
          const auto taken = route(net, from, to);
          auto node = from;
          for (const auto l : taken) { // a way, on which only who may hands on
            REQUIRE(net.ends(l).from == node);
            REQUIRE((node == from || node >= devices || net.routing().through_devices));
            node = net.ends(l).to;
          }
          CHECK(node == to);
          CHECK(!net.is_given(from, to));
          CHECK(static_cast<double>(taken.size()) == best[from * nodes + to].first);
          CHECK(net(from, to).latency == best[from * nodes + to].second);
          CHECK(net(from, to) == amount(net, from, to));
          CHECK(matrix(from, to) == net(from, to));
          CHECK(route(matrix, from, to) == taken);
        }
      }
    } catch (const value_error&) { // not connected
    }
  }
  CHECK(built > 200);
}

TEST_CASE("interconnect: routes that are given, over links of any kind") {
  interconnect_builder b{3};
  const auto hub = b.add_switch();
  for (const device_id d : {0u, 1u}) {
    b.join(d, hub, {1, 10});
  }
  const auto bus = b.add_link({7, 3});
  for (const device_id d : {0u, 1u}) {
    b.set_route(d, 2, {bus});
    b.set_route(2, d, {bus});
  }
  const auto spare = b.join(hub, 1, {5, 5});
  b.set_route(0, 1, {0, spare});
  CHECK_THROWS_WITH_AS(b.set_route(0, 1, {bus}), "network: route from device 0 to 1: is given twice", value_error);
  CHECK_THROWS_WITH_AS(b.set_route(1, 0, {}), "network: route from device 1 to 0: needs at least one link",
                       value_error);
  CHECK_THROWS_WITH_AS(b.set_route(1, 0, {0}),
                       "network: route from device 1 to 0: link 0 does not begin where the route has come to",
                       value_error);
  CHECK_THROWS_WITH_AS(b.set_route(1, 0, {2}), "network: route from device 1 to 0: does not end there", value_error);
  CHECK_THROWS_WITH_AS(b.set_route(1, 0, {7}),
                       "network: route from device 1 to 0: there is no link 7; there are 7, numbered from 0",
                       value_error);
  CHECK_THROWS_WITH_AS(b.set_route(1, 3, {0}),
                       "network: route from device 1 to 3: must join two different ones of the 3 devices",
                       value_error);
  const interconnect net = std::move(b).build();
  CHECK(net(0, 2) == weft::link{7, 3});
  CHECK(route(net, 2, 1) == links_taken{bus});
  CHECK(route(net, 0, 1) == links_taken{0, spare});
  CHECK(route(net, 1, 0) == links_taken{2, 1});
  CHECK(net.is_given(0, 1));
  CHECK(!net.is_given(1, 0));
  CHECK(!net.is_given(1, 1));
  CHECK(net.ends(bus) == link_ends{});
}

TEST_CASE("interconnect: what cannot be joined is an error that says so") {
  interconnect_builder b{2};
  b.add_switch("hub");
  CHECK_THROWS_WITH_AS(b.add_link(0, 3, {}),
                       "network: link 0: must join two different ones of the 2 devices and 1 switches", value_error);
  CHECK_THROWS_AS(b.add_link(2, 2, {}), value_error);
  for (const weft::link bad : {weft::link{-1, 1}, weft::link{infinity, 1}, weft::link{0, 0}}) {
    CHECK_THROWS_WITH_AS(b.join(0, 1, bad),
                         "network: link 0: needs a finite latency in seconds and a positive bandwidth in bytes per "
                         "second",
                         value_error);
  }
  b.join(0, 1, {});
  b.add_switch("hub");
  CHECK_THROWS_WITH_AS(std::move(b).build(), "network: two switches are called 'hub'", value_error);
}

} // namespace platform_interconnect_test
