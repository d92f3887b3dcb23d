// SPDX-License-Identifier: BSL-1.0
/// Analysis of the nodes of a model: shapes of all tensors, FLOP of all nodes, and the parameters.
#pragma once

#include "weft/interop/onnx/control_flow.hpp"
#include "weft/interop/onnx/equal_values.hpp"
#include "weft/interop/onnx/inference.hpp"
#include "weft/interop/onnx/op_costs.hpp"
#include "weft/interop/onnx/partly_known.hpp"
#include "weft/interop/onnx/shapes.hpp"
#include "weft/interop/onnx/tensors.hpp"
#include "weft/io/tally.hpp"
#include "weft/io/text.hpp"

#include <charconv>
#include <tuple>

namespace weft::onnx {

namespace detail {

/// The cost of a node.
struct node_cost {
  double flop = 0;
  byte_count resident_bytes = 0; ///< of the parameters inside its bodies
  bool parameter = false;        ///< its outputs are known before the model runs
  bool text = false;             ///< it reads or makes texts, or its bodies do, so that it runs on CPUs only
};

/// Walks over a model; everything that it learns of the main graph stays in `main()`.
class analysis {
public:
  analysis(const ::onnx::ModelProto& m, const reader& options, const std::string& file)
      : options_{options}, file_{file}, extents_{m.graph(), options, noted_} {
    add_versions(m, versions_);
    if (m.opset_import_size() == 0) { // as models were before there were operator sets
      versions_[""] = 1;
    }
    for (const auto& f : m.functions()) {
      function& known = functions_[{f.domain(), f.name(), overload_of(f)}];
      known = {.proto = &f, .defaults = default_attributes_of(f), .declared = value_info_of(f), .versions = versions_};
      add_versions(f, known.versions);
      known.binds_attributes = refers_to_attributes(f.node());
      for (const auto& x : known.declared) {
        check_axes(x.type(), x.name());
      }
      budget_ += static_cast<std::size_t>(f.node_size());
    }
    main_.versions = &versions_;
    budget_ = 200'000 + 10 * (budget_ + static_cast<std::size_t>(m.graph().node_size()));
    add_definitions(m.graph(), main_);
    for (const auto& x : m.graph().input()) {
      check_axes(x.type(), x.name());
      if (!main_.values.contains(x.name())) {
        main_.values[x.name()] = {.type = extents_.resolved(x.type(), true, x.name()), .number = equal_.fresh()};
      }
    }
  }

  scope& main() { return main_; }

  /// Works out the outputs of a node of the main graph. Its inputs should have been, before.
  node_cost visit(const ::onnx::NodeProto& n) { return visit(n, main_, 0); }

  /// Throws `parse_error` for a batch, an extent or rounds that are given and that nothing has.
  void check_given() const {
    extents_.check_given(file_);
    if (options_.trips.contains("*") && !uses_trips_) {
      throw parse_error(file_, 0, std::string{"the trips of all loops have no effect: the model "} +
                                    (loops_.empty() ? "has no loop that runs" : "tells how often its loops run") +
                                    "; leave them out");
    }
    for (const auto& [name, count] : options_.trips) {
      if (name != "*" && !loops_.contains(name)) {
        throw parse_error(file_, 0,
                          "trips are given for " + io::in_quotes(name) + ", which is not a loop that runs; " +
                            (loops_.empty() ? "there is none"
                                            : "there is " + io::joined_first(12, loops_, io::in_quotes)));
      }
    }
  }
  /// Sizes that nobody gave.
  const std::vector<assumed_size>& assumed() const { return extents_.assumed(); }

  /// The other assumptions made.
  std::vector<std::string> notes() const {
    return noted_.notes();
  }

  /// Of the floating-point tensors that were asked for, by the bits of a number.
  const std::map<std::uint32_t, double>& float_bytes() const { return float_bytes_; }

