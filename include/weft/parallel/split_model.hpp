// SPDX-License-Identifier: BSL-1.0
/// A workload whose ops say along which axes they may be split.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::parallel {

/// The axes of an op of a workload, by its inputs and outputs there.
struct split_axes {
  std::vector<std::uint64_t> extents = {};             ///< by axis
  std::vector<std::vector<std::uint32_t>> inputs = {}; ///< by place in `inputs(v)` and dimension
  std::vector<std::vector<std::uint32_t>> outputs = {};
  /// By output: axes that it lacks and along which each part makes the whole of it, not a term; empty: none.
  std::vector<std::vector<std::uint32_t>> repeated = {};
  std::vector<bool> terms = {}; ///< by input: those of which the op makes terms of its outputs; empty: it cannot
  /// By axis: of the resident bytes those that are in parts with the op, such as the weights of a product along
  /// columns; empty: all of them, as those of a variable are.
  std::vector<byte_count> resident_parts = {};
};

/// The resident bytes of a rank that does a part of op v along `axis`, one of so many.
template <class Workload>
byte_count resident_part(const split_axes& a, const Workload& w, op_id v, std::uint32_t axis, std::uint32_t ranks) {
  const byte_count all = w.resident_bytes(v);
  const byte_count split = a.resident_parts.empty() ? all : std::min(all, a.resident_parts[axis]);
  return all - split + (split + ranks - 1) / ranks;
}

/// A parameter that one op holds and another one reads or changes where it is.
struct held_use {
  op_id holder = none, user = none;
  std::vector<std::uint32_t> parts = {};  ///< by axis of the holder: the dimension of the parameter that is in parts
  /// By axis of the user: the dimension of the parameter of which it needs a part; `none`: it needs all of it.
  std::vector<std::uint32_t> needed = {};
  bool changes = false; ///< it changes the parameter, so that it needs just the parts that are there

  /// True if the user finds what it needs, if the two are split along these axes.
  bool is_met(std::uint32_t of_holder, std::uint32_t of_user) const {
    const auto at = [](const std::vector<std::uint32_t>& dims, std::uint32_t axis) {
      return axis < dims.size() ? dims[axis] : std::uint32_t{none};
    };
    const auto there = at(parts, of_holder);
    return there == at(needed, of_user) || (there == none && !changes);
  }
};

/// A parameter of a model that an op holds which is no variable.
struct held_parameter {
  op_id op = none;
  std::string name = {};
  std::vector<std::uint64_t> shape = {};
  byte_count bytes = 0;
  std::vector<std::uint32_t> parts = {}; ///< by axis of the op: the dimension that is in parts with it, or `none`
  bool is_copy = false; ///< an op before this one holds it, too
};

/// A workload and the axes of its ops. References to a variable have the dimensions of what it holds.
struct split_model {
  const workload* ops = nullptr;
  std::vector<split_axes> axes = {};   ///< by op
  std::vector<bool> is_state = {};     ///< by op: a variable, whose reference stays where it is
  std::vector<bool> is_parameter = {}; ///< by op: a variable that is no state of an optimiser
  std::vector<held_use> uses = {};     ///< of parameters by ops that do not hold them
  std::vector<held_parameter> held = {}; ///< by op, ascending; small ones by all that read them

  /// True if there is an axis to split the op along, or a way to do it with terms of a sum.
  bool is_splittable(op_id v) const {
    const auto& a = axes[v];
    return !a.extents.empty() || std::find(a.terms.begin(), a.terms.end(), true) != a.terms.end();
  }
};

} // namespace weft::parallel
