// SPDX-License-Identifier: BSL-1.0
/// Reads StableHLO programs, as JAX prints them, as workloads.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/interop/stablehlo/costs.hpp"
#include "weft/interop/stablehlo/index_expressions.hpp"
#include "weft/interop/stablehlo/parameters.hpp"
#include "weft/interop/stablehlo/parser.hpp"
#include "weft/io/files.hpp"
#include "weft/io/reader.hpp"
#include "weft/model/batch.hpp"
#include "weft/model/training_roles.hpp"
#include "weft/model/graph.hpp"
#include "weft/model/lower.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::stablehlo {

/// Reads StableHLO as text, pretty or generic (an `io::model_reader`): an op per operation of `@main` and of the
/// functions that it calls, with the operation's name as type, and as name that of its result, behind the calls that
/// lead to it and its location if the text has any. Operations with regions (`while`, `reduce`, …) are one op with the
/// work of what is inside. Constants are resident with the ops that read them. docs/stablehlo.md has the details.
///
/// Arguments of `@main` are inputs of the program or parameters, which are resident with the ops that read them; the
/// text does not say which. If neither of the options about that is given, those are parameters whose name in the text
/// begins with `params`, `variables` or `state`, and those that are given away to be replaced (donated); without such
/// names, those that are used like weights or state (`detail::parameters_by_use`).
///
/// Throws `parse_error` for what is no such text, with the line. Complexity: linear in the text and in the ops that
/// inlining calls makes. Memory: up to 20 times the text.
struct reader {
  std::optional<std::size_t> leading_parameters = {}; ///< so many of the first arguments are parameters, and no others
  std::string parameter_names = {}; ///< arguments are parameters whose name (a location) begins like that
  std::uint64_t batch = 0; ///< outermost extents that the text leaves open, else what is derived from the extents that
                           ///< it says (`with_batch`); 0: not given, so 1
  std::uint64_t unknown_dimension = 1; ///< other extents that the text leaves open
  std::optional<double> unknown_trips = {}; ///< how often loops run of which the text does not tell it; 1 without it
  double unknown_flop_per_element = 1; ///< FLOP per element of the result of operations without a rule

  std::string_view format() const { return "StableHLO"; }
  /// By how MLIR's text begins (a module, a function, a comment or an alias before it), or its binary form.
  bool recognises(std::string_view bytes) const;
  model read(std::string_view bytes, const std::string& file) const;
};

