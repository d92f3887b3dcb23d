// SPDX-License-Identifier: BSL-1.0
/// Makes the workload of an exported program.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/sort.hpp"
#include "weft/interop/pytorch/document.hpp"
#include "weft/interop/pytorch/reader_options.hpp"
#include "weft/interop/pytorch/schema.hpp"
#include "weft/interop/pytorch/sizes.hpp"
#include "weft/io/tally.hpp"
#include "weft/io/text.hpp"
#include "weft/model/batch.hpp"
#include "weft/model/training_roles.hpp"
#include "weft/model/graph.hpp"
#include "weft/model/lower.hpp"
#include "weft/ops/catalogue.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::pytorch::detail {

/// Reads a program node by node; its tensors are made before they are read.
class workload_of_export {
public:
  workload_of_export(const json& program, const reader& options)
      : program_{program}, options_{options}, sizes_{options.dimensions, options.unknown_dimension} {}

  model operator()() && {
    const auto& module = member(program_, "graph_module", "the program");
    const auto& graph = member(module, "graph", "the program's graph_module");
    learn_sizes(graph, 0);
    const auto* signature = find(module, "signature");
    set_sizes(graph, signature);
    scope main{graph, {}, {}, {}};
    bind_inputs(main, signature);
    add_nodes(main, 0);
    keep_state(main, signature);
    model m{.format = "PyTorch"};
    for (const auto& output : list(graph, "outputs", "the program's graph")) {
      for (const auto& name : tensors_of(output)) {
        const auto made = main.names.find(name);
        if (made != main.names.end() && graph_.producer(made->second) != none) {
          m.returned.push_back(graph_.producer(made->second));
        }
      }
    }
    sort_unique(m.returned);
    if (graph_.num_ops() == 0) {
      throw error("the program has no node that computes anything");
    }
    mark_training_roles(graph_);
    if (fixed_batch_ != 0) {
      set_batch();
    }
    auto lowered = lower(graph_, {.unknown_flop_per_element = options_.unknown_flop_per_element});
    m.parameters = std::move(lowered.parameters);
    m.ops = std::move(lowered.graph);
    if (lowered.num_unread > 0) {
      m.notes.push_back(io::counted(lowered.num_unread, "{parameter that no op reads is|parameters that no op reads "
                                                        "are} resident nowhere"));
    }
    for (const op_id v : lowered.unknown) {
      note_unknown(graph_[v].type);
    }
    m.graph = std::make_shared<const model_graph>(std::move(graph_));
    m.float_bytes = sizes_.float_bytes();
    m.assumed = sizes_.unknown();
    m.assumed.insert(m.assumed.end(), loops_.list().begin(), loops_.list().end());
    if (auto note = sizes_.note(); !note.empty()) {
      m.notes.push_back(std::move(note));
    }
    for (const auto& tally : {assumed_, sizes_.assumed()}) {
      std::ranges::move(tally.notes(), std::back_inserter(m.notes));
    }
    return m;
  }

private:
  static constexpr int max_depth = 30; // of graphs in nodes

  static void check_depth(bool fits) {
    if (!fits) {
      throw error("graphs are nested more than " + std::to_string(max_depth) + " deep");
    }
  }

  /// A graph and what its names mean.
  struct scope {
    const json& graph;
    std::unordered_map<std::string, tensor_id> names;
    std::string path; // before the names of its ops
    std::unordered_map<std::string, std::vector<op_id>> numbers = {}; // what sizes and other numbers wait for
  };
  // Symbolic sizes.

