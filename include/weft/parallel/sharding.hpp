// SPDX-License-Identifier: BSL-1.0
/// The sharding of a model's parameters over a mesh of devices.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/parallel/axis_part.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::parallel {

/// An axis of a mesh, such as `data` with 2 replicas or `tensor` with 4 parts.
struct mesh_axis {
  std::string name;
  std::uint32_t size = 1;
};

/// Devices in a grid, of which those along the last axis follow each other.
struct device_mesh {
  std::vector<mesh_axis> axes = {};
  std::vector<device_id> devices = {};
};

/// A variable of a model, and the axes of a mesh that split it. It is whole along the other axes.
struct sharded_parameter {
  std::string name;
  op_id op = none;                                       ///< that holds it
  std::optional<std::vector<std::uint64_t>> shape = {};  ///< none: not known
  byte_count bytes = 0;                                  ///< of the whole
  std::vector<std::uint32_t> spec = {};                  ///< by dimension: the mesh's axis that splits it, or `none`
  std::uint32_t owner = none; ///< along the mesh's first axis, the only place that holds it, as of an expert
  axis_part part = {};        ///< of parts that are not equal, along the one axis that splits it
  bool is_padded = false;     ///< … which is a vocabulary: runtimes make it longer, so that parts are equal

  bool is_split() const {
    return std::any_of(spec.begin(), spec.end(), [](std::uint32_t a) { return a != none; });
  }
  bool has_unequal_parts() const { return part != axis_part{}; }
};

/// A mesh of devices, and the part of each parameter that each of them holds.
struct sharding {
  device_mesh mesh = {};
  std::vector<sharded_parameter> parameters = {};
  std::uint64_t batch = 0;      ///< examples of a step, of all replicas; 0: not known
  std::vector<std::uint64_t> examples = {}; ///< … by replica, if they do not have as many each
  bool trains = false;          ///< whether parameters are updated
  std::uint32_t zero_stage = 0; ///< of ZeRO: 2 if replicas update parts of the parameters, 3 if they hold parts, else 0
  std::uint64_t micro_batches = 1; ///< of each replica, whose gradients are added up

  bool has_owners() const {
    return std::any_of(parameters.begin(), parameters.end(), [](const auto& x) { return x.owner != none; });
  }
  /// True if parameters are in parts that no runtime makes equal.
  bool has_unequal_parts() const {
    return std::any_of(parameters.begin(), parameters.end(),
                       [](const auto& x) { return x.has_unequal_parts() && !x.is_padded; });
  }
  /// The parts of the batch: the devices along the axes `data` and `data_shard`.
  std::uint32_t replicas() const { return size_of("data") * size_of("data_shard"); }
  /// The devices along an axis of that name; 1 without one.
  std::uint32_t size_of(std::string_view axis) const {
    const auto at = std::find_if(mesh.axes.begin(), mesh.axes.end(), [&](const auto& a) { return a.name == axis; });
    return at == mesh.axes.end() ? 1 : at->size;
  }
};

/// The bytes of a parameter that each device holds that holds it; of unequal parts the largest.
inline byte_count shard_bytes(const sharded_parameter& x, const device_mesh& mesh) {
  if (x.has_unequal_parts()) {
    return x.part.of(x.bytes);
  }
  byte_count parts = 1;
  for (const auto axis : x.spec) {
    parts *= axis == none ? 1 : mesh.axes[axis].size;
  }
  return (x.bytes + parts - 1) / parts;
}

/// The stage of ZeRO that holds parameters as these are held, if devices are replicas: 3 if most bytes lie in parts.
inline std::uint32_t zero_stage_of(const std::vector<sharded_parameter>& parameters) {
  byte_count split = 0, all = 0;
  for (const auto& x : parameters) {
    all += x.bytes;
    split += x.is_split() ? x.bytes : 0;
  }
  return split > all / 2 ? 3 : 0;
}

} // namespace weft::parallel
