// SPDX-License-Identifier: BSL-1.0
/// The devices that work together, and their order in rings, by the links that join them.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/parallel/collective.hpp"
#include "weft/plan/contention.hpp"
#include "weft/platform/canonical_order.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::parallel {

/// What the groups along a dimension of a mesh send to each other.
enum class mesh_traffic : std::uint8_t {
  all_reduce, ///< as is fastest: a ring, a tree, or rings within and between groups
  in_parts,   ///< the same without trees, as where each has a part of the sum
  neighbours, ///< each talks to the one before and the one after it, as stages of a pipeline
};

/// A dimension of a mesh of devices: so many groups of the level below (devices, for the first level), in which those
/// with the same place talk to each other.
struct mesh_level {
  std::uint32_t size = 1;
  mesh_traffic traffic = mesh_traffic::all_reduce;
};

namespace detail {

/// The bytes of an all-reduce, or of a message between neighbours, for which ways are compared: a bucket of gradients.
constexpr double compared_bytes = 25 * 1024 * 1024;

/// Devices, numbered by `canonical_order`, and the time in which each gets a megabyte to each other one.
template <class Platform>
struct joined_devices {
  const Platform* platform;
  contention_model how;
  std::vector<device_id> ids = {};  ///< by number here
  std::vector<double> seconds = {}; ///< of a megabyte there or back, the mean, by pair of numbers

  joined_devices(const Platform& p, std::span<const device_id> devices, contention_model model)
      : platform{&p}, how{model} {
    std::vector<bool> wanted(p.num_devices(), false);
    for (const device_id d : devices) {
      wanted[d] = true;
    }
    for (const device_id d : canonical_order(p)) {
      wanted[d] ? ids.push_back(d) : void();
    }
    for (const device_id a : ids) {
      for (const device_id b : ids) {
        seconds.push_back(a == b ? 0 : (one_way(a, b) + one_way(b, a)) / 2);
      }
    }
  }

  std::size_t size() const { return ids.size(); }
  double between(std::uint32_t a, std::uint32_t b) const { return seconds[a * size() + b]; }
  double one_way(device_id from, device_id to) const {
    return platform->latency(from, to) + 1e6 / platform->bandwidth(from, to);
  }
};

/// The time that the collectives of a mesh take, those of each level at once, as steps that wait for each other: of
/// each the slowest message, with what shares its links. The mean way along a ring and that of all pairs of a group
/// count a little, inner levels more than outer ones.
template <class Platform>
class mesh_cost {
public:
  mesh_cost(const joined_devices<Platform>& all, std::span<const mesh_level> levels) : all_{&all}, levels_{levels} {
    if constexpr (platform_parts::has_routes<Platform>) {
      users_.assign(all.platform->num_links(), 0);
    }
    for (const auto& level : levels) {
      places_ *= level.size;
    }
  }

  std::size_t places() const { return places_; }
  std::uint64_t work() const { return work_; }

  /// `at` has the number of the device at each place of the mesh.
  double operator()(const std::vector<std::uint32_t>& at) {
    double sum = 0, weight = 1;
    stride_ = 1;
    for (const auto& level : levels_) {
      sum += level.size > 1 ? weight * (seconds(at, level) + about_ways(at, level)) : 0;
      weight *= outer;
      stride_ *= level.size;
    }
    return sum;
  }

private:
  static constexpr double outer = 0.25, mean = 0.02, pairs = 0.02;

  /// Lists messages along a level: `list(add)` calls `add(from, to)` with places in a group.
  template <class List>
  double step(const std::vector<std::uint32_t>& at, const mesh_level& level, double bytes, List list) {
    messages_.clear();
    for (std::size_t first = 0; first < places_; ++first) {
      if (first / stride_ % level.size == 0) {
        list([&](std::size_t from, std::size_t to) {
          messages_.emplace_back(all_->ids[at[first + from * stride_]], all_->ids[at[first + to * stride_]]);
        });
      }
    }
    work_ += messages_.size();
    count_users(1);
    double slowest = 0;
    for (const auto& [from, to] : messages_) {
      slowest = std::max(slowest, all_->platform->latency(from, to) + bytes * seconds_per_byte(from, to));
    }
    count_users(-1);
    return slowest;
  }

