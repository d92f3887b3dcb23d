// SPDX-License-Identifier: BSL-1.0
/// FLOP rules of attention and other layers of language models.
///
/// Scores and their use take 4 · queries · keys · width of a head, each head of the queries, and a softmax 5 per score.
/// All keys count, those in a cache too; masks take nothing off. Definitions: the ONNX operator reference, and for the
/// domain com.microsoft ONNX Runtime's docs/ContribOperators.md.
#pragma once

#include "weft/ops/attention_form.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

namespace weft::ops::flop_rules {

inline double attend(double batch, double queries, double keys, double score_width, double value_width, double heads) {
  return batch * queries * keys * (2 * score_width + 2 * value_width + 5 * heads);
}
inline double attend(const attention_form& f) {
  const auto heads = static_cast<double>(f.heads);
  return attend(static_cast<double>(f.batch), static_cast<double>(f.queries), static_cast<double>(f.keys),
                heads * static_cast<double>(f.head), heads * static_cast<double>(f.value_head), heads);
}

/// Q, K and V as they are.
inline double attention(const call& o) {
  const auto f = attention_form_of(o);
  return f ? attend(*f) : 0;
}

/// Of the lower triangle of a matrix of blocks, as many as input 6 has room for (com.microsoft.SparseAttention).
inline double sparse_attention(const call& o) {
  const double blocks = o.rank(5) == 2 ? o.extent(5, 1) - 1 : 0;
  const double kept = o.rank(6) == 2 ? o.extent(6, 1) : 0;
  return attention(o) * (blocks > 0 && kept > 0 ? std::min(1.0, kept / (blocks * (blocks + 1) / 2)) : 1);
}

/// A product with weights (input 1, and a bias as input 2) that makes Q, K and V of the first input.
inline double projection(const call& o) {
  return o.in(0) * 2 * o.extent(1, 1) +
         (o.has_input(2) ? o.in(0) / std::max(o.extent(0, -1), 1.0) * o.extent(1, 1) : 0);
}
/// com.microsoft.Attention and its like; `Past` is the cache.
template <std::size_t Past>
double self_attention(const call& o) {
  const auto f = projected_attention_form_of(o, Past);
  return f ? projection(o) + attend(*f) : 0;
}

/// Sequences one after the other, without padding: as if all were as long as they are on average. `Lengths` is the
/// input with the place where each begins, and where the last ends.
template <std::size_t Lengths>
double packed_attend(const call& o, double hidden, double value_hidden) {
  const double sequences = std::max(o.rank(Lengths) == 1 ? o.extent(Lengths, 0) - 1 : 1, 1.0);
  const double length = o.extent(0, 0) / sequences;
  return attend(sequences, length, length, hidden, value_hidden, static_cast<double>(o.number("num_heads", 1)));
}
inline double packed_self_attention(const call& o) { // com.microsoft.PackedAttention: tokens × width, weights, bias
  return o.rank(0) == 2 ? projection(o) + packed_attend<4>(o, static_cast<double>(detail::projected_width(o, 0)),
                                                           static_cast<double>(detail::projected_width(o, 2)))
                        : 0;
}
/// com.microsoft.PackedMultiHeadAttention: tokens × hidden, or tokens × heads × 3 × width.
inline double packed_attention(const call& o) {
  const double hidden = o.rank(0) == 4 ? o.extent(0, 1) * o.extent(0, 3) : o.extent(0, 1);
  return o.rank(0) == 2 || o.rank(0) == 4 ? packed_attend<5>(o, hidden, o.rank(2) == 2 ? o.extent(2, 1) : hidden) : 0;
}
/// com.microsoft.PagedAttention: packed queries, and as many keys per sequence as its blocks of the cache have room
/// for.
inline double paged_attention(const call& o) {
  if (o.rank(0) != 2 || !o.has_output()) {
    return 0;
  }
  const double sequences = std::max(o.rank(5) == 1 ? o.extent(5, 0) - 1 : 1, 1.0);
  const double queries = o.extent(0, 0) / sequences;
  const double room = o.rank(7) == 2 && o.rank(3) == 4 ? o.extent(7, 1) * o.extent(3, 1) : 0;
  const auto heads = static_cast<double>(detail::at_least_one(o.number("num_heads", 1)));
  const auto all = heads + 2 * static_cast<double>(detail::at_least_one(o.number("kv_num_heads", 1)));
  const double hidden = o.has_input(1) ? o.extent(0, 1) : o.extent(0, 1) / all * heads;
  return attend(sequences, queries, std::max(room, queries), hidden, o.out() / std::max(o.extent(0, 0), 1.0), heads);
}
/// com.microsoft.DecoderAttention: queries and keys (length × batch × hidden), weights for queries, then for keys and
/// values. Flags say whether there is a cache (inputs 6, 9 and 10), and whether it has all keys (input 8).
inline double decoder_attention(const call& o) {
  if (o.rank(0) != 3 || o.rank(1) != 3) {
    return 0;
  }
  const double hidden = o.extent(0, 2);
  const bool cached = o.rank(6) == 4 && o.value(9).value_or(1) != 0 && o.value(10).value_or(1) != 0;
  const bool makes_keys = !cached || o.value(8).value_or(0) == 0;
  const double keys = (makes_keys ? o.extent(1, 0) : 0) + (cached ? o.extent(6, 2) : 0);
  return 2 * o.in(0) * hidden + (makes_keys ? 4 * o.in(1) * hidden : 0) +
         attend(o.extent(0, 1), o.extent(0, 0), keys, hidden, hidden, static_cast<double>(o.number("num_heads", 1)));
}
/// com.microsoft.LongformerAttention: each token sees a window to both sides; the few that see all are not counted.
inline double windowed_attention(const call& o) {
  const double hidden = o.extent(0, 2);
  const double seen = std::min(2 * std::max(static_cast<double>(o.number("window", 1)), 1.0) + 1, o.extent(0, 1));
  return o.rank(0) == 3 ? projection(o) + attend(o.extent(0, 0), o.extent(0, 1), seen, hidden, hidden,
                                                 static_cast<double>(o.number("num_heads", 1)))
                        : 0;
}

/// A state of keys × values per head to which each token adds a product, which may decay (input 4), of which what it
/// already gives for the key may be taken off (input 5), and which is then read by each head of the queries.
inline double linear_attention(const call& o) {
  if (o.rank(0) != 3 || o.rank(2) != 3) {
    return 0;
  }
  const auto heads = static_cast<double>(detail::at_least_one(o.number("q_num_heads", 1)));
  const auto kv_heads = static_cast<double>(detail::at_least_one(o.number("kv_num_heads", o.number("q_num_heads", 1))));
  const double state = o.extent(0, 2) / heads * o.extent(2, 2) / kv_heads;
  const double per_state = 2 + (o.has_input(4) ? 1 : 0) + (o.has_input(5) ? 2 : 0);
  return o.extent(0, 0) * o.extent(0, 1) * state * (kv_heads * per_state + 2 * std::max(heads, kv_heads));
}

/// A filter per channel over the last steps, a bias, and Swish if it is asked for.
inline double causal_convolution(const call& o) {
  const bool activated = o.text("activation", "none") != "none";
  return o.rank(0) == 3 ? o.in(0) * (2 * o.extent(1, -1) + (o.has_input(2) ? 1 : 0) + (activated ? 2 : 0)) : 0;
}

/// Each token goes through `k` of the experts, each of two or three matrices (inputs 2, 2 + `Step`, 2 + 2 `Step`:
/// experts × rows × columns), with an activation between; a softmax over the experts chooses. Quantised weights have
/// their scales beside them, are packed into bytes, and are scaled before they are used, 2 each.
template <std::size_t Step>
double experts(const call& o) {
  const double tokens = o.in(0) / std::max(o.extent(0, -1), 1.0);
  const double count = std::max(o.extent(2, 0), 1.0);
  const auto bits = o.number("expert_weight_bits", 4);
  const double packed = Step == 2 ? 1 : bits > 0 && bits < 8 ? 8 / static_cast<double>(bits) : 1;
  const double weights = packed * (o.in(2) + o.in(2 + Step) + o.in(2 + 2 * Step)) / count;
  const double visits = tokens * static_cast<double>(detail::at_least_one(o.number("k", 1)));
  return o.has_input(2) ? visits * (2 * weights + o.extent(2, 1)) + 5 * o.in(1) +
                            (Step == 2 ? 0 : 2 * weights * std::min(count, visits))
                        : 0;
}

} // namespace weft::ops::flop_rules
