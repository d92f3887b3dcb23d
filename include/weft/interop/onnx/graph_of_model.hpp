// SPDX-License-Identifier: BSL-1.0
/// The graph of an ONNX model, with the shapes that were found out when it was read.
#pragma once

#include "weft/interop/onnx/index_expressions.hpp"
#include "weft/interop/onnx/workload_of_graph.hpp"
#include "weft/model/graph.hpp"
#include "weft/workload/optimizer.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::onnx::detail {

/// Makes the graph of a model that has been read.
class graph_of_model {
public:
  graph_of_model(const ::onnx::ModelProto& m, workload_of_graph& reading, const workload& w)
      : g_{m.graph()}, reading_{reading}, w_{w} {
    for (const auto& set : m.opset_import()) {
      version_ = set.domain().empty() || set.domain() == "ai.onnx" ? set.version() : version_;
    }
  }

  /// The graph, with the model's nodes as its ops; null where a node reads what a later one makes, or tensors are
  /// larger than anything.
  std::shared_ptr<const model_graph> operator()() && {
    try {
      find_held();
      find_forms();
      for (const op_id v : ids(w_.num_ops())) {
        if (!add(v)) {
          return nullptr;
        }
      }
    } catch (const error&) { // the workload needs less of it
      return nullptr;
    }
    return std::make_shared<const model_graph>(std::move(made_));
  }

private:
  const ::onnx::NodeProto& node(op_id v) const { return g_.node(static_cast<int>(v)); }

  std::optional<model_graph::extents> known_dims_of(std::string_view name) {
    const value* v = reading_.find(name);
    const auto dims = v != nullptr ? extents_of(v->type) : std::nullopt;
    const bool known = dims && dims->size() <= std::size_t{ops::max_axes} &&
                       std::ranges::all_of(*dims, [](std::int64_t d) { return d >= 0; });
    return known ? std::optional{model_graph::extents{dims->begin(), dims->end()}} : std::nullopt;
  }
  model_graph::extents dims_of(std::string_view name) { return known_dims_of(name).value_or(model_graph::extents{}); }
  /// Parameters that are read in several forms: which parts of them are where, only their storage would tell.
  void find_forms() {
    std::unordered_map<const value*, std::string_view> names;
    for (const auto& n : g_.node()) {
      for (const auto& x : n.input()) {
        const value* v = reading_.find(x);
        if (v == nullptr || !v->parameter) {
          continue;
        }
        const auto* storage = v->storage != nullptr ? v->storage : v;
        const auto first = names.try_emplace(storage, x).first->second;
        if (first != x) {
          in_forms_.insert({first, x});
        }
      }
    }
  }
  ops::element_type element_of(std::string_view name) {
    const value* v = reading_.find(name);
    return v != nullptr && v->type.has_tensor_type() ? v->type.tensor_type().elem_type() : ops::elements::unknown;
  }
  static bool is_control(const ::onnx::NodeProto& n, std::string_view tensor) {
    return n.domain() == "ai.weft" && tensor.starts_with('^');
  }
  static bool is_variable(const ::onnx::NodeProto& n) { return n.domain() == "ai.weft" && n.op_type() == "VariableV2"; }

  /// The extents that variables of a written network hold: of what is read of them, or of the gradient. Those
  /// of a single number are states of the optimiser.
  void find_held() {
    const auto holds = [this](const std::string& name, const model_graph::extents& dims, tensor_role role) {
      const op_id v = reading_.maker(name);
      const bool fits = v != none && is_variable(node(v)) && !held_.contains(v) && !dims.empty() &&
                        w_.resident_bytes(v) == ops::tensor_bytes(dims, 32);
      if (fits) {
        held_.emplace(v, std::pair{dims, role});
      }
    };
    for (const bool reads : {true, false}) { // values tell more than gradients
      for (const auto& n : g_.node()) {
        if (reads && n.op_type() == "Identity" && n.input_size() > 0 && n.output_size() > 0) {
          holds(n.input(0), dims_of(n.output(0)), tensor_role::parameter);
        } else if (!reads && is_update(n.op_type())) {
          for (const auto& x : n.input()) {
            holds(x, dims_of(last_input(n)), tensor_role::state);
          }
        }
      }
    }
  }
  /// Without control edges.
  static std::string_view last_input(const ::onnx::NodeProto& n) {
    std::string_view last;
    for (const auto& x : n.input()) {
      last = x.starts_with('^') ? last : std::string_view{x};
    }
    return last;
  }

