// SPDX-License-Identifier: BSL-1.0
/// Random training steps, for tests of pipelines.
#pragma once

#include "weft/core/random.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/graph_training_step.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::test {

/// How the ops of a random model are called.
enum class random_names { none, flat, in_layers };

/// A random training step whose tensors of the forward pass grow with the batch: layers of up to four ops each with
/// shortcuts to later layers, parameters beside the ops or in variables, some of which several ops read.
inline expanded_step random_training_step(std::uint64_t seed, byte_count batch, random_names names) {
  rng random{seed};
  constexpr std::array types{"MatMul", "Relu", "Add", "Mul", "Softmax", "Div", ""};
  const auto num_layers = 2 + random.below(8);
  const bool has_types = random.below(3) > 0;
  workload_builder b;
  std::vector<op_id> made, variables;
  std::vector<bool> is_read;
  const auto name_of = [&](std::uint64_t layer, const char* what) {
    const auto number = std::to_string(is_read.size());
    return names == random_names::none   ? std::string{}
           : names == random_names::flat ? std::string{what} + "_" + number
                                         : "layer_" + std::to_string(layer) + "/" + what + "_" + number;
  };
  const auto add = [&](op o) {
    is_read.push_back(false);
    return b.add_op(std::move(o));
  };
  const auto connect = [&](op_id from, op_id to) {
    b.add_edge(from, to);
    is_read[from] = true;
  };
  made.push_back(add({.bytes = 4 * batch, .name = names == random_names::none ? "" : "input"}));
  for (std::uint64_t layer = 0; layer < num_layers; ++layer) {
    const auto width = 1 + random.below(4);
    for (std::uint64_t i = 0; i < width; ++i) {
      const char* type = has_types ? types[random.below(types.size())] : "";
      const bool holds = random.below(3) == 0;
      const op_id v = add({.work = static_cast<double>(1 + random.below(9)),
                           .bytes = (4 + 4 * random.below(4)) * batch,
                           .resident_bytes = holds ? 40 * (1 + random.below(4)) : 0,
                           .name = name_of(layer, "op"),
                           .type = type});
      const op_id main = made[made.size() - 1 - random.below(std::min<std::size_t>(made.size(), i + 2))];
      connect(main, v);
      if (random.below(3) == 0) {
        const op_id shortcut = made[random.below(made.size())];
        shortcut == main ? void() : connect(shortcut, v);
      }
      if (!holds && random.below(2) == 0) {
        if (variables.empty() || random.below(5) > 0) {
          variables.push_back(add({.bytes = 80, .resident_bytes = 80, .name = name_of(layer, "variable"),
                                   .type = has_types ? "VariableV2" : ""}));
        }
        connect(variables.back(), v);
      }
      made.push_back(v);
    }
  }
  const op_id loss = add({.work = 1, .bytes = 4 * batch, .resident_bytes = 40,
                          .name = names == random_names::none ? "" : "head/logits", .type = has_types ? "MatMul" : ""});
  for (const op_id v : made) {
    is_read[v] ? void() : connect(v, loss);
  }
  step_options how{.rule = optimizer::sgd, .colocate_gradients = random.below(4) == 0};
  return training_step_with_origins(std::move(b).build(), how);
}

} // namespace weft::test
