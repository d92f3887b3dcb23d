// SPDX-License-Identifier: BSL-1.0
/// Goes through the nodes of a model: shapes of all tensors, FLOP of all nodes, and what is a parameter.
#pragma once

#include "weft/interop/onnx/inference.hpp"
#include "weft/interop/onnx/op_costs.hpp"
#include "weft/interop/onnx/shapes.hpp"
#include "weft/io/text.hpp"

#include <charconv>
#include <limits>

namespace weft::onnx {

namespace detail {

/// What a node costs.
struct node_cost {
  double flop = 0;
  byte_count resident_bytes = 0; ///< of the parameters inside its bodies
  bool parameter = false;        ///< its outputs are known before the model runs
};

/// Walks over a model; everything that it learns of the main graph stays in `main()`.
class analysis {
public:
  analysis(const ::onnx::ModelProto& m, const reader& options, const std::string& file)
      : options_{options}, file_{file}, extents_{m.graph(), options, file} {
    for (const auto& o : m.opset_import()) {
      versions_[o.domain() == "ai.onnx" ? "" : o.domain()] = o.version();
    }
    for (const auto& f : m.functions()) {
      functions_[{f.domain(), f.name()}] = &f;
      budget_ += static_cast<std::size_t>(f.node_size());
    }
    budget_ = 200'000 + 10 * (budget_ + static_cast<std::size_t>(m.graph().node_size()));
    add_definitions(m.graph(), main_);
    for (const auto& x : m.graph().input()) {
      if (!main_.values.contains(x.name())) {
        main_.values[x.name()].type = extents_.resolved(x.type(), true, x.name());
      }
    }
  }

  scope& main() { return main_; }

  /// Works out the outputs of a node of the main graph. Its inputs should have been, before.
  node_cost visit(const ::onnx::NodeProto& n) { return visit(n, main_, 0); }

  /// What was assumed.
  std::vector<std::string> notes() const {
    auto lines = extents_.notes();
    unknown_types_.tell(lines, "no cost rule for ",
                        ": " + io::number_text(options_.unknown_flop_per_element) +
                          " FLOP per output element assumed");
    refused_.tell(lines, "shape inference refused ", "");
    unknown_sizes_.tell(lines, "elements without a fixed size in ",
                        ": 16 bytes each assumed for texts, one element for sequences");
    unknown_trips_.tell(lines, "iterations not known of ", ": 1 assumed");
    return lines;
  }

  /// The size of a tensor. Throws `parse_error` if it is out of range.
  byte_count bytes_of(const value& v, std::string_view name) {
    const ::onnx::TypeProto* type = &v.type;
    for (int depth = 0; depth < 100 && type->value_case() != ::onnx::TypeProto::kTensorType; ++depth) {
      if (type->has_sequence_type()) {
        unknown_sizes_.add(name);
        type = &type->sequence_type().elem_type();
      } else if (type->has_optional_type()) {
        type = &type->optional_type().elem_type();
      } else {
        unknown_sizes_.add(name);
        return 0;
      }
    }
    auto bits = element_bits(type->tensor_type().elem_type());
    if (!bits) {
      unknown_sizes_.add(name);
      bits = 128;
    }
    const auto dims = extents_of(*type);
    return dims ? bytes_of(*dims, *bits, name) : 0;
  }

private:
  /// Sums over the nodes of a body.
  struct body_cost {
    double flop = 0;
    byte_count resident_bytes = 0;
    std::vector<::onnx::TypeProto> outputs = {};
  };
  static constexpr int deepest = 60; // bodies in bodies, calls in calls

  [[noreturn]] void fail(const std::string& problem) const { throw parse_error(file_, 0, problem); }

  byte_count bytes_of(const numbers& dims, std::uint32_t bits, std::string_view name) const {
    constexpr std::uint64_t most = std::uint64_t{1} << 58; // elements, so that bits do not overflow
    std::uint64_t count = 1;
    for (const auto d : dims) {
      const auto extent = static_cast<std::uint64_t>(d);
      if (extent != 0 && count > most / 128 / extent) {
        fail("tensor " + io::in_quotes(name) + " has more than 2^51 elements: its shape must be damaged");
      }
      count *= extent;
    }
    return (count * bits + 7) / 8;
  }

