// SPDX-License-Identifier: BSL-1.0
/// Models whose ops write their results over inputs, as runtimes let them at inference.
#pragma once

#include "weft/workload/op_catalogue.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace weft {

/// The same model whose ops write over an input where they can (`workload::is_overwritten`): those that work element by
/// element, such as Relu and Add, and those that show an input in another form, such as Reshape. The catalogue of ops
/// says which (`op_facts`). What the ops in `returned`, ascending, make is kept for who runs the model.
/// Source: tables of ONNX Runtime (`MayInplace`, `Alias`) and TensorFlow Lite. Complexity: O(n + m).
inline workload with_ops_in_place(const workload& w, std::span<const op_id> returned = {}) {
  std::vector<bool> may(w.num_ops(), false);
  for (const op_id v : ids(w.num_ops())) {
    const auto facts = facts_of(w.type(v));
    const auto inputs = w.inputs(v);
    may[v] = (facts.in_place || facts.use == op_use::view) && std::none_of(inputs.begin(), inputs.end(), [&](auto t) {
               return std::binary_search(returned.begin(), returned.end(), w.producer(t));
             });
  }
  return w.with_in_place(may);
}

} // namespace weft
