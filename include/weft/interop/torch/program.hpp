// SPDX-License-Identifier: BSL-1.0
/// Exported programs as PyTorch's own ops, which any executor can run.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/sort.hpp"
#include "weft/interop/pytorch/archive.hpp"
#include "weft/interop/pytorch/document.hpp"
#include "weft/interop/pytorch/schema.hpp"
#include "weft/interop/torch/archive.hpp"
#include "weft/interop/torch/call.hpp"
#include "weft/io/files.hpp"
#include "weft/io/text.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ATen/core/enum_tag.h>
#include <torch/csrc/api/include/torch/version.h>

namespace weft::torch {

/// A tensor that is there before a run: a parameter, a buffer or a constant, or an input.
struct given_tensor {
  std::string name = {};
  slot to = none;
  at::Tensor value = {}; ///< undefined for an input of which the archive has no example
};

/// A program of PyTorch's ops: calls in an order in which they may run, and what must run before what. Ops that write
/// into their arguments come after all that read these before, also by way of views, and before all that read them
/// later; ops that draw random numbers come one after the other.
/// ```
/// const auto step = weft::torch::read_program("step.pt2"); // by scripts/torch_step.py
/// weft::torch::session values{step};
/// weft::static_executor run{step.graph, plan};
/// run([&](weft::op_id v, weft::team t) { values.run(v, t); });
/// ```
struct program {
  std::vector<call> calls = {};          ///< by op
  std::vector<std::string> keys = {};    ///< by op: what it computes of which shapes; equal ones cost the same
  std::vector<given_tensor> state = {};  ///< parameters, buffers and constants, which runs may change
  std::vector<given_tensor> inputs = {};
  std::vector<slot> results = {};
  std::uint32_t num_slots = 0;
  weft::workload graph = {};             ///< what must run before what; tensors have the bytes of an op's results
};

namespace detail {

/// True if the op writes into that argument: its schema says so, or it is one of statistics, which schemas of norms do
/// not mark. Source: aten/src/ATen/native/native_functions.yaml.
inline bool writes(const c10::FunctionSchema& op, const c10::Argument& formal) {
  const auto* alias = formal.alias_info();
  const auto has = [&](std::string_view part) { return op.name().find(part) != std::string::npos; };
  return (alias != nullptr && alias->isWrite()) ||
         (formal.name().starts_with("running_") && !has("_backward") && !has("_functional")) ||
         (formal.name() == "noise" && has("rrelu_with_noise") && !has("_backward"));
}

/// True if results of the op may be its arguments or views of them though its schema does not say so, as for many ops
/// that PyTorch makes of others.
inline bool may_be_view(const c10::OperatorHandle& op) {
  return op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) ||
         op.schema().name() == "aten::_unsafe_view" || op.schema().name() == "aten::lift";
}

/// True if the op draws random numbers. Those of several ops are not marked as such.
inline bool is_random(const c10::OperatorHandle& op) {
  static const std::set<std::string_view> of_several{"aten::lstm", "aten::gru", "aten::rnn_tanh", "aten::rnn_relu",
                                                     "aten::scaled_dot_product_attention", "aten::_fused_dropout",
                                                     "aten::_scaled_dot_product_attention"};
  return op.hasTag(at::Tag::nondeterministic_seeded) || of_several.contains(op.schema().name());
}

/// Storages that may be one, the ops that wrote them last, and the readers since then.
class storages {
public:
  std::uint32_t add() {
    parent_.push_back(static_cast<std::uint32_t>(parent_.size()));
    histories_.emplace_back();
    return parent_.back();
  }
  void unite(std::uint32_t a, std::uint32_t b) {
    a = root(a);
    b = root(b);
    if (a != b) {
      parent_[b] = a;
      auto& from = histories_[b];
      auto& to = histories_[a];
      to.writers.insert(to.writers.end(), from.writers.begin(), from.writers.end());
      to.readers.insert(to.readers.end(), from.readers.begin(), from.readers.end());
      from = {};
    }
  }
  /// Adds to `before` what a reader waits for, and one that also writes.
  void read(std::uint32_t s, op_id v, std::vector<op_id>& before) {
    auto& h = histories_[root(s)];
    before.insert(before.end(), h.writers.begin(), h.writers.end());
    h.readers.push_back(v);
  }
  void write(std::uint32_t s, op_id v, std::vector<op_id>& before) {
    auto& h = histories_[root(s)];
    before.insert(before.end(), h.writers.begin(), h.writers.end());
    before.insert(before.end(), h.readers.begin(), h.readers.end());
    h = {{v}, {}};
  }

private:
  struct history {
    std::vector<op_id> writers = {};
    std::vector<op_id> readers = {};
  };
  std::uint32_t root(std::uint32_t s) {
    while (parent_[s] != s) {
      s = parent_[s] = parent_[parent_[s]];
    }
    return s;
  }

