// SPDX-License-Identifier: BSL-1.0
/// Arrival times of transfers that share links, by an independent computation.
#pragma once

#include "weft/plan/contention.hpp"
#include "weft/plan/trace.hpp"
#include "weft/platform/concepts.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <utility>
#include <vector>

namespace weft::detail {

/// The transfers between two devices, whose rates are the same at all times.
struct transfers_on_route {
  std::vector<std::size_t> links = {}; ///< that get full
  double latency = 0;
  double narrowest = std::numeric_limits<double>::infinity(); ///< bytes per second of its links
  double weight = 1;
  double rate = 0;  ///< bytes per second of each of those under way, since `since`
  double since = 0; ///< seconds
  double moved = 0; ///< seconds that what each moved until `since` takes alone
  using end = std::pair<double, std::size_t>; ///< what has been moved when it ends, and the transfer
  std::priority_queue<end, std::vector<end>, std::greater<>> under_way = {};

  double moved_until(double now) const { return moved + (now - since) * rate / narrowest; }
  /// The time at which the first of them ends.
  double ends() const {
    return under_way.empty() ? std::numeric_limits<double>::infinity()
                             : since + (under_way.top().first - moved) * narrowest / rate;
  }
  void begin(double now) {
    moved = 0;
    since = now;
    rate = 0;
  }
  void change_rate(double now, double next) {
    moved = moved_until(now);
    since = now;
    rate = next;
  }
};

/// Links that transfers share by max–min fairness.
template <class Problem>
class shared_links {
public:
  shared_links(const Problem& p, flow_weights weights) : p_{p}, weights_{weights} {
    std::size_t num_links = std::size_t{p.num_devices()} * p.num_devices();
    if constexpr (platform_parts::has_routes<typename Problem::platform_type>) {
      num_links = p.platform().num_links();
    }
    number_.assign(num_links, 0);
  }

  transfers_on_route& operator[](std::size_t r) { return routes_[r]; }
  std::size_t num_routes() const { return routes_.size(); }

  /// The number of the route between two devices.
  std::size_t route(device_id from, device_id to) {
    const auto [at, is_new] = of_devices_.try_emplace({from, to}, routes_.size());
    if (is_new) {
      auto r = make_route(from, to);
      for (const auto l : r.links) {
        links_[l].routes.push_back(routes_.size());
      }
      routes_.push_back(std::move(r));
    }
    return at->second;
  }

  /// Called when a transfer on the route begins or ends.
  void touch(std::size_t r) {
    for (const auto l : routes_[r].links) {
      if (!std::exchange(links_[l].is_touched, true)) {
        touched_.push_back(l);
      }
    }
  }

  /// Gives new rates to the transfers that share links with what began or ended, maybe through others: raises their
  /// rates together; whoever passes links that get full stays where he is.
  void share_anew(double now) {
    auto rising = take_touched();
    double reached = 0;
    while (!rising.empty()) {
      const auto full = fill(rising);
      reached = std::max(reached, full); // rounding aside, it never falls
      std::erase_if(rising, [&](auto k) {
        auto& r = routes_[k];
        if (std::none_of(r.links.begin(), r.links.end(), [&](auto l) { return links_[l].is_full; })) {
          return false;
        }
        r.change_rate(now, r.weight * reached);
        for (const auto l : r.links) {
          links_[l].room -= r.rate * static_cast<double>(r.under_way.size());
        }
        return true;
      });
    }
  }

private:
  struct link {
    double capacity = 0;
    double room = 0;  ///< above the rates that were found
    double asked = 0; ///< weights of those whose rates still rise
    bool is_full = false;
    bool is_touched = false;
    std::vector<std::size_t> routes = {};
  };

  transfers_on_route make_route(device_id from, device_id to) {
    const auto& q = p_.platform();
    transfers_on_route r;
    if constexpr (platform_parts::has_routes<typename Problem::platform_type>) {
      q.visit_route(from, to, [&](link_id l) {
        r.latency += q.link_at(l).latency;
        pass(r, l, q.link_at(l).bandwidth);
      });
    } else {
      if constexpr (platform_parts::has_links<typename Problem::platform_type>) {
        r.latency = q.latency(from, to);
      }
      pass(r, std::size_t{from} * p_.num_devices() + to, 1);
    }
    r.weight = weights_ == flow_weights::inverse_latency && r.latency > 0 ? 1 / r.latency : 1;
    return r;
  }

