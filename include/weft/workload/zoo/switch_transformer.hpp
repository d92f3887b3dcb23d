// SPDX-License-Identifier: BSL-1.0
/// Switch Transformer: an encoder and a decoder in which every other layer has a mixture of experts.
#pragma once

#include "weft/workload/nn/experts.hpp"
#include "weft/workload/training_step.hpp"
#include "weft/workload/zoo/sizes.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::zoo {

/// Sizes of a Switch Transformer; the defaults are those of its base version, with few experts.
struct switch_options {
  std::uint64_t layers = 12; ///< of the encoder, and of the decoder
  std::uint64_t hidden = 768;
  std::uint64_t heads = 12;
  std::uint64_t head_size = 64;
  std::uint64_t ffn = 3072;          ///< units of dense layers and of each expert
  std::uint64_t experts = 8;
  double capacity = 1.25;            ///< tokens per expert, over tokens / experts
  std::uint64_t length = 512;        ///< tokens that the encoder reads
  std::uint64_t target_length = 0;   ///< tokens that the decoder makes; 0: 114 of 512
  std::uint64_t vocabulary = 32'128;
  bool dropout = true;
};

template <>
inline constexpr auto sizes_of<switch_options> = std::to_array<named_size<switch_options>>(
  {{"layers", &switch_options::layers, max_repeats},
   {"hidden", &switch_options::hidden},
   {"heads", &switch_options::heads},
   {"head_size", &switch_options::head_size},
   {"ffn", &switch_options::ffn},
   {"experts", &switch_options::experts, max_repeats},
   {"target_length", &switch_options::target_length},
   {"vocabulary", &switch_options::vocabulary},
   {"dropout", &switch_options::dropout}});

/// Those of the base version.
inline constexpr switch_options switch_base_sizes{};

namespace detail {

/// Builds a stack of layers, and collects what its routers say of their balance.
class switch_stack {
public:
  switch_stack(nn::network& net, std::uint64_t batch, const switch_options& o) : net_{net}, batch_{batch}, o_{o} {}

  /// The layers of `encoder` or `decoder` on rows of batch × length; a decoder also attends to `memory`.
  nn::tensor operator()(const std::string& name, nn::tensor x, std::uint64_t length, const nn::tensor& memory) {
    const auto stack = net_.scope(name);
    x = dropped(x);
    nn::attention_options own{.heads = o_.heads, .head_size = o_.head_size, .bias = false, .scale = false,
                              .dropout = o_.dropout};
    const auto cross = own;
    own.mask = relative_positions(length, bool{memory});
    own.learned_mask = true;
    for (std::uint64_t i = 0; i < o_.layers; ++i) {
      const auto layer = net_.scope("layer_" + std::to_string(i));
      x = attend("attention", x, {}, own);
      if (memory) {
        x = attend("cross_attention", x, memory, cross);
      }
      x = feed_forward(x, i % 2 == 1);
    }
    const auto end = net_.scope("final");
    return dropped(nn::rms_norm("norm", x));
  }

  const std::vector<nn::tensor>& balances() const { return balances_; }

private:
  nn::tensor dropped(const nn::tensor& x) const { return o_.dropout ? nn::dropout("dropout", x) : x; }

  /// A trainable number per head and distance of two tokens, in 32 classes; a decoder hides what comes later.
  nn::tensor relative_positions(std::uint64_t length, bool hides) {
    const auto scope = net_.scope("relative_positions");
    const auto table = net_.make_variable("weights", {32, o_.heads});
    const auto found = gather(table, net_.data("Const", "classes", {{length, length}}));
    const auto bias = nn::reshape(transpose(found, {2, 0, 1}), {1, o_.heads, length, length});
    return hides ? bias + net_.data("Const", "past", {{1, 1, length, length}}) : bias;
  }