  void learn_sizes(const json& graph, int depth) {
    check_depth(depth < max_depth);
    for (const auto& meta : members(find(graph, "tensor_values"))) {
      for (const auto& size : items(find(meta, "sizes"))) {
        sizes_.learn(size);
      }
    }
    for (const auto& size : members(find(graph, "sym_int_values"))) {
      sizes_.learn(size);
    }
    for (const auto& node : items(find(graph, "nodes"))) {
      for (const auto* inner : graphs_of(node)) {
        learn_sizes(*inner, depth + 1);
      }
    }
  }
  void set_sizes(const json& graph, const json* signature) {
    for (const auto& [name, value] : options_.dimensions) {
      if (!sizes_.knows(name)) {
        const auto known = sizes_.symbols();
        throw error("the program has no symbolic size " + io::in_quotes(name) +
                    (known.empty() ? "; all its sizes are fixed" : "; it has " + known));
      }
    }
    if (options_.batch == 0) {
      return;
    }
    const auto& tensors = member(graph, "tensor_values", "the program's graph");
    for (const auto& spec : items(find(signature, "input_specs"))) {
      const auto name = text(spec, "user_input", "arg", "as_tensor", "name");
      const auto& dims = items(find(tensors, name.c_str(), "sizes"));
      if (dims.empty()) {
        continue;
      }
      if (const auto symbol = detail::sizes::symbol(dims.front())) {
        sizes_.give(*symbol, options_.batch);
      } else {
        fixed_batch_ = static_cast<std::uint64_t>(sizes_.value(dims.front()));
      }
      return;
    }
    throw error("the batch cannot be chosen: no input of the program has a first extent; leave out what chooses it");
  }

  /// Gives a program whose sizes are fixed another batch.
  void set_batch() {
    if (options_.batch == fixed_batch_ && batch_of(graph_).size == 0) {
      return;
    }
    try {
      graph_ = with_batch(std::move(graph_), options_.batch);
    } catch (const value_error& e) {
      throw error("the batch is fixed to " + std::to_string(fixed_batch_) +
                  " in the program, and another one does not follow from it: " +
                  std::string{e.what()}.substr(e.where.size() + 2) +
                  "; export it with dynamic_shapes, or with inputs of that batch");
    }
  }

  // Inputs, parameters and state.

  void bind_inputs(scope& s, const json* signature) {
    std::unordered_map<std::string, std::pair<tensor_role, std::string>> roles; // with their names in the module
    const auto* specs = find(signature, "input_specs");
    if (specs == nullptr || !specs->is_array()) {
      assumed_.add("{program|programs} without a signature: parameters count as inputs");
    }
    for (const auto& spec : items(specs)) {
      for (const auto& [kind, role] : {std::pair{"parameter", tensor_role::parameter},
                                       {"buffer", tensor_role::state},
                                       {"tensor_constant", tensor_role::constant}}) {
        if (const auto name = text(spec, kind, "arg", "name"); !name.empty()) {
          roles.try_emplace(name, role, text(spec, kind, (std::string{kind} + "_name").c_str()));
        }
      }
    }
    for (const auto& input : list(s.graph, "inputs", "the program's graph")) {
      for (const auto& name : tensors_of(input)) {
        const auto found = roles.find(name);
        const auto role = found == roles.end() ? tensor_role::input : found->second.first;
        auto t = tensor_of(s, name, role);
        t.name = found == roles.end() ? name : found->second.second;
        s.names[name] = graph_.add_tensor(std::move(t));
        if (role != tensor_role::input) {
          state_.try_emplace(found->second.second, s.names[name]);
        }
      }
    }
  }
  /// What replaces a buffer or a parameter is made where that is.
  void keep_state(const scope& s, const json* signature) {
    for (const auto& spec : items(find(signature, "output_specs"))) {
      for (const std::string kind : {"buffer", "parameter"}) {
        const auto mutation = kind + "_mutation";
        const auto made = s.names.find(text(spec, mutation.c_str(), "arg", "name"));
        const auto old = state_.find(text(spec, mutation.c_str(), (kind + "_name").c_str()));
        if (made != s.names.end() && old != state_.end()) {
          graph_.replace(old->second, made->second);
        }
      }
    }
  }
  model_graph::tensor tensor_of(const scope& s, const std::string& name, tensor_role role) {
    const auto& shape = shape_of(s, name);
    return {.dims = shape.dims, .element = shape.element, .role = role, .name = name, .bytes = shape.bytes};
  }

  const tensor_shape& shape_of(const scope& s, const std::string& name) {
    const auto* meta = find(member(s.graph, "tensor_values", "a graph"), name.c_str());
    if (meta == nullptr) {
      assumed_.add("{tensor without a shape in the file: it counts|tensors without a shape in the file: they count} "
                   "as empty", io::in_quotes(name));
      static const tensor_shape empty{.dims = {0}};
      return empty;
    }
    return sizes_.shape(*meta);
  }

