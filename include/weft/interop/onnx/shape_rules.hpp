// SPDX-License-Identifier: BSL-1.0
/// The interface of shape rules: a node as a rule sees it, and the rows of the tables of rules.
#pragma once

#include "weft/interop/onnx/values.hpp"
#include "weft/workload/op_call.hpp"
#include "weft/workload/value_rules.hpp"

#include <initializer_list>
#include <span>
#include <utility>

namespace weft::onnx::detail {

/// A node as rules for costs and shapes see it. `outputs` may be empty.
inline op_call call_of(const ::onnx::NodeProto& n, std::span<const value* const> inputs,
                       const std::vector<::onnx::TypeProto>& outputs, std::string_view type, std::int64_t version) {
  op_call call{.type = type, .version = version};
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
inline std::vector<std::optional<known_tensor>> known_outputs_of(const ::onnx::NodeProto& n,
                                                                 std::span<const value* const> inputs,
                                                                 std::span<const value> outputs, std::int64_t version) {
  std::vector<std::optional<known_tensor>> made;
  const std::string& type = n.op_type();
  if (type == "Constant") { // the elements of its tensor are in the file
    if (const auto* a = attribute(n, "value_int")) {
      made.emplace_back(known_tensor::number(std::int64_t{a->i()}));
    } else if (const auto list = list_attribute(n, "value_ints")) {
      made.emplace_back(known_tensor::of(*list));
    } else if (const auto* real = attribute(n, "value_float")) {
      made.emplace_back(known_tensor::number(static_cast<double>(real->f())));
    }
    return made;
  }
  const auto format_of_output = [&](std::size_t i) {
    return i < outputs.size() ? format_of(outputs[i].type.tensor_type().elem_type()) : std::nullopt;
  };
  const auto rule = value_rule_of(type);
  if (rule == value_rule::unknown || !format_of_output(0)) {
    return made;
  }
  std::vector<const known_tensor*> elements;
  for (std::size_t i = 0; i < inputs.size() && rule == value_rule::of_elements; ++i) {
    const bool is_absent = n.input(static_cast<int>(i)).empty();
    elements.push_back(inputs[i] == nullptr ? nullptr : inputs[i]->elements());
    if (elements.back() == nullptr && !is_absent) {
      return made;
    }
  }
  std::optional<known_tensor> fill;
  if (type == "ConstantOfShape") {
    const auto* const a = attribute(n, "value");
    fill = a != nullptr && a->has_t() ? known_of(a->t()) : known_tensor::number(0.0);
    elements.push_back(fill ? &*fill : nullptr);
  }
  const auto call = call_of(n, inputs, {}, type, version);
  const auto first = format_of_output(0)->is;
  made = known_outputs({.op = call, .inputs = elements, .made = first, .num_outputs = outputs.size()});
  for (std::size_t i = 0; i < made.size(); ++i) {
    const auto format = format_of_output(i);
    if (made[i] && !(format && format->holds(*made[i]))) {
      made[i].reset();
    }
  }
  return made;
}

/// A node whose outputs a rule works out. Shapes that cannot be are not taken.
class shape_call {
public:
  shape_call(const ::onnx::NodeProto& n, std::span<const value* const> inputs, std::string_view type,
             std::int64_t version)
      : o{call_of(n, inputs, {}, type, version)}, inputs_{inputs},
        outputs_(static_cast<std::size_t>(n.output_size())) {}

  const op_call o;

  std::size_t num_inputs() const { return inputs_.size(); }
  std::size_t num_outputs() const { return outputs_.size(); }
  /// The extents of an input, or null if it is absent or they are not known.
  const numbers* dims(std::size_t i) const { return o.has_input(i) ? &*o.inputs[i] : nullptr; }
  /// The whole numbers in an input, or null.
  const numbers* integers(std::size_t i) const { return i < o.values.size() && o.values[i] ? &*o.values[i] : nullptr; }
  /// The type of the elements of an input, 0 if it is not known.
  std::int32_t element(std::size_t i) const {
    return i < inputs_.size() && inputs_[i] != nullptr ? inputs_[i]->type.tensor_type().elem_type() : 0;
  }
  bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
  /// The numbers in an input.
  std::optional<std::vector<double>> reals(std::size_t i) const {
    const auto* x = has(i) ? inputs_[i]->elements() : nullptr;
    return x != nullptr ? std::optional{x->as_reals()} : std::nullopt;
  }
  /// A list among the attributes, or null.
  const numbers* list(std::string_view name) const {
    const auto found = o.numbers.find(name);
    return found == o.numbers.end() ? nullptr : &found->second;
  }
  /// An attribute or, from some operator set on, an input that holds a list.
  const numbers* list(std::string_view name, std::size_t input) const {
    return has(input) ? integers(input) : list(name);
  }
  /// An axis of a tensor of that rank; nothing if there is no such axis.
  static std::optional<std::size_t> position(std::int64_t axis, std::size_t rank) {
    return known::axis_of(axis, rank);
  }

  /// Says what an output is. An element of 0 means that of the first input.
  void set(std::size_t output, const numbers& extents, std::int32_t element = 0) {
    constexpr std::int64_t largest = std::int64_t{1} << 60;
    if (output >= outputs_.size() || extents.size() > std::size_t{max_axes} ||
        std::any_of(extents.begin(), extents.end(), [](std::int64_t d) { return d < 0 || d > largest; })) {
      return;
    }
    auto& tensor = *outputs_[output].mutable_tensor_type();
    tensor.set_elem_type(element != 0 ? element : this->element(0));
    tensor.mutable_shape()->clear_dim();
    for (const auto d : extents) {
      tensor.mutable_shape()->add_dim()->set_dim_value(d);
    }
  }
  /// An output is like an input.
  void like(std::size_t output, std::size_t input, std::int32_t element = 0) {
    if (const auto* d = dims(input)) {
      set(output, *d, element != 0 ? element : this->element(input));
    }
  }
  std::vector<::onnx::TypeProto> take() && { return std::move(outputs_); }

private:
  std::span<const value* const> inputs_;
  std::vector<::onnx::TypeProto> outputs_;
};

/// A product that stays in range: more than any tensor has elements where it does not.
inline std::int64_t times(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t large = std::int64_t{1} << 61;
  return a <= 0 || b <= 0 ? 0 : a > large / b ? large : a * b;
}

/// A sum of extents that stays in range: more than any tensor has where it does not.
inline std::int64_t plus(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t large = std::int64_t{1} << 61;
  return std::min(std::clamp(a, std::int64_t{0}, large) + std::clamp(b, std::int64_t{0}, large), large);
}

/// The extents that tensors have together after broadcasting, as in NumPy.
inline std::optional<numbers> broadcast(std::initializer_list<const numbers*> operands) {
  numbers result;
  for (const auto* d : operands) {
    if (d == nullptr) {
      return std::nullopt;
    }
    result.insert(result.begin(), d->size() > result.size() ? d->size() - result.size() : 0, 1);
    for (std::size_t i = 1; i <= d->size(); ++i) {
      auto& extent = result[result.size() - i];
      const auto other = (*d)[d->size() - i];
      extent = extent == 1 ? other : extent; // one of them is 1 or both are the same, in a model that is right
    }
  }
  return result;
}

/// A row of a table of shape rules.
struct shape_row {
  /// Before any operator set: the rule counts, not the schema.
  static constexpr std::int64_t always = 0;
  /// After any operator set: the rule counts where the schema says nothing.
  static constexpr std::int64_t last = 1'000'000;

  std::string_view type; ///< with its domain, unless that is ONNX's own
  void (*infer)(shape_call&);
  std::int64_t since = always; ///< the operator set from which on the rule counts and not the schema at hand
};

} // namespace weft::onnx::detail
