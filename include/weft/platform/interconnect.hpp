// SPDX-License-Identifier: BSL-1.0
/// Devices and switches joined by cables, and the route from every device to every other.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/config.hpp"
#include "weft/core/error.hpp"
#include "weft/platform/link.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/// The two ends of a link: devices, or switches, which are numbered after the devices.
struct link_ends {
  std::uint32_t from = none; ///< `none` if only routes that are given take it
  std::uint32_t to = none;
  friend constexpr bool operator==(const link_ends&, const link_ends&) = default;
};

/// The choice among the routes that take the fewest links and, of those, the least latency.
struct routing {
  /// Whether routes may pass devices; else only switches hand on what they receive.
  bool through_devices = false;
  /// Routes to different devices are spread over links that do equally well: by the digits of the destination's id, a
  /// digit where there is a choice (d-mod-k). Else the link that was added first is taken.
  bool spread = false;
  friend constexpr bool operator==(const routing&, const routing&) = default;
};

/// A network of links with a route for each ordered pair of devices. Made by an `interconnect_builder`. Models
/// `network_topology`. Memory: 8 bytes per pair and 4 per link of its route, of which all routes may have 2^28.
class interconnect {
public:
  constexpr interconnect() = default;

  /// The routes of another topology between its first `num_devices` devices, written out. Where its links begin and
  /// end stays unknown. Complexity: the links on all routes.
  template <network_topology T>
  constexpr interconnect(std::size_t num_devices, const T& other)
      : num_devices_{num_devices}, num_wired_{other.num_links()}, routes_(num_devices * num_devices) {
    links_.reserve(num_wired_);
    for (const link_id l : ids(num_wired_)) {
      links_.push_back(other.link_at(l));
    }
    ends_.resize(num_wired_);
    for (const device_id from : ids(num_devices_)) {
      for (const device_id to : ids(num_devices_)) {
        if (from != to) {
          begin_route(from, to);
          other.visit_route(from, to, [&](link_id l) { extend_route(from, to, l); });
        }
      }
    }
  }

  constexpr std::size_t num_devices() const { return num_devices_; }
  constexpr std::size_t num_links() const { return links_.size(); }
  constexpr const link& link_at(link_id l) const { return links_[l]; }
  template <class F>
  constexpr void visit_route(device_id from, device_id to, F&& f) const {
    const auto [first, count] = route_of(from, to);
    for (std::uint32_t i = first; i < first + count; ++i) {
      f(hops_[i]);
    }
  }
  /// The route as one link.
  constexpr link operator()(device_id from, device_id to) const { return along_route(*this, from, to); }

  constexpr std::size_t num_switches() const { return num_switches_; }
  /// The name of switch `0 … num_switches() - 1` if it was given one, else empty.
  constexpr std::string_view switch_name(std::size_t s) const {
    return switch_names_.empty() ? std::string_view{} : switch_names_[s];
  }
  constexpr link_ends ends(link_id l) const { return ends_[l]; }
  constexpr const weft::routing& routing() const { return routing_; }
  /// Whether the route was given, not found as `routing` says.
  constexpr bool is_given(device_id from, device_id to) const {
    return from != to && route_of(from, to).first >= num_found_;
  }

  /// Gives a pair of devices a link of its own, in one direction; who shared links with it keeps them.
  constexpr void set(device_id from, device_id to, link l) {
    const auto [first, count] = route_of(from, to);
    if (count == 1 && hops_[first] >= num_wired_) {
      links_[hops_[first]] = l;
      return;
    }
    links_.push_back(l);
    ends_.push_back({}); // no other route was found over it
    begin_route(from, to);
    extend_route(from, to, static_cast<link_id>(links_.size() - 1));
  }

private:
  friend class interconnect_builder;

  static constexpr std::size_t max_hops = std::size_t{1} << 28;

  struct piece {
    std::uint32_t first = 0; // of hops_
    std::uint32_t count = 0;
  };

  constexpr const piece& route_of(device_id from, device_id to) const { return routes_[from * num_devices_ + to]; }
  constexpr void begin_route(device_id from, device_id to) {
    routes_[from * num_devices_ + to] = {static_cast<std::uint32_t>(hops_.size()), 0};
  }
  constexpr void extend_route(device_id from, device_id to, link_id l) {
    if (hops_.size() == max_hops) {
      throw value_error("network", "its routes have more than " + std::to_string(max_hops) + " links in all");
    }
    hops_.push_back(l);
    ++routes_[from * num_devices_ + to].count;
  }

  std::size_t num_devices_ = 0;
  std::size_t num_switches_ = 0;
  std::size_t num_wired_ = 0; // links after these belong to one pair
  std::vector<link> links_;
  buffer<link_ends> ends_;
  std::size_t num_found_ = 0; // hops after these are of routes that were given
  buffer<piece> routes_;      // by pair
  std::vector<link_id> hops_; // of all routes
  std::vector<std::string> switch_names_; // empty when no switch has a name
  weft::routing routing_;
};

