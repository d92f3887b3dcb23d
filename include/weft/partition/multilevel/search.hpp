// SPDX-License-Identifier: BSL-1.0
/// Multilevel search for acyclic partitions with few cut edges: coarsen, cut, and refine on the way back.
#pragma once

#include "weft/core/elementary.hpp"
#include "weft/core/random.hpp"
#include "weft/partition/multilevel/coarsen.hpp"
#include "weft/partition/multilevel/orders.hpp"
#include "weft/partition/multilevel/refine.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace weft::partition::multilevel {

/// Options of the search.
struct search_options {
  std::size_t coarsest = 10'000; ///< vertices at which coarsening stops, and many ways to cut are tried
  double growth = 3;             ///< per step of coarsening, as in `coarsening`
  double heaviest = 0.05;        ///< what a vertex of the coarsest graph may weigh, as a share of the smallest part
  double least_gain = 0.25;      ///< as in `coarsening`: with less, graphs that hardly coarsen take longer
  bool within_cut = true;        ///< coarsen within the pieces of the best cut of an order of the graph itself
  std::size_t cycles = 0;        ///< so often coarsen within the parts that were found, and refine again, if it helps
  refinement refine{};
};

/// The best of several partitions.
struct best_cut {
  std::vector<std::uint32_t> part;
  double weight = std::numeric_limits<double>::infinity(); ///< of the edges between parts

  void take(const weighted_dag& g, std::vector<std::uint32_t> candidate) {
    if (const double w = cut_weight(g, candidate); part.empty() || w < weight) {
      weight = w;
      part = std::move(candidate);
    }
  }
};

/// The search. A limit per part says what it should weigh at most; the parts keep to it where orders of the coarsest
/// graph can be cut so.
class cut_search {
public:
  cut_search(const search_options& o, rng& random) : o_{o}, random_{random} {}

  /// All parts at once: O(n + m) for graphs that coarsen.
  std::vector<std::uint32_t> operator()(const weighted_dag& g, std::span<const double> limit) {
    coarsening how = coarsening_for(limit, limit.size() > 2 ? 4 * o_.coarsest : o_.coarsest);
    hierarchy h;
    best_cut found;
    if (o_.within_cut) {
      how.last_step = 1;
      coarsen(h, g, how);
      const weighted_dag& first = h.coarsest(g);
      for (const idea i : {idea::earliest, idea::latest, idea::outward}) {
        found.take(first, cut_at_narrow_places(first, order(first, i), limit));
      }
      how.first_step = std::exchange(how.last_step, coarsening{}.last_step);
    }
    const std::size_t before = h.steps.size();
    coarsen(h, g, how, found.part);
    const weighted_dag& coarsest = h.coarsest(g);
    if (o_.within_cut) {
      auto part = h.project(std::move(found.part), before);
      found = {};
      found.take(coarsest, refined(coarsest, std::move(part), limit));
    }
    if (!o_.within_cut || coarsest.size() <= 16 * o_.coarsest) {
      if (limit.size() == 2) {
        for (const idea i : every_idea) {
          found.take(coarsest, refined(coarsest, cut_at_narrow_places(coarsest, order(coarsest, i), limit), limit));
        }
      } else {
        search_options flat = o_;
        flat.within_cut = false;
        flat.cycles = 0;
        found.take(coarsest, refined(coarsest, cut_search{flat, random_}.by_halves(coarsest, limit), limit));
      }
    }
    return improved(g, uncoarsen(g, h, std::move(found.part), limit), limit);
  }

  /// In two, each half in two, and so on; then all parts together. O((n + m) log parts).
  std::vector<std::uint32_t> by_halves(const weighted_dag& g, std::span<const double> limit) {
    std::vector<std::uint32_t> part(g.size(), 0);
    std::vector<op_id> id(g.size());
    for (op_id v = 0; v < g.size(); ++v) {
      id[v] = v;
    }
    halve(g, id, limit, 0, part);
    return part;
  }

