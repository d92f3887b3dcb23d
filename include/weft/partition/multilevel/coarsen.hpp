// SPDX-License-Identifier: BSL-1.0
/// Acyclic coarsening: clusters of the vertices of a DAG whose quotient is a DAG again, and the quotient.
///
/// Three kinds of clusters, each with a reason why no cycle can arise:
/// - *inward cones*: all consumers of a vertex are in one cluster, so it joins that. A cluster's edges to others leave
///   its last vertex only, so a cycle of clusters would be a cycle of their last vertices.
/// - *outward cones*: the same against the edges.
/// - *level clusters*: a cluster has vertices of one level, or of two adjacent ones (an edge leads to a higher level).
///   Around a cycle of clusters edges climb at least a level each and clusters descend at most one, so all clusters of
///   the cycle have the same two levels and an edge enters each at its upper and leaves it at its lower vertices. A
///   cluster is only made if, among those made before, either no such edge enters it or none leaves it, and a vertex
///   only joins one if it brings no such edge: so the last made cluster of a cycle would not have been made.
///
/// Sources: the cones are the fan-out free ones of technology mapping (Cong, Ding 1994). Clusters within two adjacent
/// levels are from Herrmann, Özkaya, Uçar, Kaya, Çatalyürek, SIAM J. Sci. Comput. 41(4), 2019; the rule for the edges
/// between them is another one.
#pragma once

#include "weft/core/config.hpp"
#include "weft/partition/multilevel/weighted_dag.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weft::partition::multilevel {

/// The cluster of each vertex.
struct clusters {
  std::vector<op_id> of;  ///< per vertex, its cluster; numbered from 0 in a topological order of the quotient
  std::size_t count = 0;

  /// Values per vertex from values per cluster.
  std::vector<std::uint32_t> spread(std::span<const std::uint32_t> value) const {
    std::vector<std::uint32_t> result(of.size());
    for (std::size_t v = 0; v < of.size(); ++v) {
      result[v] = value[of[v]];
    }
    return result;
  }
  /// Values per cluster from values per vertex, if all vertices of a cluster have the same.
  std::vector<std::uint32_t> gather(std::span<const std::uint32_t> value) const {
    std::vector<std::uint32_t> result(count);
    for (std::size_t v = 0; v < of.size(); ++v) {
      result[of[v]] = value[v];
    }
    return result;
  }
};

/// Limits on clusters.
struct cluster_limits {
  double weight = 0;                       ///< none gets heavier, unless a single vertex is
  std::span<const std::uint32_t> part{};   ///< if not empty: per vertex, and a cluster is within one part
};

namespace detail {

inline bool same_part(const cluster_limits& l, op_id u, op_id v) {
  return l.part.empty() || l.part[u] == l.part[v];
}

/// Numbers roots, those vertices that are their own cluster, in ascending order.
inline clusters number_roots(std::vector<op_id> root) {
  clusters c;
  std::vector<op_id> number(root.size(), none);
  for (op_id v = 0; v < root.size(); ++v) {
    if (root[v] == v) {
      number[v] = static_cast<op_id>(c.count++);
    }
  }
  for (op_id& r : root) {
    r = number[r];
  }
  c.of = std::move(root);
  return c;
}

} // namespace detail

/// Cones: each vertex whose every neighbour along `Inward` ? successors : predecessors is in one cluster joins it.
/// O(n + m).
template <bool Inward>
clusters cones(const weighted_dag& g, const cluster_limits& limits) {
  const std::size_t n = g.size();
  const rows& towards = Inward ? g.out : g.in;
  std::vector<op_id> root(n);
  std::vector<double> weight(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto v = static_cast<op_id>(Inward ? n - 1 - i : i);
    const auto neighbours = towards.row(v);
    op_id r = neighbours.empty() ? v : root[neighbours[0]];
    for (std::size_t k = 1; k < neighbours.size() && r != v; ++k) {
      r = root[neighbours[k]] == r ? r : v;
    }
    const double w = g.weight_of(v);
    if (r != v && (weight[r] + w > limits.weight || !detail::same_part(limits, r, v))) {
      r = v;
    }
    root[v] = r;
    weight[r] = r == v ? w : weight[r] + w;
  }
  return detail::number_roots(std::move(root));
}

/// Per vertex, how many edges the longest path to it has. O(n + m).
inline std::vector<std::uint32_t> earliest_levels(const weighted_dag& g) {
  std::vector<std::uint32_t> level(g.size(), 0);
  for (op_id v = 0; v < g.size(); ++v) {
    for (const op_id u : g.in.row(v)) {
      level[v] = std::max(level[v], level[u] + 1);
    }
  }
  return level;
}

