// SPDX-License-Identifier: BSL-1.0
/// Link models: the same link everywhere, a full matrix, or a hierarchy.
#pragma once

#include "weft/core/config.hpp"
#include "weft/platform/interconnect.hpp"
#include "weft/platform/link.hpp"

#include <concepts>
#include <utility>
#include <vector>

namespace weft {

/// Every pair of devices is connected alike.
struct uniform_links {
  link all{};
  constexpr const link& operator()(device_id, device_id) const { return all; }
  static constexpr bool are_alike() { return true; }
};

/// One link per ordered pair of devices, and, if it was made from a topology, the routes behind them. Memory: 24 bytes
/// per pair, unless all have the same link, and that of an `interconnect` if there are routes.
class link_matrix {
  template <class L>
  constexpr void keep_routes(const L& links) {
    if constexpr (std::same_as<L, link_matrix>) {
      if (links.shares_links()) {
        keep_routes(links.wiring());
      }
    } else if constexpr (std::same_as<L, interconnect>) {
      wiring_ = links.num_devices() == num_devices_ ? links : interconnect{num_devices_, links};
    } else if constexpr (network_topology<L>) {
      wiring_ = interconnect{num_devices_, links};
    }
  }
  constexpr void write_out() {
    if (links_.empty()) {
      links_.assign(num_devices_ * num_devices_, all_);
    }
  }
  template <class L>
  constexpr void write_out(const L& links) {
    write_out();
    for (const device_id from : ids(num_devices_)) {
      for (const device_id to : ids(num_devices_)) {
        if (from != to) {
          links_[from * num_devices_ + to] = links(from, to);
        }
      }
    }
  }

public:
  constexpr link_matrix() = default;
  constexpr explicit link_matrix(std::size_t num_devices, link all = {})
      : num_devices_{num_devices}, all_{all} {}
  /// The links of any other model, written out, with its routes if it is a `network_topology`.
  template <link_model L>
  constexpr link_matrix(std::size_t num_devices, const L& links) : link_matrix{num_devices} {
    keep_routes(links);
    if constexpr (requires { { links.are_alike() } -> std::same_as<bool>; }) {
      if (links.are_alike()) {
        all_ = num_devices > 1 ? link{links(0, 1)} : link{};
        return;
      }
    }
    write_out(links);
  }
  /// The same, for `wiring` itself to be kept.
  constexpr explicit link_matrix(interconnect wiring) : link_matrix{wiring.num_devices()} {
    wiring_ = std::move(wiring);
    write_out(wiring_);
  }

  constexpr const link& operator()(device_id from, device_id to) const {
    return links_.empty() ? all_ : links_[from * num_devices_ + to];
  }
  /// Whether each pair is known to have the same link, so that one look at them is enough. O(1).
  constexpr bool are_alike() const { return links_.empty(); }

  /// Sets the link in one direction. If there are routes, the pair gets a link of its own. The first one takes O(n²).
  constexpr void set(device_id from, device_id to, link l) {
    write_out();
    links_[from * num_devices_ + to] = l;
    if (shares_links() && from != to) {
      wiring_.set(from, to, l);
    }
  }
  /// Sets the link in both directions.
  constexpr void connect(device_id a, device_id b, link l) {
    set(a, b, l);
    set(b, a, l);
  }
  constexpr std::size_t num_devices() const { return num_devices_; }

  /// Whether pairs have routes over links that they may share; else each has a link of its own, numbered row by row.
  constexpr bool shares_links() const { return wiring_.num_devices() != 0; }
  /// The links that pairs share. Precondition: `shares_links()`.
  constexpr const interconnect& wiring() const { return wiring_; }

