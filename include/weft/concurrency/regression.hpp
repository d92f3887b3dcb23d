// SPDX-License-Identifier: BSL-1.0
/// Predicting an op's time from its features, by least squares or from its nearest neighbours: the baselines that
/// hill climbing is compared with.
#pragma once

#include "weft/core/elementary.hpp"
#include "weft/core/error.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"
#include "weft/platform/machine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace weft::concurrency {

/// The features of an op: facts that are known without running it, and the team that it runs with.
struct op_features {
  double work = 0;           ///< FLOP
  double input_bytes = 0;    ///< bytes
  double output_bytes = 0;   ///< bytes
  weft::team team = {};
};

/// A measurement to learn from.
struct observation {
  op_features of = {};
  double seconds = 0;
};

namespace detail {

inline constexpr std::size_t num_features = 8;
using feature_vector = std::array<double, num_features>;

/// The features that times are fitted to, all of order one: logarithms of sizes and threads, and what bends them.
inline feature_vector vectorise(const op_features& f) {
  const auto log2 = [](double x) { return portable_log(x) * 1.4426950408889634; };
  const double log_p = log2(f.team.threads);
  return {1,
          log2(1 + f.work) / 16,
          log2(1 + f.input_bytes) / 16,
          log2(1 + f.output_bytes) / 16,
          log_p,
          log_p * log_p,
          log_p * log2(1 + f.work) / 16,
          f.team.affinity == affinity::packed ? 0.0 : 1.0};
}

/// Solves a · x = b for a symmetric positive definite matrix, by Cholesky's method.
template <std::size_t N>
std::array<double, N> solve_positive(std::array<std::array<double, N>, N> a, std::array<double, N> b) {
  for (std::size_t j = 0; j < N; ++j) {
    for (std::size_t k = 0; k < j; ++k) {
      a[j][j] -= rounded(a[j][k] * a[j][k]);
    }
    a[j][j] = std::sqrt(a[j][j]);
    for (std::size_t i = j + 1; i < N; ++i) {
      for (std::size_t k = 0; k < j; ++k) {
        a[i][j] -= rounded(a[i][k] * a[j][k]);
      }
      a[i][j] /= a[j][j];
    }
  }
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      b[i] -= rounded(a[i][k] * b[k]);
    }
    b[i] /= a[i][i];
  }
  for (std::size_t i = N; i-- > 0;) {
    for (std::size_t k = i + 1; k < N; ++k) {
      b[i] -= rounded(a[k][i] * b[k]);
    }
    b[i] /= a[i][i];
  }
  return b;
}

} // namespace detail

/// log T as a linear function of the features, by least squares (with a trace of ridge, so that features that never
/// vary do no harm). Complexity: O(observations).
class least_squares {
public:
  /// Throws `value_error` without observations.
  explicit least_squares(std::span<const observation> seen, double ridge = 1e-6) {
    if (seen.empty()) {
      throw value_error("least_squares", "needs at least one observation");
    }
    std::array<detail::feature_vector, detail::num_features> a{};
    detail::feature_vector b{};
    for (const observation& o : seen) {
      const auto x = detail::vectorise(o.of);
      const double y = portable_log(o.seconds);
      for (std::size_t i = 0; i < x.size(); ++i) {
        for (std::size_t j = 0; j < x.size(); ++j) {
          a[i][j] += rounded(x[i] * x[j]);
        }
        b[i] += rounded(x[i] * y);
      }
    }
    for (std::size_t i = 0; i < b.size(); ++i) {
      a[i][i] += rounded(ridge * static_cast<double>(seen.size()));
    }
    weights_ = detail::solve_positive(a, b);
  }

  /// Seconds.
  double operator()(const op_features& f) const {
    const auto x = detail::vectorise(f);
    double y = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      y += rounded(weights_[i] * x[i]);
    }
    return portable_exp(y);
  }

private:
  detail::feature_vector weights_{};
};

/// The median of the times of the `k` observations whose features are nearest.
/// Source: Cover, Hart, *Nearest Neighbor Pattern Classification*, 1967. Complexity: O(observations) per prediction.
class nearest_neighbours {
public:
  /// Throws `value_error` without observations.
  explicit nearest_neighbours(std::span<const observation> seen, std::size_t k = 3) : k_{std::max<std::size_t>(k, 1)} {
    if (seen.empty()) {
      throw value_error("nearest_neighbours", "needs at least one observation");
    }
    for (const observation& o : seen) {
      known_.push_back({detail::vectorise(o.of), o.seconds});
    }
  }

  /// Seconds.
  double operator()(const op_features& f) const {
    const auto x = detail::vectorise(f);
    std::vector<std::pair<double, double>> by_distance;
    for (const auto& [features, seconds] : known_) {
      double distance = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        distance += rounded((features[i] - x[i]) * (features[i] - x[i]));
      }
      by_distance.emplace_back(distance, seconds);
    }
    const std::size_t k = std::min(k_, by_distance.size());
    std::partial_sort(by_distance.begin(), by_distance.begin() + static_cast<std::ptrdiff_t>(k), by_distance.end());
    std::vector<double> near;
    for (std::size_t i = 0; i < k; ++i) {
      near.push_back(by_distance[i].second);
    }
    weft::sort(near);
    return near[k / 2];
  }

private:
  std::size_t k_;
  std::vector<std::pair<detail::feature_vector, double>> known_;
};

} // namespace weft::concurrency
