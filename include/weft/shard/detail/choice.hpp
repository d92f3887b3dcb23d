// SPDX-License-Identifier: BSL-1.0
/// A choice for the nodes of a core, with its cost and the bytes it uses at every moment.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/shard/detail/core.hpp"
#include "weft/shard/detail/weights.hpp"
#include "weft/shard/detail/wide.hpp"
#include "weft/shard/variant_problem.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::shard::detail {

/// The merit of a choice: what it takes that may not be taken counts first, then bytes beyond the limit, then cost.
struct merit {
  std::uint32_t forbidden = 0; ///< costs of `never` that it takes
  std::int64_t excess = 0;     ///< bytes, at the worst moment
  wide sum = 0;                ///< of the other costs, which may be beyond `never`
  bool feasible() const { return forbidden == 0 && excess <= 0 && sum < never; }
  /// The sum, or `never` if it is no less.
  std::int64_t cost() const { return sum < never ? static_cast<std::int64_t>(sum) : never; }
  friend bool operator<(const merit& a, const merit& b) {
    return a.forbidden != b.forbidden ? a.forbidden < b.forbidden
           : a.excess != b.excess     ? a.excess < b.excess
                                      : a.sum < b.sum;
  }
  friend bool operator==(const merit&, const merit&) = default;
};

/// Adds what node v uses with variant i, `times` over, to the changes of use from each moment to the next.
inline void add_use(const core& c, std::uint32_t v, std::uint32_t i, std::int64_t times,
                    std::vector<std::int64_t>& changes) {
  for (const auto& s : c.pieces(v)) {
    const auto bytes = times * c.bytes[s.first + i];
    changes[s.live.begin] += bytes;
    changes[s.live.end] -= bytes;
  }
}

class choice {
public:
  choice(const core& c, const weights& w, std::vector<std::uint32_t> x) : x_{std::move(x)}, used_(c.room.size()) {
    std::vector<std::int64_t> changes(c.room.size() + 1);
    for (const auto v : ids(c.num_nodes())) {
      add(c.costs(v)[x_[v]], 1);
      add_use(c, v, x_[v], 1, changes);
    }
    for (const auto& e : c.edges) {
      add(w, w.of(e, x_[e.u], x_[e.v]), 1);
    }
    std::int64_t level = 0;
    for (std::size_t t = 0; t < used_.size(); ++t) {
      used_[t] = level += changes[t];
    }
    find_excess(c);
  }

  const std::vector<std::uint32_t>& variants() const { return x_; }
  std::span<const std::int64_t> used() const { return {used_.data(), used_.size()}; }
  const merit& value() const { return value_; }

  /// Takes other variants for some nodes. Complexity: O(moments + the links and pieces of what changes).
  void change(const core& c, const weights& w, std::span<const std::pair<std::uint32_t, std::uint32_t>> to) {
    changes_.assign(c.room.size() + 1, 0);
    for (const auto& [v, i] : to) {
      if (x_[v] == i) {
        continue;
      }
      add(c.costs(v)[x_[v]], -1);
      add(c.costs(v)[i], 1);
      add_use(c, v, x_[v], -1, changes_);
      add_use(c, v, i, 1, changes_);
      const auto old = x_[v];
      for (const auto& l : c.links(v)) {
        const auto& e = c.edges[l.edge];
        const double* const costs = w.row(e, v, x_[l.to]);
        add(w, costs[old], -1);
        add(w, costs[i], 1);
      }
      x_[v] = i;
    }
    std::int64_t level = 0;
    for (std::size_t t = 0; t < used_.size(); ++t) {
      used_[t] += level += changes_[t];
    }
    find_excess(c);
  }

private:
  void add(const weights& w, double cost, int times) {
    add(cost < w.penalty() ? static_cast<std::int64_t>(cost) : never, times);
  }
  void add(std::int64_t cost, int times) {
    if (cost >= never) {
      value_.forbidden += static_cast<std::uint32_t>(times);
    } else {
      value_.sum += static_cast<wide>(times) * cost;
    }
  }
  void find_excess(const core& c) {
    value_.excess = 0;
    for (std::size_t t = 0; t < used_.size(); ++t) {
      value_.excess = std::max(value_.excess, used_[t] - c.room[t]);
    }
  }

  std::vector<std::uint32_t> x_;
  std::vector<std::int64_t> used_; ///< bytes, by moment
  std::vector<std::int64_t> changes_;
  merit value_;
};

} // namespace weft::shard::detail