  // Nodes.

  void add_nodes(scope& s, int depth) {
    std::size_t number = 0;
    for (const auto& node : list(s.graph, "nodes", "a graph")) {
      const auto target = text(node, "target");
      const auto where = "node " + std::to_string(number++) + " (" + io::on_one_line(target) + ")";
      if (target.empty()) {
        throw error(where + " has no target");
      }
      try {
        add_node(s, node, type_of(target), where, depth);
      } catch (const error& e) {
        const std::string what = e.what();
        throw error(what.starts_with("node ") ? what : where + ": " + what);
      }
    }
  }

  void add_node(scope& s, const json& node, const std::string& type, const std::string& where, int depth) {
    const auto results = results_of(node, where);
    const auto& inputs = list(node, "inputs", where);
    std::vector<tensor_id> reads;
    for (const auto& input : inputs) {
      for (const auto& name : tensors_of(member(input, "arg", where))) {
        const auto at = s.names.find(name);
        if (at == s.names.end() && !name.empty()) {
          throw error("tensor " + io::in_quotes(name) + " is read before any node makes it");
        }
        reads.push_back(name.empty() ? tensor_id{none} : at->second);
      }
    }
    auto awaited = makers_of(s, numbers_of(inputs, "arg"));
    const auto graphs = graphs_of(node);
    if (graphs.size() == 1 && !is_loop(type) && inline_graph(s, node, type, results, depth)) {
      return;
    }
    if (results.empty() && (reads.empty() || type.find("assert") != type.npos || type.starts_with("aten.sym_"))) {
      assumed_.add("{node computes sizes or checks them: it does|nodes compute sizes or check them: they do} not "
                   "count as ops", type);
      for (const tensor_id read : reads) {
        if (read != none && graph_.producer(read) != none) {
          awaited.push_back(graph_.producer(read));
        }
      }
      bind_numbers(s, node, awaited);
      return;
    }

    model_graph::op made{.type = type,
                         .name = s.path + (results.empty() ? type : results.front()),
                         .inputs = std::move(reads),
                         .work = flop_of_graphs(node, type, s, where, depth).value_or(model_graph::by_type),
                         .form = form_of(type),
                         .after = std::move(awaited)};
    add_attributes(made, node, where);
    std::vector<model_graph::tensor> outputs;
    for (const auto& name : results) {
      outputs.push_back(tensor_of(s, name, tensor_role::computed));
    }
    const bool writes = made.form == storage_form::writes;
    const op_id v = graph_.add_op(std::move(made), outputs);
    bind_numbers(s, node, {v});
    auto output = *graph_.outputs(v).begin();
    for (std::size_t i = 0; writes && !results.empty() && i < inputs.size(); ++i) {
      if (const auto names = tensors_of(member(inputs[i], "arg", where)); !names.empty()) {
        s.names[names.front()] = output; // who reads the old name from now on reads what was written
        break;
      }
    }
    for (const auto& name : results) {
      s.names[name] = output++;
    }
  }

  /// The result may be its input in another form. `to`, `contiguous` and `type_as` copy only where they must.
  static storage_form form_of(std::string_view type) {
    static constexpr std::string_view views[] = {"aten.to", "aten.contiguous", "aten.type_as", "_operator.getitem"};
    const auto* facts = ops::find_by_name(type);
    if (type == "aten.clone" || type == "aten._to_copy") {
      return storage_form::copy;
    }
    const bool shows = facts != nullptr && facts->use == ops::device_use::view;
    if (!shows && type.ends_with('_') && !type.ends_with("__")) {
      return storage_form::writes;
    }
    return shows || std::ranges::find(views, type) != std::end(views) ? storage_form::view : storage_form::own;
  }

  // Sizes and other numbers that nodes make, such as by `item` and `sym_size`.

