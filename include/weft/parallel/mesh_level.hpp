// SPDX-License-Identifier: BSL-1.0
/// The dimensions of a mesh of devices.
#pragma once

#include "weft/core/config.hpp"

#include <cstdint>

namespace weft::parallel {

/// What the groups along a dimension of a mesh send to each other.
enum class mesh_traffic : std::uint8_t {
  all_reduce, ///< as is fastest: a ring, a tree, or rings within and between groups
  in_parts,   ///< the same without trees, as where each has a part of the sum
  neighbours, ///< each talks to the one before and the one after it, as stages of a pipeline
};

/// A dimension of a mesh of devices: so many groups of the level below (devices, for the first level), in which those
/// with the same place talk to each other.
struct mesh_level {
  std::uint32_t size = 1;
  mesh_traffic traffic = mesh_traffic::all_reduce;
};

} // namespace weft::parallel
