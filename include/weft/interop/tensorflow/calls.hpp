// SPDX-License-Identifier: BSL-1.0
/// Costs of calls that stay one op: loops, conditionals, and calls that are to stay.
#pragma once

#include "weft/interop/tensorflow/inference.hpp"
#include "weft/interop/tensorflow/inline.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::tensorflow {

/// Trip counts of loops by the names of their nodes; `*` is for all others.
using loop_trips = std::map<std::string, std::uint64_t, std::less<>>;

namespace detail {

inline constexpr byte_count small_constant = 4096; ///< is copied to whoever reads it

/// A large constant with all its values is a weight of a frozen network; one that repeats one value is data.
inline bool is_parameter(const graph& g, const inference& shapes, op_id v) {
  if (g[v].op != "Const" || shapes.ports(v).empty() || bytes_of(shapes.output(v, 0)) <= small_constant) {
    return false;
  }
  const auto value = attribute(g[v], "value");
  return value && 2 * read_tensor(text_field(*value, 8)).stored >= elements(shapes.output(v, 0).dims);
}

/// The origin of a value, through nodes that pass it on.
inline source origin(const graph& g, source s) {
  for (std::size_t i = 0; i < g.num_nodes() && g[s.from].op == "Identity"; ++i) {
    const auto inputs = g.inputs(s.from);
    if (inputs.empty() || inputs[0].is_control()) {
      break;
    }
    s = inputs[0];
  }
  return s;
}

/// Looks into functions, once for all calls with arguments of the same shapes. A call of a function from within itself
/// costs nothing. Of the branches of a conditional, the dearest counts; a loop is its condition and body, times the
/// number of its trips, if the caller tells it or if it follows from the graph: a counter that the body increases by
/// what is known, and that the condition compares with what is known.
class function_costs {
public:
  function_costs(function_library& functions, const shape_options& options, const loop_trips& trips,
                 inline_budget budget, assumptions& assumed)
      : functions_{functions}, options_{options}, trips_{trips}, budget_{budget}, nodes_left_{4 * budget.nodes},
        assumed_{assumed} {}
  function_costs(const function_costs&) = delete;
  function_costs& operator=(const function_costs&) = delete;

  const call_rule& rule() const { return rule_; }

  /// The dearest branch of each conditional, by their names.
  const std::map<std::string, std::size_t, std::less<>>& branches() const { return branches_; }
  /// The trip counts of loops by their names; nothing where that is not known.
  const std::map<std::string, std::optional<double>, std::less<>>& loops() const { return loops_; }

private:
  /// A function with arguments of certain shapes.
  struct run {
    run(inlined&& of, const shape_options& options, assumptions& assumed, const call_rule& calls,
        std::span<const tensor_info> arguments)
        : body{std::move(of)}, shapes{body.nodes, options, assumed, calls, arguments, body.returns} {}

    /// A value, if it is one number that is known.
    std::optional<std::int64_t> number(source s) const { return shapes.output(s).number(); }
    /// The argument that a value is, or `none`.
    op_id argument(source s) const {
      s = origin(body.nodes, s);
      return body.nodes[s.from].op == "_Arg" ? s.from : none;
    }

    void sum_up() {
      for (op_id v = 0; v < body.nodes.num_nodes(); ++v) {
        result.work += shapes.work(v);
        result.resident_bytes += shapes.resident_bytes(v);
        result.resident_bytes += is_parameter(body.nodes, shapes, v) ? bytes_of(shapes.output(v, 0)) : 0;
        result.text = result.text || shapes.handles_text(v);
      }
      for (const auto& s : body.returns) {
        result.outputs.push_back(shapes.output(s));
      }
    }

    inlined body;
    inference shapes;
    called result = {};
  };

  std::optional<called> cost(const node& n, std::span<const tensor_info* const> inputs, bool last) {
    const auto c = functions_.call_of(n);
    const auto arguments = inputs.subspan(std::min(c.first_argument, inputs.size()));
    switch (c.kind) {
    case call_kind::none: return std::nullopt;
    case call_kind::plain: return result_of(n, c.callees[0], arguments, last);
    case call_kind::loop: return loop(n, c, arguments, last);
    case call_kind::branches: break;
    }
    std::optional<called> dearest;
    bool text = false;
    for (std::size_t i = 0; i < c.callees.size(); ++i) {
      auto branch = result_of(n, c.callees[i], arguments, last);
      text = text || (branch && branch->text);
      if (branch && (!dearest || branch->work > dearest->work)) {
        dearest = std::move(branch);
        if (last) {
          branches_[std::string{n.name}] = i;
        }
      }
    }
    if (dearest) {
      dearest->text = text;
    }
    return dearest;
  }

