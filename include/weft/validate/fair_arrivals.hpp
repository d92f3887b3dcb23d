// SPDX-License-Identifier: BSL-1.0
/// Arrival times of transfers that share links, by an independent, naive computation.
#pragma once

#include "weft/plan/contention.hpp"
#include "weft/plan/trace.hpp"
#include "weft/platform/concepts.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace weft::detail {

/// When each of the transfers arrives, given when they start, if links are shared by max–min fairness: at every instant
/// at which one begins or ends to move its bytes, all rates are found anew, by raising those of all transfers together
/// until a link is full, and then those of the others. Complexity: O(k² (k + links)) for k transfers under way at a
/// time.
template <class Problem>
std::vector<double> fair_arrivals(const Problem& p, const std::vector<const transfer_record*>& sent,
                                  flow_weights weights) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto& q = p.platform();
  using platform_type = typename Problem::platform_type;
  const auto n = p.num_devices();

  std::size_t num_links = n * n;
  if constexpr (platform_parts::has_routes<platform_type>) {
    num_links = q.num_links();
  }
  struct moving {
    double begins = 0;  // to share links
    double left = 0;    // seconds, alone
    double narrowest = infinity;
    double weight = 1;
    double rate = 0; // bytes per second
    std::vector<std::size_t> route = {};
  };
  std::vector<double> capacity;            // of the links in use
  std::vector<std::size_t> number(num_links, 0); // of each link among them, from 1
  std::vector<moving> all;
  std::vector<double> arrival;
  const auto pass = [&](moving& m, std::size_t l, double bandwidth) {
    m.narrowest = std::min(m.narrowest, bandwidth);
    if (!(bandwidth < infinity)) {
      return; // never full
    }
    if (number[l] == 0) {
      capacity.push_back(bandwidth);
      number[l] = capacity.size();
    }
    if (std::find(m.route.begin(), m.route.end(), number[l] - 1) == m.route.end()) {
      m.route.push_back(number[l] - 1);
    }
  };
  for (const auto* x : sent) {
    moving m;
    double latency = 0;
    if constexpr (platform_parts::has_routes<platform_type>) {
      q.visit_route(x->from, x->to, [&](link_id l) {
        latency += q.link_at(l).latency;
        pass(m, l, q.link_at(l).bandwidth);
      });
    } else {
      if constexpr (platform_parts::has_links<platform_type>) {
        latency = q.latency(x->from, x->to);
      }
      pass(m, x->from * n + x->to, 1);
    }
    const double alone = p.transfer_time(x->tensor, x->from, x->to);
    latency = m.route.empty() || !(alone < infinity) ? alone : std::min(latency, alone);
    m.weight = weights == flow_weights::inverse_latency && latency > 0 ? 1 / latency : 1;
    m.begins = x->start + latency;
    m.left = latency < alone ? alone - latency : 0;
    arrival.push_back(m.left > 0 ? infinity : m.begins);
    all.push_back(std::move(m));
  }

  std::vector<std::size_t> active;
  std::vector<std::size_t> later; // by when they begin, the first at the end
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (all[k].left > 0) {
      later.push_back(k);
    }
  }
  std::sort(later.begin(), later.end(), [&](auto a, auto b) { return all[a].begins > all[b].begins; });
  double now = 0;
  while (!active.empty() || !later.empty()) {
    // Raise all rates together; whoever passes a link that gets full stays where he is.
    std::vector<double> room = capacity;
    auto rising = active;
    double reached = 0;
    while (!rising.empty()) {
      std::vector<double> asked(room.size(), 0);
      for (const auto k : rising) {
        for (const auto l : all[k].route) {
          asked[l] += all[k].weight;
        }
      }
      std::size_t full = 0;
      double level = infinity;
      for (std::size_t l = 0; l < room.size(); ++l) {
        if (asked[l] > 0 && room[l] / asked[l] < level) {
          level = room[l] / asked[l];
          full = l;
        }
      }
      reached = level = std::max(reached, level); // rounding aside, it never falls
      std::vector<std::size_t> rest;
      for (const auto k : rising) {
        auto& m = all[k];
        if (std::find(m.route.begin(), m.route.end(), full) == m.route.end()) {
          rest.push_back(k);
          continue;
        }
        m.rate = m.weight * level;
        for (const auto l : m.route) {
          room[l] -= m.rate;
        }
      }
      rising = std::move(rest);
    }
    double next = later.empty() ? infinity : all[later.back()].begins;
    for (const auto k : active) {
      next = std::min(next, now + all[k].left * all[k].narrowest / all[k].rate);
    }
    std::vector<std::size_t> still;
    for (const auto k : active) {
      auto& m = all[k];
      const bool ends = now + m.left * m.narrowest / m.rate <= next;
      m.left -= (next - now) * m.rate / m.narrowest;
      if (ends) {
        arrival[k] = next;
      } else {
        still.push_back(k);
      }
    }
    active = std::move(still);
    now = next;
    for (; !later.empty() && all[later.back()].begins <= now; later.pop_back()) {
      active.push_back(later.back());
    }
  }
  return arrival;
}

} // namespace weft::detail
