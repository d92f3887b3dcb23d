// SPDX-License-Identifier: BSL-1.0
/// Reads TensorFlow's graphs and models as workloads.
#pragma once

#include "weft/interop/tensorflow/fetch.hpp"
#include "weft/interop/tensorflow/graph_reader.hpp"
#include "weft/interop/tensorflow/saved_model.hpp"
#include "weft/io/reader.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::tensorflow {

/// Reads a GraphDef, a SavedModel or a CostGraphDef, as text or binary, into a workload: an op per node that a step
/// needs, in the order of the file and with its name. Calls of functions are replaced by the nodes of these, whose
/// names begin with that of the call. See docs/tensorflow.md for what becomes of devices, colocations, variables,
/// constants, conditionals and loops, and `model::notes` for what had to be assumed or was left out. Models
/// `io::model_reader`.
/// ```
/// const auto m = tensorflow::reader{.batch = 64}.read(bytes, "model.pb");
/// ```
struct reader {
  std::uint64_t batch = 0;  ///< for unknown outermost extents; 0: not given, so 1
  std::uint64_t extent = 1; ///< for other unknown extents
  std::map<std::string, nn::extents, std::less<>> shapes = {}; ///< of inputs and first outputs, by names of nodes
  /// Times of ops, as `read_costs` gives them. They must be of a run with the same batch size: if they do not tell it,
  /// and the graph leaves it open, it has to be given.
  measured_costs costs = {};
  /// The fetches of a step: names of nodes, also as `name:0` or `^name`; only what they need counts. If empty, it is
  /// what the signature of a SavedModel gives, and in a GraphDef all but what is there only to initialise, save,
  /// restore or summarise; of a single `*` everything.
  std::vector<std::string> fetch = {};
  std::string signature = {}; ///< of a SavedModel; empty: `serving_default`, or the first
  std::string tags = {};      ///< of a SavedModel's graph, as `serve,gpu`; empty: the first with `serve`, or the first
  loop_trips trips = {};      ///< where it does not follow from the graph how often a loop runs
  bool keep_functions = false; ///< a call is one op with what the function costs

  static constexpr std::string_view format() { return "TensorFlow GraphDef, SavedModel or CostGraphDef"; }

  /// Looks at the first node.
  bool recognises(std::string_view bytes) const {
    const auto what = detail::content_of(bytes).message;
    return is_graph(what) || what == schema::message_id::cost_graph_def;
  }

  /// Throws `parse_error` for other bytes, for damaged ones, for nodes without name or op, names given twice, inputs
  /// that do not exist, unknown names in `fetch`, `signature`, `tags` and `trips`, functions that call each other so
  /// often that a small file would become a huge graph, and times of another batch size or, where the graph leaves it
  /// open and nobody gave it, of an unknown one; with a `cycle_error`, `constraint_error` or `value_error` nested if
  /// that is what is wrong with the graph. Complexity: O(size of the graph without calls), times the depth of nesting
  /// in texts; edges are sorted per op.
  model read(std::string_view bytes, const std::string& file) const {
    if (!recognises(bytes)) {
      throw parse_error(file, 0,
                        "not a TensorFlow graph: the formats understood are GraphDef, SavedModel and CostGraphDef, as "
                        "text or binary");
    }
    return detail::in_file(file, bytes, [&](const detail::encoded_file& in) {
      if (in.message == schema::message_id::cost_graph_def) {
        if (!fetch.empty()) {
          throw error("fetch: a CostGraphDef has what a run needed, and nothing to choose from");
        }
        return detail::read_cost_graph(in.bytes);
      }
      if (in.message == schema::message_id::graph_def) {
        if (!signature.empty() || !tags.empty()) {
          throw error("a GraphDef has no signatures and no tags to choose from; a SavedModel has");
        }
        return read_graph(in.bytes, fetch, {});
      }
      std::vector<std::string> notes(1);
      const auto chosen = detail::chosen_graph(in.bytes, tags, notes[0]);
      if (!fetch.empty()) {
        return read_graph(chosen.graph_def, fetch, std::move(notes), "TensorFlow SavedModel");
      }
      const auto& computed = detail::chosen_signature(chosen, signature, notes.emplace_back());
      return read_graph(chosen.graph_def, computed.outputs, std::move(notes), "TensorFlow SavedModel");
    });
  }

private:
  static bool is_graph(schema::message_id what) {
    return what == schema::message_id::graph_def || what == schema::message_id::saved_model;
  }

