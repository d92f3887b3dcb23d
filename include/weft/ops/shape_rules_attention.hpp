// SPDX-License-Identifier: BSL-1.0
/// Shapes of attention, its caches, and other layers of language models.
#pragma once

#include "weft/ops/attention_form.hpp"
#include "weft/ops/shape_rules_layers.hpp"

namespace weft::ops::shape_rules {

using ops::detail::at_least_one;
using ops::detail::extent_of;

/// Keys and values after the step, as batch × heads × length × width: like the cache where that has its largest size.
inline void set_present(shape_call& c, const attention_form& f, std::size_t past_key, std::size_t past_value) {
  if (f.shared_buffer && c.has(past_key)) {
    c.like(1, past_key);
    c.like(2, past_value);
    return;
  }
  const auto element = [&](std::size_t past) { return c.has(past) ? c.element(past) : c.element(0); };
  // a cache may pack its elements: two 4-bit ones in a byte
  const auto width = [&](std::size_t past, std::int64_t head) {
    const numbers* d = c.dims(past);
    return d != nullptr && d->size() == 4 ? d->back() : head;
  };
  c.set(1, {f.batch, f.kv_heads, f.keys, width(past_key, f.head)}, element(past_key));
  c.set(2, {f.batch, f.kv_heads, f.keys, width(past_value, f.value_head)}, element(past_value));
}

/// Queries, keys and values as inputs; outputs are the result, keys, values, and scores.
template <std::size_t PastKey>
void attention(shape_call& c) {
  const auto f = attention_form_of(c.o);
  if (!f) {
    return;
  }
  c.set(0, f->stacked_heads ? numbers{f->batch, f->heads, f->queries, f->value_head}
                            : numbers{f->batch, f->queries, f->heads * f->value_head});
  set_present(c, *f, PastKey, PastKey + 1);
  c.set(3, {f->batch, f->heads, f->queries, f->keys});
}

/// A product with the second input makes queries, keys and values; keys and values are one output.
template <std::size_t Past, std::size_t Like = 0>
void projected_attention(shape_call& c) {
  const auto f = projected_attention_form_of(c.o, Past);
  if (!f) {
    return;
  }
  with_last(c, 0, f->heads * f->value_head, c.element(Like));
  if (f->shared_buffer && c.has(Past)) {
    c.like(1, Past);
  } else {
    c.set(1, {2, f->batch, f->heads, f->keys, f->head}, c.element(Like));
  }
}

/// Tokens of all sequences one after the other: tokens × hidden, or tokens × heads × 3 × width.
inline void packed_attention(shape_call& c) {
  const numbers* q = c.dims(0);
  if (q == nullptr || (q->size() != 2 && q->size() != 4)) {
    c.like(0, 0);
    return;
  }
  const numbers* v = c.dims(2);
  c.set(0, {q->front(), q->size() == 4 ? times((*q)[1], (*q)[3]) : v != nullptr && v->size() == 2 ? (*v)[1] : (*q)[1]});
}
inline void paged_attention(shape_call& c) {
  const numbers* q = c.dims(0);
  if (q != nullptr && q->size() == 2) {
    const auto heads = at_least_one(c.o.number("num_heads", 1));
    const auto all = heads + 2 * at_least_one(c.o.number("kv_num_heads", heads));
    const auto head = c.has(1) ? (*q)[1] / heads : (*q)[1] / all;
    const auto values = c.o.number("v_head_size", 0);
    c.set(0, {q->front(), times(heads, values > 0 ? values : head)});
  } else {
    c.like(0, 0);
  }
  c.like(1, 3);
  c.like(2, 4);
}

/// length × batch × hidden; the caches are batch × heads × length × width.
inline void decoder_attention(shape_call& c) {
  c.like(0, 0);
  const numbers* q = c.dims(0);
  const numbers* k = c.dims(1);
  if (q != nullptr && k != nullptr && q->size() == 3 && k->size() == 3) {
    const auto heads = at_least_one(c.o.number("num_heads", 1));
    const auto past = c.dims(6) != nullptr && c.dims(6)->size() == 4 ? extent_of(c.o, 6, 2) : 0;
    for (const std::size_t i : {1u, 2u}) {
      c.set(i, {(*q)[1], heads, past + extent_of(c.o, 1, 0), q->back() / heads});
    }
  }
}

/// batch × length × heads · width; the state is batch × heads × width of keys × width of values.
inline void linear_attention(shape_call& c) {
  const numbers* q = c.dims(0);
  const numbers* v = c.dims(2);
  if (q == nullptr || v == nullptr || q->size() != 3 || v->size() != 3) {
    c.like(0, 0);
    return;
  }
  const auto heads = at_least_one(c.o.number("q_num_heads", 1));
  const auto kv_heads = at_least_one(c.o.number("kv_num_heads", heads));
  with_last(c, 0, times(std::max(heads, kv_heads), v->back() / kv_heads));
  c.has(3) ? c.like(1, 3) : c.set(1, {q->front(), kv_heads, q->back() / heads, v->back() / kv_heads});
}

inline void causal_convolution(shape_call& c) { // batch × channels × length; the state is what the next window overlaps
  c.like(0, 0);
  const numbers* x = c.dims(0);
  const numbers* w = c.dims(1);
  if (x != nullptr && w != nullptr && x->size() == 3 && !w->empty()) {
    c.set(1, {(*x)[0], (*x)[1], w->back() - 1});
  }
}

/// Also a mean and a deviation per row, and the sum before normalisation.
inline void skip_normalisation(shape_call& c) {
  c.like(0, 0);
  c.like(3, 0);
  if (const numbers* x = c.dims(0); x != nullptr && !x->empty()) {
    auto row = *x;
    row.back() = 1;
    c.set(1, row, float32);
    c.set(2, row, float32);
  }
}

inline void embedding(shape_call& c) { // ids, segment ids, word, position and segment embeddings, …
  const numbers* ids = c.dims(0);
  const numbers* words = c.dims(2);
  if (ids != nullptr && words != nullptr && words->size() == 2) {
    auto dims = *ids;
    dims.push_back(words->back());
    c.set(0, dims, c.element(2));
    c.set(2, dims, c.element(2));
    if (!ids->empty()) {
      c.set(1, {ids->front()}, elements::int32);
    }
  }
}

inline void position_bias(shape_call& c) { // table (buckets × heads), lengths of queries and keys
  const numbers* table = c.dims(0);
  if (const auto q = c.o.value(1), k = c.o.value(2); table != nullptr && table->size() == 2 && q && k) {
    c.set(0, {1, table->back(), *q, *k});
  }
}

inline void rotated_pair(shape_call& c) { // GemmaRotaryEmbedding: angles, then two tensors with their halves
  c.like(0, 1);
  c.like(1, 3);
}

} // namespace weft::ops::shape_rules
