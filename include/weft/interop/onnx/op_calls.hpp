// SPDX-License-Identifier: BSL-1.0
/// Nodes as the rules for FLOP, shapes and elements see them, and what these rules say of their outputs.
#pragma once

#include "weft/interop/onnx/values.hpp"
#include "weft/ops/call.hpp"
#include "weft/interop/onnx/shape_table.hpp"
#include "weft/ops/value_rules.hpp"

#include <numeric>
#include <span>
#include <utility>

namespace weft::onnx::detail {

/// A node as rules for costs and shapes see it. `outputs` may be empty.
inline ops::call call_of(const ::onnx::NodeProto& n, std::span<const value* const> inputs,
                       const std::vector<::onnx::TypeProto>& outputs, std::string_view type, std::int64_t version) {
  ops::call call{.type = type, .version = version};
  for (const value* v : inputs) {
    call.inputs.push_back(v == nullptr ? std::nullopt : extents_of(v->type));
    call.values.push_back(v == nullptr ? std::nullopt : v->integers());
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    call.outputs.push_back(n.output(static_cast<int>(i)).empty() ? std::nullopt : extents_of(outputs[i]));
  }
  for (const auto& a : n.attribute()) {
    if (a.has_i()) {
      call.numbers[a.name()] = {a.i()};
    } else if (a.ints_size() != 0) {
      call.numbers[a.name()].assign(a.ints().begin(), a.ints().end());
    } else if (a.has_s()) {
      call.texts[a.name()] = a.s();
    }
    if (const auto length = std::max({a.ints_size(), a.floats_size(), a.strings_size()}); length != 0) {
      call.lengths[a.name()] = static_cast<std::size_t>(length);
    }
  }
  return call;
}

/// Outputs of a node of ONNX's own whose elements follow from those of its inputs, or from their shapes. Of `outputs`
/// the types are known. What leaves the range of its type is not followed.
inline std::vector<std::optional<ops::known_tensor>> known_outputs_of(const ::onnx::NodeProto& n,
                                                                 std::span<const value* const> inputs,
                                                                 std::span<const value> outputs, std::int64_t version) {
  std::vector<std::optional<ops::known_tensor>> made;
  const std::string& type = n.op_type();
  if (type == "Constant") { // the elements of its tensor are in the file
    if (const auto* a = attribute(n, "value_int")) {
      made.emplace_back(ops::known_tensor::number(std::int64_t{a->i()}));
    } else if (const auto list = list_attribute(n, "value_ints")) {
      made.emplace_back(ops::known_tensor::of(*list));
    } else if (const auto* real = attribute(n, "value_float")) {
      made.emplace_back(ops::known_tensor::number(static_cast<double>(real->f())));
    } else if (const auto* reals = attribute(n, "value_floats")) {
      using known = ops::known_tensor;
      made.emplace_back(known{.dims = {reals->floats_size()},
                              .elements = known::reals{reals->floats().begin(), reals->floats().end()},
                              .is = known::format::single_precision});
    }
    return made;
  }
  const auto format_of_output = [&](std::size_t i) {
    return i < outputs.size() ? format_of(outputs[i].type.tensor_type().elem_type()) : std::nullopt;
  };
  const auto rule = ops::value_rule_of(type);
  if (rule == ops::value_rule::unknown || !format_of_output(0)) {
    return made;
  }
  std::vector<const ops::known_tensor*> elements;
  for (std::size_t i = 0; i < inputs.size() && rule == ops::value_rule::of_elements; ++i) {
    const bool is_absent = n.input(static_cast<int>(i)).empty();
    elements.push_back(inputs[i] == nullptr ? nullptr : inputs[i]->elements());
    if (elements.back() == nullptr && !is_absent) {
      return made;
    }
  }
  std::optional<ops::known_tensor> fill;
  if (type == "ConstantOfShape") {
    const auto* const a = attribute(n, "value");
    fill = a != nullptr && a->has_t() ? known_of(a->t()) : ops::known_tensor::number(0.0);
    elements.push_back(fill ? &*fill : nullptr);
  }
  const auto call = call_of(n, inputs, {}, type, version);
  const auto first = format_of_output(0)->is;
  made = ops::known_outputs({.op = call, .inputs = elements, .made = first, .num_outputs = outputs.size()});
  for (std::size_t i = 0; i < made.size(); ++i) {
    const auto format = format_of_output(i);
    if (made[i] && !(format && format->holds(*made[i]))) {
      made[i].reset();
    }
  }
  return made;
}

/// The types of a node's outputs, as far as a rule works them out. Shapes that cannot be are not taken.
inline std::vector<::onnx::TypeProto> infer_by_rule(const shape_rule& rule, const ::onnx::NodeProto& n,
                                                    std::span<const value* const> inputs, std::string_view type,
                                                    std::int64_t version) {
  const auto call = call_of(n, inputs, {}, type, version);
  std::vector<ops::shape_input> tensors;
  for (const value* v : inputs) {
    tensors.push_back({v != nullptr, v != nullptr ? v->type.tensor_type().elem_type() : ops::elements::unknown});
  }
  std::vector<std::uint32_t> outputs(static_cast<std::size_t>(n.output_size()));
  std::iota(outputs.begin(), outputs.end(), 0u);
  ops::shape_call c{call, tensors, [inputs](std::size_t i) { return inputs[i]->elements(); }, outputs};
  rule.infer(c);
  std::vector<::onnx::TypeProto> types;
  for (const auto& made : std::move(c).take()) {
    constexpr std::int64_t largest = std::int64_t{1} << 60;
    const auto is_open = [](std::int64_t d) { return d < 0 || d > largest; };
    auto& t = types.emplace_back();
    if (!made.dims || made.dims->size() > std::size_t{ops::max_axes} ||
        std::any_of(made.dims->begin(), made.dims->end(), is_open)) {
      continue;
    }
    t.mutable_tensor_type()->set_elem_type(made.element);
    t.mutable_tensor_type()->mutable_shape();
    for (const auto d : *made.dims) {
      t.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(d);
    }
  }
  return types;
}

} // namespace weft::onnx::detail