  /// Initialisers and declared types of a graph.
  void add_definitions(const ::onnx::GraphProto& g, scope& s) {
    for (const auto& t : g.initializer()) {
      define(t, t.name(), s);
    }
    for (const auto& t : g.sparse_initializer()) { // as large as if it were dense, which is what most ops make of it
      ::onnx::TensorProto dense;
      dense.set_data_type(t.values().data_type());
      *dense.mutable_dims() = t.dims();
      dense.set_data_location(::onnx::TensorProto::EXTERNAL); // its elements are not looked at
      define(dense, t.values().name(), s);
    }
    for (const auto* list : {&g.value_info(), &g.output()}) {
      for (const auto& x : *list) {
        s.declared.emplace(x.name(), &x.type());
      }
    }
  }

  void define(const ::onnx::TensorProto& t, std::string_view name, scope& s) {
    const auto [at, is_new] = s.values.try_emplace(name);
    if (!is_new) {
      fail("initializer " + io::in_quotes(name) + " is there twice; names of tensors must differ");
    }
    value& v = at->second;
    v.type = declared_type(t);
    v.data = is_whole(t) ? &t : nullptr;
    v.integers = integers_of(t, integer_evaluation::most);
    v.parameter = true;
  }

  static ::onnx::TypeProto declared_type(const ::onnx::TensorProto& t) {
    ::onnx::TypeProto type;
    auto& tensor = *type.mutable_tensor_type();
    tensor.set_elem_type(t.data_type());
    tensor.mutable_shape();
    for (const auto d : t.dims()) {
      if (auto* dim = tensor.mutable_shape()->add_dim(); d >= 0) {
        dim->set_dim_value(d);
      }
    }
    return type;
  }

  /// Whether a tensor is small and has the elements that its shape asks for, so that inference may look at them.
  static bool is_whole(const ::onnx::TensorProto& t) {
    constexpr std::uint64_t most = 4096;
    std::uint64_t count = 1;
    for (const auto d : t.dims()) {
      if (d < 0 || static_cast<std::uint64_t>(d) > most || (count *= static_cast<std::uint64_t>(d)) > most) {
        return false;
      }
    }
    if (t.data_location() == ::onnx::TensorProto::EXTERNAL) {
      return false;
    }
    if (t.has_raw_data()) {
      const auto bits = element_bits(t.data_type());
      return bits && *bits >= 8 && t.raw_data().size() == count * *bits / 8;
    }
    const auto held = [count](int size) { return static_cast<std::uint64_t>(size) == count; };
    switch (t.data_type()) {
    case ::onnx::TensorProto::FLOAT: return held(t.float_data_size());
    case ::onnx::TensorProto::DOUBLE: return held(t.double_data_size());
    case ::onnx::TensorProto::INT64: return held(t.int64_data_size());
    case ::onnx::TensorProto::INT32: return held(t.int32_data_size());
    default: return false;
    }
  }

  /// A parameter is known before the model runs: an initialiser, a Constant, and what follows from parameters alone.
  static bool is_parameter(const ::onnx::NodeProto& n, std::span<const value* const> inputs) {
    if (n.domain() == "ai.weft") {
      return false;
    }
    if (inputs.empty()) {
      return n.op_type() == "Constant" && type_of(n) == "Constant";
    }
    if (n.op_type().starts_with("Random") || n.op_type() == "Bernoulli" || n.op_type() == "Multinomial") {
      return false;
    }
    for (const auto& a : n.attribute()) {
      if (a.has_g() || a.graphs_size() != 0) { // bodies may read other things
        return false;
      }
    }
    bool any = false;
    for (int i = 0; i < n.input_size(); ++i) {
      const value* v = inputs[static_cast<std::size_t>(i)];
      if (!n.input(i).empty() && (v == nullptr || !v->parameter)) {
        return false;
      }
      any = any || v != nullptr;
    }
    return any;
  }

  static op_call call_of(const ::onnx::NodeProto& n, std::span<const value* const> inputs,
                         const std::vector<::onnx::TypeProto>& outputs, const std::string& type) {
    op_call call{.type = type};
    for (const value* v : inputs) {
      call.inputs.push_back(v == nullptr ? std::nullopt : extents_of(v->type));
    }
    for (int i = 0; i < n.output_size(); ++i) {
      call.outputs.push_back(n.output(i).empty() ? std::nullopt : extents_of(outputs[static_cast<std::size_t>(i)]));
    }
    for (const auto& a : n.attribute()) {
      if (a.has_i()) {
        call.numbers[a.name()] = {a.i()};
      } else if (a.ints_size() != 0) {
        call.numbers[a.name()].assign(a.ints().begin(), a.ints().end());
      } else if (a.has_s()) {
        call.texts[a.name()] = a.s();
      }
    }
    return call;
  }

