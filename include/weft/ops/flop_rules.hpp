// SPDX-License-Identifier: BSL-1.0
/// FLOP rules: from an op's shapes and attributes to its FLOP; op_catalogue.hpp maps types of ops to them.
///
/// A multiply-add counts as 2 FLOP; each other arithmetic operation, transcendental functions among them, as 1, as in
/// nn/ops.hpp. Moving data costs none. Rules follow the definitions of the ops in the ONNX operator reference
/// (https://onnx.ai/onnx/operators), for the domain com.microsoft in ONNX Runtime's docs/ContribOperators.md, for
/// TensorFlow in tensorflow/core/ops, and for PyTorch in aten/src/ATen/native/native_functions.yaml.
#pragma once

#include "weft/ops/einsum_equation.hpp"
#include "weft/ops/call.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace weft::ops::flop_rules {

/// FLOP per output element.
template <int Flop>
double per_output(const call& o) {
  return Flop * o.out();
}
/// FLOP per element of an input, the first unless stated.
template <int Flop, std::size_t Input = 0>
double per_input(const call& o) {
  return Flop * o.in(Input);
}
inline double nothing(const call&) {
  return 0;
}

/// k tensors take k - 1 operations per output element (Sum, Max, Mean, …).
inline double per_operand(const call& o) {
  return std::max(static_cast<double>(o.inputs.size()) - 1, 0.0) * o.out();
}

/// Each output element is the product of a filter with its window: channels of a group times the kernel's extents; a
/// bias adds one. The filter's extents are output channels, channels of a group, kernel.
template <std::size_t Filter, std::size_t Bias>
double convolution(const call& o) {
  const double filters = std::max(o.extent(Filter, 0), 1.0);
  return o.out() * (2 * o.in(Filter) / filters + (o.has_input(Bias) ? 1 : 0));
}

/// Each input element is multiplied with the filter of its channel. The filter's extents are input channels, output
/// channels of a group, kernel.
inline double transposed_convolution(const call& o) {
  return 2 * o.in(0) * o.in(1) / std::max(o.extent(1, 0), 1.0) + (o.has_input(2) ? o.out() : 0);
}

/// PyTorch's convolution, an attribute of which says whether it is a transposed one.
inline double convolution_or_transposed(const call& o) {
  return o.number("transposed", 0) != 0 ? transposed_convolution(o) : convolution<1, 2>(o);
}

/// The gradients of PyTorch's convolution, from that of its result (input 0): a product as large as the forward one for
/// each of those of input and filter that are wanted, and a sum for that of a bias, whose only extent are channels.
inline double convolution_gradients(const call& o) {
  const bool transposed = o.number("transposed", 0) != 0;
  const double forward = 2 * o.in(transposed ? 1 : 0) * o.in(2) / std::max(o.extent(2, 0), 1.0);
  double flop = 0;
  for (const auto& made : o.outputs) {
    flop += made && made->size() > 1 ? forward : o.in(0);
  }
  return flop;
}

/// Output elements times the inner extent: 2 m n k, and m n for what is added (input `Added`).
template <std::size_t Added>
double product(const call& o, bool transposed) {
  // FusedMatMul may have its first extent as that of rows.
  const bool first_as_rows = o.number("transBatchA", 0) != 0 && o.rank(0) > 2;
  const double inner = o.extent(0, !transposed || o.rank(0) < 2 ? -1 : first_as_rows ? 0 : -2);
  return 2 * o.out() * inner + (o.has_input(Added) ? o.out() : 0);
}
inline double gemm(const call& o) {
  return product<2>(o, o.number("transA", 0) != 0);
}
inline double quantised_gemm(const call& o) { // QGemm: A, its scale and zero, B, its scale and zero, C
  return product<6>(o, o.number("transA", 0) != 0);
}
/// MatMul of ONNX and TensorFlow, each with its attribute for a first operand that is transposed before.
inline double matmul(const call& o) {
  return product<99>(o, (o.number("transA", 0) | o.number("transpose_a", 0) | o.number("adj_x", 0)) != 0);
}

