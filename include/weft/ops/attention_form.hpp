// SPDX-License-Identifier: BSL-1.0
/// The form of attention ops of ONNX and of com.microsoft: queries, keys, heads and widths, in any layout.
#pragma once

#include "weft/ops/call.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace weft::ops {

/// Sizes of an attention op.
struct attention_form {
  std::int64_t batch = 1;
  std::int64_t queries = 1;    ///< per sequence
  std::int64_t past = 0;       ///< keys that are in a cache
  std::int64_t keys = 1;       ///< all, the past ones included
  std::int64_t heads = 1;      ///< of the queries
  std::int64_t kv_heads = 1;   ///< of keys and values, each of which serves heads / kv_heads of the queries
  std::int64_t head = 0;       ///< width of a head of queries and keys
  std::int64_t value_head = 0; ///< width of a head of values
  bool stacked_heads = false;  ///< tensors are batch × heads × length × width of a head, not batch × length × hidden
  bool shared_buffer = false;  ///< the cache has its largest size, and what is new is written into it
};

/// The positions of the inputs of an attention op; `absent` for those that it does not have.
struct attention_inputs {
  static constexpr std::size_t absent = 99;
  std::size_t past_key = absent;
  std::size_t past_value = absent;
  std::size_t total = absent; ///< a number: how many keys there are in all
};

namespace detail {

/// No extent of an attention op is larger in earnest, and two of them can be multiplied.
inline constexpr std::int64_t longest_attention = std::int64_t{1} << 31;

inline std::int64_t extent_of(const call& o, std::size_t input, std::int64_t axis) {
  return static_cast<std::int64_t>(std::min(o.extent(input, axis), static_cast<double>(longest_attention)));
}

/// The width of queries (0), keys (1) or values (2) that an op makes by a product with its second input, side by side.
inline std::int64_t projected_width(const call& o, std::size_t which) {
  const auto sizes = o.numbers.find("qkv_hidden_sizes");
  return sizes != o.numbers.end() && sizes->second.size() == 3
           ? std::clamp(sizes->second[which], std::int64_t{0}, longest_attention)
           : extent_of(o, 1, 1) / 3;
}

inline std::int64_t at_least_one(std::int64_t x) { return std::clamp(x, std::int64_t{1}, longest_attention); }

} // namespace detail

