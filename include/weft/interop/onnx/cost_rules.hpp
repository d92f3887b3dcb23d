// SPDX-License-Identifier: BSL-1.0
/// An op as cost rules see it, and the rules of which op_costs.hpp makes its table.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::onnx {

/// One op as cost rules see it. It knows no message classes, so that one can ask for costs without a model.
struct op_call {
  using extents = std::vector<std::int64_t>;
  std::string_view type;
  std::vector<std::optional<extents>> inputs = {};  ///< shapes; nothing where an input is absent or unknown
  std::vector<std::optional<extents>> outputs = {}; ///< likewise
  std::map<std::string, std::vector<std::int64_t>, std::less<>> numbers =
    {};                                                       ///< attributes, single ones as lists of one
  std::map<std::string, std::string, std::less<>> texts = {}; ///< attributes

  static double elements(const extents& dims) {
    double count = 1;
    for (const auto d : dims) {
      count *= static_cast<double>(std::max<std::int64_t>(d, 0));
    }
    return count;
  }
  bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i]; }
  /// How many elements an input has; 0 if there is none.
  double in(std::size_t i) const { return has_input(i) ? elements(*inputs[i]) : 0; }
  double out(std::size_t i = 0) const { return i < outputs.size() && outputs[i] ? elements(*outputs[i]) : 0; }
  /// An extent of an input, negative axes from the innermost; 1 if it is not known.
  double extent(std::size_t i, std::int64_t axis) const {
    if (!has_input(i)) {
      return 1;
    }
    const auto rank = static_cast<std::int64_t>(inputs[i]->size());
    axis += axis < 0 ? rank : 0;
    return axis < 0 || axis >= rank
             ? 1
             : static_cast<double>(std::max<std::int64_t>((*inputs[i])[static_cast<std::size_t>(axis)], 0));
  }
  std::size_t rank(std::size_t i) const { return has_input(i) ? inputs[i]->size() : 0; }
  std::int64_t number(std::string_view name, std::int64_t otherwise) const {
    const auto found = numbers.find(name);
    return found == numbers.end() || found->second.empty() ? otherwise : found->second.front();
  }
  std::string_view text(std::string_view name, std::string_view otherwise) const {
    const auto found = texts.find(name);
    return found == texts.end() ? otherwise : std::string_view{found->second};
  }
};

