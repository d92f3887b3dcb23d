// SPDX-License-Identifier: BSL-1.0
/// The layers of transformers: batched matrix products, softmax, GELU, SwiGLU, attention.
///
/// FLOP: batched products 2 m n k per matrix; GELU and its gradient 1 per element; SwiGLU 3 per element of the result
/// (sigmoid, two products), its gradient 8 (the same again 2, of the gate 5, of the other factor 1); a rotation of
/// pairs 3 per element; softmax 5 per element (maximum, difference, exponential, sum, quotient), its gradient 4.
#pragma once

#include "weft/workload/nn/attention_kernels.hpp"
#include "weft/workload/nn/layers.hpp"
#include "weft/workload/nn/row_norm.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::nn {

/// Products of the matrices in the innermost two extents, either transposed first; the other extents are the same.
/// Throws `value_error` for extents that do not fit.
inline tensor batch_matmul(const tensor& a, const tensor& b, bool adjoint_a = false, bool adjoint_b = false) {
  const auto rank = a.dims().size();
  detail::require(rank >= 2 && b.dims().size() == rank, "BatchMatMulV2", "takes two tensors of matrices of one rank");
  auto dims = a.dims();
  auto others = b.dims();
  const auto rows = dims[rank - (adjoint_a ? 1 : 2)];
  const auto inner = dims[rank - (adjoint_a ? 2 : 1)];
  const auto columns = others[rank - (adjoint_b ? 2 : 1)];
  const auto inner_of_b = others[rank - (adjoint_b ? 1 : 2)];
  dims[rank - 2] = others[rank - 2] = rows;
  dims[rank - 1] = others[rank - 1] = columns;
  detail::require(inner == inner_of_b && dims == others, "BatchMatMulV2",
                  detail::text(a.dims()) + " and " + detail::text(b.dims()) + " do not fit together");
  const auto gradient = [adjoint_a, adjoint_b](const gradient_call& call) -> std::vector<tensor> {
    const auto& x = call.input(0);
    const auto& y = call.input(1);
    const auto& g = call.dy[0];
    tensor dx, dy;
    if (call.wanted[0]) {
      dx = adjoint_a ? batch_matmul(y, g, adjoint_b, true) : batch_matmul(g, y, false, !adjoint_b);
    }
    if (call.wanted[1]) {
      dy = adjoint_b ? batch_matmul(g, x, true, adjoint_a) : batch_matmul(x, g, !adjoint_a, false);
    }
    return {dx, dy};
  };
  const double work = 2 * detail::flop(element_count(dims)) * detail::flop(inner);
  std::string batch; // axes of the matrices' numbers
  for (std::size_t d = 0; d + 2 < rank; ++d) {
    batch += static_cast<char>('A' + d);
  }
  return a.net().add_tensor({.type = "BatchMatMulV2",
                             .inputs = {a, b},
                             .outputs = {{std::move(dims)}},
                             .work = work,
                             .gradient = gradient,
                             .axes = batch + (adjoint_a ? "km," : "mk,") + batch + (adjoint_b ? "nk->" : "kn->") +
                                     batch + "mn"});
}

/// Exponentials along the innermost extent, scaled to sum up to 1. The gradient reads the result.
inline tensor softmax(const tensor& x) {
  detail::require(!x.dims().empty(), "Softmax", "needs an extent to sum over");
  const auto gradient = [](const gradient_call& call) -> std::vector<tensor> {
    return {call.net.add_tensor({.type = "SoftmaxGrad",
                                 .inputs = {call.dy[0], call.output()},
                                 .outputs = {{call.output().dims()}},
                                 .work = 4 * detail::flop(call.output().elements())})};
  };
  return x.net().add_tensor({.type = "Softmax",
                             .inputs = {x},
                             .outputs = {{x.dims()}},
                             .work = 5 * detail::flop(x.elements()),
                             .gradient = gradient});
}

/// x times the share of normal random numbers below it. The gradient reads x.
/// Source: Hendrycks, Gimpel, *Gaussian Error Linear Units*, arXiv 1606.08415.
inline tensor gelu(const tensor& x) {
  return detail::elementwise("Gelu", {x}, x.dims(), [](const gradient_call& call) -> std::vector<tensor> {
    return {detail::elementwise("GeluGrad", {call.dy[0], call.input()}, call.input().dims())};
  });
}

/// The first of each pair of numbers in the innermost extent (two), times its sigmoid and the second: a linear unit
/// with a gate. The gradient reads x.
/// Source: Shazeer, *GLU Variants Improve Transformer*, arXiv 2002.05202.
inline tensor swiglu(const tensor& x) {
  auto dims = x.dims();
  detail::require(dims.size() >= 2 && dims.back() == 2, "SwiGLU", "takes pairs, not " + detail::text(dims));
  dims.pop_back();
  std::string axes;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    axes += static_cast<char>('a' + d);
  }
  const auto gradient = [axes](const gradient_call& call) -> std::vector<tensor> {
    return {call.net.add_tensor({.type = "SwiGLUGrad",
                                 .inputs = {call.input(), call.dy[0]},
                                 .outputs = {call.input().type()},
                                 .work = 8 * detail::flop(call.dy[0].elements()),
                                 .axes = axes + ".," + axes + "->" + axes + "."})};
  };
  const double work = 3 * detail::flop(element_count(dims));
  return x.net().add_tensor({.type = "SwiGLU",
                             .inputs = {x},
                             .outputs = {{std::move(dims)}},
                             .work = work,
                             .gradient = gradient,
                             .axes = axes + ".->" + axes});
}

