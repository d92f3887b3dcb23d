// SPDX-License-Identifier: BSL-1.0
/// Generators of graph structure: chains, fork-join graphs, random DAGs, and random layered DAGs.
///
/// All draw from `rng` only and use no function of the mathematical library, whose last bit differs between
/// platforms, so that a seed gives the same graph everywhere.
#pragma once

#include "weft/core/random.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/csr.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace weft::generate {

/// The shape of a random layered DAG: ops stand on levels, edges lead to later levels. The defaults are those of the
/// critical-path paper's generator ([CP], class GraphConfig of its published code).
struct level_options {
  std::uint32_t levels = 100;         ///< number of levels
  std::uint32_t min_width = 1;        ///< fewest ops on a level; the number is drawn uniformly
  std::uint32_t max_width = 80;       ///< most ops on a level
  double edge_probability = 0.006;    ///< of an edge between two ops in reach of each other
  std::uint32_t edge_level_limit = 5; ///< an edge leads fewer levels ahead than this (5: to the next four levels)
  double edge_decay = 0;              ///< if above 1: no limit; the probability is divided by this once per level ahead
  double long_range_share = 0.1;      ///< further edges, as a share, between ops of any two different levels
  std::uint64_t num_ops = 0;          ///< if not 0: as many levels as it takes for exactly so many ops
  double in_degree = 0;               ///< if not 0: replaces `edge_probability`; the expected number of inputs per op
};

/// A layered DAG before it becomes a graph. Ops are numbered level by level; arcs are ordered by target, then source.
struct layered_arcs {
  std::vector<op_id> first_of_level{0}; ///< per level, plus the number of ops
  std::vector<graph::arc> arcs;

  std::size_t num_ops() const { return first_of_level.back(); }
  std::size_t num_levels() const { return first_of_level.size() - 1; }
  std::size_t level(op_id v) const {
    const auto after = std::upper_bound(first_of_level.begin(), first_of_level.end(), v);
    return static_cast<std::size_t>(after - first_of_level.begin()) - 1;
  }
};

namespace detail {

inline void require(bool holds, const char* option, const char* rule) {
  if (!holds) {
    throw value_error(std::string{"generator option "} + option, rule);
  }
}
inline bool is_probability(double p) {
  return p >= 0 && p <= 1;
}

/// Skips from one success to the next in a row of independent trials, so that rare successes cost no time between
/// them. Samples the geometric distribution by bisection on the powers (1 - p)^(2^k): only products and comparisons.
class sparse_trials {
public:
  explicit sparse_trials(double p) {
    powers_[0] = 1 - p;
    for (std::size_t k = 1; k < powers_.size(); ++k) {
      powers_[k] = powers_[k - 1] * powers_[k - 1];
    }
    while (highest_ > 0 && powers_[highest_ - 1] < 0x1.0p-60) { // such long gaps do not occur
      --highest_;
    }
  }

  /// The number of failures before the next success: k with probability p (1 - p)^k, capped at 2^40.
  std::uint64_t gap(rng& random) const {
    const double u = random.uniform();
    double survival = 1;
    std::uint64_t failures = 0;
    for (std::size_t k = highest_; k-- > 0;) {
      if (const double longer = survival * powers_[k]; longer > u) {
        survival = longer;
        failures += std::uint64_t{1} << k;
      }
    }
    return failures;
  }

