// SPDX-License-Identifier: BSL-1.0
/// Cuts an ONNX model by a placement into models that run one after the other, each on one device.
#pragma once

#include "weft/graph/adjacency.hpp"
#include "weft/graph/sequential_groups.hpp"
#include "weft/interop/onnx/placed.hpp"
#include "weft/interop/onnx/reader.hpp"
#include "weft/interop/onnx/tensor_types.hpp"
#include "weft/interop/onnx/wire.hpp"
#include "weft/io/tally.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace weft::onnx {

/// A tensor that goes into a stage or out of one.
struct split_tensor {
  std::string name = {};
  std::uint32_t from = none;           ///< the stage that makes it; `none`: who runs the model gives it
  std::vector<std::uint32_t> to = {};  ///< the stages that read it
  byte_count bytes = 0;                ///< by the shapes that the reader's options give
  bool has_default = false;            ///< an input with a value in the file, which may be left out
  bool is_output = false;              ///< of the model
};

/// A piece of a model.
struct split_stage {
  device_id device = none;
  std::vector<op_id> ops = {};             ///< its nodes, in the order of the file
  std::vector<op_id> copies = {};          ///< nodes that make parameters for it
  std::vector<std::uint32_t> inputs = {};  ///< numbers of tensors
  std::vector<std::uint32_t> outputs = {}; ///< numbers of tensors, at least one
  byte_count parameter_bytes = 0;          ///< of its initialisers
};

/// An initialiser that several stages hold.
struct shared_parameter {
  std::string name = {};
  byte_count bytes = 0;
  std::vector<std::uint32_t> stages = {};
};

namespace detail {

/// A message again, with `prefix` before each relative path to external data in it. Finds out whether there is any;
/// with an empty prefix that is all, and nothing is copied. What is nested deeper than 100 messages no decoder takes.
inline std::string with_moved_data(std::string_view bytes, wire::message m, std::string_view prefix,
                                   bool& has_external_data, unsigned depth = 0) {
  std::string out;
  bool damaged = false;
  for (const auto& f : wire::fields{bytes, damaged}) {
    const auto inner = f.kind == wire::kind::bytes && depth < 100 ? wire::held_in(m, f.number) : wire::message::none;
    const bool location = m == wire::message::tensor && f.number == 13 && has_key(f.bytes, "location");
    has_external_data = has_external_data || location;
    const auto path = location ? wire::text_in(f.bytes, 2) : std::string_view{};
    const auto changed =
      location ? property("location", (path.starts_with('/') ? "" : std::string{prefix}).append(path))
      : inner > wire::message::leaf ? with_moved_data(f.bytes, inner, prefix, has_external_data, depth + 1)
                                    : std::string{};
    if (!prefix.empty() && (location || inner > wire::message::leaf)) {
      wire::put(out, f.number, changed);
    } else if (!prefix.empty()) {
      out += f.whole;
    }
  }
  return out;
}

} // namespace detail

/// Whether a model has weights in other files, whose paths are relative to its folder. Complexity: O(size), of weights
/// in the model none.
inline bool has_external_data(std::string_view bytes) {
  bool any = false;
  (void)detail::with_moved_data(bytes, wire::message::model, {}, any);
  return any;
}

/// A model cut into stages: models of nodes that a placement has on one device, in an order in which they can run one
/// after the other. What a stage reads, it makes itself, an earlier one makes, or who runs the model gives.
///
/// A device may have several stages; `graph::sequential_groups` says how there come to be few. Nodes that make
/// parameters from parameters alone are no work: each stage has a copy of those that it needs, as it has of the
/// initialisers that it reads; every other node is in one stage. Whatever the file says of nodes, initialisers,
/// functions, operator sets and versions is copied byte by byte; with `weft.stage` and `weft.device` in the metadata.
/// Training information is left out. Inputs and outputs between stages have the types that the model declares, else
/// those that follow from it; extents that depend on open ones of the model's inputs stay open.
/// ```
/// const weft::onnx::split_model cut{bytes, result.plan.placement};
/// for (std::uint32_t k = 0; k < cut.stages().size(); ++k) {
///   write_to("stage_" + std::to_string(k) + ".onnx", cut.piece(k, names));
/// }
/// ```
class split_model {
public:
  /// `bytes` is the model as read, which must outlive this; `p` has a device per op of its workload; `options` only say
  /// how large tensors are. Errors call the model `file`. Throws `value_error` for a placement of another model, or
  /// with ops that are not placed, else as `reader::read`. Complexity: that of reading the model up to five times, and
  /// of `sequential_groups`. Memory: as for reading; no piece is kept.
  split_model(std::string_view bytes, const placement& p, const reader& options = {},
              const std::string& file = "<model>")
      : split_model{parsed_model{bytes, file}, p, options} {}
  /// The same of a file that was decoded before.
  split_model(const parsed_model& m, const placement& p, const reader& options = {}) {
    const auto& decoded = m.decoded();
    const auto& file = m.file();
    read_fields(m.bytes());
    detail::graph_of_model graph{decoded, options, file};
    graph.infer();
    (void)graph.read();
    check(p, decoded, file);
    cut(graph, p);
    add_parameters(graph, p);
    add_tensors(graph, decoded);
    add_initializers(graph);
    declare(detail::tensor_types{decoded, file});
    add_functions(decoded);
  }