/// Scaled dot-product attention with several heads: `x` asks (a row per batch and query), `memory` answers (a row per
/// batch and key; x itself for self-attention). Projections `query`, `key`, `value` and `output` of the scope `name`;
/// with kernels that are not separate one product for the first three (`qkv`, or `query` and `key_value`). Returns as
/// many rows as x has, each as wide as those of x. With `lora`, products with two narrow matrices of their own
/// (`query/lora_a`, …) are added to queries and values, after a dropout.
/// Throws `value_error` if the rows are not a multiple of the batch, or the heads by those of keys.
/// Source: Vaswani et al., *Attention Is All You Need*, arXiv 1706.03762, section 3.2; for fewer heads of keys Ainslie
/// et al., *GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints*, arXiv 2305.13245.
inline tensor attention(const std::string& name, const tensor& x, const tensor& memory, std::uint64_t batch,
                        const attention_options& o) {
  auto& net = x.net();
  const auto scope = net.scope(name);
  if (net.kernels() != kernel_set::separate) {
    return detail::framework_attention(x, memory, batch, o);
  }
  const auto rows = x.dims().at(0);
  const auto width = o.heads * o.head_size;
  const auto kv_heads = detail::heads_of_keys(o);
  const auto by_head = [&](const char* part, const tensor& from, std::uint64_t count, const tensor& angles,
                           const tensor& adapted) {
    detail::require(batch > 0 && from.dims().at(0) % batch == 0, "attention", "the rows are not a multiple of the "
                                                                              "batch");
    auto projected = dense(part, from, count * o.head_size, o.bias);
    projected = adapted ? projected + low_rank(part, adapted, o.lora, count * o.head_size) : projected;
    const auto inner = net.scope(part);
    const auto heads = reshape(projected, {batch, from.dims()[0] / batch, count, o.head_size});
    return transpose(angles ? rotary_embedding(heads, angles) : heads, {0, 2, 1, 3});
  };
  const auto adapted = o.lora > 0 ? dropout("lora_dropout", x) : tensor{};
  const auto of_memory = o.lora > 0 && x != memory ? dropout("lora_dropout", memory) : adapted;
  const auto query = by_head("query", x, o.heads, o.angles, adapted);
  const auto key = by_head("key", memory, kv_heads, o.angles, {});
  const auto value = by_head("value", memory, kv_heads, {}, of_memory);
  const auto regroup = [&](const tensor& t, std::uint64_t heads) { // the queries of a group are one matrix, or several
    return kv_heads == o.heads ? t : reshape(t, {batch, heads, rows / batch * o.heads / heads, t.dims()[3]});
  };
  auto scores = regroup(batch_matmul(regroup(query, kv_heads), key, false, true), o.heads);
  if (o.scale) {
    scores = scores * net.data("Const", "scale", {});
  }
  if (o.mask) {
    scores = scores + o.mask;
  }
  auto weights = softmax(scores);
  if (o.dropout) {
    weights = dropout("dropout", weights);
  }
  const auto context = regroup(batch_matmul(regroup(weights, kv_heads), value), o.heads);
  return dense("output", reshape(transpose(context, {0, 2, 1, 3}), {rows, width}), x.dims().at(1),
               o.bias && o.output_bias);
}

/// One step of `attention` in the ways of a runtime that makes token after token: x has a row per sequence, its last of
/// `length` tokens, and the keys and values of all of them are in a cache. One product makes query, key and value
/// (`qkv`: for each head of keys its queries, the key and the value), and one op, which holds the cache (resident
/// bytes), turns queries and keys, puts key and value into the cache, and attends to all of it. Masks and dropout are
/// not for this. FLOP of the op: 4 per head, token and element of a head, 5 per head and token, and 3 per turned
/// element. No gradient.
/// Throws `value_error` if the heads do not divide by those of keys.
/// Source: Pope et al., *Efficiently Scaling Transformer Inference*, arXiv 2211.05102.
inline tensor cached_attention(const std::string& name, const tensor& x, std::uint64_t length,
                               const attention_options& o) {
  detail::require(o.lora == 0, "attention",
                  "low-rank matrices are added to the weights before a network decodes; leave them out");
  const auto scope = x.net().scope(name);
  const auto batch = x.dims().at(0);
  const auto kv_heads = detail::heads_of_keys(o);
  const auto group = o.heads / kv_heads;
  const auto qkv = reshape(dense("qkv", x, kv_heads * (group + 2) * o.head_size, o.bias),
                           {batch, kv_heads, group + 2, o.head_size});
  const auto scores = detail::flop(batch) * detail::flop(o.heads) * detail::flop(length);
  const auto turned = o.angles ? batch * kv_heads * (group + 1) * o.head_size : 0;
  const auto seen = x.net().add_tensor(
    {.type = "CachedAttention",
     .inputs = {qkv, o.angles},
     .outputs = {{{batch, kv_heads, group, o.head_size}}},
     .work = scores * (4 * detail::flop(o.head_size) + 5) + 3 * detail::flop(turned),
     .resident_bytes = 4 * 2 * element_count({batch, length, kv_heads, o.head_size}),
     .axes = "bk..->bk.."});
  return dense("output", reshape(seen, {batch, o.heads * o.head_size}), x.dims().at(1), o.bias && o.output_bias);
}

} // namespace weft::nn
