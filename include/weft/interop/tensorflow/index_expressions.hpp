// SPDX-License-Identifier: BSL-1.0
/// Index expressions of TensorFlow's ops whose attributes or constant inputs decide along which axes they may be split.
#pragma once

#include "weft/ops/call.hpp"
#include "weft/ops/index_expression.hpp"
#include "weft/ops/rows_by_type.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Rules by which attributes, and inputs whose numbers are known, decide the axes of ops.
/// Source: tensorflow/core/ops.
namespace weft::tensorflow::detail::index_expressions {

using namespace ops::index_expression;

inline bool channels_last(const ops::call& c) { return !c.text("data_format", {}).starts_with("NC"); }
/// `n..c`, or `nc..`.
inline std::string image(std::size_t rank, char channels, bool last) {
  const std::string window(rank < 2 ? 0 : rank - 2, '.');
  return last ? "n" + window + channels : std::string{"n"} + channels + window;
}
/// Filters are a window, channels and results.
inline std::string filter(std::size_t rank) { return std::string(rank < 2 ? 0 : rank - 2, '.') + "cf"; }

inline std::string batch_alone(const ops::call& c) { return c.rank(0) == 0 ? whole() : rows(c, 1, c.rank(0)); }

inline std::string matmul(const ops::call& c) {
  auto text = product(c);
  const auto comma = text.find(','), arrow = text.find("->");
  if (comma == text.npos || arrow == text.npos) {
    return text;
  }
  if (c.number("transpose_b", 0) + c.number("adj_y", 0) != 0) { // the innermost two of the second
    std::swap(text[arrow - 2], text[arrow - 1]);
  }
  if (c.number("transpose_a", 0) + c.number("adj_x", 0) != 0) {
    std::swap(text[comma - 2], text[comma - 1]);
  }
  return text;
}
/// True if filters have as many channels as images: else they are of groups.
inline bool is_one_group(const ops::call& c, const std::optional<ops::call::extents>& images,
                         const std::optional<ops::call::extents>& filters) {
  return images && filters && images->size() > 2 && filters->size() > 2 &&
         (channels_last(c) ? images->back() : (*images)[1]) == (*filters)[filters->size() - 2];
}
inline std::string convolution_of_images(const ops::call& c) {
  const bool last = channels_last(c);
  if (c.inputs.size() < 2 || !is_one_group(c, c.inputs[0], c.inputs[1])) {
    return batch_alone(c);
  }
  return image(c.rank(0), 'c', last) + "," + filter(c.rank(1)) + "->" + image(c.rank(0), 'f', last);
}
/// The shape of the image, filters, the gradient.
inline std::string gradient_of_image(const ops::call& c) {
  const bool last = channels_last(c);
  if (c.inputs.size() < 3 || !is_one_group(c, c.outputs[0], c.inputs[1])) {
    return whole();
  }
  return std::string(c.rank(0), '.') + "," + filter(c.rank(1)) + "," + image(c.rank(2), 'f', last) + "->" +
         image(c.rank(2), 'c', last);
}
/// The image, the shape of filters, the gradient.
inline std::string gradient_of_filter(const ops::call& c) {
  const bool last = channels_last(c);
  if (c.inputs.size() < 3 || !is_one_group(c, c.inputs[0], c.outputs[0])) {
    return whole();
  }
  return image(c.rank(0), 'c', last) + "," + std::string(c.rank(1), '.') + "," + image(c.rank(2), 'f', last) + "->" +
         filter(c.rank(2));
}
/// Images and gradients of as many dimensions; the result is like the first.
inline std::string images(const ops::call& c) {
  const auto of = image(c.rank(0), 'c', channels_last(c));
  std::string text = of;
  for (std::size_t k = 1; k < c.inputs.size(); ++k) {
    text += "," + (c.rank(k) == c.rank(0) ? of : std::string(c.rank(k), '.'));
  }
  return text + "->" + of;
}
inline std::string bias(const ops::call& c) {
  if (channels_last(c)) { // element by element
    return {};
  }
  const auto of = image(c.rank(0), 'c', channels_last(c));
  return of + ",c->" + of;
}
inline std::string gradient_of_bias(const ops::call& c) { return image(c.rank(0), 'c', channels_last(c)) + "->c"; }
/// With statistics of the batch, its channels; with those that are known, each number by itself.
inline std::string batch_normalisation(const ops::call& c) {
  const bool last = channels_last(c);
  const auto rank = c.rank(0);
  if (rank < 2 || rank > max_rank) {
    return whole();
  }
  const bool is_known = c.number("is_training", 1) == 0 && c.outputs.size() == 1; // further ones are of channels alone
  auto of = is_known ? letters(rank) : std::string(rank, '.');
  auto& channels = last ? of.back() : of[1];
  channels = 'C';
  const auto operand = [&](const std::optional<ops::call::extents>& dims) {
    const auto size = dims ? dims->size() : 0;
    const bool each = size == 1 && (*dims)[0] == (*c.inputs[0])[last ? rank - 1 : 1];
    return size == rank ? of : each ? std::string{"C"} : std::string(size, '.');
  };
  std::string text;
  for (const auto& dims : c.inputs) {
    text += (text.empty() ? "" : ",") + operand(dims);
  }
  text += "->" + of;
  for (std::size_t k = 1; k < c.outputs.size(); ++k) {
    text += "," + operand(c.outputs[k]);
  }
  return text;
}
/// True if it is plain which dimensions of the one those of the other are: all of them, or no extent is there twice.
inline bool is_plain(const ops::call::extents& all, const ops::call::extents& some) {
  const auto is_once = [&](std::int64_t d) { return std::count(all.begin(), all.end(), d) == 1; };
  return all == some || std::all_of(some.begin(), some.end(), is_once);
}
/// Over the dimensions that the second input lists; empty if the result has another shape than that gives.
inline std::string reduction(const ops::call& c) {
  const auto rank = c.rank(0);
  const bool is_sum = c.type == "Sum" || c.type == "Mean";
  if (rank > max_rank || c.values.size() < 2 || !c.values[1]) { // gradients of what was repeated work them out
    return c.type == "Sum" && is_plain(*c.inputs[0], *c.outputs[0]) ? std::string{} : whole();
  }
  const auto goes = [&](std::size_t d) {
    return std::any_of(c.values[1]->begin(), c.values[1]->end(),
                       [&](std::int64_t axis) { return dimension(c, axis) == d; });
  };
  const bool keeps = c.outputs[0]->size() == rank;
  ops::call::extents dims;
  for (std::size_t d = 0; d < rank; ++d) {
    if (!goes(d) || keeps) {
      dims.push_back(goes(d) ? 1 : (*c.inputs[0])[d]);
    }
  }
  const auto [read, made] = reduced(rank, goes, keeps, is_sum);
  return dims != *c.outputs[0] ? std::string{} : read + "," + std::string(c.rank(1), '.') + "->" + made;
}
inline std::string gather(const ops::call& c) {
  const bool known = c.inputs.size() < 3 || c.value(2);
  const auto axis = known ? dimension(c, c.value(2).value_or(0)) : std::nullopt;
  return axis && c.number("batch_dims", 0) == 0 ? look_up(c, *axis) : whole();
}
inline std::string transpose(const ops::call& c) {
  return c.values.size() > 1 && c.values[1] && c.values[1]->size() == c.rank(0) ? transposed(c, *c.values[1]) : whole();
}

/// The rule of a type.
struct rule {
  std::string_view types; ///< separated by blanks
  std::string (*of)(const ops::call&);
};
inline constexpr rule rules[] = {
  {"BatchMatMul BatchMatMulV2 BatchMatMulV3 MatMul", matmul},
  {"Einsum", einsum},
  {"Conv2D Conv3D", convolution_of_images},
  {"Conv2DBackpropInput Conv3DBackpropInputV2", gradient_of_image},
  {"Conv2DBackpropFilter Conv3DBackpropFilterV2", gradient_of_filter},
  {"AvgPool AvgPool3D MaxPool MaxPool3D MaxPoolGrad", images},
  {"DepthwiseConv2dNative", batch_alone},
  {"BiasAdd", bias},
  {"BiasAddGrad", gradient_of_bias},
  {"FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3",
   batch_normalisation},
  {"All Any Max Mean Min Prod Sum", reduction},
  {"Gather GatherV2 ResourceGather", gather},
  {"Transpose", transpose},
  {"ReadVariableOp", broadcast},
};

/// The rule for ops of a type, or null: what the catalogue of ops says counts.
inline const rule* rule_of(std::string_view type) {
  static const auto by_type = ops::rows_by_type<rule>({rules});
  return ops::find_row(by_type, type);
}

/// The expression of a call by its rule; empty: what the catalogue of ops says counts.
inline std::string of(const rule& r, const ops::call& c) {
  if (!c.has_input(0) || !c.has_output()) {
    return whole();
  }
  const auto text = r.of(c);
  return text.empty() || fits(text, c) ? text : whole();
}

} // namespace weft::tensorflow::detail::index_expressions
