// SPDX-License-Identifier: BSL-1.0
/// Reads the text of StableHLO programs.
#pragma once

#include "weft/interop/stablehlo/cursor.hpp"
#include "weft/interop/stablehlo/program.hpp"
#include "weft/interop/stablehlo/type_reader.hpp"
#include "weft/interop/stablehlo/value_names.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::stablehlo {

namespace detail {

/// MLIR has a generic form, `"dialect.op"(%a, %b) <{key = value}> ({ region }) {key = value} : (type, type) -> type`,
/// and forms that each dialect chooses. These are read by what they have in common: operands begin with %, attributes
/// have `key = value`, a brace that an operation follows begins a region, and types follow a colon. So operations of
/// dialects that nobody here knows are read, too.
class parser {
public:
  parser(std::string_view text, const std::string& file, open_extents open)
      : in_{text, file}, types_{in_, p_, open}, max_ops_{200'000 + text.size() / 10} {
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) {
      in_.fail("larger than 4 GiB");
    }
  }

  parser(const parser&) = delete; // its parts refer to each other
  parser& operator=(const parser&) = delete;

  program operator()() && {
    std::vector<std::uint32_t> top;
    while (in_.peek() != '\0') {
      if (in_.accept("{-#")) { // data of constants, which is not needed
        break;
      }
      if (in_.is_next("#") || in_.is_next("!")) {
        read_alias();
      } else {
        top.push_back(read_op());
      }
    }
    return std::move(p_);
  }

private:
  static constexpr int max_depth = 200;

  /// The parts of an operation that is being read; regions inside it have theirs.
  struct parts {
    operation op;
    std::vector<value_id> operands = {}, initial = {};
    std::vector<attribute> attributes = {};
    std::vector<region_id> regions = {};
    std::vector<std::uint32_t> types = {};
    std::vector<std::pair<std::string_view, std::uint32_t>> arguments = {}; // of regions, with types or `none`
    bool typed = false;
    bool in_list = false; // the last token was a comma
  };

  void read_alias() {
    const bool is_type = in_.peek() == '!';
    in_.accept(is_type ? "!" : "#");
    const auto name = in_.name();
    in_.expect("=");
    if (is_type) {
      types_.define(name);
    } else if (const auto where = in_.location(); !where.empty()) {
      p_.locations.emplace(name, where);
    } else {
      read_atom();
    }
  }

  /// `: (types) -> types`, `: type -> types`, or `: types`. In the last form, results have the last of the types.
  void read_signature(parts& x) {
    x.typed = true;
    if (in_.peek() == '(') {
      x.types = types_.read_in_brackets();
      if (in_.accept("->")) {
        x.types = types_.read_results();
      }
      return;
    }
    do {
      x.types.push_back(types_.read());
    } while (in_.accept(","));
    if (in_.accept("->")) { // chlo.tan %x : type -> type
      x.types = types_.read_results();
    }
  }

  value_id read_operand() {
    const auto at = in_.position();
    in_.expect("%");
    const auto name = in_.name();
    const auto number = in_.accept("#") ? in_.number() : 0;
    const auto found = names_.find(name);
    if (!found) {
      in_.fail("value %" + std::string{name} + " is used but not defined before", at);
    }
    if (number >= found->count) {
      in_.fail("value %" + std::string{name} + " has no result " + std::to_string(number), at);
    }
    return found->first + static_cast<value_id>(number);
  }

  static bool is_wanted(std::string_view key) {
    static constexpr std::string_view wanted[] = {
      "sym_name",      "sym_visibility",    "callee",     "call_target_name",      "decomposition",
      "value",         "contracting_dims",  "dim_numbers", "dot_dimension_numbers", "dimension_numbers",
      "dimension",     "window_dimensions", "window",     "lhs_dilation",          "comparison_direction",
      "config",        "einsum_config",     "length",     "fft_length",            "batching_dims",
      "dims",          "broadcast_dimensions", "dimensions", "permutation", "scatter_dimension_numbers",
      "feature_group_count", "batch_group_count"};
    return is_one_of(key, wanted);
  }

  /// One thing that may follow `key =`: a bracket and all in it, a word or number with brackets behind it, a text.
  void read_atom() {
    for (bool more = true; more;) {
      const char c = in_.peek();
      if (c == '(' || c == '[' || c == '{' || c == '<') {
        in_.balanced();
      } else if (c == '"') {
        in_.string();
      } else {
        while (in_.accept("#") || in_.accept("!") || in_.accept("@") || in_.accept("-") || in_.accept("+")) {
        }
        if (in_.peek() == '"') {
          in_.string();
        } else {
          in_.name();
        }
        while (in_.peek() == '<' || in_.is_next("[")) {
          in_.balanced();
        }
      }
      const auto end = in_.position();
      more = in_.accept("->") || (in_.accept("x") && in_.peek() == '['); // [1] x [0], [b, f]x[i, o]->[b, f]
      if (!more) {
        in_.return_to(end);
      }
    }
  }