  node_cost visit(const ::onnx::NodeProto& n, scope& s, int depth) {
    if (budget_ == 0) {
      fail("bodies and functions of the model expand to too many nodes; they must call each other in a cascade");
    }
    --budget_;
    if (n.op_type().empty()) {
      fail("node " + io::in_quotes(n.name()) + " has no op type");
    }
    std::vector<const value*> inputs;
    for (const auto& name : n.input()) {
      inputs.push_back(s.find(name));
    }
    node_cost cost{.parameter = is_parameter(n, inputs)};
    std::map<const ::onnx::GraphProto*, body_cost> bodies;
    const body_inference infer_body = [&](const ::onnx::GraphProto& g,
                                          std::vector<const ::onnx::TypeProto*> types) {
      for (std::size_t i = 2; n.op_type() == "Loop" && i < std::min(types.size(), inputs.size()); ++i) {
        if (inputs[i] != nullptr && (types[i] == nullptr || !extents_of(*types[i]))) {
          types[i] = &inputs[i]->type; // state, whose shape inference leaves open: as before the first iteration
        }
      }
      const body_cost& b = bodies[&g] = body(g, types, s, depth + 1);
      std::vector<const ::onnx::TypeProto*> outputs;
      for (const auto& type : b.outputs) {
        outputs.push_back(&type);
      }
      return outputs;
    };
    std::vector<::onnx::TypeProto> types;
    const auto called = functions_.find(std::pair{n.domain(), n.op_type()});
    if (called != functions_.end()) {
      body_cost b = call(*called->second, n, inputs, depth + 1);
      cost.flop = b.flop;
      cost.resident_bytes = b.resident_bytes;
      types = std::move(b.outputs);
      types.resize(static_cast<std::size_t>(n.output_size()));
    } else {
      std::string refused;
      types = infer(n, inputs, version_of(n.domain()), extents_.rebatched(n, inputs), infer_body, refused);
      if (!refused.empty()) {
        refused_.add(n.op_type());
      }
      if (n.op_type() == "Loop" && bodies.size() == 1) {
        complete_loop(n, inputs, bodies.begin()->second, types);
      }
    }
    bool guessed = std::any_of(inputs.begin(), inputs.end(), [](const value* v) { return v != nullptr && v->guessed; });
    for (int i = 0; i < n.output_size(); ++i) {
      auto& type = types[static_cast<std::size_t>(i)];
      if (!n.output(i).empty()) {
        extents_.complete(type, s, n.output(i));
        guessed = extents_.assume(type, n, inputs) || guessed;
      }
    }
    if (called == functions_.end()) {
      add_cost(cost, n, inputs, types, bodies, infer_body);
    }
    for (int i = 0; i < n.output_size(); ++i) {
      if (!n.output(i).empty()) {
        define_output(n, i, std::move(types[static_cast<std::size_t>(i)]), inputs, cost.parameter, guessed, s);
      }
    }
    if (cost.parameter) {
      cost.flop = 0;
    }
    return cost;
  }

  void define_output(const ::onnx::NodeProto& n, int i, ::onnx::TypeProto type, std::span<const value* const> inputs,
                     bool parameter, bool guessed, scope& s) {
    const auto [at, is_new] = s.values.try_emplace(n.output(i));
    if (!is_new) {
      fail("tensor " + io::in_quotes(n.output(i)) + ", output of node " + io::in_quotes(n.name()) +
           ", has the name of another tensor; names of tensors must differ");
    }
    value& v = at->second;
    v.type = std::move(type);
    v.parameter = parameter;
    v.guessed = guessed;
    if (i != 0) {
      return;
    }
    const auto element = v.type.tensor_type().elem_type();
    if (v.type.has_tensor_type() && (n.domain().empty() || n.domain() == "ai.onnx") &&
        (element == ::onnx::TensorProto::INT64 || element == ::onnx::TensorProto::INT32 ||
         element == ::onnx::TensorProto::BOOL)) {
      v.integers = integer_evaluation{n, inputs}();
    }
    if (n.op_type() == "Constant") {
      const auto* a = attribute(n, "value");
      v.data = a != nullptr && a->has_t() && is_whole(a->t()) ? &a->t() : nullptr;
    }
    const auto& t = n.op_type();
    if (parameter && !inputs.empty() && inputs[0] != nullptr && inputs[0]->parameter &&
        (t == "Identity" || t == "Reshape" || t == "Squeeze" || t == "Unsqueeze" || t == "Flatten")) {
      v.storage = inputs[0]->storage != nullptr ? inputs[0]->storage : inputs[0];
    }
  }

