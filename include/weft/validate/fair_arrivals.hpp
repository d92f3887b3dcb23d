// SPDX-License-Identifier: BSL-1.0
/// Arrival times of transfers that share links, by an independent, naive computation.
#pragma once

#include "weft/plan/contention.hpp"
#include "weft/plan/trace.hpp"
#include "weft/platform/concepts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace weft::detail {

/// The times at which transfers arrive, given when they start, if links are shared by max–min fairness: at each instant
/// at which one begins or ends to move its bytes, the rates of all that share links with it, maybe through others, are
/// found anew, by raising them together until links are full, and then those of the others. Complexity: O(k²) for each
/// transfer, with k under way at a time; O(k³) if all share links.
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
  std::vector<double> room(capacity.size()), asked(capacity.size(), 0);
  std::vector<std::uint8_t> is_full(capacity.size(), 0), is_touched(capacity.size(), 0);
  const auto touch = [&](const moving& m) {
    for (const auto l : m.route) {
      is_touched[l] = 1;
    }
  };
  std::vector<std::size_t> rising, rest, links;
  double now = 0;
  while (!active.empty() || !later.empty()) {
    // Whoever shares links with what began or ended, maybe through others, gets a new rate.
    rising.clear();
    rest = active;
    for (std::size_t before = 1; before != rising.size();) {
      before = rising.size();
      std::erase_if(rest, [&](auto k) {
        const auto& route = all[k].route;
        if (std::none_of(route.begin(), route.end(), [&](auto l) { return is_touched[l] != 0; })) {
          return false;
        }
        for (const auto l : route) {
          is_touched[l] = 1;
          room[l] = capacity[l];
        }
        rising.push_back(k);
        return true;
      });
    }
    std::fill(is_touched.begin(), is_touched.end(), std::uint8_t{0});
    // Raise their rates together; whoever passes links that get full stays where he is.
    double reached = 0;
    while (!rising.empty()) {
      links.clear();
      for (const auto k : rising) {
        for (const auto l : all[k].route) {
          if (asked[l] == 0) {
            links.push_back(l);
          }
          asked[l] += all[k].weight;
        }
      }
      double level = infinity;
      for (const auto l : links) {
        level = std::min(level, room[l] / asked[l]);
      }
      for (const auto l : links) {
        is_full[l] = room[l] / asked[l] == level;
        asked[l] = 0;
      }
      reached = std::max(reached, level); // rounding aside, it never falls
      rest.clear();
      for (const auto k : rising) {
        auto& m = all[k];
        if (std::none_of(m.route.begin(), m.route.end(), [&](auto l) { return is_full[l] != 0; })) {
          rest.push_back(k);
          continue;
        }
        m.rate = m.weight * reached;
        for (const auto l : m.route) {
          room[l] -= m.rate;
        }
      }
      std::swap(rising, rest);
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
        touch(m);
      } else {
        still.push_back(k);
      }
    }
    active = std::move(still);
    now = next;
    for (; !later.empty() && all[later.back()].begins <= now; later.pop_back()) {
      active.push_back(later.back());
      touch(all[later.back()]);
    }
  }
  return arrival;
}

} // namespace weft::detail
