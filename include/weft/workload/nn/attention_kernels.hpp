// SPDX-License-Identifier: BSL-1.0
/// Attention as frameworks run it: one product for queries, keys and values, and kernels for what lies between the
/// projections.
#pragma once

#include "weft/workload/nn/einsum.hpp"
#include "weft/workload/nn/layers.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::nn {

/// Sizes and habits of an attention layer.
struct attention_options {
  std::uint64_t heads = 1;
  std::uint64_t kv_heads = 0; ///< of keys and values, each for as many heads of queries; 0: one for each
  std::uint64_t head_size = 64;
  bool bias = true;    ///< in the projections
  bool output_bias = true; ///< with `bias`, also in the last of the four
  bool scale = true;   ///< scores are divided by the root of the head size
  bool dropout = true; ///< on the weights
  bool causal = false; ///< a query asks no later keys; separate kernels need a `mask` that says so
  tensor mask = {};    ///< added to the scores, of extents that broadcast to batch × heads × queries × keys
  bool learned_mask = false; ///< the mask has a gradient
  std::uint64_t lora = 0; ///< rank of `low_rank` beside the projections to queries and values; 0: none
  tensor angles = {};  ///< by which queries and keys are turned, see `rotary_embedding`; none: they are not
};

namespace detail {
inline std::uint64_t heads_of_keys(const attention_options& o) {
  const auto count = o.kv_heads == 0 ? o.heads : o.kv_heads;
  require(count > 0 && o.heads % count == 0, "attention", "the heads are not a multiple of those of keys and values");
  return count;
}
} // namespace detail

/// Pairs of numbers in the heads of x (batch × length × heads × … × size), turned by the angle that `angles` (length ×
/// size: cosines and sines) has for the place in the sequence. The gradient turns back.
/// Source: Su, Lu, Pan, Murtadha, Wen, Liu, *RoFormer: Enhanced Transformer with Rotary Position Embedding*, arXiv
/// 2104.09864.
inline tensor rotary_embedding(const tensor& x, const tensor& angles) {
  const auto rank = x.dims().size();
  detail::require(rank >= 4 && angles.dims() == extents{x.dims()[1], x.dims().back()}, "RotaryEmbedding",
                  detail::text(angles.dims()) + " are not the angles of " + detail::text(x.dims()));
  const std::string axes = "bsh" + std::string(rank - 3, '.');
  return x.net().add_tensor({.type = "RotaryEmbedding",
                             .inputs = {x, angles},
                             .outputs = {{x.dims()}},
                             .work = 3 * detail::flop(x.elements()),
                             .gradient = [](const gradient_call& call) -> std::vector<tensor> {
                               return {rotary_embedding(call.dy[0], call.input(1))};
                             },
                             .axes = axes + ",s.->" + axes});
}

namespace detail {

/// The projections of x (a row per example and token) to heads: per group of heads, of which there are o.heads of keys,
/// as many as `counts` says. Tensors of batch × length × groups × count × size, all of one product (`name`).
class head_projection {
public:
  head_projection(std::string name, const attention_options& o, std::vector<std::uint64_t> counts)
      : name_{std::move(name)}, o_{o}, counts_{std::move(counts)} {}

  std::vector<tensor> operator()(const tensor& x, std::uint64_t batch) const {
    auto& net = x.net();
    const auto scope = net.scope(name_);
    const auto rows = x.dims().at(0), width = x.dims().at(1), groups = heads_of_keys(o_);
    require(batch > 0 && rows % batch == 0, "attention", "the rows are not a multiple of the batch");
    std::uint64_t per_group = 0;
    std::string made; // the axes of the results: rows are those of examples, or of a single one
    const std::string result = batch == 1 ? ".mh.." : "m.h..";
    op_spec o{.type = "ProjectHeads", .inputs = {x}, .outputs = {}, .gradient = gradient(o_.bias, result)};
    for (const auto count : counts_) {
      per_group += count;
      o.outputs.push_back({{batch, rows / batch, groups, count, o_.head_size}});
      made += (made.empty() ? "" : ",") + result;
    }
    o.inputs.push_back(net.make_variable("weights", {width, groups, per_group, o_.head_size}));
    const double results = flop(rows) * flop(groups * per_group * o_.head_size);
    o.work = 2 * flop(width) * results;
    o.axes = "mk,kh..";
    if (o_.bias) {
      o.inputs.push_back(net.make_variable("biases", {groups, per_group, o_.head_size}));
      o.work += results;
      o.axes += ",h..";
    }
    o.axes += "->" + made;
    return outputs_of(net, net.add(std::move(o)));
  }

private:
  /// A product for x, one for the weights, and sums for the bias.
  static gradient_function gradient(bool bias, const std::string& result) {
    return [bias, result](const gradient_call& call) -> std::vector<tensor> {
      std::string axes;
      for (std::size_t i = 0; i < call.dy.size(); ++i) {
        axes += (i == 0 ? "" : ",") + result;
      }
      const double work = 2 * flop(call.input(0).dims()[0]) * flop(call.input(1).elements());
      const auto of = [&](std::size_t input, const char* type, const std::vector<tensor>& others, std::string text) {
        op_spec o{.type = type,
                  .inputs = others,
                  .outputs = {call.input(input).type()},
                  .work = work,
                  .axes = std::move(text)};
        return call.wanted[input] ? call.net.add_tensor(std::move(o)) : tensor{};
      };
      std::vector<tensor> dy(call.dy.begin(), call.dy.end()), with_x{call.input(0)}, with_weights{call.input(1)};
      with_x.insert(with_x.end(), dy.begin(), dy.end());
      with_weights.insert(with_weights.end(), dy.begin(), dy.end());
      std::vector<tensor> made{of(0, "ProjectHeadsGrad", with_weights, "kh..," + axes + "->mk"),
                               of(1, "ProjectHeadsGrad", with_x, "mk," + axes + "->kh..")};
      if (bias && call.wanted[2]) {
        made.push_back(call.net.add_tensor({.type = "BiasAddGrad",
                                            .inputs = dy,
                                            .outputs = {call.input(2).type()},
                                            .work = flop(call.input(0).dims()[0]) * flop(call.input(2).elements()),
                                            .axes = axes + "->h.."}));
      }
      return made;
    };
  }

