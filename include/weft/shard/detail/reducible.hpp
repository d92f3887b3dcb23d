// SPDX-License-Identifier: BSL-1.0
/// A problem of choosing variants in a form that reductions change.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/shard/cost_pool.hpp"
#include "weft/shard/detail/moments.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weft::shard::detail {

/// Nodes with links both ways, at most one between two. What goes away leaves a node with one variant.
struct reducible {
  struct link {
    std::uint32_t to;
    std::uint32_t matrix;
    bool flipped; ///< rows are variants of `to`
  };
  struct piece {
    moment_range live;
    std::vector<std::int64_t> bytes; ///< by variant
  };
  struct node {
    std::vector<std::int64_t> cost;
    std::vector<char> alive;
    std::vector<link> links;
    std::vector<piece> pieces;
    /// The ops that it stands for, each with its variant by the node's.
    std::vector<std::pair<op_id, std::vector<std::uint32_t>>> ops;
    std::size_t size() const { return cost.size(); }
  };

  /// The costs of an edge as its end sees it: `at(i, j)`, i a variant of that end.
  struct view {
    std::span<const std::int64_t> values;
    std::size_t row, column;
    std::int64_t at(std::size_t i, std::size_t j) const { return values[i * row + j * column]; }
  };
  view view_of(std::uint32_t v, const link& l) const {
    return l.flipped ? view{matrices[l.matrix], 1, nodes[v].size()} : view{matrices[l.matrix], nodes[l.to].size(), 1};
  }

  std::vector<node> nodes;
  cost_pool matrices;
  std::int64_t fixed_cost = 0;
};

} // namespace weft::shard::detail
