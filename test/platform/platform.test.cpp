// SPDX-License-Identifier: BSL-1.0
#include "weft/platform/archetype.hpp"
#include "weft/platform/platform.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

namespace platform_platform_test {

using namespace weft;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

static_assert(device_platform<platform<>> && platform_parts::has_speeds<platform<>> &&
              platform_parts::has_links<platform<>>);
static_assert(device_platform<platform<uniform_links>> && device_platform<platform<hierarchical_links>>);

constexpr double at_compile_time() {
  const platform<uniform_links> p{{{.speed = 4}, {.kind = device_kind::gpu, .speed = 8, .slots = 2}}, {{1, 10}}, 3};
  return p.speed(1) + p.latency(0, 1) + p.bandwidth(1, 0) + p.send_work() + p.slots(1);
}
static_assert(at_compile_time() == 24);

/// Expects that a platform of this second device is refused with a message that begins like `where`.
void refused(const device& second, const std::string& where) {
  try {
    const platform<uniform_links> p{{device{}, second}, {}};
    FAIL("accepted what should be refused at " << where);
  } catch (const value_error& e) {
    CHECK(e.where == where);
  }
}

TEST_CASE("platform: devices tell what they were given") {
  link_matrix links{2, {1e-6, 1e9}};
  links.set(1, 0, {2e-6, 2e9});
  platform p{{{.kind = device_kind::cpu, .speed = 1e9, .memory_capacity = 64, .memory_bandwidth = 5e9},
              {.kind = device_kind::gpu, .speed = 1e12, .memory_capacity = 16, .slots = 4}},
             links, 10};
  CHECK(p.num_devices() == 2);
  CHECK(p.kind(1) == device_kind::gpu);
  CHECK(p.speed(0) == 1e9);
  CHECK(p.memory_capacity(1) == 16);
  CHECK(p.memory_bandwidth(0) == 5e9);
  CHECK(p.memory_bandwidth(1) == infinity);
  CHECK(p.slots(0) == 1);
  CHECK(p.slots(1) == 4);
  CHECK(p.latency(0, 1) == 1e-6);
  CHECK(p.bandwidth(1, 0) == 2e9);
  CHECK(p.send_work() == 10);
  CHECK(p.devices().size() == 2);
  CHECK(p.links()(1, 0) == weft::link{2e-6, 2e9});

  CHECK(p.name(1).empty());
  p.set_names({"host", "card"});
  CHECK(p.name(1) == "card");
  CHECK_THROWS_WITH_AS(p.set_names({"one"}), "names: 1 names for 2 devices", value_error);
  CHECK(p.name(0) == "host");
}

TEST_CASE("platform: numbers that make no sense are refused and named") {
  for (const double bad : {0.0, -1.0, infinity, nan}) {
    refused({.speed = bad}, "device 1: speed");
  }
  for (const double bad : {0.0, -1.0, nan}) {
    refused({.memory_bandwidth = bad}, "device 1: memory_bandwidth");
  }
  refused({.slots = 0}, "device 1: slots");
  for (const double bad : {-1.0, infinity, nan}) {
    CHECK_THROWS_WITH_AS((platform<uniform_links>{{device{}}, {}, bad}),
                         "platform: send_work: must be a finite number, not negative", value_error);
  }
}

TEST_CASE("platform: links that make no sense are refused and named") {
  for (const weft::link bad : {weft::link{-1, 1}, weft::link{infinity, 1}, weft::link{nan, 1}, weft::link{0, 0},
                               weft::link{0, -1}, weft::link{0, nan}}) {
    link_matrix links{3};
    links.set(2, 1, bad);
    CHECK_THROWS_WITH_AS((platform{{{}, {}, {}}, links}),
                         "device 2: link to device 1: needs a finite latency in seconds and a positive bandwidth in "
                         "bytes per second",
                         value_error);
  }
  CHECK_THROWS_WITH_AS((platform{{{}, {}, {}}, link_matrix{2}}), "links: made for 2 devices, but there are 3",
                       value_error);
}

TEST_CASE("platform: what a device is to itself does not matter") {
  link_matrix links{2};
  links.set(0, 0, {-1, -1});
  CHECK_NOTHROW((platform{{{}, {}}, links}));
}

} // namespace platform_platform_test
