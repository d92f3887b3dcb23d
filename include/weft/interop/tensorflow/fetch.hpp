// SPDX-License-Identifier: BSL-1.0
/// The nodes of a graph that a step runs: TensorFlow runs what is fetched and what that needs, not the whole file.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/graph/adjacency.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/interop/tensorflow/functions.hpp"
#include "weft/interop/tensorflow/ops.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::tensorflow::detail {

/// Finds the nodes that are needed for what is fetched. Without names, that is whatever nobody reads, but for what
/// initialises variables and tables, saves, restores, or makes summaries: other runs do that, before, after and beside
/// the steps.
class fetched {
public:
  explicit fetched(const graph& g) : g_{g} {}

  /// What is fetched by these names, as `name`, `name:0` or `^name`; a source without a port is a node with all it
  /// gives. For the name `*`, all nodes. Throws `error` for an unknown name. Complexity: O(nodes + inputs).
  std::vector<source> roots(std::span<const std::string> names) {
    std::vector<source> found;
    for (const auto& name : names) {
      if (name == "*") {
        return all();
      }
      found.push_back(source_of(name));
    }
    return names.empty() ? ends_of_steps() : found;
  }

  /// How many nodes these need, themselves included.
  std::size_t num_needed(std::span<const source> roots) const {
    std::vector<op_id> open;
    for (const auto& s : roots) {
      open.push_back(s.from);
    }
    std::vector<bool> needed(g_.num_nodes(), false);
    std::size_t count = 0;
    while (!open.empty()) {
      const op_id v = open.back();
      open.pop_back();
      if (!needed[v]) {
        needed[v] = true;
        ++count;
        for (const auto& s : g_.inputs(v)) {
          open.push_back(s.from);
        }
      }
    }
    return count;
  }

private:
  std::vector<source> all() const {
    std::vector<source> nodes;
    for (op_id v = 0; v < g_.num_nodes(); ++v) {
      nodes.push_back({v, none});
    }
    return nodes;
  }

  source source_of(std::string_view fetch) const {
    auto name = fetch.substr(fetch.starts_with('^') ? 1 : 0);
    std::uint32_t port = none;
    if (const auto colon = name.rfind(':'); colon != name.npos && colon + 1 < name.size() &&
                                            name.find_first_not_of("0123456789", colon + 1) == name.npos) {
      (void)std::from_chars(name.data() + colon + 1, name.data() + name.size(), port);
      name = name.substr(0, colon);
    }
    if (const auto v = g_.find(name)) {
      return {*v, calls_function(g_, g_[*v]) ? port : none};
    }
    throw error("fetch: there is no node " + io::in_quotes(name) + similar_to(name));
  }

  /// Some names to choose from: those that have the last part of this one in them or the other way round, else those
  /// of nodes that nobody reads.
  std::string similar_to(std::string_view name) const {
    constexpr std::size_t most = 5;
    const auto last_part = [](std::string_view text) { return text.substr(text.rfind('/') + 1); };
    const auto within = [](std::string_view part, std::string_view text) {
      const auto same = [](char a, char b) {
        const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
        return lower(a) == lower(b);
      };
      return part.size() > 2 && std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
    };
    std::vector<op_id> found;
    for (op_id v = 0; v < g_.num_nodes(); ++v) {
      if (within(last_part(name), g_[v].name) || within(last_part(g_[v].name), name)) {
        found.push_back(v);
      }
    }
    const bool similar = !found.empty();
    if (!similar) {
      found = ends();
    }
    found.resize(std::min(found.size(), most));
    std::string text;
    for (const op_id other : found) {
      text += text.empty() ? similar ? "; there is " : "; nobody reads " : ", ";
      text += io::in_quotes(g_[other].name);
    }
    return text;
  }

  /// Nodes that nobody reads, those with the longest way to them first: there training steps end.
  std::vector<op_id> ends() const {
    std::vector<std::uint32_t> depth(g_.num_nodes(), 0);
    in_order([&](op_id v) {
      for (const auto& s : g_.inputs(v)) {
        depth[v] = std::max(depth[v], depth[s.from] + 1);
      }
    });
    std::vector<op_id> found;
    const auto read = are_read();
    for (op_id v = 0; v < g_.num_nodes(); ++v) {
      if (!read[v]) {
        found.push_back(v);
      }
    }
    weft::stable_sort(found, [&](op_id a, op_id b) { return depth[a] > depth[b]; });
    return found;
  }

