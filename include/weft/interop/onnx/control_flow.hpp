// SPDX-License-Identifier: BSL-1.0
/// Bodies of loops and functions: iterations, outputs, and the attributes that a call binds.
#pragma once

#include "weft/interop/onnx/values.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::onnx::detail {

/// Ops that cost what their bodies cost.
inline constexpr std::string_view control_flow[] = {"If", "Loop", "Scan", "SequenceMap"};

inline bool is_control_flow(const ::onnx::NodeProto& n) {
  return type_of(n) == n.op_type() &&
         std::find(std::begin(control_flow), std::end(control_flow), n.op_type()) != std::end(control_flow);
}

/// Whether a node has graphs among its attributes.
inline bool has_body(const ::onnx::NodeProto& n) {
  return std::any_of(n.attribute().begin(), n.attribute().end(),
                     [](const auto& a) { return a.has_g() || a.graphs_size() != 0; });
}

/// A type of tensors with one more axis, of that extent if it is known.
inline ::onnx::TypeProto with_axis(::onnx::TypeProto type, std::int64_t axis, std::optional<std::int64_t> extent) {
  const auto rank = static_cast<std::size_t>(type.tensor_type().shape().dim_size());
  const auto at = ops::known::axis_of(axis, rank + 1);
  if (!type.has_tensor_type() || !type.tensor_type().has_shape() || !at) {
    return {};
  }
  auto& dims = *type.mutable_tensor_type()->mutable_shape()->mutable_dim();
  if (auto* added = dims.Add(); extent) {
    added->set_dim_value(*extent);
  }
  for (auto i = rank; i > *at; --i) {
    dims.SwapElements(static_cast<int>(i), static_cast<int>(i - 1));
  }
  return type;
}

/// A type of tensors without an axis, whose extent goes to `extent` if it is known.
inline ::onnx::TypeProto without_axis(::onnx::TypeProto type, std::int64_t axis, std::optional<std::int64_t>& extent) {
  const auto dims = extents_of(type);
  if (const auto at = dims ? ops::known::axis_of(axis, dims->size()) : std::nullopt) {
    extent = (*dims)[*at];
    type.mutable_tensor_type()->mutable_shape()->mutable_dim()->DeleteSubrange(static_cast<int>(*at), 1);
  }
  return type;
}

/// A number or truth value.
inline value scalar(std::int32_t type, std::optional<std::int64_t> x) {
  value v{.type = type_of(type, numbers{})};
  if (x) {
    v.known = ops::known_tensor{.elements = ops::known_tensor::integers{*x}, .is = format_of(type)->is};
  }
  return v;
}

/// True if a body has that name in a node, in bodies inside it or among its outputs.
inline bool reads(const ::onnx::GraphProto& g, const std::string& name) {
  const auto is_it = [&](const auto& x) { return x.name() == name; };
  return std::any_of(g.output().begin(), g.output().end(), is_it) ||
         std::any_of(g.node().begin(), g.node().end(), [&](const auto& n) {
           std::set<std::string_view> names;
           add_reads(n, names);
           return names.contains(name);
         });
}

/// The sums over the nodes of a body, and the tensors that it gives.
struct body_cost {
  double flop = 0;
  byte_count resident_bytes = 0;
  bool text = false;
  std::vector<value> outputs = {};
};

/// Iterations over a body: of a Loop, of a Scan, or over sequences.
struct iterations {
  static constexpr std::int64_t no_limit = std::numeric_limits<std::int32_t>::max(); ///< exporters write it for `while`
  static constexpr std::int64_t max_followed = 1024;

  std::optional<std::int64_t> limit = {}; ///< their number, unless a condition ends them; nothing: not known
  bool has_condition = false;    ///< the body takes a number and a condition first, and first gives a condition
  bool reads_number = false;     ///< and the number counts
  std::optional<bool> go = true; ///< the condition
  std::vector<value> state = {}; ///< inputs that an iteration takes from the one before
  std::vector<value> items = {}; ///< inputs after these
  std::optional<std::int64_t> otherwise = {}; ///< their number where it is not known
  bool used_otherwise = false;                ///< … which it was not
  std::optional<std::int64_t> batch = {}; ///< the outermost extent that bodies of Scan did not see at first
  std::vector<std::vector<value>> made = {}; ///< outputs besides the state, of each iteration

