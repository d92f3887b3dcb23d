// SPDX-License-Identifier: BSL-1.0
/// Calls of TensorFlow's ops as rules for elements take them: under ONNX's names, with its arguments.
#pragma once

#include "weft/interop/tensorflow/ops.hpp"
#include "weft/interop/tensorflow/tensor_info.hpp"
#include "weft/workload/value_rules.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::tensorflow::detail {

/// Adds what a node says to a call: numbers, flags, texts, and lists of integers.
inline void add_attributes(const node& n, op_call& call) {
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
        call.numbers[key] = integers_attribute(n, key);
      }
    }
  }
}

/// A call whose arguments are being put in another order.
struct translated_call {
  op_call op = {};
  std::vector<const known_tensor*> inputs = {}; ///< null: not known
  std::unique_ptr<const known_tensor> made = {}; ///< an input that the node does not have

  bool has(std::size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  /// Whole numbers in an input; nothing if they are not known.
  std::optional<known::extents> list(std::size_t i) const {
    return has(i) && inputs[i]->whole() != nullptr ? std::optional{*inputs[i]->whole()} : std::nullopt;
  }
  /// Takes an input away.
  void drop(std::size_t i) {
    op.inputs.erase(op.inputs.begin() + static_cast<std::ptrdiff_t>(i));
    inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(i));
  }
};

/// Ways to put arguments where ONNX has them; false if there is no call like that.
namespace translations {

using call = translated_call;

/// Input `i`, from the last if negative, is an attribute; `otherwise` where the node has no such input.
template <int I>
bool as_attribute(call& c, const char* name, known::extents otherwise) {
  const auto i = static_cast<std::size_t>(I < 0 ? static_cast<int>(c.inputs.size()) + I : I);
  if (i < c.inputs.size()) {
    const auto list = c.list(i);
    if (!list) {
      return false;
    }
    otherwise = *list;
    c.drop(i);
  }
  c.op.numbers[name] = std::move(otherwise);
  return true;
}
template <int I>
bool axis(call& c) {
  return as_attribute<I>(c, "axis", {0});
}
inline bool gather(call& c) { return c.op.number("batch_dims", 0) == 0 && axis<2>(c); }
inline bool permutation(call& c) { return as_attribute<1>(c, "perm", {}); }
inline bool sizes(call& c) { return axis<2>(c); } // SplitV: x, sizes, axis
inline bool split(call& c) { // axis, x
  const auto parts = c.op.number("num_split", 1);
  if (!axis<0>(c) || !c.has(0) || parts < 1 || parts > known_tensor::max_elements) {
    return false;
  }
  const auto& dims = c.inputs[0]->dims;
  const auto at = known::axis_of(c.op.number("axis", 0), dims.size());
  c.op.numbers["split"].assign(static_cast<std::size_t>(parts), at ? dims[*at] / parts : 0);
  return at.has_value();
}
inline bool reduction(call& c) { // axes as an input; no axes: along none
  c.op.numbers["keepdims"] = {c.op.number("keep_dims", 0) | c.op.number("keepdims", 0)};
  c.op.numbers["noop_with_empty_axes"] = {1};
  return true;
}
inline bool truncated(call& c) {
  c.op.numbers["fmod"] = {1};
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
inline bool slice(call& c) { // x, begin, size
  const auto begin = c.list(1), size = c.list(2);
  if (!c.has(0) || !begin || !size || begin->size() != size->size() || size->size() != c.inputs[0]->dims.size()) {
    return false;
  }
  auto ends = c.inputs[0]->dims;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const auto first = std::clamp<std::int64_t>((*begin)[i], 0, ends[i]);
    ends[i] = (*size)[i] < 0 ? ends[i] : first + std::min((*size)[i], ends[i]);
  }
  c.made = std::make_unique<const known_tensor>(known_tensor::of(std::move(ends)));
  c.inputs[2] = c.made.get();
  return true;
}
/// Before version 2, a vector of conditions chooses rows, where ONNX would stretch it.
inline bool choice(call& c) { return c.has(0) && c.has(1) && c.inputs[0]->dims.size() == c.inputs[1]->dims.size(); }

} // namespace translations

