// SPDX-License-Identifier: BSL-1.0
/// Reads TensorFlow graphs as workloads.
#pragma once

#include "weft/graph/components.hpp"
#include "weft/interop/tensorflow/costs.hpp"
#include "weft/interop/tensorflow/inference.hpp"
#include "weft/io/reader.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::tensorflow {

namespace detail {

/// Makes a workload of a graph whose shapes are known.
class graph_reader {
public:
  graph_reader(const graph& g, const shape_options& options, const measured_costs& costs)
      : g_{g}, shapes_{g, options, assumed_}, costs_{costs}, batch_{options.batch}, sets_{g.num_nodes()} {}

  model read() {
    find_kinds();
    find_colocations();
    find_parameters();
    add_ops();
    add_dependencies();
    take_costs();
    model_.ops = std::move(b_).build();
    model_.format = "TensorFlow GraphDef";
    note_assumptions();
    return std::move(model_);
  }

private:
  static constexpr byte_count small_constant = 4096; ///< is copied to whoever reads it

  void note(std::string text) { model_.notes.push_back(std::move(text)); }
  void count(std::size_t n, const std::string& text) {
    if (n > 0) {
      note(std::to_string(n) + " " + text);
    }
  }

  bool is_parameter(op_id v) const {
    if (g_[v].op != "Const" || shapes_.ports(v).empty() || bytes_of(shapes_.output(v, 0)) <= small_constant) {
      return false;
    }
    const auto value = attribute(g_[v], "value");
    return value && 2 * read_tensor(text_field(*value, 8)).stored >= elements(shapes_.output(v, 0).dims);
  }

  /// Large constants are the weights of a frozen network. They stay with the ops that read them, also through
  /// Identity ops, which then move nothing. A constant that repeats one value is data.
  void find_parameters() {
    const auto n = g_.num_nodes();
    weight_.assign(n, none);
    resident_.assign(n, 0);
    for (op_id v = 0; v < n; ++v) {
      weight_[v] = is_parameter(v) ? v : none;
    }
    std::vector<op_id> reader(n, none); // the first of each parameter
    for (const bool through : {true, false}) {
      for (op_id v = 0; v < n; ++v) {
        for (const auto& s : g_.inputs(v)) {
          if (s.is_control() || weight_[s.from] == none) {
            continue;
          }
          const auto w = weight_[s.from];
          if (g_[v].op == "Identity") {
            weight_[v] = through || weight_[v] != none ? w : none;
          } else if (!through && reader[w] == none) {
            reader[w] = v;
            resident_[v] += bytes_of(shapes_.output(w, 0));
          } else if (!through && reader[w] != v && !keep_together(reader[w], v)) {
            resident_[v] += bytes_of(shapes_.output(w, 0));
            num_copies_ += 1;
          }
        }
      }
    }
    for (op_id v = 0; v < n; ++v) {
      if (weight_[v] == v && reader[v] == none) {
        resident_[v] += bytes_of(shapes_.output(v, 0));
      }
      num_parameters_ += weight_[v] == v ? 1u : 0u;
      const op_id by = weight_[v] == none ? none : reader[weight_[v]];
      if (by != none && set_kinds_[sets_.find(by)].is_subset_of(set_kinds_[sets_.find(v)])) { // else it is kept elsewhere
        unite(by, v);
      }
    }
  }

  void find_kinds() {
    for (op_id v = 0; v < g_.num_nodes(); ++v) {
      kinds_.push_back(kinds_of(v));
    }
    set_kinds_ = kinds_;
  }

  void unite(op_id a, op_id b) {
    together_.emplace_back(a, b);
    const auto kinds = set_kinds_[sets_.find(a)] & set_kinds_[sets_.find(b)];
    sets_.unite(a, b);
    set_kinds_[sets_.find(a)] = kinds;
  }
  /// Colocates two ops unless what is colocated with them may not run on one kind of device; says whether it did.
  bool keep_together(op_id a, op_id b) {
    const bool possible = !(set_kinds_[sets_.find(a)] & set_kinds_[sets_.find(b)]).empty();
    if (possible) {
      unite(a, b);
    }
    return possible;
  }

  kind_set kinds_of(op_id v) {
    const auto& n = g_[v];
    const auto place = parse_device(n.device);
    num_particular_ += place.particular ? 1u : 0u;
    num_unknown_devices_ += place.known ? 0u : 1u;
    if (only_on_cpu(n.op) || handles_text(v)) {
      num_moved_ += place.kinds.empty() || place.kinds.contains(device_kind::cpu) ? 0u : 1u;
      return device_kind::cpu;
    }
    return place.kinds.empty() ? kind_set::all() : place.kinds;
  }
  bool handles_text(op_id v) const {
    for (std::size_t i = 0; i < shapes_.ports(v).size(); ++i) {
      if (value_type(shapes_.output(v, i).type) == dt::string) {
        return true;
      }
    }
    return type_attribute(g_[v], "T") == dt::string;
  }