  std::int64_t version_of(const std::string& domain) const {
    const auto found = versions_.find(domain == "ai.onnx" ? "" : domain);
    return found == versions_.end() ? 17 : found->second;
  }

  void add_cost(node_cost& cost, const ::onnx::NodeProto& n, std::span<const value* const> inputs,
                const std::vector<::onnx::TypeProto>& types, std::map<const ::onnx::GraphProto*, body_cost>& bodies,
                const body_inference& infer_body) {
    bool has_body = false;
    double sum = 0;
    double largest = 0;
    for (const auto& a : n.attribute()) {
      const auto add = [&](const ::onnx::GraphProto& g) {
        if (!bodies.contains(&g)) {
          infer_body(g, {}); // nobody asked for its types, but it costs what it costs
        }
        has_body = true;
        sum += bodies[&g].flop;
        largest = std::max(largest, bodies[&g].flop);
        cost.resident_bytes += bodies[&g].resident_bytes;
      };
      if (a.has_g()) {
        add(a.g());
      }
      std::for_each(a.graphs().begin(), a.graphs().end(), add);
    }
    if (has_body) {
      cost.flop = n.op_type() == "If" ? largest : sum * iterations(n, inputs);
      return;
    }
    if (const auto* work = n.domain() == "ai.weft" ? attribute(n, "weft_work") : nullptr; work != nullptr) {
      const auto& text = work->s();
      const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), cost.flop);
      if (problem != std::errc{} || end != text.data() + text.size() || !(cost.flop >= 0)) {
        fail("node " + io::in_quotes(n.name()) + ": weft_work is " + io::in_quotes(text) +
             ", not a number that is not negative");
      }
      return;
    }
    const auto type = type_of(n);
    const auto call = call_of(n, inputs, types, type);
    const auto flop = flop_of(call);
    if (!flop && !cost.parameter) {
      unknown_types_.add(type);
    }
    double elements = 0;
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      elements += call.out(i);
    }
    cost.flop = flop.value_or(options_.unknown_flop_per_element * elements);
  }

  double iterations(const ::onnx::NodeProto& n, std::span<const value* const> inputs) {
    const auto known = known_iterations(n, inputs);
    if (!known) {
      unknown_trips_.add(n.op_type());
    }
    return static_cast<double>(known.value_or(1));
  }

  static std::optional<std::int64_t> known_iterations(const ::onnx::NodeProto& n,
                                                      std::span<const value* const> inputs) {
    if (n.op_type() == "Loop" && !inputs.empty() && inputs[0] != nullptr && inputs[0]->integers &&
        inputs[0]->integers->size() == 1) {
      constexpr std::int64_t no_limit = std::numeric_limits<std::int32_t>::max(); // what exporters write for `while`
      const auto trips = inputs[0]->integers->front();
      return trips < no_limit ? std::optional{std::max<std::int64_t>(trips, 0)} : std::nullopt;
    }
    if (n.op_type() == "Scan") {
      const auto scanned = number_attribute(n, "num_scan_inputs", 0);
      const auto first = static_cast<std::int64_t>(inputs.size()) - scanned;
      if (scanned > 0 && first >= 0 && inputs[static_cast<std::size_t>(first)] != nullptr) {
        const auto dims = extents_of(inputs[static_cast<std::size_t>(first)]->type);
        const auto axes = list_attribute(n, "scan_input_axes");
        auto axis = axes && !axes->empty() ? axes->front() : 0;
        const auto rank = dims ? static_cast<std::int64_t>(dims->size()) : 0;
        axis += axis < 0 ? rank : 0;
        if (axis >= 0 && axis < rank) {
          return (*dims)[static_cast<std::size_t>(axis)];
        }
      }
    }
    return std::nullopt;
  }

  /// What a Loop gives has the shapes that its body gives: inference leaves them open, since they might change from
  /// iteration to iteration. What a body gives besides its state is stacked.
  static void complete_loop(const ::onnx::NodeProto& n, std::span<const value* const> inputs, const body_cost& b,
                            std::vector<::onnx::TypeProto>& types) {
    for (std::size_t i = 0; i < types.size() && i + 1 < b.outputs.size(); ++i) {
      const auto& given = b.outputs[i + 1];
      const bool is_state = i + 2 < inputs.size();
      const auto stacked = is_state ? std::nullopt : known_iterations(n, inputs);
      if (extents_of(types[i]) || !extents_of(given) || !(is_state || stacked)) {
        continue;
      }
      types[i] = given;
      if (!is_state) {
        auto& shape = *types[i].mutable_tensor_type()->mutable_shape();
        shape.clear_dim();
        shape.add_dim()->set_dim_value(*stacked);
        shape.MergeFrom(given.tensor_type().shape());
      }
    }
  }

  /// A body of a control-flow op, which sees the tensors around it.
  body_cost body(const ::onnx::GraphProto& g, const std::vector<const ::onnx::TypeProto*>& types, const scope& around,
                 int depth) {
    scope s{.outer = &around};
    add_definitions(g, s);
    for (int i = 0; i < g.input_size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      auto& v = s.values[g.input(i).name()];
      if (at < types.size() && types[at] != nullptr && types[at]->value_case() != ::onnx::TypeProto::VALUE_NOT_SET) {
        v.type = *types[at];
      } else if (!v.parameter) {
        v.type = extents_.resolved(g.input(i).type(), false, g.input(i).name());
      }
    }
    body_cost cost = sum(g.node(), s, depth);
    for (const auto& x : g.output()) {
      const value* v = s.find(x.name());
      cost.outputs.push_back(v != nullptr ? v->type : extents_.resolved(x.type(), false, x.name()));
    }
    return cost;
  }

  /// The body of a function with the inputs and attributes of a call.
  body_cost call(const ::onnx::FunctionProto& f, const ::onnx::NodeProto& n, std::span<const value* const> inputs,
                 int depth) {
    scope s;
    for (int i = 0; i < f.input_size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      value& v = s.values[f.input(i)];
      if (at < inputs.size() && inputs[at] != nullptr) {
        v = *inputs[at];
        v.parameter = false; // it is counted where the call reads it
      }
    }
    google::protobuf::RepeatedPtrField<::onnx::NodeProto> nodes = f.node();
    for (auto& inner : nodes) {
      auto& attributes = *inner.mutable_attribute();
      for (int i = attributes.size(); i-- > 0;) {
        if (const auto name = attributes[i].name(); !attributes[i].ref_attr_name().empty()) {
          const auto* given = attribute(n, attributes[i].ref_attr_name());
          if (given == nullptr) {
            attributes.DeleteSubrange(i, 1);
          } else {
            attributes[i] = *given;
            attributes[i].set_name(name);
          }
        }
      }
    }
    body_cost cost = sum(nodes, s, depth);
    for (const auto& name : f.output()) {
      const value* v = s.find(name);
      cost.outputs.push_back(v != nullptr ? v->type : ::onnx::TypeProto{});
    }
    return cost;
  }

  template <class Nodes>
  body_cost sum(const Nodes& nodes, scope& s, int depth) {
    if (depth > deepest) {
      fail("bodies or function calls are nested deeper than " + std::to_string(deepest));
    }
    body_cost total;
    std::set<const value*> read;
    for (const auto& n : nodes) {
      const auto cost = visit(n, s, depth);
      total.flop += cost.flop;
      total.resident_bytes += cost.resident_bytes;
      for (const auto& name : n.input()) {
        const auto found = s.values.find(name);
        if (!cost.parameter && found != s.values.end() && found->second.parameter &&
            read.insert(&found->second).second) {
          total.resident_bytes += bytes_of(found->second, name);
        }
      }
    }
    return total;
  }

  const reader& options_;
  const std::string& file_;
  std::map<std::string, std::int64_t> versions_;
  std::map<std::pair<std::string, std::string>, const ::onnx::FunctionProto*> functions_;
  std::size_t budget_ = 0; // nodes that may still be visited
  open_extents extents_;
  scope main_;
  tally unknown_types_, refused_, unknown_sizes_, unknown_trips_;
};

} // namespace detail
} // namespace weft::onnx