  static std::vector<tensor_info> copies(std::span<const tensor_info* const> inputs) {
    std::vector<tensor_info> all;
    for (const auto* const t : inputs) {
      all.push_back(*t);
    }
    return all;
  }

  std::optional<called> loop(const node& n, const call& c, std::span<const tensor_info* const> inputs, bool last) {
    auto arguments = copies(inputs);
    const auto* const code = functions_.find(c.callees[1].function);
    std::vector<bool> changes(arguments.size(), true);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      changes[i] = code == nullptr || i >= code->returns.size() || origin(code->nodes, code->returns[i]).from != i;
      if (changes[i]) {
        arguments[i].values = nullptr;
      }
    }
    const auto* const condition = look_into(n, c.callees[0], arguments, last);
    const auto* const body = look_into(n, c.callees[1], arguments, last);
    if (condition == nullptr || body == nullptr) {
      return std::nullopt;
    }
    auto trips = given(n.name);
    if (!trips && !condition->body.returns.empty()) {
      trips = counted(*condition, *body, inputs, condition->body.returns[0], 0);
    }
    trips = trips ? trips : given("*");
    if (last) {
      loops_[std::string{n.name}] = trips;
    }
    called result{{}, (condition->result.work + body->result.work) * trips.value_or(1),
                  condition->result.resident_bytes + body->result.resident_bytes,
                  condition->result.text || body->result.text};
    for (std::size_t i = 0; i < body->result.outputs.size(); ++i) {
      const auto& made = body->result.outputs[i];
      auto& t = result.outputs.emplace_back(made.known || i >= arguments.size() ? made : arguments[i]);
      if (i >= changes.size() || changes[i]) {
        t.values = nullptr;
      }
    }
    return result;
  }

  std::optional<double> given(std::string_view name) const {
    const auto at = trips_.find(name);
    return at == trips_.end() ? std::nullopt : std::optional{static_cast<double>(at->second)};
  }

  /// How often a loop runs while `s` of its condition is true.
  static std::optional<double> counted(const run& condition, const run& body, std::span<const tensor_info* const> start,
                                       source s, int depth) {
    const auto& g = condition.body.nodes;
    const auto op = g[s.from].op;
    std::vector<source> in;
    for (const auto& i : g.inputs(s.from)) {
      if (!i.is_control()) {
        in.push_back(i);
      }
    }
    if (op == "Identity" && in.size() == 1 && depth < 16) {
      return counted(condition, body, start, in[0], depth + 1);
    }
    if (in.size() != 2) {
      return std::nullopt;
    }
    if (op == "LogicalAnd" && depth < 16) {
      const auto a = counted(condition, body, start, in[0], depth + 1);
      const auto b = counted(condition, body, start, in[1], depth + 1);
      return a && b ? std::min(a, b) : a ? a : b;
    }
    const bool with_equal = op == "LessEqual" || op == "GreaterEqual";
    if (op == "Greater" || op == "GreaterEqual") {
      std::swap(in[0], in[1]);
    } else if (op != "Less" && op != "LessEqual") {
      return std::nullopt;
    }
    for (const bool up : {true, false}) { // counter < limit, or limit < counter
      const auto counter = condition.argument(in[up ? 0 : 1]);
      const auto limit = condition.number(in[up ? 1 : 0]);
      const auto by = counter == none ? std::nullopt : step(body, counter);
      const auto first = counter < start.size() ? start[counter]->number() : std::nullopt;
      if (!limit || !by || !first) {
        continue;
      }
      const double sign = up ? 1 : -1;
      const double width = sign * static_cast<double>(*by);
      const double way = sign * (static_cast<double>(*limit) - static_cast<double>(*first));
      if (width > 0) {
        return std::max(0.0, with_equal ? std::floor(way / width) + 1 : std::ceil(way / width));
      }
    }
    return std::nullopt;
  }

  /// What a body adds to an argument of its own.
  static std::optional<std::int64_t> step(const run& body, op_id counter) {
    if (counter >= body.body.returns.size()) {
      return std::nullopt;
    }
    const auto& g = body.body.nodes;
    const auto s = origin(g, body.body.returns[counter]);
    const auto in = g.inputs(s.from);
    const auto op = g[s.from].op;
    if (in.size() < 2 || in[0].is_control() || in[1].is_control()) {
      return std::nullopt;
    }
    const auto first = body.number(in[0]);
    const auto second = body.number(in[1]);
    if (op == "Add" || op == "AddV2") {
      const auto other = second ? body.argument(in[0]) : first ? body.argument(in[1]) : none;
      return other != counter ? std::nullopt : second ? second : first;
    }
    if (op == "Sub" && second && *second > std::numeric_limits<std::int64_t>::min() &&
        body.argument(in[0]) == counter) {
      return -*second;
    }
    return std::nullopt;
  }

