// SPDX-License-Identifier: BSL-1.0
/// How devices are connected: the same link everywhere, a full matrix, or a hierarchy.
#pragma once

#include "weft/core/config.hpp"
#include "weft/core/ids.hpp"

#include <concepts>
#include <limits>
#include <span>
#include <vector>

namespace weft {

/// A connection between two devices.
struct link {
  double latency = 0;                                            ///< seconds, not negative
  double bandwidth = std::numeric_limits<double>::infinity();    ///< bytes per second, positive
  friend constexpr bool operator==(const link&, const link&) = default;
};

/// Tells the link between any two different devices.
template <class L>
concept link_model = requires(const L& links, device_id a, device_id b) {
  { links(a, b) } -> std::convertible_to<link>;
};

/// Every pair of devices is connected alike.
struct uniform_links {
  link all{};
  constexpr const link& operator()(device_id, device_id) const { return all; }
};

/// One link per ordered pair of devices. Memory: 16 bytes per pair.
class link_matrix {
public:
  constexpr link_matrix() = default;
  constexpr explicit link_matrix(std::size_t num_devices, link all = {})
      : num_devices_{num_devices}, links_(num_devices * num_devices, all) {}
  /// The links of any other model, written out.
  template <link_model L>
  constexpr link_matrix(std::size_t num_devices, const L& links) : link_matrix{num_devices} {
    for (const device_id from : ids(num_devices)) {
      for (const device_id to : ids(num_devices)) {
        if (from != to) {
          set(from, to, links(from, to));
        }
      }
    }
  }

  constexpr const link& operator()(device_id from, device_id to) const { return links_[from * num_devices_ + to]; }

  /// Sets the link in one direction.
  constexpr void set(device_id from, device_id to, link l) { links_[from * num_devices_ + to] = l; }
  /// Sets the link in both directions.
  constexpr void connect(device_id a, device_id b, link l) {
    set(a, b, l);
    set(b, a, l);
  }
  constexpr std::size_t num_devices() const { return num_devices_; }

private:
  std::size_t num_devices_ = 0;
  std::vector<link> links_;
};

/// A tree of enclosures (cores in a socket, sockets in a node, nodes in a rack, …): two devices talk over the
/// link of the innermost enclosure that holds both. Memory: one id per device and level.
class hierarchical_links {
public:
  /// `levels[k]` is the link inside an enclosure of level k, the innermost first. Within a level, enclosures hold
  /// `sizes[k]` consecutive ones of the level below (devices for k = 0); the outermost level holds everything.
  /// Precondition: `sizes.size() + 1 == levels.size()`.
  constexpr hierarchical_links(std::vector<link> levels, std::vector<std::size_t> sizes)
      : levels_{std::move(levels)}, spans_{std::move(sizes)} {
    WEFT_ASSERT(spans_.size() + 1 == levels_.size());
    for (std::size_t k = 1; k < spans_.size(); ++k) {
      spans_[k] *= spans_[k - 1];
    }
  }

  constexpr const link& operator()(device_id a, device_id b) const {
    std::size_t k = 0;
    while (k < spans_.size() && a / spans_[k] != b / spans_[k]) {
      ++k;
    }
    return levels_[k];
  }

private:
  std::vector<link> levels_;
  std::vector<std::size_t> spans_; // devices per enclosure of each level
};

static_assert(link_model<uniform_links> && link_model<link_matrix> && link_model<hierarchical_links>);

} // namespace weft