  nn::tensor attend(const std::string& name, const nn::tensor& x, const nn::tensor& memory,
                    const nn::attention_options& o) {
    const auto seen = nn::rms_norm(name + "/norm", x);
    const auto y = nn::attention(name, seen, memory ? memory : seen, batch_, o);
    const auto scope = net_.scope(name + "/output");
    return x + dropped(y);
  }

  nn::tensor feed_forward(const nn::tensor& x, bool sparse) {
    const auto name = std::string{sparse ? "moe" : "ffn"};
    const auto seen = nn::rms_norm(name + "/norm", x);
    nn::tensor y;
    if (sparse) {
      const auto made = nn::mixture_of_experts(
        name, seen, {.experts = o_.experts, .hidden = o_.ffn, .chosen = 1, .capacity = o_.capacity});
      balances_.push_back(made.balance);
      y = made.y;
    } else {
      const auto scope = net_.scope(name);
      y = nn::dense("output", relu(nn::dense("hidden", seen, o_.ffn, false)), o_.hidden, false);
    }
    const auto scope = net_.scope(name);
    return x + dropped(y);
  }

  nn::network& net_;
  std::uint64_t batch_;
  const switch_options& o_;
  std::vector<nn::tensor> balances_;
};

} // namespace detail

/// T5's encoder and decoder (`encoder/layer_0/attention/…`, `decoder/layer_0/cross_attention/…`): no biases, RMS
/// normalisation before each part, relative positions shared by the layers of a stack, one embedding for tokens and
/// logits. Layers alternate between two dense layers (`…/ffn/…`) and experts (`…/moe/router/…`, `…/moe/expert_0/…`), of
/// which each token goes to one; an expert takes 1.25 times its share of tokens. 619,339,008 parameters with the
/// default sizes. Returns the loss, the mean cross entropy and the routers' balance; the output is the logits.
/// Throws `value_error` for extents of zero.
/// Source: Fedus, Zoph, Shazeer, *Switch Transformers*, arXiv 2101.03961 (Switch-Base has 128 experts there and 7.4
/// billion parameters); Raffel et al., *T5*, arXiv 1910.10683, for sizes and for 114 targets per 512 tokens.
inline nn::tensor switch_loss(nn::network& net, std::uint64_t batch, const switch_options& o = {}) {
  const auto targets = o.target_length > 0 ? o.target_length : (o.length * 114 + 511) / 512;
  const auto fed = net.input_pipeline({{{batch * o.length}}, {{batch * targets}}, {{batch * targets}}});
  const auto tokens = net.make_variable("embeddings/token", {o.vocabulary, o.hidden});
  detail::switch_stack stack{net, batch, o};
  const auto of_source = [&] {
    const auto scope = net.scope("encoder/embeddings");
    return gather(tokens, fed[0]);
  }();
  const auto memory = stack("encoder", of_source, o.length, {});
  const auto of_targets = [&] {
    const auto scope = net.scope("decoder/embeddings");
    return gather(tokens, fed[1]);
  }();
  const auto x = stack("decoder", of_targets, targets, memory);
  const auto scope = net.scope("head");
  const auto scaled = x * net.data("Const", "scale", {});
  const auto logits = net.output(matmul(scaled, tokens, false, true));
  const auto loss = reduce_mean(sparse_softmax_cross_entropy(logits, fed[2]));
  return stack.balances().empty() ? loss : loss + add_n(stack.balances());
}

/// Its training objective: the loss, with Adam. Adds the forward ops to the network.
inline training_task switch_task(nn::network& net, std::uint64_t batch, const switch_options& o = {}) {
  return {{{switch_loss(net, batch, o)}}, {.rule = optimizer::adam}};
}

/// One training step of it on a batch of sequences.
inline workload switch_transformer(std::uint64_t batch = 8, const switch_options& o = {},
                                   const nn::network_options& n = {}) {
  nn::network net{n};
  const auto task = switch_task(net, batch, o);
  return training_step(net, task.objectives, task.options);
}

} // namespace weft::zoo
