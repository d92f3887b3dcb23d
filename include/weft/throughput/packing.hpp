// SPDX-License-Identifier: BSL-1.0
/// Any placement that fits into memory, to start from.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/plan/infeasibility.hpp"
#include "weft/throughput/flow.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace weft::throughput {

/// A device for every component, or why there is none. Components are placed by falling demand, those with fewer
/// devices to choose from first, each where it takes least time, ties to the device with most memory left; when one
/// fits nowhere, earlier choices are taken back, up to `max_steps` times. Devices of one kind with as much memory left
/// and the same time are tried once. If the search ends without a placement, there is none.
/// Complexity: O(components · devices · log devices) if nothing is taken back.
template <class Problem>
outcome<std::vector<device_id>> pack(const flow<Problem>& f, std::uint64_t max_steps = 100'000) {
  const auto& p = f.problem();
  std::vector<byte_count> free(f.num_devices());
  for (const device_id d : ids(f.num_devices())) {
    free[d] = p.capacity(d);
  }
  std::vector<component_id> order(f.num_components());
  std::iota(order.begin(), order.end(), component_id{0});
  for (const component_id c : order) {
    if (f.allowed(c).empty()) {
      return p.why_unplaced(c, free);
    }
  }
  weft::stable_sort(order, [&](component_id a, component_id b) {
    return f.allowed(a).size() != f.allowed(b).size() ? f.allowed(a).size() < f.allowed(b).size()
                                                      : p.demand(a) > p.demand(b);
  });
  const auto choices = [&](component_id c) { // the best one last
    std::vector<device_id> fitting;
    for (const device_id d : f.allowed(c)) {
      if (free[d] >= p.demand(c)) {
        fitting.push_back(d);
      }
    }
    const auto better = [&](device_id a, device_id b) {
      return f.time(c, a) != f.time(c, b) ? f.time(c, a) < f.time(c, b) : free[a] > free[b];
    };
    weft::stable_sort(fitting, better);
    const auto alike = [&](device_id a, device_id b) {
      return !better(a, b) && !better(b, a) && p.platform().kind(a) == p.platform().kind(b) && p.memories().alike(a, b);
    };
    fitting.erase(std::unique(fitting.begin(), fitting.end(), alike), fitting.end());
    std::ranges::reverse(fitting);
    return fitting;
  };
  std::vector<device_id> where(f.num_components(), none);
  std::vector<std::vector<device_id>> left; // per placed component, what else to try
  infeasibility first_failure;
  bool failed = false;
  std::uint64_t steps = 0;
  if (!order.empty()) {
    left.push_back(choices(order.front()));
  }
  while (!left.empty()) {
    const component_id c = order[left.size() - 1];
    if (where[c] != none) {
      p.memories().give(free, where[c], p.demand(c));
      where[c] = none;
    }
    if (left.back().empty()) {
      if (!failed) {
        failed = true;
        first_failure = p.why_unplaced(c, free);
      }
      left.pop_back();
      if (++steps > max_steps) {
        first_failure.cause = infeasibility::kind::not_found;
        return first_failure;
      }
      continue;
    }
    where[c] = left.back().back();
    left.back().pop_back();
    p.memories().take(free, where[c], p.demand(c));
    if (left.size() == order.size()) {
      return where;
    }
    left.push_back(choices(order[left.size()]));
  }
  if (order.empty()) {
    return where;
  }
  return first_failure;
}

} // namespace weft::throughput