  /// Adds a link to a route; one that is never full is none.
  void pass(transfers_on_route& r, std::size_t number, double bandwidth) {
    r.narrowest = std::min(r.narrowest, bandwidth);
    if (!(bandwidth < std::numeric_limits<double>::infinity())) {
      return;
    }
    if (number_[number] == 0) {
      links_.push_back({.capacity = bandwidth});
      number_[number] = links_.size();
    }
    if (std::find(r.links.begin(), r.links.end(), number_[number] - 1) == r.links.end()) {
      r.links.push_back(number_[number] - 1);
    }
  }

  /// The routes under way that share links with those that were touched, maybe through others.
  std::vector<std::size_t> take_touched() {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < touched_.size(); ++i) {
      auto& l = links_[touched_[i]];
      l.room = l.capacity;
      for (const auto r : l.routes) {
        if (!routes_[r].under_way.empty()) {
          found.push_back(r);
          touch(r);
        }
      }
    }
    for (const auto l : touched_) {
      links_[l].is_touched = false;
    }
    touched_.clear();
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  /// Raises the rates of these routes until a link is full. Returns the rate, for a weight of 1.
  double fill(const std::vector<std::size_t>& rising) {
    filling_.clear();
    for (const auto k : rising) {
      for (const auto l : routes_[k].links) {
        if (links_[l].asked == 0) {
          filling_.push_back(l);
        }
        links_[l].asked += routes_[k].weight * static_cast<double>(routes_[k].under_way.size());
      }
    }
    double level = std::numeric_limits<double>::infinity();
    for (const auto l : filling_) {
      level = std::min(level, links_[l].room / links_[l].asked);
    }
    for (const auto l : filling_) {
      links_[l].is_full = links_[l].room / links_[l].asked == level;
      links_[l].asked = 0;
    }
    return level;
  }

  const Problem& p_;
  flow_weights weights_;
  std::map<std::pair<device_id, device_id>, std::size_t> of_devices_ = {};
  std::vector<transfers_on_route> routes_ = {};
  std::vector<std::size_t> number_ = {}; ///< of each link among those that get full, from 1
  std::vector<link> links_ = {};
  std::vector<std::size_t> touched_ = {}; ///< links
  std::vector<std::size_t> filling_ = {}; ///< links
};

/// The times at which transfers arrive, given when they start, if links are shared by max–min fairness: at each instant
/// at which one begins or ends to move its bytes, the rates of all that share links with it, maybe through others, are
/// found anew, by raising them together until links are full, and then those of the others. Complexity: O(r f + log k)
/// for each transfer, with k under way at a time, on r routes in all, and f links that get full one after the other.
template <class Problem>
std::vector<double> fair_arrivals(const Problem& p, const std::vector<const transfer_record*>& sent,
                                  flow_weights weights) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  struct beginning {
    double at = 0;   // seconds
    double left = 0; // seconds, alone
    std::size_t route = 0;
    std::size_t transfer = 0;
  };
  shared_links<Problem> links{p, weights};
  std::vector<beginning> later; // the first at the end
  std::vector<double> arrival;
  for (const auto* x : sent) {
    const auto r = links.route(x->from, x->to);
    const double alone = p.transfer_time(x->tensor, x->from, x->to);
    const bool shares = !links[r].links.empty() && alone < infinity && links[r].latency < alone;
    arrival.push_back(x->start + (shares ? links[r].latency : alone));
    if (shares) {
      later.push_back({arrival.back(), alone - links[r].latency, r, arrival.size() - 1});
    }
  }
  std::stable_sort(later.begin(), later.end(), [](const auto& a, const auto& b) { return a.at > b.at; });

  while (true) {
    double now = later.empty() ? infinity : later.back().at;
    for (std::size_t r = 0; r < links.num_routes(); ++r) {
      now = std::min(now, links[r].ends());
    }
    if (!(now < infinity)) {
      return arrival;
    }
    for (std::size_t r = 0; r < links.num_routes(); ++r) {
      for (auto& x = links[r]; x.ends() <= now; x.under_way.pop()) {
        arrival[x.under_way.top().second] = now;
        links.touch(r);
      }
    }
    for (; !later.empty() && later.back().at <= now; later.pop_back()) {
      auto& x = links[later.back().route];
      if (x.under_way.empty()) {
        x.begin(now);
      }
      x.under_way.emplace(x.moved_until(now) + later.back().left, later.back().transfer);
      links.touch(later.back().route);
    }
    links.share_anew(now);
  }
}

} // namespace weft::detail