  /// The ops that must have run before these numbers are there, each once.
  std::vector<op_id> makers_of(const scope& s, const std::vector<std::string>& numbers) {
    std::vector<op_id> ops;
    for (const auto& name : numbers) {
      if (const auto at = s.numbers.find(name); at != s.numbers.end()) {
        ops.insert(ops.end(), at->second.begin(), at->second.end());
        num_waits_ += at->second.size();
      }
      if (num_waits_ > 2'000'000) {
        throw error("sizes depend on more ops than any real program has");
      }
    }
    return ops;
  }
  void bind_numbers(scope& s, const json& node, std::vector<op_id> ops) {
    const auto names = numbers_of(items(find(node, "outputs")));
    sort_unique(ops);
    for (const auto& name : names) {
      num_waits_ += ops.size();
      s.numbers[name] = ops;
    }
  }

  // Costs.

  /// FLOP of a node with graphs in it; nothing of another.
  std::optional<double> flop_of_graphs(const json& node, const std::string& type, const scope& s,
                                       const std::string& where, int depth) {
    const auto graphs = graphs_of(node);
    if (graphs.empty()) {
      return std::nullopt;
    }
    double dearest = 0;
    double sum = 0;
    for (const auto* graph : graphs) {
      const double inner = flop_of_graph(*graph, depth + 1);
      dearest = std::max(dearest, inner);
      sum += inner;
    }
    if (is_loop(type)) {
      return sum * rounds(s, node, type, where);
    }
    assumed_.add("{node with graphs in it|nodes with graphs in them}: the costliest graph counts once", type);
    return dearest;
  }
  /// Of a node in such a graph.
  double flop_of(const scope& s, const json& node, const std::string& type, const std::string& where, int depth) {
    if (const auto inside = flop_of_graphs(node, type, s, where, depth)) {
      return *inside;
    }
    const auto call = call_of(s, node, type, where);
    const auto* facts = ops::find_by_name(type);
    if (facts != nullptr && facts->flop != nullptr) {
      return facts->flop(call);
    }
    if (call.has_output()) {
      note_unknown(type);
    }
    return options_.unknown_flop_per_element * call.out();
  }
  void note_unknown(const std::string& type) {
    assumed_.add("{op of a type|ops of types} without a rule here: " +
                 io::number_text(options_.unknown_flop_per_element) +
                   " FLOP per element of the first result", type);
  }
  static bool is_loop(std::string_view type) {
    static constexpr std::string_view loops[] = {"higher_order.while_loop", "higher_order.map_impl", "higher_order.map",
                                                 "higher_order.scan", "higher_order.associative_scan"};
    return std::ranges::find(loops, type) != std::end(loops);
  }
  /// A map goes over the first of its lists of tensors, a scan over the second, behind what it begins with.
  double rounds(const scope& s, const json& node, std::string_view type, const std::string& where) {
    std::size_t before = type == "higher_order.scan" ? 1 : 0;
    for (const auto& input : items(type == "higher_order.while_loop" ? nullptr : find(node, "inputs"))) {
      const auto names = tensors_of(member(input, "arg", where));
      if (!names.empty() && before-- == 0) {
        const auto& dims = shape_of(s, names.front()).dims;
        return dims.empty() ? 1 : static_cast<double>(dims.front());
      }
    }
    const auto results = results_of(node, where);
    const auto trips = options_.unknown_trips.value_or(1);
    const std::string name{results.empty() ? type : std::string_view{results.front()}};
    if (options_.unknown_trips) {
      assumed_.add("{loop|loops} with an unknown number of rounds, taken to be " + io::number_text(trips), name);
    } else {
      loops_.add({assumed_size::option::trips, name, std::string{type}, 1});
    }
    return trips;
  }
  double flop_of_graph(const json& graph, int depth) {
    check_depth(depth <= max_depth);
    const scope s{graph, {}, {}, {}};
    double sum = 0;
    for (const auto& node : list(graph, "nodes", "a graph in a node")) {
      const auto type = type_of(text(node, "target"));
      const auto where = "a node in a graph (" + io::on_one_line(type) + ")";
      if (!results_of(node, where).empty()) {
        sum += flop_of(s, node, type, where, depth);
      }
    }
    return sum;
  }

