// SPDX-License-Identifier: BSL-1.0
/// The core of what reductions leave of a problem.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/shard/detail/core.hpp"
#include "weft/shard/detail/moments.hpp"
#include "weft/shard/detail/reducible.hpp"
#include "weft/shard/variant_problem.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::shard::detail {

/// The core of reduced nodes that fit; those with one variant become a fixed cost, and bytes that do not depend on the
/// variant lessen the room. Complexity: linear in what is left.
inline core make_core(const reducible& from, const variant_problem& p, std::uint32_t num_moments) {
  core c;
  c.fixed_cost = from.fixed_cost;
  c.node_of.assign(p.num_ops(), none);
  // Moments at which not even the largest variants exceed the limit go.
  std::vector<std::int64_t> used(num_moments + 1), most(num_moments + 1);
  for (const auto& x : from.nodes) {
    for (const auto& s : x.pieces) {
      const auto [low, high] = std::minmax_element(s.bytes.begin(), s.bytes.end());
      if (*low == *high) {
        used[s.live.begin] += *low;
        used[s.live.end] -= *low;
      }
      most[s.live.begin] += *high;
      most[s.live.end] -= *high;
    }
  }
  std::vector<std::uint32_t> moved(num_moments + 1);
  std::int64_t level = 0, high = 0;
  for (std::uint32_t t = 0; t < num_moments; ++t) {
    level += used[t];
    high += most[t];
    moved[t] = static_cast<std::uint32_t>(c.room.size());
    if (high > p.limit()) {
      c.room.push_back(p.limit() - level);
    }
  }
  moved[num_moments] = static_cast<std::uint32_t>(c.room.size());
  buffer<std::uint32_t> at(from.nodes.size(), none);
  buffer<const std::vector<std::uint32_t>*> of(p.num_ops(), nullptr);
  for (const auto v : ids(from.nodes.size())) {
    const auto& x = from.nodes[v];
    if (x.size() > 1) {
      at[v] = static_cast<std::uint32_t>(c.num_nodes());
      for (const auto k : x.cost) {
        c.cost.push_back(k);
      }
      c.first.push_back(c.cost.size());
      for (const auto& s : x.pieces) {
        const moment_range live{moved[s.live.begin], moved[s.live.end]};
        const auto [least, largest] = std::minmax_element(s.bytes.begin(), s.bytes.end());
        if (!live.empty() && *least < *largest) {
          c.all_pieces.push_back({live, c.bytes.size()});
          c.bytes.append(s.bytes.data(), s.bytes.data() + s.bytes.size());
        }
      }
      c.first_piece.push_back(c.all_pieces.size());
    } else {
      c.fixed_cost = add_costs(c.fixed_cost, x.cost[0]);
    }
    for (const auto& [op, map] : x.ops) {
      c.node_of[op] = at[v];
      of[op] = &map;
    }
  }
  for (const auto u : ids(from.nodes.size())) {
    for (const auto& l : from.nodes[u].links) {
      if (!l.flipped && at[u] != none && at[l.to] != none) {
        c.edges.push_back({at[u], at[l.to], c.matrices.add(from.matrices[l.matrix], from.nodes[l.to].size())});
      }
    }
  }
  for (const op_id op : ids(p.num_ops())) {
    c.first_variant_of.push_back(c.variant_of.size());
    c.variant_of.append(of[op]->data(), of[op]->data() + of[op]->size());
  }
  c.first_link.assign(c.num_nodes() + 1, 0);
  for (const auto& e : c.edges) {
    ++c.first_link[e.u + 1];
    ++c.first_link[e.v + 1];
  }
  for (std::size_t v = 0; v < c.num_nodes(); ++v) {
    c.first_link[v + 1] += c.first_link[v];
  }
  c.all_links.resize(2 * c.edges.size());
  buffer<std::size_t> next = c.first_link;
  for (const auto e : ids(c.edges.size())) {
    c.all_links[next[c.edges[e].u]++] = {c.edges[e].v, e};
    c.all_links[next[c.edges[e].v]++] = {c.edges[e].u, e};
  }
  return c;
}

} // namespace weft::shard::detail