  const std::vector<split_stage>& stages() const { return stages_; }
  /// The inputs of the model in its order, then what goes between stages or is an output.
  const std::vector<split_tensor>& tensors() const { return tensors_; }
  /// The numbers of the tensors that are the outputs of the model, in its order.
  const std::vector<std::uint32_t>& outputs() const { return outputs_; }
  const std::vector<shared_parameter>& shared() const { return shared_; }
  /// Notes on what was left out or is not known; a line each.
  const std::vector<std::string>& notes() const { return notes_; }

  /// The bytes of a stage's model. `prefix`, such as `weights/`, comes before each relative path to external data: the
  /// way from where the piece will be to the folder of the whole model. Preconditions: there is stage k; `devices` has
  /// the name of its device. Complexity: O(size of the model).
  std::string piece(std::uint32_t k, std::span<const std::string> devices, std::string_view prefix = {}) const {
    using wire::message;
    const auto& stage = stages_[k];
    bool any = false;
    const auto append = [&](std::string& out, const wire::field& f, message m = message::none) {
      if (prefix.empty() || m == message::none) {
        out += f.whole;
      } else {
        wire::put(out, f.number, detail::with_moved_data(f.bytes, m, prefix, any));
      }
    };
    const auto append_all = [&](std::string& out, const std::vector<wire::field>& list) {
      std::ranges::for_each(list, [&](const wire::field& f) { append(out, f); });
    };
    std::string graph;
    std::unordered_set<std::string_view> names;    // of all tensors of the stage
    std::unordered_set<std::string_view> declared; // those with a type of their own
    std::vector<op_id> nodes(stage.ops);
    nodes.insert(nodes.end(), stage.copies.begin(), stage.copies.end());
    std::ranges::sort(nodes);
    for (const op_id v : nodes) {
      append(graph, nodes_[v], message::node);
      for (const auto& f : wire::fields{nodes_[v].bytes, any}) {
        if (f.number == 2) {
          names.insert(f.bytes);
        }
      }
    }
    for (const std::uint32_t i : initializers_of_[k]) {
      append(graph, initializers_[i], initializers_[i].number == 5 ? message::tensor : message::sparse);
      names.insert(name_of_initializer(i));
    }
    for (const std::uint32_t t : stage.inputs) {
      wire::put(graph, 11, declarations_[t]);
      names.insert(tensors_[t].name);
      declared.insert(tensors_[t].name);
    }
    append_all(graph, rest_);
    for (const std::uint32_t t : stage.outputs) {
      wire::put(graph, 12, declarations_[t]);
      declared.insert(tensors_[t].name);
    }
    std::vector<wire::field> about; // types of what has none yet, and how tensors are quantised
    for (const auto name : names) {
      const auto [first, last] = about_.equal_range(name);
      std::for_each(first, last, [&](const auto& entry) {
        if (entry.second.number == 14 || !declared.contains(name)) {
          about.push_back(entry.second);
        }
      });
    }
    std::ranges::sort(about, {}, [](const wire::field& f) { return f.whole.data(); }); // as in the file
    append_all(graph, about);
    std::string model;
    append_all(model, of_model_);
    wire::put(model, 7, graph);
    for (const std::uint32_t i : functions_of(nodes)) {
      append(model, functions_[i], message::function);
    }
    wire::put(model, 14, detail::property("weft.stage", std::to_string(k)));
    wire::put(model, 14, detail::property("weft.device", devices[stage.device]));
    return model;
  }

private:
  using graph_reader = detail::graph_of_model;