/// PyTorch's linear: what is read, weights of output × input features, a bias.
inline double product_with_bias(const call& o) {
  return product<2>(o, false);
}
/// PyTorch's addmm, baddbmm, addmv: what is added, and a product of two.
inline double product_and_sum(const call& o) {
  return 2 * o.in(1) * (o.rank(2) > 1 ? o.extent(2, -1) : 1) + o.out();
}

/// Of two or more operands: a multiplication and an addition per combination of all indices and further operand. Of
/// one, an addition per element if indices are summed; else it is moved.
inline double einsum(const call& o) {
  einsum_equation equation{o.text("equation", "")};
  for (std::size_t i = 0; i < equation.num_operands(); ++i) {
    if (o.has_input(i)) {
      (void)equation.add(i, *o.inputs[i]); // letters of an operand that is not known may be known from another one
    }
  }
  return equation.num_operands() < 2 ? (equation.sums() ? equation.combinations() : 0)
                                     : 2 * static_cast<double>(equation.num_operands() - 1) * equation.combinations();
}

/// `Gates` products of input (X) and state (H) with matrices of H rows, per step, example and direction, and the
/// arithmetic on gates: X is steps × batch × inputs (or batch × steps × inputs), the recurrence matrix
/// directions × gates·H × H, and input 4 the steps of each example if they are fewer. An LSTM's step takes 14
/// operations per element of the state (nn/lstm.hpp), a GRU's 13, a plain one's 4, biases and activations included;
/// peepholes add 2 each.
template <int Gates, int PerElement>
double recurrent(const call& o) {
  const bool is_known = o.rank(2) == 3;
  const double hidden = is_known ? o.extent(2, 2) : static_cast<double>(o.number("hidden_size", 1));
  const double directions = is_known ? o.extent(2, 0) : o.text("direction", "") == "bidirectional" ? 2 : 1;
  double steps = o.extent(0, 0) * o.extent(0, 1);
  if (o.values.size() > 4 && o.values[4]) {
    steps = std::min(steps, std::accumulate(o.values[4]->begin(), o.values[4]->end(), 0.0));
  }
  const double states = steps * directions * hidden;
  const double peepholes = o.has_input(7) ? 6 : 0;
  return states * (2 * Gates * (o.extent(0, 2) + hidden) + PerElement + peepholes);
}

/// PyTorch's recurrent ops: what is read (steps × batch × features in any order), states, and of each layer and
/// direction the matrices for input and state, and biases, which are vectors. Per element of a state as in `recurrent`.
template <int PerElement>
double recurrent_layers(const call& o) {
  const double examples = o.in(0) / std::max(o.extent(0, -1), 1.0);
  double flop = 0;
  bool of_state = false;
  for (std::size_t i = 1; i < o.inputs.size(); ++i) {
    if (o.rank(i) == 2) {
      flop += examples * (2 * o.in(i) + (of_state ? PerElement * o.extent(i, 1) : 0));
      of_state = !of_state;
    }
  }
  return flop;
}

/// y = a x + b with a and b per channel, which are known before; 8 per element when statistics are taken.
inline double batch_normalization(const call& o) {
  const bool training = o.number("training_mode", 0) != 0 || o.has_output(1);
  return (training ? 8 : 2) * o.in(0);
}

/// The same for PyTorch, whose attribute `training` says whether statistics are taken.
inline double batch_norm_of_mode(const call& o) {
  return (o.number("training", 0) != 0 ? 8 : 2) * o.in(0);
}
/// The same for TensorFlow, whose attribute `is_training` is true unless a file says otherwise.
inline double fused_batch_norm(const call& o) {
  return (o.number("is_training", 1) != 0 ? 8 : 2) * o.in(0);
}

/// Squares, their sum over a window of channels, scale, bias, power and division. ONNX says how large the window is,
/// TensorFlow how far it reaches to each side (5 if the file does not say).
inline double local_response(const call& o) {
  const auto window = o.numbers.contains("size") ? o.number("size", 1) : 2 * o.number("depth_radius", 5) + 1;
  return (static_cast<double>(window) + 4) * o.in(0);
}
inline double local_response_grad(const call& o) {
  return 2 * local_response(o);
}

