// SPDX-License-Identifier: BSL-1.0
/// Fork-join workloads.
#pragma once

#include "weft/workload/generate/amounts.hpp"

#include <cstdint>

namespace weft::generate {

/// `stages` times in a row: an op forks into `width` chains of `length` ops, which all join in the next stage's fork;
/// the last stage joins in a final op.
struct fork_join_options {
  std::uint32_t width = 8;
  std::uint32_t length = 1;
  std::uint32_t stages = 1;
  random_amounts amounts = {};
};

/// A fork-join workload of `stages · (1 + width · length) + 1` ops and `stages · width · (length + 1)` edges, random
/// work and sizes. The structure alone is `fork_join(width, length, stages)` of graph/generate.hpp.
/// Throws `value_error` for options that are out of range. Complexity: O(n + m).
inline workload fork_join(const fork_join_options& o, std::uint64_t seed = 0) {
  detail::check(o.amounts);
  detail::require(o.width > 0 && o.length > 0 && o.stages > 0, "width, length, stages", "must be at least 1");
  detail::require(o.stages * (1 + double{1} * o.width * o.length) < none, "width, length, stages",
                  "must make fewer than 2^32 - 1 ops");
  rng random{seed};
  return detail::annotate(fork_join(std::size_t{o.width}, o.length, o.stages), o.amounts, random);
}

} // namespace weft::generate
