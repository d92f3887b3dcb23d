// SPDX-License-Identifier: BSL-1.0
/// A workload whose ops say along which axes they may be split.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/graph/components.hpp"
#include "weft/ops/catalogue.hpp"
#include "weft/parallel/axis_part.hpp"
#include "weft/workload/stored_as.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
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

  /// Leaves to products and convolutions the axes along which all ranks need all of their weights, such as rows.
  /// Complexity: linear in dimensions.
  void keep_weights_whole();
};

namespace detail {

/// True if some output has the axis.
inline bool is_made_along(const split_axes& a, std::uint32_t axis) {
  return std::any_of(a.outputs.begin(), a.outputs.end(),
                     [&](const auto& made) { return std::find(made.begin(), made.end(), axis) != made.end(); });
}

} // namespace detail

inline void split_model::keep_weights_whole() {
  const auto of_parameters = made_of_parameters(*ops);
  const auto is_product = [&](op_id v) {
    const auto use = ops::use_of(ops->type(v));
    return use == ops::device_use::product || use == ops::device_use::convolution;
  };
  for (const op_id v : ids(axes.size())) {
    std::size_t k = 0;
    for (const tensor_id t : ops->inputs(v)) {
      for (const auto axis : axes[v].inputs[k++]) {
        axis != none && is_product(v) && of_parameters[ops->producer(t)] ? axes[v].keep_whole(axis) : void();
      }
    }
    for (std::uint32_t axis = 0; axis < axes[v].resident_parts.size(); ++axis) {
      is_product(v) && axes[v].resident_parts[axis] > 0 ? axes[v].keep_whole(axis) : void();
    }
  }
  for (const auto& x : uses) {
    for (std::uint32_t axis = 0; axis < x.needed.size(); ++axis) {
      is_product(x.user) && x.needed[axis] != none && !x.changes ? axes[x.user].keep_whole(axis) : void();
    }
  }
}

/// Finds the units of axes, and vocabularies, of which something is looked up: ops that make and read a dimension of a
/// tensor have it along one axis each, and so has who uses what another op holds.
/// Complexity: linear in dimensions, nearly.
inline void find_units(split_model& m) {
  std::vector<std::size_t> first{0}; // by op: its first axis, among all
  for (const auto& a : m.axes) {
    first.push_back(first.back() + a.extents.size());
  }
  graph::disjoint_sets along{first.back()};
  const auto unite = [&](op_id u, std::uint32_t a, op_id v, std::uint32_t b) {
    if (a < m.axes[u].extents.size() && b < m.axes[v].extents.size()) {
      along.unite(static_cast<op_id>(first[u] + a), static_cast<op_id>(first[v] + b));
    }
  };
  const auto& w = *m.ops;
  for (const op_id v : ids(m.axes.size())) {
    std::size_t k = 0;
    for (const tensor_id t : w.inputs(v)) {
      const op_id from = w.producer(t);
      const auto& made = m.axes[from].outputs[t - *w.outputs(from).begin()];
      const auto& read = m.axes[v].inputs[k++];
      for (std::size_t d = 0; d < std::min(made.size(), read.size()); ++d) {
        unite(from, made[d], v, read[d]);
      }
    }
  }
  for (const auto& x : m.uses) {
    for (std::uint32_t a = 0; a < x.parts.size(); ++a) {
      for (std::uint32_t b = 0; x.parts[a] != none && b < x.needed.size(); ++b) {
        x.parts[a] == x.needed[b] ? unite(x.holder, a, x.user, b) : void();
      }
    }
  }
  struct set_of_axes {
    std::uint64_t unit = 0;
    bool is_vocabulary = false;
  };
  std::vector<set_of_axes> sets(first.back());
  for (const bool counts : {true, false}) {
    for (const op_id v : ids(m.axes.size())) {
      auto& a = m.axes[v];
      const bool looks_up = ops::use_of(w.type(v)) == ops::device_use::lookup;
      for (std::uint32_t k = 0; k < a.extents.size(); ++k) {
        auto& set = sets[along.find(static_cast<op_id>(first[v] + k))];
        if (!counts) {
          a.units.push_back(std::gcd(set.unit, a.extents[k]));
          a.padded.push_back(set.is_vocabulary);
        } else if (a.extents[k] > 1) { // others are whole anyway
          set.unit = std::gcd(set.unit, a.extents[k]);
          set.is_vocabulary = set.is_vocabulary || (looks_up && !detail::is_made_along(a, k));
        }
      }
    }
  }
}

} // namespace weft::parallel
