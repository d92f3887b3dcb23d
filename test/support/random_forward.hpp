// SPDX-License-Identifier: BSL-1.0
/// Small forward passes that can be trained.
#pragma once

#include "weft/core/random.hpp"
#include "weft/workload/builder.hpp"

#include <string>
#include <utility>

namespace weft::test {

/// A forward pass of 2 to 6 ops: a chain with some shortcuts. `fed`: after one more, which feeds it.
inline workload random_forward(rng& random, bool fed = false) {
  workload_builder b;
  const op_id n = 2 + random.below(5) + (fed ? 1 : 0);
  constexpr const char* types[]{"MatMul", "Relu", "Sigmoid", "AddV2", "Softmax"};
  for (op_id v = 0; v < n; ++v) {
    const auto type = fed && v == 0 ? "Placeholder" : types[v == (fed ? 1 : 0) ? 0 : random.below(5)];
    b.add_op({.work = 1.0 + random.below(9),
              .bytes = 4 * (1 + random.below(6)),
              .resident_bytes = std::string{type} == "MatMul" ? 4 * byte_count{3 + random.below(4)} : 0,
              .type = type});
    for (op_id u = 0; u < v; ++u) {
      if (u + 1 == v || random.below(6) == 0) {
        b.add_edge(u, v);
      }
    }
  }
  return std::move(b).build();
}

} // namespace weft::test