/// Collects switches and cables, then finds the routes: those with the fewest links, of these the ones with the least
/// latency, of these what `routing` says. A link that joins two devices is thus taken rather than any switch.
/// ```
/// interconnect_builder b{2}; // two devices on a switch: each transfer from device 0 shares its cable
/// const auto hub = b.add_switch("hub");
/// b.join(0, hub, {1e-6, 1e10});
/// b.join(1, hub, {1e-6, 1e10});
/// const interconnect net = std::move(b).build();
/// ```
class interconnect_builder {
public:
  constexpr explicit interconnect_builder(std::size_t num_devices, routing r = {}) {
    made_.num_devices_ = num_devices;
    made_.routing_ = r;
    made_.routes_.resize(num_devices * num_devices);
  }

  /// Adds a switch and returns its number among the ends of links, which follows those of devices and earlier switches.
  constexpr std::uint32_t add_switch() {
    return static_cast<std::uint32_t>(made_.num_devices_ + made_.num_switches_++);
  }
  std::uint32_t add_switch(std::string name) {
    made_.switch_names_.resize(made_.num_switches_);
    made_.switch_names_.push_back(std::move(name));
    return add_switch();
  }

  /// Adds a link in one direction. Throws `value_error` if an end does not exist or the link is not usable.
  constexpr link_id add_link(std::uint32_t from, std::uint32_t to, link l) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto at = [&] { return "network: link " + std::to_string(made_.links_.size()); };
    const bool loose = from == none && to == none;
    if (!loose && (from >= num_nodes() || to >= num_nodes() || from == to)) {
      throw value_error(at(), "must join two different ones of the " + std::to_string(made_.num_devices_) +
                                " devices and " + std::to_string(made_.num_switches_) + " switches");
    }
    if (!(l.latency >= 0 && l.latency < infinity && l.bandwidth > 0)) {
      throw value_error(at(), "needs a finite latency in seconds and a positive bandwidth in bytes per second");
    }
    if (!(l.joules_per_byte >= 0 && l.joules_per_byte < infinity)) {
      throw value_error(at(), "needs finite joules_per_byte, not negative");
    }
    made_.links_.push_back(l);
    made_.ends_.push_back({from, to});
    return static_cast<link_id>(made_.links_.size() - 1);
  }
  /// Adds a link that only routes that are given take, such as a bus that is shared whatever the direction.
  constexpr link_id add_link(link l) { return add_link(none, none, l); }
  /// Adds a cable: a link in each direction, `there` and the next one, `back`.
  constexpr link_id join(std::uint32_t a, std::uint32_t b, link there, link back) {
    const link_id first = add_link(a, b, there);
    add_link(b, a, back);
    return first;
  }
  constexpr link_id join(std::uint32_t a, std::uint32_t b, link both) { return join(a, b, both, both); }

  /// Gives the route of a pair, instead of one that is found. Throws `value_error` if a link does not exist or does not
  /// begin where the one before it ends, and for a second route of a pair.
  constexpr void set_route(device_id from, device_id to, std::vector<link_id> over) {
    const auto at = [&] { return "network: route from device " + std::to_string(from) + " to " + std::to_string(to); };
    if (from >= made_.num_devices_ || to >= made_.num_devices_ || from == to) {
      throw value_error(at(), "must join two different ones of the " + std::to_string(made_.num_devices_) + " devices");
    }
    if (over.empty()) {
      throw value_error(at(), "needs at least one link");
    }
    std::uint32_t node = from;
    for (const link_id l : over) {
      if (l >= made_.links_.size()) {
        throw value_error(at(), "there is no link " + std::to_string(l) + "; there are " +
                                  std::to_string(made_.links_.size()) + ", numbered from 0");
      }
      if (std::count(over.begin(), over.end(), l) > 1) {
        throw value_error(at(), "passes link " + std::to_string(l) + " twice");
      }
      const auto [begin, end] = made_.ends_[l];
      if (begin != none && node != none && begin != node) {
        throw value_error(at(), "link " + std::to_string(l) + " does not begin where the route has come to");
      }
      node = end;
    }
    if (node != none && node != to) {
      throw value_error(at(), "does not end there");
    }
    auto& piece = made_.routes_[from * made_.num_devices_ + to];
    if (piece.count != 0) {
      throw value_error(at(), "is given twice");
    }
    piece = {static_cast<std::uint32_t>(given_.size()), 1}; // until build
    given_.push_back({from, to, std::move(over)});
  }

  /// Finds all routes. Throws `value_error` if a device cannot reach another one, or if two switches have one name.
  /// Complexity: O(devices × links) and the links on all routes.
  constexpr interconnect build() && {
    check_names();
    made_.num_wired_ = made_.links_.size();
    leaving_ = sorted_by(&link_ends::from);
    arriving_ = sorted_by(&link_ends::to);
    for (const device_id to : ids(made_.num_devices_)) {
      look_back_from(to);
      for (const device_id from : ids(made_.num_devices_)) {
        if (from != to && made_.routes_[from * made_.num_devices_ + to].count == 0) {
          walk(from, to);
        }
      }
    }
    made_.num_found_ = made_.hops_.size();
    for (const auto& [from, to, over] : given_) {
      made_.begin_route(from, to);
      for (const link_id l : over) {
        made_.extend_route(from, to, l);
      }
    }
    return std::move(made_);
  }