  /// What a run is known by: the function, what its call binds its attributes to, and its arguments.
  std::string key_of(const callee& f, std::span<const tensor_info> arguments, bool last) {
    std::string bound;
    for (const auto& e : wire::fields{f.bindings}) {
      bound += e.number == f.bindings_field ? e.whole : std::string_view{};
    }
    std::string key{f.function};
    key += "#" + std::to_string(bindings_.try_emplace(std::move(bound), bindings_.size()).first->second);
    key += last ? "!" : "?";
    for (const auto& t : arguments) {
      key += t.known ? "(" : "*(";
      key += std::to_string(t.type) + inference::text(t.dims);
      if (t.values) {
        std::visit([&](const auto& list) { key.append(reinterpret_cast<const char*>(list.data()), 8 * list.size()); },
                   t.values->elements);
      }
    }
    return key;
  }

  bool is_open(const callee& f) const {
    return std::ranges::find(open_, f.function) != open_.end();
  }

  /// What a function gives and costs; nothing if it cannot be looked into.
  std::optional<called> result_of(const node& n, const callee& f, std::span<const tensor_info* const> arguments,
                                  bool last) {
    if (is_open(f)) {
      return called{};
    }
    const auto* const r = look_into(n, f, copies(arguments), last);
    return r == nullptr ? std::nullopt : std::optional{r->result};
  }

  const run* look_into(const node& n, const callee& f, std::vector<tensor_info> arguments, bool last) {
    const auto* const body = functions_.find(f.function);
    if (body == nullptr || is_open(f) || open_.size() >= 16) {
      return nullptr;
    }
    arguments.resize(body->nodes.num_arguments());
    const auto shared = key_of(f, arguments, last);
    const auto own = shared + "@" + std::string{n.name};
    const auto given_shape = options_.shapes.lower_bound(std::string{n.name} + '/');
    bool has_names = given_shape != options_.shapes.end() && given_shape->first.starts_with(std::string{n.name} + '/');
    for (const auto& key : {shared, own}) {
      if (const auto done = runs_.find(key); done != runs_.end() && (key == own || !has_names)) {
        return done->second.get();
      }
    }
    std::unique_ptr<run> made;
    open_.push_back(f.function);
    try {
      const auto scope = std::string{n.name} + (f.key.empty() ? "/" : "/" + f.key + "/");
      auto budget = budget_;
      budget.nodes = std::min(budget.nodes, nodes_left_);
      auto code = inliner{functions_, as_it_is_, budget}.of_function(*body, f, scope);
      nodes_left_ -= code.nodes.num_nodes();
      made = std::make_unique<run>(std::move(code), options_, last ? assumed_ : ignored_, rule_, arguments);
      made->sum_up();
      for (op_id v = 0; v < made->body.nodes.num_nodes(); ++v) {
        has_names = has_names || functions_.call_of(made->body.nodes[v]).kind != call_kind::none;
      }
    } catch (const error&) {
      assumed_.bad_functions.emplace(f.function);
    }
    open_.pop_back();
    return (runs_[has_names ? own : shared] = std::move(made)).get();
  }

  function_library& functions_;
  const shape_options& options_;
  const loop_trips& trips_;
  inline_budget budget_;
  std::size_t nodes_left_;
  assumptions& assumed_;
  assumptions ignored_; // of rounds that are not the last
  const inline_options as_it_is_ = {};
  const call_rule rule_ = [this](const node& n, std::span<const tensor_info* const> inputs, bool last) {
    return cost(n, inputs, last);
  };
  std::vector<std::string_view> open_; // functions that are being looked into
  std::map<std::string, std::size_t, std::less<>> bindings_; // numbered, lest each key has them
  /// What has loops and conditionals, which are told by their names, is looked into for each caller: its name is
  /// in the key.
  std::map<std::string, std::unique_ptr<run>, std::less<>> runs_;
  std::map<std::string, std::size_t, std::less<>> branches_;
  std::map<std::string, std::optional<double>, std::less<>> loops_;
};

} // namespace detail
} // namespace weft::tensorflow
