// SPDX-License-Identifier: BSL-1.0
/// Calls of TensorFlow's ops as the rules for shapes and elements take them: with arguments as ONNX has them.
#pragma once

#include "weft/interop/tensorflow/ops.hpp"
#include "weft/interop/tensorflow/tensor_info.hpp"
#include "weft/ops/shape_call.hpp"
#include "weft/ops/value_rules.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::tensorflow::detail {

/// Adds what a node says to a call: numbers, flags, texts, and lists of integers.
inline void add_attributes(const node& n, ops::call& call) {
  for (const auto& f : wire::fields{n.body}) {
    if (f.number != 5) {
      continue;
    }
    const std::string key{text_field(f.bytes, 1)};
    const auto value = text_field(f.bytes, 2);
    for (const auto& v : wire::fields{value}) {
      if (v.number == 2) {
        call.texts[key] = std::string{v.bytes};
      } else if (v.number == 3 || v.number == 5) {
        call.numbers[key] = {v.integer()};
      } else if (v.number == 1) {
        call.numbers[key] = integers_of(v.bytes);
      }
    }
  }
}

inline std::optional<ops::call::extents> extents_of(const tensor_info& t) {
  return t.known ? std::optional<ops::call::extents>{std::in_place, t.dims.begin(), t.dims.end()} : std::nullopt;
}

/// A node as rules see it, with its attributes if they need these.
inline ops::call call_of(const node& n, std::span<const tensor_info* const> inputs, bool with_attributes) {
  ops::call call{.type = n.op};
  for (const auto* x : inputs) {
    constexpr std::size_t most = 256; // of a shape, axes, or pads
    const auto* const whole = x->values && x->values->dims.size() <= 2 ? x->values->whole() : nullptr;
    call.inputs.push_back(extents_of(*x));
    call.values.push_back(whole != nullptr && whole->size() <= most ? std::optional{*whole} : std::nullopt);
  }
  if (with_attributes) {
    add_attributes(n, call);
  }
  return call;
}

/// A call whose arguments are being put in the order that rules take.
struct translated_call {
  ops::call op = {};
  std::vector<const tensor_info*> inputs = {};

  /// Whole numbers in an input; nothing if they are not known.
  std::optional<ops::known::extents> list(std::size_t i) const {
    const auto* const whole = i < inputs.size() && inputs[i]->values ? inputs[i]->values->whole() : nullptr;
    return whole != nullptr ? std::optional{*whole} : std::nullopt;
  }
  /// Takes inputs away, from one on.
  void drop(std::size_t i, std::size_t count = 1) {
    const auto cut = [i, count](auto& all) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(std::min(i, all.size()));
      all.erase(first, first + std::min(static_cast<std::ptrdiff_t>(count), all.end() - first));
    };
    cut(op.inputs);
    cut(op.values);
    cut(inputs);
  }
};

