// SPDX-License-Identifier: BSL-1.0
/// Parts of a batch: their inputs, and the sums of what they make.
#pragma once

#include "kernels/networks.hpp"

#include "weft/execute/data_kernel.hpp"

#include <cstddef>
#include <cstring>

namespace kernels {

/// The inputs of part `index` of `count` equal ones, copied from those of a step with the whole batch of that many
/// examples: in every input, the dimension that differs has them, perhaps together with dimensions that go before. What
/// the part does not bind stays as it is.
inline void take_part_of_inputs(const training_net& whole_net, const bound_step& whole, std::size_t batch,
                                const training_net& part_net, bound_step& part, std::size_t index, std::size_t count) {
  const auto& w = whole_net.step.graph;
  for (const auto v : weft::ids(w.num_ops())) {
    if (w.type(v) != "IteratorGetNext" || !part.has(v)) {
      continue;
    }
    const auto& shapes = (*whole_net.net)[whole_net.step.origin[v]].op.outputs;
    const auto& part_shapes = (*part_net.net)[part_net.step.origin[v]].op.outputs;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const auto t = *w.outputs(v).begin() + static_cast<weft::tensor_id>(i);
      const auto from = whole.values(t);
      const auto to = part.values(t);
      std::size_t outer = 1, d = 0;
      while (d < shapes[i].dims.size() && shapes[i].dims[d] == part_shapes[i].dims[d]) {
        outer *= shapes[i].dims[d++];
      }
      outer *= d < shapes[i].dims.size() ? shapes[i].dims[d] / batch : 1;
      const std::size_t row = to.size() / outer;
      for (std::size_t k = 0; k < outer; ++k) {
        std::memcpy(to.data() + k * row, from.data() + (k * count + index) * row, row * sizeof(float));
      }
    }
  }
}

/// The sum of an op's inputs, times `scale`.
inline void add_up(const weft::execute::op_buffers& buffers, float scale = 1) {
  const auto to = buffers.outputs[0];
  auto* const sum = reinterpret_cast<float*>(to.data());
  const auto size = to.size() / sizeof(float);
  std::memcpy(to.data(), buffers.inputs[0].data(), to.size());
  for (std::size_t i = 1; i < buffers.inputs.size(); ++i) {
    const auto* const x = reinterpret_cast<const float*>(buffers.inputs[i].data());
    for (std::size_t k = 0; k < size; ++k) {
      sum[k] += x[k];
    }
  }
  for (std::size_t k = 0; k < size && scale != 1; ++k) {
    sum[k] *= scale;
  }
}

} // namespace kernels