  /// Calls `hit(i)` for each success among trials `0 … count - 1`.
  template <class Hit>
  void run(std::uint64_t count, rng& random, Hit hit) const {
    for (std::uint64_t i = gap(random); i < count; i += gap(random) + 1) {
      hit(i);
    }
  }

private:
  std::array<double, 40> powers_{};
  std::size_t highest_ = 40;
};

inline void check(const level_options& o) {
  require(o.min_width <= o.max_width && o.max_width > 0, "min_width, max_width",
          "need 0 <= min_width <= max_width > 0");
  require(is_probability(o.edge_probability), "edge_probability", "must be from 0 to 1");
  require(o.edge_decay == 0 || (o.edge_decay > 1 && o.edge_decay <= std::numeric_limits<double>::max()), "edge_decay",
          "must be above 1, or 0 for a limit on levels instead");
  require(o.long_range_share >= 0 && o.long_range_share <= 1000, "long_range_share", "must be from 0 to 1000");
  require(o.in_degree >= 0 && o.in_degree <= std::numeric_limits<double>::max(), "in_degree",
          "must be finite and not negative");
  const auto most = o.num_ops != 0 ? o.num_ops : std::uint64_t{o.levels} * o.max_width;
  require(most < none, "num_ops", "must be below 2^32 - 1");
}

inline void draw_levels(layered_arcs& g, const level_options& o, rng& random) {
  const auto wanted = o.num_ops;
  while (wanted != 0 ? g.num_ops() < wanted : g.num_levels() < o.levels) {
    std::uint64_t width = static_cast<std::uint64_t>(random.between(o.min_width, o.max_width));
    if (wanted != 0) {
      width = std::min(width, wanted - g.num_ops());
    }
    g.first_of_level.push_back(static_cast<op_id>(g.num_ops() + width));
  }
}

/// The local arcs into one level. With a limit all reachable levels are one row of trials with one probability;
/// with decay each level is a row of its own.
class level_inputs {
public:
  level_inputs(const layered_arcs& g, std::size_t level, const level_options& o) : g_{g} {
    if (o.edge_decay == 0) {
      const std::size_t reach = std::min<std::size_t>(level, o.edge_level_limit > 0 ? o.edge_level_limit - 1 : 0);
      add_row(level - reach, level, 1);
    } else {
      double weight = 1;
      for (std::size_t from = level; from-- > 0;) {
        weight /= o.edge_decay;
        if (weight < 0x1.0p-60) {
          break; // no seed would ever hit one
        }
        add_row(from, from + 1, weight);
      }
      std::reverse(rows_.begin(), rows_.end()); // ascending sources
    }
    double weights = 0;
    for (const auto& r : rows_) {
      weights += r.mass;
    }
    const double local = o.in_degree / (1 + o.long_range_share);
    const double unit = o.in_degree > 0 ? local / std::max(weights, 1e-300) : o.edge_probability;
    for (const auto& r : rows_) {
      trials_.emplace_back(std::min(1.0, unit * r.weight));
    }
  }

  void draw(op_id target, std::vector<graph::arc>& arcs, rng& random) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const op_id first = rows_[i].first;
      trials_[i].run(rows_[i].last - first, random, [&](std::uint64_t k) {
        arcs.push_back({static_cast<op_id>(first + k), target});
      });
    }
  }

private:
  struct row {
    op_id first, last;
    double weight;
    double mass; // weight times ops; kept, so that no compiler fuses the product into the sum
  };
  void add_row(std::size_t first_level, std::size_t last_level, double weight) {
    const op_id first = g_.first_of_level[first_level];
    const op_id last = g_.first_of_level[last_level];
    if (first < last) {
      rows_.push_back({first, last, weight, weight * static_cast<double>(last - first)});
    }
  }
  const layered_arcs& g_;
  std::vector<row> rows_;
  std::vector<sparse_trials> trials_;
};

inline bool by_target(const graph::arc& a, const graph::arc& b) {
  return a.target != b.target ? a.target < b.target : a.source < b.source;
}

/// Adds arcs between random ops of different levels; as in [CP]'s generator, a pair that is on one level or already
/// joined is drawn in vain.
inline void add_long_range(layered_arcs& g, double share, rng& random) {
  const auto draws = static_cast<std::uint64_t>(share * static_cast<double>(g.arcs.size()));
  const auto local = static_cast<std::ptrdiff_t>(g.arcs.size());
  for (std::uint64_t i = 0; i < draws; ++i) {
    op_id a = random.below(g.num_ops());
    op_id b = random.below(g.num_ops());
    if (a > b) {
      std::swap(a, b);
    }
    if (g.level(a) != g.level(b)) {
      g.arcs.push_back({a, b});
    }
  }
  weft::sort(g.arcs.data() + local, g.arcs.data() + g.arcs.size(), by_target);
  std::inplace_merge(g.arcs.begin(), g.arcs.begin() + local, g.arcs.end(), by_target);
  g.arcs.erase(std::unique(g.arcs.begin(), g.arcs.end()), g.arcs.end());
}

} // namespace detail

