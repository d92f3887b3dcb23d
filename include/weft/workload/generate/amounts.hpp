// SPDX-License-Identifier: BSL-1.0
/// Random work and sizes for ops whose graph says nothing about them.
#pragma once

#include "weft/graph/generate.hpp"
#include "weft/workload/builder.hpp"

#include <cstdint>
#include <utility>

namespace weft::generate {

/// Closed intervals from which whole numbers are drawn uniformly, op by op: work first, then bytes.
struct random_amounts {
  std::uint32_t min_work = 1; ///< work units per op
  std::uint32_t max_work = 100;
  std::uint32_t min_bytes = 1; ///< size of an op's output tensor
  std::uint32_t max_bytes = 100;
};

namespace detail {

inline void check(const random_amounts& a) {
  require(a.min_work <= a.max_work, "min_work, max_work", "the smaller comes first");
  require(a.min_bytes <= a.max_bytes, "min_bytes, max_bytes", "the smaller comes first");
}

/// Each op of g with one output tensor, which all its successors consume.
inline workload annotate(const csr_graph& g, const random_amounts& a, rng& random) {
  workload_builder b;
  for (std::size_t v = 0; v < g.num_ops(); ++v) {
    op made{.work = static_cast<double>(random.between(a.min_work, a.max_work))};
    made.bytes = static_cast<byte_count>(random.between(a.min_bytes, a.max_bytes));
    b.add_op(std::move(made));
  }
  for (const op_id v : ids(g.num_ops())) {
    for (const auto& e : g.out_edges(v)) {
      b.add_edge(v, weft::target(g, e));
    }
  }
  return std::move(b).build();
}

} // namespace detail
} // namespace weft::generate