  byte_count state_of(op_id v) const {
    if (!is_variable(g_[v].op) || shapes_.ports(v).empty()) {
      return 0;
    }
    auto value = shapes_.output(v, 0);
    value.type = value_type(value.type);
    return bytes_of(value);
  }

  void add_ops() {
    for (op_id v = 0; v < g_.num_nodes(); ++v) {
      const auto& n = g_[v];
      b_.add_op({.work = shapes_.work(v),
                 .resident_bytes = resident_[v] + state_of(v),
                 .kinds = kinds_[v],
                 .name = std::string{n.name},
                 .type = std::string{n.op}});
      for (std::size_t i = 0; i < shapes_.ports(v).size(); ++i) {
        b_.add_output(v, weight_[v] != none ? 0 : bytes_of(shapes_.output(v, i)));
      }
      num_branches_ += n.op == "Switch" || n.op == "RefSwitch" || n.op == "If" || n.op == "StatelessIf" ? 1u : 0u;
      num_function_loops_ += n.op == "While" || n.op == "StatelessWhile" ? 1u : 0u;
    }
  }

  void add_dependencies() {
    for (op_id v = 0; v < g_.num_nodes(); ++v) {
      std::vector<std::pair<op_id, std::uint32_t>> read;
      std::vector<op_id> awaited;
      for (const auto& s : g_.inputs(v)) {
        if (s.is_control()) {
          awaited.push_back(s.from);
        } else if (!shapes_.leads_back(v, s)) {
          read.emplace_back(s.from, s.port);
        }
      }
      add_edges(b_, v, std::move(read), std::move(awaited), [&](op_id from, std::uint32_t port) {
        return static_cast<std::uint32_t>(shapes_.position(from, port));
      });
    }
    for (const auto& [a, c] : together_) {
      b_.colocate(a, c);
    }
  }

  /// What the graph itself keeps together: by its attributes, and ops with the variables that they update.
  void find_colocations() {
    std::size_t missing = 0;
    for (op_id v = 0; v < g_.num_nodes(); ++v) {
      const auto inputs = g_.inputs(v);
      const auto first = std::ranges::find(inputs, false, &source::is_control);
      if (first != inputs.end() && !shapes_.leads_back(v, *first) && runs_with_its_variable(g_[v].op)) {
        const auto type = shapes_.output(first->from, shapes_.position(first->from, first->port)).type;
        if (is_reference(type) || type == dt::resource) {
          unite(first->from, v);
        }
      }
      missing += add_colocations(v);
    }
    count(missing, "colocations name a node that is not in the file; they are left out");
  }

  /// Returns how many name a node that is not there.
  std::size_t add_colocations(op_id v) {
    std::size_t missing = 0;
    const auto value = attribute(g_[v], "_class");
    for (const auto& f : wire::fields{value ? text_field(*value, 1) : std::string_view{}}) {
      if (f.number == 2 && f.bytes.starts_with("loc:@")) {
        const auto other = g_.find(f.bytes.substr(5));
        if (other) {
          unite(*other, v);
        } else {
          ++missing;
        }
      }
    }
    return missing;
  }

  void take_costs() {
    if (costs_.seconds.empty()) {
      return;
    }
    std::size_t matched = 0;
    model_.seconds.assign(g_.num_nodes(), std::numeric_limits<double>::quiet_NaN());
    for (op_id v = 0; v < g_.num_nodes(); ++v) {
      if (const auto at = costs_.seconds.find(g_[v].name); at != costs_.seconds.end()) {
        model_.seconds[v] = at->second;
        ++matched;
      }
    }
    if (matched == 0) {
      model_.seconds.clear();
    }
    model_.measured_on = costs_.measured_on;
    note(std::to_string(matched) + " of " + std::to_string(g_.num_nodes()) + " ops have a measured time (" +
         to_string(costs_.measured_on) + "); " + std::to_string(costs_.seconds.size() - matched) +
         " measured times belong to no op of this graph");
  }

  static std::string some(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < 6; ++i) {
      text += (i == 0 ? "" : ", ") + names[i];
    }
    return text + (names.size() > 6 ? ", …" : "");
  }

