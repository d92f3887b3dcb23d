// SPDX-License-Identifier: BSL-1.0
/// Puts the nodes of functions in the place of their calls: a graph with calls becomes one without.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/interop/tensorflow/functions.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::tensorflow::detail {

/// Which calls are replaced. Loops never are: one op does what all iterations do.
struct inline_options {
  bool keep_calls = false; ///< none is
  /// By the names of conditionals, which branch runs; others stay.
  std::map<std::string, std::size_t, std::less<>> branches = {};
};

/// What may come out beyond what a file has itself, lest a small file fills the memory by calls of calls of calls.
struct inline_budget {
  std::size_t nodes;
  std::size_t bytes;
  std::size_t inputs;
  explicit inline_budget(std::size_t file_bytes)
      : nodes{50'000 + file_bytes / 100}, bytes{(std::size_t{8} << 20) + 2 * file_bytes},
        inputs{500'000 + file_bytes / 4} {}
};

/// A graph without calls. Names of nodes from functions are those of the call and the node, as `call/node`.
struct inlined {
  graph nodes;
  std::deque<std::string> made = {};            ///< names and nodes that are in no file; `nodes` refers to them
  std::vector<source> returns = {};             ///< of the function, or what the roots of a graph give
  std::set<std::string, std::less<>> chosen = {};    ///< conditionals that became one of their branches
  std::set<std::string, std::less<>> recursive = {}; ///< functions that call themselves: these calls stay
};

/// Inlines what is needed for some of a body's outputs.
///
/// As in TensorFlow (common_runtime/inline_function_utils.cc), arguments and returned values are passed on, who waits
/// for a call waits for the function's control outputs or, if it has none, for all that it returns, and nodes of the
/// function that read nothing within it wait for what the call waits for. In addition, a branch waits for its
/// condition. Nodes that nothing needs are left out. Nodes without a device have that of the call.
class inliner {
public:
  inliner(function_library& functions, const inline_options& options, inline_budget budget)
      : functions_{functions}, options_{options}, left_{budget} {}

  /// The graph, as far as it is needed for `roots`; one without a port is run and gives nothing.
  inlined of_graph(std::span<const source> roots) {
    return of(frames_.emplace_back(frame{&functions_.top()}), roots, 0);
  }
  /// A function by itself, as it is called so; its arguments are the first nodes.
  inlined of_function(const function_body& f, const callee& from, std::string scope) {
    frame& root = frames_.emplace_back(frame{&f});
    root.from = from;
    root.scope = std::move(scope);
    return of(root, {}, f.nodes.num_arguments());
  }

private:
  static constexpr std::size_t max_depth = 64;
  static constexpr source unknown{none, 0};
  static constexpr source being_found{none, 1};

  /// One call of a function, or the whole.
  struct frame {
    const function_body* body;
    frame* caller = nullptr;
    op_id call = none;               // in the caller
    bool waits_for_first = false;    // input of the call: a condition
    callee from = {};
    std::string scope = {};          // with the slash behind; empty for the whole graph
    std::string_view device = {};
    std::size_t depth = 0;
    std::vector<op_id> item = {};    // per node, or none
    std::map<op_id, frame*> calls = {};
    std::vector<source> arguments = {}; // in the caller
    std::vector<source> found_arguments = {};
    std::vector<source> found_returns = {};
    bool entered = false;
    std::vector<op_id> entry = {};   // what its first nodes wait for
    bool completed = false;
    std::vector<op_id> completion = {}; // what waits for the call waits for
  };
  struct item {
    frame* in;
    op_id node;
    tensorflow::node what;
  };

  inlined of(frame& root, std::span<const source> roots, std::size_t num_arguments) {
    const auto& body = *root.body;
    std::vector<source> wanted{roots.begin(), roots.end()};
    wanted.insert(wanted.end(), body.returns.begin(), body.returns.end());
    const auto num_results = wanted.size();
    for (const op_id v : body.effects) {
      wanted.push_back({v, none});
    }
    expand(root, needed(body.nodes, wanted));
    std::vector<bool> kept(items_.size(), false);
    std::vector<op_id> open;
    for (std::size_t v = 0; v < num_arguments; ++v) {
      open.push_back(root.item[v]);
    }
    std::vector<source> returns;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto& s = wanted[i];
      const bool is_whole = s.is_control() || s.port == source::every_port;
      const auto give = [&](source output) {
        output = value(root, output);
        open.push_back(output.from);
        if (i < num_results && !s.is_control()) {
          returns.push_back(output);
        }
      };
      if (!is_whole) {
        give(s);
      } else if (const auto call = root.calls.find(s.from); call != root.calls.end()) {
        const auto& f = *call->second->body;
        for (std::uint32_t port = 0; port < f.returns.size(); ++port) {
          give({s.from, port});
        }
      } else {
        open.push_back(root.item[s.from]);
        if (!s.is_control()) { // a call that stays
          returns.push_back({root.item[s.from], 0});
        }
      }
    }
    for (frame& f : frames_) { // what a function does beside returning something
      for (const op_id v : f.body->effects) {
        append_completion(f, v, open);
      }
    }
    link();
    while (!open.empty()) {
      const op_id i = open.back();
      open.pop_back();
      if (!kept[i]) {
        kept[i] = true;
        for (auto at = first_[i]; at < first_[i + 1]; ++at) {
          open.push_back(sources_[at].from);
        }
      }
    }
    return assembled(kept, returns);
  }

  void take(std::size_t& left, std::size_t amount) const {
    if (amount > left) {
      throw error("functions call each other so often that too many ops come out; keep the calls as they are");
    }
    left -= amount;
  }

  void expand(frame& f, const std::vector<bool>& wanted) {
    const auto& g = f.body->nodes;
    if (!f.scope.empty()) {
      take(left_.nodes, g.num_nodes());
      take(left_.bytes, g.num_nodes() * f.scope.size());
      std::size_t inputs = 0;
      for (op_id v = 0; v < g.num_nodes(); ++v) {
        inputs += g.inputs(v).size();
      }
      take(left_.inputs, inputs);
    }
    f.item.assign(g.num_nodes(), none);
    for (op_id v = 0; v < g.num_nodes(); ++v) {
      const bool is_argument = v < g.num_arguments();
      if (!(wanted[v] || (is_argument && f.caller == nullptr)) || (is_argument && v < f.arguments.size())) {
        continue;
      }
      auto n = in_frame(f, g[v]);
      if (frame* const inner = called(f, v, n)) {
        f.calls.emplace(v, inner);
        std::vector<source> all{inner->body->returns};
        for (const op_id e : inner->body->effects) {
          all.push_back({e, none});
        }
        expand(*inner, needed(inner->body->nodes, all));
      } else {
        f.item[v] = static_cast<op_id>(items_.size());
        items_.push_back({&f, v, n});
      }
    }
  }

  /// The node with its name, device and attributes where the function is called.
  node in_frame(const frame& f, node n) {
    if (f.scope.empty()) {
      return n;
    }
    n.device = n.device.empty() ? f.device : n.device;
    n.name = made_.emplace_back(f.scope + std::string{n.name});
    bool changes = false;
    for (const auto& e : wire::fields{n.body}) {
      changes = changes || (e.number == 5 && (text_field(e.bytes, 1) == "_class" ||
                                              last_field(text_field(e.bytes, 2), 9).has_value()));
    }
    if (changes) {
      std::string body;
      for (const auto& e : wire::fields{n.body}) {
        if (e.number == 5) {
          put_attribute(f, e, body);
        } else {
          body += e.whole;
        }
      }
      take(left_.bytes, body.size());
      n.body = made_.emplace_back(std::move(body));
    }
    return n;
  }
  /// An attribute that the call tells, colocations with nodes of the same function, and any other one as it is.
  void put_attribute(const frame& f, const wire::field& e, std::string& body) const {
    const auto key = text_field(e.bytes, 1);
    const auto value = text_field(e.bytes, 2);
    std::string changed;
    if (const auto placeholder = last_field(value, 9)) {
      const auto bound = entry(f.from.bindings, f.from.bindings_field, placeholder->bytes);
      if (!bound) {
        body += e.whole;
        return;
      }
      changed = *bound;
    } else if (key == "_class") {
      std::string list;
      for (const auto& s : wire::fields{text_field(value, 1)}) {
        const bool inside = s.number == 2 && s.bytes.starts_with("loc:@") && f.body->nodes.find(s.bytes.substr(5));
        if (inside) {
          wire::put(list, 2, std::string_view{"loc:@" + f.scope + std::string{s.bytes.substr(5)}});
        } else {
          list += s.whole;
        }
      }
      wire::put(changed, 1, std::string_view{list});
    } else {
      body += e.whole;
      return;
    }
    std::string pair;
    wire::put(pair, 1, key);
    wire::put(pair, 2, std::string_view{changed});
    wire::put(body, 5, std::string_view{pair});
  }

  /// The function that replaces a node, or nullptr if it stays.
  frame* called(frame& f, op_id v, const node& n) {
    if (options_.keep_calls || !calls_function(functions_.whole(), n)) {
      return nullptr;
    }
    auto c = functions_.call_of(n);
    std::size_t chosen = 0;
    if (c.kind == call_kind::branches) {
      const auto at = options_.branches.find(n.name);
      if (at == options_.branches.end() || at->second >= c.callees.size()) {
        return nullptr;
      }
      chosen = at->second;
    } else if (c.kind != call_kind::plain) {
      return nullptr;
    }
    const auto* const body = functions_.find(c.callees[chosen].function);
    for (const frame* outer = &f; body != nullptr && outer != nullptr; outer = outer->caller) {
      if (outer->body == body || f.depth >= max_depth) {
        recursive_.emplace(body->name);
        return nullptr;
      }
    }
    if (body == nullptr) {
      return nullptr;
    }
    frame& inner = frames_.emplace_back(frame{body, &f, v});
    inner.from = std::move(c.callees[chosen]);
    inner.scope = f.scope + f.body->names[v] + "/";
    if (c.kind == call_kind::branches) {
      inner.waits_for_first = true;
      chosen_.emplace(n.name);
      inner.scope += inner.from.key + "/";
    }
    inner.device = n.device;
    inner.depth = f.depth + 1;
    std::size_t input = 0;
    for (const auto& s : f.body->nodes.inputs(v)) {
      if (!s.is_control() && input++ >= c.first_argument && inner.arguments.size() < body->nodes.num_arguments()) {
        inner.arguments.push_back(s);
      }
    }
    inner.found_arguments.assign(inner.arguments.size(), unknown);
    inner.found_returns.assign(body->returns.size(), unknown);
    return &inner;
  }

  /// Where a value really comes from: an item, never an argument or a call.
  source value(frame& f, source s) {
    std::vector<source*> passed;
    frame* in = &f;
    for (;;) {
      source* memory = nullptr;
      frame* next = nullptr;
      source from;
      if (in->item[s.from] != none) {
        s.from = in->item[s.from];
        break;
      }
      if (const auto call = in->calls.find(s.from); call != in->calls.end()) {
        next = call->second;
        const auto& returns = next->body->returns;
        if (s.port >= returns.size()) {
          throw error("output " + std::to_string(s.port) + " of call " +
                      io::in_quotes(in->scope + std::string{in->body->nodes[s.from].name}) + " is read, but function " +
                      io::in_quotes(next->body->name) + " has " + std::to_string(returns.size()));
        }
        memory = &next->found_returns[s.port];
        from = returns[s.port];
      } else {
        memory = &in->found_arguments[s.from];
        from = in->arguments[s.from];
        next = in->caller;
      }
      if (memory->from != none) {
        s = *memory;
        break;
      }
      if (memory->port == being_found.port) {
        throw error("calls of functions give each other what they return: the graph has a cycle");
      }
      *memory = being_found;
      passed.push_back(memory);
      s = from;
      in = next;
    }
    for (source* const memory : passed) {
      *memory = s;
    }
    return s;
  }

  /// What whoever waits for a node waits for.
  void append_completion(frame& f, op_id v, std::vector<op_id>& result) {
    const auto call = f.calls.find(v);
    if (call == f.calls.end()) {
      result.push_back(value(f, {v, 0}).from);
      return;
    }
    const auto& completion = completion_of(*call->second);
    take(left_.inputs, completion.size());
    result.insert(result.end(), completion.begin(), completion.end());
  }

  const std::vector<op_id>& completion_of(frame& f) {
    if (!f.completed) {
      f.completed = true;
      std::vector<op_id> completion;
      for (const op_id e : f.body->effects) {
        append_completion(f, e, completion);
      }
      for (std::uint32_t i = 0; f.body->effects.empty() && i < f.body->returns.size(); ++i) {
        completion.push_back(value(*f.caller, {f.call, i}).from);
      }
      if (completion.empty()) { // it does nothing, but at that time
        completion = entry_of(f);
      }
      sort_unique(completion);
      f.completion = std::move(completion);
    }
    return f.completion;
  }

  const std::vector<op_id>& entry_of(frame& f) {
    if (!f.entered && f.caller != nullptr) {
      f.entered = true;
      if (++chain_ > 1000) {
        throw error("more than 1000 calls of functions that do nothing wait for each other");
      }
      std::vector<op_id> entry;
      const auto inputs = f.caller->body->nodes.inputs(f.call);
      for (const auto& s : inputs) {
        if (s.is_control()) {
          append_completion(*f.caller, s.from, entry);
        }
      }
      const auto first = std::ranges::find(inputs, false, &source::is_control);
      if (f.waits_for_first && first != inputs.end()) {
        entry.push_back(value(*f.caller, *first).from);
      }
      if (begins(*f.caller, f.call)) {
        const auto& outer = entry_of(*f.caller);
        entry.insert(entry.end(), outer.begin(), outer.end());
      }
      sort_unique(entry);
      take(left_.inputs, entry.size());
      f.entry = std::move(entry);
      --chain_;
    }
    return f.entry;
  }
  /// Whether a node reads nothing but arguments.
  static bool begins(const frame& f, op_id v) {
    return std::ranges::all_of(f.body->nodes.inputs(v),
                               [&](const source& s) { return s.from < f.body->nodes.num_arguments(); });
  }

  void link() {
    std::vector<op_id> awaited;
    first_.push_back(0);
    for (const auto& i : items_) {
      frame& f = *i.in;
      awaited.clear();
      for (const auto& s : f.body->nodes.inputs(i.node)) {
        if (s.is_control()) {
          append_completion(f, s.from, awaited);
        } else {
          sources_.push_back(value(f, s));
        }
      }
      if (f.caller != nullptr && begins(f, i.node) && i.what.op != "Const") {
        const auto& entry = entry_of(f);
        take(left_.inputs, entry.size());
        awaited.insert(awaited.end(), entry.begin(), entry.end());
      }
      for (const op_id from : awaited) {
        sources_.push_back({from, none});
      }
      first_.push_back(static_cast<std::uint32_t>(sources_.size()));
    }
  }

  inlined assembled(const std::vector<bool>& kept, std::span<const source> returns) {
    std::vector<op_id> number(items_.size(), none);
    std::vector<node> nodes;
    std::vector<std::uint32_t> first{0};
    std::vector<source> sources;
    for (op_id i = 0; i < items_.size(); ++i) {
      if (kept[i]) {
        number[i] = static_cast<op_id>(nodes.size());
        nodes.push_back(items_[i].what);
      }
    }
    for (op_id i = 0; i < items_.size(); ++i) {
      if (kept[i]) {
        for (auto at = first_[i]; at < first_[i + 1]; ++at) {
          sources.push_back({number[sources_[at].from], sources_[at].port});
        }
        first.push_back(static_cast<std::uint32_t>(sources.size()));
      }
    }
    inlined result{graph{nodes, std::move(first), std::move(sources), functions_.whole()}};
    for (const auto& s : returns) {
      result.returns.push_back({number[s.from], s.port});
    }
    result.made = std::move(made_);
    result.chosen = std::move(chosen_);
    result.recursive = std::move(recursive_);
    return result;
  }

  function_library& functions_;
  const inline_options& options_;
  inline_budget left_;
  std::deque<frame> frames_;
  std::vector<item> items_;
  std::deque<std::string> made_;
  std::vector<std::uint32_t> first_;
  std::vector<source> sources_;
  std::set<std::string, std::less<>> chosen_;
  std::set<std::string, std::less<>> recursive_;
  std::size_t chain_ = 0;
};

} // namespace weft::tensorflow::detail