  double seconds(const std::vector<std::uint32_t>& at, const mesh_level& level) {
    const std::size_t n = level.size;
    if (level.traffic == mesh_traffic::neighbours) {
      return step(at, level, compared_bytes, [n](auto add) {
        for (std::size_t i = 1; i < n; ++i) {
          add(i - 1, i);
          add(i, i - 1);
        }
      });
    }
    const auto steps = [](std::size_t ranks) { return 2 * static_cast<double>(ranks - 1); }; // of a ring
    const auto part = [](std::size_t ranks) { return compared_bytes / static_cast<double>(ranks); };
    double best = steps(n) * step(at, level, part(n), [n](auto add) {
                    for (std::size_t i = 0; i < n; ++i) {
                      add(i, (i + 1) % n);
                    }
                  });
    for (const std::size_t size : group_sizes(at, level)) {
      const double within = step(at, level, part(size), [n, size](auto add) {
        for (std::size_t i = 0; i < n; ++i) {
          add(i, i / size * size + (i + 1) % size);
        }
      });
      const double between = step(at, level, part(n), [n, size](auto add) {
        for (std::size_t i = 0; i < n; ++i) {
          add(i, (i + size) % n);
        }
      });
      best = std::min(best, steps(size) * within + steps(n / size) * between);
    }
    return level.traffic == mesh_traffic::all_reduce ? std::min(best, tree_seconds(at, level)) : best;
  }

  double tree_seconds(const std::vector<std::uint32_t>& at, const mesh_level& level) {
    double sum = 0;
    for (std::size_t reach = 1; reach < level.size; reach *= 2) {
      for (const bool up : {true, false}) {
        sum += step(at, level, compared_bytes, [reach, up, n = level.size](auto add) {
          for (std::size_t i = 0; i + reach < n; i += 2 * reach) {
            up ? add(i + reach, i) : add(i, i + reach);
          }
        });
      }
    }
    return sum;
  }

  /// The sizes of groups in the first line along the level, as all-reduces have them.
  std::vector<std::uint32_t> group_sizes(const std::vector<std::uint32_t>& at, const mesh_level& level) const {
    return ranks_per_group(level.size, [&](std::size_t a, std::size_t b) {
      return all_->platform->bandwidth(all_->ids[at[a * stride_]], all_->ids[at[b * stride_]]);
    });
  }

  double about_ways(const std::vector<std::uint32_t>& at, const mesh_level& level) {
    double neighbours = 0, all = 0;
    for (std::size_t first = 0; first < places_; ++first) {
      const auto i = first / stride_ % level.size;
      const auto place = [&](std::size_t k) { return at[first - i * stride_ + k * stride_]; };
      for (std::size_t k = i + 1; k < level.size; ++k) {
        all += all_->between(place(i), place(k));
      }
      neighbours += all_->between(place(i), place((i + 1) % level.size));
      work_ += level.size - i;
    }
    const auto places = static_cast<double>(places_), size = static_cast<double>(level.size);
    return compared_bytes / 1e6 * (mean * neighbours / places + pairs * all / (places * (size - 1) / 2));
  }

  void count_users(double by) {
    if constexpr (platform_parts::has_routes<Platform>) {
      if (all_->how == contention_model::fair) {
        for (const auto& [from, to] : messages_) {
          all_->platform->visit_route(from, to, [&](link_id l) { users_[l] += by; });
        }
      }
    }
  }

  double seconds_per_byte(device_id from, device_id to) const {
    if constexpr (platform_parts::has_routes<Platform>) {
      if (all_->how == contention_model::fair) {
        double most = 0;
        all_->platform->visit_route(
          from, to, [&](link_id l) { most = std::max(most, users_[l] / all_->platform->link_at(l).bandwidth); });
        return most;
      }
    }
    return 1 / all_->platform->bandwidth(from, to);
  }