  void note_assumptions() {
    const auto& a = assumed_;
    if (batch_ != 1 && a.batches + a.unknown_shapes == 0 && a.deduced.empty() && a.guessed.empty()) {
      note("the batch has no effect: the file says all extents");
    }
    count(a.batches, "outputs have an unknown outermost extent: it is taken for the batch size");
    count(a.extents, "other extents are unknown: a stated default is taken for them; give the shapes of the inputs");
    count(a.deduced.size(), "inputs have no shape; those of the ops that read them were taken: " + some(a.deduced));
    count(a.guessed.size(),
          "inputs have no shape, and nothing tells it: they count as one number per example: " + some(a.guessed));
    count(a.unknown_shapes, "outputs have unknown shapes: they count as large as the op's first input, or as one "
                            "number per example");
    for (const auto& [type, ops] : a.no_formula) {
      note(std::to_string(ops) + " ops of type " + io::detail::in_quotes(type) +
           " have no formula here: 1 FLOP per element of their first output");
    }
    for (const auto& name : a.bad_functions) {
      note("function " + io::detail::in_quotes(name) + " cannot be looked into: calls of it count as unknown ops");
    }
    count(num_parameters_, "constants are parameters and stay with the ops that read them");
    count(num_copies_, "ops share a parameter with ops of another kind of device: they keep a copy of it");
    count(num_branches_, "conditionals: both branches count, or the dearer one where they are functions");
    count(shapes_.num_loops() + num_function_loops_, "loops: what is inside counts once");
    count(num_particular_, "ops name a job, a task or a device number: only the kind of device is kept");
    count(num_unknown_devices_, "ops name a kind of device that is not known: they may run anywhere");
    count(num_moved_, "ops that run on CPUs only are constrained to another kind of device: the CPU is taken");
  }

  const graph& g_;
  assumptions assumed_;
  inference shapes_;
  const measured_costs& costs_;
  std::uint64_t batch_;
  workload_builder b_;
  model model_;
  std::vector<op_id> weight_;         // the parameter that a node gives, or `none`
  std::vector<byte_count> resident_;  // parameters that stay with a node
  std::vector<kind_set> kinds_;       // where a node may run
  std::vector<std::pair<op_id, op_id>> together_;
  weft::graph::disjoint_sets sets_;   // of what is together
  std::vector<kind_set> set_kinds_;   // where a set may run, at its representative
  std::size_t num_parameters_ = 0;
  std::size_t num_copies_ = 0;
  std::size_t num_particular_ = 0;
  std::size_t num_unknown_devices_ = 0;
  std::size_t num_moved_ = 0;
  std::size_t num_branches_ = 0;
  std::size_t num_function_loops_ = 0;
};

} // namespace detail

/// Reads a GraphDef or a CostGraphDef, as text or binary, into a workload: an op per node in the order of the file. See
/// docs/tensorflow.md for what becomes of devices, colocations, variables, constants, conditionals and loops, and
/// `model::notes` for what had to be assumed. Models `io::model_reader`.
/// ```
/// const auto m = tensorflow::reader{.batch = 64}.read(bytes, "model.pb");
/// ```
struct reader {
  std::uint64_t batch = 1;  ///< for unknown outermost extents
  std::uint64_t extent = 1; ///< for other unknown extents
  std::map<std::string, nn::extents, std::less<>> shapes = {}; ///< of inputs, by the names of their nodes
  measured_costs costs = {}; ///< times of ops, as `read_costs` gives them

  static constexpr std::string_view format() { return "TensorFlow GraphDef or CostGraphDef"; }

  /// Looks at the first node.
  bool recognises(std::string_view bytes) const {
    const auto what = detail::content_of(bytes).message;
    return what == schema::message_id::graph_def || what == schema::message_id::cost_graph_def;
  }

  /// Throws `parse_error` for other bytes, for damaged ones, for nodes without name or op, names given twice and inputs
  /// that do not exist; with a `cycle_error`, `constraint_error` or `value_error` nested if that is what is wrong with
  /// the graph. Complexity: O(size), times the depth of nesting in texts; edges are sorted per op.
  model read(std::string_view bytes, const std::string& file) const {
    const auto what = detail::content_of(bytes);
    if (what.message != schema::message_id::graph_def && what.message != schema::message_id::cost_graph_def) {
      throw parse_error(file, 0,
                        "not a graph of TensorFlow's: understood are GraphDef and CostGraphDef, as text or binary");
    }
    std::vector<device_place> places;
    return detail::in_file(file, bytes, places, [&] {
      const auto converted = what.is_text ? from_text(bytes, what.message, file, &places) : std::string{};
      const auto encoded = what.is_text ? std::string_view{converted} : bytes;
      if (what.message == schema::message_id::cost_graph_def) {
        return detail::read_cost_graph(encoded);
      }
      const auto g = graph::of_graph_def(encoded);
      const shape_options options{batch, extent, shapes};
      detail::require_inputs(g, options);
      return detail::graph_reader{g, options, costs}.read();
    });
  }
};

static_assert(io::model_reader<reader>);

} // namespace weft::tensorflow