/// A random layered DAG. Throws `value_error` for options that are out of range.
/// Complexity: O(n + m log m) expected, whatever the number of possible edges.
inline layered_arcs layered_structure(const level_options& o, rng& random) {
  detail::check(o);
  layered_arcs g;
  detail::draw_levels(g, o, random);
  for (std::size_t level = 1; level < g.num_levels(); ++level) {
    const detail::level_inputs inputs{g, level, o};
    for (op_id v = g.first_of_level[level]; v < g.first_of_level[level + 1]; ++v) {
      inputs.draw(v, g.arcs, random);
    }
  }
  detail::add_long_range(g, o.long_range_share, random);
  return g;
}

/// The same as a graph.
inline csr_graph layered_graph(const level_options& o, std::uint64_t seed) {
  rng random{seed};
  const auto g = layered_structure(o, random);
  return {g.num_ops(), g.arcs};
}

/// `0 -> 1 -> … -> n - 1`.
inline csr_graph chain(std::size_t num_ops) {
  (void)checked_count(num_ops, "chain", "ops");
  std::vector<graph::arc> arcs;
  for (std::size_t v = 1; v < num_ops; ++v) {
    arcs.push_back({static_cast<op_id>(v - 1), static_cast<op_id>(v)});
  }
  return {num_ops, arcs};
}

/// `stages` times in a row: an op that forks into `width` chains of `length` ops, which all join in the next stage's
/// fork; the last stage joins in a final op. `stages · (1 + width · length) + 1` ops.
inline csr_graph fork_join(std::size_t width, std::size_t length = 1, std::size_t stages = 1) {
  const double most = static_cast<double>(stages) * (1 + static_cast<double>(width) * static_cast<double>(length)) + 1;
  detail::require(most < none, "fork_join", "width, length and stages make more ops than ids can number");
  std::vector<graph::arc> arcs;
  op_id fork = 0;
  for (std::size_t s = 0; s < stages; ++s) {
    const auto join = static_cast<op_id>(fork + 1 + width * length);
    for (std::size_t c = 0; c < width; ++c) {
      op_id at = fork;
      for (std::size_t i = 0; i < length; ++i) {
        const auto next = static_cast<op_id>(fork + 1 + c * length + i);
        arcs.push_back({at, next});
        at = next;
      }
      if (length > 0) {
        arcs.push_back({at, join});
      }
    }
    if (width == 0 || length == 0) {
      arcs.push_back({fork, join});
    }
    fork = join;
  }
  return {std::size_t{fork} + 1, arcs};
}

/// Each of the n (n - 1) / 2 arcs from a smaller to a larger id with the given probability: an Erdős–Rényi graph made
/// acyclic. Complexity: O(n + m log d) expected. Throws `value_error` unless the probability is from 0 to 1.
inline csr_graph random_dag(std::size_t num_ops, double edge_probability, std::uint64_t seed) {
  detail::require(detail::is_probability(edge_probability), "edge_probability", "must be from 0 to 1");
  (void)checked_count(num_ops, "random_dag", "ops");
  rng random{seed};
  const detail::sparse_trials trials{edge_probability};
  std::vector<graph::arc> arcs;
  for (std::size_t v = 1; v < num_ops; ++v) {
    trials.run(v, random, [&](std::uint64_t u) { arcs.push_back({static_cast<op_id>(u), static_cast<op_id>(v)}); });
  }
  return {num_ops, arcs};
}

} // namespace weft::generate