  const joined_devices<Platform>* all_;
  std::span<const mesh_level> levels_;
  std::size_t places_ = 1;
  std::size_t stride_ = 1;                                // of the level that is looked at
  std::vector<std::pair<device_id, device_id>> messages_; // of a step
  std::vector<double> users_;                             // by link
  std::uint64_t work_ = 0;
};

/// Items in groups of a size, near ones together: from each item a group grows by the one that is nearest to those that
/// it has, and of all groups the nearest one is kept, until there are as many as needed, and all that are as near as
/// the last of these. Ties: the smallest numbers. `seconds` is that between each two items.
inline std::vector<std::vector<std::uint32_t>> near_groups(std::uint32_t items, std::uint32_t size, std::size_t needed,
                                                           const std::vector<double>& seconds) {
  constexpr std::size_t max_work = 10'000'000;
  std::vector<bool> used(items, false);
  std::vector<double> sum(items);
  const auto grown = [&](std::uint32_t first) {
    std::vector<std::uint32_t> group{first};
    std::fill(sum.begin(), sum.end(), 0);
    double all = 0;
    auto taken = used;
    taken[first] = true;
    while (group.size() < size) {
      std::uint32_t next = none;
      const auto* const to = seconds.data() + std::size_t{group.back()} * items;
      for (std::uint32_t i = 0; i < items; ++i) {
        if (!taken[i]) {
          sum[i] += to[i];
          next = next == none || sum[i] < sum[next] * (1 - 1e-9) ? i : next;
        }
      }
      all += sum[next];
      taken[next] = true;
      group.push_back(next);
    }
    return std::pair{all, std::move(group)};
  };
  std::vector<std::pair<double, std::vector<std::uint32_t>>> from; // a group that begins with each of the first items
  const std::size_t work = std::size_t{items} * size;
  const auto starts = std::clamp<std::size_t>(max_work / std::max<std::size_t>(work, 1), 1, items);
  std::vector<std::vector<std::uint32_t>> groups;
  std::uint32_t next_start = 0;
  const auto is_free = [&](const std::vector<std::uint32_t>& g) {
    return std::none_of(g.begin(), g.end(), [&](auto i) { return used[i]; });
  };
  double last = 0; // seconds of a group that is needed
  for (std::size_t left = items; left >= size; left -= size) {
    for (auto& [of_group, group] : from) {
      if (!used[group.front()] && !is_free(group)) {
        std::tie(of_group, group) = grown(group.front());
      }
    }
    std::erase_if(from, [&](const auto& f) { return used[f.second.front()]; });
    for (; from.size() < std::min(starts, left) && next_start < items; ++next_start) {
      used[next_start] ? void() : from.push_back(grown(next_start));
    }
    std::size_t best = 0;
    for (std::size_t i = 1; i < from.size(); ++i) {
      best = from[i].first < from[best].first * (1 - 1e-9) ? i : best;
    }
    if (groups.size() >= needed && from[best].first > last * (1 + 1e-9)) {
      break;
    }
    last = groups.size() < needed ? std::max(last, from[best].first) : last;
    groups.push_back(from[best].second);
    for (const auto i : groups.back()) {
      used[i] = true;
    }
  }
  return groups;
}

/// A mesh of near groups, level by level, and the devices that are in none.
template <class Platform>
std::vector<std::uint32_t> grouped_mesh(const joined_devices<Platform>& all, std::span<const mesh_level> levels) {
  std::vector<std::vector<std::uint32_t>> parts; // devices of each group so far
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    parts.push_back({i});
  }
  std::size_t needed = 1;
  for (const auto& level : levels) {
    needed *= level.size;
  }
  for (const auto& level : levels) {
    needed /= level.size;
    std::vector<double> seconds;
    seconds.reserve(parts.size() * parts.size());
    for (const auto& a : parts) {
      for (const auto& b : parts) {
        seconds.push_back(std::inner_product(a.begin(), a.end(), b.begin(), 0.0, std::plus{},
                                             [&](auto x, auto y) { return all.between(x, y); }));
      }
    }
    const auto groups = near_groups(static_cast<std::uint32_t>(parts.size()), level.size, needed, seconds);
    std::vector<std::vector<std::uint32_t>> joined;
    for (const auto& g : groups) {
      auto& devices = joined.emplace_back();
      for (const auto part : g) {
        devices.insert(devices.end(), parts[part].begin(), parts[part].end());
      }
    }
    parts = std::move(joined);
  }
  auto at = std::move(parts.front());
  std::vector<bool> used(all.size(), false);
  for (const auto i : at) {
    used[i] = true;
  }
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    used[i] ? void() : at.push_back(i);
  }
  return at;
}