  std::vector<bool> are_read() const {
    std::vector<bool> read(g_.num_nodes(), false);
    for (op_id v = 0; v < g_.num_nodes(); ++v) {
      for (const auto& s : g_.inputs(v)) {
        read[s.from] = true;
      }
    }
    return read;
  }

  std::vector<source> ends_of_steps() {
    classify();
    const auto read = are_read();
    std::vector<source> roots;
    for (op_id v = 0; v < g_.num_nodes(); ++v) {
      if (!read[v] && role_[v] != role::upkeep) {
        roots.push_back({v, none});
      }
    }
    return roots.empty() ? all() : roots; // all, if a graph is for initialising or saving alone
  }

  enum class role : std::uint8_t {
    step,   ///< depends on variables or on what is fed
    fixed,  ///< is made from constants, random numbers and checkpoints alone
    upkeep, ///< initialises, saves, restores or summarises, or waits for nothing else
  };

  void classify() {
    role_.assign(g_.num_nodes(), role::step); // so of what closes a loop
    in_order([this](op_id v) { role_[v] = role_of(v); });
  }

  /// Visits each node after what it reads, but for the edges that close loops; none on another cycle or behind one.
  template <class Visit>
  void in_order(const Visit& visit) const {
    std::vector<std::vector<op_id>> readers(g_.num_nodes());
    for (op_id v = 0; v < g_.num_nodes(); ++v) {
      for (const auto& s : g_.inputs(v)) {
        if (!closes_loop(g_, v, s)) {
          readers[s.from].push_back(v);
        }
      }
    }
    for (const op_id v : weft::graph::acyclic_part(readers)) {
      visit(v);
    }
  }

  role role_of(op_id v) const {
    const auto inputs = g_.inputs(v);
    const auto has = [&](role r) {
      return std::any_of(inputs.begin(), inputs.end(), [&](const source& s) { return role_[s.from] == r; });
    };
    if (is_upkeep(g_[v].op) || initialises(v)) {
      return role::upkeep;
    }
    if (g_[v].op.find("Restore") != std::string_view::npos) {
      return role::fixed;
    }
    if (is_variable(g_[v].op) || brings_data(g_[v].op, inputs.empty()) || has(role::step)) {
      return role::step;
    }
    return has(role::upkeep) ? role::upkeep : role::fixed;
  }

  static bool is_upkeep(std::string_view op) {
    constexpr std::string_view parts[] = {"Summary", "InitializeTable", "LookupTableImport"};
    constexpr std::string_view names[] = {"IsVariableInitialized", "VarIsInitializedOp", "MakeIterator",
                                          "MergeV2Checkpoints",    "QueueClose",         "QueueCloseV2",
                                          "Save",                  "SaveSlices",         "SaveV2"};
    return std::find(std::begin(names), std::end(names), op) != std::end(names) ||
           std::any_of(std::begin(parts), std::end(parts), [&](auto part) { return op.find(part) != op.npos; });
  }

  /// Whether something from outside of the graph comes in here. Of ops that nothing is known of, all that read nothing.
  static bool brings_data(std::string_view op, bool reads_nothing) {
    const auto* const family = find_op(op);
    if (family == nullptr) {
      return reads_nothing;
    }
    constexpr shape_rule rules[] = {shape_rule::argument, shape_rule::dequeue, shape_rule::handle, shape_rule::iterator,
                                    shape_rule::placeholder};
    return std::find(std::begin(rules), std::end(rules), family->shape) != std::end(rules) || op == "_Recv" ||
           op == "_HostRecv";
  }

  /// An assignment of what does not depend on any step, or the one that a variable is made with: TensorFlow names it
  /// after the variable.
  bool initialises(op_id v) const {
    if (g_[v].op != "Assign" && g_[v].op != "AssignVariableOp") {
      return false;
    }
    std::vector<op_id> read;
    for (const auto& s : g_.inputs(v)) {
      if (!s.is_control()) {
        read.push_back(s.from);
      }
    }
    if (read.size() != 2) {
      return false;
    }
    return role_[read[1]] == role::fixed || g_[v].name == std::string{g_[read[0]].name} + "/Assign";
  }

  const graph& g_;
  std::vector<role> role_;
};

} // namespace weft::tensorflow::detail
