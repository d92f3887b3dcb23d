// SPDX-License-Identifier: BSL-1.0
/// Variables of a network that a training step leaves as they are, chosen by patterns of names.
#pragma once

#include "weft/workload/frozen.hpp"
#include "weft/workload/nn/network.hpp"

#include <string_view>
#include <utility>
#include <vector>

namespace weft::nn {

/// Variables that are not trained: for `training_options::frozen`.
struct frozen_variables {
  std::vector<tensor> values = {};
  frozen_parameters parameters = {}; ///< by op of the network
};

/// The trainable variables that patterns (`name_patterns`) choose by their names, such as `layer_0/query/lora_a`.
/// Throws `value_error` if a pattern describes none, or if all are frozen. Complexity: O(n + variables × patterns).
inline frozen_variables frozen(const network& net, std::string_view patterns) {
  std::vector<named_parameter> all;
  for (const auto& x : net.variables()) {
    if (x.trainable) {
      all.push_back({net[x.op].op.name, x.op, x.value.bytes()});
    }
  }
  frozen_variables found;
  found.parameters = weft::detail::frozen_among(all, net.num_ops(), patterns, [](op_id) { return std::string_view{}; });
  for (const auto& x : net.variables()) {
    if (found.parameters.bytes[x.op] > 0) {
      found.values.push_back(x.value);
    }
  }
  return found;
}

} // namespace weft::nn