  /// Runs the body for each iteration, as long as it is known that there is one and `may_follow()`; those after that
  /// cost what the last one did. When an iteration leaves the state as it was, all after it are alike. In the end
  /// `limit` is their number, or nothing where it is not known, and one at least was counted.
  template <class Run, class MayFollow>
  body_cost follow(const Run& run, const MayFollow& may_follow) {
    const bool is_none = limit == 0 || go == false;
    const bool is_endless = limit && *limit >= no_limit;
    const auto first = static_cast<std::size_t>(has_condition ? 1 : 0);
    const auto last = first + state.size();
    body_cost total;
    for (std::int64_t k = 1;; ++k) {
      auto once = run(inputs_of(k - 1));
      auto& given = once.outputs;
      given.resize(std::max(given.size(), last));
      made.emplace_back(given.begin() + static_cast<std::ptrdiff_t>(last), given.end());
      total.resident_bytes = std::max(total.resident_bytes, once.resident_bytes);
      total.text = total.text || once.text;
      if (is_none) { // it was run for the types alone
        limit = 0;
        return total;
      }
      total.flop += once.flop;
      const auto before = std::exchange(state, {given.begin() + static_cast<std::ptrdiff_t>(first),
                                                given.begin() + static_cast<std::ptrdiff_t>(last)});
      const auto truth = has_condition ? given[0].integers() : numbers{1};
      const auto next = truth && truth->size() == 1 ? std::optional{truth->front() != 0} : std::nullopt;
      const bool is_steady =
        !reads_number && next == go && std::equal(before.begin(), before.end(), state.begin(), is_same);
      go = next;
      if (go == false || k == limit) {
        limit = k;
        return total;
      }
      if (limit && (go || !is_endless) && !is_steady && k < max_followed && may_follow()) {
        continue;
      }
      used_otherwise = (!limit || is_endless) && otherwise;
      limit = limit && !is_endless ? limit : otherwise;
      total.flop += once.flop * static_cast<double>(std::max(limit.value_or(k), k) - k);
      std::size_t size = 1; // of the largest output that is known
      for (const auto& output : made.back()) {
        size = output.elements() != nullptr ? std::max(size, output.elements()->size()) : size;
      }
      const auto most = ops::known_tensor::max_elements / static_cast<std::int64_t>(size); // more are not kept anyhow
      for (auto i = k; is_steady && i < std::min(limit.value_or(k), most); ++i) {
        made.push_back(made.back());
      }
      for (std::size_t i = 0; i < state.size(); ++i) {
        if (!is_same(before[i], state[i])) {
          state[i].guessed = state[i].guessed || extents_of(before[i].type) != extents_of(state[i].type);
          state[i].known.reset();
          state[i].data = nullptr;
        }
      }
      return total;
    }
  }

