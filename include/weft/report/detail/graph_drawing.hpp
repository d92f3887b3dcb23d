// SPDX-License-Identifier: BSL-1.0
/// Layered graph drawing: positions for the ops of a placed model, from left to right.
#pragma once

#include "weft/core/reversed.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/csr.hpp"
#include "weft/graph/longest_path.hpp"
#include "weft/report/placed_model.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::report::detail {

using op_edges = std::vector<std::pair<op_id, op_id>>;

/// Producers and consumers, each pair once, ascending. Complexity: O(edges log edges).
inline op_edges edges_of(const placed_model& m) {
  op_edges edges;
  edges.reserve(m.edges.size());
  for (const flow_edge& e : m.edges) {
    edges.emplace_back(e.source, e.target);
  }
  weft::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

/// The layer of each op, after those of all its inputs: right before the first op that needs it, so that parameters and
/// constants are beside their use; as early as possible if nothing does, or only what gathers the ends of many ops,
/// such as the op that stands for the whole training step. Complexity: O(ops + edges).
inline std::vector<std::uint32_t> layers_of(const csr_graph& g) {
  constexpr std::size_t many = 16;
  const auto order = graph::topological_order(g);
  auto layer = graph::depths(g, order);
  for (const op_id v : reversed(order)) {
    std::uint32_t first = none;
    for (const op_id c : g.successors(v)) {
      first = g.predecessors(c).size() <= many || g.predecessors(v).empty() ? std::min(first, layer[c]) : first;
    }
    layer[v] = first == none ? layer[v] : first - 1;
  }
  return layer;
}

/// Moves the nodes of one layer, given in their order, to where the squares of the distances to `wanted` are smallest
/// in sum among all places that are at least 1 apart (pool adjacent violators). Complexity: O(nodes).
inline void spread(const std::vector<std::uint32_t>& order, const std::vector<double>& wanted, std::vector<double>& y) {
  struct block {
    double sum;
    std::size_t size;
    double mean() const { return sum / static_cast<double>(size); }
  };
  std::vector<block> blocks;
  for (std::size_t i = 0; i < order.size(); ++i) {
    blocks.push_back({wanted[order[i]] - static_cast<double>(i), 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() >= blocks.back().mean()) {
      const block last = blocks.back();
      blocks.pop_back();
      blocks.back().sum += last.sum;
      blocks.back().size += last.size;
    }
  }
  std::size_t i = 0;
  for (const block& b : blocks) {
    for (std::size_t k = 0; k < b.size; ++k, ++i) {
      y[order[i]] = b.mean() + static_cast<double>(i);
    }
  }
}

/// Places within layers: nodes go where their neighbours are on average, forwards and backwards by turns (the
/// barycentre heuristic of Sugiyama, Tagawa and Toda 1981). Ties: the order before, at first by number.
inline std::vector<double> places_of(const std::vector<std::uint32_t>& layer, const csr_graph& g) {
  constexpr int sweeps = 12;
  const std::size_t count = layer.empty() ? 0 : *std::max_element(layer.begin(), layer.end()) + std::size_t{1};
  std::vector<std::vector<std::uint32_t>> members(count);
  for (std::uint32_t v = 0; v < layer.size(); ++v) {
    members[layer[v]].push_back(v);
  }
  std::vector<double> y(layer.size(), 0), wanted(layer.size(), 0);
  for (auto& list : members) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      y[list[i]] = static_cast<double>(i) - static_cast<double>(list.size() - 1) / 2;
    }
  }
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const bool forward = sweep % 2 == 0;
    for (std::size_t k = 0; k < count; ++k) {
      auto& list = members[forward ? k : count - 1 - k];
      for (const auto v : list) {
        auto near = forward ? g.predecessors(v) : g.successors(v);
        near = !near.empty() ? near : forward ? g.successors(v) : g.predecessors(v); // parameters stay beside their use
        double sum = 0;
        for (const op_id u : near) {
          sum += y[u];
        }
        wanted[v] = near.empty() ? y[v] : sum / static_cast<double>(near.size());
      }
      weft::stable_sort(list, [&](auto a, auto b) { return wanted[a] < wanted[b]; });
      spread(list, wanted, y);
    }
  }
  return y;
}

/// Where each op of a graph is drawn.
struct graph_drawing {
  std::size_t layers = 0;
  std::vector<std::uint32_t> layer = {}; ///< by op
  std::vector<double> place = {};        ///< by op; those of one layer are at least 1 apart
  op_edges edges = {};                   ///< each once, ascending
};

/// Complexity: O((ops + edges) log ops); without places, O(ops + edges log edges).
inline graph_drawing draw_graph(const placed_model& m, bool places = true) {
  const std::size_t n = m.run.trace.ops.size();
  graph_drawing g{.edges = edges_of(m)};
  std::vector<graph::arc> arcs;
  arcs.reserve(g.edges.size());
  for (const auto& [u, v] : g.edges) {
    arcs.push_back({u, v});
  }
  const csr_graph lists{n, arcs};
  g.layer = layers_of(lists);
  g.layers = n == 0 ? 0 : *std::max_element(g.layer.begin(), g.layer.end()) + std::size_t{1};
  if (places) {
    g.place = places_of(g.layer, lists);
  }
  return g;
}

} // namespace weft::report::detail
