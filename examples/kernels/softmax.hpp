// SPDX-License-Identifier: BSL-1.0
/// Softmax of rows, which may be scaled and masked in the same kernel.
#pragma once

#include "kernels/broadcast.hpp"

#include <cmath>
#include <limits>

namespace kernels {

namespace detail {

/// The mask of scores (batch × heads × group × queries × keys), given without the extent of the groups.
inline extents mask_extents(const extents& mask) {
  auto dims = mask;
  dims.insert(dims.begin() + 1, 1);
  return dims;
}

} // namespace detail

/// Softmax(x), MaskedSoftmax(scores), MaskedSoftmax(scores, mask) -> along the innermost extent exponentials that sum
/// up to 1, of scores that are scaled, then masked; of a causal one those of later keys are zero.
inline std::function<void()> softmax(const op_call& call, unsigned team) {
  const auto& x = call.in[0];
  const bool masks = call.in.size() > 1;
  const std::size_t keys = x.dims.back(), queries = x.dims.size() > 1 ? x.dims[x.dims.size() - 2] : 1;
  const detail::rows_of mask_rows{x.dims, masks ? detail::mask_extents(call.in[1].dims) : extents{1}};
  return [=, attributes = (*call.net)[call.op].op.attributes, from = x.data, to = call.out[0].data,
          rows = x.size() / keys, mask = masks ? call.in[1].data : nullptr] {
    const auto scale = static_cast<float>(attributes.scale);
    share(team, rows, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t row = first; row < last; ++row) {
        const std::size_t seen = attributes.causal ? std::min(keys, row % queries + 1) : keys;
        const float* scores = from + row * keys;
        float *y = to + row * keys, largest = -std::numeric_limits<float>::infinity(), sum = 0;
        for (std::size_t i = 0; i < seen; ++i) {
          y[i] = scores[i] * scale + (mask != nullptr ? mask[mask_rows.begin(row) + i * mask_rows.step()] : 0);
          largest = std::max(largest, y[i]);
        }
        for (std::size_t i = 0; i < seen; ++i) {
          y[i] = std::exp(y[i] - largest);
          sum += y[i];
        }
        for (std::size_t i = 0; i < seen; ++i) {
          y[i] /= sum;
        }
        std::fill(y + seen, y + keys, 0.0f);
      }
    });
  };
}

/// SoftmaxGrad(dy, y) -> the gradient by what was scaled.
inline std::function<void()> softmax_grad(const op_call& call, unsigned team) {
  const std::size_t width = call.in[0].dims.back(), rows = call.in[0].size() / width;
  return [=, scale = static_cast<float>((*call.net)[call.op].op.attributes.scale), dy = call.in[0].data,
          y = call.in[1].data, dx = call.out[0].data] {
    share(team, rows, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t at = first * width; at < last * width; at += width) {
        float sum = 0;
        for (std::size_t i = at; i < at + width; ++i) {
          sum += dy[i] * y[i];
        }
        for (std::size_t i = at; i < at + width; ++i) {
          dx[i] = scale * y[i] * (dy[i] - sum);
        }
      }
    });
  };
}

} // namespace kernels
