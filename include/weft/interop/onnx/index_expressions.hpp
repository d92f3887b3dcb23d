// SPDX-License-Identifier: BSL-1.0
/// Index expressions of ONNX's ops whose attributes decide along which axes they may be split.
#pragma once

#include "weft/ops/call.hpp"
#include "weft/ops/index_expression.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

/// Rules by which the attributes of ops decide their axes.
namespace weft::onnx::detail::index_expressions {

using namespace ops::index_expression;

inline bool has_other_ranks(const ops::call& c) {
  return std::any_of(c.inputs.begin(), c.inputs.end(), [&](const auto& x) { return x && x->size() != c.rank(0); });
}

/// Indices of a maximum count through the whole tensor.
inline std::string pool(const ops::call& c) { return c.outputs.size() == 1 ? channels_first(c) : whole(); }

/// With statistics that are given; those of a batch need all of it.
inline std::string batch_normalisation(const ops::call& c) {
  const bool given = c.version >= 7 && c.number("training_mode", 0) == 0 && c.number("spatial", 1) != 0;
  return given && c.outputs.size() == 1 ? channels_first(c) : whole();
}
inline std::string convolution_of_groups(const ops::call& c) { return convolution(c, c.number("group", 1)); }

/// Rows of all that lies before the axis; what is normalised stays whole, and so does what it is scaled by.
inline std::string normalisation(const ops::call& c) {
  const auto axis = dimension(c, c.number("axis", -1));
  const auto has_rows = [&](const auto& x) { return x && x->size() > c.rank(0) - *axis; };
  return axis && std::none_of(c.inputs.begin() + 1, c.inputs.end(), has_rows) ? rows(c, *axis, c.rank(0)) : whole();
}
/// Rows of all other axes; until operator set 12 the axis stands for all from there on.
inline std::string softmax(const ops::call& c) {
  const bool one = c.version >= 13;
  const auto axis = dimension(c, c.number("axis", one ? -1 : 1));
  return axis ? rows(c, *axis, one ? *axis + 1 : c.rank(0)) : whole();
}
inline std::string elementwise(const ops::call& c) {
  return c.version < 8 && has_other_ranks(c) ? whole() : broadcast(c);
}
/// By the catalogue, if it does not turn an axis round.
inline std::string slice(const ops::call& c) {
  if (!c.has_input(4)) {
    return {};
  }
  const bool forward = c.values.size() > 4 && c.values[4] &&
                       std::all_of(c.values[4]->begin(), c.values[4]->end(), [](std::int64_t s) { return s > 0; });
  return forward ? std::string{} : whole();
}
inline std::string transpose(const ops::call& c) {
  auto order = ops::call::extents(c.rank(0));
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<std::int64_t>(order.size() - 1 - i);
  }
  const auto given = c.numbers.find("perm");
  return order.size() > max_rank ? whole() : transposed(c, given != c.numbers.end() ? given->second : order);
}
inline std::string product_of_two(const ops::call& c) { return product(c); }
inline std::string gemm(const ops::call& c) {
  if (c.rank(0) != 2 || c.rank(1) != 2 || c.outputs[0]->size() != 2) {
    return whole();
  }
  std::string text = c.number("transA", 0) != 0 ? "zx," : "xz,";
  text += c.number("transB", 0) != 0 ? "yz" : "zy";
  if (c.has_input(2)) {
    text += ",+" + aligned(*c.inputs[2], *c.outputs[0], "xy");
  }
  return text + "->xy";
}
inline std::string gather(const ops::call& c) {
  const auto axis = dimension(c, c.number("axis", 0));
  return axis ? look_up(c, *axis) : whole();
}