/// Ways to put arguments where rules have them; false if there is no call like that.
namespace translations {

using call = translated_call;

/// Input `i`, from the last if negative, is an attribute; `otherwise` where the node has neither.
template <int I>
bool as_attribute(call& c, const char* name, ops::known::extents otherwise) {
  const auto i = static_cast<std::size_t>(I < 0 ? static_cast<int>(c.inputs.size()) + I : I);
  if (i < c.inputs.size()) {
    const auto list = c.list(i);
    if (!list) {
      return false;
    }
    c.op.numbers[name] = *list;
    c.drop(i);
  }
  c.op.numbers.try_emplace(name, std::move(otherwise));
  return true;
}
template <int I>
bool axis(call& c) {
  return as_attribute<I>(c, "axis", {0});
}
inline bool concat(call& c) { // axis, tensors, or the other way round; those of a quantised one have ranges behind
  if (c.op.type == "ConcatV2") {
    return axis<-1>(c);
  }
  const bool ranges = gives_ranges(c.op.type);
  const bool ok = axis<0>(c);
  c.drop(ranges ? c.inputs.size() / 3 : c.inputs.size(), c.inputs.size());
  return ok;
}
inline bool permutation(call& c) {
  (void)as_attribute<1>(c, "perm", {});
  return true;
}
inline bool reduction(call& c) { // axes as an input; no axes: along none
  c.op.numbers["keepdims"] = {c.op.number("keep_dims", 0) | c.op.number("keepdims", 0)};
  c.op.numbers["noop_with_empty_axes"] = {1};
  return true;
}
inline bool reshape(call& c) { // 0 is an extent like any other
  c.op.numbers["allowzero"] = {1};
  return true;
}
inline bool squeeze(call& c) {
  for (const auto* name : {"squeeze_dims", "axis"}) {
    if (const auto found = c.op.numbers.find(name); found != c.op.numbers.end() && !found->second.empty()) {
      c.op.numbers["axes"] = found->second;
    }
  }
  return true;
}
inline bool split(call& c) { // axis, x; or x, the sizes of parts, axis
  if (c.op.type == "SplitV") {
    return axis<2>(c);
  }
  const auto parts = c.op.number("num_split", 1);
  if (!axis<0>(c) || c.op.inputs.empty() || !c.op.inputs[0] || parts < 1 || parts > 0xffff) {
    return false;
  }
  const auto& dims = *c.op.inputs[0];
  const auto at = ops::known::axis_of(c.op.number("axis", 0), dims.size());
  c.op.numbers["split"].assign(static_cast<std::size_t>(parts), at ? dims[*at] / parts : 0);
  return at.has_value();
}
/// Elements before and after each axis, as pairs: here all before, and then all after.
inline bool pad(call& c) {
  const auto pairs = c.list(1);
  if (!pairs || pairs->size() % 2 != 0) {
    return false;
  }
  auto& pads = c.op.numbers["pads"];
  for (const std::size_t first : {0u, 1u}) {
    for (auto i = first; i < pairs->size(); i += 2) {
      pads.push_back((*pairs)[i]);
    }
  }
  c.drop(1, c.inputs.size());
  return true;
}
/// One block size for height and width where the op does not take them as an input.
inline bool blocks(call& c) {
  if (!c.op.type.ends_with("ND") && !c.inputs.empty()) {
    c.op.numbers["block_shape"].assign(2, c.op.number("block_size", 1));
    c.inputs.insert(c.inputs.begin() + 1, c.inputs[0]); // so that edges are input 2
    c.op.inputs.insert(c.op.inputs.begin() + 1, std::nullopt);
    c.op.values.insert(c.op.values.begin() + 1, c.op.numbers["block_shape"]);
  }
  return true;
}
inline bool product(call& c) { // x of A x = b: rows as A has columns where only the smallest error is asked for
  c.op.numbers["transA"] = {c.op.type.ends_with("SolveLs")};
  for (const auto* name : {"transpose_a", "adj_x"}) {
    c.op.numbers["transA"] = {c.op.number("transA", 0) | c.op.number(name, 0)};
  }
  for (const auto* name : {"transpose_b", "adj_y"}) {
    c.op.numbers["transB"] = {c.op.number("transB", 0) | c.op.number(name, 0)};
  }
  return true;
}
inline bool spectrum(call& c) {
  c.op.numbers["inverse"] = {c.op.type.starts_with("I")};
  return true;
}
inline bool layout(call& c) {
  c.op.numbers["channels_last"] = {!c.op.text("data_format", "").starts_with("NC")};
  return true;
}
/// Attributes of windows have entries for batch and channels, too.
inline bool windows(call& c) {
  if (c.op.inputs.empty() || !c.op.inputs[0] || c.op.inputs[0]->size() < 3) {
    return false;
  }
  const auto rank = c.op.inputs[0]->size();
  (void)layout(c);
  const std::ptrdiff_t first = c.op.number("channels_last", 0) != 0 ? 1 : 2;
  constexpr std::pair<const char*, const char*> names[] = {{"ksize", "kernel_shape"},
                                                           {"ksizes", "kernel_shape"},
                                                           {"strides", "strides"},
                                                           {"dilations", "dilations"},
                                                           {"rates", "dilations"}};
  for (const auto& [from, to] : names) {
    if (const auto found = c.op.numbers.find(from); found != c.op.numbers.end() && found->second.size() == rank) {
      const auto space = found->second.begin() + first;
      c.op.numbers[to] = ops::known::extents(space, space + static_cast<std::ptrdiff_t>(rank) - 2);
    }
  }
  const auto padding = c.op.text("padding", "");
  c.op.texts["auto_pad"] = padding == "SAME" ? "SAME_UPPER" : padding == "VALID" ? "VALID" : "NOTSET";
  if (const auto pads = c.op.numbers.find("explicit_paddings"); pads != c.op.numbers.end()) {
    for (const std::size_t side : {0u, 1u}) {
      for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(first) + rank - 2; ++i) {
        c.op.numbers["pads"].push_back(2 * i + side < pads->second.size() ? pads->second[2 * i + side] : 0);
      }
    }
  }
  return true;
}
/// Filters are kernel × channels × output channels; each channel has its own if it is depthwise.
inline bool convolution(call& c) {
  if (!windows(c) || c.op.inputs.size() < 2 || !c.op.inputs[1] || c.op.inputs[1]->size() < 3) {
    return false;
  }
  const auto& x = *c.op.inputs[0];
  const auto& w = *c.op.inputs[1];
  const auto channels = c.op.number("channels_last", 0) != 0 ? x.back() : x[1];
  const bool depthwise = c.op.type.find("Depthwise") != std::string_view::npos;
  ops::known::extents filter{depthwise ? ops::times(channels, w.back()) : w.back(), depthwise ? 1 : w[w.size() - 2]};
  filter.insert(filter.end(), w.begin(), w.end() - 2);
  c.op.inputs[1] = std::move(filter);
  return true;
}
inline bool dilation(call& c) { // the filter is as large as a window
  if (!windows(c) || c.op.inputs.size() < 2 || !c.op.inputs[1] || c.op.inputs[1]->empty()) {
    return false;
  }
  c.op.numbers["kernel_shape"] = {c.op.inputs[1]->begin(), c.op.inputs[1]->end() - 1};
  return true;
}

} // namespace translations

