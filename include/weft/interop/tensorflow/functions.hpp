// SPDX-License-Identifier: BSL-1.0
/// The functions of a graph's library, the nodes that call them, and the ops inside them.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/interop/tensorflow/graph.hpp"
#include "weft/interop/tensorflow/ops.hpp"
#include "weft/interop/tensorflow/shape_table.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::tensorflow::detail {

/// A function that a node calls, and what the node says of its attributes.
struct callee {
  std::string key = {};              ///< which of several: `then_branch`, `branch_1`, `body`; else empty
  std::string_view function = {};    ///< its name
  std::string_view bindings = {};    ///< a message with entries of attributes …
  std::uint32_t bindings_field = 2;  ///< … which are the fields of that number
};

enum class call_kind : std::uint8_t { none, plain, branches, loop };

/// What a node does with functions.
struct call {
  call_kind kind = call_kind::none;
  std::vector<callee> callees = {}; ///< of a loop: condition and body
  std::size_t first_argument = 0;   ///< the inputs before choose a branch or a device
};

/// A node that calls a function by its name, by an attribute, one of several, or again and again.
/// Source: tensorflow/core/ops/functional_ops.cc.
inline call call_of(const graph& library, const node& n) {
  using enum call_kind;
  const auto named = [](std::string key, std::string_view function) {
    return callee{std::move(key), text_field(function, 1), function, 2};
  };
  const auto of = [&](std::string_view key) {
    const auto value = attribute(n, key);
    return named(std::string{key}, value ? text_field(*value, 10) : std::string_view{});
  };
  const auto op = n.op;
  if (op == "PartitionedCall" || op == "StatefulPartitionedCall" || op == "TPUPartitionedCall" || op == "RemoteCall") {
    const auto value = attribute(n, "f");
    return {plain, {named("", value ? text_field(*value, 10) : std::string_view{})}, op == "RemoteCall" ? 1u : 0u};
  }
  if (op == "If" || op == "StatelessIf") {
    return {branches, {of("then_branch"), of("else_branch")}, 1};
  }
  if (op == "Case" || op == "StatelessCase") {
    call c{branches, {}, 1};
    const auto value = attribute(n, "branches");
    for (const auto& f : wire::fields{value ? text_field(*value, 1) : std::string_view{}}) {
      if (f.number == 9 && c.callees.size() < 1000) {
        c.callees.push_back(named("branch_" + std::to_string(c.callees.size()), f.bytes));
      }
    }
    return c;
  }
  if (op == "While" || op == "StatelessWhile") {
    return {loop, {of("cond"), of("body")}, 0};
  }
  if (library.function(op) && find_op(op) == nullptr) {
    return {plain, {callee{{}, op, n.body, 5}}, 0};
  }
  return {};
}

/// True for a node whose type is that of a call, or the name of a function. `rule`: the one of its type, or null.
inline bool calls_function(const graph& library, const node& n, const shape_rule* rule) {
  return rule != nullptr ? rule->source == shape_source::call : library.function(n.op).has_value();
}
inline bool calls_function(const graph& library, const node& n) {
  return calls_function(library, n, shape_rule_of(n.op));
}

/// For each node that calls functions what the names of the ops inside begin with: its own name, or, where other nodes
/// are already called so (`net` beside `net/dense`), that with a number that nobody has.
class scopes {
public:
  scopes() = default;
  scopes(const graph& g, const graph& library) {
    std::vector<op_id> calls;
    for (op_id v = 0; v < g.num_nodes(); ++v) {
      if (calls_function(library, g[v])) {
        calls.push_back(v);
      }
    }
    std::vector<std::string_view> names;
    for (op_id v = 0; !calls.empty() && v < g.num_nodes(); ++v) {
      names.push_back(g[v].name);
    }
    weft::sort(names);
    const auto begins = [&](const std::string& scope) {
      const auto at = std::ranges::lower_bound(names, scope + "/");
      return at != names.end() && at->starts_with(scope + "/");
    };
    for (const op_id v : calls) {
      std::string scope{g[v].name};
      for (std::size_t k = 1; begins(scope) || (k > 1 && g.find(scope)); ++k) {
        scope = std::string{g[v].name} + "_" + std::to_string(k);
      }
      by_scope_.emplace(scope + "/", v);
      scope_.emplace(v, std::move(scope));
    }
  }
  const std::string& operator[](op_id v) const { return scope_.at(v); }

