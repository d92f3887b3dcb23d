// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/replica_placement.hpp"

#include "weft/platform/links.hpp"
#include "weft/platform/platform.hpp"
#include "weft/platform/presets.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace replica_placement_test {

using namespace weft;
using parallel::replica_placement;

TEST_CASE("replica_placement: what is on the host of a node is on the host of the replica's node") {
  const auto machine = presets::hgx_a100_x2();
  std::vector<device_id> hosts, gpus;
  for (const device_id d : ids(machine.num_devices())) {
    (machine.kind(d) == device_kind::cpu ? hosts : gpus).push_back(d);
  }
  REQUIRE(hosts.size() == 2);
  REQUIRE(gpus.size() == 8);
  const std::vector<device_id> first{gpus[0], gpus[1]}, same_node{gpus[2], gpus[3]}, other_node{gpus[4], gpus[5]};
  const placement where{hosts[0], gpus[0], gpus[1], hosts[0]};
  CHECK(replica_placement(where, first, first, machine) == where);
  CHECK(replica_placement({hosts[1], gpus[0]}, first, first, machine) == placement{hosts[1], gpus[0]});
  CHECK(replica_placement(where, first, same_node, machine) == placement{hosts[0], gpus[2], gpus[3], hosts[0]});
  CHECK(replica_placement(where, first, other_node, machine) == placement{hosts[1], gpus[4], gpus[5], hosts[1]});

  const std::vector<device_id> across{gpus[0], gpus[4]}, turned{gpus[5], gpus[1]}; // stages on both nodes
  CHECK(replica_placement({hosts[0], hosts[1], gpus[4]}, across, turned, machine) ==
        placement{hosts[1], hosts[0], gpus[1]});
}

TEST_CASE("replica_placement: a host that serves all devices stays; lists of other lengths are refused") {
  const platform machine{{{.kind = device_kind::cpu}, {.kind = device_kind::gpu}, {.kind = device_kind::gpu}},
                         uniform_links{}};
  const std::vector<device_id> one{1}, two{2}, both{1, 2};
  CHECK(replica_placement({0, 1, 0}, one, two, machine) == placement{0, 2, 0});
  CHECK_THROWS_AS(replica_placement({0}, one, both, machine), value_error);
  CHECK_THROWS_AS(replica_placement({0}, {}, {}, machine), value_error);
}

} // namespace replica_placement_test