  bool add(op_id v) {
    const auto& n = node(v);
    model_graph::op o{.type = type_of(n),
                      .name = std::string{w_.name(v)},
                      .work = w_.work(v),
                      .resident_bytes = n.domain() == "ai.weft" ? w_.resident_bytes(v) : 0,
                      .kinds = w_.kinds(v)};
    for (const auto& x : n.input()) {
      if (reading_.makes_parameters(v) || is_control(n, x)) {
        continue;
      }
      const auto t = x.empty() ? std::optional{tensor_id{none}} : tensor(x);
      if (!t) {
        return false;
      }
      o.inputs.push_back(*t);
    }
    const auto held = held_.find(v);
    std::vector<model_graph::tensor> outputs;
    std::vector<const std::string*> names;
    for (const auto& x : n.output()) {
      if (!x.empty() && !is_control(n, x)) {
        model_graph::tensor t{.element = element_of(x), .bytes = reading_.bytes_of(x)};
        if (held != held_.end()) {
          t.dims = held->second.first;
          t.role = held->second.second;
        } else if (is_variable(n)) {
          t.role = tensor_role::state;
        } else {
          t.dims = dims_of(x);
        }
        outputs.push_back(std::move(t));
        names.push_back(&x);
      }
    }
    set_expression(v, outputs, o);
    const op_id made = made_.add_op(std::move(o), outputs);
    auto t = *made_.outputs(made).begin();
    for (const auto* name : names) {
      tensors_.emplace(*name, t++);
    }
    return true;
  }

  void set_expression(op_id v, const std::vector<model_graph::tensor>& outputs, model_graph::op& o) {
    const auto& n = node(v);
    ops::call call{.type = o.type, .version = version_};
    for (const auto& a : n.attribute()) {
      call.numbers[a.name()] = a.ints_size() > 0 ? ops::call::extents{a.ints().begin(), a.ints().end()}
                                                 : ops::call::extents{a.i()};
      if (a.name() == "equation") {
        call.texts["equation"] = a.s();
      }
    }
    bool known = !reading_.makes_parameters(v);
    for (const auto& x : n.input()) {
      if (is_control(n, x)) {
        continue;
      }
      const value* read = reading_.find(x);
      const auto* elements = read != nullptr ? read->elements() : nullptr;
      const auto* whole = elements != nullptr ? elements->whole() : nullptr;
      known = known && (x.empty() || (known_dims_of(x) && !in_forms_.contains(x)));
      call.inputs.push_back(x.empty() ? std::nullopt : std::optional{dims_of(x)});
      const bool is_list = whole != nullptr && whole->size() <= std::size_t{ops::max_axes};
      call.values.push_back(is_list ? std::optional{*whole} : std::nullopt);
    }
    for (const auto& x : n.output()) {
      known = known && (x.empty() || is_control(n, x) || known_dims_of(x));
    }
    for (const auto& t : outputs) {
      call.outputs.emplace_back(t.dims);
    }
    const auto* given = n.domain() == "ai.weft" ? attribute(n, "weft_axes") : nullptr;
    const bool is_given = given != nullptr && index_expressions::fits(given->s(), call);
    auto text = n.domain() != "ai.weft" ? index_expressions::of(call) : is_given ? given->s() : std::string{};
    text = known ? std::move(text) : index_expressions::whole();
    if (!text.empty()) {
      o.texts["axes"] = std::move(text);
    }
  }

  /// The tensor that a node reads; of a parameter the form in which it reads it.
  std::optional<tensor_id> tensor(const std::string& name) {
    const value* known = reading_.find(name);
    const bool is_parameter = known != nullptr && known->parameter;
    auto& names = is_parameter ? parameters_ : tensors_;
    if (const auto at = names.find(name); at != names.end()) {
      return at->second;
    }
    if (!is_parameter && reading_.maker(name) != none) {
      return std::nullopt;
    }
    const auto t = made_.add_tensor({.dims = dims_of(name),
                                     .element = element_of(name),
                                     .role = is_parameter ? tensor_role::parameter : tensor_role::input,
                                     .name = name,
                                     .bytes = reading_.bytes_of(name)});
    names.emplace(name, t);
    return t;
  }

  const ::onnx::GraphProto& g_;
  std::int64_t version_ = 1; // as models were before there were operator sets
  workload_of_graph& reading_;
  const workload& w_;
  model_graph made_;
  std::unordered_map<std::string_view, tensor_id> tensors_, parameters_;
  std::set<std::string_view> in_forms_;
  std::unordered_map<op_id, std::pair<model_graph::extents, tensor_role>> held_; // by variable
};

} // namespace weft::onnx::detail
