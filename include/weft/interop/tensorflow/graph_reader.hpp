// SPDX-License-Identifier: BSL-1.0
/// Makes a workload of a graph without calls.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/graph/components.hpp"
#include "weft/interop/tensorflow/calls.hpp"
#include "weft/interop/tensorflow/costs.hpp"
#include "weft/interop/tensorflow/graph_of_nodes.hpp"
#include "weft/workload/model.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::tensorflow::detail {

/// Makes a workload of a graph whose shapes are known.
class graph_reader {
public:
  /// `functions` has the nodes of the file, g those that count.
  graph_reader(function_library& functions, const graph& g, const shape_options& options, const loop_trips& trips,
               inline_budget budget, bool batch_given, const measured_costs& costs)
      : functions_{functions}, g_{g}, calls_{functions, options, trips, budget, assumed_},
        shapes_{g, options, assumed_, calls_.rule()}, costs_{costs}, batch_{options.batch}, batch_given_{batch_given},
        sets_{g.num_nodes()} {}

  /// Names of the nodes, also of functions, whose shapes an option gave.
  const std::set<std::string, std::less<>>& given_shapes() const { return assumed_.given; }
  /// What is known of conditionals and loops among the nodes.
  const function_costs& calls() const { return calls_; }

  /// `results` are what the caller fetches; the others are what nodes return to a caller of the graph.
  model read(std::span<const source> results) {
    find_kinds();
    find_colocations();
    find_parameters();
    add_ops();
    add_dependencies();
    take_costs();
    find_results(results);
    model_.ops = std::move(b_).build();
    model_.graph = graph_of_nodes{g_, shapes_, model_.ops, weight_}();
    model_.format = "TensorFlow GraphDef";
    note_assumptions();
    return std::move(model_);
  }

private:
  void note(std::string text) { model_.notes.push_back(std::move(text)); }
  void count(std::size_t n, std::string_view text, const std::string& names = {}) {
    if (n > 0) {
      note(io::counted(n, text) + names);
    }
  }

