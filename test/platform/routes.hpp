// SPDX-License-Identifier: BSL-1.0
/// Helpers for tests of topologies: routes as lists, and checks of what `has_routes` promises.
#pragma once

#include "weft/platform/concepts.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace weft_test {

template <class T>
constexpr std::vector<weft::link_id> route(const T& links, weft::device_id from, weft::device_id to) {
  std::vector<weft::link_id> taken;
  links.visit_route(from, to, [&](weft::link_id l) { taken.push_back(l); });
  return taken;
}

/// What a route amounts to, the latencies added up from the sender on.
template <class T>
weft::link amount(const T& links, weft::device_id from, weft::device_id to) {
  weft::link all{0, std::numeric_limits<double>::infinity()};
  for (const auto l : route(links, from, to)) {
    REQUIRE(l < links.num_links());
    all.latency += links.link_at(l).latency;
    all.bandwidth = all.bandwidth < links.link_at(l).bandwidth ? all.bandwidth : links.link_at(l).bandwidth;
  }
  return all;
}

/// Every pair's route adds up to what the platform says of the pair.
template <class P>
void check_routes(const P& p) {
  for (const auto a : weft::ids(p.num_devices())) {
    CHECK(route(p, a, a).empty());
    for (const auto b : weft::ids(p.num_devices())) {
      if (a != b) {
        CAPTURE(a);
        CAPTURE(b);
        CHECK(!route(p, a, b).empty());
        CHECK(amount(p, a, b).latency == p.latency(a, b));
        CHECK(amount(p, a, b).bandwidth == p.bandwidth(a, b));
      }
    }
  }
}

} // namespace weft_test