/// Places of a mesh, the first one at `first`, each of the others the nearest to the one before.
template <class Platform>
std::vector<std::uint32_t> nearest_neighbours(const joined_devices<Platform>& all, std::uint32_t first) {
  std::vector<std::uint32_t> at(all.size());
  std::iota(at.begin(), at.end(), 0);
  std::rotate(at.begin(), at.begin() + first, at.begin() + first + 1);
  for (std::size_t i = 1; i < at.size(); ++i) {
    const auto next = std::min_element(at.begin() + static_cast<std::ptrdiff_t>(i), at.end(), [&](auto a, auto b) {
      return std::tuple{all.between(at[i - 1], a), a} < std::tuple{all.between(at[i - 1], b), b};
    });
    std::rotate(at.begin() + static_cast<std::ptrdiff_t>(i), next, next + 1);
  }
  return at;
}

/// Exchanges groups of each level, and turns round runs of them, as long as that makes the mesh faster.
template <class Platform>
class mesh_descent {
public:
  mesh_descent(mesh_cost<Platform>& cost, std::span<const mesh_level> levels) : cost_{&cost}, levels_{levels} {}

  double improve(std::vector<std::uint32_t>& at, std::uint64_t max_work) {
    double best = (*cost_)(at);
    for (bool again = true; again && cost_->work() < max_work;) {
      again = false;
      std::size_t size = 1;
      for (const auto& level : levels_) {
        again = improve_level(at, size, level.size, best, max_work) || again;
        size *= level.size;
      }
    }
    return best;
  }

private:
  bool improve_level(std::vector<std::uint32_t>& at, std::size_t size, std::size_t per_group, double& best,
                     std::uint64_t max_work) {
    bool improved = false;
    const auto mesh = cost_->places();
    const auto blocks = (size == 1 ? at.size() : mesh) / size;
    const auto keep_if_better = [&](auto change) { // which undoes itself
      change();
      const double cost = (*cost_)(at);
      cost < best*(1 - 1e-6) ? void((best = cost, improved = true)) : change();
    };
    const auto begin = [&](std::size_t block) { return at.begin() + static_cast<std::ptrdiff_t>(block * size); };
    for (std::size_t i = 0; i < mesh / size; ++i) {
      for (std::size_t k = i + 1; k < blocks && cost_->work() < max_work; ++k) {
        keep_if_better([&] { std::swap_ranges(begin(i), begin(i + 1), begin(k)); });
        if (k > i + 1 && k < mesh / size && i / per_group == k / per_group) {
          keep_if_better([&] {
            for (auto a = i, b = k; a < b; ++a, --b) {
              std::swap_ranges(begin(a), begin(a + 1), begin(b));
            }
          });
        }
      }
    }
    return improved;
  }

  mesh_cost<Platform>* cost_;
  std::span<const mesh_level> levels_;
};

/// True if nothing but numbers tells the devices of two meshes apart, place by place: the ways between them and, for
/// each, those to all other devices.
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
    if (all_ways(a[i]) != all_ways(b[i])) {
      return false;
    }
  }
  return true;
}

