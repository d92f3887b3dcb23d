// SPDX-License-Identifier: BSL-1.0
/// Gaussian elimination as a workload.
#pragma once

#include "weft/workload/generate/amounts.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::generate {

/// Elimination of a square matrix of doubles, column by column.
struct gaussian_elimination_options {
  std::uint32_t columns = 10; ///< at least 2
  std::uint32_t rows_per_column = 1; ///< rows that stand for one of `columns`: scales work and bytes alike
};

/// Gaussian elimination with pivoting, the k-j-i form: step k = 1 … n − 1 has an op that finds the pivot of column k
/// and divides by it, and n − k ops that update the columns right of it. (n² + n − 2) / 2 ops, n² − n − 1 edges;
/// 2 (n − 1) ops on the longest path.
///
/// Work in FLOP with r = (n − k) · rows_per_column rows left: 2 r for a pivot (compare, divide), 2 r for an update
/// (multiply, subtract). Every op's tensor holds those rows: 8 r bytes. Types: `pivot`, `update`.
/// Throws `value_error` for options that are out of range. Complexity: O(n²).
/// Source: Cosnard, Marrakchi, Robert, Trystram, Parallel Computing 6, 1988; Topcuoglu, Hariri and Wu 2002, §5.
inline workload gaussian_elimination(const gaussian_elimination_options& o = {}) {
  detail::require(o.columns >= 2 && o.columns <= 20'000, "columns", "must be from 2 to 20000");
  detail::require(o.rows_per_column > 0, "rows_per_column", "must be at least 1");
  const std::uint32_t n = o.columns;
  workload_builder b;
  std::vector<op_id> column(n + 1, none); // the op that made the column's present state
  for (std::uint32_t k = 1; k < n; ++k) {
    const auto rows = std::uint64_t{n - k} * o.rows_per_column;
    const auto add = [&](const char* type, std::uint32_t j) {
      return b.add_op({.work = 2.0 * static_cast<double>(rows),
                       .bytes = 8 * rows,
                       .name = type + std::to_string(k) + "," + std::to_string(j),
                       .type = type});
    };
    const op_id pivot = add("pivot", k);
    if (column[k] != none) {
      b.add_edge(column[k], pivot);
    }
    for (std::uint32_t j = k + 1; j <= n; ++j) {
      const op_id update = add("update", j);
      b.add_edge(pivot, update);
      if (column[j] != none) {
        b.add_edge(column[j], update);
      }
      column[j] = update;
    }
  }
  return std::move(b).build();
}

} // namespace weft::generate
