// SPDX-License-Identifier: BSL-1.0
/// The devices that work together, and their order in rings, by the links that join them.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/parallel/detail/mesh_cost.hpp"
#include "weft/parallel/detail/mesh_descent.hpp"
#include "weft/parallel/detail/near_groups.hpp"
#include "weft/parallel/mesh_level.hpp"
#include "weft/plan/contention.hpp"
#include "weft/platform/canonical_order.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::parallel {
namespace detail {

/// True if no single way tells the devices of two meshes apart, place by place: neither those between them nor, for
/// each, those to all other devices. How ways share links is for `mesh_cost`.
template <class Platform>
bool are_like(const Platform& p, const std::vector<device_id>& a, const std::vector<device_id>& b) {
  const auto way = [&](device_id from, device_id to) {
    return from == to ? std::pair{0.0f, 0.0f}
                      : std::pair{static_cast<float>(p.latency(from, to)), static_cast<float>(p.bandwidth(from, to))};
  };
  const auto all_ways = [&](device_id d) {
    std::vector<std::tuple<device_kind, std::pair<float, float>, std::pair<float, float>>> ways;
    for (const device_id e : ids(p.num_devices())) {
      ways.emplace_back(hardware_kind(p, e), way(d, e), way(e, d));
    }
    std::sort(ways.begin(), ways.end());
    return ways;
  };
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (way(a[i], a[k]) != way(b[i], b[k])) {
        return false;
      }
    }
    if (a[i] != b[i] && all_ways(a[i]) != all_ways(b[i])) {
      return false;
    }
  }
  return true;
}

/// The pairs of devices whose ways take a link.
struct link_users {
  std::size_t pairs = 0;
  device_id from = 0, to = 0; // of the first one
  bool one_sender = true, one_receiver = true;

  void add(device_id a, device_id b) {
    if (pairs++ == 0) {
      from = a;
      to = b;
    }
    one_sender = one_sender && a == from;
    one_receiver = one_receiver && b == to;
  }
  /// True if no pairs are told apart by it: one pair has it, or all that have a device in common, or all.
  bool are_alike(std::size_t devices) const {
    return pairs <= 1 || pairs == devices * (devices - 1) || (pairs == devices - 1 && (one_sender || one_receiver));
  }
};

/// True if all ways between the devices are alike, and so are those that share each link: then all meshes are.
template <class Platform>
bool are_joined_alike(const joined_devices<Platform>& all) {
  const auto& p = *all.platform;
  std::vector<link_users> users; // by link
  const auto for_each_pair = [&](auto f) {
    for (const device_id a : all.ids) {
      for (const device_id b : all.ids) {
        if (a != b) {
          f(a, b);
        }
      }
    }
  };
  if constexpr (platform_parts::has_routes<Platform>) {
    users.resize(p.num_links());
    for_each_pair([&](device_id a, device_id b) { p.visit_route(a, b, [&](link_id l) { users[l].add(a, b); }); });
  }
  if (!std::all_of(users.begin(), users.end(), [&](const link_users& u) { return u.are_alike(all.size()); })) {
    return false;
  }
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for_each_pair([&](device_id a, device_id b) {
    double seconds = all.one_way(a, b);
    if constexpr (platform_parts::has_routes<Platform>) {
      p.visit_route(a, b,
                    [&](link_id l) { seconds += 1e6 * static_cast<double>(users[l].pairs) / p.link_at(l).bandwidth; });
    }
    least = std::min(least, seconds);
    most = std::max(most, seconds);
  });
  return most - least <= 1e-9 * most;
}

/// The places of a mesh of these devices. Throws `value_error` as `choose_devices` does.
template <class Platform>
std::size_t checked_places(const Platform& p, std::span<const device_id> devices, std::span<const mesh_level> levels) {
  const auto require = [](bool holds, const auto& problem) {
    if (!holds) {
      throw value_error("choose_devices", problem());
    }
  };
  std::vector<bool> named(p.num_devices(), false);
  for (const device_id d : devices) {
    require(d < named.size(), [&] {
      return "there is no device " + std::to_string(d) + " among " + std::to_string(named.size()) +
             "; name devices of the platform";
    });
    require(!named[d], [&] { return "device " + std::to_string(d) + " appears twice; name each device once"; });
    named[d] = true;
  }
  std::size_t places = 1;
  bool fits = !devices.empty();
  std::string sizes = levels.empty() ? "1" : "";
  for (const auto& level : levels) {
    fits = fits && level.size > 0 && places <= devices.size() / level.size; // whose product may be too large a number
    places = fits ? places * level.size : places;
    sizes += (sizes.empty() ? "" : " x ") + std::to_string(level.size);
  }
  require(fits, [&] {
    return "a mesh of " + sizes + " places for " + std::to_string(devices.size()) +
           " devices; it needs sizes of at least 1 and as many devices as places";
  });
  return places;
}

} // namespace detail

/// The devices of a mesh, chosen among some, and the place of each: those of a group of the first level follow each
/// other, then the next group of the second level, and so on. Groups and the order in them are those whose collectives
/// take least time for 25 MiB, the fastest of those that `choose_all_reduce` compares, step by step (under `fair`
/// contention all messages of a level share the links of their routes), inner levels first. The choice
/// depends on devices and links and not on their numbers, as far as `canonical_order` does: the same machine with other
/// numbers gets the same mesh, but for devices that nothing tells apart. Of meshes that do equally well, that of the
/// first devices as given is taken if it has the same ways, else that of the first ones in the canonical order.
///
/// It starts with near groups, level by level, and, for up to 16 devices, with the nearest neighbour of each, and
/// improves them by exchanges and reversals; with more than 64 devices it takes the near groups as they are. On a
/// platform of more than 1,000 devices the first ones are taken in the order given.
///
/// Throws `value_error` for a size of 0, if there are fewer devices than places or none, and for a device that the
/// platform does not have or that is named twice.
/// Complexity: that of `canonical_order`, and O(n²) and a bounded number of steps per level for n devices.
template <class Platform>
std::vector<device_id> choose_devices(const Platform& p, std::span<const device_id> devices,
                                      std::span<const mesh_level> levels, contention_model how) {
  constexpr std::size_t max_devices = 1000, max_improved = 64; // readers of platforms have the former limit
  const std::size_t places = detail::checked_places(p, devices, levels);
  std::vector<device_id> given(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(places));
  if (p.num_devices() > max_devices) {
    return given;
  }
  const detail::joined_devices all{p, devices, how};
  std::vector<std::uint32_t> best(all.size());
  std::iota(best.begin(), best.end(), 0);
  if (!detail::are_joined_alike(all)) {
    best = detail::grouped_mesh(all, levels);
    best = all.size() <= max_improved ? detail::improved_mesh(all, levels, std::move(best)) : best;
  }
  std::vector<device_id> chosen;
  std::vector<std::uint32_t> as_given; // numbers of the devices as `best` has them
  for (std::size_t i = 0; i < places; ++i) {
    chosen.push_back(all.ids[best[i]]);
    as_given.push_back(
      static_cast<std::uint32_t>(std::find(all.ids.begin(), all.ids.end(), given[i]) - all.ids.begin()));
  }
  detail::mesh_cost cost{all, levels};
  return detail::are_like(p, chosen, given) && cost(as_given) <= cost(best) * (1 + 1e-6) ? given : chosen;
}

} // namespace weft::parallel