  /// Large constants are the weights of a frozen network. They stay with the ops that read them, also through
  /// Identity ops, which then move nothing. A constant that repeats one value is data.
  void find_parameters() {
    const auto n = g_.num_nodes();
    weight_.assign(n, none);
    resident_.assign(n, 0);
    for (op_id v = 0; v < n; ++v) {
      weight_[v] = is_parameter(g_, shapes_, v) ? v : none;
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
            hold(w, v);
          } else if (!through && reader[w] != v && !keep_together(reader[w], v)) {
            hold(w, v);
            num_copies_ += 1;
          }
        }
      }
    }
    for (op_id v = 0; v < n; ++v) {
      if (weight_[v] == v && reader[v] == none) {
        hold(v, v);
      }
      num_parameters_ += weight_[v] == v ? 1u : 0u;
      const op_id by = weight_[v] == none ? none : reader[weight_[v]];
      // Else it is kept elsewhere.
      if (by != none && set_kinds_[sets_.find(by)].is_subset_of(set_kinds_[sets_.find(v)])) {
        unite(by, v);
      }
    }
  }

  void hold(op_id weight, op_id holder) {
    const auto bytes = bytes_of(shapes_.output(weight, 0));
    resident_[holder] += bytes;
    model_.parameters.push_back({std::string{g_[weight].name}, holder, bytes});
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
    if (only_on_cpu(n.op) || shapes_.handles_text(v)) {
      num_moved_ += place.kinds.empty() || place.kinds.contains(device_kind::cpu) ? 0u : 1u;
      return device_kind::cpu;
    }
    return place.kinds.empty() ? kind_set::all() : place.kinds;
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
                 .resident_bytes = resident_[v] + state_of(v) + shapes_.resident_bytes(v),
                 .kinds = kinds_[v],
                 .name = std::string{n.name},
                 .type = std::string{n.op}});
      for (std::size_t i = 0; i < shapes_.ports(v).size(); ++i) {
        auto made = shapes_.output(v, i);
        b_.add_output(v, weight_[v] != none ? 0 : bytes_of(made));
        made.type = value_type(made.type);
        if (is_floating(made.type)) {
          model_.float_bytes[static_cast<std::uint32_t>(8 * element_bytes(made.type))] +=
            static_cast<double>(bytes_of(made));
        }
      }
      num_branches_ += n.op == "Switch" || n.op == "RefSwitch" ? 1u : 0u;
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
    std::unordered_map<std::string_view, op_id> absent;
    for (op_id v = 0; v < g_.num_nodes(); ++v) {
      const auto inputs = g_.inputs(v);
      const auto first = std::ranges::find(inputs, false, &source::is_control);
      const bool calls = calls_function(g_, g_[v]);
      if (first != inputs.end() && !calls && !shapes_.leads_back(v, *first) &&
          runs_with_its_variable(g_[v].op, g_[first->from].op)) {
        const auto type = shapes_.output(*first).type;
        if (is_reference(type) || type == dt::resource) {
          unite(first->from, v);
        }
      }
      if (calls) { // reads variables by the handles that it takes
        for (const auto& s : inputs) {
          (void)(!s.is_control() && is_variable(g_[s.from].op) && keep_together(s.from, v));
        }
      }
      missing += add_colocations(v, absent);
    }
    count(missing, "{colocation names|colocations name} a node that is not in the file; {it is|they are} left out");
  }

  /// Returns how many name a node that the file does not have. Nodes that name one that is not kept are together:
  /// `absent` has the first of them by that name.
  std::size_t add_colocations(op_id v, std::unordered_map<std::string_view, op_id>& absent) {
    std::size_t missing = 0;
    for (const auto name : colocated_with(g_[v])) {
      if (const auto other = g_.find(name)) {
        unite(*other, v);
      } else if (!functions_.locate(name)) {
        ++missing;
      } else if (const auto [first, is_new] = absent.try_emplace(name, v); !is_new) {
        unite(first->second, v);
      }
    }
    return missing;
  }

  void find_results(std::span<const source> fetched) {
    auto& all = model_.returned;
    std::ranges::transform(fetched, std::back_inserter(all), &source::from);
    for (op_id v = 0; v < g_.num_nodes(); ++v) {
      if (g_[v].op == "_Retval" && !g_.inputs(v).empty()) {
        all.push_back(g_.inputs(v)[0].from);
      }
    }
    sort_unique(all);
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
    } else {
      compare_shapes();
    }
    model_.measured_on = costs_.measured_on;
    note(std::to_string(matched) + " of " + std::to_string(g_.num_nodes()) + " ops have a measured time (" +
         to_string(costs_.measured_on) + "); " + std::to_string(costs_.seconds.size() - matched) +
         " measured times belong to no op of this graph");
  }

  /// Times are scaled to other devices by what an op of these shapes takes there. So they must be of these shapes.
  void compare_shapes() {
    std::size_t compared = 0;
    std::size_t different = 0;
    std::size_t same_batch = 0;
    std::size_t other_batch = 0; // extents that depend on data differ, too, but most outputs tell the batch size
    std::string example;
    std::string example_of_batch;
    for (op_id v = 0; v < g_.num_nodes(); ++v) {
      const auto at = costs_.shapes.find(g_[v].name);
      if (at == costs_.shapes.end()) {
        continue;
      }
      for (std::size_t i = 0; i < shapes_.ports(v).size(); ++i) {
        const auto measured = at->second.find(shapes_.ports(v)[i]);
        if (measured == at->second.end()) {
          continue;
        }
        ++compared;
        const auto& here = shapes_.output(v, i).dims;
        const auto& there = measured->second;
        const bool tells_batch = assumed_.uses_batch && !here.empty() && here[0] == batch_;
        if (here == there) {
          same_batch += tells_batch ? 1u : 0u;
          continue;
        }
        const auto text = io::in_quotes(g_[v].name) + " makes " + inference::text(there) + " there and " +
                          inference::text(here) + " here";
        if (tells_batch && here.size() == there.size() && std::equal(here.begin() + 1, here.end(), there.begin() + 1)) {
          example_of_batch = other_batch++ == 0 ? text + "; give batch " + std::to_string(there[0]) : example_of_batch;
        }
        example = different++ == 0 ? text : example;
      }
    }
    if (other_batch > same_batch) {
      throw error("the measured times come from a run with another batch size: " + example_of_batch);
    }
    if (different > 0) {
      note(io::counted(different, "{output had another shape|outputs had other shapes} when times were measured: ") +
           example);
    }
    if (compared == 0 && assumed_.uses_batch) {
      if (!batch_given_) {
        throw error("the graph leaves the batch size open, and the measured times do not tell with which one they were "
                    "measured: give the batch of that run");
      }
      note("the measured times do not tell with which shapes they were measured: batch " + std::to_string(batch_) +
           " is taken to be that of their run");
    }
  }

  /// Throws for a batch that nothing depends on.
  void note_assumptions() {
    const auto& a = assumed_;
    if (batch_given_ && !a.uses_batch) {
      throw error("the batch cannot be chosen: no extent is left open; leave out what chooses it");
    }
    using option = assumed_size::option;
    if (!batch_given_ && a.uses_batch) {
      model_.assumed.push_back({.given_by = option::batch});
    }
    model_.assumed.insert(model_.assumed.end(), a.open.begin(), a.open.end());
    count(a.deduced.size(),
          "{input has|inputs have} no shape; {that of an op that reads it was|those of the ops that read them were} "
          "taken: ", io::joined_first(6, a.deduced));
    count(a.guessed.size(),
          "{input has|inputs have} no shape, and none can be inferred: {it counts|they count} as one number per "
          "example: ", io::joined_first(6, a.guessed));
    count(a.at_most, "{output is|outputs are} as large as {its|their} data say: the most that is possible is taken");
    count(a.unknown_shapes, "{output has an unknown shape: it counts|outputs have unknown shapes: they count} as "
                            "large as the op's first input, or as one number per example");
    for (const auto& [type, ops] : a.no_formula) {
      note(io::counted(ops, "{op|ops} of type ") + io::in_quotes(type) +
           " without a formula here: 1 FLOP per element of the first output");
    }
    auto bad = a.bad_functions;
    bad.insert(functions_.damaged().begin(), functions_.damaged().end());
    for (const auto& name : bad) {
      note("function " + io::in_quotes(name) + " cannot be looked into: calls of it count as unknown ops");
    }
    count(num_parameters_, "{constant is a parameter and stays|constants are parameters and stay} with the ops that "
                           "read {it|them}");
    count(num_copies_, "{op shares|ops share} a parameter with ops of another kind of device: {it keeps|they keep} a "
                       "copy of it");
    count(num_branches_, "{conditional|conditionals}: both branches count");
    note_loops();
    count(num_particular_, "{op names|ops name} a job, a task or a device number: only the kind of device is kept");
    count(num_unknown_devices_, "{op names|ops name} a kind of device that is not known: {it|they} may run anywhere");
    count(num_moved_, "{op that runs on CPUs only is|ops that run on CPUs only are} constrained to another kind of "
                      "device: the CPU is taken");
  }

  void note_loops() {
    std::vector<std::string> counted;
    for (const auto& [name, trips] : calls_.loops()) {
      if (trips) {
        counted.push_back(io::in_quotes(name) + " " + std::to_string(static_cast<std::uint64_t>(*trips)) + " times");
      } else {
        model_.assumed.push_back({assumed_size::option::trips, name, "While", 1});
      }
    }
    count(counted.size(), "{loop counts as often as it runs|loops count as often as they run}: ",
          io::joined_first(6, counted));
    count(shapes_.num_loops(), "{loop|loops} of Enter and Exit: what is inside counts once");
  }

  function_library& functions_;
  const graph& g_;
  assumptions assumed_;
  function_costs calls_;
  inference shapes_;
  const measured_costs& costs_;
  std::uint64_t batch_;
  bool batch_given_;
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
};

} // namespace weft::tensorflow::detail