  /// The call whose ops have names such as this one, and the rest of that name. As no scope begins with another one,
  /// there is one at most.
  std::optional<std::pair<op_id, std::string_view>> find(std::string_view name) const {
    const auto behind = by_scope_.upper_bound(name);
    if (behind == by_scope_.begin() || !name.starts_with(std::prev(behind)->first)) {
      return std::nullopt;
    }
    const auto& [scope, v] = *std::prev(behind);
    return std::pair{v, name.substr(scope.size())};
  }

private:
  std::unordered_map<op_id, std::string> scope_;
  std::map<std::string, op_id, std::less<>> by_scope_; // with the slash behind
};

/// The nodes of a function, or of a whole graph, which has no arguments and returns nothing.
struct function_body {
  std::string_view name;
  graph nodes;                      ///< arguments first
  std::vector<source> returns = {}; ///< per output
  std::vector<op_id> effects = {};  ///< what a call waits for beside them
  scopes names = {};
};

/// A graph with its functions, each of which is looked into once, when it is first asked for.
class function_library {
public:
  explicit function_library(graph whole) : top_{{}, std::move(whole)} { top_.names = scopes{top_.nodes, top_.nodes}; }
  function_library(const function_library&) = delete;
  function_library& operator=(const function_library&) = delete;

  const function_body& top() const { return top_; }
  const graph& whole() const { return top_.nodes; }
  call call_of(const node& n) const { return detail::call_of(whole(), n); }

  /// The body of a function; nullptr if there is none of that name, or if it is damaged. Complexity: O(its size) once.
  const function_body* find(std::string_view name) {
    const auto bytes = whole().function(name);
    if (!bytes) {
      return nullptr;
    }
    auto [at, is_new] = bodies_.try_emplace(name);
    if (is_new) {
      try {
        at->second = std::make_unique<function_body>(body_of(name, *bytes));
      } catch (const error&) {
        damaged_.emplace(name);
      }
    }
    return at->second.get();
  }
  /// Names of functions that were asked for and are damaged.
  const std::set<std::string, std::less<>>& damaged() const { return damaged_; }

  /// A node in a graph or function.
  struct place {
    const function_body* body;
    op_id node;
  };
  /// The node that an op of that name was made of, as `call/node`; nothing if there is none.
  /// `through` gets the calls on the way. Complexity: O(length).
  std::optional<place> locate(std::string_view name, std::vector<place>* through = nullptr) {
    const function_body* body = &top_;
    while (body != nullptr) {
      if (const auto v = body->nodes.find(name)) {
        return place{body, *v};
      }
      const auto inside = body->names.find(name);
      if (!inside) {
        return std::nullopt;
      }
      const auto [caller, rest] = *inside;
      if (through != nullptr) {
        through->push_back({body, caller});
      }
      const auto c = call_of(body->nodes[caller]);
      body = nullptr;
      for (const auto& f : c.callees) {
        const auto behind = c.kind == call_kind::plain ? 0 : f.key.size() + 1;
        const bool chosen = behind == 0 || (rest.starts_with(f.key) && rest.substr(f.key.size()).starts_with('/'));
        if (c.kind != call_kind::loop && chosen) {
          name = rest.substr(behind);
          body = find(f.function);
          break;
        }
      }
    }
    return std::nullopt;
  }

private:
  function_body body_of(std::string_view name, std::string_view bytes) const {
    auto nodes = graph::of_function(bytes, whole());
    auto names = scopes{nodes, whole()};
    function_body body{name, std::move(nodes), {}, {}, std::move(names)};
    std::unordered_map<std::string_view, std::string_view> returned;
    std::unordered_map<std::string_view, std::string_view> awaited;
    for (const auto& f : wire::fields{bytes}) {
      if (f.number == 4 || f.number == 6) {
        (f.number == 4 ? returned : awaited)[text_field(f.bytes, 1)] = text_field(f.bytes, 2);
      }
    }
    for (const auto& f : wire::fields{text_field(bytes, 1)}) {
      if (f.number == 3) {
        const auto from = returned.find(text_field(f.bytes, 1));
        const auto s = from == returned.end() ? source{} : body.nodes.refers_to(from->second, &whole());
        if (s.from == none || s.is_control()) {
          throw error("function " + io::in_quotes(name) + " returns what it does not have");
        }
        body.returns.push_back(s);
      }
    }
    for (const auto& [key, node] : awaited) {
      if (const auto v = body.nodes.find(node)) {
        body.effects.push_back(*v);
      }
    }
    weft::sort(body.effects);
    return body;
  }

  function_body top_;
  std::unordered_map<std::string_view, std::unique_ptr<function_body>> bodies_;
  std::set<std::string, std::less<>> damaged_;
};

} // namespace weft::tensorflow::detail
