// SPDX-License-Identifier: BSL-1.0
/// Llama: a stack of transformer decoders with gated units, rotary positions and grouped heads, or mixtures of experts.
#pragma once

#include "weft/workload/nn/experts.hpp"
#include "weft/workload/training_step.hpp"
#include "weft/workload/zoo/sizes.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::zoo {

/// Sizes of a Llama; the defaults are those of Llama 2 7B.
struct llama_options {
  std::uint64_t layers = 32;
  std::uint64_t hidden = 4096;
  std::uint64_t heads = 32;
  std::uint64_t kv_heads = 0;  ///< of keys and values; 0: as many as of queries
  std::uint64_t head_size = 0; ///< 0: the hidden units over the heads
  std::uint64_t ffn = 0;       ///< units of a feed-forward layer; 0: 8/3 of the hidden ones, rounded up to 256s
  std::uint64_t vocabulary = 32'000;
  std::uint64_t length = 4096; ///< tokens per sequence
  std::uint64_t experts = 0;   ///< in place of a feed-forward layer, each of the size of one; 0: none
  std::uint64_t experts_per_token = 2;
  bool qkv_bias = false;       ///< in the projections to queries, keys and values
  bool tied = false;           ///< one matrix for embeddings and logits
  std::uint64_t lora = 0;      ///< rank of matrices beside those to queries and values; 0: none
};

template <>
inline constexpr auto sizes_of<llama_options> = std::to_array<named_size<llama_options>>(
  {{"layers", &llama_options::layers, max_repeats},
   {"hidden", &llama_options::hidden},
   {"heads", &llama_options::heads},
   {"kv_heads", &llama_options::kv_heads},
   {"head_size", &llama_options::head_size},
   {"ffn", &llama_options::ffn},
   {"vocabulary", &llama_options::vocabulary},
   {"experts", &llama_options::experts, max_repeats},
   {"experts_per_token", &llama_options::experts_per_token, max_repeats},
   {"qkv_bias", &llama_options::qkv_bias},
   {"tied", &llama_options::tied},
   {"lora", &llama_options::lora}});

