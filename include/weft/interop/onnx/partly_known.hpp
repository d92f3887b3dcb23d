// SPDX-License-Identifier: BSL-1.0
/// Small tensors of which only some elements are known, such as the extents of an image whose height data decide.
#pragma once

#include "weft/interop/onnx/op_calls.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace weft::onnx::detail {

/// True if a node is one of ONNX's own ops.
inline bool is_own(const ::onnx::NodeProto& n) { return n.domain().empty() || n.domain() == "ai.onnx"; }

/// The known elements of an input, and which of them are not known; nothing for tensors that are not small.
inline std::optional<ops::partly_known_tensor> part_of(const value& v) {
  const auto one = ops::known_tensor::number(std::int64_t{1}), zero = ops::known_tensor::number(std::int64_t{0});
  if (const auto* x = v.elements()) {
    auto none = ops::known::filled(x->dims, zero);
    return none ? std::optional{ops::partly_known_tensor{*x, std::move(*none)}} : std::nullopt;
  }
  if (v.part) {
    return v.part;
  }
  const auto dims = extents_of(v.type);
  const auto format = format_of(v.type.tensor_type().elem_type());
  if (!dims || !format) {
    return std::nullopt;
  }
  const auto any = format->is_real() ? ops::known_tensor::number(0.0, format->is)
                                     : ops::known_tensor{.elements = ops::known_tensor::integers{0}, .is = format->is};
  auto elements = ops::known::filled(*dims, any), open = ops::known::filled(*dims, one);
  return elements && open ? std::optional{ops::partly_known_tensor{std::move(*elements), std::move(*open)}}
                          : std::nullopt;
}

/// Outputs of an op that puts elements of its inputs into other places, where only some of these are known.
inline void learn_parts(const ::onnx::NodeProto& n, std::span<const value* const> inputs, std::span<value> outputs,
                        std::int64_t version) {
  const auto moved = std::min(ops::num_moved(n.op_type()), inputs.size());
  const auto has_part = [](const value* v) { return v != nullptr && (v->part || v->elements() != nullptr); };
  const auto format = format_of(outputs.empty() ? 0 : outputs[0].type.tensor_type().elem_type());
  if (!format || std::none_of(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(moved), has_part)) {
    return;
  }
  std::vector<ops::partly_known_tensor> parts(inputs.size());
  std::vector<const ops::known_tensor*> elements, open;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool is_absent = n.input(static_cast<int>(i)).empty();
    auto part = inputs[i] != nullptr ? part_of(*inputs[i]) : std::nullopt;
    if (!is_absent && (!part || (i >= moved && inputs[i]->elements() == nullptr))) {
      return;
    }
    parts[i] = std::move(part).value_or(ops::partly_known_tensor{});
    elements.push_back(is_absent ? nullptr : &parts[i].elements);
    open.push_back(is_absent ? nullptr : i < moved ? &parts[i].open : &parts[i].elements);
  }
  const auto call = call_of(n, inputs, {}, n.op_type(), version);
  auto made = ops::known_outputs({.op = call, .inputs = elements, .made = format->is, .num_outputs = outputs.size()});
  auto of_made = ops::known_outputs({.op = call, .inputs = open, .num_outputs = outputs.size()});
  for (std::size_t i = 0; i < std::min({made.size(), of_made.size(), outputs.size()}); ++i) {
    const auto* const holes = of_made[i] ? of_made[i]->whole() : nullptr;
    if (!made[i] || holes == nullptr || !format->holds(*made[i]) || std::count(holes->begin(), holes->end(), 0) == 0) {
      continue;
    }
    if (std::count(holes->begin(), holes->end(), 1) == 0) {
      outputs[i].known = std::move(made[i]);
    } else {
      outputs[i].part = {std::move(*made[i]), std::move(*of_made[i])};
    }
  }
}

/// Gives outputs of one of ONNX's own ops the elements that follow from those of its inputs, or from their shapes.
inline void learn_elements(const ::onnx::NodeProto& n, std::span<const value* const> inputs, std::span<value> outputs,
                           std::int64_t version) {
  auto known = known_outputs_of(n, inputs, outputs, version);
  for (std::size_t i = 0; i < std::min(known.size(), outputs.size()); ++i) {
    outputs[i].known = std::move(known[i]);
  }
  if (known.empty()) {
    learn_parts(n, inputs, outputs, version);
  }
  for (auto& v : outputs) {
    if (const auto* x = v.known ? &*v.known : v.part ? &v.part->elements : nullptr) {
      v.type = type_of(v.type.tensor_type().elem_type(), x->dims);
    }
  }
}

