// SPDX-License-Identifier: BSL-1.0
/// Makes the graph of an ONNX model, and its workload.
#pragma once

#include "weft/graph/adjacency.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/interop/onnx/analysis.hpp"
#include "weft/interop/onnx/index_expressions.hpp"
#include "weft/interop/onnx/wire.hpp"
#include "weft/io/foreign_formats.hpp"
#include "weft/model/graph.hpp"
#include "weft/model/lower.hpp"
#include "weft/workload/role.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace weft::onnx::detail {

/// Decodes a model. Throws `parse_error` for bytes that are no model, and for a model that would take far more memory
/// than it has bytes.
inline ::onnx::ModelProto decode(std::string_view bytes, const std::string& file) {
  if (!wire::is_model(bytes)) {
    throw parse_error(file, 0,
                      bytes.empty()               ? "the file is empty, not an ONNX model"
                      : bytes.starts_with('\x08') ? "not an ONNX model: it has no graph, or is damaged"
                                                  : "not an ONNX model: " + io::what_it_looks_like(bytes));
  }
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw parse_error(file, 0,
                      "larger than 2 GiB, which ONNX cannot hold in one file; keep the weights in external data");
  }
  const std::uint64_t most = 20 * std::uint64_t{bytes.size()} + (std::uint64_t{64} << 20);
  if (wire::decoded_bytes(bytes, most) > most) {
    throw parse_error(file, 0,
                      "decoding it would take over 20 times its size: it has millions of tiny parts, unlike any model");
  }
  ::onnx::ModelProto m;
  if (!m.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw parse_error(file, 0, "the model is damaged or truncated: its bytes are not a complete ModelProto");
  }
  return m;
}

/// Makes the graph of a model, whose ops are the nodes of its main graph.
class graph_of_model {
public:
  graph_of_model(const ::onnx::ModelProto& m, const reader& options, const std::string& file)
      : g_{m.graph()}, file_{file}, analysis_{m, options, file},
        count_{static_cast<std::size_t>(m.graph().node_size())}, inputs_(count_), costs_(count_), announced_(count_) {
    for (const auto& set : m.opset_import()) {
      version_ = set.domain().empty() || set.domain() == "ai.onnx" ? set.version() : version_;
    }
  }

  /// Works out all tensors. Throws `parse_error`.
  void infer() {
    resolve_names();
    for (const op_id v : visiting_order()) {
      costs_[v] = analysis_.visit(node(v));
      name_parameters(v);
    }
  }

  /// The model with its graph and workload, after `infer`.
  model read() {
    model result{.format = "ONNX"};
    try {
      add_ops();
      auto lowered = lower(made_);
      result.parameters = std::move(lowered.parameters);
      result.ops = std::move(lowered.graph);
    } catch (const cycle_error& e) {
      std::throw_with_nested(parse_error(file_, 0, "the nodes wait for each other in a cycle: " + path(e.ops)));
    } catch (const parse_error&) {
      throw;
    } catch (const error& e) {
      std::throw_with_nested(parse_error(file_, 0, one_line(e.what())));
    }
    for (const auto& x : g_.output()) {
      if (const op_id v = maker(x.name()); v != none) {
        result.returned.push_back(v);
      }
    }
    std::ranges::sort(result.returned);
    analysis_.check_given();
    result.assumed = analysis_.assumed();
    result.notes = notes();
    result.float_bytes = analysis_.float_bytes();
    result.graph = std::make_shared<const model_graph>(std::move(made_));
    return result;
  }

