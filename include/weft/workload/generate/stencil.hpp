// SPDX-License-Identifier: BSL-1.0
/// Time steps of stencils over a grid as workloads.
#pragma once

#include "weft/workload/generate/amounts.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace weft::generate {

/// A row of blocks of doubles, all updated once per step.
struct stencil_1d_options {
  std::uint32_t width = 16; ///< blocks
  std::uint32_t steps = 10;
  std::uint32_t block = 1024; ///< doubles per block
};

/// A grid of square blocks of doubles, all updated once per step.
struct stencil_2d_options {
  std::uint32_t width = 8; ///< blocks in a row
  std::uint32_t height = 8;
  std::uint32_t steps = 5;
  std::uint32_t block = 64; ///< doubles in a row of a block
};

namespace detail {

/// Ops of a step per block; each reads its own block and the halos of the neighbours that exist. An op has an output
/// for its own next step, and one for the edge that each neighbour reads.
inline workload stencil(std::uint32_t width, std::uint32_t height, std::uint32_t steps, double work,
                        byte_count block_bytes, byte_count halo_bytes) {
  require(width > 0 && height > 0 && steps > 0, "width, height, steps", "must be at least 1");
  require(double{1} * width * height * steps < none / 5, "width, height, steps", "must make fewer ops");
  constexpr std::array<std::pair<int, int>, 4> sides{{{-1, 0}, {1, 0}, {0, -1}, {0, 1}}};
  const auto neighbour = [&](std::uint32_t i, int dx, int dy) { // of block i, or `none`
    const std::int64_t x = std::int64_t{i % width} + dx;
    const std::int64_t y = std::int64_t{i / width} + dy;
    const bool exists = x >= 0 && x < width && y >= 0 && y < height;
    return exists ? static_cast<std::uint32_t>(y * width + x) : none;
  };
  const std::uint32_t blocks = width * height;
  workload_builder b;
  for (std::uint32_t t = 0; t < steps; ++t) {
    for (std::uint32_t i = 0; i < blocks; ++i) {
      const op_id v = b.add_op({.work = work,
                                .bytes = block_bytes,
                                .name = "step" + std::to_string(t) + "," + std::to_string(i),
                                .type = "stencil"});
      for (std::size_t s = 0; s < sides.size() && t + 1 < steps; ++s) {
        if (neighbour(i, sides[s].first, sides[s].second) != none) {
          b.add_output(v, halo_bytes);
        }
      }
      if (t == 0) {
        continue;
      }
      b.add_edge(v - blocks, v);
      for (std::size_t s = 0; s < sides.size(); ++s) {
        const std::uint32_t from = neighbour(i, sides[s].first, sides[s].second);
        if (from == none) {
          continue;
        }
        std::uint32_t output = 0; // of the neighbour: the halos before the one on our side, and its block
        const std::size_t ours = s ^ 1;
        for (std::size_t side = 0; side <= ours; ++side) {
          output += neighbour(from, sides[side].first, sides[side].second) != none ? 1u : 0u;
        }
        b.add_edge((t - 1) * blocks + from, v, output);
      }
    }
  }
  return std::move(b).build();
}

} // namespace detail

/// A three-point stencil: `width · steps` ops, `(steps − 1) (3 width − 2)` edges, `steps` ops on the longest path.
/// An op takes 5 FLOP per double (three products, two sums), hands its block of 8 · block bytes to its own next step,
/// and one double to each neighbour. Throws `value_error` for options that are out of range. Complexity: O(n).
inline workload stencil_1d(const stencil_1d_options& o = {}) {
  detail::require(o.block > 0, "block", "must be at least 1");
  return detail::stencil(o.width, 1, o.steps, 5.0 * o.block, byte_count{8} * o.block, 8);
}

/// A five-point stencil: `width · height · steps` ops, `(steps − 1) (5 width height − 2 width − 2 height)` edges,
/// `steps` ops on the longest path. An op takes 9 FLOP per double, hands its block of 8 · block² bytes to its own next
/// step, and an edge of 8 · block bytes to each neighbour. Throws `value_error` for options that are out of range.
/// Complexity: O(n).
inline workload stencil_2d(const stencil_2d_options& o = {}) {
  detail::require(o.block > 0, "block", "must be at least 1");
  const double doubles = double{1} * o.block * o.block;
  return detail::stencil(o.width, o.height, o.steps, 9 * doubles, byte_count{8} * o.block * o.block,
                         byte_count{8} * o.block);
}

} // namespace weft::generate