/// Tensors side by side along the axis, and such parts of one: all other dimensions, of all that have as many.
inline std::string along_others(const ops::call& c) {
  const auto axis = dimension(c, c.number("axis", 0));
  if (!axis) {
    return whole();
  }
  auto each = letters(c.rank(0));
  each[*axis] = '.';
  const auto list = [&](const auto& operands) {
    std::string text;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const auto rank = operands[k] ? operands[k]->size() : 0;
      text += (k > 0 ? "," : "") + (rank == each.size() ? each : std::string(rank, '.'));
    }
    return text;
  };
  return list(c.inputs) + "->" + list(c.outputs);
}
/// A reduction of the first input; parts of sums and means are terms.
template <class Goes>
std::string over(std::size_t rank, const ops::call& c, const Goes& goes) {
  const bool is_sum = c.type == "ReduceSum" || c.type == "ReduceMean" || c.type == "ReduceSumSquare";
  const auto [read, made] = reduced(rank, goes, c.outputs[0]->size() == rank, is_sum);
  return read + "->" + made;
}
/// The largest along the axis, the innermost if it is not given.
inline std::string selection(const ops::call& c) {
  const auto axis = dimension(c, c.number("axis", -1));
  return axis ? rows(c, *axis, *axis + 1) : whole();
}
/// Sums along an axis that the second input says.
inline std::string running_sum(const ops::call& c) {
  const auto axis = c.value(1) ? dimension(c, *c.value(1)) : std::nullopt;
  return axis ? rows(c, *axis, *axis + 1) : whole();
}
/// Over axes that an attribute or the second input lists; over all if neither does, unless that means none.
inline std::string reduction(const ops::call& c) {
  const auto rank = c.rank(0);
  const auto given = c.numbers.find("axes");
  const auto* list = given != c.numbers.end() ? &given->second : nullptr;
  if (rank > max_rank || (c.has_input(1) && (c.values.size() < 2 || !c.values[1]))) {
    return whole();
  }
  list = c.has_input(1) ? &*c.values[1] : list;
  if (list == nullptr || list->empty()) {
    return c.number("noop_with_empty_axes", 0) != 0 ? broadcast(c) : over(rank, c, [](std::size_t) { return true; });
  }
  return over(rank, c, [&](std::size_t d) {
    return std::any_of(list->begin(), list->end(), [&](std::int64_t axis) { return dimension(c, axis) == d; });
  });
}
/// The place of the largest.
inline std::string place(const ops::call& c) {
  const auto axis = dimension(c, c.number("axis", 0));
  return axis ? over(c.rank(0), c, [&](std::size_t d) { return d == *axis; }) : whole();
}
/// The expression of a call with this type, its domain in front unless that is ONNX's own; `version` is that of the
/// operator set. Empty: what the catalogue of ops says counts.
inline std::string of(const ops::call& c) {
  using rule = std::string (*)(const ops::call&);
  static constexpr std::pair<std::string_view, rule> rules[] = {
    {"ArgMax", place},
    {"ArgMin", place},
    {"AveragePool", pool},
    {"BatchNormalization", batch_normalisation},
    {"Concat", along_others},
    {"Conv", convolution_of_groups},
    {"ConvTranspose", outermost},
    {"CumSum", running_sum},
    {"DepthToSpace", outermost},
    {"Einsum", einsum},
    {"Expand", first_like_output},
    {"Gather", gather},
    {"Gemm", gemm},
    {"GlobalAveragePool", pool},
    {"GlobalMaxPool", pool},
    {"GroupNormalization", outermost},
    {"InstanceNormalization", pool},
    {"LRN", outermost},
    {"LayerNormalization", normalisation},
    {"LogSoftmax", softmax},
    {"MatMul", product_of_two},
    {"Max", elementwise},
    {"MaxPool", pool},
    {"Mean", elementwise},
    {"Min", elementwise},
    {"RMSNormalization", normalisation},
    {"ReduceL1", reduction},
    {"ReduceL2", reduction},
    {"ReduceMax", reduction},
    {"ReduceMean", reduction},
    {"ReduceMin", reduction},
    {"ReduceProd", reduction},
    {"ReduceSum", reduction},
    {"ReduceSumSquare", reduction},
    {"Resize", outermost},
    {"SimplifiedLayerNormalization", normalisation},
    {"Slice", slice},
    {"Softmax", softmax},
    {"SpaceToDepth", outermost},
    {"Split", along_others},
    {"Sum", elementwise},
    {"TopK", selection},
    {"Transpose", transpose},
    {"Trilu", matrices},
    {"Upsample", outermost},
  };
  static constexpr std::string_view contributed[] = {"com.microsoft.BiasAdd", "com.microsoft.FastGelu",
                                                     "com.microsoft.Gelu", "com.microsoft.QuickGelu"};
  if (c.type.find('.') != c.type.npos) { // the catalogue may know another op by the name without its domain
    return std::find(std::begin(contributed), std::end(contributed), c.type) != std::end(contributed) ? "" : whole();
  }
  const auto* const at =
    std::find_if(std::begin(rules), std::end(rules), [&](const auto& r) { return r.first == c.type; });
  if (at == std::end(rules)) {
    return c.version < 7 && has_other_ranks(c) ? whole() : std::string{}; // broadcast by an attribute
  }
  auto text = c.has_input(0) && c.has_output(0) ? at->second(c) : whole();
  return text.empty() || fits(text, c) ? text : whole();
}

} // namespace weft::onnx::detail::index_expressions