  // Facts that were found out on the way: the names that a node reads, each once, with those that its bodies take from
  // around them; who makes a tensor, `none` if it is no node; what is known of a tensor; and whether a node's outputs
  // are known before the model runs.
  const std::vector<std::string_view>& inputs(op_id v) const { return inputs_[v]; }
  op_id maker(std::string_view name) const {
    const auto found = made_by_.find(name);
    return found == made_by_.end() ? none : found->second.op;
  }
  const value* find(std::string_view name) { return analysis_.main().find(name); }
  byte_count bytes_of(std::string_view name) {
    const value* v = find(name);
    return v == nullptr ? 0 : analysis_.bytes_of(*v, name, false);
  }
  bool makes_parameters(op_id v) const { return costs_[v].parameter; }
  /// True if what a node makes is known before the model runs and as little as a shape: hosts work it out.
  bool makes_sizes(op_id v) {
    const auto& n = node(v);
    bool some = false;
    for (const auto& x : n.output()) {
      if (x.empty()) {
        continue;
      }
      const auto& made = analysis_.main().values.at(x);
      const auto* elements = made.elements();
      if (made.parameter || elements == nullptr || elements->size() > std::size_t{ops::max_axes}) {
        return false;
      }
      some = true;
    }
    return some && !is_written(n);
  }

private:
  struct origin {
    op_id op = none;
    std::uint32_t output = 0; ///< counted without outputs that have no name, and those that only tell when it is done
  };

