// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/mpi/tree_network.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace interop_mpi_tree_network_test {

namespace mpi = weft::mpi;

constexpr double unlimited = std::numeric_limits<double>::infinity();

/// Two hosts of two ranks each, in one network.
struct two_hosts {
  mpi::rank_tree tree{4};
  mpi::tree_measurements measured;
  std::vector<std::vector<std::string>> names{{}, {"a", "b"}, {"network"}};

  two_hosts() {
    tree.add_level(std::vector<int>{0, 0, 1, 1});
    tree.add_level(std::vector<int>{0, 0, 0, 0});
    measured.alone = {{}, {2e-6, 4e9}, {20e-6, 1e9}};
    measured.out = measured.in = {std::vector<double>(4, 4e9), {1e9, 1e9}, {unlimited}};
    measured.inside = {std::vector<double>(4, unlimited), {unlimited, unlimited}, {unlimited}};
  }
  weft::interconnect build() const { return mpi::tree_network{tree, measured, names}.build(); }
  /// Every pair has, alone, what was measured of its level.
  void check(const weft::interconnect& net) const {
    for (weft::device_id a = 0; a < 4; ++a) {
      for (weft::device_id b = 0; b < 4; ++b) {
        if (a != b) {
          const auto& expected = measured.alone[tree.level_of(a, b)];
          CHECK(net(a, b).latency == doctest::Approx(expected.latency));
          CHECK(net(a, b).bandwidth == doctest::Approx(expected.bandwidth));
        }
      }
    }
  }
};

std::vector<weft::link_id> route(const weft::interconnect& net, weft::device_id a, weft::device_id b) {
  std::vector<weft::link_id> links;
  net.visit_route(a, b, [&](weft::link_id l) { links.push_back(l); });
  return links;
}

std::size_t in_common(const weft::interconnect& net, std::vector<weft::link_id> a, std::vector<weft::link_id> b,
                      double bandwidth) {
  return static_cast<std::size_t>(std::count_if(a.begin(), a.end(), [&](weft::link_id l) {
    return std::count(b.begin(), b.end(), l) > 0 && net.link_at(l).bandwidth == bandwidth;
  }));
}

TEST_CASE("tree_network: pairs alone as measured, and ranks of a host share its way out and in") {
  const two_hosts c;
  const auto net = c.build();
  c.check(net);
  CHECK(net.num_switches() == 3);
  CHECK(in_common(net, route(net, 0, 2), route(net, 1, 3), 1e9) == 2); // out of a, into b
  CHECK(in_common(net, route(net, 0, 2), route(net, 2, 0), 1e9) == 0); // the other direction
  CHECK(in_common(net, route(net, 0, 1), route(net, 1, 0), 4e9) == 0);
  CHECK_FALSE(net.is_given(0, 2));
}

TEST_CASE("tree_network: what passes through a group shares a link, what passes it by does not") {
  two_hosts c;
  c.measured.inside[1][0] = 5e9;
  c.measured.inside[2][0] = 1.5e9;
  const auto net = c.build();
  c.check(net);
  CHECK(in_common(net, route(net, 0, 1), route(net, 1, 0), 5e9) == 1);
  CHECK(in_common(net, route(net, 2, 3), route(net, 3, 2), 4e9) == 0);
  CHECK(in_common(net, route(net, 0, 1), route(net, 0, 2), 5e9) == 0);
  CHECK(in_common(net, route(net, 0, 2), route(net, 3, 1), 1.5e9) == 1);
}

TEST_CASE("tree_network: where everything shared is faster than one transfer, ranks have lanes") {
  two_hosts c;
  c.measured.out[1] = c.measured.in[1] = {3e9, unlimited};
  const auto net = c.build();
  c.check(net);
  CHECK(net.is_given(0, 2));
  CHECK_FALSE(net.is_given(0, 1));
  CHECK(in_common(net, route(net, 0, 2), route(net, 1, 3), 1e9) == 0);
  CHECK(in_common(net, route(net, 0, 2), route(net, 1, 3), 3e9) == 1);
  CHECK(in_common(net, route(net, 0, 2), route(net, 0, 3), 1e9) == 1);
}

TEST_CASE("tree_network: a host may be slower inside than the network") {
  two_hosts c;
  c.measured.alone = {{}, {30e-6, 5e8}, {20e-6, 1e9}};
  const auto net = c.build();
  c.check(net);
}

} // namespace interop_mpi_tree_network_test