  /// `{key = value, key}`
  void read_dictionary(parts& x) {
    in_.list("{", "}", [&] {
      const auto key = in_.peek() == '"' ? in_.string() : in_.word();
      if (key.empty()) {
        in_.fail("expected the name of an attribute, but found " + in_.what_is_next());
      }
      if (in_.accept("=")) {
        in_.peek();
        const auto start = in_.position();
        while (in_.peek() != ',' && in_.peek() != '}') {
          skip_one();
        }
        if (is_wanted(key)) {
          x.attributes.push_back({key, in_.since(start)});
        }
      }
    });
  }
  void skip_one() {
    switch (in_.peek()) {
    case '(':
    case '[':
    case '{':
    case '<': in_.balanced(); break;
    case '"': in_.string(); break;
    case '\0':
    case ')':
    case ']': in_.fail("expected an attribute here, but found " + in_.what_is_next()); break;
    default: in_.return_to(in_.position() + (in_.is_next("->") ? 2 : 1));
    }
  }

  /// Whether the brace that is next begins a region: an operation, a label or a result follows it.
  bool is_region(bool if_empty = false) {
    return in_.ahead([&] {
      in_.expect("{");
      const char c = in_.peek();
      if (c == '"') {
        in_.string();
        return in_.peek() == '(';
      }
      return in_.word().empty() ? c == '%' || c == '^' || (if_empty && c == '}')
                                : in_.peek() != '=' && in_.peek() != ',' && in_.peek() != '}';
    });
  }

  region_id read_region(parts& x) {
    if (++depth_ > max_depth) {
      in_.fail("regions are nested more than " + std::to_string(max_depth) + " deep");
    }
    const auto scope = names_.enter();
    region r;
    for (const auto& [name, type] : x.arguments) {
      const auto i = r.num_arguments;
      add_argument(r, name, type != none ? type : i < x.types.size() ? x.types[i] : none);
    }
    std::vector<std::uint32_t> ops;
    in_.expect("{");
    while (!in_.accept("}")) {
      if (in_.accept("^")) {
        in_.name();
        if (in_.peek() == '(') {
          in_.list("(", ")", [&] {
            const auto [name, type] = read_argument();
            add_argument(r, name, type);
            in_.location();
          });
        }
        in_.expect(":");
      } else if (in_.peek() == '\0') {
        in_.fail("a region is not closed; the text is truncated");
      } else {
        ops.push_back(read_op());
      }
    }
    names_.leave(scope);
    --depth_;
    return add_region(r, ops);
  }
  /// `%name: type`
  std::pair<std::string_view, std::uint32_t> read_argument() {
    in_.expect("%");
    const auto name = in_.name();
    in_.expect(":");
    return {name, types_.read()};
  }
  /// The arguments of a region have consecutive numbers only if nothing else is defined between them.
  void add_argument(region& r, std::string_view name, std::uint32_t type) {
    if (type == none) {
      in_.fail("argument %" + std::string{name} + " has no type");
    }
    const auto id = static_cast<value_id>(p_.values.size());
    if (r.num_arguments == 0) {
      r.first_argument = id;
    } else if (r.first_argument + r.num_arguments != id) {
      in_.fail("a region has several blocks with arguments, which StableHLO does not have");
    }
    p_.values.push_back({.type = type, .number = r.num_arguments++});
    names_.define(name, id, 1);
  }
  region_id add_region(region& r, const std::vector<std::uint32_t>& ops) {
    const auto id = static_cast<region_id>(p_.regions.size());
    for (std::uint32_t i = 0; i < r.num_arguments; ++i) {
      p_.values[r.first_argument + i].region = id;
    }
    append(p_.ops_of_regions, ops, r.first_op, r.num_ops);
    p_.regions.push_back(r);
    return id;
  }

  static void append(auto& all, const auto& list, std::uint32_t& first, std::uint32_t& number) {
    first = static_cast<std::uint32_t>(all.size());
    number = static_cast<std::uint32_t>(list.size());
    all.insert(all.end(), list.begin(), list.end());
  }