  /// Coarsens within the parts and refines, as often as the options say and as it helps.
  std::vector<std::uint32_t> improved(const weighted_dag& g, std::vector<std::uint32_t> part,
                                      std::span<const double> limit) const {
    double weight = o_.cycles > 0 ? cut_weight(g, part) : 0;
    for (std::size_t i = 0; i < o_.cycles; ++i) {
      hierarchy h;
      coarsen(h, g, coarsening_for(limit, 32 * limit.size()), part);
      auto next = uncoarsen(g, h, refined(h.coarsest(g), h.project(part), limit), limit);
      const double after = cut_weight(g, next);
      if (!(after < weight)) {
        break;
      }
      weight = after;
      part = std::move(next);
    }
    return part;
  }

private:
  enum class idea { given, earliest, latest, inward, outward, growing, shrinking };
  static constexpr std::array every_idea{idea::given,   idea::earliest, idea::latest,   idea::inward,
                                         idea::outward, idea::growing,  idea::shrinking};

  std::vector<op_id> order(const weighted_dag& g, idea i) const {
    switch (i) {
    case idea::earliest: return order_by(earliest_levels(g));
    case idea::latest: return order_by(latest_levels(g));
    case idea::inward: return depth_first_order<true>(g);
    case idea::outward: return depth_first_order<false>(g);
    case idea::growing: return growing_order<true>(g, random_);
    case idea::shrinking: return growing_order<false>(g, random_);
    case idea::given: break;
    }
    std::vector<op_id> ids(g.size());
    for (op_id v = 0; v < g.size(); ++v) {
      ids[v] = v;
    }
    return ids;
  }

  coarsening coarsening_for(std::span<const double> limit, std::size_t vertices) const {
    return {.vertices = vertices,
            .heaviest = o_.heaviest * *std::min_element(limit.begin(), limit.end()),
            .growth = o_.growth,
            .least_gain = o_.least_gain};
  }

  std::vector<std::uint32_t> refined(const weighted_dag& g, std::vector<std::uint32_t> part,
                                     std::span<const double> limit) const {
    refiner<edge_gains>{g, part, limit}(o_.refine);
    return part;
  }

  std::vector<std::uint32_t> uncoarsen(const weighted_dag& g, const hierarchy& h, std::vector<std::uint32_t> part,
                                       std::span<const double> limit) const {
    for (std::size_t i = h.graphs.size(); i-- > 0;) {
      const weighted_dag& finer = i > 0 ? h.graphs[i - 1] : g;
      part = refined(finer, h.steps[i].spread(part), limit);
    }
    return part;
  }

  void halve(const weighted_dag& g, std::span<const op_id> id, std::span<const double> limit, std::uint32_t first,
             std::vector<std::uint32_t>& part) {
    if (limit.size() < 2 || g.size() == 0) {
      for (const op_id v : id) {
        part[v] = first;
      }
      return;
    }
    const std::size_t half = limit.size() / 2;
    const double total = g.total_weight();
    std::array<double, 2> sides{0, 0};
    for (std::size_t p = 0; p < limit.size(); ++p) {
      sides[p < half ? 0 : 1] += limit[p];
    }
    // The room is used up evenly on the way down, so that every further cut has some.
    const auto depth = static_cast<double>(std::bit_width(limit.size() - 1));
    const double share = total > 0 ? total / (sides[0] + sides[1]) : 1;
    const double used = share * portable_exp(portable_log(std::max(1.0, 1 / share)) / depth);
    for (double& s : sides) {
      s *= used;
    }
    const auto side = (*this)(g, sides);
    for (const std::uint32_t s : {0u, 1u}) {
      std::vector<op_id> inner;
      const weighted_dag piece = induced(g, side, s, id, inner);
      halve(piece, inner, s == 0 ? limit.first(half) : limit.subspan(half),
            s == 0 ? first : first + static_cast<std::uint32_t>(half), part);
    }
  }

  search_options o_;
  rng& random_;
};

} // namespace weft::partition::multilevel
