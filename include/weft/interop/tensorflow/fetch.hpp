// SPDX-License-Identifier: BSL-1.0
/// The nodes of a graph that a step runs: TensorFlow runs what is fetched and what that needs, not the whole file.
#pragma once

#include "weft/core/sort.hpp"
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

  /// Roots of these names: `name`, `name:0`, or `^name`, which runs a node and fetches nothing; a call without a port
  /// is fetched with all that it returns. For the name `*`, all nodes. Throws `error` for an unknown name.
  /// Complexity: O(nodes + inputs).
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

private:
  source source_of(std::string_view fetch) const {
    auto name = fetch.substr(fetch.starts_with('^') ? 1 : 0);
    std::uint32_t port = none;
    if (const auto colon = name.rfind(':'); colon != name.npos && colon + 1 < name.size() &&
                                            name.find_first_not_of("0123456789", colon + 1) == name.npos) {
      (void)std::from_chars(name.data() + colon + 1, name.data() + name.size(), port);
      name = name.substr(0, colon);
    }
    if (const auto v = g_.find(name)) {
      const bool runs = fetch.starts_with('^');
      const bool is_call = calls_function(g_, g_[*v]);
      return {*v, runs ? none : port != none ? port : is_call ? source::every_port : 0};
    }
    throw error("fetch: there is no node " + io::in_quotes(name) + similar_to(name));
  }

  /// Some names to choose from: those that have the last part of this one in them or the other way round, else those
  /// of nodes that nobody reads.
  std::string similar_to(std::string_view name) const {
    constexpr std::size_t most = 5;
    const auto last_part = [](std::string_view text) { return text.substr(text.rfind('/') + 1); };
    const auto within = [](std::string_view part, std::string_view text) {
      return part.size() > 2 && io::lower(text).find(io::lower(part)) != std::string::npos;
    };
    auto found = all();
    std::erase_if(found, [&](const source& s) {
      return !within(last_part(name), g_[s.from].name) && !within(last_part(g_[s.from].name), name);
    });
    const bool similar = !found.empty();
    if (!similar) { // those with the longest way to them first: there training steps end
      std::vector<std::uint32_t> depth(g_.num_nodes(), 0);
      for (const op_id v : in_order(g_)) {
        for (const auto& s : g_.inputs(v)) {
          depth[v] = std::max(depth[v], depth[s.from] + 1);
        }
      }
      found = ends();
      weft::stable_sort(found, [&](const source& a, const source& b) { return depth[a.from] > depth[b.from]; });
    }
    found.resize(std::min(found.size(), most));
    const auto text = io::joined(found, [this](const source& s) { return io::in_quotes(g_[s.from].name); });
    return text.empty() ? text : (similar ? "; there is " : "; nobody reads ") + text;
  }

  std::vector<source> all() const {
    std::vector<source> nodes;
    for (op_id v = 0; v < g_.num_nodes(); ++v) {
      nodes.push_back(whole(v));
    }
    return nodes;
  }
  /// A node with all that it gives, if it is a call; others only run.
  source whole(op_id v) const { return {v, calls_function(g_, g_[v]) ? source::every_port : none}; }

  /// Nodes that nobody reads.
  std::vector<source> ends() const {
    std::vector<bool> read(g_.num_nodes(), false);
    for (op_id v = 0; v < g_.num_nodes(); ++v) {
      for (const auto& s : g_.inputs(v)) {
        read[s.from] = true;
      }
    }
    auto found = all();
    std::erase_if(found, [&](const source& s) { return read[s.from]; });
    return found;
  }

  std::vector<source> ends_of_steps() {
    role_.assign(g_.num_nodes(), role::step); // so of what closes a loop
    for (const op_id v : in_order(g_)) {
      role_[v] = role_of(v);
    }
    auto roots = ends();
    std::erase_if(roots, [&](const source& s) { return role_[s.from] == role::upkeep; });
    return roots.empty() ? all() : roots; // all, if a graph is for initialising or saving alone
  }

  enum class role : std::uint8_t {
    step,   ///< depends on variables or on what is fed
    fixed,  ///< is made from constants, random numbers and checkpoints alone
    upkeep, ///< initialises, saves, restores or summarises, or waits for nothing else
  };

  role role_of(op_id v) const {
    const auto inputs = g_.inputs(v);
    const auto has = [&](role r) {
      return std::ranges::any_of(inputs, [&](const source& s) { return role_[s.from] == r; });
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
    return std::ranges::find(names, op) != std::end(names) ||
           std::ranges::any_of(parts, [&](auto part) { return op.find(part) != op.npos; });
  }

  /// Whether something from outside of the graph comes in here. Of ops that nothing is known of, all that read nothing.
  static bool brings_data(std::string_view op, bool reads_nothing) {
    const auto source = shape_source_of(op);
    if (!source) {
      return reads_nothing;
    }
    using enum shape_source;
    constexpr shape_source outside[] = {argument, dequeue, handle, iterator, placeholder};
    return std::ranges::find(outside, *source) != std::end(outside) || op == "_Recv" || op == "_HostRecv";
  }

  /// An assignment of what does not depend on any step, or the one that a variable is made with: TensorFlow names it
  /// after the variable.
  bool initialises(op_id v) const {
    if (g_[v].op != "Assign" && g_[v].op != "AssignVariableOp") {
      return false;
    }
    std::vector<source> read{g_.inputs(v).begin(), g_.inputs(v).end()};
    std::erase_if(read, [](const source& s) { return s.is_control(); });
    return read.size() == 2 && (role_[read[1].from] == role::fixed ||
                                g_[v].name == std::string{g_[read[0].from].name} + "/Assign");
  }

  const graph& g_;
  std::vector<role> role_;
};

} // namespace weft::tensorflow::detail