/// The number of elements of a window: `kernel_shape` in ONNX, `ksize` in TensorFlow, `kernel_size` in PyTorch.
inline double window(const call& o) {
  for (const auto* name : {"kernel_shape", "ksize", "kernel_size"}) {
    if (const auto k = o.numbers.find(name); k != o.numbers.end()) {
      return call::elements(k->second);
    }
  }
  return 1;
}
/// One operation per element of each window.
inline double pool(const call& o) {
  return window(o) * o.out();
}

/// Of n elements the k largest: about log2 n comparisons each. Source: a heap of the elements seen.
inline double selection(const call& o) {
  return o.in(0) * std::max(1.0, std::log2(std::max(o.extent(0, o.number("axis", -1)), 1.0)));
}

/// Of each output element, the neighbours it is interpolated from (2 or 4 per extent that changes), a multiply-add
/// each.
inline double resize(const call& o) {
  const auto mode = o.text("mode", "nearest");
  if (mode == "nearest" || !o.has_input(0) || !o.has_output()) {
    return 0;
  }
  double neighbours = 1;
  for (std::size_t i = 0; i < std::min(o.inputs[0]->size(), o.outputs[0]->size()); ++i) {
    const bool changes = (*o.inputs[0])[i] != (*o.outputs[0])[i];
    neighbours *= !changes ? 1 : mode == "cubic" ? 4 : 2;
  }
  return 2 * neighbours * o.out();
}

/// GridSample: of each output element, the neighbours of its place (2 or 4 per extent of the image), a multiply-add
/// each. Modes have other names before operator set 20.
inline double grid_sample(const call& o) {
  const auto mode = o.text("mode", "linear");
  const double each = mode == "nearest" ? 0 : mode == "cubic" || mode == "bicubic" ? 4 : 2;
  return each == 0 ? 0 : 2 * std::pow(each, std::max(static_cast<double>(o.rank(0)) - 2, 0.0)) * o.out();
}

/// Four neighbours per sample, averaged; `sampling_ratio` of 0 means adaptive, counted as 2 × 2 samples.
inline double region_align(const call& o) {
  const auto ratio = static_cast<double>(std::max<std::int64_t>(o.number("sampling_ratio", 0), 0));
  const double samples = ratio > 0 ? ratio * ratio : 4;
  return 8 * samples * o.out();
}

/// An operation per update if it is combined with what is there.
inline double scatter(const call& o) {
  return o.text("reduction", "none") == "none" ? 0 : o.in(2);
}

/// com.microsoft.MatMulNBits and its like: A (… × K) times a quantised matrix of N columns, each of whose numbers is
/// scaled first.
inline double quantised_columns(const call& o) {
  const auto named = [&](std::string_view name) { return std::max(static_cast<double>(o.number(name, 0)), 0.0); };
  const double inner = o.rank(0) > 0 ? o.extent(0, -1) : named("K");
  return 2 * o.out() * inner + 2 * named("K") * named("N");
}
/// The quantised matrix has a row per column of the result, and no attribute says how large it is.
inline double quantised_rows(const call& o) {
  return 2 * o.extent(0, -1) * (o.out() + o.extent(1, 0));
}
/// com.microsoft.MatMulNBitsMlp: two such products, and an activation of one times the other.
inline double quantised_gate(const call& o) {
  return 2 * quantised_columns(o) + 3 * o.out();
}
/// com.microsoft.MatMulNBitsQkv: a normalisation (5 per element), and three such products of it.
inline double quantised_projections(const call& o) {
  const double inner = o.extent(0, -1);
  const auto columns = [&](std::string_view name) { return std::max(static_cast<double>(o.number(name, 0)), 0.0); };
  return 5 * o.in(0) + 2 * inner * (o.out(0) + o.out(1) + o.out(2) + columns("Nq") + 2 * columns("Nkv"));
}
/// A product, and then 9 per element as in FastGelu.
inline double product_with_gelu(const call& o) {
  return matmul(o) + 9 * o.out();
}
/// Elimination in each matrix of a stack: 2/3 n³ for a determinant, 2 n³ for an inverse.
inline double determinant(const call& o) {
  return 2.0 / 3 * o.in(0) * o.extent(0, -1);
}
inline double inverse(const call& o) {
  return 2 * o.in(0) * o.extent(0, -1);
}
/// From each row of one matrix to each row of another: a difference, a square and a sum per coordinate, and a root.
inline double distances(const call& o) {
  return o.out() * (3 * o.extent(0, -1) + 1);
}
/// Each coordinate is a row of a small matrix (input 0) times a place.
inline double affine_grid(const call& o) {
  return 2 * o.out() * o.extent(0, -1);
}

