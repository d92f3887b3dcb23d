// SPDX-License-Identifier: BSL-1.0
/// A platform with routes over links that are shared, drawn at random.
#pragma once

#include "simulate/random_problem.hpp"

#include "weft/platform/concepts.hpp"
#include "weft/platform/platform.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace weft::test {

/// Devices, links, and for each ordered pair of devices the links on the way.
struct routed_platform : platform<> {
  std::vector<link> wires;
  std::vector<std::vector<link_id>> routes; ///< from × to

  std::size_t num_links() const { return wires.size(); }
  link link_at(link_id l) const { return wires[l]; }
  template <class F>
  void visit_route(device_id from, device_id to, F f) const {
    for (const link_id l : routes[from * num_devices() + to]) {
      f(l);
    }
  }
  double latency(device_id from, device_id to) const {
    double sum = 0;
    visit_route(from, to, [&](link_id l) { sum += wires[l].latency; });
    return sum;
  }
  double bandwidth(device_id from, device_id to) const {
    double least = std::numeric_limits<double>::infinity();
    visit_route(from, to, [&](link_id l) { least = std::min(least, wires[l].bandwidth); });
    return least;
  }
};
static_assert(platform_parts::has_routes<routed_platform>);

/// Routes of one to four links out of at most `max_links`, each of which many routes share; some links never fill.
inline routed_platform random_routes(rng& random, const platform<>& q, std::size_t max_links) {
  routed_platform made{q, {}, {}};
  const std::size_t links = 4 + random.below(max_links - 3);
  for (std::size_t l = 0; l < links; ++l) {
    made.wires.push_back({0.5 * random.below(3), random.below(8) == 0 ? std::numeric_limits<double>::infinity()
                                                                      : static_cast<double>(1u << random.below(4))});
  }
  for (std::size_t pair = 0; pair < q.num_devices() * q.num_devices(); ++pair) {
    std::vector<link_id> all;
    for (const link_id l : ids(links)) {
      all.push_back(l);
    }
    random.shuffle(all);
    all.resize(1 + random.below(4));
    made.routes.push_back(std::move(all));
  }
  return made;
}

} // namespace weft::test
