// SPDX-License-Identifier: BSL-1.0
/// The parts of an attention: projections to heads, a rotation by their places, and all that lies between the
/// projections in one kernel.
#pragma once

#include "kernels/data_movement.hpp"
#include "kernels/matrix_product.hpp"
#include "kernels/random.hpp"
#include "kernels/softmax.hpp"

#include <cmath>
#include <numeric>

namespace kernels {

namespace detail {

/// Heads that are made by one product: per token and group of heads, those of each part side by side.
struct joined_heads {
  std::vector<operand> parts;
  std::shared_ptr<buffer> whole;
  std::uint64_t rows, columns;

  /// Of parts of batch × length × groups × heads × size.
  explicit joined_heads(std::span<const operand> of) : parts(of.begin(), of.end()) {
    const auto& dims = parts[0].dims;
    rows = dims[0] * dims[1];
    columns = 0;
    for (const auto& part : parts) {
      columns += part.size() / rows;
    }
    whole = std::make_shared<buffer>(rows * columns);
  }
  detail::matrix matrix() const { return matrix_of(whole->data(), rows, columns); }
  /// Takes the parts out of the whole, or puts them into it.
  std::function<void()> copy(bool cut, unsigned team) const {
    const auto groups = parts[0].dims[2];
    return join_or_cut({{rows * groups, columns / groups}, whole->data()}, parts, 1, 0, cut, team);
  }
};

/// Runs one after the other, for as long as `kept` is needed.
inline std::function<void()> in_turn(std::function<void()> first, std::function<void()> second,
                                     std::shared_ptr<buffer> kept) {
  return [first = std::move(first), second = std::move(second), kept = std::move(kept)] {
    first();
    second();
  };
}

} // namespace detail

/// ProjectHeads(x, weights, bias if there is one) -> heads, several kinds of them.
inline std::function<void()> project_heads(const op_call& call, unsigned team) {
  const detail::joined_heads heads{call.out};
  const auto weights = detail::matrix_of(call.in[1].data, call.in[1].dims[0], heads.columns);
  const auto multiply = detail::multiplication(detail::matrix_of(call.in[0]), weights, heads.matrix(),
                                               call.in.size() > 2 ? call.in[2].data : nullptr);
  return detail::in_turn(multiply, heads.copy(true, team), heads.whole);
}

/// ProjectHeadsGrad(weights, gradients of the heads) -> gradient by x; ProjectHeadsGrad(x, gradients of the heads) ->
/// that by the weights.
inline std::function<void()> project_heads_grad(const op_call& call, unsigned team) {
  const detail::joined_heads dy{std::span{call.in}.subspan(1)};
  const auto &other = call.in[0], &made = call.out[0];
  const bool by_x = made.dims.size() == 2;
  const auto multiply =
    by_x ? detail::multiplication(dy.matrix(), detail::matrix_of(other.data, other.dims[0], dy.columns, true),
                                  detail::matrix_of(made))
         : detail::multiplication(detail::matrix_of(other, true), dy.matrix(),
                                  detail::matrix_of(made.data, made.dims[0], dy.columns));
  return detail::in_turn(dy.copy(false, team), multiply, dy.whole);
}

/// RotaryEmbedding(x, angles) -> pairs of numbers of x (batch × length × … × size), each turned by the angle whose
/// cosine and sine `angles` has in its place. A gradient turns back.
inline std::function<void()> rotary_embedding(const op_call& call, unsigned team) {
  const bool is_gradient =
    call.forward != weft::none && (*call.net)[call.forward].op.type == (*call.net)[call.op].op.type;
  const auto& dims = call.in[0].dims;
  const std::size_t size = dims.back(), length = dims[1], inner = detail::product(dims, 2, dims.size() - 1);
  return [=, sign = is_gradient ? -1.0f : 1.0f, x = call.in[0].data, angles = call.in[1].data, y = call.out[0].data,
          rows = call.in[0].size() / size] {
    share(team, rows, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t row = first; row < last; ++row) {
        const float *from = x + row * size, *angle = angles + row / inner % length * size;
        float* to = y + row * size;
        for (std::size_t i = 0; i + 1 < size; i += 2) {
          const float cosine = angle[i], sine = sign * angle[i + 1], a = from[i], b = from[i + 1];
          to[i] = a * cosine - b * sine;
          to[i + 1] = a * sine + b * cosine;
        }
      }
    });
  };
}

namespace detail {

/// The rows of an attention, of queries (batch × length × groups × heads × size), keys and values (one head).
class attention_rows {
public:
  attention_rows(const op_call& call, const operand& query, const operand& key, const operand* mask)
      : lengths{query.dims[1]}, keys{key.dims[1]}, groups{query.dims[2]}, heads{query.dims[3]}, size{query.dims[4]},
        attributes_{(*call.net)[call.op].op.attributes}, factor_{dropout_factors_of(call)},
        mask_{mask != nullptr ? mask->data : nullptr},
        mask_rows_{{query.dims[0], groups, heads, lengths, keys},
                   mask != nullptr ? mask_extents(mask->dims) : extents{1}} {}