  /// The parts of the file, as bytes.
  void read_fields(std::string_view bytes) {
    bool training = false;
    bool damaged = false;
    for (const auto& f : wire::fields{bytes, damaged}) {
      if (f.number == 7) {
        for (const auto& part : wire::fields{f.bytes, damaged}) {
          auto& list = part.number == 1 ? nodes_ : part.number == 5 || part.number == 15 ? initializers_ : rest_;
          if (part.number == 13 || part.number == 14) {
            about_.emplace(wire::text_in(part.bytes, 1), part);
          } else if (part.number != 11 && part.number != 12) {
            list.push_back(part);
          }
        }
      } else if (f.number == 20) {
        training = true;
      } else if (!detail::is_placement(f)) {
        (f.number == 25 ? functions_ : of_model_).push_back(f);
      }
    }
    if (training) {
      notes_.emplace_back("training information is left out: it belongs to the whole model");
    }
  }

  void check(const placement& p, const ::onnx::ModelProto& m, const std::string& file) const {
    const auto count = static_cast<std::size_t>(m.graph().node_size());
    if (p.size() != count) {
      throw value_error("placement", "has " + std::to_string(p.size()) + " ops, but " + file + " has " +
                                       std::to_string(count) + " nodes");
    }
    if (count == 0) {
      throw value_error("placement", "the model has no nodes to cut");
    }
    if (const auto v = static_cast<std::size_t>(std::ranges::find(p, none) - p.begin()); v < count) {
      throw value_error("placement of node " + std::to_string(v), "it is not placed; a model is cut by devices");
    }
    if (nodes_.size() != count) {
      throw parse_error(file, 0, "the model is damaged: its bytes are not a complete ModelProto");
    }
  }

  /// Which nodes that compute something are in which stage.
  void cut(const graph_reader& graph, const placement& p) {
    const std::size_t n = p.size();
    std::vector<op_id> number(n, none); // among those that compute
    std::vector<op_id> computes;
    std::vector<std::uint32_t> device;
    for (const op_id v : ids(n)) {
      if (!graph.makes_parameters(v)) {
        number[v] = static_cast<op_id>(computes.size());
        computes.push_back(v);
        device.push_back(p[v]);
      }
    }
    std::vector<std::vector<op_id>> readers(computes.size());
    for (const op_id v : computes) {
      for_each_maker(graph, v, [&](op_id from) {
        if (number[from] != none) {
          readers[number[from]].push_back(number[v]);
        }
      });
    }
    stage_of_.assign(n, none);
    for (auto& group : graph::sequential_groups(readers, device)) {
      auto& stage = stages_.emplace_back(split_stage{.device = device[group.front()]});
      for (const op_id i : group) {
        stage.ops.push_back(computes[i]);
        stage_of_[computes[i]] = static_cast<std::uint32_t>(stages_.size() - 1);
      }
      std::ranges::sort(stage.ops);
    }
    if (stages_.empty()) { // nothing but parameters
      stages_.push_back({.device = p.front()});
    }
  }

  /// Nodes that make parameters go where they are read; one that nobody reads, to its device.
  void add_parameters(const graph_reader& graph, const placement& p) {
    const std::size_t n = p.size();
    std::vector<std::uint8_t> is_read(n, 0);
    for (const op_id v : ids(n)) {
      for_each_maker(graph, v, [&](op_id from) { is_read[from] = 1; });
    }
    std::map<device_id, std::uint32_t> first_of; // the first stage of a device
    for (const std::uint32_t k : ids(stages_.size())) {
      first_of.emplace(stages_[k].device, k);
    }
    for (const op_id v : ids(n)) {
      if (graph.makes_parameters(v) && is_read[v] == 0) {
        const auto home = first_of.find(p[v]);
        stages_[home == first_of.end() ? 0 : home->second].copies.push_back(v);
      }
    }
    std::vector<std::uint32_t> copied_to(n, none); // the last stage that has it
    for (const std::uint32_t k : ids(stages_.size())) {
      auto& stage = stages_[k];
      auto open = stage.ops;
      open.insert(open.end(), stage.copies.begin(), stage.copies.end());
      while (!open.empty()) {
        const op_id v = open.back();
        open.pop_back();
        for_each_maker(graph, v, [&](op_id from) {
          if (graph.makes_parameters(from) && copied_to[from] != k) {
            copied_to[from] = k;
            stage.copies.push_back(from);
            open.push_back(from);
          }
        });
      }
      std::ranges::sort(stage.copies);
      for (const op_id v : stage.copies) {
        stage_of_[v] = std::min(stage_of_[v], k);
      }
    }
  }

