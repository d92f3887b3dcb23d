// SPDX-License-Identifier: BSL-1.0
/// Factorisations of tiled matrices as workloads: Cholesky and LU.
#pragma once

#include "weft/workload/generate/amounts.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace weft::generate {

/// A square matrix of doubles in square tiles.
struct tile_options {
  std::uint32_t tiles = 8;  ///< tiles in a row, T
  std::uint32_t size = 256; ///< elements in a row of a tile, b
};

namespace detail {

inline void check(const tile_options& o) {
  require(o.tiles >= 1 && o.tiles <= 1000, "tiles", "must be from 1 to 1000");
  require(o.size >= 1 && o.size <= 1'000'000, "size", "must be from 1 to 1000000");
}

/// Adds the kernels of a factorisation. Every op writes one tile; `latest` knows which op wrote it last.
class tile_builder {
public:
  explicit tile_builder(const tile_options& o)
      : tiles_{o.tiles}, cube_{double{1} * o.size * o.size * o.size}, bytes_{byte_count{8} * o.size * o.size},
        latest_(std::size_t{o.tiles} * o.tiles, none) {}

  op_id& latest(std::uint32_t row, std::uint32_t column) { return latest_[std::size_t{row} * tiles_ + column]; }

  /// An op of `share · b³` FLOP that updates tile (row, column) in step k and also reads the tiles `reads` wrote.
  void update(const char* type, double share, std::uint32_t row, std::uint32_t column, std::uint32_t k,
              std::initializer_list<op_id> reads) {
    const op_id v = b_.add_op({.work = share * cube_,
                               .bytes = bytes_,
                               .name = std::string{type} + "(" + std::to_string(row) + "," + std::to_string(column) +
                                       "," + std::to_string(k) + ")",
                               .type = type});
    for (const op_id u : reads) {
      b_.add_edge(u, v);
    }
    op_id& before = latest(row, column);
    if (before != none) {
      b_.add_edge(before, v);
    }
    before = v;
  }

  workload take() && { return std::move(b_).build(); }

private:
  std::uint32_t tiles_;
  double cube_;
  byte_count bytes_;
  std::vector<op_id> latest_; // per tile
  workload_builder b_;
};

} // namespace detail

/// The tiled Cholesky factorisation of a symmetric positive definite matrix, right-looking: T POTRF (b³/3 FLOP),
/// T (T − 1) / 2 TRSM (b³) and as many SYRK (b³), T (T − 1) (T − 2) / 6 GEMM (2 b³); T (T + 1) (T + 2) / 6 ops in all,
/// (T³ − T) / 2 edges, 3 T − 2 ops on the longest path. Each op writes a tile of 8 b² bytes; types are the names of the
/// kernels. Throws `value_error` for options that are out of range. Complexity: O(T³).
/// Source: Buttari, Langou, Kurzak, Dongarra, Parallel Computing 35(1), 2009; leading terms of the LAPACK counts.
inline workload cholesky(const tile_options& o = {}) {
  detail::check(o);
  detail::tile_builder b{o};
  for (std::uint32_t k = 0; k < o.tiles; ++k) {
    b.update("POTRF", 1.0 / 3, k, k, k, {});
    for (std::uint32_t i = k + 1; i < o.tiles; ++i) {
      b.update("TRSM", 1, i, k, k, {b.latest(k, k)});
    }
    for (std::uint32_t i = k + 1; i < o.tiles; ++i) {
      for (std::uint32_t j = k + 1; j < i; ++j) {
        b.update("GEMM", 2, i, j, k, {b.latest(i, k), b.latest(j, k)});
      }
      b.update("SYRK", 1, i, i, k, {b.latest(i, k)});
    }
  }
  return std::move(b).take();
}

/// The tiled LU factorisation without pivoting, right-looking: T GETRF (2 b³/3 FLOP), T (T − 1) TRSM (b³),
/// (T − 1) T (2 T − 1) / 6 GEMM (2 b³); T (T + 1) (2 T + 1) / 6 ops in all, T (T − 1) (2 T + 1) / 2 edges, 3 T − 2 ops
/// on the longest path. Each op writes a tile of 8 b² bytes; types are the names of the kernels.
/// Throws `value_error` for options that are out of range. Complexity: O(T³). Source: as for `cholesky`.
inline workload lu(const tile_options& o = {}) {
  detail::check(o);
  detail::tile_builder b{o};
  for (std::uint32_t k = 0; k < o.tiles; ++k) {
    b.update("GETRF", 2.0 / 3, k, k, k, {});
    for (std::uint32_t i = k + 1; i < o.tiles; ++i) {
      b.update("TRSM", 1, i, k, k, {b.latest(k, k)});
      b.update("TRSM", 1, k, i, k, {b.latest(k, k)});
    }
    for (std::uint32_t i = k + 1; i < o.tiles; ++i) {
      for (std::uint32_t j = k + 1; j < o.tiles; ++j) {
        b.update("GEMM", 2, i, j, k, {b.latest(i, k), b.latest(k, j)});
      }
    }
  }
  return std::move(b).take();
}

} // namespace weft::generate