  const ::onnx::NodeProto& node(op_id v) const { return g_.node(static_cast<int>(v)); }
  std::string name(op_id v) const {
    const auto& n = node(v);
    return !n.name().empty() ? n.name() : n.output_size() > 0 ? n.output(0) : std::string{};
  }
  std::string where(op_id v) const { return "node " + std::to_string(v) + " " + io::in_quotes(name(v)); }
  static std::string one_line(std::string text) {
    std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 32; }, '?');
    return text;
  }
  std::string path(const std::vector<op_id>& cycle) const {
    std::string text;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      if (i == 8) {
        return text + "... (" + std::to_string(cycle.size()) + " nodes)";
      }
      text += where(cycle[i]) + " -> ";
    }
    return text + where(cycle.front());
  }

  /// Nodes that `write_network` made, and what only orders them.
  static bool is_written(const ::onnx::NodeProto& n) { return n.domain() == "ai.weft"; }
  static bool is_control(const ::onnx::NodeProto& n, std::string_view tensor) {
    return is_written(n) && tensor.starts_with('^');
  }
  /// True for what a node reads only to come after the one that makes it.
  bool is_order(const ::onnx::NodeProto& n, std::string_view x) const {
    const op_id by = x.starts_with('^') ? maker(x) : op_id{none};
    return is_control(n, x) || (by != none && is_control(node(by), x));
  }
  static bool is_variable(const ::onnx::NodeProto& n) { return is_written(n) && n.op_type() == "VariableV2"; }

  /// The producer of each tensor, and the inputs of each node, once each.
  void resolve_names() {
    std::uint32_t v = 0;
    for (const auto& n : g_.node()) {
      if (n.op_type().empty()) {
        throw parse_error(file_, 0, where(v) + " has no op type");
      }
      std::uint32_t output = 0;
      for (const auto& x : n.output()) {
        if (x.empty()) {
          continue;
        }
        const bool known = analysis_.main().values.contains(x);
        if (const auto [at, is_new] = made_by_.try_emplace(x, origin{v, output}); !is_new || known) {
          throw parse_error(file_, 0,
                            "tensor " + io::in_quotes(x) + " is an output of " + where(v) + " and " +
                              (known ? "an input or initializer of the graph" : "of " + where(at->second.op)) +
                              "; names of tensors must differ");
        }
        output += is_control(n, x) ? 0u : 1u;
      }
      ++v;
    }
    for (v = 0; v < count_; ++v) {
      const auto& n = node(v);
      std::set<std::string_view> names;
      add_reads(n, names);
      names.erase("");
      for (const auto x : names) {
        if (!made_by_.contains(x) && !analysis_.main().values.contains(x)) {
          throw parse_error(file_, 0,
                            where(v) + " reads tensor " + io::in_quotes(x) +
                              ", which no node makes and which is not an input or initializer");
        }
      }
      inputs_[v].assign(names.begin(), names.end());
    }
  }

  /// As in the file, if that is topological; else the first one that is ready, and members of cycles at the end.
  std::vector<op_id> visiting_order() const {
    std::vector<std::vector<op_id>> readers(count_);
    bool sorted = true;
    for (const op_id v : ids(count_)) {
      for (const auto x : inputs_[v]) {
        if (const auto made = made_by_.find(x); made != made_by_.end()) {
          readers[made->second.op].push_back(v);
          sorted = sorted && made->second.op < v;
        }
      }
    }
    auto order = sorted ? std::vector<op_id>{} : graph::acyclic_part(readers);
    std::vector<std::uint8_t> is_listed(count_, 0);
    for (const op_id v : order) {
      is_listed[v] = 1;
    }
    std::ranges::copy_if(ids(count_), std::back_inserter(order), [&](op_id v) { return !is_listed[v]; });
    return order;
  }

  /// Calls what a node makes of parameters as the first of these that has a name: a transposed weight like the weight.
  /// Notes the tensor that it shows, if it does.
  void name_parameters(op_id v) {
    if (!costs_[v].parameter) {
      return;
    }
    const auto& read = node(v).input();
    const auto first = std::ranges::find_if(read, [](const std::string& x) { return !x.empty(); });
    for (const auto& x : node(v).output()) {
      if (first != read.end()) {
        called_.emplace(x, called(*first));
        if (!x.empty() && analysis_.main().values.at(x).storage != nullptr) {
          shown_.emplace(x, storage(*first));
        }
      }
    }
  }
  /// The parameter in whose storage another one is.
  std::string_view storage(std::string_view x) const {
    const auto found = shown_.find(x);
    return found == shown_.end() ? x : found->second;
  }
  /// The name of a parameter in the file.
  std::string_view called(std::string_view x) const {
    const auto found = called_.find(x);
    return found == called_.end() ? x : found->second;
  }

  std::vector<std::string> notes() {
    auto notes = analysis_.notes();
    const auto count = [&](std::size_t n, std::string_view text) {
      if (n != 0) {
        notes.push_back(io::counted(n, text));
      }
    };
    count(num_on_text_, "{op reads or makes strings, and runs|ops read or make strings, and run} on CPUs only");
    count(num_folded_, "{op makes|ops make} parameters from parameters alone: no work, {its|their} results are "
                       "resident with what reads them");
    count(num_of_sizes_, "{op works out sizes that are known before the model runs: it takes|ops work out sizes that "
                         "are known before the model runs: they take} no time");
    return notes;
  }

  void add_ops() {
    find_held();
    for (const op_id v : ids(count_)) {
      const auto& outputs = node(v).output();
      announced_[v] = made_.announce(static_cast<std::size_t>(std::ranges::count_if(
        outputs, [&](const std::string& x) { return !x.empty() && !is_control(node(v), x); })));
    }
    std::vector<std::pair<op_id, op_id>> orders;
    std::map<std::int64_t, op_id> groups; // of what `write_network` wrote
    for (const op_id v : ids(count_)) {
      add(v);
      for (const auto x : inputs_[v]) {
        if (is_order(node(v), x)) {
          orders.emplace_back(maker(x), v);
        }
      }
      if (const auto* group = is_written(node(v)) ? attribute(node(v), "weft_group") : nullptr; group != nullptr) {
        made_.colocate(groups.try_emplace(group->i(), v).first->second, v);
      }
    }
    for (const auto& [before, after] : orders) {
      before != none ? made_.order(before, after) : void();
    }
  }

  void add(op_id v) {
    const auto& n = node(v);
    const auto& cost = costs_[v];
    const bool sizes = makes_sizes(v);
    num_folded_ += cost.parameter && n.op_type() != "Constant" && n.op_type() != "ConstantOfShape" ? 1u : 0u;
    num_on_text_ += cost.text ? 1u : 0u;
    num_of_sizes_ += sizes ? 1u : 0u;
    model_graph::op o{.type = type_of(n),
                      .name = name(v),
                      .work = cost.flop,
                      .resident_bytes = cost.resident_bytes,
                      .kinds = cost.text ? kind_set{device_kind::cpu} : kind_set::all(),
                      .is_known = cost.parameter || sizes};
    if (is_written(n)) {
      restore(n, v, o);
    }
    const std::unordered_set<std::string_view> read(n.input().begin(), n.input().end());
    for (const auto& x : n.input()) {
      if (!is_order(n, x)) {
        o.inputs.push_back(x.empty() ? tensor_id{none} : tensor(x));
      }
    }
    for (const auto x : inputs_[v]) { // by graphs inside of it
      if (!read.contains(x) && !is_order(n, x)) {
        o.captured.push_back(tensor(x));
      }
    }
    if (!o.is_known) {
      count_parameters(v);
    }
    std::vector<model_graph::tensor> outputs;
    for (const auto& x : n.output()) {
      if (!x.empty() && !is_control(n, x)) {
        outputs.push_back(output(v, x, o.is_known));
      }
    }
    if (cost.parameter && !outputs.empty() && outputs.front().storage != none) {
      o.form = storage_form::view;
    }
    set_expression(v, outputs, o);
    made_.add_op(std::move(o), outputs, announced_[v]);
  }

  model_graph::tensor output(op_id v, const std::string& name, bool is_known) {
    const auto& n = node(v);
    const value& known = analysis_.main().values.at(name);
    model_graph::tensor t{.element = element_of(known), .bytes = analysis_.bytes_of(known, name, !is_known)};
    t.dims = dims_in_graph(name).value_or(model_graph::extents{});
    if (is_variable(n)) {
      const auto held = held_.find(v);
      t.role = held != held_.end() ? held->second.second : tensor_role::state;
    }
    if (makes_parameters(v)) {
      t.role = tensor_role::parameter;
      t.name = called(name);
      const auto shown = shown_.find(name);
      t.storage = shown != shown_.end() ? tensor(shown->second) : tensor_id{none};
    }
    return t;
  }

  /// The tensor of a name.
  tensor_id tensor(std::string_view name) {
    if (const auto at = made_by_.find(name); at != made_by_.end()) {
      return announced_[at->second.op][at->second.output];
    }
    if (const auto at = given_.find(name); at != given_.end()) {
      return at->second;
    }
    const value& known = analysis_.main().values.at(name);
    const auto t = made_.add_tensor({.dims = dims_of(known).value_or(model_graph::extents{}),
                                     .element = element_of(known),
                                     .role = known.parameter ? tensor_role::parameter : tensor_role::input,
                                     .name = std::string{name},
                                     .bytes = analysis_.bytes_of(known, name, false)});
    return given_.emplace(name, t).first->second;
  }

  /// Parameters count among the numbers of the model where they are read as such, each once.
  void count_parameters(op_id v) {
    for (const auto x : inputs_[v]) {
      const value& known = analysis_.main().values.at(x);
      if (known.parameter && counted_.insert(storage(x)).second) {
        (void)analysis_.bytes_of(known, x);
      }
    }
  }

  static std::optional<model_graph::extents> dims_of(const value& v) {
    const auto dims = extents_of(v.type);
    const bool known = dims && dims->size() <= std::size_t{ops::max_axes} &&
                       std::ranges::all_of(*dims, [](std::int64_t d) { return d >= 0; });
    return known ? std::optional{model_graph::extents{dims->begin(), dims->end()}} : std::nullopt;
  }
  /// The extents of a tensor, if they are known.
  std::optional<model_graph::extents> dims_of(std::string_view name) {
    const value* v = find(name);
    return v != nullptr ? dims_of(*v) : std::nullopt;
  }
  /// The same; of what a variable makes, those of what it holds.
  std::optional<model_graph::extents> dims_in_graph(std::string_view name) {
    const op_id by = maker(name);
    if (by == none || !is_variable(node(by))) {
      return dims_of(name);
    }
    const auto held = held_.find(by);
    return held != held_.end() ? held->second.first : model_graph::extents{};
  }
  static ops::element_type element_of(const value& v) {
    return v.type.has_tensor_type() ? v.type.tensor_type().elem_type() : ops::elements::unknown;
  }

  /// Finds the extents that variables of a written network hold: of what is read of them, or of the gradient. Those
  /// of a single number are states of the optimiser.
  void find_held() {
    const auto holds = [this](const std::string& name, std::string_view like, tensor_role role) {
      const op_id v = maker(name);
      const auto dims = dims_of(like);
      const bool fits = v != none && dims && !dims->empty() && is_variable(node(v)) &&
                        number_attribute(node(v), "weft_resident_bytes", 0) ==
                          static_cast<std::int64_t>(ops::tensor_bytes(*dims, 32));
      if (fits) {
        held_.try_emplace(v, *dims, role);
      }
    };
    for (const bool reads : {true, false}) { // values tell more than gradients
      for (const auto& n : g_.node()) {
        if (reads && n.op_type() == "Identity" && n.input_size() > 0 && n.output_size() > 0) {
          holds(n.input(0), n.output(0), tensor_role::parameter);
        } else if (!reads && is_update(n.op_type())) {
          for (const auto& x : n.input()) {
            holds(x, last_input(n), tensor_role::state);
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

  /// Gives an op its axes, if attributes decide them; none if some shape is not known.
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
    bool known = true;
    for (const auto& x : n.input()) {
      if (is_order(n, x)) {
        continue;
      }
      const value* read = find(x);
      const auto* elements = read != nullptr ? read->elements() : nullptr;
      const auto* whole = elements != nullptr ? elements->whole() : nullptr;
      call.inputs.push_back(dims_in_graph(x));
      known = known && (x.empty() || call.inputs.back());
      const bool is_list = whole != nullptr && whole->size() <= std::size_t{ops::max_axes};
      call.values.push_back(is_list ? std::optional{*whole} : std::nullopt);
    }
    for (const auto& x : n.output()) {
      known = known && (x.empty() || is_control(n, x) || dims_in_graph(x));
    }
    for (const auto& t : outputs) {
      call.outputs.emplace_back(t.dims);
    }
    const auto* given = is_written(n) ? attribute(n, "weft_axes") : nullptr;
    const bool is_given = given != nullptr && index_expressions::fits(given->s(), call);
    auto text = !known          ? index_expressions::whole()
                : !is_written(n) ? index_expressions::of(call)
                : is_given       ? given->s()
                                 : std::string{};
    if (!text.empty()) {
      o.texts["axes"] = std::move(text);
    }
  }

  /// Gives an op what `write_network` kept of it.
  void restore(const ::onnx::NodeProto& n, op_id v, model_graph::op& o) const {
    const auto bytes = number_attribute(n, "weft_resident_bytes", 0);
    if (bytes < 0) {
      throw parse_error(file_, 0, where(v) + ": weft_resident_bytes is negative");
    }
    o.resident_bytes += static_cast<byte_count>(bytes);
    if (const auto* kinds = attribute(n, "weft_kinds"); kinds != nullptr) {
      o.kinds = {};
      for (const auto field : io::split(kinds->s(), '|')) {
        const auto kind = parse_device_kind(field);
        if (!kind) {
          throw parse_error(file_, 0,
                            where(v) + ": weft_kinds names " + io::in_quotes(field) + ", no kind of device");
        }
        o.kinds = o.kinds | *kind;
      }
    }
  }

  const ::onnx::GraphProto& g_;
  const std::string& file_;
  analysis analysis_;
  std::int64_t version_ = 1; // as models were before there were operator sets
  std::size_t count_;
  std::unordered_map<std::string_view, origin> made_by_;
  std::vector<std::vector<std::string_view>> inputs_; // names per node, each once
  std::vector<node_cost> costs_;
  std::unordered_map<std::string_view, std::string_view> called_; // by what nodes make of parameters: their names …
  std::unordered_map<std::string_view, std::string_view> shown_;  // … and those in whose storage it is
  std::unordered_set<std::string_view> counted_;                  // parameters
  std::unordered_map<op_id, std::pair<model_graph::extents, tensor_role>> held_; // by variable
  model_graph made_;
  std::vector<id_range> announced_;                    // by node
  std::unordered_map<std::string_view, tensor_id> given_; // that no node makes
  std::size_t num_folded_ = 0;
  std::size_t num_of_sizes_ = 0;
  std::size_t num_on_text_ = 0;
};

} // namespace weft::onnx::detail