  /// An output besides the state, of all iterations along a new axis.
  value stacked(std::size_t output, std::int64_t axis) const {
    value all;
    std::vector<ops::known_tensor> parts;
    for (std::size_t k = 0; k < made.size(); ++k) {
      if (output >= made[k].size()) {
        return {};
      }
      const value& part = made[k][output];
      const auto type = with_axis(part.type, axis, limit);
      all.type = k == 0 || extents_of(all.type) == extents_of(type) ? type : ::onnx::TypeProto{};
      all.guessed = all.guessed || part.guessed;
      const auto* const x = part.elements();
      if (const auto at = x != nullptr ? ops::known::axis_of(axis, x->dims.size() + 1) : std::nullopt) {
        parts.push_back(*x);
        parts.back().dims.insert(parts.back().dims.begin() + static_cast<std::ptrdiff_t>(*at), 1);
      }
    }
    if (has_condition && limit && parts.size() == made.size() && *limit <= static_cast<std::int64_t>(parts.size())) {
      std::vector<const ops::known_tensor*> list;
      std::transform(parts.begin(), parts.end(), std::back_inserter(list), [](const auto& x) { return &x; });
      const auto joined = ops::known::concat(list, axis);
      all.known = joined ? ops::known::slice(*joined, {0}, {*limit}, {axis}, {1}) : std::nullopt; // there may be none
    }
    return all;
  }

private:
  static bool is_same(const value& a, const value& b) {
    const auto *x = a.elements(), *y = b.elements();
    return a.length == b.length && extents_of(a.type) == extents_of(b.type) &&
           (x == nullptr ? y == nullptr : y != nullptr && *x == *y);
  }
  std::vector<value> inputs_of(std::int64_t number) const {
    std::vector<value> inputs;
    if (has_condition) {
      inputs = {scalar(::onnx::TensorProto::INT64, number), scalar(::onnx::TensorProto::BOOL, go)};
    }
    inputs.insert(inputs.end(), state.begin(), state.end());
    inputs.insert(inputs.end(), items.begin(), items.end());
    return inputs;
  }
};

/// An entry in a list of axes; 0 if there is none.
inline std::int64_t axis_at(const ::onnx::NodeProto& n, std::string_view name, std::size_t i) {
  const auto axes = list_attribute(n, name);
  return axes && i < axes->size() ? (*axes)[i] : 0;
}

/// The iterations of a Loop, Scan or SequenceMap that has a body.
inline iterations iterations_of(const ::onnx::NodeProto& n, std::span<const value* const> inputs,
                                std::int64_t version) {
  iterations all;
  const bool is_loop = n.op_type() == "Loop", is_scan = n.op_type() == "Scan", has_batch = is_scan && version < 9;
  const auto scanned = static_cast<std::size_t>(std::max<std::int64_t>(number_attribute(n, "num_scan_inputs", 0), 0));
  const auto num_states = is_loop ? inputs.size() : is_scan ? inputs.size() - std::min(inputs.size(), scanned) : 0;
  if (is_loop) {
    const auto number = [&](std::size_t i, std::int64_t absent) -> std::optional<std::int64_t> {
      if (i >= inputs.size() || n.input(static_cast<int>(i)).empty()) {
        return absent;
      }
      const auto list = inputs[i] != nullptr ? inputs[i]->integers() : std::nullopt;
      return list && list->size() == 1 ? std::optional{std::max<std::int64_t>(list->front(), 0)} : std::nullopt;
    };
    const auto& g = attribute(n, "body")->g();
    all.has_condition = true;
    all.reads_number = g.input_size() != 0 && reads(g, g.input(0).name());
    all.limit = number(0, iterations::no_limit);
    const auto go = number(1, 1);
    all.go = go ? std::optional{*go != 0} : std::nullopt;
  }
  for (std::size_t i = is_loop ? 2 : has_batch ? 1 : 0; i < inputs.size(); ++i) {
    value v = inputs[i] != nullptr ? *inputs[i] : value{};
    if (has_batch) {
      v = {.type = without_axis(std::move(v.type), 0, all.batch), .guessed = v.guessed};
    }
    if (i < num_states) {
      all.state.push_back(std::move(v));
      continue;
    }
    if (is_scan) {
      v = {.type = without_axis(std::move(v.type), axis_at(n, "scan_input_axes", i - num_states), all.limit),
           .guessed = v.guessed};
    } else if (v.type.has_sequence_type()) {
      all.limit = v.length ? v.length : all.limit;
      v = {.type = ::onnx::TypeProto{v.type.sequence_type().elem_type()}, .guessed = v.guessed};
    }
    all.items.push_back(std::move(v));
  }
  return all;
}