  /// What is in round brackets: operands, `%x = %y` for arguments of regions with what they begin as, `%x: type` for
  /// arguments of regions, `%x init: %y`, or regions.
  void read_brackets(parts& x) {
    in_.expect("(");
    while (!in_.accept(")")) {
      switch (in_.peek()) {
      case '%': {
        const auto before = in_.position();
        in_.accept("%");
        const auto name = in_.name();
        if (in_.accept("=")) {
          x.arguments.emplace_back(name, none);
        } else if (in_.accept(":")) {
          x.arguments.emplace_back(name, types_.read());
        } else {
          in_.return_to(before);
          x.operands.push_back(read_operand());
          if (in_.accept_word("init")) {
            in_.expect(":");
            x.initial.push_back(read_operand());
          }
        }
        break;
      }
      case '{':
        if (is_region(true)) {
          x.regions.push_back(read_region(x));
        } else {
          in_.balanced();
        }
        break;
      case ',': in_.accept(","); break;
      default: skip_one();
      }
    }
  }

  /// Whether another operation begins here, after a line ended at the end of the last token.
  bool begins_op(const parts& x, std::size_t last) {
    const char c = in_.peek();
    if (x.typed) {
      return true;
    }
    return !x.in_list && in_.line_ended_between(last, in_.position()) && in_.ahead([&] {
      if (c == '%') { // %a, %b:2 = …
        do {
          if (in_.accept("%") && !in_.name().empty() && in_.accept(":") && cursor::is_digit(in_.peek())) {
            in_.number();
          }
        } while (in_.accept(",") && in_.peek() == '%');
        return in_.peek() == '=';
      }
      if (c == '"') {
        in_.string();
        return in_.peek() == '(';
      }
      const auto word = in_.word();
      return (word.find('.') != word.npos || word == "return" || word == "call") && in_.peek() != '=';
    });
  }

  std::uint32_t read_op() {
    if (p_.ops.size() >= max_ops_) {
      in_.fail("the text has more operations than its size allows for");
    }
    in_.peek();
    parts x;
    x.op.at = in_.position();
    std::vector<std::pair<std::string_view, std::uint32_t>> results;
    std::size_t count = 0;
    while (in_.accept("%")) {
      const auto name = in_.name();
      const auto several = in_.accept(":") ? in_.number() : 1;
      results.emplace_back(name, static_cast<std::uint32_t>(several));
      count += several;
      if (!in_.accept(",")) {
        in_.expect("=");
        break;
      }
    }
    const bool quoted = in_.peek() == '"';
    x.op.name = quoted ? in_.string() : in_.word();
    if (x.op.name.empty()) {
      in_.fail("expected an operation, but found " + in_.what_is_next());
    }
    if (!quoted && x.op.name == "func.func") {
      read_function(x);
    } else if (!quoted && (x.op.name == "module" || x.op.name == "builtin.module")) {
      read_module(x);
    } else {
      read_parts(x);
    }
    return finish(x, results, count);
  }

  void read_parts(parts& x) {
    for (auto last = in_.position();; last = in_.position()) {
      const char c = in_.peek();
      const bool in_list = c == ',';
      switch (c) {
      case '\0':
      case '}':
      case ')': return;
      case '^':
        if (in_.line_ended_between(last, in_.position())) {
          return;
        }
        in_.accept("^");
        break;
      case '%':
        if (begins_op(x, last)) {
          return;
        }
        x.operands.push_back(read_operand());
        break;
      case '(': read_brackets(x); break;
      case ':':
        in_.accept(":");
        read_signature(x);
        break;
      case '{':
      case '<': read_braces(x); break;
      case '[': in_.balanced(); break;
      case '"':
        if (begins_op(x, last)) {
          return;
        }
        x.attributes.push_back({"\"", in_.string()});
        break;
      case '@':
        in_.accept("@");
        x.attributes.push_back({"@", in_.name()});
        break;
      default:
        if (!cursor::is_letter(c)) {
          in_.return_to(in_.position() + (in_.is_next("->") ? 2 : 1));
        } else if (!read_word(x, last)) {
          return;
        }
      }
      x.in_list = in_list;
    }
  }

  /// `{…}`, a region or a dictionary; `<{…}>`, a dictionary of properties; or something else in `<…>`.
  void read_braces(parts& x) {
    if (in_.is_next("<{")) {
      in_.accept("<");
      read_dictionary(x);
      in_.expect(">");
    } else if (in_.peek() == '<') {
      in_.balanced();
    } else if (is_region()) {
      x.regions.push_back(read_region(x));
    } else {
      read_dictionary(x);
    }
  }

