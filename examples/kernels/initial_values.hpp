// SPDX-License-Identifier: BSL-1.0
/// The values of variables, constants and inputs before the first step.
#pragma once

#include "kernels/random.hpp"

#include "weft/core/random.hpp"

#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kernels {

/// The initial values of a step.
struct starting_point {
  std::uint64_t seed = 1;
  float learning_rate = 0.01f;
  /// By an op's name, for its first output, or with `:1`, `:2`, … for another one of an input; over everything else.
  std::map<std::string, std::vector<float>> given = {};
};

namespace detail {

/// A generator for an op that depends on nothing but the seed and the op's name.
inline weft::rng random_for(std::uint64_t seed, std::string_view name) {
  std::uint64_t hash = seed;
  for (const char c : name) {
    hash = weft::rng::mix(hash ^ static_cast<unsigned char>(c));
  }
  return weft::rng{hash};
}

inline void fill_uniform(std::span<float> values, double bound, weft::rng random) {
  for (auto& x : values) {
    x = static_cast<float>(random.uniform(-bound, bound));
  }
}

/// Kernels of layers: uniform with a variance of 2 (convolutions, that rectifiers follow) or 1 per input.
/// Source: He et al., *Delving Deep into Rectifiers*, ICCV 2015; Glorot, Bengio, AISTATS 2010.
inline void fill_parameter(const extents& dims, std::string_view name, std::span<float> values, std::uint64_t seed) {
  if (dims.size() < 2) {
    const bool one = without_number(name).ends_with("gamma") || without_number(name).ends_with("moving_variance");
    std::fill(values.begin(), values.end(), one ? 1.0f : 0.0f);
    return;
  }
  const double inputs = static_cast<double>(values.size()) / static_cast<double>(dims.back());
  fill_uniform(values, std::sqrt((dims.size() == 4 ? 6 : 3) / inputs), random_for(seed, name));
}

/// One row per example with a single 1.
inline void fill_labels(const extents& dims, std::span<float> values, weft::rng random) {
  std::fill(values.begin(), values.end(), 0.0f);
  for (std::size_t row = 0; row < values.size(); row += dims.back()) {
    values[row + random.below(dims.back())] = 1;
  }
}

inline void fill_integers(std::span<float> values, std::size_t bound, weft::rng random) {
  for (auto& x : values) {
    x = static_cast<float>(random.below(bound));
  }
}

/// The use of a tensor that is fed: as labels or indices by some op (perhaps reshaped first), else as data.
struct use_of_input {
  enum { data, distributions, integers } kind = data;
  std::size_t bound = 0; ///< of the integers
};

inline use_of_input use_of(const weft::nn::network& net, const weft::nn::tensor& t) {
  for (const auto v : weft::ids(net.num_ops())) {
    const auto& op = net[v].op;
    if (op.type == "SoftmaxCrossEntropyWithLogits" && op.inputs[1] == t) {
      return {use_of_input::distributions};
    }
    if (op.type == "SparseSoftmaxCrossEntropyWithLogits" && op.inputs[1] == t) {
      return {use_of_input::integers, op.inputs[0].dims()[1]};
    }
    if (op.type == "Gather" && op.inputs[1] == t) {
      return {use_of_input::integers, op.inputs[0].dims()[0]};
    }
    if (op.type == "Reshape" && op.inputs[0] == t) {
      return use_of(net, {t.net(), v, 0});
    }
  }
  return {};
}

struct known_constant {
  std::string_view ending; ///< of the op's name, without a number that makes it unique
  float value;
};

/// The values of the constants of nn/, which know their shapes only. The first ending that fits counts.
inline constexpr known_constant known_constants[] = {
  {"RMSProp/decay", 0.9f},
  {"decay", 0.1f}, // of the moving averages of batch normalisation
  {"momentum", 0.9f},
  {"beta1", 0.9f},
  {"beta2", 0.999f},
  {"epsilon", 1e-8f},
  {"weight_decay/rate", 1e-4f},
  {"keep_prob", keep_share},
  {"random_uniform/min", 0.0f},
  {"random_uniform/max", 1.0f},
  {"add/y", 1.0f}, // the bias of an LSTM cell's forget gate
  {"add/x", 1.0f}, // 1 + x
  {"clip_by_global_norm/mul/y", 2.0f},
  {"clip_by_global_norm/clip_norm", 5.0f},
  {"clip_by_global_norm/truediv/x", 1.0f},
  {"auxiliary/weight", 0.4f}, // of Inception's second classifier
  {"ones_like", 1.0f},
  {"zeros", 0.0f},
  {"zeros_like", 0.0f},
};

inline std::optional<float> constant_value(const op_call& call, const starting_point& start) {
  const auto name = without_number(call.name());
  if (name.ends_with("learning_rate")) {
    return start.learning_rate;
  }
  for (const auto& c : known_constants) {
    if (name.ends_with(c.ending)) {
      return c.value;
    }
  }
  if (call.type() == "Fill") { // a gradient's seed
    return 1.0f;
  }
  if (call.forward != weft::none && (*call.net)[call.forward].op.type == "Mean") { // what its gradient divides by
    const auto& forward = (*call.net)[call.forward].op;
    return static_cast<float>(forward.inputs[0].elements() / weft::nn::element_count(forward.outputs[0].dims));
  }
  return std::nullopt;
}

/// The projection to heads that a variable is a parameter of; null if there is none.
inline const weft::nn::op_spec* projection_of(const weft::nn::network& net, const weft::nn::tensor& parameter) {
  for (const auto v : weft::ids(net.num_ops())) {
    const auto& op = net[v].op;
    if (op.type == "ProjectHeads" && std::find(op.inputs.begin() + 1, op.inputs.end(), parameter) != op.inputs.end()) {
      return &op;
    }
  }
  return nullptr;
}

/// The weights or biases of a projection to several kinds of heads, as those that kinds with projections of their own
/// would have.
inline void fill_heads(const weft::nn::op_spec& projection, std::string_view name, std::span<float> values,
                       std::uint64_t seed) {
  const auto leaf = name.rfind('/'), own = name.rfind('/', leaf - 1);
  const std::string scope{name.substr(0, own + 1)};
  const char* const kinds[] = {"query", "key", "value"};
  const std::size_t first_kind = projection.outputs.size() == 2 ? 1 : 0;
  const auto groups = projection.outputs[0].dims[2], size = projection.outputs[0].dims[4];
  std::uint64_t per_group = 0;
  for (const auto& t : projection.outputs) {
    per_group += t.dims[3];
  }
  const auto rows = values.size() / (groups * per_group * size); // of a matrix; 1 of biases
  std::uint64_t before = 0;
  for (std::size_t kind = 0; kind < projection.outputs.size(); ++kind) {
    const auto length = projection.outputs[kind].dims[3] * size;
    std::vector<float> part(rows * groups * length);
    const extents dims = rows > 1 ? extents{rows, groups * length} : extents{groups * length};
    fill_parameter(dims, scope + kinds[first_kind + kind] + std::string{name.substr(leaf)}, part, seed);
    for (std::size_t i = 0; i < rows * groups; ++i) {
      std::copy_n(part.data() + i * length, length, values.data() + i * per_group * size + before);
    }
    before += length;
  }
}

inline void fill_state(const op_call& call, std::span<float> values, const starting_point& start) {
  for (const auto& x : call.net->variables()) {
    if (x.op == call.op) {
      const auto* projection = projection_of(*call.net, x.value);
      projection != nullptr ? fill_heads(*projection, call.name(), values, start.seed)
                            : fill_parameter(x.value.dims(), call.name(), values, start.seed);
      return;
    }
  }
  const auto name = without_number(call.name()); // else a slot of an optimiser
  const bool first = name.ends_with("beta1_power"), second = name.ends_with("beta2_power");
  std::fill(values.begin(), values.end(), first ? 0.9f : second ? 0.999f : 0.0f);
}

inline void copy_given(const op_call& call, const std::vector<float>& given, std::span<float> values) {
  if (given.size() != values.size()) {
    throw unsupported_op(call, "given a different number of values than it has elements");
  }
  std::copy(given.begin(), given.end(), values.begin());
}

inline void fill_inputs(const op_call& call, const starting_point& start) {
  for (std::uint32_t i = 0; i < call.out.size(); ++i) {
    const auto name = call.name() + ":" + std::to_string(i);
    if (const auto found = start.given.find(name); found != start.given.end()) {
      copy_given(call, found->second, call.out[i].values());
      continue;
    }
    const auto random = random_for(start.seed, name);
    const weft::nn::tensor fed{const_cast<weft::nn::network&>(*call.net), call.op, i};
    const auto use = use_of(*call.net, fed);
    if (use.kind == use_of_input::distributions) {
      fill_labels(call.out[i].dims, call.out[i].values(), random);
    } else if (use.kind == use_of_input::integers) {
      fill_integers(call.out[i].values(), use.bound, random);
    } else {
      fill_uniform(call.out[i].values(), 1.0, random);
    }
  }
}

} // namespace detail

/// Sets what an op that computes nothing holds. Throws `unsupported_op` if it is a constant of unknown value.
inline void set_initial_values(const op_call& call, const starting_point& start) {
  if (call.out.empty()) {
    return;
  }
  const auto values = call.out[0].values();
  if (const auto found = start.given.find(call.name()); found != start.given.end()) {
    detail::copy_given(call, found->second, values);
  } else if (call.type() == "VariableV2") {
    detail::fill_state(call, values, start);
  } else if (call.type() == "IteratorGetNext") {
    detail::fill_inputs(call, start);
  } else if (call.type() == "Range") {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i);
    }
  } else if (const auto value = detail::constant_value(call, start)) {
    std::fill(values.begin(), values.end(), *value);
  } else {
    throw unsupported_op(call, "a constant of unknown value; give it in starting_point::given");
  }
}

} // namespace kernels