private:
  // Links by one of their ends, in the order in which they were added.
  struct index {
    std::vector<std::uint32_t> first; // by node
    std::vector<link_id> links;
  };
  struct distance {
    std::uint32_t links = none;
    double latency = 0;
  };
  struct given_route {
    device_id from;
    device_id to;
    std::vector<link_id> over;
  };

  constexpr std::size_t num_nodes() const { return made_.num_devices_ + made_.num_switches_; }
  constexpr bool hands_on(std::uint32_t node) const {
    return node >= made_.num_devices_ || made_.routing_.through_devices;
  }

  constexpr index sorted_by(std::uint32_t link_ends::* end) const {
    index made{std::vector<std::uint32_t>(num_nodes() + 1, 0), std::vector<link_id>(made_.links_.size(), 0)};
    for (const link_ends& e : made_.ends_) {
      if (e.*end != none) {
        ++made.first[e.*end + 1];
      }
    }
    for (std::size_t i = 0; i < num_nodes(); ++i) {
      made.first[i + 1] += made.first[i];
    }
    auto next = made.first;
    for (const link_id l : ids(made_.links_.size())) {
      if (made_.ends_[l].*end != none) {
        made.links[next[made_.ends_[l].*end]++] = l;
      }
    }
    return made;
  }

  /// How far every node is from device `to`, and which links that leave it are on a best route there.
  constexpr void look_back_from(device_id to) {
    away_.assign(num_nodes(), {});
    away_[to] = {0, 0};
    reached_.assign(1, to);
    for (std::size_t i = 0; i < reached_.size(); ++i) { // by number of links, so that latencies are final when read
      const std::uint32_t node = reached_[i];
      if (node != to && !hands_on(node)) {
        continue;
      }
      for (std::uint32_t k = arriving_.first[node]; k < arriving_.first[node + 1]; ++k) {
        const link_id l = arriving_.links[k];
        const std::uint32_t before = made_.ends_[l].from;
        const distance through{away_[node].links + 1, made_.links_[l].latency + away_[node].latency};
        if (away_[before].links == none) {
          reached_.push_back(before);
          away_[before] = through;
        } else if (away_[before].links == through.links && through.latency < away_[before].latency) {
          away_[before].latency = through.latency;
        }
      }
    }
    best_.resize(made_.links_.size(), 0);
    num_best_.assign(num_nodes(), 0);
    for (const std::uint32_t node : reached_) {
      for (std::uint32_t k = leaving_.first[node]; k < leaving_.first[node + 1]; ++k) {
        const link_id l = leaving_.links[k];
        const std::uint32_t next = made_.ends_[l].to;
        const double equal = away_[node].latency * (1 + 1e-12); // but for rounding in another order
        if ((next == to || hands_on(next)) && away_[next].links + 1 == away_[node].links &&
            made_.links_[l].latency + away_[next].latency <= equal) {
          best_[leaving_.first[node] + num_best_[node]++] = l;
        }
      }
    }
  }

  constexpr void walk(device_id from, device_id to) {
    if (away_[from].links == none) {
      throw value_error("network", "there is no route from device " + std::to_string(from) + " to device " +
                                     std::to_string(to) + "; join them, or switches that they are joined to");
    }
    made_.begin_route(from, to);
    std::uint32_t digits = to;
    for (std::uint32_t node = from; node != to;) {
      const std::uint32_t choices = made_.routing_.spread ? num_best_[node] : 1;
      const link_id l = best_[leaving_.first[node] + digits % choices];
      digits /= choices;
      made_.extend_route(from, to, l);
      node = made_.ends_[l].to;
    }
  }

  constexpr void check_names() {
    if (made_.switch_names_.empty()) {
      return;
    }
    made_.switch_names_.resize(made_.num_switches_);
    auto sorted = made_.switch_names_;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      if (!sorted[i].empty() && sorted[i] == sorted[i - 1]) {
        throw value_error("network", "two switches are called '" + sorted[i] + "'");
      }
    }
  }

  interconnect made_;
  std::vector<given_route> given_;
  index leaving_;
  index arriving_;
  buffer<distance> away_;                 // of every node from the device that is looked back from
  std::vector<std::uint32_t> reached_;    // nodes that reach it, the nearest first
  std::vector<link_id> best_;             // in the places of leaving_.links, the first num_best_ of each node
  std::vector<std::uint32_t> num_best_;
};

static_assert(network_topology<interconnect>);

} // namespace weft