// Convolutions of TensorFlow: filters are kernel, channels of a group, output channels; a gradient's inputs are an
// image or filters, which have more than two extents, and vectors with sizes.

/// The first input that is no vector or matrix, or the second, and so on; `inputs.size()` if there is none.
inline std::size_t image(const call& o, std::size_t which) {
  std::size_t i = 0;
  while (i < o.inputs.size() && (o.rank(i) <= 2 || which-- != 0)) {
    ++i;
  }
  return i;
}
/// 2 FLOP for each weight of the filters at each position of an image of `elements` with their last extent as channels.
inline double at_each_position(double elements, const call::extents& filters) {
  const auto channels = filters.empty() ? 1 : filters.back();
  return channels > 0 ? 2 * elements / static_cast<double>(channels) * call::elements(filters) : 0;
}
inline double kernel_elements(const call::extents& filters) {
  return filters.size() < 2 ? 1 : call::elements({filters.begin(), filters.end() - 2});
}
inline double conv(const call& o) {
  return o.rank(1) > 2 ? at_each_position(o.out(), *o.inputs[1]) : 0;
}
inline double conv_input_grad(const call& o) { // filters, gradient
  const auto gradient = image(o, 1);
  return o.has_input(gradient) ? at_each_position(o.in(gradient), *o.inputs[image(o, 0)]) : 0;
}
inline double conv_filter_grad(const call& o) { // image, gradient
  const auto gradient = image(o, 1);
  return o.has_input(gradient) && o.has_output() ? at_each_position(o.in(gradient), *o.outputs[0]) : 0;
}
inline double depthwise(const call& o) {
  return o.rank(1) > 2 ? 2 * o.out() * kernel_elements(*o.inputs[1]) : 0;
}
inline double depthwise_input_grad(const call& o) {
  const auto gradient = image(o, 1);
  return o.has_input(gradient) ? 2 * o.in(gradient) * kernel_elements(*o.inputs[image(o, 0)]) : 0;
}
inline double depthwise_filter_grad(const call& o) {
  const auto gradient = image(o, 1);
  return o.has_input(gradient) && o.has_output() ? 2 * o.in(gradient) * kernel_elements(*o.outputs[0]) : 0;
}
inline double max_pool_grad(const call& o) { // input, output, gradient
  return o.in(2) * window(o);
}
inline double avg_pool_grad(const call& o) { // the input's shape, gradient
  return o.in(image(o, 0)) * window(o);
}

/// Of a reduction over all that the result lacks; nothing if that is nothing.
inline double reduction(const call& o) {
  return o.has_input(0) && o.has_output() && o.inputs[0] == o.outputs[0] ? 0 : o.in(0);
}

/// Of n elements the k largest of each row, where k is what each row keeps: k comparisons per element. The count
/// of nn::top_k, for small k, so that a network costs what its graph does. In ONNX and PyTorch k is often in the
/// thousands, or all of n is sorted: there `selection` counts.
inline double top_k(const call& o) {
  return !o.has_output() || o.outputs[0]->empty() ? 0 : o.in(0) * call::elements({o.outputs[0]->back()});
}

/// One step of an LSTM: x (batch × inputs), the state, and as fourth input all weights; 14 operations per element of
/// the state beside the product.
inline double lstm_cell(const call& o) {
  return o.rank(0) == 2 ? 2 * o.extent(0, 0) * o.in(3) + 14 * o.in(1) : 0;
}

// Linear algebra, of each matrix of a batch, by the methods and counts of Golub, Van Loan, *Matrix Computations*.