/// Per vertex, how many edges the longest path of all has, less those of the longest path from it. O(n + m).
inline std::vector<std::uint32_t> latest_levels(const weighted_dag& g) {
  std::vector<std::uint32_t> level(g.size(), 0);
  std::uint32_t longest = 0;
  for (auto v = static_cast<op_id>(g.size()); v-- > 0;) {
    for (const op_id c : g.out.row(v)) {
      level[v] = std::max(level[v], level[c] + 1);
    }
    longest = std::max(longest, level[v]);
  }
  for (std::uint32_t& l : level) {
    l = longest - l;
  }
  return level;
}

/// The vertices of each cluster, in ascending order.
struct cluster_members {
  std::vector<std::uint32_t> first; ///< per cluster, and the number of vertices
  std::vector<op_id> vertex;

  explicit cluster_members(const clusters& c) : first(c.count + 1, 0), vertex(c.of.size()) {
    for (const op_id k : c.of) {
      ++first[k + 1];
    }
    for (std::size_t k = 0; k < c.count; ++k) {
      first[k + 1] += first[k];
    }
    std::vector<std::uint32_t> next{first.begin(), first.end() - 1};
    for (op_id v = 0; v < vertex.size(); ++v) {
      vertex[next[c.of[v]]++] = v;
    }
  }
  std::span<const op_id> operator[](std::size_t k) const {
    return {vertex.data() + first[k], vertex.data() + first[k + 1]};
  }
};

/// Level clusters: along heavy edges, and where there is none, of siblings, which have a producer or a consumer in
/// common. `level` rises along each edge. O(n + m).
class level_clustering {
public:
  level_clustering(const weighted_dag& g, std::span<const std::uint32_t> level, const cluster_limits& limits)
      : g_{g}, level_{level}, limits_{limits}, root_(g.size(), none), base_(g.size(), none), weight_(g.size(), 0),
        entered_(g.size(), 0) {}

  clusters operator()() {
    const auto n = static_cast<op_id>(g_.size());
    std::vector<op_id> consumer(n, none), producer(n, none); // per vertex, its last one that waits for a sibling
    for (op_id v = 0; v < n; ++v) {
      if (root_[v] == none && !join_along_an_edge(v) && !join_sibling(v, g_.in, consumer) &&
          !join_sibling(v, g_.out, producer)) {
        for (const op_id u : g_.in.row(v)) {
          consumer[u] = v;
        }
        for (const op_id w : g_.out.row(v)) {
          producer[w] = v;
        }
      }
    }
    return numbered();
  }

private:
  struct choice {
    op_id with = none;
    double weight = 0;  // of the edges between
    double partner = 0; // how heavy its cluster is

    /// A heavier edge is better; of equal ones that to the lighter cluster, then the first.
    bool is_worse_than(double w, double p) const { return with == none || w > weight || (w == weight && p < partner); }
  };

  bool join_along_an_edge(op_id v) {
    choice best;
    look<true>(v, best);
    look<false>(v, best);
    if (best.with == none) {
      return false;
    }
    const op_id w = best.with;
    if (root_[w] == none) {
      const op_id upper = level_[v] < level_[w] ? w : v;
      entered_[v] = meets<false>(upper, none);
    }
    base_[w] = base_[v] = std::min(level_[v], level_[w]);
    unite(v, w);
    return true;
  }

  bool join_sibling(op_id v, const rows& towards, const std::vector<op_id>& waiting) {
    choice best;
    for (std::uint32_t e = towards.first[v]; e < towards.first[v + 1]; ++e) {
      const op_id w = waiting[towards.to[e]];
      if (w == none || base_[w] != none || level_[w] != level_[v] || !detail::same_part(limits_, v, w)) {
        continue;
      }
      const double partner = cluster_weight(w);
      if (partner + g_.weight_of(v) <= limits_.weight && best.is_worse_than(towards.weight_of(e), partner)) {
        best = {w, towards.weight_of(e), partner};
      }
    }
    if (best.with == none) {
      return false;
    }
    unite(v, best.with);
    return true;
  }

  double cluster_weight(op_id v) const { return root_[v] == none ? g_.weight_of(v) : weight_[root_[v]]; }

  void unite(op_id v, op_id with) {
    if (root_[with] == none) { // a new cluster bears the number of the later one of its first two
      root_[with] = v;
      weight_[v] = g_.weight_of(with);
    }
    root_[v] = root_[with];
    weight_[root_[v]] += g_.weight_of(v);
  }

