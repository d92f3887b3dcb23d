// SPDX-License-Identifier: BSL-1.0
/// A workload whose ops say along which axes they may be split.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <cstdint>
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

/// A workload and the axes of its ops. References to a variable have the dimensions of what it holds.
struct split_model {
  const workload* ops = nullptr;
  std::vector<split_axes> axes = {};   ///< by op
  std::vector<bool> is_state = {};     ///< by op: a variable, whose reference stays where it is
  std::vector<bool> is_parameter = {}; ///< by op: a variable that is no state of an optimiser
  /// By op: one with the same axes whose resident bytes it reads or changes where they are; `none`, or empty: no other.
  std::vector<op_id> holder = {};

  /// True if there is an axis to split the op along, or a way to do it with terms of a sum.
  bool is_splittable(op_id v) const {
    const auto& a = axes[v];
    return !a.extents.empty() || std::find(a.terms.begin(), a.terms.end(), true) != a.terms.end();
  }

  /// True if an op along that axis finds what its holder has, which is split along another one, where it needs it.
  bool meets_holder(op_id v, std::uint32_t axis, std::uint32_t of_holder) const {
    const auto& parts = axes[holder[v]].resident_parts;
    const auto split = [&](std::uint32_t a) {
      return a < axes[v].extents.size() && (parts.empty() || parts[a] > 0) ? a : std::uint32_t{none};
    };
    return split(axis) == split(of_holder);
  }
};

} // namespace weft::parallel
