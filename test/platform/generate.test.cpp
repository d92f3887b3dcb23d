// SPDX-License-Identifier: BSL-1.0
#include "weft/platform/generate.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace platform_generate_test {

using namespace weft;

TEST_CASE("heterogeneous: speeds, links, memory and kinds follow the options") {
  const auto p = generate::heterogeneous({.devices = 400}, 1);
  REQUIRE(p.num_devices() == 400);
  CHECK(p.send_work() == 10);
  double gpus = 0, speeds = 0, rates = 0;
  double slowest_link = 1e9, fastest_link = 0;
  for (const device_id d : ids(400)) {
    CHECK(p.speed(d) >= 10);
    CHECK(p.speed(d) <= 100);
    CHECK(p.reached_rates(d));
    CHECK(p.memory_capacity(d) == static_cast<byte_count>(1e9 / p.speed(d)));
    speeds += p.speed(d) / 400;
    gpus += p.kind(d) == device_kind::gpu ? 1 : 0;
    for (device_id e = d + 1; e < 400; ++e) {
      CHECK(p.bandwidth(d, e) == p.bandwidth(e, d));
      slowest_link = std::min(slowest_link, p.bandwidth(d, e));
      fastest_link = std::max(fastest_link, p.bandwidth(d, e));
      rates += p.bandwidth(d, e) / (400 * 399 / 2);
    }
  }
  CHECK(speeds == doctest::Approx(55).epsilon(0.1));
  CHECK(gpus / 400 == doctest::Approx(0.4).epsilon(0.2));
  CHECK(slowest_link == 10);
  CHECK(fastest_link == 60);
  CHECK(rates == doctest::Approx(35).epsilon(0.01));
}

TEST_CASE("heterogeneous: a seed decides the platform") {
  const generate::heterogeneous_options o{.devices = 8};
  CHECK(generate::heterogeneous(o, 3).devices() == generate::heterogeneous(o, 3).devices());
  CHECK(generate::heterogeneous(o, 3).devices() != generate::heterogeneous(o, 4).devices());
  const auto all = generate::heterogeneous({.devices = 20, .gpu_share = 1}, 3);
  CHECK(std::ranges::all_of(all.devices(), [](const device& d) { return d.kind == device_kind::gpu; }));
}

TEST_CASE("heterogeneous: options that make no sense are errors") {
  CHECK_THROWS_AS(generate::heterogeneous({.devices = 0}), value_error);
  CHECK_THROWS_AS(generate::heterogeneous({.min_speed = 0}), value_error);
  CHECK_THROWS_AS(generate::heterogeneous({.min_speed = 101}), value_error);
  CHECK_THROWS_AS(generate::heterogeneous({.min_bandwidth = 61}), value_error);
  CHECK_THROWS_AS(generate::heterogeneous({.gpu_share = 1.1}), value_error);
  CHECK_THROWS_AS(generate::heterogeneous({.send_work = -1}), value_error);
}

} // namespace platform_generate_test
