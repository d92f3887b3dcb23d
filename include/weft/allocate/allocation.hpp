// SPDX-License-Identifier: BSL-1.0
/// An allocation: offsets of buffers in one memory, its height and a lower bound.
#pragma once

#include "weft/bound/lower_bound.hpp"
#include "weft/core/ids.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace weft::allocate {

/// The outcome of a search for offsets.
enum class fit : std::uint8_t {
  found,      ///< the offsets are a solution
  impossible, ///< it is proven that there is none
  unknown,    ///< the budget was used up before either
};

/// Offsets of buffers. Those that live at the same time do not overlap, and each offset is a multiple of its alignment.
struct allocation {
  fit outcome = fit::found;
  std::vector<byte_count> offsets = {}; ///< in bytes, by lifetime; 0 for one that needs no place; empty unless found
  byte_count bytes = 0;            ///< where the last one ends: what the memory must have
  byte_count bound = 0;            ///< proven: no memory of fewer bytes can do
  std::uint64_t nodes = 0;         ///< what the exact search spent

  /// Whether no smaller memory can do.
  bool is_least() const { return outcome == fit::found && bytes == bound; }
  /// How far `bytes` is above the bound, by `gap_above`: 0.25 means at most 25 % more than the least; infinite without
  /// offsets.
  double gap() const {
    return outcome == fit::found ? gap_above(static_cast<double>(bound), static_cast<double>(bytes))
                                 : std::numeric_limits<double>::infinity();
  }
};

} // namespace weft::allocate
