// SPDX-License-Identifier: BSL-1.0
/// Where the ops of a placed model are drawn as a graph: in layers from left to right.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/report/placed_model.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
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

/// Lists of neighbours.
struct neighbours {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> list;

  /// Targets by source, or sources by target.
  neighbours(std::size_t n, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges, bool forward)
      : first(n + 1, 0), list(edges.size()) {
    for (const auto& [u, v] : edges) {
      ++first[(forward ? u : v) + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    auto next = first;
    for (const auto& [u, v] : edges) {
      list[next[forward ? u : v]++] = forward ? v : u;
    }
  }
  std::size_t size(std::uint32_t v) const { return first[v + 1] - first[v]; }
  auto begin(std::uint32_t v) const { return list.begin() + first[v]; }
  auto end(std::uint32_t v) const { return list.begin() + first[v + 1]; }
};

/// The layer of each op, after those of all its inputs: right before the first op that needs it, so that parameters and
/// constants are beside their use; as early as possible if nothing does, or only what gathers the ends of many ops, such
/// as the op that stands for the whole training step. Complexity: O(ops + edges).
inline std::vector<std::uint32_t> layers_of(std::size_t n, const neighbours& in, const neighbours& out) {
  constexpr std::size_t many = 16;
  std::vector<std::uint32_t> layer(n, 0), waiting(n), order;
  for (std::uint32_t v = 0; v < n; ++v) {
    waiting[v] = static_cast<std::uint32_t>(in.size(v));
    if (waiting[v] == 0) {
      order.push_back(v);
    }
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (auto c = out.begin(order[i]); c != out.end(order[i]); ++c) {
      layer[*c] = std::max(layer[*c], layer[order[i]] + 1);
      if (--waiting[*c] == 0) {
        order.push_back(*c);
      }
    }
  }
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    std::uint32_t first = none;
    for (auto c = out.begin(*v); c != out.end(*v); ++c) {
      first = in.size(*c) <= many || in.size(*v) == 0 ? std::min(first, layer[*c]) : first;
    }
    layer[*v] = first == none ? layer[*v] : first - 1;
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
inline std::vector<double> places_of(const std::vector<std::uint32_t>& layer, const neighbours& in, const neighbours& out) {
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
        const neighbours* near = forward ? &in : &out;
        near = near->size(v) > 0 ? near : forward ? &out : &in; // parameters stay beside what uses them
        double sum = 0;
        for (auto u = near->begin(v); u != near->end(v); ++u) {
          sum += y[*u];
        }
        wanted[v] = near->size(v) > 0 ? sum / static_cast<double>(near->size(v)) : y[v];
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
  const neighbours in{n, g.edges, false}, out{n, g.edges, true};
  g.layer = layers_of(n, in, out);
  g.layers = n == 0 ? 0 : *std::max_element(g.layer.begin(), g.layer.end()) + std::size_t{1};
  if (places) {
    g.place = places_of(g.layer, in, out);
  }
  return g;
}

} // namespace weft::report::detail
