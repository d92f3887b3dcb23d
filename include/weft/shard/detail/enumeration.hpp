// SPDX-License-Identifier: BSL-1.0
/// A complete search for cores with few combinations.
#pragma once

#include "weft/core/elementary.hpp"
#include "weft/core/ids.hpp"
#include "weft/shard/detail/choice.hpp"
#include "weft/shard/detail/core.hpp"
#include "weft/shard/variant_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::shard::detail {

/// Branch and bound, depth first: nodes get variants in the order of their numbers, the cheapest first. A branch is cut
/// where its cost, the least of what each other node adds to it, and the least of the other edges reach the best cost;
/// and where not even the smallest variants of the others fit.
class enumeration {
public:
  explicit enumeration(const core& c) : core_{c}, x_(c.num_nodes()), use_(c.room.size()) {
    std::vector<std::int64_t> changes(c.room.size() + 1);
    for (const auto v : ids(c.num_nodes())) {
      for (const auto& s : c.pieces(v)) {
        const auto* const bytes = c.bytes.data() + s.first;
        const auto least = *std::min_element(bytes, bytes + c.num_variants(v));
        least_.push_back(least);
        changes[s.live.begin] += least;
        changes[s.live.end] -= least;
      }
    }
    std::int64_t level = 0;
    for (std::size_t t = 0; t < use_.size(); ++t) {
      use_[t] = level += changes[t];
      fits_ = fits_ && use_[t] <= c.room[t];
    }
    // The least of the edges whose earlier end is v or more.
    edges_after_.assign(c.num_nodes() + 1, 0);
    for (const auto& e : c.edges) {
      const auto values = c.matrices[e.matrix];
      edges_after_[std::min(e.u, e.v)] =
        add_costs(edges_after_[std::min(e.u, e.v)], *std::min_element(values.begin(), values.end()));
    }
    for (std::size_t v = c.num_nodes(); v-- > 0;) {
      edges_after_[v] = add_costs(edges_after_[v], edges_after_[v + 1]);
    }
    cost_.assign(c.cost.begin(), c.cost.end());
  }

  /// The logarithm to base 2 of the number of combinations.
  static double size_of(const core& c) {
    double sum = 0;
    for (const auto v : ids(c.num_nodes())) {
      sum += portable_log(static_cast<double>(c.num_variants(v)));
    }
    return sum / portable_log(2);
  }

  /// Whether the search came to its end; then `best()` is an optimum, or `never` is the cost and there is none.
  template <class Over>
  bool run(std::uint64_t max_branches, Over over) {
    branches_ = max_branches;
    return !fits_ || branch(0, 0, over);
  }
  const std::vector<std::uint32_t>& best() const { return best_; }
  std::int64_t cost() const { return best_cost_; } ///< without fixed costs

private:
  template <class Over>
  bool branch(std::uint32_t v, std::int64_t spent, Over over) {
    if (v == core_.num_nodes()) {
      best_cost_ = spent;
      best_ = x_;
      return true;
    }
    std::vector<std::pair<std::int64_t, std::uint32_t>> order;
    std::int64_t others = edges_after_[v + 1]; // edges of v itself are in what its variants leave
    for (auto u = v + 1; u < core_.num_nodes(); ++u) {
      const auto* const costs = cost_.data() + core_.first[u];
      others = add_costs(others, *std::min_element(costs, costs + core_.num_variants(u)));
    }
    for (const auto i : ids(core_.num_variants(v))) {
      order.emplace_back(cost_[core_.first[v] + i], i);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [cost, i] : order) {
      const auto now = add_costs(spent, cost);
      if (add_costs(now, others) >= best_cost_) {
        break;
      }
      if (branches_ == 0 || (--branches_ % 256 == 0 && over())) {
        branches_ = 0;
        return false;
      }
      const auto kept = cost_;
      if (use(v, i, 1)) {
        for (const auto& l : core_.links(v)) {
          for (std::uint32_t j = 0; l.to > v && j < core_.num_variants(l.to); ++j) {
            auto& c = cost_[core_.first[l.to] + j];
            const auto& e = core_.edges[l.edge];
            c = add_costs(c, e.u == v ? core_.edge_cost(e, i, j) : core_.edge_cost(e, j, i));
          }
        }
        x_[v] = i;
        if (!branch(v + 1, now, over)) {
          return false;
        }
        cost_ = kept;
      }
      use(v, i, -1);
    }
    return true;
  }

  /// Replaces what v uses at least by what variant i uses; whether that fits.
  bool use(std::uint32_t v, std::uint32_t i, std::int64_t times) {
    bool fits = true;
    for (auto k = core_.first_piece[v]; k < core_.first_piece[v + 1]; ++k) {
      const auto& s = core_.all_pieces[k];
      const auto more = times * (core_.bytes[s.first + i] - least_[k]);
      for (auto t = s.live.begin; t < s.live.end && more != 0; ++t) {
        use_[t] += more;
        fits = fits && use_[t] <= core_.room[t];
      }
    }
    return fits;
  }

  const core& core_;
  std::vector<std::uint32_t> x_, best_;
  std::vector<std::int64_t> use_;         ///< by moment, with the least of nodes that have no variant yet
  std::vector<std::int64_t> least_;       ///< by piece
  std::vector<std::int64_t> edges_after_; ///< by node
  std::vector<std::int64_t> cost_;        ///< by variant, with the edges to nodes that have one
  std::int64_t best_cost_ = never;
  std::uint64_t branches_ = 0;
  bool fits_ = true;
};

} // namespace weft::shard::detail