/// `Thirds` thirds of n³, n being the innermost extent of the first input.
template <int Thirds>
double cubic(const call& o) {
  return Thirds / 3.0 * o.in(0) * o.extent(0, -1);
}
/// Elimination and substitution: 2/3 n³, and 2 n² for each right-hand side.
inline double solve(const call& o) {
  return cubic<2>(o) + 2 * o.out() * o.extent(0, -1);
}
/// n² for each right-hand side.
inline double substitution(const call& o) {
  return o.out() * o.extent(0, -1);
}
/// 2 m n² - 2/3 n³ for the triangle of m × n, and as much again for the orthogonal factor; n is the smaller extent.
inline double qr(const call& o) {
  const double m = std::max(o.extent(0, -1), o.extent(0, -2));
  const double n = std::min(o.extent(0, -1), o.extent(0, -2));
  return n == 0 || m == 0 ? 0 : 4 * o.in(0) / (m * n) * (m * n * n - n * n * n / 3);
}
/// The normal equations' count: a QR of A, and 4 m n for each right-hand side.
inline double least_squares(const call& o) {
  return qr(o) / 2 + 4 * o.in(0) * o.extent(1, -1);
}
/// 14 m n² + 8 n³ with both kinds of vectors, 4 m n² - 4/3 n³ for the values alone.
inline double svd(const call& o) {
  const double m = std::max(o.extent(0, -1), o.extent(0, -2));
  const double n = std::min(o.extent(0, -1), o.extent(0, -2));
  const bool vectors = o.number("compute_uv", 1) != 0;
  const double each = vectors ? 14 * m * n * n + 8 * n * n * n : 4 * m * n * n - 4 * n * n * n / 3;
  return n == 0 || m == 0 ? 0 : o.in(0) / (m * n) * each;
}
/// 9 n³ with vectors, 4/3 n³ for the values alone.
inline double symmetric_eigen(const call& o) {
  return o.number("compute_v", 1) != 0 ? cubic<27>(o) : cubic<4>(o);
}

/// 5 n log2 n per transform over the last `Axes` extents; a real signal takes half of it. That is what RFFT reads and
/// what IRFFT gives: the side with more elements, as the other one has half the spectrum.
template <int Axes, bool Real = false>
double fourier_over(const call& o) {
  const bool back = Real && o.out() > o.in(0);
  const auto& signal = back ? o.outputs : o.inputs;
  if (signal.empty() || !signal[0]) {
    return 0;
  }
  const auto& dims = *signal[0];
  const call::extents last(dims.end() - std::min<std::ptrdiff_t>(Axes, std::ssize(dims)), dims.end());
  return (Real ? 2.5 : 5) * (back ? o.out() : o.in(0)) * std::log2(std::max(1.0, call::elements(last)));
}

/// A comparison and an addition per element of each window; the filter (input 1) is as large as one.
inline double dilation(const call& o) {
  return 2 * o.out() * o.extent(1, 0) * o.extent(1, 1);
}
/// One operation per number that is summed: rows as indices (input 1) pick them.
inline double sparse_rows(const call& o) {
  return o.in(1) * o.in(0) / std::max(o.extent(0, 0), 1.0);
}
/// All steps of an LSTM: x (input 1: steps × batch × inputs) and the state times the weights (input 4), and 14
/// operations per element of the state.
inline double block_lstm(const call& o) {
  return o.rank(1) < 3 ? 0 : o.extent(1, 0) * (2 * o.extent(1, 1) * o.in(4) + 14 * o.in(2));
}
/// One step of a GRU: input and state times the weights of gates and candidate (inputs 2 and 3), 13 per element.
inline double gru_cell(const call& o) {
  return 2 * o.extent(0, 0) * (o.in(2) + o.in(3)) + 13 * o.in(1);
}

/// FLOP per element of the largest operand: the gradient, or its rows. An updated tensor is no operand.
template <int Flop>
double update(const call& o) {
  double largest = 0;
  for (std::size_t i = 0; i < o.inputs.size(); ++i) {
    largest = std::max(largest, o.in(i));
  }
  return Flop * largest;
}

} // namespace weft::ops::flop_rules