  model read_graph(std::string_view encoded, std::span<const std::string> fetched, std::vector<std::string> notes,
                   const char* format = "TensorFlow GraphDef") const {
    detail::function_library functions{graph::of_graph_def(encoded)};
    const auto& whole = functions.whole();
    detail::fetched steps{whole};
    const auto roots = steps.roots(fetched);
    if (const auto left_out = std::ranges::count(detail::needed(whole, roots), false); left_out > 0) {
      notes.push_back(note_of(static_cast<std::size_t>(left_out), whole.num_nodes(), fetched));
    }
    const shape_options options{std::max(batch, std::uint64_t{1}), extent, shapes};
    const detail::inline_budget budget{encoded.size()};
    detail::inline_options inlining{.keep_calls = keep_functions};
    for (int round = 0;; ++round) { // a branch is chosen once its cost is known, and may have conditionals of its own
      const auto flat = detail::inliner{functions, inlining, budget}.of_graph(roots);
      detail::graph_reader graph{functions, flat.nodes, options, trips, budget, batch != 0, costs};
      const auto known = inlining.branches.size();
      inlining.branches.insert(graph.calls().branches().begin(), graph.calls().branches().end());
      if (!keep_functions && inlining.branches.size() > known && round < 8) {
        continue;
      }
      require_loops(graph.calls());
      require_shapes(whole, graph.given_shapes());
      const bool is_chosen = !fetched.empty() && std::ranges::find(fetched, "*") == fetched.end();
      auto m = graph.read(is_chosen ? flat.returns : std::span<const source>{});
      m.format = format;
      note_calls(flat, graph.calls(), notes);
      notes.insert(notes.end(), m.notes.begin(), m.notes.end());
      std::erase(notes, std::string{});
      m.notes = std::move(notes);
      return m;
    }
  }

  void require_loops(const detail::function_costs& calls) const {
    for (const auto& [name, count] : trips) {
      if (name != "*" && !calls.loops().contains(name)) {
        const auto known = io::joined(calls.loops(), [](const auto& loop) { return io::in_quotes(loop.first); });
        throw error("trips are given for " + io::in_quotes(name) + ", which is not a loop of the graph; " +
                    (known.empty() ? "it has none" : "there is " + known));
      }
    }
  }

  void require_shapes(const graph& whole, const std::set<std::string, std::less<>>& given) const {
    const auto is_input = [](const node& n) {
      return detail::shape_source_of(n.op) == detail::shape_source::placeholder;
    };
    for (const auto& [name, shape] : shapes) {
      const auto v = whole.find(name);
      if (given.contains(name) || (v && is_input(whole[*v]))) { // inputs may be out of what is fetched
        continue;
      }
      std::vector<std::string> inputs;
      for (op_id other = 0; other < whole.num_nodes(); ++other) {
        if (is_input(whole[other])) {
          inputs.push_back(io::in_quotes(whole[other].name));
        }
      }
      throw error("a shape is given for " + io::in_quotes(name) +
                  ", which is neither an input of the graph nor an op that could have it; " +
                  (inputs.empty() ? "it has no inputs" : "inputs are " + io::joined(inputs)));
    }
  }

  static void note_calls(const detail::inlined& flat, const detail::function_costs& calls,
                         std::vector<std::string>& notes) {
    auto chosen = flat.chosen;
    for (const auto& [name, branch] : calls.branches()) {
      if (flat.nodes.find(name)) {
        chosen.insert(name);
      }
    }
    const auto names = io::joined(chosen, io::in_quotes);
    if (!names.empty()) {
      notes.push_back(io::counted(chosen.size(), "{conditional: of its|conditionals: of their} branches, only the "
                                                 "costliest counts: ") + names);
    }
    for (const auto& name : flat.recursive) {
      notes.push_back("function " + io::in_quotes(name) + " calls itself, or calls are nested more than 64 deep: that "
                      "call stays one op");
    }
  }

  static std::string note_of(std::size_t left_out, std::size_t nodes, std::span<const std::string> fetched) {
    const auto count = std::to_string(left_out) + " of " + std::to_string(nodes) + " nodes ";
    if (fetched.empty()) {
      return count + "only initialise, save, restore or summarise, and are left out: fetch nodes by name to choose, or "
                     "'*' to keep all";
    }
    return count + "are not needed for " + io::joined(fetched, io::in_quotes) + ", and are left out";
  }
};

static_assert(io::model_reader<reader>);

} // namespace weft::tensorflow
