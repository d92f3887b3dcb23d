// SPDX-License-Identifier: BSL-1.0
/// The costs of a core's edges as floating-point numbers.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/shard/cost_pool.hpp"
#include "weft/shard/detail/block_store.hpp"
#include "weft/shard/detail/core.hpp"
#include "weft/shard/variant_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace weft::shard::detail {

/// The costs that searches read: the matrices of a core in both orders, with a finite penalty for `never`. Costs
/// beyond 2^53 are rounded down to the next `double`, so that a bound stays one; what a choice costs exactly, the
/// problem says. Takes the core's matrices, so that they are not in memory twice.
class weights {
public:
  explicit weights(core& c) : core_{c} {
    {
      const cost_pool exact = std::exchange(c.matrices, {});
      for (const auto m : ids(exact.size())) {
        std::transform(exact[m].begin(), exact[m].end(), by_row_.add(exact[m].size()), rounded_down);
      }
    }
    penalty_ = 4 * sum_of_largest(never);
    buffer<std::size_t> widths(by_row_.size());
    for (const auto& e : c.edges) {
      widths[e.matrix] = c.num_variants(e.v);
    }
    for (const auto m : ids(by_row_.size())) {
      const auto values = by_row_[m];
      std::replace(values.begin(), values.end(), infinity, penalty_);
      const std::size_t width = widths[m], height = values.size() / width;
      double* to = by_column_.add(values.size());
      for (std::size_t j = 0; j < width; ++j) {
        for (std::size_t i = 0; i < height; ++i) {
          *to++ = values[i * width + j];
        }
      }
    }
  }

  /// The cost of one choice that may not be taken: more than all others together.
  double penalty() const { return penalty_; }
  double of(std::int64_t cost) const { return std::min(rounded_down(cost), penalty_); }
  double of(const core::edge& e, std::uint32_t i, std::uint32_t j) const {
    return by_row_[e.matrix][i * core_.num_variants(e.v) + j];
  }
  /// The costs of an edge row by row.
  const double* rows(const core::edge& e) const { return by_row_[e.matrix].data(); }
  /// The costs of an edge by the variants of v, for variant j of its other end.
  const double* row(const core::edge& e, std::uint32_t v, std::size_t j) const {
    return v == e.v ? by_row_[e.matrix].data() + j * core_.num_variants(e.v)
                    : by_column_[e.matrix].data() + j * core_.num_variants(e.u);
  }

  /// 1 and the largest costs below `never` of all nodes and edges, each at most `cap`. Complexity: linear.
  double sum_of_largest(std::int64_t cap) const {
    const auto most = static_cast<double>(cap);
    buffer<double> of_matrix(by_row_.size());
    for (const auto m : ids(by_row_.size())) {
      for (const double x : by_row_[m]) {
        of_matrix[m] = x < penalty_ ? std::max(of_matrix[m], std::min(x, most)) : of_matrix[m];
      }
    }
    double sum = 1;
    for (const auto& e : core_.edges) {
      sum += of_matrix[e.matrix];
    }
    for (const auto v : ids(core_.num_nodes())) {
      double largest = 0;
      for (const auto x : core_.costs(v)) {
        largest = x < never ? std::max(largest, std::min(static_cast<double>(x), most)) : largest;
      }
      sum += largest;
    }
    return sum;
  }

private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  static double rounded_down(std::int64_t cost) {
    if (cost >= never) {
      return infinity;
    }
    const auto nearest = static_cast<double>(cost);
    return static_cast<std::int64_t>(nearest) > cost ? std::nextafter(nearest, 0.0) : nearest;
  }

  const core& core_;
  double penalty_ = infinity;
  block_store<double> by_row_, by_column_;
};

} // namespace weft::shard::detail