  std::string name_;
  const attention_options& o_;
  std::vector<std::uint64_t> counts_;
};

/// The axes of a mask of batch × 1 × queries × keys, which may be the same for all of the batch or for all queries.
inline std::string mask_axes(const tensor& mask) {
  return std::string{mask.dims()[0] == 1 ? "." : "b"} + (mask.dims()[2] == 1 ? "..." : ".s.");
}

/// The attributes of the ops between the projections.
inline op_attributes attributes_of(const network& net, const attention_options& o) {
  return {.scale = o.scale ? 1 / std::sqrt(flop(o.head_size)) : 1,
          .causal = o.causal,
          .drops = o.dropout && net.training()};
}

/// Softmax of scores that are scaled and masked in the same kernel: 7 FLOP per element, its gradient 5.
inline tensor masked_softmax(const tensor& scores, const tensor& mask, const op_attributes& attributes) {
  op_spec o{.type = "MaskedSoftmax",
            .inputs = {scores},
            .outputs = {scores.type()},
            .work = 7 * flop(scores.elements()),
            .gradient = [attributes](const gradient_call& call) -> std::vector<tensor> {
              return {call.net.add_tensor({.type = "SoftmaxGrad",
                                           .inputs = {call.dy[0], call.output()},
                                           .outputs = {call.output().type()},
                                           .work = 5 * flop(call.output().elements()),
                                           .attributes = attributes})};
            },
            .axes = "bhgs.",
            .attributes = attributes};
  if (mask) {
    o.inputs.push_back(mask);
    o.axes += "," + mask_axes(mask);
  }
  o.axes += "->bhgs.";
  return scores.net().add_tensor(std::move(o));
}

/// The axes of the operands of a fused attention. Rows are those of all the batch, so that either examples or, of a
/// single one, queries can be split.
struct fused_attention_axes {
  std::string query, key, rows, sums, mask;
  fused_attention_axes(std::uint64_t batch, const tensor& of_mask) {
    const std::string b = batch == 1 ? "." : "b", s = batch == 1 ? "s" : ".";
    query = b + s + "h..";
    key = b + ".h..";
    rows = batch == 1 ? "sh" : "bh";
    sums = b + "h." + s;
    if (of_mask) {
      mask = (of_mask.dims()[0] == 1 ? "." : b) + "." + (of_mask.dims()[2] == 1 ? "." : s) + ".";
    }
  }
  std::string operands() const { return query + "," + key + "," + key; } // those, and values
};

/// All between the projections in one op that keeps scores on the chip, block by block. It gives the results, a row
/// per query as the last projection and the gradient read them, so that they are in memory once, and in single
/// precision the logarithm of the sum of its exponentials, from which the gradient makes the scores again. FLOP: two
/// products, and 5 per score; the gradient five products (one of them again), and 8 per score. A causal mask halves the
/// scores, since blocks without any are left out. What dropout zeroes is drawn again from a seed.
/// Source: Dao, Fu, Ermon, Rudra, Ré, *FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness*,
/// arXiv 2205.14135; Dao, *FlashAttention-2*, arXiv 2307.08691, section 3.
inline tensor fused_attention(const tensor& query, const tensor& key, const tensor& value, const attention_options& o) {
  const auto& q = query.dims(); // batch × length × groups × count × size
  const double all = flop(q[0]) * flop(q[1]) * flop(q[2] * q[3]) * flop(key.dims()[1]);
  const double scores = o.causal ? (all + flop(q[0]) * flop(q[1]) * flop(q[2] * q[3])) / 2 : all;
  const double product = 2 * scores * flop(q[4]);
  const fused_attention_axes axes{q[0], o.mask};
  const auto attributes = attributes_of(query.net(), o);
  const auto gradient = [=, mask = o.mask](const gradient_call& call) -> std::vector<tensor> {
    op_spec g{.type = "FusedAttentionGrad",
              .inputs = {call.dy[0], call.input(0), call.input(1), call.input(2), call.output(0), call.output(1)},
              .outputs = {call.input(0).type(), call.input(1).type(), call.input(2).type()},
              .work = 5 * product + 8 * scores,
              .axes = axes.rows + "," + axes.operands() + "," + axes.rows + "," + axes.sums,
              .attributes = attributes};
    if (mask) {
      g.inputs.push_back(mask);
      g.axes += "," + axes.mask;
    }
    g.axes += "->" + axes.operands();
    return outputs_of(call.net, call.net.add(std::move(g)));
  };
  op_spec made{.type = "FusedAttention",
               .inputs = {query, key, value},
               .outputs = {{{q[0] * q[1], q[2] * q[3] * q[4]}}, {{q[0], q[2], q[3], q[1]}}},
               .work = 2 * product + 5 * scores,
               .gradient = gradient,
               .axes = axes.operands(),
               .attributes = attributes};
  if (o.mask) {
    made.inputs.push_back(o.mask);
    made.axes += "," + axes.mask;
  }
  made.axes += "->" + axes.rows + "," + axes.sums;
  return query.net().add_tensor(std::move(made));
}

/// A product, softmax, dropout and a product, whose scores go through memory. A mask that differs between heads, such
/// as one that is learned, is added in an op of its own, after another one for the scale. A row per query.
inline tensor attention_by_products(const tensor& query, const tensor& key, const tensor& value,
                                    const attention_options& o) {
  auto& net = query.net();
  auto attributes = attributes_of(net, o);
  auto weights = einsum({"bshgd", "bthxd", "bhgst"}, query, key);
  if (o.mask && (o.learned_mask || o.mask.dims().at(1) > 1)) {
    const auto dims = weights.dims();
    if (o.scale) {
      weights = weights * net.data("Const", "scale", {});
      attributes.scale = 1;
    }
    const auto biased = reshape(weights, {dims[0], dims[1] * dims[2], dims[3], dims[4]}) + o.mask;
    weights = reshape(masked_softmax(reshape(biased, dims), {}, attributes), dims);
  } else {
    weights = masked_softmax(weights, o.mask, attributes);
  }
  const auto seen = einsum({"bhgst", "bthxd", "bshgd"}, o.dropout ? dropout("dropout", weights) : weights, value);
  return reshape(seen, {query.dims()[0] * query.dims()[1], o.heads * o.head_size});
}

/// `attention` with kernels that are not separate.
inline tensor framework_attention(const tensor& x, const tensor& memory, std::uint64_t batch,
                                  const attention_options& o) {
  const auto count = o.heads / heads_of_keys(o);
  require(!o.mask || o.mask.dims().size() == 4, "attention", "a mask has four extents");
  std::vector<tensor> parts;
  if (x == memory) {
    parts = head_projection{"qkv", o, {count, 1, 1}}(x, batch);
  } else {
    parts = head_projection{"query", o, {count}}(x, batch);
    const auto answers = head_projection{"key_value", o, {1, 1}}(memory, batch);
    parts.insert(parts.end(), answers.begin(), answers.end());
  }
  if (o.lora > 0) {
    const auto seen = dropout("lora_dropout", x);
    parts[0] = parts[0] + reshape(low_rank("query", seen, o.lora, o.heads * o.head_size), parts[0].dims());
    parts[2] = parts[2] + reshape(low_rank("value", x == memory ? seen : dropout("lora_dropout", memory), o.lora,
                                           heads_of_keys(o) * o.head_size), parts[2].dims());
  }
  if (o.angles) {
    parts[0] = rotary_embedding(parts[0], o.angles);
    parts[1] = rotary_embedding(parts[1], o.angles);
  }
  const bool one_mask = !o.mask || (!o.learned_mask && o.mask.dims().at(1) == 1);
  const auto seen = x.net().fuses_attention() && one_mask ? fused_attention(parts[0], parts[1], parts[2], o)
                                                          : attention_by_products(parts[0], parts[1], parts[2], o);
  return dense("output", seen, x.dims().at(1), o.bias && o.output_bias);
}

} // namespace detail

} // namespace weft::nn