  /// The node as cost rules see it. Arguments that are tensors are operands in their order, lists one by one.
  ops::call call_of(const scope& s, const json& node, const std::string& type, const std::string& where) {
    ops::call call{.type = type};
    for (const auto& name : results_of(node, where)) {
      call.outputs.emplace_back(shape_of(s, name).dims);
    }
    for (const auto& input : list(node, "inputs", where)) {
      for (const auto& name : tensors_of(member(input, "arg", where))) {
        call.inputs.push_back(name.empty() ? std::nullopt : std::optional{shape_of(s, name).dims});
      }
    }
    add_attributes(call, node, where);
    return call;
  }
  /// Arguments that are no tensors, to an `ops::call` or an op of a graph.
  static void add_attributes(auto& to, const json& node, const std::string& where) {
    for (const auto& input : list(node, "inputs", where)) {
      const auto key = text(input, "name");
      const auto [kind, value] = kind_of(member(input, "arg", where));
      if (value == nullptr || key.empty()) {
        continue;
      }
      if (value->is_string()) {
        to.texts[key] = value->template get<std::string>();
      } else if (kind == "as_bool" && value->is_boolean()) {
        to.numbers[key] = {value->template get<bool>() ? 1 : 0};
      } else if (kind == "as_int" && value->is_number_integer()) {
        to.numbers[key] = {value->template get<std::int64_t>()};
      } else if (kind == "as_ints" && value->is_array()) {
        auto& numbers = to.numbers[key];
        for (const auto& n : *value) {
          numbers.push_back(n.is_number_integer() ? n.template get<std::int64_t>() : 1);
        }
      }
    }
    // A window of one number is as large in each direction.
    if (const auto k = to.numbers.find("kernel_size"); k != to.numbers.end() && k->second.size() == 1) {
      k->second.resize(to.type.find("3d") != to.type.npos ? 3 : to.type.find("2d") != to.type.npos ? 2 : 1,
                       k->second.front());
    }
  }

  // Graphs in nodes.

  /// The nodes of a graph that a node runs once with its tensors: `wrap_with_set_grad_enabled`, `invoke_subgraph`, …
  bool inline_graph(scope& s, const json& node, const std::string& type, const std::vector<std::string>& results,
                    int depth) {
    check_depth(depth < max_depth);
    const auto& graph = *graphs_of(node).front();
    std::vector<std::string> given, taken, returned;
    bool behind = false; // the graph
    for (const auto& input : list(node, "inputs", type)) {
      const auto& argument = member(input, "arg", type);
      if (behind) {
        add_tensors(argument, given);
      }
      behind = behind || find(argument, "as_graph") != nullptr;
    }
    std::erase(given, "");
    add_tensors(list(graph, "inputs", type), taken);
    add_tensors(list(graph, "outputs", type), returned);
    if (taken.size() != given.size() || returned.size() != results.size()) {
      return false;
    }
    scope inner{graph, {}, s.path + (results.empty() ? type : results.front()) + "/", {}};
    for (std::size_t i = 0; i < taken.size(); ++i) {
      inner.names[taken[i]] = s.names.at(given[i]);
    }
    if (inner.path.size() > 400) {
      throw error("graphs are nested too deep");
    }
    const auto numbers_taken = numbers_of(list(graph, "inputs", type));
    const auto numbers_given = numbers_of(list(node, "inputs", type), "arg");
    for (std::size_t i = 0; i < numbers_taken.size() && numbers_taken.size() == numbers_given.size(); ++i) {
      inner.numbers[numbers_taken[i]] = makers_of(s, {numbers_given[i]});
    }
    add_nodes(inner, depth + 1);
    bind_numbers(s, node, makers_of(inner, numbers_of(list(graph, "outputs", type))));
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto made = inner.names.find(returned[i]);
      if (made == inner.names.end()) {
        throw error("a graph in a node returns tensor " + io::in_quotes(returned[i]) + ", which it does not make");
      }
      s.names[results[i]] = made->second;
    }
    return true;
  }

  const json& program_;
  const reader& options_;
  detail::sizes sizes_;
  model_graph graph_;
  std::unordered_map<std::string, tensor_id> state_; // parameters by their names in the module
  std::uint64_t fixed_batch_ = 0;  // of the first input, if one is asked for
  std::size_t num_waits_ = 0;      // of ops for numbers
  io::assumed_sizes loops_; // of which nobody tells how often they run
  io::tally assumed_;
};

} // namespace weft::pytorch::detail