/// An op that makes elements as one of ONNX's does.
struct translation {
  std::string_view type;
  std::string_view as = {};          ///< empty: called alike
  bool (*arrange)(translated_call&) = nullptr; ///< null: has the same arguments
};

inline constexpr translation translations_by_type[] = {
  {"Abs"},
  {"Add"},
  {"AddV2", "Add"},
  {"BroadcastGradientArgs"},
  {"BroadcastTo", "Expand"},
  {"Cast"},
  {"Ceil"},
  {"Concat", "Concat", translations::axis<0>},
  {"ConcatV2", "Concat", translations::axis<-1>},
  {"Cumsum", "CumSum"},
  {"Div"},
  {"Equal"},
  {"ExpandDims", "Unsqueeze"},
  {"Fill", "ConstantOfShape"},
  {"Floor"},
  {"FloorDiv"},
  {"FloorMod", "Mod"},
  {"Gather", "Gather", translations::gather},
  {"GatherV2", "Gather", translations::gather},
  {"Greater"},
  {"GreaterEqual", "GreaterOrEqual"},
  {"Less"},
  {"LessEqual", "LessOrEqual"},
  {"LogicalAnd", "And"},
  {"LogicalNot", "Not"},
  {"LogicalOr", "Or"},
  {"Max", "ReduceMax", translations::reduction},
  {"Maximum", "Max"},
  {"Min", "ReduceMin", translations::reduction},
  {"Minimum", "Min"},
  {"Mod", "Mod", translations::truncated},
  {"Mul"},
  {"Neg"},
  {"Pack"},
  {"Pow"},
  {"Prod", "ReduceProd", translations::reduction},
  {"Range"},
  {"Rank"},
  {"RealDiv", "Div"},
  {"Reshape", "Reshape", translations::reshape},
  {"Rint", "Round"},
  {"Round"},
  {"Select", "Where", translations::choice},
  {"SelectV2", "Where"},
  {"Shape"},
  {"ShapeN"},
  {"Sign"},
  {"Size"},
  {"Slice", "Slice", translations::slice},
  {"Split", "Split", translations::split},
  {"SplitV", "Split", translations::sizes},
  {"Sqrt"},
  {"Squeeze", "Squeeze", translations::squeeze},
  {"StridedSlice"},
  {"Sub"},
  {"Sum", "ReduceSum", translations::reduction},
  {"Tile"},
  {"Transpose", "Transpose", translations::permutation},
  {"TruncateDiv", "Div"},
  {"TruncateMod", "Mod", translations::truncated},
  {"Unpack"},
};

static_assert(std::is_sorted(std::begin(translations_by_type), std::end(translations_by_type),
                             [](const translation& a, const translation& b) { return a.type < b.type; }));

/// The elements of a node's first outputs, as far as they follow from its inputs. `made` is the type of the first.
inline std::vector<std::optional<known_tensor>> known_outputs_of(const node& n,
                                                                 std::span<const tensor_info* const> inputs,
                                                                 data_type made) {
  const auto* const row = std::lower_bound(std::begin(translations_by_type), std::end(translations_by_type), n.op,
                                           [](const translation& t, std::string_view op) { return t.type < op; });
  const auto format = format_of(made);
  if (row == std::end(translations_by_type) || row->type != n.op || !format || inputs.empty()) {
    return {};
  }
  translated_call c{.op = {.type = row->as.empty() ? row->type : row->as}};
  const auto rule = value_rule_of(c.op.type);
  for (const auto* x : inputs) {
    if (rule == value_rule::of_elements && x->values == nullptr) {
      return {};
    }
    c.inputs.push_back(x->values.get());
    c.op.inputs.push_back(x->known ? std::optional<op_call::extents>{std::in_place, x->dims.begin(), x->dims.end()}
                                   : std::nullopt);
  }
  add_attributes(n, c.op);
  if (row->arrange != nullptr && !row->arrange(c)) {
    return {};
  }
  return known_outputs({.op = c.op, .inputs = c.inputs, .made = format->is});
}

} // namespace weft::tensorflow::detail
