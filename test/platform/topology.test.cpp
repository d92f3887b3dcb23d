// SPDX-License-Identifier: BSL-1.0
#include "routes.hpp"
#include "weft/platform/links.hpp"
#include "weft/platform/topology.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace platform_topology_test {

using namespace weft;
using weft_test::route;

static_assert(topology::torus({3}, {1, 2})(0, 2) == weft::link{1, 2}); // in constant expressions, too
static_assert(topology::fat_tree({{.down = 2, .cable = {1, 2}}, {.down = 2, .cable = {3, 1}}})(0, 3) ==
              weft::link{8, 1});

/// The fewest links between devices, by relaxing every link until nothing changes.
std::vector<std::size_t> fewest_links(const interconnect& net) {
  const auto n = net.num_devices() + net.num_switches();
  std::vector<std::size_t> least(n * n, n);
  for (std::size_t v = 0; v < n; ++v) {
    least[v * n + v] = 0;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const link_id l : ids(net.num_links())) {
      const auto [from, to] = net.ends(l);
      for (std::size_t target = 0; target < n; ++target) {
        if (const auto through = least[to * n + target] + 1; through < least[from * n + target]) {
          least[from * n + target] = through;
          changed = true;
        }
      }
    }
  }
  return least;
}

TEST_CASE("topology: routes on a torus settle one dimension after the other, the short way round") {
  for (const std::vector<std::size_t>& sizes :
       {std::vector<std::size_t>{1}, {2}, {7}, {8}, {3, 4}, {2, 5}, {4, 1, 3}, {2, 2, 2}, {4, 3, 2, 3}}) {
    const auto net = topology::torus(sizes, {0.1, 5});
    const auto least = fewest_links(net);
    std::size_t devices = 1;
    std::size_t cables = 0; // of one device
    for (const auto size : sizes) {
      devices *= size;
      cables += std::min<std::size_t>(size - 1, 2);
    }
    REQUIRE(net.num_devices() == devices);
    CHECK(net.num_links() == devices * cables);
    for (const device_id from : ids(devices)) {
      for (const device_id to : ids(devices)) {
        const auto taken = route(net, from, to);
        CHECK(taken.size() == least[from * devices + to]);
        // Step by step as the dimensions say.
        device_id at = from;
        std::size_t step = 0;
        std::size_t stride = 1;
        for (const auto size : sizes) {
          const auto coordinate = [&](device_id d) { return d / stride % size; };
          const std::size_t ahead = (coordinate(to) + size - coordinate(at)) % size;
          const bool upward = 2 * ahead <= size;
          for (std::size_t left = upward ? ahead : size - ahead; left > 0; --left, ++step) {
            const auto next = (coordinate(at) + (upward ? 1 : size - 1)) % size;
            const auto there = static_cast<device_id>(at - coordinate(at) * stride + next * stride);
            REQUIRE(step < taken.size());
            REQUIRE(net.ends(taken[step]) == link_ends{at, there});
            at = there;
          }
          stride *= size;
        }
        CHECK(at == to);
      }
    }
  }
  CHECK_THROWS_WITH_AS(topology::torus({3, 0}, {}), "torus: needs a size of at least 1 in every dimension",
                       value_error);
}

TEST_CASE("topology: routes in a fat tree are shortest, and all that goes to a device comes down one way") {
  const weft::link near{0.1, 4};
  const weft::link far{0.3, 2};
  const std::vector<std::vector<topology::tree_level>> trees{
    {{3, near}},
    {{4, near}, {3, far}},
    {{4, near}, {3, far, 2}},
    {{4, near}, {4, far, 4}},
    {{2, near}, {2, near, 2}, {4, far, 2}},
    {{3, near, 2}, {2, far, 3}, {2, far, 1}},
    {{2, near}, {1, far}, {3, far}},
  };
  for (const auto& levels : trees) {
    const auto net = topology::fat_tree(levels);
    const auto least = fewest_links(net);
    const auto nodes = net.num_devices() + net.num_switches();
    std::size_t devices = 1;
    for (const auto& level : levels) {
      devices *= level.down;
    }
    REQUIRE(net.num_devices() == devices);
    std::map<std::pair<std::uint32_t, device_id>, link_id> onward; // at a switch, to a device
    std::set<link_id> used;
    for (const device_id from : ids(devices)) {
      for (const device_id to : ids(devices)) {
        const auto taken = route(net, from, to);
        CHECK(taken.size() == least[from * nodes + to]);
        // Up to the first common enclosure and down again.
        std::size_t up = 0;
        for (std::size_t span = 1; from / span != to / span; span *= levels[up++].down) {
        }
        CHECK(taken.size() == 2 * up);
        for (const auto l : taken) {
          used.insert(l);
          if (const auto node = net.ends(l).from; node >= devices) {
            CHECK(onward.try_emplace({node, to}, l).first->second == l);
          }
        }
      }
    }
    const bool loose = levels[0].up > 1 || std::ranges::any_of(levels, [](const auto& l) { return l.down == 1; });
    CHECK((loose || used.size() == net.num_links()));
  }
  CHECK_THROWS_WITH_AS(topology::fat_tree({{.down = 2, .cable = {}, .up = 0}}),
                       "fat tree: needs a 'down' and an 'up' of at least 1 on every level", value_error);
}

TEST_CASE("topology: with as many ways up as down, no two transfers of a cyclic shift share a link") {
  for (const auto& levels : {std::vector<topology::tree_level>{{4, {}}, {4, {}, 4}},
                             std::vector<topology::tree_level>{{2, {}}, {2, {}, 2}, {4, {}, 2}}}) {
    const auto net = topology::fat_tree(levels);
    const auto n = static_cast<device_id>(net.num_devices());
    for (device_id shift = 1; shift < n; ++shift) {
      std::vector<int> transfers(net.num_links(), 0);
      for (const device_id d : ids(n)) {
        net.visit_route(d, (d + shift) % n, [&](link_id l) { ++transfers[l]; });
      }
      CHECK(std::ranges::max(transfers) == 1);
    }
  }
}

TEST_CASE("topology: in a tree of enclosures those inside share the uplink") {
  // Two GPUs on a PCIe switch, two switches in a node, one network card per node, three nodes on a network.
  const weft::link lane{1, 16};
  const weft::link uplink{2, 12};
  const weft::link card{4, 3};
  const auto net = topology::fat_tree({{2, lane}, {2, uplink}, {1, card}, {3, card}});
  CHECK(net.num_switches() == 6 + 3 + 3 + 1);
  CHECK(net(0, 1) == weft::link{2, 16});
  CHECK(net(1, 2) == weft::link{6, 12});
  CHECK(net(0, 11) == weft::link{22, 3});
  const auto a = route(net, 0, 4);
  const auto b = route(net, 3, 11);
  CHECK(a.size() == 8);
  CHECK(a[0] != b[0]);
  CHECK(a[1] != b[1]);
  CHECK(a[2] == b[2]); // the way out of node 0
  CHECK(a[3] == b[3]);
  CHECK(a[4] != b[4]);
}

TEST_CASE("topology: everybody is on the same bus") {
  const topology::bus memory{3, {1, 100}};
  const link_matrix links{3, memory};
  CHECK(links.num_links() == 1);
  CHECK(route(links, 0, 2) == route(links, 2, 1));
  CHECK(route(links, 0, 0).empty());
  CHECK(links(1, 0) == weft::link{1, 100});
}

} // namespace platform_topology_test