  /// The size of a tensor, which `counts` among those that `float_bytes` tells and whose sizes are noted. Throws
  /// `parse_error` if it is out of range.
  byte_count bytes_of(const value& v, std::string_view name, bool counts = true) {
    const auto note = [&] {
      if (counts) {
        noted_.add("{tensor|tensors} whose elements have no fixed size: 16 bytes for a string, one element for a "
                   "sequence", name);
      }
    };
    const ::onnx::TypeProto* type = &v.type;
    for (int depth = 0; depth < 100 && type->value_case() != ::onnx::TypeProto::kTensorType; ++depth) {
      if (type->has_sequence_type()) {
        if (depth != 0 || !v.length) {
          note();
        }
        type = &type->sequence_type().elem_type();
      } else if (type->has_optional_type()) {
        type = &type->optional_type().elem_type();
      } else {
        note();
        return 0;
      }
    }
    auto bits = ops::elements::bits(type->tensor_type().elem_type());
    if (!bits) {
      note();
      bits = 128;
    }
    auto dims = extents_of(*type);
    if (dims && v.length) {
      dims->push_back(*v.length);
    }
    const auto bytes = dims ? bytes_of(*dims, *bits, name) : 0;
    if (counts && is_floating(type->tensor_type().elem_type())) {
      float_bytes_[*bits] += static_cast<double>(bytes);
    }
    return bytes;
  }

private:
  /// A function of the model, with what the library at hand may not know of it.
  struct function {
    const ::onnx::FunctionProto* proto = nullptr;
    std::vector<::onnx::AttributeProto> defaults = {};
    std::vector<::onnx::ValueInfoProto> declared = {};
    std::map<std::string, std::int64_t> versions = {};
    bool binds_attributes = false; ///< nodes take attributes from the call, which then needs nodes of its own
  };
  static constexpr int deepest = 60; // bodies in bodies, calls in calls
  static constexpr std::size_t bytes_per_visit = 16'384; // copied in about the time that a node takes
  static constexpr std::size_t max_followed = 50'000;    // nodes visited in iterations, before the last one counts

  [[noreturn]] void fail(const std::string& problem) const { throw parse_error(file_, 0, problem); }

  void check_axes(const ::onnx::TypeProto& type, std::string_view name) const {
    if (has_too_many_axes(type)) {
      fail("tensor " + io::in_quotes(name) + " has more than " + std::to_string(ops::max_axes) +
           " axes: its shape must be damaged");
    }
  }