namespace costs {

/// FLOP per output element.
template <int Flop>
double per_output(const op_call& o) {
  return Flop * o.out();
}
/// FLOP per element of the first input.
template <int Flop>
double per_input(const op_call& o) {
  return Flop * o.in(0);
}
inline double nothing(const op_call&) {
  return 0;
}

/// k tensors take k - 1 operations per output element (Sum, Max, Mean, …).
inline double per_operand(const op_call& o) {
  return std::max(static_cast<double>(o.inputs.size()) - 1, 0.0) * o.out();
}

/// Each output element is the product of a filter with its window: channels of a group times the kernel's extents; a
/// bias adds one. The filter's extents are output channels, channels of a group, kernel.
template <std::size_t Filter, std::size_t Bias>
double convolution(const op_call& o) {
  const double filters = std::max(o.extent(Filter, 0), 1.0);
  return o.out() * (2 * o.in(Filter) / filters + (o.has_input(Bias) ? 1 : 0));
}

/// Each input element is multiplied with the filter of its channel. The filter's extents are input channels, output
/// channels of a group, kernel.
inline double transposed_convolution(const op_call& o) {
  return 2 * o.in(0) * o.in(1) / std::max(o.extent(1, 0), 1.0) + (o.has_input(2) ? o.out() : 0);
}

/// Output elements times the inner extent: 2 m n k, and m n for what is added (input `Added`).
template <std::size_t Added>
double product(const op_call& o, bool transposed) {
  const double inner = o.extent(0, transposed && o.rank(0) > 1 ? -2 : -1);
  return 2 * o.out() * inner + (o.has_input(Added) ? o.out() : 0);
}
inline double gemm(const op_call& o) {
  return product<2>(o, o.number("transA", 0) != 0);
}
inline double quantised_gemm(const op_call& o) { // QGemm: A, its scale and zero, B, its scale and zero, C
  return product<6>(o, o.number("transA", 0) != 0);
}
inline double matmul(const op_call& o) {
  return product<99>(o, o.number("transA", 0) != 0);
}

/// Letters that the equation of an Einsum names, once each; an ellipsis stands for the extents that are left. Of two or
/// more operands: a multiplication and an addition per combination of all indices and further operand.
inline double einsum(const op_call& o) {
  const auto equation = o.text("equation", "");
  std::map<char, double> extents;
  double broadcast = 1;
  std::size_t operand = 0;
  std::int64_t named = 0;
  std::string term;
  const auto finish = [&] {
    const auto rank = static_cast<std::int64_t>(o.rank(operand));
    std::int64_t axis = 0;
    double unnamed = 1;
    for (const char c : term) {
      if (c != '.') {
        double& e = extents[c];
        e = std::max(e, o.extent(operand, axis++));
      } else {
        for (std::int64_t i = 0; i < rank - named; ++i) {
          unnamed *= o.extent(operand, axis++);
        }
      }
    }
    broadcast = std::max(broadcast, unnamed);
    term.clear();
    named = 0;
    ++operand;
  };
  for (std::size_t i = 0; i < equation.size() && equation[i] != '-'; ++i) {
    const char c = equation[i];
    if (c == ',') {
      finish();
    } else if (c == '.' && term.find('.') == std::string::npos) {
      term += c;
    } else if (c != '.' && c != ' ') {
      term += c;
      ++named;
    }
  }
  finish();
  double combinations = broadcast;
  for (const auto& [letter, extent] : extents) {
    combinations *= extent;
  }
  return operand < 2 ? o.in(0) : 2 * static_cast<double>(operand - 1) * combinations;
}

/// `Gates` products of input (X) and state (H) with matrices of H rows, per step, example and direction, and the
/// arithmetic on gates: X is steps × batch × inputs, the recurrence matrix directions × gates·H × H. An LSTM's step
/// takes 14 operations per element of the state (nn/lstm.hpp), a GRU's 13, a plain one's 4, biases and activations
/// included; peepholes add 2 each.
template <int Gates, int PerElement>
double recurrent(const op_call& o) {
  const double hidden = o.extent(2, 2);
  const double states = o.extent(0, 0) * o.extent(0, 1) * o.extent(2, 0) * hidden;
  const double peepholes = o.has_input(7) ? 6 : 0;
  return states * (2 * Gates * (o.extent(0, 2) + hidden) + PerElement + peepholes);
}

/// y = a x + b with a and b per channel, which are known before; 8 per element when statistics are taken.
inline double batch_normalization(const op_call& o) {
  const bool training = o.number("training_mode", 0) != 0 || (o.outputs.size() > 1 && o.outputs[1]);
  return (training ? 8 : 2) * o.in(0);
}

/// Squares, their sum over a window of channels, scale, bias, power and division.
inline double local_response(const op_call& o) {
  return (static_cast<double>(o.number("size", 1)) + 4) * o.in(0);
}

/// One operation per element of each window.
inline double pool(const op_call& o) {
  double window = 1;
  if (const auto k = o.numbers.find("kernel_shape"); k != o.numbers.end()) {
    window = op_call::elements(k->second);
  }
  return window * o.out();
}

/// Of n elements the k largest: about log2 n comparisons each. Source: a heap of the elements seen.
inline double selection(const op_call& o) {
  return o.in(0) * std::max(1.0, std::log2(std::max(o.extent(0, o.number("axis", -1)), 1.0)));
}

/// Of each output element, the neighbours it is interpolated from (2 or 4 per extent that changes), a multiply-add
/// each.
inline double resize(const op_call& o) {
  const auto mode = o.text("mode", "nearest");
  if (mode == "nearest" || !o.has_input(0) || o.outputs.empty() || !o.outputs[0]) {
    return 0;
  }
  double neighbours = 1;
  for (std::size_t i = 0; i < std::min(o.inputs[0]->size(), o.outputs[0]->size()); ++i) {
    const bool changes = (*o.inputs[0])[i] != (*o.outputs[0])[i];
    neighbours *= !changes ? 1 : mode == "cubic" ? 4 : 2;
  }
  return 2 * neighbours * o.out();
}

/// Four neighbours per sample, averaged; `sampling_ratio` of 0 means adaptive, counted as 2 × 2 samples.
inline double region_align(const op_call& o) {
  const auto ratio = static_cast<double>(std::max<std::int64_t>(o.number("sampling_ratio", 0), 0));
  const double samples = ratio > 0 ? ratio * ratio : 4;
  return 8 * samples * o.out();
}

/// An operation per update if it is combined with what is there.
inline double scatter(const op_call& o) {
  return o.text("reduction", "none") == "none" ? 0 : o.in(2);
}

/// 5 n log2 n per transform. Source: Frigo, Johnson, *The Design and Implementation of FFTW3*, 2005, footnote on FLOPS.
inline double fourier(const op_call& o) {
  const double n = std::max(o.extent(0, o.number("axis", 1)), 1.0);
  return 5 * o.in(0) / std::max(o.extent(0, -1), 1.0) * std::log2(n);
}

/// Scores and their use, 4 · queries · keys · width, and a softmax of 5 per score and head.
inline double attend(double batch, double queries, double keys, double score_width, double value_width, double heads) {
  return batch * queries * keys * (2 * score_width + 2 * value_width + 5 * heads);
}

/// com.microsoft.Attention: input (batch × length × width), weights (width × three times hidden), which make Q, K and
/// V.
inline double self_attention(const op_call& o) {
  const double batch = o.extent(0, 0);
  const double length = o.extent(0, 1);
  const double three_hidden = o.extent(1, 1);
  const auto heads = static_cast<double>(o.number("num_heads", 1));
  return batch * length * three_hidden * (2 * o.extent(0, 2) + (o.has_input(2) ? 1 : 0)) +
         attend(batch, length, length, three_hidden / 3, three_hidden / 3, heads);
}

/// Q, K and V as they are: com.microsoft.MultiHeadAttention (batch × length × hidden) and Attention of opset 23 (that,
/// or batch × heads × length × width of a head).
inline double attention(const op_call& o) {
  if (o.rank(0) == 4) {
    const double heads = o.extent(0, 1);
    return attend(o.extent(0, 0), o.extent(0, 2), o.extent(1, 2), heads * o.extent(0, 3), heads * o.extent(2, 3),
                  heads);
  }
  const auto heads = static_cast<double>(o.number("num_heads", o.number("q_num_heads", 1)));
  const double keys = o.has_input(1) ? o.extent(1, 1) : o.extent(0, 1);
  const double hidden = o.extent(0, 2);
  return attend(o.extent(0, 0), o.extent(0, 1), keys, hidden, o.has_input(2) ? o.extent(2, 2) : hidden, heads);
}

/// com.microsoft.MatMulNBits: A (… × K) times a quantised matrix of N columns, each of whose numbers is scaled first.
inline double quantised_columns(const op_call& o) {
  const auto k = static_cast<double>(o.number("K", static_cast<std::int64_t>(o.extent(0, -1))));
  return 2 * o.out() * k + 2 * k * static_cast<double>(o.number("N", 0));
}

} // namespace costs

} // namespace weft::onnx