/// The extents that a Reshape makes of a tensor for a target of which one element is open (-1): 0 is the extent that
/// there is, and what the open one has to be follows from the others. Nothing if more are open: taken one by one, they
/// would not have as many elements as the tensor.
inline std::optional<numbers> reshaped_extents(numbers to, const std::optional<numbers>& from, bool keeps_zeros) {
  std::int64_t rest = from ? 1 : 0, open = 0;
  for (const auto d : from.value_or(numbers{})) {
    rest = d != 0 && rest > ops::known::detail::limit / d ? 0 : rest * d;
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 0 && !keeps_zeros) {
      to[i] = from && i < from->size() ? (*from)[i] : -1;
    }
    open += to[i] < 0 ? 1 : 0;
    rest = to[i] < 0 ? rest : to[i] == 0 || rest % to[i] != 0 ? 0 : rest / to[i];
  }
  if (open == 1 && rest > 0) {
    *std::find_if(to.begin(), to.end(), [](std::int64_t d) { return d < 0; }) = rest;
  }
  return open > 1 ? std::nullopt : std::optional{std::move(to)};
}

/// The extents of a tensor stretched to a target of which some elements are open (-1): what is not 1 stays.
inline std::optional<numbers> expanded_extents(numbers to, numbers from) {
  const auto rank = std::max(to.size(), from.size());
  to.insert(to.begin(), rank - to.size(), 1);
  from.insert(from.begin(), rank - from.size(), 1);
  for (std::size_t i = 0; i < rank; ++i) {
    if (to[i] >= 0 && to[i] != 1 && from[i] != 1 && to[i] != from[i]) {
      return std::nullopt;
    }
    to[i] = from[i] != 1 ? from[i] : to[i];
  }
  return to;
}

/// The extents of a Slice of which data decide where it begins or ends: open (-1) along the axes that it cuts.
inline std::optional<numbers> sliced_extents(std::span<const value* const> inputs) {
  auto dims = inputs[0] != nullptr ? extents_of(inputs[0]->type) : std::nullopt;
  const auto starts = inputs.size() > 1 && inputs[1] != nullptr ? extents_of(inputs[1]->type) : std::nullopt;
  if (!dims || !starts || starts->size() != 1) {
    return std::nullopt;
  }
  numbers axes(static_cast<std::size_t>(std::min<std::int64_t>(starts->front(), ops::max_axes)));
  std::iota(axes.begin(), axes.end(), 0);
  if (inputs.size() > 3 && inputs[3] != nullptr) {
    axes = inputs[3]->integers().value_or(numbers{});
  }
  for (const auto axis : axes) {
    const auto at = ops::known::axis_of(axis, dims->size());
    if (!at) {
      return std::nullopt;
    }
    (*dims)[*at] = -1;
  }
  return axes.empty() ? std::nullopt : dims;
}

/// The extents, -1 where they are open, that an op takes from elements of an input of which only some are known.
inline std::optional<numbers> partly_known_extents(const ::onnx::NodeProto& n, std::span<const value* const> inputs) {
  const auto& type = n.op_type();
  const bool is_resize = type == "Resize" && attribute(n, "axes") == nullptr;
  const std::size_t at = type == "ConstantOfShape" ? 0 : type == "Reshape" || type == "Expand" ? 1 : 3;
  if (!(at < 3 || is_resize) || at >= inputs.size() || inputs[at] == nullptr || !inputs[at]->part ||
      inputs[0] == nullptr) {
    return std::nullopt;
  }
  const auto& [elements, open] = *inputs[at]->part;
  if (elements.whole() == nullptr || elements.dims.size() != 1) {
    return std::nullopt;
  }
  auto sizes = *elements.whole();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = (*open.whole())[i] != 0 ? -1 : sizes[i];
  }
  const auto from = extents_of(inputs[0]->type);
  if (type == "Reshape") {
    return reshaped_extents(std::move(sizes), from, number_attribute(n, "allowzero", 0) != 0);
  }
  if (type == "Expand") {
    return from ? expanded_extents(std::move(sizes), *from) : std::nullopt;
  }
  return sizes;
}

/// Gives the first output of one of ONNX's own ops, where inference left extents open, those that are known anyway.
inline void take_known_extents(const ::onnx::NodeProto& n, std::span<const value* const> inputs,
                               ::onnx::TypeProto& made) {
  if (extents_of(made) || inputs.empty()) {
    return;
  }
  const auto dims = n.op_type() == "Slice" ? sliced_extents(inputs) : partly_known_extents(n, inputs);
  if (!dims || std::any_of(dims->begin(), dims->end(), [](std::int64_t d) { return d < -1; })) {
    return;
  }
  auto& tensor = *made.mutable_tensor_type();
  if (tensor.elem_type() == 0 && n.op_type() != "ConstantOfShape") {
    tensor.set_elem_type(inputs[0]->type.tensor_type().elem_type());
  }
  auto& shape = *tensor.mutable_shape();
  if (shape.dim_size() != static_cast<int>(dims->size())) {
    shape.clear_dim();
  }
  for (std::size_t i = 0; i < dims->size(); ++i) {
    auto& d = static_cast<int>(i) < shape.dim_size() ? *shape.mutable_dim(static_cast<int>(i)) : *shape.add_dim();
    (*dims)[i] >= 0 && !d.has_dim_value() ? d.set_dim_value((*dims)[i]) : void();
  }
}

} // namespace weft::onnx::detail
