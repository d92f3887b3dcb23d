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
  std::vector<bool> terms = {}; ///< by input: those of which the op makes terms of its outputs; empty: it cannot
};

/// A workload and the axes of its ops. References to a variable have the dimensions of what it holds.
struct split_model {
  const workload* ops = nullptr;
  std::vector<split_axes> axes = {};   ///< by op
  std::vector<bool> is_state = {};     ///< by op: a variable, whose reference stays where it is
  std::vector<bool> is_parameter = {}; ///< by op: a variable that is no state of an optimiser

  /// True if there is an axis to split the op along, or a way to do it with terms of a sum.
  bool is_splittable(op_id v) const {
    const auto& a = axes[v];
    return !a.extents.empty() || std::find(a.terms.begin(), a.terms.end(), true) != a.terms.end();
  }
};

} // namespace weft::parallel
