// SPDX-License-Identifier: BSL-1.0
/// The graph that multilevel algorithms coarsen: rows in both directions, weights, and ids in topological order.
#pragma once

#include "weft/core/error.hpp"
#include "weft/graph/edges.hpp"
#include "weft/graph/topological_order.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::partition::multilevel {

/// The edges in one direction, vertex by vertex.
struct rows {
  std::vector<std::uint32_t> first; ///< per vertex, and the number of edges
  std::vector<op_id> to;            ///< per edge, its other end
  std::vector<double> weight;       ///< per edge; empty if all are 1

  std::size_t size() const { return to.size(); }
  double weight_of(std::size_t e) const { return weight.empty() ? 1.0 : weight[e]; }
  std::span<const op_id> row(op_id v) const { return {to.data() + first[v], to.data() + first[v + 1]}; }
  std::uint32_t degree(op_id v) const { return first[v + 1] - first[v]; }

  double row_weight(op_id v) const {
    double sum = weight.empty() ? degree(v) : 0;
    for (std::uint32_t e = first[v]; e < first[v + 1] && !weight.empty(); ++e) {
      sum += weight[e];
    }
    return sum;
  }

  /// The same edges against their direction; each row in ascending order if the rows here are walked so. O(n + m).
  rows reversed() const {
    rows r;
    const std::size_t n = first.size() - 1;
    r.first.assign(n + 1, 0);
    for (const op_id v : to) {
      ++r.first[v + 1];
    }
    for (std::size_t v = 0; v < n; ++v) {
      r.first[v + 1] += r.first[v];
    }
    r.to.resize(to.size());
    r.weight.resize(weight.size());
    std::vector<std::uint32_t> next{r.first.begin(), r.first.end() - 1};
    for (op_id u = 0; u < n; ++u) {
      for (std::uint32_t e = first[u]; e < first[u + 1]; ++e) {
        const std::uint32_t at = next[to[e]]++;
        r.to[at] = u;
        if (!weight.empty()) {
          r.weight[at] = weight[e];
        }
      }
    }
    return r;
  }
};

/// A DAG with weights whose every edge leads from a smaller to a larger id. Memory: 8 bytes per edge and per vertex,
/// and 16 and 8 more where weights are not all 1.
struct weighted_dag {
  rows out;
  rows in;
  std::vector<double> weight; ///< per vertex; empty if all are 1

  std::size_t size() const { return out.first.empty() ? 0 : out.first.size() - 1; }
  std::size_t num_edges() const { return out.size(); }
  double weight_of(op_id v) const { return weight.empty() ? 1.0 : weight[v]; }
  double total_weight() const {
    double sum = weight.empty() ? static_cast<double>(size()) : 0;
    for (const double w : weight) {
      sum += w;
    }
    return sum;
  }
};

/// Says that all ops, or all edges, weigh 1.
struct unit_weight {
  constexpr double operator()(const auto&) const { return 1; }
};

/// A user's graph as a `weighted_dag`.
struct numbered_dag {
  weighted_dag dag;
  std::vector<op_id> op; ///< per vertex of the DAG, the op that it is; empty if they have the same ids

  op_id op_of(op_id v) const { return op.empty() ? v : op[v]; }
};

namespace detail {

inline double checked_weight(double w, const char* of) {
  if (!(w >= 0 && w <= std::numeric_limits<double>::max())) {
    throw value_error(std::string{"weight of an "} + of, "must be finite and not negative");
  }
  return w;
}

template <class G>
bool ids_are_topological(const G& g) {
  bool ascending = true;
  for (const op_id v : ids(num_ops(g))) {
    graph::for_each_successor(g, v, [&](op_id c) { ascending = ascending && v < c && c < num_ops(g); });
  }
  return ascending;
}

} // namespace detail

/// The graph or workload with its weights, renumbered where an edge leads to a smaller id. Several edges between two
/// ops stay several. Throws `cycle_error`, `dangling_id_error`, and `value_error` for a weight that is negative or not
/// finite, or for more edges than 32 bits can number. O(n + m).
template <must_be::walkable G, class OpWeight = unit_weight, class EdgeWeight = unit_weight>
numbered_dag number(const G& g, OpWeight op_weight = {}, EdgeWeight edge_weight = {}) {
  constexpr bool all_ops_weigh_1 = std::is_same_v<OpWeight, unit_weight>;
  constexpr bool all_edges_weigh_1 = std::is_same_v<EdgeWeight, unit_weight>;
  const std::size_t n = num_ops(g);
  numbered_dag result;
  std::vector<op_id> place; // per op, its vertex
  if (!detail::ids_are_topological(g)) {
    result.op = graph::topological_order(g);
    place.resize(n);
    for (op_id i = 0; i < n; ++i) {
      place[result.op[i]] = i;
    }
  }
  std::size_t m = 0;
  for (const op_id v : ids(n)) {
    m += graph::out_degree(g, v);
  }
  rows& out = result.dag.out;
  out.first.reserve(n + 1);
  out.first.push_back(0);
  out.to.reserve(checked_count(m, "graph", "edges"));
  if constexpr (!all_edges_weigh_1) {
    out.weight.reserve(m);
  }
  for (op_id i = 0; i < n; ++i) {
    const op_id v = result.op_of(i);
    graph::for_each_successor(g, v, [&](op_id c, const auto& e) {
      out.to.push_back(place.empty() ? c : place[c]);
      if constexpr (!all_edges_weigh_1) {
        out.weight.push_back(detail::checked_weight(static_cast<double>(edge_weight(e)), "edge"));
      }
    });
    out.first.push_back(static_cast<std::uint32_t>(out.to.size()));
    if constexpr (!all_ops_weigh_1) {
      result.dag.weight.push_back(detail::checked_weight(static_cast<double>(op_weight(v)), "op"));
    }
  }
  if constexpr (all_edges_weigh_1 && graph::walkable_backwards<G>) {
    if (place.empty()) { // as they are: `reversed` jumps over all of memory
      rows& in = result.dag.in;
      in.first.reserve(n + 1);
      in.first.push_back(0);
      in.to.reserve(m);
      for (const op_id v : ids(n)) {
        graph::for_each_predecessor(g, v, [&](op_id u) { in.to.push_back(u); });
        in.first.push_back(static_cast<std::uint32_t>(in.to.size()));
      }
      return result;
    }
  }
  result.dag.in = out.reversed();
  return result;
}

} // namespace weft::partition::multilevel