namespace detail {

inline constexpr std::string_view bytecode_mark = "ML\xefR";

/// Makes the workload of a program.
class workload_of_program {
public:
  workload_of_program(const program& p, const reader& options, std::size_t text_size)
      : p_{p}, options_{options}, costs_{p, options.unknown_trips, options.unknown_flop_per_element},
        made_(p.values.size(), none), is_turned_(p.values.size(), false), max_ops_{200'000 + text_size / 16},
        max_reads_{1'000'000 + text_size} {}

  model operator()() && {
    const auto main = main_function();
    const auto& body = p_.regions[p_.functions[main].body];
    bind_arguments(p_.functions[main], body);
    emit(p_.functions[main].body, "");
    keep_aliased(p_.functions[main]);
    mark_training_roles(graph_);
    if (options_.batch != 0 && !p_.has_open_batch) {
      set_batch();
    }
    auto lowered = lower(graph_);
    if (lowered.num_unread > 0) {
      notes_.push_back(io::counted(lowered.num_unread, "{parameter or constant that no operation reads is|parameters "
                                                       "or constants that no operation reads are} resident nowhere"));
    }
    model m{.format = "StableHLO"};
    for (const auto number : p_.ops_in(p_.functions[main].body)) {
      if (const auto& o = p_.ops[number]; plain_name(o.name) == "return") {
        for (const auto id : p_.operands(o)) {
          if (made_[id] != none && graph_.producer(made_[id]) != none) {
            m.returned.push_back(graph_.producer(made_[id]));
          }
        }
      }
    }
    sort_unique(m.returned);
    m.parameters = std::move(lowered.parameters);
    m.ops = std::move(lowered.graph);
    m.graph = std::make_shared<const model_graph>(std::move(graph_));
    for (const auto& tally : {costs_.assumed(), assumed_}) {
      std::ranges::move(tally.notes(), std::back_inserter(notes_));
    }
    m.assumed = costs_.assumed_trips();
    m.notes = std::move(notes_);
    for (value_id i = 0; i < p_.values.size(); ++i) {
      if (const auto& t = p_.type_of(i); t.is_float) {
        m.float_bytes[t.bits] += static_cast<double>(t.bytes());
      }
    }
    return m;
  }

private:
  /// Gives a program that says all extents another batch.
  void set_batch() {
    try {
      graph_ = with_batch(std::move(graph_), options_.batch);
    } catch (const value_error& e) {
      throw error("the batch cannot be chosen: the text says all extents, and others do not follow from them: " +
                  std::string{e.what()}.substr(e.where.size() + 2));
    }
  }

  std::uint32_t main_function() {
    std::uint32_t chosen = none;
    std::size_t candidates = 0;
    for (std::uint32_t f = 0; f < p_.functions.size(); ++f) {
      if (p_.functions[f].body == none) {
        continue;
      }
      if (p_.functions[f].name == "main") {
        return f;
      }
      candidates += p_.functions[f].is_public ? 1u : 0u;
      chosen = chosen == none || (p_.functions[f].is_public && !p_.functions[chosen].is_public) ? f : chosen;
    }
    if (chosen == none) {
      throw error("the text has no function with a body, so it is not a StableHLO program");
    }
    if (candidates > 1) {
      notes_.push_back("there is no function @main: the first one is read, " +
                       io::in_quotes(p_.functions[chosen].name));
    }
    return chosen;
  }

  /// The name that a location gives an argument: `params['w']` of `loc("params['w']")`, also through aliases.
  std::string_view name_in(std::string_view location) const {
    for (int i = 0; i < 20 && !location.empty(); ++i) {
      location = location.substr(0, 500); // names are at its beginning
      const auto hash = location.find('#');
      const auto quote = location.find('"');
      if (quote < hash) {
        const auto end = location.find('"', quote + 1);
        return location.substr(quote + 1, end == location.npos ? end : end - quote - 1);
      }
      if (hash == location.npos) {
        return {};
      }
      auto alias = location.substr(hash + 1);
      alias = alias.substr(0, alias.find_first_of(",)]> "));
      const auto found = p_.locations.find(alias);
      location = found == p_.locations.end() ? std::string_view{} : found->second;
    }
    return {};
  }
  std::string_view argument_name(std::string_view text) const {
    const auto at = text.rfind("loc(");
    return at == text.npos ? std::string_view{} : name_in(text.substr(at + 4));
  }
  std::string name_of_argument(const function& f, std::uint32_t i) const {
    return std::string{i < f.argument_texts.size() ? argument_name(f.argument_texts[i]) : std::string_view{}};
  }
  /// The source that tells the parameters: the options, else names and attributes, else how arguments are used.
  std::vector<bool> parameters_of(const function& f, const region& body) {
    std::vector<std::string_view> texts(f.argument_texts);
    texts.resize(body.num_arguments);
    const auto those = [&](const auto& is_parameter) {
      std::vector<bool> yes;
      for (const auto text : texts) {
        yes.push_back(is_parameter(text, argument_name(text)));
      }
      return yes;
    };
    if (const auto count = options_.leading_parameters) {
      if (*count > body.num_arguments) {
        throw error("the program has " + std::to_string(body.num_arguments) + " arguments, fewer than the " +
                    std::to_string(*count) + " parameters that were asked for");
      }
      std::size_t i = 0;
      return those([&](auto, auto) { return i++ < *count; });
    }
    if (const auto& wanted = options_.parameter_names; !wanted.empty()) {
      auto yes = those([&](auto, auto name) { return name.starts_with(wanted); });
      if (std::ranges::find(yes, true) == yes.end()) {
        throw error("no argument of the program has a name that begins with " + io::in_quotes(wanted) +
                    "; print it with names: as_text(debug_info=True)");
      }
      return yes;
    }
    const auto has = [](std::string_view text, const auto&... words) {
      return ((text.find(words) != text.npos) || ...);
    };
    const auto named = those([](auto, auto name) {
      return name.starts_with("params") || name.starts_with("variables") || name.starts_with("state");
    });
    const auto given = those([&](auto text, auto) {
      return has(text, "tf.aliasing_output", "jax.buffer_donor", "tf_saved_model.bound_input");
    });
    by_use_ = std::ranges::find(named, true) == named.end();
    auto yes = by_use_ ? parameters_by_use{p_, max_ops_}(f.body) : named;
    for (std::size_t i = 0; i < yes.size(); ++i) {
      yes[i] = given[i] || (yes[i] && !has(texts[i], "tf_saved_model.index_path"));
    }
    by_use_ = by_use_ && yes != given;
    return yes;
  }

  void bind_arguments(const function& f, const region& body) {
    const auto is_parameter = parameters_of(f, body);
    double bytes[2] = {0, 0}; // of inputs, of parameters
    for (std::uint32_t i = 0; i < body.num_arguments; ++i) {
      const auto id = body.first_argument + i;
      auto t = tensor_of(id, is_parameter[i] ? tensor_role::parameter : tensor_role::input);
      t.name = name_of_argument(f, i);
      made_[id] = graph_.add_tensor(std::move(t));
      bytes[is_parameter[i] ? 1 : 0] += static_cast<double>(p_.type_of(id).bytes());
    }
    const auto parameters = std::ranges::count(is_parameter, true);
    notes_.push_back(std::to_string(parameters) + " of " + std::to_string(body.num_arguments) +
                     " arguments are parameters (" + io::number_text(bytes[1]) + " bytes), the others inputs (" +
                     io::number_text(bytes[0]) + " bytes)" +
                     (by_use_           ? ", by their use, because no name tells"
                      : parameters == 0 ? ", as far as names and uses tell"
                                        : "") +
                     (by_use_ || (parameters == 0 && !options_.leading_parameters)
                        ? "; --parameters says how many of the first are parameters, or how their names begin"
                        : ""));
  }

  /// An argument that a result replaces is where that result is made.
  void keep_aliased(const function& f) {
    const auto* end = p_.terminator(f.body);
    const auto& body = p_.regions[f.body];
    constexpr std::string_view key = "tf.aliasing_output = ";
    for (std::uint32_t i = 0; i < body.num_arguments && i < f.argument_texts.size() && end != nullptr; ++i) {
      const auto at = f.argument_texts[i].find(key);
      const auto old = made_[body.first_argument + i];
      if (at == std::string_view::npos || graph_.role(old) == tensor_role::input) {
        continue;
      }
      const auto number = f.argument_texts[i].substr(at + key.size());
      std::uint32_t result = none;
      static_cast<void>(std::from_chars(number.data(), number.data() + number.size(), result));
      if (result < end->num_operands) {
        graph_.replace(old, made_[p_.operands(*end)[result]]);
      }
    }
  }

  void pass(value_id from, value_id to) { made_[to] = made_[from]; }
  void pass_results(const operation& o, region_id body) {
    const auto* end = p_.terminator(body);
    if (end == nullptr || end->num_operands != o.num_results) {
      throw error("operation %" + std::string{o.result} + " does not have as many results as what it calls returns");
    }
    for (std::uint32_t i = 0; i < o.num_results; ++i) {
      pass(p_.operands(*end)[i], o.first_result + i);
    }
  }
  void inline_region(const operation& o, region_id body, const std::string& path) {
    const auto& r = p_.regions[body];
    if (r.num_arguments != o.num_operands) {
      throw error("operation %" + std::string{o.result} + " does not have as many operands as what it calls takes");
    }
    if (std::ranges::find(open_, body) != open_.end() || open_.size() >= 100) {
      throw error("functions call themselves, or each other more than 100 deep");
    }
    open_.push_back(body);
    std::vector<tensor_id> values;
    for (const auto id : p_.operands(o)) {
      values.push_back(made_[id]);
    }
    std::ranges::copy(values, made_.begin() + r.first_argument);
    emit(body, path);
    pass_results(o, body);
    open_.pop_back();
  }

  void emit(region_id r, const std::string& path) {
    for (const auto number : p_.ops_in(r)) {
      const auto& o = p_.ops[number];
      const auto name = plain_name(o.name);
      if (++visited_ > max_ops_) {
        throw error("calls expand to more operations than any real program has");
      }
      if (name == "return" || name == "yield") {
        continue;
      }
      if (name == "call") {
        const auto body = p_.body_of_callee(o);
        if (body == none) {
          throw error("operation %" + std::string{o.result} + " calls a function that the text does not have");
        }
        inline_region(o, body, path.size() > 200 ? path : path + std::string{p_.functions[p_.callee(o)].name} + "/");
      } else if (o.name.starts_with("sdy.") && o.num_regions == 1) {
        assumed_.add("{region|regions} that each of several devices runs on its part: {it counts|they count} for "
                     "one device", o.name);
        inline_region(o, p_.regions_of(o)[0], path);
      } else if (is_marker(p_, o)) {
        for (std::uint32_t i = 0; i < o.num_results; ++i) {
          pass(p_.operands(o)[i], o.first_result + i);
        }
      } else if (!fold(number)) {
        add(number, path);
      }
    }
  }

  /// Constants are known before: they and what only shows them in another shape are no ops.
  bool fold(std::uint32_t number) {
    const auto& o = p_.ops[number];
    const auto name = plain_name(o.name);
    if (o.num_results != 1 || o.num_regions != 0) {
      return false;
    }
    if (name == "constant" || name == "iota") {
      keep_constant(o);
      return true;
    }
    const auto from = is_view_op(o) ? made_[p_.operands(o)[0]] : tensor_id{none};
    if (from == none || graph_.role(from) != tensor_role::constant) {
      return false;
    }
    pass(p_.operands(o)[0], o.first_result);
    const bool turns = name == "transpose" || name == "reverse" || name == "slice";
    is_turned_[o.first_result] = turns || is_turned_[p_.operands(o)[0]];
    return true;
  }
  /// One parameter, however often its function is called and from wherever.
  void keep_constant(const operation& o) {
    if (made_[o.first_result] == none) {
      auto t = tensor_of(o.first_result, tensor_role::constant);
      t.bytes = stored_bytes(o);
      made_[o.first_result] = graph_.add_tensor(std::move(t));
    }
  }
  /// Bytes that a constant takes; 0 for other operations, and for a number that repeats.
  byte_count stored_bytes(const operation& o) const {
    const bool stored = plain_name(o.name) == "constant" && !is_splat(p_.attribute_of(o, "value"));
    return stored ? p_.result_type(o).bytes() : 0;
  }
  /// True if an operation only shows its operand in another shape.
  static bool is_view_op(const operation& o) {
    return o.num_operands == 1 && o.num_results == 1 && is_view(plain_name(o.name));
  }
  model_graph::tensor tensor_of(value_id id, tensor_role role) const {
    const auto& t = p_.type_of(id);
    return {.dims = t.dims, .element = element_of(t), .role = role, .bytes = t.bytes()};
  }

  void add(std::uint32_t number, const std::string& path) {
    const auto& o = p_.ops[number];
    const auto place = name_in(o.location);
    const auto own = o.result.empty() ? plain_name(o.name) : o.result;
    model_graph::op made{.type = costs_.type_of(o),
                         .name = place.empty() ? path + std::string{own} : std::string{place} + "." + std::string{own},
                         .work = costs_.flop_of(number),
                         .form = is_view_op(o) ? storage_form::view : storage_form::own};
    for (const auto id : p_.operands(o)) {
      made.inputs.push_back(made_[id]);
    }
    for (const auto id : captures_of(number)) {
      made.captured.push_back(made_[id]);
    }
    count_reads(made.inputs.size() + made.captured.size());
    if (auto text = expression_of(number); !text.empty()) {
      made.texts["axes"] = std::move(text);
    }
    std::vector<model_graph::tensor> outputs;
    for (std::uint32_t i = 0; i < o.num_results; ++i) {
      outputs.push_back(tensor_of(o.first_result + i, tensor_role::computed));
    }
    const op_id v = graph_.add_op(std::move(made), outputs);
    std::ranges::copy(graph_.outputs(v), made_.begin() + o.first_result);
  }
  /// The index expression of an operation, also if some of its operands are constants in another shape.
  std::string expression_of(std::uint32_t number) {
    const auto& o = p_.ops[number];
    const auto [at, is_new] = expressions_.try_emplace(number);
    if (is_new) {
      at->second = index_expressions::of(p_, o);
    }
    std::vector<std::optional<std::size_t>> ranks;
    for (const auto id : p_.operands(o)) {
      const bool is_other = made_[id] != none && (is_turned_[id] || graph_.dims(made_[id]) != p_.type_of(id).dims);
      ranks.push_back(is_other ? std::optional{graph_.dims(made_[id]).size()} : std::nullopt);
    }
    const bool all_as_made = std::ranges::none_of(ranks, &std::optional<std::size_t>::has_value);
    return all_as_made ? at->second : index_expressions::with_whole_operands(p_, o, at->second, ranks);
  }
  /// The values that an operation's regions read from outside of them, and the constants in them and in the functions
  /// that they call, each once; the same for every caller of its function.
  std::span<const value_id> captures_of(std::uint32_t number) {
    const auto& o = p_.ops[number];
    if (o.num_regions == 0 && plain_name(o.name) != "composite") {
      return {};
    }
    const auto [at, is_new] = captures_.try_emplace(number);
    if (is_new) {
      std::set<region_id> callees;
      add_captures(o, true, at->second, callees);
      sort_unique(at->second);
    }
    return at->second;
  }
  /// With constants alone where the values of others are not those of this call.
  void add_captures(const operation& o, bool with_values, std::vector<value_id>& ids, std::set<region_id>& callees) {
    for (const auto r : p_.regions_of(o)) {
      add_captures(r, with_values, ids, callees);
    }
    if (const auto body = p_.body_of_callee(o); body != none && callees.insert(body).second) {
      const auto inside = constants_of(body);
      ids.insert(ids.end(), inside.begin(), inside.end());
    }
  }
  void add_captures(region_id r, bool with_values, std::vector<value_id>& ids, std::set<region_id>& callees) {
    for (const auto number : p_.ops_in(r)) {
      const auto& o = p_.ops[number];
      if (o.num_results == 1 && stored_bytes(o) > 0) {
        keep_constant(o);
        ids.push_back(o.first_result);
      }
      for (const auto id : p_.operands(o)) {
        if (with_values && made_[id] != none) {
          ids.push_back(id);
        }
      }
      add_captures(o, with_values, ids, callees);
    }
  }
  /// The constants of a function and of what it calls, each once.
  std::span<const value_id> constants_of(region_id body) {
    const auto [at, is_new] = constants_of_functions_.try_emplace(body); // empty for what calls itself
    auto& ids = at->second;
    if (is_new) {
      if (++depth_ > 500) {
        throw error("calls are nested more than 500 deep");
      }
      std::vector<value_id> found;
      std::set<region_id> callees;
      add_captures(body, false, found, callees);
      sort_unique(found);
      count_reads(found.size());
      ids = std::move(found);
      --depth_;
    }
    return ids;
  }
  void count_reads(std::size_t more) {
    num_reads_ += more;
    if (num_reads_ > max_reads_) {
      throw error("calls expand to more operations than any real program has");
    }
  }

  const program& p_;
  const reader& options_;
  costs costs_;
  model_graph graph_;
  std::vector<tensor_id> made_;      // by value; none: not yet
  std::vector<bool> is_turned_;      // by value: a constant with its dimensions in another order
  std::vector<region_id> open_;      // functions that are being inlined
  std::size_t visited_ = 0;
  std::size_t max_ops_;
  std::size_t num_reads_ = 0;
  std::size_t max_reads_;
  std::unordered_map<std::uint32_t, std::vector<value_id>> captures_;             // by operation
  std::unordered_map<std::uint32_t, std::string> expressions_;                    // by operation
  std::unordered_map<region_id, std::vector<value_id>> constants_of_functions_; // by body
  int depth_ = 0;
  bool by_use_ = false; // parameters are those that are used like that
  io::tally assumed_;
  std::vector<std::string> notes_;
};

} // namespace detail

inline bool reader::recognises(std::string_view bytes) const {
  if (bytes.starts_with(detail::bytecode_mark)) {
    return true;
  }
  cursor in{bytes.substr(0, std::min<std::size_t>(bytes.size(), 4096)), ""};
  const char c = in.peek();
  if (c == '#' || c == '!') { // an alias: #loc = loc(...)
    in.accept(c == '#' ? "#" : "!");
    const auto name = in.word();
    return !name.empty() && in.accept("=") && (c == '!' || in.is_next("loc(") || in.is_next("#"));
  }
  if (c == '"') {
    return in.is_next("\"builtin.module\"(") || in.is_next("\"func.func\"(");
  }
  const auto word = in.word();
  if (word == "module" || word == "builtin.module") {
    const char next = in.peek();
    return next == '@' || next == '{' || in.is_next("attributes");
  }
  return word == "func.func" || word == "sdy.mesh" || word == "stablehlo";
}

inline model reader::read(std::string_view bytes, const std::string& file) const {
  if (bytes.starts_with(detail::bytecode_mark)) {
    throw parse_error(file, 0,
                      "MLIR bytecode, StableHLO's binary form, which is not read; print it as text: "
                      "jax.jit(f).lower(x).as_text(), or stablehlo-translate --deserialize file");
  }
  const auto extent = [](std::uint64_t given) {
    return static_cast<std::int64_t>(std::clamp<std::uint64_t>(given, 1, 1'000'000'000));
  };
  detail::parser parse{bytes, file, {extent(batch), extent(unknown_dimension)}};
  const auto parsed = std::move(parse)();
  auto m = io::in_file(file, [&] { return detail::workload_of_program{parsed, *this, bytes.size()}(); });
  if (parsed.has_open_batch && batch == 0) {
    m.assumed.insert(m.assumed.begin(), {.given_by = assumed_size::option::batch});
  }
  if (parsed.has_open_others) {
    m.assumed.push_back({.name = "extents written ?", .value = unknown_dimension});
  }
  return m;
}

/// Reads a program from a file. Throws `error` if it cannot be opened, else as `reader::read`.
/// ```
/// const weft::model m = weft::stablehlo::read_model("step.mlir", {.leading_parameters = 148});
/// ```
inline model read_model(const std::filesystem::path& path, const reader& options = {}) {
  return options.read(io::read_file(path), path.string());
}

static_assert(io::model_reader<reader>);

} // namespace weft::stablehlo