  constexpr std::size_t num_links() const {
    return shares_links() ? wiring_.num_links() : num_devices_ * num_devices_;
  }
  constexpr const link& link_at(link_id l) const {
    return shares_links() ? wiring_.link_at(l) : links_.empty() ? all_ : links_[l];
  }
  template <class F>
  constexpr void visit_route(device_id from, device_id to, F&& f) const {
    if (shares_links()) {
      wiring_.visit_route(from, to, f);
    } else if (from != to) {
      f(static_cast<link_id>(from * num_devices_ + to));
    }
  }

private:
  std::size_t num_devices_ = 0;
  link all_ = {};
  std::vector<link> links_; // empty: `all_` for each pair
  interconnect wiring_;     // of no devices when each pair has a link of its own
};

/// A tree of enclosures (cores in a socket, sockets in a node, nodes in a rack, …): two devices talk over the link of
/// the innermost enclosure that holds both. What is inside that enclosure, a device or a whole enclosure, has a port
/// out and a port in of that link's bandwidth and half its latency and energy, which all share who pass it: the route
/// is the port out of the sender's part and the port in of the receiver's. A level over which no two devices talk,
/// since its enclosures hold one part or all devices, has no ports. Memory: a few numbers per level.
class hierarchical_links {
public:
  /// `levels[k]` is the link inside an enclosure of level k, the innermost first. Within a level, enclosures hold
  /// `sizes[k]` consecutive ones of the level below (devices for k = 0); the outermost level holds everything.
  /// Precondition: `sizes.size() + 1 == levels.size()`, and no size is 0.
  constexpr hierarchical_links(const std::vector<link>& levels, const std::vector<std::size_t>& sizes,
                               std::size_t num_devices)
      : num_devices_{num_devices}, first_port_{0} {
    WEFT_ASSERT(sizes.size() + 1 == levels.size());
    std::size_t span = 1;
    for (std::size_t k = 0; k < levels.size(); ++k) {
      const std::size_t next = k < sizes.size() ? span * sizes[k] : none;
      const bool used = span < next && span < num_devices; // by some devices
      if (used || (levels_.empty() && k + 1 == levels.size())) {
        levels_.push_back(levels[k]);
        spans_.push_back(span);
        first_port_.push_back(first_port_.back() + 2 * ((num_devices_ + span - 1) / span));
      }
      span = next;
    }
  }

  constexpr const link& operator()(device_id a, device_id b) const { return levels_[level_of(a, b)]; }
  constexpr std::size_t num_devices() const { return num_devices_; }

  /// The ports, level by level, part by part: out, in.
  constexpr std::size_t num_links() const { return first_port_.back(); }
  constexpr link link_at(link_id l) const {
    std::size_t k = 0;
    while (l >= first_port_[k + 1]) {
      ++k;
    }
    const auto half_of = [out = (l & 1) == 0](double x) { return out ? x / 2 : x - x / 2; }; // which add up exactly
    return {half_of(levels_[k].latency), levels_[k].bandwidth, half_of(levels_[k].joules_per_byte)};
  }
  template <class F>
  constexpr void visit_route(device_id from, device_id to, F&& f) const {
    if (from != to) {
      const std::size_t k = level_of(from, to);
      f(static_cast<link_id>(first_port_[k] + 2 * (from / spans_[k])));
      f(static_cast<link_id>(first_port_[k] + 2 * (to / spans_[k]) + 1));
    }
  }

  /// The levels over which some devices talk.
  constexpr const std::vector<link>& levels() const { return levels_; }
  /// The number of parts of an enclosure of level k. Precondition: it is not the outermost level.
  constexpr std::size_t size(std::size_t k) const { return spans_[k + 1] / spans_[k]; }

private:
  constexpr std::size_t level_of(device_id a, device_id b) const {
    std::size_t k = 0;
    while (k + 1 < spans_.size() && a / spans_[k + 1] != b / spans_[k + 1]) {
      ++k;
    }
    return k;
  }

  std::size_t num_devices_;
  std::vector<link> levels_;
  std::vector<std::size_t> spans_;      // devices per part of an enclosure of each level
  std::vector<std::size_t> first_port_; // of each level, and one past the last
};

static_assert(link_model<uniform_links> && network_topology<link_matrix> && network_topology<hierarchical_links>);

} // namespace weft