/// True if all ways between the devices are alike, and as many of them share each link: then all meshes are.
template <class Platform>
bool are_joined_alike(const joined_devices<Platform>& all) {
  const auto& p = *all.platform;
  std::vector<double> users; // by link
  const auto for_each_pair = [&](auto f) {
    for (const device_id a : all.ids) {
      for (const device_id b : all.ids) {
        a != b ? f(a, b) : void();
      }
    }
  };
  if constexpr (platform_parts::has_routes<Platform>) {
    users.assign(p.num_links(), 0);
    for_each_pair([&](device_id a, device_id b) { p.visit_route(a, b, [&](link_id l) { ++users[l]; }); });
  }
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for_each_pair([&](device_id a, device_id b) {
    double seconds = all.one_way(a, b);
    if constexpr (platform_parts::has_routes<Platform>) {
      p.visit_route(a, b, [&](link_id l) { seconds += 1e6 * users[l] / p.link_at(l).bandwidth; });
    }
    least = std::min(least, seconds);
    most = std::max(most, seconds);
  });
  return most - least <= 1e-9 * most;
}

/// A ring turned so that it ends before its slowest way, as groups of near devices follow each other then.
template <class Platform>
std::vector<std::uint32_t> ended_at_slowest(const joined_devices<Platform>& all, std::vector<std::uint32_t> at,
                                            std::size_t places) {
  std::tuple<double, std::uint32_t, std::size_t> first{0, none, 0}; // of the best: minus seconds, number, place
  for (std::size_t i = 0; i < places; ++i) {
    first = std::min(first, {-all.between(at[(i + places - 1) % places], at[i]), at[i], i});
  }
  std::rotate(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(std::get<2>(first)),
              at.begin() + static_cast<std::ptrdiff_t>(places));
  return at;
}

/// The best of the meshes that descents from several starts find.
template <class Platform>
std::vector<std::uint32_t> improved_mesh(const joined_devices<Platform>& all, std::span<const mesh_level> levels,
                                         std::vector<std::uint32_t> best) {
  constexpr std::uint64_t max_work = 4'000'000;
  constexpr std::size_t max_starts = 16;
  mesh_cost cost{all, levels};
  mesh_descent descent{cost, levels};
  double least = std::numeric_limits<double>::infinity();
  const auto descend = [&](std::vector<std::uint32_t> at) {
    if (const double seconds = descent.improve(at, max_work); seconds < least * (1 - 1e-6)) {
      least = seconds;
      best = std::move(at);
    }
  };
  descend(best);
  for (std::uint32_t first = 0; first < all.size() && all.size() <= max_starts; ++first) {
    const auto at = nearest_neighbours(all, first);
    descend(at);
    levels.size() == 1 ? descend(ended_at_slowest(all, at, cost.places())) : void();
  }
  return best;
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
/// platform of more than 4,096 devices the first ones are taken in the order given.
///
/// Throws `value_error` for a size of 0, and if there are fewer devices than places.
/// Complexity: that of `canonical_order`, and O(n²) to O(n³) for n devices, as a rule.
template <class Platform>
std::vector<device_id> choose_devices(const Platform& p, std::span<const device_id> devices,
                                      std::span<const mesh_level> levels, contention_model how) {
  constexpr std::size_t max_devices = 4096, max_improved = 64;
  std::size_t places = 1;
  for (const auto& level : levels) {
    places *= level.size;
  }
  if (places == 0 || places > devices.size()) {
    throw value_error("choose_devices", "a mesh of " + std::to_string(places) + " places for " +
                                          std::to_string(devices.size()) + " devices");
  }
  std::vector<device_id> given(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(places));
  if (p.num_devices() > max_devices) {
    return given;
  }
  const detail::joined_devices all{p, devices, how};
  auto best = detail::grouped_mesh(all, levels);
  if (all.size() <= max_improved && !detail::are_joined_alike(all)) {
    best = detail::improved_mesh(all, levels, std::move(best));
  }
  std::vector<device_id> chosen;
  for (std::size_t i = 0; i < places; ++i) {
    chosen.push_back(all.ids[best[i]]);
  }
  return detail::are_like(p, chosen, given) ? given : chosen;
}

} // namespace weft::parallel