  /// Numbers the clusters in a topological order. Level by level come those of this level alone, then those of this
  /// level and the next one. Of the latter, those come last that others led to when they were made, in the order in
  /// which they were made; before them those that led to others, the last made first.
  clusters numbered() {
    const auto n = static_cast<op_id>(g_.size());
    std::vector<std::uint32_t> first; // per three kinds of each level
    const auto place = [&](op_id v) { return base_[v] == none ? 3 * level_[v] : 3 * base_[v] + (entered_[v] ? 2 : 1); };
    for (op_id v = 0; v < n; ++v) {
      root_[v] = root_[v] == none ? v : root_[v];
      if (root_[v] == v) {
        first.resize(std::max<std::size_t>(first.size(), place(v) + std::size_t{2}), 0);
        ++first[place(v) + 1];
      }
    }
    for (std::size_t i = 1; i < first.size(); ++i) {
      first[i] += first[i - 1];
    }
    clusters c;
    c.count = first.empty() ? 0 : first.back();
    std::vector<op_id> number(n);
    std::vector<std::uint32_t> next = first;
    for (op_id v = 0; v < n; ++v) {
      if (root_[v] == v) {
        const std::uint32_t p = place(v);
        const std::uint32_t i = next[p]++;
        number[v] = p % 3 == 1 ? first[p] + first[p + 1] - 1 - i : i; // backwards within its place
      }
    }
    for (op_id& r : root_) {
      r = number[r];
    }
    c.of = std::move(root_);
    return c;
  }

  /// Improves the choice by the neighbours of v on the next level (`Up`), or on the one before.
  template <bool Up>
  void look(op_id v, choice& best) const {
    const rows& r = Up ? g_.out : g_.in;
    for (std::uint32_t e = r.first[v]; e < r.first[v + 1]; ++e) {
      const op_id w = r.to[e];
      if ((Up ? level_[w] - level_[v] : level_[v] - level_[w]) != 1 || !detail::same_part(limits_, v, w)) {
        continue;
      }
      const double partner = cluster_weight(w);
      const bool fits = partner + g_.weight_of(v) <= limits_.weight;
      if (fits && best.is_worse_than(r.weight_of(e), partner) && safe<Up>(v, w)) {
        best = {w, r.weight_of(e), partner};
      }
    }
  }

  /// Whether v may join w: a new cluster that other ones only lead to or are only led to, or an edge less between them.
  template <bool Up>
  bool safe(op_id v, op_id w) const {
    if (root_[w] == none) {
      return !meets<Up>(v, none) || !meets<!Up>(w, none);
    }
    return base_[w] == (Up ? level_[v] : level_[w]) && !meets<Up>(v, root_[w]);
  }

  /// Whether an edge leads from v up to the upper vertices of clusters made of its level and the next one (`Up`), or
  /// down from v to the lower ones of its level and the one before; not counting one cluster.
  template <bool Up>
  bool meets(op_id v, op_id except) const {
    for (const op_id w : (Up ? g_.out : g_.in).row(v)) {
      if (base_[w] == (Up ? level_[v] : level_[v] - 1) && root_[w] != except) { // w is not on v's level
        return true;
      }
    }
    return false;
  }

  const weighted_dag& g_;
  std::span<const std::uint32_t> level_;
  cluster_limits limits_;
  std::vector<op_id> root_;
  std::vector<std::uint32_t> base_; // per vertex, the lower level of its cluster if that has two
  std::vector<double> weight_;      // per root
  std::vector<std::uint8_t> entered_; // per root, whether another one of the same two levels led to it
};

/// The quotient: a vertex per cluster, an edge per pair of clusters that edges join. O(n + m).
inline weighted_dag quotient(const weighted_dag& g, const clusters& c) {
  const cluster_members members{c};
  weighted_dag q;
  q.weight.assign(c.count, 0);
  q.out.first.reserve(c.count + 1);
  q.out.first.push_back(0);
  std::vector<std::uint32_t> edge_to(c.count, 0); // per cluster, the edge to it that was made last
  for (op_id k = 0; k < c.count; ++k) {
    const auto begin = static_cast<std::uint32_t>(q.out.to.size());
    for (const op_id v : members[k]) {
      q.weight[k] += g.weight_of(v);
      for (std::uint32_t e = g.out.first[v]; e < g.out.first[v + 1]; ++e) {
        const op_id to = c.of[g.out.to[e]];
        if (to == k) {
          continue;
        }
        const std::uint32_t at = edge_to[to];
        if (at >= begin && at < q.out.to.size() && q.out.to[at] == to) {
          q.out.weight[at] += g.out.weight_of(e);
        } else {
          edge_to[to] = static_cast<std::uint32_t>(q.out.to.size());
          q.out.to.push_back(to);
          q.out.weight.push_back(g.out.weight_of(e));
        }
      }
    }
    q.out.first.push_back(static_cast<std::uint32_t>(q.out.to.size()));
  }
  q.in = q.out.reversed();
  return q;
}