/// The versions of the sources: 6.7, 13.0, 69.0, 8.0, 70.6 and 405.9 billion parameters.
inline constexpr llama_options llama2_7b_sizes{};
inline constexpr llama_options llama2_13b_sizes{.layers = 40, .hidden = 5120, .heads = 40};
inline constexpr llama_options llama2_70b_sizes{
  .layers = 80, .hidden = 8192, .heads = 64, .kv_heads = 8, .ffn = 28'672};
inline constexpr llama_options llama3_8b_sizes{.kv_heads = 8, .ffn = 14'336, .vocabulary = 128'256, .length = 8192};
inline constexpr llama_options llama3_70b_sizes{
  .layers = 80, .hidden = 8192, .heads = 64, .kv_heads = 8, .ffn = 28'672, .vocabulary = 128'256, .length = 8192};

inline constexpr llama_options llama3_405b_sizes{.layers = 126,
                                                 .hidden = 16'384,
                                                 .heads = 128,
                                                 .kv_heads = 8,
                                                 .ffn = 53'248,
                                                 .vocabulary = 128'256,
                                                 .length = 8192};

/// Mistral 7B, the same network: 7.2 billion parameters. Sequences are as long as the window that its attention sees.
/// Source: Jiang et al., *Mistral 7B*, arXiv 2310.06825, table 1.
inline constexpr llama_options mistral_7b_sizes{.kv_heads = 8, .ffn = 14'336};

/// Qwen2 7B, the same with biases for queries, keys and values: 7.6 billion parameters.
/// Source: Yang et al., *Qwen2 Technical Report*, arXiv 2407.10671, table 1; the vocabulary has rows to spare.
inline constexpr llama_options qwen2_7b_sizes{.layers = 28,
                                              .hidden = 3584,
                                              .heads = 28,
                                              .kv_heads = 4,
                                              .ffn = 18'944,
                                              .vocabulary = 152'064,
                                              .qkv_bias = true};

/// Mixtral 8x7B, Mistral 7B with a mixture of experts in each layer: 46.7 billion parameters, of which a token reads
/// 12.9. Source: Jiang et al., *Mixtral of Experts*, arXiv 2401.04088, table 1.
inline constexpr llama_options mixtral_8x7b_sizes{.kv_heads = 8, .ffn = 14'336, .experts = 8};

namespace detail {

/// The result of a feed-forward layer on rows that are normalised.
struct llama_units {
  nn::tensor y;
  nn::tensor balance; ///< of the router of experts that are trained
};

/// Gated units, or dropless experts with such.
inline llama_units llama_feed_forward(const nn::tensor& x, const llama_options& o, bool decodes) {
  const auto ffn = o.ffn > 0 ? o.ffn : (8 * o.hidden + 767) / 768 * 256;
  if (o.experts == 0) {
    const auto scope = x.net().scope("ffn");
    const auto gates = nn::reshape(nn::dense("gate_up", x, 2 * ffn, false), {x.dims()[0], ffn, 2});
    return {nn::dense("down", nn::swiglu(gates), o.hidden, false), {}};
  }
  const nn::expert_options sizes{.experts = o.experts,
                                 .hidden = ffn,
                                 .chosen = o.experts_per_token,
                                 .dropless = true,
                                 .gated = true,
                                 .gates_add_up = true};
  if (decodes) {
    return {nn::decoding_experts("moe", x, sizes), {}};
  }
  const auto made = nn::mixture_of_experts("moe", x, sizes);
  return {made.y, made.balance};
}

} // namespace detail

/// The logits of tokens (batch × o.length, or if it `decodes`, one for each sequence after those in a cache), and how
/// unevenly each layer's experts are chosen.
struct llama_result {
  nn::tensor logits;
  std::vector<nn::tensor> balances;
};

/// The forward ops. A network that is not trained adds and normalises in one op.
inline llama_result llama_logits(nn::network& net, const nn::tensor& read, const llama_options& o, bool decodes) {
  nn::detail::require(o.heads > 0 && (o.head_size > 0 || o.hidden % o.heads == 0), "llama",
                      "the heads do not divide the hidden units");
  const auto batch = read.dims().at(0), length = read.dims().at(1);
  const auto size = o.head_size > 0 ? o.head_size : o.hidden / o.heads;
  llama_result made;
  nn::tensor tokens;
  nn::residual_sum x{[&] {
    const auto scope = net.scope("embeddings");
    tokens = net.make_variable("token", {o.vocabulary, o.hidden});
    return nn::reshape(gather(tokens, read), {batch * length, o.hidden});
  }(), !net.training()};
  nn::attention_options attention{.heads = o.heads, .kv_heads = o.kv_heads, .head_size = size, .bias = o.qkv_bias,
                                  .output_bias = false, .dropout = false, .causal = true, .lora = o.lora,
                                  .angles = net.data("Const", "angles", {{length, size}})};
  if (!decodes && net.kernels() == nn::kernel_set::separate) {
    attention.mask = net.data("Const", "mask/past", {{1, 1, length, length}});
  }
  for (std::uint64_t i = 0; i < o.layers; ++i) {
    const auto layer = net.scope("layer_" + std::to_string(i));
    const auto seen = x.rms_norm("attention/norm");
    x.add(decodes ? nn::cached_attention("attention", seen, o.length, attention)
                : nn::attention("attention", seen, seen, batch, attention));
    const auto units = detail::llama_feed_forward(x.rms_norm(o.experts == 0 ? "ffn/norm" : "moe/norm"), o, decodes);
    x.add(units.y);
    if (units.balance) {
      made.balances.push_back(units.balance);
    }
  }
  const auto scope = net.scope("head");
  const auto last = x.rms_norm("norm");
  made.logits =
    net.output(o.tied ? matmul(last, tokens, false, true) : nn::dense("logits", last, o.vocabulary, false));
  return made;
}

/// Embeddings of tokens; decoder layers (`layer_0/attention/…`, `layer_0/ffn/…`, `layer_1/…`), each of whose two parts
/// is normalised before (RMS) and added to what went in; a last normalisation, and the product with a matrix of its own
/// (`head/…`). No biases. Queries and keys are turned by their places; in the larger versions, a head of keys and
/// values serves several of queries. A feed-forward layer has gated units, whose two factors one product makes side by
/// side; a mixture of experts is `layer_0/moe/…`. Returns the loss, the mean cross entropy against the next tokens and
/// the balance of the routers, if any; the output is the logits.
/// Throws `value_error` for extents of zero, heads that do not divide the hidden units, or are not divided by those of
/// keys.
/// Source: Touvron et al., *Llama 2: Open Foundation and Fine-Tuned Chat Models*, arXiv 2307.09288; Grattafiori et al.,
/// *The Llama 3 Herd of Models*, arXiv 2407.21783.
inline nn::tensor llama_loss(nn::network& net, std::uint64_t batch, const llama_options& o = {}) {
  const auto fed = net.input_pipeline({{{batch, o.length}}, {{batch * o.length}}}); // tokens, and the next ones
  const auto made = llama_logits(net, fed[0], o, false);
  const auto scope = net.scope("head");
  const auto loss = reduce_mean(sparse_softmax_cross_entropy(made.logits, fed[1]));
  return made.balances.empty() ? loss : loss + add_n(made.balances);
}

/// The step that makes the next token of each of `batch` sequences, o.length tokens of which are in a cache when it is
/// done (`nn::cached_attention`, `nn::decoding_experts`). The output is the logits. Throws as above.
inline void llama_decode(nn::network& net, std::uint64_t batch, const llama_options& o = {}) {
  llama_logits(net, net.input_pipeline({{{batch, 1}}})[0], o, true);
}

/// Its training objective: the loss, with Adam. Adds the forward ops to the network.
inline training_task llama_task(nn::network& net, std::uint64_t batch, const llama_options& o = {}) {
  return {{{llama_loss(net, batch, o)}}, {.rule = optimizer::adam}};
}

/// One training step of it on a batch of sequences.
inline workload llama(std::uint64_t batch = 1, const llama_options& o = {}, const nn::network_options& n = {}) {
  nn::network net{n};
  const auto task = llama_task(net, batch, o);
  return training_step(net, task.objectives, task.options);
}

} // namespace weft::zoo