  std::vector<std::uint32_t> parent_;
  std::vector<history> histories_; ///< by root
};

/// Reads a program call by call.
class program_of_export {
public:
  program_of_export(const json& document, const pytorch::detail::opened_archive* archive)
      : document_{document}, archive_{archive} {}

  program operator()() && {
    constexpr double known = 8; // of torch/_export/serde/schema.py
    if (const auto major = pytorch::detail::whole_number(document_, "schema_version", "major"); major > known) {
      throw error("it has schema version " + std::to_string(static_cast<std::int64_t>(*major)) +
                  ", and up to 8 is known here; export it with an older PyTorch or scripts/torch_step.py");
    }
    const auto& module = pytorch::detail::member(document_, "graph_module", "the program");
    const auto& graph = pytorch::detail::member(module, "graph", "the program's graph_module");
    tensor_values_ = &pytorch::detail::members(pytorch::detail::find(graph, "tensor_values"));
    bind_inputs(module, graph);
    std::size_t number = 0;
    for (const auto& node : pytorch::detail::list(graph, "nodes", "the program's graph")) {
      const auto target = pytorch::detail::text(node, "target");
      try {
        add_call(node, target);
      } catch (const std::exception& e) {
        const auto where = "node " + std::to_string(number) + " (" + io::on_one_line(target) + "): ";
        throw error(where + io::on_one_line(e.what()));
      }
      ++number;
    }
    if (!missing_.empty()) {
      throw error(io::counted(missing_.size(), "{op is|ops are} not in PyTorch " TORCH_VERSION) +
                  ", with which this was built: " + first_of_missing());
    }
    bind_outputs(pytorch::detail::list(graph, "outputs", "the program's graph"),
                 pytorch::detail::find(module, "signature"));
    p_.num_slots = static_cast<std::uint32_t>(maker_.size());
    p_.graph = std::move(builder_).build();
    return std::move(p_);
  }

private:
  slot new_slot(const std::string& name) {
    const auto s = static_cast<slot>(maker_.size());
    if (!slots_.emplace(name, s).second) {
      throw error("tensor " + io::in_quotes(name) + " is made twice");
    }
    storages_.add();
    maker_.push_back(none);
    shapes_.push_back(shape_of(name));
    return s;
  }
  /// Element type, extents and strides, as the program has them.
  std::string shape_of(const std::string& name) const {
    const auto* meta = pytorch::detail::find(tensor_values_, name.c_str());
    std::string text;
    for (const char* part : {"dtype", "sizes", "strides"}) {
      const auto* value = pytorch::detail::find(meta, part);
      text += value == nullptr ? "?" : value->is_number() ? value->dump() : "[";
      for (const auto& extent : pytorch::detail::items(value)) {
        text += (text.back() == '[' ? "" : ",") + std::to_string(static_cast<std::int64_t>(
                                                    pytorch::detail::whole_number(extent, "as_int").value_or(-1)));
      }
      text += value != nullptr && value->is_array() ? "]" : "";
    }
    return text;
  }
  /// The op with its arguments, tensors by their shapes.
  std::string key_of(const call& c) const {
    std::ostringstream text;
    text << c.name << "(";
    for (const char* separator = ""; const auto& a : c.arguments) {
      text << std::exchange(separator, ", ");
      if (a.slots.empty()) {
        text << a.value;
      }
      for (const slot s : a.slots) {
        text << (s == none ? "none" : shapes_[s]);
      }
    }
    text << ")";
    return text.str();
  }
  slot slot_of(const std::string& name) const {
    const auto at = slots_.find(name);
    if (at == slots_.end()) {
      throw error("tensor " + io::in_quotes(name) + " is read before any node makes it");
    }
    return at->second;
  }

