// SPDX-License-Identifier: BSL-1.0
/// Options and result of a calibration.
#pragma once

#include "weft/platform/platform.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::mpi {

/// Options of a calibration.
struct calibration_options {
  std::vector<std::size_t> sizes{1, 1 << 10, 1 << 13, 1 << 16, 1 << 18, 1 << 20, 1 << 22}; ///< of messages, in bytes
  int trips = 21;                 ///< round trips per size, of which the median counts
  std::size_t host_pairs = 5'000; ///< of whose latency groups of hosts are made; with more pairs, hosts are one group
  std::size_t pairs = 16;         ///< measured in all sizes, on each level
  std::size_t groups = 16;        ///< measured for what their ranks share, on each level
  std::size_t flows = 64;         ///< at once, at most
  double seconds = 60;            ///< after which what is left is taken to be like what was measured
  std::uint64_t seed = 1;         ///< decides which pairs and groups
};

/// The connection between two ranks of a level.
struct calibrated_level {
  std::size_t groups = 0;    ///< there are
  link alone;                ///< the medians of the pairs that were measured
  std::size_t pairs = 0;     ///< that were measured
  double typical_error = 0;  ///< |predicted - measured| / measured over pairs and sizes: the median …
  double largest_error = 0;  ///< … and the largest
};

/// A platform as it was measured, and how well it explains the measurements.
struct calibration {
  weft::platform<> platform;
  std::vector<calibrated_level> levels; ///< from ranks of one host to all; the first one is of the ranks themselves
  bool complete = true;                 ///< whether the time was enough
};

} // namespace weft::mpi