  /// The nodes that make what a node reads.
  template <class Visit>
  static void for_each_maker(const graph_reader& graph, op_id v, Visit visit) {
    for (const auto x : graph.inputs(v)) {
      if (const op_id from = graph.maker(x); from != none) {
        visit(from);
      }
    }
  }
  /// All nodes of all stages, copies included: `visit(stage, node)`.
  template <class Visit>
  void for_each_node(Visit visit) const {
    for (const std::uint32_t k : ids(stages_.size())) {
      for (const auto* list : {&stages_[k].ops, &stages_[k].copies}) {
        for (const op_id v : *list) {
          visit(k, v);
        }
      }
    }
  }

  std::uint32_t tensor_called(std::string_view name, graph_reader& graph, std::uint32_t from) {
    const auto [at, is_new] = number_.try_emplace(std::string{name}, static_cast<std::uint32_t>(tensors_.size()));
    if (is_new) {
      tensors_.push_back({.name = at->first, .from = from, .bytes = graph.bytes_of(name)});
    }
    return at->second;
  }

  void add_tensors(graph_reader& graph, const ::onnx::ModelProto& m) {
    for (const auto& x : m.graph().input()) {
      tensor_called(x.name(), graph, none);
    }
    for_each_node([&](std::uint32_t k, op_id v) {
      for (const auto x : graph.inputs(v)) {
        const op_id from = graph.maker(x);
        const bool comes_in = from == none ? number_.contains(std::string{x})
                                           : !graph.makes_parameters(from) && stage_of_[from] != k;
        if (comes_in) {
          auto& to = tensors_[tensor_called(x, graph, from == none ? none : stage_of_[from])].to;
          if (to.empty() || to.back() != k) {
            to.push_back(k);
          }
        }
      }
    });
    for (const auto& x : m.graph().output()) {
      const op_id from = graph.maker(x.name());
      const auto t = tensor_called(x.name(), graph, from == none ? 0 : stage_of_[from]); // 0 has what is an initialiser
      tensors_[t].is_output = true;
      outputs_.push_back(t);
    }
    for (const std::uint32_t t : ids(tensors_.size())) {
      for (const std::uint32_t k : tensors_[t].to) {
        stages_[k].inputs.push_back(t);
      }
      if (tensors_[t].from != none) {
        stages_[tensors_[t].from].outputs.push_back(t);
      }
    }
    // A model needs an output: a stage whose tensors nobody else reads gets one.
    for (const std::uint32_t k : ids(stages_.size())) {
      if (stages_[k].outputs.empty() && !stages_[k].ops.empty()) {
        for (const auto& x : m.graph().node(static_cast<int>(stages_[k].ops.back())).output()) {
          if (!x.empty()) {
            stages_[k].outputs.push_back(tensor_called(x, graph, k));
          }
        }
      }
    }
  }

  std::string_view name_of_initializer(std::uint32_t i) const {
    const auto& f = initializers_[i];
    return wire::text_in(f.number == 5 ? f.bytes : wire::text_in(f.bytes, 1), 8);
  }

  void add_initializers(graph_reader& graph) {
    std::unordered_map<std::string_view, std::uint32_t> number;
    for (const std::uint32_t i : ids(initializers_.size())) {
      number.emplace(name_of_initializer(i), i);
    }
    std::vector<std::set<std::uint32_t>> read(stages_.size());
    const auto use = [&](std::uint32_t k, std::string_view name) {
      if (const auto found = number.find(name); found != number.end()) {
        read[k].insert(found->second);
      }
    };
    for_each_node([&](std::uint32_t k, op_id v) {
      for (const auto x : graph.inputs(v)) {
        use(k, x);
      }
    });
    for (const std::uint32_t t : stages_.front().outputs) {
      use(0, tensors_[t].name);
    }
    for (auto& t : tensors_) {
      t.has_default = t.from == none && number.contains(t.name);
    }
    std::vector<std::vector<std::uint32_t>> stages_of(initializers_.size());
    for (const std::uint32_t k : ids(stages_.size())) {
      initializers_of_.emplace_back(read[k].begin(), read[k].end());
      for (const std::uint32_t i : read[k]) {
        stages_[k].parameter_bytes += graph.bytes_of(name_of_initializer(i));
        stages_of[i].push_back(k);
      }
    }
    for (const std::uint32_t i : ids(initializers_.size())) {
      if (const auto name = name_of_initializer(i); stages_of[i].size() > 1) {
        shared_.push_back({std::string{name}, graph.bytes_of(name), std::move(stages_of[i])});
      }
    }
  }

