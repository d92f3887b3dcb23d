// SPDX-License-Identifier: BSL-1.0
/// Softmax cross entropy.
#pragma once

#include "kernels/onednn.hpp"
#include "kernels/team.hpp"

#include <cmath>
#include <limits>

namespace kernels {

namespace detail {

/// Turns logits into probabilities and then, with `row_loss(row, probabilities)`, into losses and gradients.
template <class RowLoss>
std::function<void()> softmax_loss(const op_call& call, unsigned team, RowLoss row_loss) {
  const auto &logits = call.in[0], &gradient = call.out[1];
  const auto data = onednn::plain(logits.dims);
  const dnnl::softmax_forward::desc softmax{dnnl::prop_kind::forward_inference, data, 1};
  onednn::program p;
  p.add<dnnl::softmax_forward>({softmax, onednn::user_scratchpad(), onednn::engine()},
                               {{DNNL_ARG_SRC, data, logits.data}, {DNNL_ARG_DST, data, gradient.data}});
  return [=, to_probabilities = onednn::body_of(std::move(p)), loss = call.out[0].data, gradients = gradient.data,
          rows = logits.dims[0], classes = logits.dims[1]] {
    to_probabilities();
    share(team, rows, 1, [=](std::size_t first, std::size_t last) {
      for (std::size_t row = first; row < last; ++row) {
        loss[row] = row_loss(row, gradients + row * classes);
      }
    });
  };
}

inline float negative_log(float probability) {
  return -std::log(std::max(probability, std::numeric_limits<float>::min()));
}

/// The share of a class in the labels of a row, be they distributions or class numbers.
inline auto labels_of(const operand& labels, std::size_t classes) {
  return [labels = labels.data, classes, is_class = labels.dims.size() == 1](std::size_t row, std::size_t i) {
    return is_class ? static_cast<float>(static_cast<std::size_t>(labels[row]) == i) : labels[row * classes + i];
  };
}

} // namespace detail

/// SoftmaxCrossEntropyWithLogits(logits, labels), SparseSoftmaxCrossEntropyWithLogits(logits, class per row) -> loss
/// per row, and for the gradient the logarithm of the sum of exponentials.
inline std::function<void()> softmax_loss_alone(const op_call& call, unsigned team) {
  const std::size_t rows = call.in[0].dims[0], classes = call.in[0].dims[1];
  return [=, logits = call.in[0].data, labels = detail::labels_of(call.in[1], classes), loss = call.out[0].data,
          logarithms = call.out[1].data] {
    share(team, rows, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t row = first; row < last; ++row) {
        const float* x = logits + row * classes;
        const float largest = *std::max_element(x, x + classes);
        float sum = 0, lost = 0;
        for (std::size_t i = 0; i < classes; ++i) {
          sum += std::exp(x[i] - largest);
        }
        logarithms[row] = largest + std::log(sum);
        for (std::size_t i = 0; i < classes; ++i) {
          lost += labels(row, i) * (logarithms[row] - x[i]);
        }
        loss[row] = lost;
      }
    });
  };
}

/// CrossEntropyGrad, SoftmaxCrossEntropyGrad(gradient per row, logarithms, labels, logits) -> gradient by the logits.
/// A second output is room that a framework takes and these do not need.
inline std::function<void()> softmax_loss_grad(const op_call& call, unsigned team) {
  const auto& dx = call.out[0];
  const std::size_t classes = dx.dims[1];
  return [=, in = call.in, labels = detail::labels_of(call.in[2], classes), dx = dx.data, rows = dx.dims[0]] {
    share(team, rows, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t at = first * classes; at < last * classes; ++at) {
        const std::size_t row = at / classes;
        dx[at] = in[0].data[row] * (std::exp(in[3].data[at] - in[1].data[row]) - labels(row, at % classes));
      }
    });
  };
}

/// SoftmaxCrossEntropyWithLogits(logits, labels) -> loss per row, gradient by the logits. Each row of the labels is a
/// distribution.
inline std::function<void()> softmax_cross_entropy(const op_call& call, unsigned team) {
  if (call.net->kernels() != weft::nn::kernel_set::separate) {
    return softmax_loss_alone(call, team);
  }
  const auto row_loss = [labels = call.in[1].data, classes = call.in[1].dims[1]](std::size_t row, float* g) {
    const float* label = labels + row * classes;
    float loss = 0;
    for (std::size_t i = 0; i < classes; ++i) {
      if (label[i] > 0) {
        loss += label[i] * detail::negative_log(g[i]);
      }
      g[i] -= label[i];
    }
    return loss;
  };
  return detail::softmax_loss(call, team, row_loss);
}

/// SparseSoftmaxCrossEntropyWithLogits(logits, class per row), likewise.
inline std::function<void()> sparse_softmax_cross_entropy(const op_call& call, unsigned team) {
  if (call.net->kernels() != weft::nn::kernel_set::separate) {
    return softmax_loss_alone(call, team);
  }
  return detail::softmax_loss(call, team, [labels = call.in[1].data](std::size_t row, float* g) {
    auto& probability = g[static_cast<std::size_t>(labels[row])];
    const float loss = detail::negative_log(probability);
    probability -= 1;
    return loss;
  });
}

} // namespace kernels
