// SPDX-License-Identifier: BSL-1.0
/// The ops that hold parameters: variables, and those which updates change.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/workload/concepts.hpp"
#include "weft/ops/catalogue.hpp"

#include <algorithm>
#include <vector>

namespace weft {

/// True for a variable: it computes nothing, and holds what others read. Other ops without inputs read what the model
/// is given, of which a workload may know nothing. Complexity: O(inputs).
template <class Workload>
bool is_variable(const Workload& w, op_id v) {
  const auto inputs = w.inputs(v);
  return w.resident_bytes(v) > 0 && w.work(v) == 0 && ops::facts_of(w.type(v)).gradient.variable &&
         std::none_of(inputs.begin(), inputs.end(), [&](tensor_id t) { return w.bytes(t) > 0; });
}

/// A number or two beside an op's inputs are a constant, such as the root of a head's size.
inline constexpr byte_count largest_constant = 8;

/// True for an op of a forward pass that holds what may be trained, by its type and by how much it holds.
/// Complexity: O(inputs).
template <class Workload>
bool may_hold_parameters(const Workload& w, op_id v) {
  const auto rule = ops::facts_of(w.type(v)).gradient;
  const auto bytes = w.resident_bytes(v);
  return rule.differentiable && bytes > 0 &&
         (is_variable(w, v) || (rule.parameters && bytes > largest_constant));
}

/// The ops that hold the parameters which each update changes: what holds resident bytes among its inputs' producers,
/// and what does in its colocation group, unless that is less than what the inputs bring, as counters and rates are.
template <class Workload>
class parameter_holders {
public:
  /// Complexity: O(n).
  explicit parameter_holders(const Workload& w) : w_{w}, in_group_(w.num_groups()) {
    for (const op_id v : ids(w.num_ops())) {
      if (w.group(v) != none && w.resident_bytes(v) > 0) {
        in_group_[w.group(v)].push_back(v);
      }
    }
  }

  /// Those that the update reads come first. Complexity: O(inputs + members of its group).
  std::vector<op_id> of(op_id update) const {
    std::vector<op_id> found;
    byte_count most = 0;
    for (const tensor_id t : w_.inputs(update)) {
      if (const op_id v = w_.producer(t); w_.bytes(t) > 0 && w_.resident_bytes(v) > 0 && w_.inputs(v).empty()) {
        found.push_back(v);
        most = std::max(most, w_.resident_bytes(v));
      }
    }
    if (w_.group(update) != none) {
      for (const op_id v : in_group_[w_.group(update)]) {
        if (v != update && w_.resident_bytes(v) >= most) {
          found.push_back(v);
        }
      }
    }
    return found;
  }

private:
  const Workload& w_;
  std::vector<std::vector<op_id>> in_group_;
};

} // namespace weft
