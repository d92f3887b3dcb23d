// SPDX-License-Identifier: BSL-1.0
/// Where the ops of a placed model are drawn as a graph: in layers from left to right, or grouped if there are many.
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

/// A graph of drawn nodes. Node i is op i, or, if grouped, all ops of one device in one range of layers.
struct graph_drawing {
  using node = std::uint32_t;
  bool grouped = false;
  std::size_t layers = 0;  ///< of ops
  std::size_t columns = 0; ///< of nodes: as many, or fewer if grouped
  std::vector<double> x = {};              ///< by node: the layer, or the range of layers
  std::vector<double> y = {};              ///< by node: nodes of one layer are at least 1 apart
  std::vector<device_id> device = {};      ///< by node; `none` if it did not run
  std::vector<std::uint32_t> ops = {};     ///< by node: how many there are
  std::vector<node> node_of = {};          ///< by op
  std::vector<std::pair<node, node>> edges = {}; ///< each once, ascending
  std::vector<std::uint32_t> weight = {};  ///< by edge: how many edges between ops it stands for
};

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

/// Draws every op of a graph of at most `most` ops; else groups them by device and ranges of layers, so that there are
/// at most `most` groups. Complexity: O((ops + edges) log ops).
inline graph_drawing draw_graph(const placed_model& m, std::size_t most = 6000) {
  const std::size_t n = m.run.trace.ops.size();
  const neighbours in{n, m.edges, false}, out{n, m.edges, true};
  const auto layer = layers_of(n, in, out);
  graph_drawing g;
  g.node_of.resize(n);
  g.layers = g.columns = n == 0 ? 0 : *std::max_element(layer.begin(), layer.end()) + std::size_t{1};
  if (n <= most) {
    std::iota(g.node_of.begin(), g.node_of.end(), 0u);
    g.x.assign(layer.begin(), layer.end());
    g.y = places_of(layer, in, out);
    for (const auto& r : m.run.trace.ops) {
      g.device.push_back(r.device);
    }
    g.ops.assign(n, 1);
    g.edges = m.edges;
    g.weight.assign(g.edges.size(), 1);
    return g;
  }
  g.grouped = true;
  const std::size_t rows = m.devices.size() + 1; // the last for what did not run
  const std::size_t ranges = std::clamp<std::size_t>(most / rows, 1, std::min<std::size_t>(g.layers, 80));
  g.columns = ranges;
  std::vector<std::uint32_t> node(ranges * rows, none);
  for (std::size_t v = 0; v < n; ++v) {
    const device_id d = m.run.trace.ops[v].device;
    const std::size_t row = d == none ? rows - 1 : d, range = layer[v] * ranges / g.layers;
    auto& id = node[range * rows + row];
    if (id == none) {
      id = static_cast<std::uint32_t>(g.x.size());
      g.x.push_back(static_cast<double>(range));
      g.y.push_back(static_cast<double>(row));
      g.device.push_back(d);
      g.ops.push_back(0);
    }
    ++g.ops[id];
    g.node_of[v] = id;
  }
  for (const auto& [u, v] : m.edges) {
    if (g.node_of[u] != g.node_of[v]) {
      g.edges.emplace_back(g.node_of[u], g.node_of[v]);
    }
  }
  weft::sort(g.edges);
  std::size_t count = 0;
  for (const auto& e : g.edges) {
    if (count == 0 || g.edges[count - 1] != e) {
      g.edges[count++] = e;
      g.weight.push_back(0);
    }
    ++g.weight.back();
  }
  g.edges.resize(count);
  return g;
}

} // namespace weft::report::detail