/// The part of the graph on one side: its vertices in ascending order, and the edges between them. `inner` gets their
/// names in `name`. O(n + m).
inline weighted_dag induced(const weighted_dag& g, std::span<const std::uint32_t> side, std::uint32_t which,
                            std::span<const op_id> name, std::vector<op_id>& inner) {
  weighted_dag s;
  std::vector<op_id> number(g.size(), none);
  for (op_id v = 0; v < g.size(); ++v) {
    if (side[v] == which) {
      number[v] = static_cast<op_id>(inner.size());
      inner.push_back(name[v]);
      if (!g.weight.empty()) {
        s.weight.push_back(g.weight[v]);
      }
    }
  }
  s.out.first.push_back(0);
  for (op_id v = 0; v < g.size(); ++v) {
    if (side[v] != which) {
      continue;
    }
    for (std::uint32_t e = g.out.first[v]; e < g.out.first[v + 1]; ++e) {
      if (const op_id to = number[g.out.to[e]]; to != none) {
        s.out.to.push_back(to);
        if (!g.out.weight.empty()) {
          s.out.weight.push_back(g.out.weight[e]);
        }
      }
    }
    s.out.first.push_back(static_cast<std::uint32_t>(s.out.to.size()));
  }
  s.in = s.out.reversed();
  return s;
}

/// Options of coarsening: how far and how finely.
struct coarsening {
  std::size_t vertices = 1000; ///< stop at so few
  double heaviest = 0;         ///< what a vertex of the coarsest graph may weigh
  double growth = 3;           ///< in one step, clusters may weigh so many times the mean vertex
  double least_gain = 0.125;   ///< the first step that takes away a smaller share of the edges is the last one
  unsigned first_step = 0;     ///< 0: inward cones, 1: level clusters, 2: outward cones, 3: level clusters, and so on
  unsigned last_step = 1000;   ///< stop before this
};

/// Graphs that get coarser, and for each the clusters of the one before.
struct hierarchy {
  std::vector<weighted_dag> graphs;   ///< from the first quotient on
  std::vector<clusters> steps;        ///< clusters of the given graph, of `graphs[0]`, …

  const weighted_dag& coarsest(const weighted_dag& g) const { return graphs.empty() ? g : graphs.back(); }
  /// A partition of the given graph, or of that after so many steps, as one of the coarsest. Precondition: every
  /// cluster is within a part.
  std::vector<std::uint32_t> project(std::vector<std::uint32_t> part, std::size_t from = 0) const {
    for (std::size_t i = from; i < steps.size(); ++i) {
      part = steps[i].gather(part);
    }
    return part;
  }
};

/// Coarsens `h`, a hierarchy over g, further, step by step: with cones inwards and outwards where they take away a
/// third, else with level clusters of latest and earliest levels in turn. `part`, if not empty, has a part per vertex
/// of its coarsest graph; clusters keep within parts. O(n + m) for graphs of bounded density, since each step takes
/// away at least a tenth.
inline void coarsen(hierarchy& h, const weighted_dag& g, const coarsening& o, std::vector<std::uint32_t> part = {}) {
  const double total = g.total_weight();
  for (unsigned step = o.first_step, fruitless = 0; step < o.last_step && fruitless < 4; ++step) {
    const weighted_dag& fine = h.coarsest(g);
    const std::size_t n = fine.size();
    if (n <= o.vertices) {
      return;
    }
    const cluster_limits limits{std::min(o.heaviest, o.growth * total / static_cast<double>(n)), part};
    clusters c = step % 4 == 0   ? cones<true>(fine, limits)
                 : step % 4 == 2 ? cones<false>(fine, limits)
                                 : level_clustering{fine, step % 4 == 1 ? earliest_levels(fine) : latest_levels(fine),
                                                    limits}();
    if (c.count > n - n / (step % 2 == 0 ? 3 : 10)) {
      ++fruitless;
      continue;
    }
    fruitless = 0;
    if (!part.empty()) {
      part = c.gather(part);
    }
    weighted_dag coarse = quotient(fine, c);
    const double before = static_cast<double>(fine.num_edges());
    const bool stuck = static_cast<double>(coarse.num_edges()) > (1 - o.least_gain) * before;
    h.graphs.push_back(std::move(coarse));
    h.steps.push_back(std::move(c));
    if (stuck) {
      return;
    }
  }
}

} // namespace weft::partition::multilevel
