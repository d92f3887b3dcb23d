// SPDX-License-Identifier: BSL-1.0
/// A workload whose ops say along which axes they may be split.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/parallel/axis_part.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::parallel {

/// The axes of an op of a workload, by its inputs and outputs there.
struct split_axes {
  std::vector<std::uint64_t> extents = {};             ///< by axis
  /// By axis: what divides the extents of all that lies along it in a model, such as heads of columns (`find_units`);
  /// empty: as the extents.
  std::vector<std::uint64_t> units = {};
  std::vector<bool> padded = {}; ///< by axis: a vocabulary, which runtimes make longer so that parts are equal
  std::vector<std::vector<std::uint32_t>> inputs = {}; ///< by place in `inputs(v)` and dimension
  std::vector<std::vector<std::uint32_t>> outputs = {};
  /// By output: axes that it lacks and along which each part makes the whole of it, not a term; empty: none.
  std::vector<std::vector<std::uint32_t>> repeated = {};
  std::vector<bool> terms = {}; ///< by input: those of which the op makes terms of its outputs; empty: it cannot
  /// By axis: of the resident bytes those that are in parts with the op, such as the weights of a product along
  /// columns; empty: all of them, as those of a variable are.
  std::vector<byte_count> resident_parts = {};

  /// True if so many ranks may do a part along an axis each, of which none is much larger than equal parts would be.
  bool may_be_split(std::uint32_t axis, std::uint32_t ranks) const {
    return std::min(excess_of_parts(extents[axis], ranks), excess_of_parts(units_of(axis), ranks)) <= most_excess;
  }
  /// The parts along an axis: of whole units, so that what lies along it has parts that fit together; else, or where
  /// equal parts are much smaller, as equal as can be.
  axis_part part(std::uint32_t axis, std::uint32_t ranks) const {
    constexpr double little = 1.05;
    const bool of_units =
      excess_of_parts(units_of(axis), ranks) <= (extents[axis] % ranks == 0 ? little : most_excess);
    return part_of_axis(of_units ? units_of(axis) : extents[axis], ranks);
  }

  /// No rank may do a part along that axis.
  void keep_whole(std::uint32_t axis) {
    extents[axis] = 1;
    axis < units.size() ? void(units[axis] = 1) : void();
  }

private:
  static constexpr double most_excess = 1.25;
  std::uint64_t units_of(std::uint32_t axis) const { return units.empty() ? extents[axis] : units[axis]; }
};

/// The resident bytes of a rank that does a part of op v along `axis`, one of so many: of the first, or of that one.
template <class Workload>
byte_count resident_part(const split_axes& a, const Workload& w, op_id v, std::uint32_t axis, std::uint32_t ranks,
                         std::uint32_t rank = 0) {
  const byte_count all = w.resident_bytes(v);
  const byte_count split = a.resident_parts.empty() ? all : std::min(all, a.resident_parts[axis]);
  return all - split + a.part(axis, ranks).of(split, rank);
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