  /// A bare word of an operation and what belongs to it; false if it begins the next one.
  bool read_word(parts& x, std::size_t last) {
    const auto start = in_.position();
    const auto word = in_.word();
    in_.return_to(start);
    if (word == "loc") {
      x.op.location = in_.location();
      if (!x.op.location.empty()) {
        return true;
      }
    }
    const bool goes_on = word == "attributes" || word == "cond" || word == "do" || word == "reducer";
    if (!goes_on && begins_op(x, last)) {
      return false;
    }
    in_.word();
    if (in_.accept("=")) {
      in_.peek();
      const auto value = in_.position();
      read_atom();
      if (is_wanted(word)) {
        x.attributes.push_back({word, in_.since(value)});
      }
    } else if (word == "applies") {
      x.attributes.push_back({word, in_.word()});
    } else if (in_.peek() == '<') {
      in_.balanced();
      x.attributes.push_back({"value", in_.since(start)});
    } else if (!goes_on && std::ranges::find(x.attributes, "word", &attribute::key) == x.attributes.end()) {
      x.attributes.push_back({"word", word});
    }
    return true;
  }

  /// `module @name attributes {…} { … }`
  void read_module(parts& x) {
    if (in_.accept("@")) {
      in_.name();
    }
    if (in_.accept_word("attributes")) {
      read_dictionary(x);
    }
    x.regions.push_back(read_region(x));
    x.op.location = in_.location();
  }

  /// `func.func public @main(%a: type {…} loc(…), …) -> (type {…}, …) attributes {…} { … }`
  void read_function(parts& x) {
    function f;
    f.is_public = in_.word() != "private";
    in_.expect("@");
    f.name = in_.name();
    in_.list("(", ")", [&] {
      if (in_.peek() != '%') { // of a function that is only declared
        types_.read();
      } else {
        x.arguments.push_back(read_argument());
      }
      const auto start = in_.position();
      if (in_.peek() == '{') {
        in_.balanced();
      }
      in_.location();
      f.argument_texts.push_back(in_.since(start));
    });
    if (in_.accept("->")) {
      types_.read_results();
    }
    if (in_.accept_word("attributes")) {
      read_dictionary(x);
    }
    if (in_.peek() == '{') {
      f.body = read_region(x);
    }
    x.op.location = in_.location();
    add_function(std::move(f), x.op.at);
  }
  void add_function(function f, std::size_t at) {
    if (!p_.function_numbers.try_emplace(f.name, static_cast<std::uint32_t>(p_.functions.size())).second) {
      in_.fail("there are two functions @" + std::string{f.name}, at);
    }
    p_.functions.push_back(std::move(f));
  }

  std::uint32_t finish(parts& x, const std::vector<std::pair<std::string_view, std::uint32_t>>& results,
                       std::size_t count) {
    if (count > x.types.size()) {
      in_.fail(x.typed ? "there are more results than types" : "results have no type", x.op.at);
    }
    const auto id = static_cast<std::uint32_t>(p_.ops.size());
    x.op.result = results.empty() ? std::string_view{} : results.front().first;
    x.op.first_result = static_cast<value_id>(p_.values.size());
    x.op.num_results = static_cast<std::uint32_t>(count);
    const auto first_type = x.types.size() - count; // `select %p, %a, %b : predicate, type` has more than one
    auto next = x.op.first_result;
    for (const auto& [name, several] : results) {
      names_.define(name, next, several);
      next += several;
    }
    for (std::size_t i = 0; i < count; ++i) {
      p_.values.push_back({.type = x.types[first_type + i], .op = id, .number = static_cast<std::uint32_t>(i)});
    }
    x.operands.insert(x.operands.end(), x.initial.begin(), x.initial.end());
    append(p_.operand_lists, x.operands, x.op.first_operand, x.op.num_operands);
    append(p_.attribute_lists, x.attributes, x.op.first_attribute, x.op.num_attributes);
    append(p_.region_lists, x.regions, x.op.first_region, x.op.num_regions);
    for (const auto r : x.regions) {
      p_.regions[r].op = id;
    }
    p_.ops.push_back(x.op);
    if (x.op.name == "func.func" && x.typed) { // the generic form
      add_function({.name = unquoted(p_.attribute_of(x.op, "sym_name")),
                    .is_public = unquoted(p_.attribute_of(x.op, "sym_visibility")) != "private",
                    .body = x.regions.empty() || p_.regions[x.regions.front()].num_ops == 0 ? none : x.regions.front()},
                   x.op.at);
    }
    return id;
  }

  cursor in_;
  program p_;
  type_reader types_;
  value_names names_;
  std::size_t max_ops_;
  int depth_ = 0;
};

} // namespace detail
} // namespace weft::stablehlo
