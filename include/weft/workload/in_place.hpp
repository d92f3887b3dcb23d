// SPDX-License-Identifier: BSL-1.0
/// Results in the memory of inputs and of parameters, as runtimes put them.
#pragma once

#include "weft/ops/catalogue.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace weft {

/// The same model with first outputs where runtimes put them (`op::memory`): ops that show an input or what they hold
/// in another form, such as Reshape or a variable, give views; those that work element by element, such as Relu, write
/// over an input, if `overwrites`. The catalogue of ops says which (`ops::facts`). What the ops in `returned`,
/// ascending, make is kept for who runs the model, and what `w` says of an op stays. Functions that copy ops may lose
/// it, so call this last.
/// Source: tables of ONNX Runtime (`MayInplace`, `Alias`) and TensorFlow Lite. Complexity: O(n + m).
inline workload with_shared_memory(const workload& w, bool overwrites = true, std::span<const op_id> returned = {}) {
  std::vector<output_memory> where;
  for (const op_id v : ids(w.num_ops())) {
    where.push_back(w.output_memory(v));
    const auto facts = ops::facts_of(w.type(v));
    const auto inputs = w.inputs(v);
    const auto outputs = w.outputs(v);
    const bool reads_result = std::any_of(inputs.begin(), inputs.end(), [&](tensor_id t) {
      return std::binary_search(returned.begin(), returned.end(), w.producer(t));
    });
    const bool has_others = // which may be made of what would be gone
      std::count_if(outputs.begin(), outputs.end(), [&](tensor_id t) { return w.bytes(t) > 0; }) > 1;
    if (where[v] != output_memory::own || reads_result || has_others) {
      continue;
    }
    if (facts.use == ops::device_use::view) {
      where[v] = output_memory::view;
    } else if (facts.in_place && overwrites) {
      where[v] = output_memory::over_input;
    }
  }
  return w.with_output_memory(std::move(where));
}

} // namespace weft