/// The sizes of an op whose inputs are queries, keys and values, which may be packed into the first (as batch × length
/// × heads × 3 × width, or side by side in the innermost extent) or the second (as batch × length × heads × 2 ×
/// width). The axes before the heads of tensors of rank 4 and more are the batch. A second input of rank 4 beside a
/// first one of rank 3 is a cache that is as long as there are keys. Nothing if the shape of the first input is not
/// known.
inline std::optional<attention_form> attention_form_of(const call& o, const attention_inputs& at) {
  using detail::at_least_one;
  using detail::extent_of;
  if (o.rank(0) < 3) {
    return std::nullopt;
  }
  attention_form f{.batch = extent_of(o, 0, 0)};
  f.heads = at_least_one(o.number("num_heads", o.number("q_num_heads", 1)));
  f.kv_heads = at_least_one(o.number("kv_num_heads", f.heads));
  f.shared_buffer = o.number("past_present_share_buffer", 0) != 0;
  std::int64_t added = 0;
  if (o.rank(0) == 5 && !o.has_input(1)) {
    f.heads = f.kv_heads = at_least_one(extent_of(o, 0, 2));
    f.queries = added = extent_of(o, 0, 1);
    f.head = f.value_head = extent_of(o, 0, 4);
  } else if (o.rank(0) >= 4) {
    f.stacked_heads = true;
    for (std::size_t i = 1; i + 3 < o.rank(0); ++i) {
      f.batch = std::min(f.batch * extent_of(o, 0, static_cast<std::int64_t>(i)), detail::longest_attention);
    }
    f.heads = at_least_one(extent_of(o, 0, -3));
    f.kv_heads = at_least_one(extent_of(o, 1, -3));
    f.queries = extent_of(o, 0, -2);
    f.head = extent_of(o, 0, -1);
    added = extent_of(o, 1, -2);
    f.value_head = o.has_input(2) ? extent_of(o, 2, -1) : f.head;
  } else {
    f.queries = extent_of(o, 0, 1);
    if (!o.has_input(1)) { // queries, keys and values side by side
      const auto all = f.heads + 2 * f.kv_heads;
      f.head = f.value_head = extent_of(o, 0, 2) / (extent_of(o, 0, 2) % all == 0 ? all : f.heads);
      added = f.queries;
    } else {
      f.head = extent_of(o, 0, 2) / f.heads;
      const bool packed = o.rank(1) == 5;
      const bool cached = o.rank(1) == 4;
      added = extent_of(o, 1, cached ? 2 : 1);
      f.value_head = packed || !o.has_input(2) ? f.head
                     : o.rank(2) == 4          ? extent_of(o, 2, 3)
                                               : extent_of(o, 2, 2) / f.kv_heads;
    }
  }
  f.past = o.has_input(at.past_key) ? extent_of(o, at.past_key, 2) : 0;
  const bool same_size = o.has_output(1) && o.outputs[1]->size() == 4 && (*o.outputs[1])[2] == f.past;
  f.shared_buffer = f.shared_buffer || (f.past > 0 && same_size);
  f.keys = f.shared_buffer && f.past > 0 ? f.past : f.past + added;
  if (const auto total = o.value(at.total); total && *total > 0) {
    f.shared_buffer = f.shared_buffer || (f.past > 0 && *total <= f.past);
    f.keys = at_least_one(*total);
  }
  return f;
}

/// The same of an op by its type.
inline std::optional<attention_form> attention_form_of(const call& o) {
  struct row {
    std::string_view type;
    attention_inputs inputs;
  };
  static constexpr row known[] = {
    {"Attention", {.past_key = 4, .past_value = 5}},
    {"MultiHeadAttention", {.past_key = 6, .past_value = 7}},
    {"GroupQueryAttention", {.past_key = 3, .past_value = 4, .total = 6}},
    {"SparseAttention", {.past_key = 3, .past_value = 4, .total = 7}},
    {"DecoderMaskedMultiHeadAttention", {.past_key = 5, .past_value = 6}},
  };
  const auto plain = o.type.substr(o.type.find_last_of('.') + 1);
  const auto found = std::find_if(std::begin(known), std::end(known), [&](const row& r) { return r.type == plain; });
  return attention_form_of(o, found == std::end(known) ? attention_inputs{} : found->inputs);
}

/// The sizes of an op that makes queries, keys and values of its first input by a product with its second, whose
/// columns are theirs side by side. `past` is the input with the cache (2 × batch × heads × length × width of a head).
inline std::optional<attention_form> projected_attention_form_of(const call& o, std::size_t past) {
  using detail::extent_of;
  if (o.rank(0) < 2 || o.rank(1) != 2) {
    return std::nullopt;
  }
  const bool batched = o.rank(0) > 2;
  const auto heads = detail::at_least_one(o.number("num_heads", 1));
  attention_form f{.batch = batched ? extent_of(o, 0, 0) : 1,
                   .queries = extent_of(o, 0, batched ? 1 : 0),
                   .past = o.has_input(past) ? extent_of(o, past, 3) : 0,
                   .heads = heads,
                   .kv_heads = heads,
                   .head = detail::projected_width(o, 0) / heads,
                   .value_head = detail::projected_width(o, 2) / heads,
                   .shared_buffer = o.number("past_present_share_buffer", 0) != 0};
  f.keys = f.shared_buffer && f.past > 0 ? f.past : f.past + f.queries;
  return f;
}

} // namespace weft::ops
