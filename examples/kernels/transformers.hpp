// SPDX-License-Identifier: BSL-1.0
/// Small transformers: GPT-2, BERT and Llama of the zoo.
#pragma once

#include "kernels/networks.hpp"

#include "weft/workload/zoo/bert.hpp"
#include "weft/workload/zoo/gpt2.hpp"
#include "weft/workload/zoo/llama.hpp"

#include <cmath>

namespace kernels {

namespace detail {

/// The values of a constant of a transformer of that length, whose heads are of that size; none if it is another one.
inline std::vector<float> transformer_constant(std::string_view name, const extents& dims, std::uint64_t length,
                                               std::uint64_t head_size) {
  std::vector<float> values(weft::nn::element_count(dims));
  const auto columns = dims.empty() ? 1 : dims.back();
  const auto fill = [&](auto value) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(value(i / columns, i % columns));
    }
    return values;
  };
  if (name.ends_with("/positions")) {
    return fill([](auto, auto column) { return column; });
  }
  if (name.ends_with("pooler/first")) {
    return fill([=](auto, auto column) { return column * length; });
  }
  if (name.ends_with("mask/past")) {
    return fill([](auto row, auto column) { return column > row ? -1e9 : 0; });
  }
  if (name.ends_with("/scale")) {
    return fill([=](auto, auto) { return 1 / std::sqrt(static_cast<double>(head_size)); });
  }
  if (name.ends_with("angles")) { // cosines and sines side by side
    return fill([=](auto row, auto column) {
      const double pair = static_cast<double>(column / 2 * 2) / static_cast<double>(columns);
      const double angle = static_cast<double>(row) * std::pow(10'000, -pair);
      return column % 2 == 0 ? std::cos(angle) : std::sin(angle);
    });
  }
  return name.ends_with("mask/sub/x")   ? std::vector{1.0f}
         : name.ends_with("mask/mul/y") ? std::vector{-1e4f} // what is added to the scores of words that are none
                                        : std::vector<float>{};
}

inline starting_point transformer_start(const weft::nn::network& net, std::uint64_t length, std::uint64_t head_size) {
  starting_point start{.learning_rate = 0.001f};
  for (const auto v : weft::ids(net.num_ops())) {
    const auto& op = net[v].op;
    if (op.type != "Const") {
      continue;
    }
    if (auto values = transformer_constant(op.name, op.outputs[0].dims, length, head_size); !values.empty()) {
      start.given[op.name] = std::move(values);
    }
  }
  return start;
}

} // namespace detail

/// The sizes of small transformers. They drop nothing.
inline constexpr weft::zoo::gpt2_options small_gpt2{.layers = 2,
                                                    .hidden = 64,
                                                    .heads = 4,
                                                    .length = 32,
                                                    .vocabulary = 256,
                                                    .positions = 32,
                                                    .dropout = false};
inline constexpr weft::zoo::bert_options small_bert{
  .layers = 2, .hidden = 64, .heads = 4, .length = 32, .vocabulary = 256, .positions = 32, .dropout = false};
inline constexpr weft::zoo::llama_options small_llama{
  .layers = 2, .hidden = 64, .heads = 4, .kv_heads = 2, .ffn = 96, .vocabulary = 256, .length = 32};

/// A decoder that predicts the next token; with Adam.
inline training_net gpt2(const weft::nn::network_options& lowering = {}, std::uint64_t batch = 4,
                         const weft::zoo::gpt2_options& o = small_gpt2) {
  auto net = new_network(lowering);
  const auto task = weft::zoo::gpt2_task(*net, batch, o);
  auto start = detail::transformer_start(*net, o.length, o.hidden / o.heads);
  return make_training_net("gpt2", std::move(net), task.objectives, task.options, std::move(start));
}

/// An encoder that guesses masked words; the last fourth of each sequence is padding. With Adam.
inline training_net bert(const weft::nn::network_options& lowering = {}, std::uint64_t batch = 4,
                         const weft::zoo::bert_options& o = small_bert) {
  auto net = new_network(lowering);
  const auto task = weft::zoo::bert_task(*net, batch, o);
  auto start = detail::transformer_start(*net, o.length, o.hidden / o.heads);
  auto& words = start.given["input:2"];
  for (std::size_t i = 0; i < batch * o.length; ++i) {
    words.push_back(i % o.length < o.length * 3 / 4 ? 1.0f : 0.0f);
  }
  return make_training_net("bert", std::move(net), task.objectives, task.options, std::move(start));
}

/// A decoder with gated units, heads of keys that serve several of queries, and rotary positions; with Adam.
inline training_net llama(const weft::nn::network_options& lowering = {}, std::uint64_t batch = 4,
                          const weft::zoo::llama_options& o = small_llama) {
  auto net = new_network(lowering);
  const auto task = weft::zoo::llama_task(*net, batch, o);
  const auto head_size = o.head_size > 0 ? o.head_size : o.hidden / o.heads;
  auto start = detail::transformer_start(*net, o.length, head_size);
  return make_training_net("llama", std::move(net), task.objectives, task.options, std::move(start));
}

} // namespace kernels