  void bind_inputs(const json& module, const json& graph) {
    const auto* signature = pytorch::detail::find(module, "signature");
    std::map<std::string, at::Tensor> saved, constants;
    c10::IValue examples;
    if (archive_ != nullptr) {
      saved = tensors_in(*archive_, "serialized_state_dict.pt");
      constants = tensors_in(*archive_, "serialized_constants.pt");
      examples = saved_in(*archive_, "serialized_example_inputs.pt");
      if (examples.isTuple() && examples.toTupleRef().size() == 2 && examples.toTupleRef().elements()[0].isTuple()) {
        examples = c10::IValue{examples.toTupleRef().elements()[0]}; // beside those by name
      }
    }
    const auto example = [&](std::size_t i) -> at::Tensor {
      const bool has = examples.isTuple() && i < examples.toTupleRef().size();
      const auto given = has ? examples.toTupleRef().elements()[i] : c10::IValue{};
      return given.isTensor() ? given.toTensor() : at::Tensor{};
    };
    for (const auto& spec : pytorch::detail::items(pytorch::detail::find(signature, "input_specs"))) {
      bool is_state = false;
      for (const std::string kind : {"parameter", "buffer", "tensor_constant"}) {
        if (const auto name = pytorch::detail::text(spec, kind.c_str(), "arg", "name"); !name.empty()) {
          const auto called = pytorch::detail::text(spec, kind.c_str(), (kind + "_name").c_str());
          const auto& from = kind == "tensor_constant" || !saved.contains(called) ? constants : saved;
          const auto value = from.find(called);
          if (value == from.end()) {
            throw error("the archive has no values of " + kind + " " + io::in_quotes(called) +
                        "; scripts/torch_step.py writes them");
          }
          p_.state.push_back({called, new_slot(name), value->second});
          is_state = true;
        }
      }
      if (const auto name = pytorch::detail::text(spec, "user_input", "arg", "as_tensor", "name"); !name.empty()) {
        p_.inputs.push_back({name, new_slot(name), example(p_.inputs.size())});
      } else if (!is_state) {
        throw error("an input of the program is not a tensor: " + spec.dump().substr(0, 80));
      }
    }
    for (const auto& input : pytorch::detail::list(graph, "inputs", "the program's graph")) {
      for (const auto& name : pytorch::detail::tensors_of(input)) {
        static_cast<void>(slot_of(name));
      }
    }
  }