  template <class Message>
  static void add_versions(const Message& m, std::map<std::string, std::int64_t>& versions) {
    for (const auto& o : m.opset_import()) {
      versions[o.domain() == "ai.onnx" ? "" : o.domain()] = o.version();
    }
  }

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
        check_axes(x.type(), x.name());
        s.declared.emplace(x.name(), &x.type());
      }
    }
  }

  void define(const ::onnx::TensorProto& t, std::string_view name, scope& s) {
    const auto [at, is_new] = s.values.try_emplace(name);
    if (!is_new) {
      fail("initializer " + io::in_quotes(name) + " appears twice; names of tensors must differ");
    }
    value& v = at->second;
    v.type = type_of(t.data_type(), t.dims());
    check_axes(v.type, name);
    v.data = is_whole(t) ? &t : nullptr;
    v.parameter = true;
    v.number = equal_.fresh();
  }

  void spend(std::size_t visits) {
    if (budget_ < visits) {
      fail("bodies and functions of the model expand to too many nodes; they must call each other in a cascade");
    }
    budget_ -= visits;
  }

  node_cost visit(const ::onnx::NodeProto& n, scope& s, int depth) {
    spend(1);
    if (n.op_type().empty()) {
      fail("node " + io::in_quotes(n.name()) + " has no op type");
    }
    std::vector<const value*> inputs;
    for (const auto& name : n.input()) {
      inputs.push_back(s.find(name));
    }
    node_cost cost{.parameter = is_parameter(n, inputs)};
    std::vector<value> outputs(static_cast<std::size_t>(n.output_size()));
    const auto called = functions_.find({n.domain(), n.op_type(), overload_of(n)});
    if (called != functions_.end()) {
      body_cost b = call(called->second, n, inputs, depth + 1);
      cost.flop = b.flop;
      cost.resident_bytes = b.resident_bytes;
      cost.text = b.text;
      b.outputs.resize(outputs.size());
      outputs = std::move(b.outputs);
    } else if (is_control_flow(n)) {
      outputs = n.op_type() == "If" ? choose(n, inputs, s, depth, cost) : iterate(n, inputs, s, depth, cost);
    } else {
      visit_op(n, inputs, s, depth, cost, outputs);
    }
    const bool is_op = called == functions_.end() && !has_body(n);
    const auto number = is_op ? equal_.first_output(n, version_of(n.domain(), s), inputs)
                              : equal_.fresh(static_cast<std::uint64_t>(n.output_size()));
    if (is_op && is_own(n)) {
      learn_elements(n, inputs, outputs, version_of(n.domain(), s));
    }
    settle(n, inputs, s, number, outputs);
    if (is_op) {
      add_cost(cost, n, inputs, outputs, s);
    }
    cost.text = cost.text || is_on_text(n.op_type()) ||
                std::any_of(inputs.begin(), inputs.end(),
                            [](const value* v) { return v != nullptr && has_text(v->type); }) ||
                std::any_of(outputs.begin(), outputs.end(), [](const value& v) { return has_text(v.type); });
    for (int i = 0; i < n.output_size(); ++i) {
      if (!n.output(i).empty()) {
        define_output(n, i, std::move(outputs[static_cast<std::size_t>(i)]), inputs, cost.parameter, s);
      }
    }
    if (cost.parameter) {
      cost.flop = 0;
    }
    return cost;
  }

  /// Gives outputs, of which the first has this number and those after it the next ones, all extents that they lack.
  void settle(const ::onnx::NodeProto& n, std::span<const value* const> inputs, const scope& s, std::uint64_t number,
              std::vector<value>& outputs) {
    const bool from_guesses =
      std::any_of(inputs.begin(), inputs.end(), [](const value* v) { return v != nullptr && v->guessed; });
    for (int i = 0; i < n.output_size(); ++i) {
      value& v = outputs[static_cast<std::size_t>(i)];
      v.number = number + static_cast<std::uint64_t>(i);
      if (n.output(i).empty()) {
        continue;
      }
      v.guessed = extents_.take_decided(v) || v.guessed || from_guesses;
      const bool is_open = !extents_of(v.type);
      v.guessed = extents_.settle(v.type, s, n.output(i), v.guessed);
      check_axes(v.type, n.output(i));
      v.guessed = extents_.assume(v.type, n, n.output(i), inputs) || v.guessed;
      if (is_open) {
        extents_.decide(v);
      }
      if (v.known && extents_of(v.type) != v.known->dims) { // it is declared otherwise
        v.known.reset();
      }
      if (v.part && extents_of(v.type) != v.part->open.dims) {
        v.part.reset();
      }
    }
  }

  /// The types of the outputs of a node that is no call and no control flow; bodies of others count once.
  void visit_op(const ::onnx::NodeProto& n, std::span<const value* const> inputs, const scope& s, int depth,
                node_cost& cost, std::vector<value>& outputs) {
    std::string refused;
    auto types = infer(n, inputs, version_of(n.domain(), s), extents_.rebatched(n, inputs), refused);
    if (!refused.empty()) {
      noted_.add("{node|nodes} that shape inference refuses", n.op_type());
    }
    if (is_own(n) && !types.empty()) {
      take_known_extents(n, inputs, types[0]);
    }
    const auto length = length_of(n, inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      outputs[i] = {.type = std::move(types[i]), .length = length};
    }
    const auto add = [&](const ::onnx::GraphProto& g) {
      const auto b = body(g, {}, s, depth + 1);
      cost.flop += b.flop;
      cost.resident_bytes += b.resident_bytes;
      cost.text = cost.text || b.text;
      for (auto& output : outputs) {
        output.guessed = output.guessed ||
                         std::any_of(b.outputs.begin(), b.outputs.end(), [](const value& v) { return v.guessed; });
      }
    };
    for (const auto& a : n.attribute()) {
      if (a.has_g()) {
        add(a.g());
      }
      std::for_each(a.graphs().begin(), a.graphs().end(), add);
    }
    if (has_body(n)) {
      noted_.add("{op with subgraphs and without a rule: it runs|ops with subgraphs and without a rule: they run} "
                 "once", n.op_type());
    }
  }

  /// A Loop, Scan or SequenceMap: its body, as often as it runs.
  std::vector<value> iterate(const ::onnx::NodeProto& n, std::span<const value* const> inputs, const scope& s,
                             int depth, node_cost& cost) {
    std::vector<value> outputs(static_cast<std::size_t>(n.output_size()));
    const auto* const looped = attribute(n, "body");
    if (looped == nullptr || !looped->has_g()) {
      return outputs;
    }
    const auto& name = !n.name().empty()       ? n.name()
                       : n.output_size() != 0 ? n.output(0)
                                              : n.op_type();
    auto all = iterations_of(n, inputs, version_of(n.domain(), s));
    const auto given = options_.trips.find(name);
    const auto rounds = given != options_.trips.end() ? given : options_.trips.find("*");
    if (rounds != options_.trips.end()) {
      all.otherwise = static_cast<std::int64_t>(std::min<std::uint64_t>(rounds->second, iterations::no_limit - 1));
    }
    if (given != options_.trips.end() && all.has_condition) { // which may end it before its limit
      all.limit = all.otherwise;
    }
    const auto total = all.follow(
      [&](const std::vector<value>& state) {
        const auto before = budget_;
        auto once = body(looped->g(), state, s, depth + 1);
        followed_ += before - budget_;
        return once;
      },
      [&] { return followed_ < max_followed; });
    loops_.insert(name);
    uses_trips_ = uses_trips_ || all.used_otherwise;
    const bool is_assumed = !all.limit;
    if (is_assumed) {
      extents_.assume_trips(name, n.op_type());
      all.limit = 1;
    }
    cost.flop = total.flop * static_cast<double>(all.batch.value_or(1));
    cost.resident_bytes = total.resident_bytes;
    cost.text = total.text;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      outputs[i] = output_of(n, i, all);
      outputs[i].part.reset(); // of one iteration
      if (is_assumed && i >= all.state.size()) { // as long as there are rounds
        outputs[i].guessed = true;
        outputs[i].known.reset();
        outputs[i].length.reset();
      }
    }
    return outputs;
  }

  /// An If: the branch that is taken, if the condition is known, else the dearer one.
  std::vector<value> choose(const ::onnx::NodeProto& n, std::span<const value* const> inputs, const scope& s, int depth,
                            node_cost& cost) {
    const auto count = static_cast<std::size_t>(n.output_size());
    const auto condition = !inputs.empty() && inputs[0] != nullptr ? inputs[0]->integers() : std::nullopt;
    std::vector<body_cost> branches;
    for (const char* name : {"then_branch", "else_branch"}) {
      const bool taken = !condition || condition->size() != 1 || (condition->front() != 0) == (*name == 't');
      if (const auto* a = attribute(n, name); taken && a != nullptr && a->has_g()) {
        branches.push_back(body(a->g(), {}, s, depth + 1));
        branches.back().outputs.resize(count);
      }
    }
    if (branches.empty()) {
      return std::vector<value>(count);
    }
    if (branches.size() == 2 && branches[1].flop > branches[0].flop) {
      std::swap(branches[0], branches[1]);
    }
    for (const auto& b : branches) {
      cost.resident_bytes += b.resident_bytes;
      cost.text = cost.text || b.text;
    }
    cost.flop = branches[0].flop;
    auto outputs = std::move(branches[0].outputs);
    if (branches.size() == 2) {
      bool differ = false;
      for (std::size_t i = 0; i < count; ++i) {
        const auto& other = branches[1].outputs[i];
        const auto extents = extents_of(outputs[i].type);
        const auto others = extents_of(other.type);
        if (extents && others && *extents != *others) {
          outputs[i].guessed = differ = true;
        } else if (!extents || (outputs[i].guessed && !other.guessed)) {
          outputs[i] = other;
        }
        const auto *one = outputs[i].elements(), *another = other.elements();
        if (one == nullptr || another == nullptr || *one != *another) {
          outputs[i].known.reset();
        }
        outputs[i].part.reset();
      }
      if (differ) {
        noted_.add("{conditional|conditionals} whose branches differ in shape: those of the costlier branch count",
                   n.op_type());
      }
    }
    return outputs;
  }

  void define_output(const ::onnx::NodeProto& n, int i, value made, std::span<const value* const> inputs,
                     bool parameter, scope& s) {
    const auto [at, is_new] = s.values.try_emplace(n.output(i));
    if (!is_new) {
      fail("tensor " + io::in_quotes(n.output(i)) + ", output of node " + io::in_quotes(n.name()) +
           ", has the name of another tensor; names of tensors must differ");
    }
    (void)made.elements(); // what `data` is of may be gone
    value& v = at->second;
    v = {.type = std::move(made.type),
         .known = std::move(made.known),
         .part = std::move(made.part),
         .parameter = parameter,
         .guessed = made.guessed,
         .length = made.length,
         .number = made.number};
    if (i != 0) {
      return;
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

  /// The version of an operator set that is in force; the newest that is known where the model says nothing.
  static std::int64_t version_of(const std::string& domain, const scope& s) {
    const auto found = s.versions->find(domain == "ai.onnx" ? "" : domain);
    return found == s.versions->end() ? 17 : found->second;
  }

  void add_cost(node_cost& cost, const ::onnx::NodeProto& n, std::span<const value* const> inputs,
                const std::vector<value>& outputs, const scope& s) {
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
    std::vector<::onnx::TypeProto> types;
    for (const auto& v : outputs) {
      types.push_back(v.type);
    }
    const auto call = call_of(n, inputs, types, type, version_of(n.domain(), s));
    const auto flop = flop_of(call);
    if (!flop && !cost.parameter) {
      noted_.add("{op without a rule for its cost|ops without a rule for their cost}: " +
                 io::number_text(options_.unknown_flop_per_element) +
                   " FLOP per output element", type);
    }
    double elements = 0;
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      elements += call.out(i);
    }
    cost.flop = flop.value_or(options_.unknown_flop_per_element * elements);
  }

  /// A body of a control-flow op, which sees the tensors around it.
  body_cost body(const ::onnx::GraphProto& g, std::span<const value> given, const scope& around, int depth) {
    scope s{.outer = &around, .versions = around.versions};
    add_definitions(g, s);
    for (int i = 0; i < g.input_size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      auto& v = s.values[g.input(i).name()];
      if (at < given.size() && given[at].type.value_case() != ::onnx::TypeProto::VALUE_NOT_SET) {
        v = given[at];
        v.parameter = false; // it is counted around the body
        v.storage = nullptr;
        v.number = equal_.fresh(); // another one in the next iteration
        v.part.reset();
      } else if (!v.parameter) {
        v = {.type = extents_.resolved(g.input(i).type(), false, g.input(i).name()), .number = equal_.fresh()};
      }
      check_axes(v.type, g.input(i).name());
    }
    body_cost cost = sum(g.node(), s, depth);
    for (const auto& x : g.output()) {
      const value* v = s.find(x.name());
      cost.outputs.push_back(v != nullptr ? *v : value{.type = extents_.resolved(x.type(), false, x.name())});
    }
    return cost;
  }

  /// The body of a function with the inputs and attributes of a call.
  body_cost call(const function& called, const ::onnx::NodeProto& n, std::span<const value* const> inputs, int depth) {
    const ::onnx::FunctionProto& f = *called.proto;
    scope s{.versions = &called.versions};
    for (const auto& x : called.declared) {
      s.declared.emplace(x.name(), &x.type());
    }
    for (int i = 0; i < f.input_size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      value& v = s.values[f.input(i)];
      if (at < inputs.size() && inputs[at] != nullptr) {
        v = *inputs[at];
        v.parameter = false; // it is counted where the call reads it
      }
    }
    body_cost cost;
    google::protobuf::RepeatedPtrField<::onnx::NodeProto> nodes; // `s` refers to their names
    if (called.binds_attributes) {
      spend(f.ByteSizeLong() / bytes_per_visit);
      nodes = f.node();
      bind_attributes(nodes, n, called.defaults);
      cost = sum(nodes, s, depth);
    } else {
      cost = sum(f.node(), s, depth);
    }
    for (const auto& name : f.output()) {
      const value* v = s.find(name);
      cost.outputs.push_back(v != nullptr ? *v : value{});
      (void)cost.outputs.back().elements();
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
      total.text = total.text || (cost.text && !cost.parameter);
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
  std::map<std::tuple<std::string, std::string, std::string>, function> functions_; ///< by domain, name and overload
  std::size_t followed_ = 0; // nodes that were visited in iterations
  std::size_t budget_ = 0; // nodes that may still be visited, or as much copied
  io::tally noted_;
  open_extents extents_;
  equal_values equal_;
  std::map<std::uint32_t, double> float_bytes_;
  scope main_;
  std::set<std::string, std::less<>> loops_;
  bool uses_trips_ = false; // that are given for all loops
};

} // namespace detail
} // namespace weft::onnx
