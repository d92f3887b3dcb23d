// SPDX-License-Identifier: BSL-1.0
/// Descents from a mesh of devices to faster ones.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/parallel/detail/mesh_cost.hpp"
#include "weft/parallel/mesh_level.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::parallel::detail {

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
      if (cost < best * (1 - 1e-6)) {
        best = cost;
        improved = true;
      } else {
        change();
      }
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
    if (levels.size() == 1) {
      descend(ended_at_slowest(all, at, cost.places()));
    }
  }
  return best;
}

} // namespace weft::parallel::detail