/// The name that the rules for elements have for an op, where that is not its own.
struct element_rule_name {
  std::string_view type, as;
};
inline constexpr element_rule_name element_rule_names[] = {
  {"AddV2", "Add"},
  {"BroadcastTo", "Expand"},
  {"ConcatV2", "Concat"},
  {"Cumsum", "CumSum"},
  {"ExpandDims", "Unsqueeze"},
  {"Fill", "ConstantOfShape"},
  {"FloorMod", "Mod"},
  {"GatherV2", "Gather"},
  {"GreaterEqual", "GreaterOrEqual"},
  {"LessEqual", "LessOrEqual"},
  {"LogicalAnd", "And"},
  {"LogicalNot", "Not"},
  {"LogicalOr", "Or"},
  {"Max", "ReduceMax"},
  {"Maximum", "Max"},
  {"Min", "ReduceMin"},
  {"Minimum", "Min"},
  {"Prod", "ReduceProd"},
  {"RealDiv", "Div"},
  {"Rint", "Round"},
  {"Select", "Where"},
  {"SelectV2", "Where"},
  {"Slice", "SizedSlice"},
  {"SplitV", "Split"},
  {"Sum", "ReduceSum"},
  {"TruncateDiv", "Div"},
  {"TruncateMod", "Mod"},
  {"Where", ""},
};
static_assert(std::is_sorted(std::begin(element_rule_names), std::end(element_rule_names),
                             [](const auto& a, const auto& b) { return a.type < b.type; }));

/// That name; empty if there is no such rule.
inline std::string_view element_rule_of(std::string_view op) {
  const auto* const row = std::lower_bound(std::begin(element_rule_names), std::end(element_rule_names), op,
                                           [](const element_rule_name& r, std::string_view t) { return r.type < t; });
  const auto name = row != std::end(element_rule_names) && row->type == op ? row->as : op;
  return ops::value_rule_of(name) == ops::value_rule::unknown ? std::string_view{} : name;
}

/// The elements of a call's first outputs, as far as they follow from its inputs. `made` is the type of the first.
inline std::vector<std::optional<ops::known_tensor>> known_outputs_of(translated_call& c, data_type made) {
  const auto name = element_rule_of(c.op.type);
  const auto format = format_of(made);
  const bool of_elements = ops::value_rule_of(name) == ops::value_rule::of_elements;
  if (name.empty() || !format || c.inputs.empty()) {
    return {};
  }
  std::vector<const ops::known_tensor*> elements;
  for (const auto* x : c.inputs) {
    elements.push_back(x->values.get());
    if (of_elements && elements.back() == nullptr) {
      return {};
    }
  }
  if (c.op.type == "Select" && elements.size() > 1 && elements[0]->dims.size() != elements[1]->dims.size()) {
    return {}; // a vector of conditions chooses rows, where ONNX would stretch it
  }
  const auto type = std::exchange(c.op.type, name);
  if (type == "Mod" || type == "TruncateMod") {
    c.op.numbers["fmod"] = {1};
  }
  auto all = ops::known_outputs({.op = c.op, .inputs = elements, .made = format->is});
  return all;
}

} // namespace weft::tensorflow::detail