  /// What inputs and outputs are declared as.
  void declare(const detail::tensor_types& types) {
    io::tally unknown;
    for (const auto& t : tensors_) {
      ::onnx::ValueInfoProto info;
      info.set_name(t.name);
      *info.mutable_type() = types(t.name);
      if (!info.type().has_tensor_type() ? info.type().value_case() == ::onnx::TypeProto::VALUE_NOT_SET
                                         : !info.type().tensor_type().has_shape()) {
        unknown.add("shapes are unknown and left out, which ONNX Runtime allows, and ONNX's checker does not", t.name);
      }
      declarations_.push_back(info.SerializeAsString());
    }
    std::ranges::move(unknown.notes(), std::back_inserter(notes_));
  }

  /// Which functions of the model nodes and functions call, also from bodies.
  void add_functions(const ::onnx::ModelProto& m) {
    if (functions_.empty()) {
      return;
    }
    std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> called;
    called_by_functions_.resize(static_cast<std::size_t>(m.functions_size()));
    for (const std::uint32_t i : ids(called_by_functions_.size())) {
      const auto& f = m.functions(static_cast<int>(i));
      const auto [at, is_new] = called.emplace(std::pair<std::string_view, std::string_view>{f.domain(), f.name()},
                                               static_cast<std::uint32_t>(overloads_.size()));
      if (is_new) {
        overloads_.emplace_back();
      }
      overloads_[at->second].push_back(i);
    }
    const auto collect = [&](const auto& self, const ::onnx::NodeProto& n, std::vector<std::uint32_t>& calls) -> void {
      if (const auto found = called.find({n.domain(), n.op_type()}); found != called.end()) {
        calls.push_back(found->second);
      }
      detail::for_each_body(n, [&](const ::onnx::GraphProto& body) {
        for (const auto& inner : body.node()) {
          self(self, inner, calls);
        }
      });
    };
    for (int i = 0; i < m.functions_size(); ++i) {
      for (const auto& n : m.functions(i).node()) {
        collect(collect, n, called_by_functions_[static_cast<std::size_t>(i)]);
      }
    }
    for (const auto& n : m.graph().node()) {
      collect(collect, n, called_by_nodes_.emplace_back());
    }
  }

  /// Those that nodes call, and those that these call.
  std::vector<std::uint32_t> functions_of(const std::vector<op_id>& nodes) const {
    std::vector<std::uint8_t> is_called(overloads_.size(), 0);
    std::vector<std::uint32_t> all;
    const auto add = [&](const std::vector<std::uint32_t>& calls) {
      for (const std::uint32_t name : calls) {
        if (std::exchange(is_called[name], std::uint8_t{1}) == 0) {
          all.insert(all.end(), overloads_[name].begin(), overloads_[name].end());
        }
      }
    };
    for (const op_id v : nodes) {
      if (!called_by_nodes_.empty()) {
        add(called_by_nodes_[v]);
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      add(called_by_functions_[all[i]]);
    }
    std::ranges::sort(all);
    return all;
  }

  // Parts of the file.
  std::vector<wire::field> nodes_, initializers_, functions_;
  std::vector<wire::field> rest_;                                    // of the graph
  std::vector<wire::field> of_model_;                                // without graph, functions and training
  std::unordered_multimap<std::string_view, wire::field> about_; // types and quantisation of tensors, by name
  std::vector<std::vector<std::uint32_t>> overloads_; // the functions of each name; all of them go where one is called
  std::vector<std::vector<std::uint32_t>> called_by_nodes_, called_by_functions_; // numbers of names

  std::vector<split_stage> stages_;
  std::vector<std::uint32_t> stage_of_; // by node; of copies the first
  std::vector<std::vector<std::uint32_t>> initializers_of_; // by stage
  std::vector<split_tensor> tensors_;
  std::unordered_map<std::string, std::uint32_t> number_; // of tensors, by name
  std::vector<std::string> declarations_;                 // of tensors
  std::vector<std::uint32_t> outputs_;
  std::vector<shared_parameter> shared_;
  std::vector<std::string> notes_;
};

} // namespace weft::onnx