  std::size_t lengths, keys, groups, heads, size;

  /// Of the query that is number `row` of batch × groups × heads × length: where its numbers are, …
  std::size_t query(std::size_t row) const {
    const std::size_t s = row % lengths, head = row / lengths % heads, group = row / lengths / heads;
    return (((group / groups * lengths + s) * groups + group % groups) * heads + head) * size;
  }
  /// … where those of its key number t are, …
  std::size_t key(std::size_t row, std::size_t t) const {
    const std::size_t group = row / lengths / heads;
    return ((group / groups * keys + t) * groups + group % groups) * size;
  }
  /// … and how many keys it asks.
  std::size_t seen(std::size_t row) const {
    return attributes_.causal ? std::min(keys, row % lengths + 1) : keys;
  }
  float score(std::size_t row, std::size_t t, const float* q, const float* k) const {
    const float masked = mask_ != nullptr ? mask_[mask_rows_.begin(row) + t * mask_rows_.step()] : 0;
    return std::inner_product(q, q + size, k, 0.0f) * scale() + masked;
  }
  float scale() const { return static_cast<float>(attributes_.scale); }
  float factor(std::size_t row, std::size_t t) const { return factor_(row * keys + t); }

private:
  weft::nn::op_attributes attributes_;
  dropout_factors factor_;
  const float* mask_;
  rows_of mask_rows_;
};

} // namespace detail

/// FusedAttention(query, key, value, mask if there is one) -> what the queries get, a row for each, and per head and
/// query the logarithm of the sum of its exponentials.
inline std::function<void()> fused_attention(const op_call& call, unsigned team) {
  const detail::attention_rows rows{call, call.in[0], call.in[1], call.in.size() > 3 ? &call.in[3] : nullptr};
  return [=, q = call.in[0].data, k = call.in[1].data, v = call.in[2].data, y = call.out[0].data,
          logs = call.out[1].values()] {
    share(team, logs.size(), 1, [&](std::size_t first, std::size_t last) {
      std::vector<float> weights(rows.keys);
      for (std::size_t row = first; row < last; ++row) {
        const std::size_t at = rows.query(row), seen = rows.seen(row);
        float largest = -std::numeric_limits<float>::infinity(), sum = 0;
        for (std::size_t t = 0; t < seen; ++t) {
          weights[t] = rows.score(row, t, q + at, k + rows.key(row, t));
          largest = std::max(largest, weights[t]);
        }
        std::fill_n(y + at, rows.size, 0.0f);
        for (std::size_t t = 0; t < seen; ++t) {
          sum += weights[t] = std::exp(weights[t] - largest);
        }
        for (std::size_t t = 0; t < seen; ++t) {
          const float weight = weights[t] / sum * rows.factor(row, t);
          for (std::size_t i = 0; i < rows.size; ++i) {
            y[at + i] += weight * v[rows.key(row, t) + i];
          }
        }
        logs[row] = largest + std::log(sum);
      }
    });
  };
}

/// FusedAttentionGrad(dy, query, key, value, y, logarithms, mask if there is one) -> gradients by query, key and value.
inline std::function<void()> fused_attention_grad(const op_call& call, unsigned team) {
  const detail::attention_rows rows{call, call.in[1], call.in[2], call.in.size() > 6 ? &call.in[6] : nullptr};
  const std::size_t queries_of_key = rows.heads * rows.lengths;
  return [=, in = call.in, out = call.out] {
    const float *dy = in[0].data, *q = in[1].data, *k = in[2].data, *v = in[3].data, *y = in[4].data;
    float *dq = out[0].data, *dk = out[1].data, *dv = out[2].data;
    share(team, in[5].size() / queries_of_key, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t row = first * queries_of_key; row < last * queries_of_key; ++row) {
        const std::size_t at = rows.query(row);
        std::fill_n(dq + at, rows.size, 0.0f);
        for (std::size_t t = 0; row % queries_of_key == 0 && t < rows.keys; ++t) {
          std::fill_n(dk + rows.key(row, t), rows.size, 0.0f);
          std::fill_n(dv + rows.key(row, t), rows.size, 0.0f);
        }
        const float mean = std::inner_product(dy + at, dy + at + rows.size, y + at, 0.0f);
        for (std::size_t t = 0; t < rows.seen(row); ++t) {
          const std::size_t from = rows.key(row, t);
          const float weight = std::exp(rows.score(row, t, q + at, k + from) - in[5].data[row]);
          const float kept = rows.factor(row, t);
          const float d_weight = kept * std::inner_product(dy + at, dy + at + rows.size, v + from, 0.0f);
          const float d_score = rows.scale() * weight * (d_weight - mean);
          for (std::size_t i = 0; i < rows.size; ++i) {
            dv[from + i] += weight * kept * dy[at + i];
            dk[from + i] += d_score * q[at + i];
            dq[at + i] += d_score * k[from + i];
          }
        }
      }
    });
  };
}

} // namespace kernels