/// An output of such an op after its iterations.
inline value output_of(const ::onnx::NodeProto& n, std::size_t i, const iterations& all) {
  value v;
  const auto k = i - all.state.size();
  if (i < all.state.size()) {
    v = all.state[i];
  } else if (n.op_type() != "SequenceMap") {
    v = all.stacked(k, axis_at(n, "scan_output_axes", k));
  } else if (k < all.made.front().size()) {
    v = {.guessed = all.made.front()[k].guessed, .length = all.limit};
    *v.type.mutable_sequence_type()->mutable_elem_type() = all.made.front()[k].type;
  }
  return all.batch ? value{.type = with_axis(std::move(v.type), 0, all.batch), .guessed = v.guessed} : v;
}

/// The elements of the sequence that an op of sequences makes, if their number is known.
inline std::optional<std::int64_t> length_of(const ::onnx::NodeProto& n, std::span<const value* const> inputs) {
  const auto& type = n.op_type();
  const auto in = [&](std::size_t i) { return i < inputs.size() ? inputs[i] : nullptr; };
  if (type == "SequenceEmpty" || type == "SequenceConstruct") {
    return static_cast<std::int64_t>(inputs.size());
  }
  if (type == "SplitToSequence" && in(0) != nullptr) {
    std::optional<std::int64_t> whole;
    (void)without_axis(in(0)->type, number_attribute(n, "axis", 0), whole);
    const auto parts = in(1) != nullptr ? in(1)->integers() : numbers{1};
    const bool is_list = in(1) != nullptr && in(1)->type.tensor_type().shape().dim_size() != 0;
    if (is_list && parts) {
      return static_cast<std::int64_t>(parts->size());
    }
    return whole && parts && parts->front() > 0 ? std::optional{(*whole - 1) / parts->front() + 1} : std::nullopt;
  }
  const auto change = type == "SequenceInsert" ? 1 : type == "SequenceErase" ? -1 : 0;
  const bool keeps = change != 0 || type == "Identity" || type == "Optional" || type == "OptionalGetElement";
  const bool is_known = keeps && in(0) != nullptr && in(0)->length && *in(0)->length + change >= 0;
  return is_known ? std::optional{*in(0)->length + change} : std::nullopt;
}

/// Whether nodes of a function, or those of bodies in it, take attributes from its calls.
inline bool refers_to_attributes(const google::protobuf::RepeatedPtrField<::onnx::NodeProto>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const auto& n) {
    return std::any_of(n.attribute().begin(), n.attribute().end(), [](const auto& a) {
      return !a.ref_attr_name().empty() || refers_to_attributes(a.g().node()) ||
             std::any_of(a.graphs().begin(), a.graphs().end(),
                         [](const auto& g) { return refers_to_attributes(g.node()); });
    });
  });
}

/// Gives nodes of a function, and those of bodies in it, the attributes that they take from a call or by default.
inline void bind_attributes(google::protobuf::RepeatedPtrField<::onnx::NodeProto>& nodes, const ::onnx::NodeProto& call,
                            const std::vector<::onnx::AttributeProto>& defaults) {
  for (auto& inner : nodes) {
    auto& attributes = *inner.mutable_attribute();
    for (int i = attributes.size(); i-- > 0;) {
      auto& a = attributes[i];
      if (a.has_g()) {
        bind_attributes(*a.mutable_g()->mutable_node(), call, defaults);
      }
      for (auto& g : *a.mutable_graphs()) {
        bind_attributes(*g.mutable_node(), call, defaults);
      }
      if (a.ref_attr_name().empty()) {
        continue;
      }
      const auto* given = attribute(call, a.ref_attr_name());
      for (const auto& x : defaults) {
        given = given == nullptr && x.name() == a.ref_attr_name() ? &x : given;
      }
      if (given == nullptr) {
        attributes.DeleteSubrange(i, 1);
      } else {
        const auto name = a.name();
        a = *given;
        a.set_name(name);
      }
    }
  }
}

} // namespace weft::onnx::detail
