// SPDX-License-Identifier: BSL-1.0
/// The time of the collectives of a mesh on the links that join its devices.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/parallel/collective.hpp"
#include "weft/parallel/mesh_level.hpp"
#include "weft/plan/contention.hpp"
#include "weft/platform/canonical_order.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weft::parallel::detail {

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
      if (wanted[d]) {
        ids.push_back(d);
      }
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

} // namespace weft::parallel::detail