  /// The results of the program; what replaces a buffer, a parameter or an input is copied there.
  void bind_outputs(const json& outputs, const json* signature) {
    const auto& specs = pytorch::detail::items(pytorch::detail::find(signature, "output_specs"));
    std::map<std::string, slot> named;
    for (const auto& t : p_.state) {
      named.emplace(t.name, t.to);
    }
    for (const auto& t : p_.inputs) {
      named.emplace(t.name, t.to);
    }
    std::vector<std::pair<slot, slot>> replaced;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto [kind, spec] = pytorch::detail::kind_of(i < specs.size() ? specs[i] : outputs[i]);
      std::string target;
      for (const char* key : {"buffer_name", "parameter_name", "user_input_name"}) {
        target += kind.ends_with("_mutation") ? pytorch::detail::text(*spec, key) : std::string{};
      }
      for (const auto& name : pytorch::detail::tensors_of(outputs[i])) {
        if (name.empty()) {
          continue;
        }
        if (target.empty()) {
          p_.results.push_back(slot_of(name));
        } else if (!named.contains(target)) {
          throw error("an output replaces " + io::in_quotes(target) + ", which the program does not have");
        } else {
          replaced.emplace_back(named.at(target), slot_of(name));
        }
      }
    }
    const auto copy = c10::Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "");
    for (const auto& [to, from] : replaced) {
      const auto v = static_cast<op_id>(p_.calls.size());
      builder_.add_op({.bytes = 0, .name = "copy_of_" + std::to_string(v), .type = "aten.copy_"});
      call c{copy, "aten::copy_", {{.slots = {to}}, {.slots = {from}}, {.value = false}}, {{}}, {false}};
      order(v, c);
      p_.keys.push_back(key_of(c));
      p_.calls.push_back(std::move(c));
    }
  }

  void add_call(const json& node, const std::string& target) {
    const auto called = operator_of(target);
    const auto op = c10::Dispatcher::singleton().findSchema(called);
    if (!op) {
      missing_.insert(c10::toString(called));
      for (const auto& name : pytorch::detail::results_of(node, "a node")) {
        new_slot(name);
      }
      return;
    }
    if (op->schema().name() == "aten::set_") {
      throw error("it gives a tensor the storage of another one, which programs here cannot follow");
    }
    const auto v = static_cast<op_id>(p_.calls.size());
    call c{*op, c10::toString(called), arguments_of(node, op->schema()), {}, {}};
    builder_.add_op({.bytes = bytes_of(node), .name = name_of(node, target), .type = pytorch::detail::type_of(target)});
    order(v, c);
    bind_results(v, node, c);
    p_.keys.push_back(key_of(c));
    p_.calls.push_back(std::move(c));
  }

  std::vector<argument> arguments_of(const json& node, const c10::FunctionSchema& schema) const {
    std::map<std::string, const json*> given;
    for (const auto& input : pytorch::detail::list(node, "inputs", "a node")) {
      given[pytorch::detail::text(input, "name")] = &pytorch::detail::member(input, "arg", "an argument");
    }
    std::vector<argument> all;
    for (const auto& formal : schema.arguments()) {
      const auto at = given.find(formal.name());
      if (at == given.end()) {
        if (!formal.default_value()) {
          throw error("argument " + io::in_quotes(formal.name()) + " is missing");
        }
        all.push_back({.value = *formal.default_value()});
        continue;
      }
      all.push_back(argument_of(*at->second, formal));
      given.erase(at);
    }
    for (const auto& [name, argument] : given) {
      if (pytorch::detail::kind_of(*argument).first != "as_none") {
        throw error("argument " + io::in_quotes(name) + " is not known to PyTorch " TORCH_VERSION);
      }
    }
    return all;
  }
  argument argument_of(const json& given, const c10::Argument& formal) const {
    try {
      const auto [kind, value] = pytorch::detail::kind_of(given);
      if (value == nullptr) {
        throw error("it has no value");
      }
      const auto& type = type_of(formal);
      const bool takes_list = type.kind() == c10::TypeKind::ListType;
      const auto& element = takes_list ? *type.expectRef<c10::ListType>().getElementType() : type;
      const bool takes_none = takes_list && element.kind() == c10::TypeKind::OptionalType;
      const auto& one = takes_none ? *element.expectRef<c10::OptionalType>().getElementType() : element;
      if (kind.find("tensor") == kind.npos) {
        if (takes_list && one.kind() == c10::TypeKind::TensorType && value->is_array() && value->empty()) {
          return {.is_list = true, .is_optional = takes_none}; // an empty list is one of whole numbers in programs
        }
        return {.value = value_of(kind, *value, formal)};
      }
      argument a{.is_list = kind.ends_with("tensors"), .is_optional = takes_none};
      if (one.kind() != c10::TypeKind::TensorType || a.is_list != takes_list) {
        throw error("tensors are given where none can be");
      }
      for (const auto& name : pytorch::detail::tensors_of(given)) {
        a.slots.push_back(name.empty() ? none : slot_of(name));
      }
      if (!a.is_list && a.slots.size() != 1) {
        throw error("one tensor has to be given");
      }
      return a;
    } catch (const error& e) {
      throw error("argument " + io::in_quotes(formal.name()) + ": " + e.what());
    }
  }

  void bind_results(op_id v, const json& node, call& c) {
    const auto& schema = c.op.schema();
    const auto& outputs = pytorch::detail::list(node, "outputs", "a node");
    if (outputs.size() > schema.returns().size()) {
      throw error("it has " + std::to_string(outputs.size()) + " results, and PyTorch " TORCH_VERSION " makes " +
                  std::to_string(schema.returns().size()));
    }
    for (std::size_t i = 0; i < schema.returns().size(); ++i) {
      std::vector<slot> slots;
      if (i < outputs.size()) {
        for (const auto& name : pytorch::detail::tensors_of(outputs[i])) {
          slots.push_back(name.empty() ? none : new_slot(name));
          if (slots.back() != none) {
            maker_[slots.back()] = v;
            unite_with_viewed(slots.back(), c, schema.returns()[i]);
          }
        }
      }
      c.results.push_back(std::move(slots));
      c.is_list.push_back(schema.returns()[i].type()->kind() == c10::TypeKind::ListType);
    }
  }
  /// A result may be in the storage of arguments: of those that the schema says, or where it says nothing of any.
  void unite_with_viewed(slot made, const call& c, const c10::Argument& result) {
    const bool is_list = result.type()->kind() == c10::TypeKind::ListType;
    const auto* alias = result.alias_info();
    for (std::size_t i = 0; i < c.arguments.size(); ++i) {
      const auto* other = c.op.schema().arguments()[i].alias_info();
      const bool is_said = alias != nullptr && other != nullptr && alias->beforeSets() == other->beforeSets();
      if (is_said || (is_list && other != nullptr) || (alias == nullptr && may_be_view(c.op))) {
        for (const slot s : c.arguments[i].slots) {
          if (s != none) {
            storages_.unite(s, made);
          }
        }
      }
    }
  }

  /// Adds the edges to v: from the makers of what it reads, and where it writes, from readers and writers before.
  void order(op_id v, const call& c) {
    const auto& schema = c.op.schema();
    std::vector<op_id> before;
    for (const bool writing : {false, true}) { // an op may read what it writes by another argument
      for (std::size_t i = 0; i < c.arguments.size(); ++i) {
        for (const slot s : c.arguments[i].slots) {
          if (s != none && writing == writes(schema, schema.arguments()[i])) {
            before.push_back(maker_[s]);
            writing ? storages_.write(s, v, before) : storages_.read(s, v, before);
          }
        }
      }
    }
    if (is_random(c.op)) {
      before.push_back(std::exchange(last_random_, v));
    }
    sort_unique(before);
    for (const op_id u : before) {
      if (u != none && u != v) {
        builder_.add_edge(u, v);
      }
    }
  }

  /// Of all results of a node. Throws for sizes that no memory has.
  byte_count bytes_of(const json& node) const {
    double bytes = 0;
    for (const auto& name : pytorch::detail::results_of(node, "a node")) {
      const auto* meta = pytorch::detail::find(tensor_values_, name.c_str());
      const auto type = meta != nullptr ? pytorch::detail::whole_number(*meta, "dtype") : std::nullopt;
      double size = type ? static_cast<double>(c10::elementSize(scalar_type(static_cast<std::int64_t>(*type)))) : 4;
      for (const auto& extent : pytorch::detail::items(pytorch::detail::find(meta, "sizes"))) {
        size *= std::max(pytorch::detail::whole_number(extent, "as_int").value_or(1), 0.0);
      }
      bytes += size;
    }
    if (!(bytes < static_cast<double>(max_total_bytes))) {
      throw error("its results are larger than any memory");
    }
    return static_cast<byte_count>(bytes);
  }
  static std::string name_of(const json& node, const std::string& target) {
    const auto results = pytorch::detail::results_of(node, "a node");
    return results.empty() ? target : results.front();
  }
  std::string first_of_missing() const {
    std::string text;
    std::size_t count = 0;
    for (const auto& name : missing_) {
      text += (text.empty() ? "" : ", ") + (count++ < 5 ? name : "…");
      if (count > 5) {
        break;
      }
    }
    return text;
  }

  const json& document_;
  const pytorch::detail::opened_archive* archive_;
  const json* tensor_values_ = nullptr;
  program p_;
  workload_builder builder_;
  std::unordered_map<std::string, slot> slots_;
  storages storages_;        ///< one per slot
  std::vector<op_id> maker_; ///< by slot
  std::vector<std::string> shapes_; ///< by slot
  op_id last_random_ = none;
  std::set<std::string> missing_;
};

} // namespace detail

/// The program of an archive that scripts/torch_step.py wrote, with its tensors. `file` is its name in
/// errors. Throws `parse_error`: also for ops that this PyTorch lacks.
inline program program_of(std::string_view bytes, const std::string& file) {
  const bool is_archive = bytes.starts_with(std::string_view{"PK\x03\x04", 4});
  const auto archive = is_archive ? std::optional<pytorch::detail::opened_archive>{std::in_place, bytes, file}
                                  : std::nullopt;
  std::vector<std::string> notes;
  const auto inflated = archive ? pytorch::detail::program_in(*archive, notes) : std::string{};
  const auto document = pytorch::detail::parse_document(archive ? std::string_view{inflated} : bytes, file);
  return io::in_file(file, [&] { return detail::program_of_export{document, archive ? &*archive : nullptr}(); });
}

/// The program in a file. Throws `error` if it cannot be opened, else as `program_of`.
inline program read_program(const std::filesystem::path& path) {
  return program_of(io::read_file(path), path.string());
}

} // namespace weft::torch
