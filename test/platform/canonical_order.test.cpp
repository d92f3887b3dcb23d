// SPDX-License-Identifier: BSL-1.0
#include "weft/platform/canonical_order.hpp"

#include "renumbered.hpp"
#include "weft/core/random.hpp"
#include "weft/platform/presets.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace canonical_order_test {

using namespace weft;

/// What devices are, and the ways between them, in an order.
struct machine_in_order {
  std::vector<device> devices = {};
  std::vector<weft::link> ways = {};
  friend bool operator==(const machine_in_order&, const machine_in_order&) = default;
};

machine_in_order in_order(const platform<>& p, const std::vector<device_id>& order) {
  machine_in_order m{.devices = chosen_devices(p.devices(), order)};
  for (const device_id a : order) {
    for (const device_id b : order) {
      m.ways.push_back(a == b ? weft::link{} : p.links()(a, b));
    }
  }
  return m;
}

TEST_CASE("canonical_order: a machine with other numbers is the same machine in this order") {
  rng random{3};
  for (const auto& preset : presets::entries) {
    CAPTURE(preset.name);
    const auto p = preset.make();
    const auto expected = in_order(p, canonical_order(p));
    for (int times = 0; times < (p.num_devices() > 20 ? 1 : 4); ++times) {
      const auto other = weft_test::renumbered(p, weft_test::shuffled(p.num_devices(), random));
      CHECK(in_order(other, canonical_order(other)) == expected);
    }
  }
}

TEST_CASE("canonical_order: random machines of few kinds of links, which are told apart by who is beside them") {
  rng random{5};
  for (int times = 0; times < 200; ++times) {
    const std::size_t n = 2 + random.below(7);
    link_matrix links{n};
    for (const device_id a : ids(n)) {
      for (device_id b = 0; b < a; ++b) {
        links.connect(a, b, {1e-6, random.below(3) == 0 ? 50e9 : 10e9});
      }
    }
    const platform<> p{std::vector<device>(n), links};
    const auto other = weft_test::renumbered(p, weft_test::shuffled(n, random));
    CHECK(in_order(other, canonical_order(other)) == in_order(p, canonical_order(p)));
  }
}

TEST_CASE("canonical_order: numbers stay in order where nothing tells devices apart, and near ones follow each other") {
  const platform<> alike{std::vector<device>(4), link_matrix{4}};
  CHECK(canonical_order(alike) == std::vector<device_id>{0, 1, 2, 3});
  CHECK(canonical_order(platform<>{}).empty());
  link_matrix pairs{6, {0, 1e9}};
  for (const device_id d : {0u, 1u, 2u}) {
    pairs.connect(d, d + 3, {0, 50e9});
  }
  CHECK(canonical_order(platform<>{std::vector<device>(6), pairs}) == std::vector<device_id>{0, 3, 1, 4, 2, 5});
}

TEST_CASE("canonical_order: all that devices are tells them apart") {
  const std::vector<device> few{{.active_watts = 9},       {.idle_watts = 4, .active_watts = 9},
                                {.narrow = {.half = 2}},   {.narrow = {.fp8 = 4}},
                                {.narrow = {.int8 = 4}},   {.send_overhead = 1e-6},
                                {.memory_bandwidth = 20e9}};
  const platform<> p{few, link_matrix{few.size(), {1e-6, 1e9}}};
  rng random{7};
  for (int times = 0; times < 10; ++times) {
    const auto other = weft_test::renumbered(p, weft_test::shuffled(few.size(), random));
    CHECK(in_order(other, canonical_order(other)) == in_order(p, canonical_order(p)));
  }
}

} // namespace canonical_order_test
