// SPDX-License-Identifier: BSL-1.0
/// A reduced problem of choosing variants, as the searches read it, and the way back from its choices.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/shard/cost_pool.hpp"
#include "weft/shard/detail/moments.hpp"
#include "weft/shard/variant_problem.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::shard::detail {

/// Nodes, each of which stands for one or more ops whose variants follow from its own; at most one edge between two.
struct core {
  /// Bytes of a node that are live at a range of moments, by variant.
  struct piece {
    moment_range live;
    std::size_t first = 0; ///< into `bytes`
  };
  /// An edge as one of its ends sees it.
  struct link {
    std::uint32_t to = none;
    std::uint32_t edge = none;
  };
  struct edge {
    std::uint32_t u = none; ///< rows
    std::uint32_t v = none; ///< columns
    std::uint32_t matrix = none;
  };

  std::size_t num_nodes() const { return first.size() - 1; }
  std::size_t num_variants(std::uint32_t v) const { return first[v + 1] - first[v]; }
  std::span<const std::int64_t> costs(std::uint32_t v) const { return {cost.data() + first[v], num_variants(v)}; }
  std::span<const link> links(std::uint32_t v) const {
    return {all_links.data() + first_link[v], first_link[v + 1] - first_link[v]};
  }
  std::span<const piece> pieces(std::uint32_t v) const {
    return {all_pieces.data() + first_piece[v], first_piece[v + 1] - first_piece[v]};
  }
  std::int64_t edge_cost(const edge& e, std::uint32_t i, std::uint32_t j) const {
    return matrices[e.matrix][i * num_variants(e.v) + j];
  }

  bool infeasible = false;        ///< proven
  std::int64_t fixed_cost = 0;    ///< of all choices
  buffer<std::size_t> first = buffer<std::size_t>(1); ///< by node, into `cost`
  buffer<std::int64_t> cost;
  buffer<std::size_t> first_piece = buffer<std::size_t>(1);
  buffer<piece> all_pieces;
  buffer<std::int64_t> bytes;
  buffer<edge> edges;
  buffer<std::size_t> first_link = buffer<std::size_t>(1);
  buffer<link> all_links;
  cost_pool matrices; ///< tagged by their columns, so that each has one shape; `weights` takes them
  buffer<std::int64_t> room; ///< by moment: the limit less what is used in any case
  buffer<std::uint32_t> node_of;          ///< by op; `none` if its variant is fixed
  buffer<std::size_t> first_variant_of;   ///< by op, into `variant_of`
  buffer<std::uint32_t> variant_of;       ///< by variant of the op's node: that of the op

  /// The variants of the ops, where nodes have these.
  std::vector<std::uint32_t> lifted(std::span<const std::uint32_t> x) const {
    std::vector<std::uint32_t> choice(node_of.size());
    for (std::size_t v = 0; v < choice.size(); ++v) {
      choice[v] = variant_of[first_variant_of[v] + (node_of[v] == none ? 0 : x[node_of[v]])];
    }
    return choice;
  }
};

} // namespace weft::shard::detail
