// SPDX-License-Identifier: BSL-1.0
#include "routes.hpp"
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
static_assert(platform_parts::has_routes<platform<>> && platform_parts::has_routes<platform<uniform_links>> &&
              platform_parts::has_routes<platform<hierarchical_links>>);
struct linked { // without routes
  double latency(device_id, device_id) const { return 1; }
  double bandwidth(device_id, device_id) const { return 1; }
};
struct routed : linked {
  std::size_t num_links() const { return 1; }
  weft::link link_at(link_id) const { return {1, 1}; }
  template <class F>
  void visit_route(device_id, device_id, F&& f) const {
    f(0);
  }
};
static_assert(platform_parts::has_links<linked> && !platform_parts::has_routes<linked>);
static_assert(platform_parts::has_routes<routed>);
static_assert(device_platform<platform<uniform_links>> && device_platform<platform<hierarchical_links>>);

constexpr double at_compile_time() {
  const platform<uniform_links> p{{{.speed = 4}, {.kind = device_kind::gpu, .speed = 8, .slots = 2}}, {{1, 10}}, 3};
  return p.speed(1) + p.latency(0, 1) + p.bandwidth(1, 0) + p.send_work() + p.slots(1);
}
static_assert(at_compile_time() == 24);

// Routes in constant expressions, also those of a builder.
constexpr double over_a_switch() {
  interconnect_builder b{3};
  const auto hub = b.add_switch();
  for (const device_id d : {0u, 1u, 2u}) {
    b.join(d, hub, {1, 10.0 + d});
  }
  link_matrix links{std::move(b).build()};
  links.connect(0, 1, {5, 50});
  const platform<> p{std::vector<device>(3), links};
  double sum = p.latency(1, 2) + p.bandwidth(2, 1) + p.latency(0, 1);
  p.visit_route(0, 2, [&](link_id l) { sum += 100 * p.link_at(l).latency + 1000 * l; });
  return sum;
}
static_assert(over_a_switch() == 2 + 11 + 5 + 200 + 5000);

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
    refused({.idle_watts = bad, .active_watts = bad}, "device 1: idle_watts, active_watts");
  }
  refused({.idle_watts = 2, .active_watts = 1}, "device 1: idle_watts, active_watts");
  for (const double bad : {-1.0, infinity, nan}) {
    refused({.send_overhead = bad}, "device 1: send_overhead");
  }
  for (const double bad : {-1.0, infinity, nan}) {
    CHECK_THROWS_WITH_AS((platform<uniform_links>{{device{}}, {}, bad}),
                         "platform: send_work: must be a finite number, not negative", value_error);
  }
}

TEST_CASE("platform: links that make no sense are refused and named") {
  for (const double bad : {-1.0, infinity, nan}) {
    CHECK_THROWS_WITH_AS((platform{{{}, {}}, link_matrix{2, {.joules_per_byte = bad}}}),
                         "device 0: link to device 1: needs finite joules_per_byte, not negative", value_error);
    interconnect_builder b{2};
    CHECK_THROWS_WITH_AS(b.join(0, 1, {.joules_per_byte = bad}),
                         "network: link 0: needs finite joules_per_byte, not negative", value_error);
  }
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

TEST_CASE("platform: devices stay what they are when they get other kinds") {
  platform<uniform_links> q{{{}, {.kind = device_kind::gpu, .speed = 2}}, {}};
  q.set_names({"host", "card"});
  constexpr auto own = static_cast<device_kind>(9);
  const auto p = q.with_kinds({own, own}).changed([](device& d) { d.speed *= 2; });
  CHECK(p.kind(0) == own);
  CHECK(p.kind(1) == own);
  CHECK(p.hardware(0) == device_kind::cpu);
  CHECK(p.hardware(1) == device_kind::gpu);
  CHECK(hardware_kind(p, 1) == device_kind::gpu);
  CHECK(p.with_kinds({device_kind::cpu, own}).hardware(1) == device_kind::gpu);
  CHECK(p.name(1) == "card");
  CHECK(p.speed(1) == 4);
  CHECK(q.hardware(1) == device_kind::gpu);
  CHECK(hardware_kind(platform_archetype{}, 0) == device_kind::cpu); // it tells kinds only
  CHECK_THROWS_WITH_AS(q.with_kinds({own}), "kinds: 1 kinds for 2 devices", value_error);
}

TEST_CASE("platform: what a device is to itself does not matter") {
  link_matrix links{2};
  links.set(0, 0, {-1, -1});
  CHECK_NOTHROW((platform{{{}, {}}, links}));
}

TEST_CASE("platform: routes of every link model add up to its links") {
  link_matrix matrix{3, {1, 10}};
  matrix.set(2, 1, {3, 4});
  const std::vector<device> devices(3);
  weft_test::check_routes(platform<>{devices, matrix});
  const platform<uniform_links> uniform{devices, {{2, 5}}};
  weft_test::check_routes(uniform);
  CHECK(uniform.num_links() == 9);
  CHECK(weft_test::route(uniform, 2, 1) == std::vector<link_id>{7});
  weft_test::check_routes(platform<hierarchical_links>{devices, {{{1, 9}, {3, 7}}, {2}, 3}});

  struct ring { // a model that knows of no routes
    weft::link operator()(device_id a, device_id b) const { return {a * 1.0, b + 1.0}; }
  };
  weft_test::check_routes(platform<ring>{devices, {}});
  CHECK_THROWS_WITH_AS((platform<hierarchical_links>{devices, {{{}}, {}, 4}}),
                       "links: made for 4 devices, but there are 3", value_error);
}

} // namespace platform_platform_test
