// SPDX-License-Identifier: BSL-1.0
/// Symbolic sizes of exported programs: expressions over named symbols.
#pragma once

#include "weft/core/config.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::pytorch {

namespace detail {

/// Evaluates what sympy prints: `2*s0 + 1`, `(s0//2)`, or
/// `Add(Mul(Integer(2), Symbol('s0', integer=True)), Integer(1))`. Nested more than 60 deep, or with a function that is
/// not among those of sizes, it has no value.
/// Source: torch/utils/_sympy/functions.py.
template <class ValueOf>
class size_expression {
public:
  /// `value_of(name)` is an optional number, the value of a symbol.
  size_expression(std::string_view text, const ValueOf& value_of) : text_{text}, value_of_{value_of} {}

  std::optional<double> operator()() && {
    const double value = sum();
    return peek() == '\0' && std::isfinite(value) ? std::optional{value} : std::nullopt;
  }

private:
  static constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

  char peek() {
    at_ = std::max(at_, std::min(text_.find_first_not_of(' ', at_), text_.size()));
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(std::string_view token) {
    const bool there = peek() == token.front() && text_.substr(at_).starts_with(token);
    at_ += there ? token.size() : 0;
    return there;
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

  static double divided(double a, double b) { return b == 0 ? no_value : a / b; }
  static double floor_divided(double a, double b) { return std::floor(divided(a, b)); }
  static double remainder(double a, double b) { return a - b * floor_divided(a, b); }
  static double power(double a, double b) { return std::isnan(a) || std::isnan(b) ? no_value : std::pow(a, b); }

  double sum() {
    for (double left = product();;) {
      if (accept("+")) {
        left += product();
      } else if (accept("-")) {
        left -= product();
      } else {
        return left;
      }
    }
  }
  double product() {
    for (double left = factor();;) {
      if (accept("//")) {
        left = floor_divided(left, factor());
      } else if (accept("/")) {
        left = divided(left, factor());
      } else if (accept("*")) {
        left *= factor();
      } else if (accept("%")) {
        left = remainder(left, factor());
      } else {
        return left;
      }
    }
  }
  double factor() {
    if (++depth_ > 60) {
      at_ = text_.size() + 1; // gives up
      return no_value;
    }
    double value = no_value;
    if (accept("-")) {
      value = -factor();
    } else {
      value = atom();
      value = accept("**") ? power(value, factor()) : value;
    }
    --depth_;
    return value;
  }
  double atom() {
    if (accept("(")) {
      const double value = sum();
      return accept(")") ? value : no_value;
    }
    if (is_digit(peek())) {
      double value = no_value;
      const auto* start = text_.data() + at_;
      at_ += static_cast<std::size_t>(
        std::from_chars(start, text_.data() + text_.size(), value, std::chars_format::fixed).ptr - start);
      return value;
    }
    const auto name = word();
    return name.empty()    ? no_value
           : peek() == '(' ? call(name.substr(name.rfind('.') + 1))
                           : value_of_(name).value_or(no_value);
  }
  std::string_view word() {
    const auto start = (static_cast<void>(peek()), at_);
    while (at_ < text_.size() &&
           (is_letter(text_[at_]) || (at_ > start && (is_digit(text_[at_]) || text_[at_] == '.')))) {
      ++at_;
    }
    return text_.substr(std::min(start, text_.size()), at_ - start);
  }

  /// `Symbol('s0', integer=True)`, `Mul(a, b)`, …; what is named, as `integer`, does not count.
  double call(std::string_view function) {
    at_ += 1;
    std::vector<double> args;
    std::string_view quoted;
    while (peek() != ')' && peek() != '\0') {
      const auto before = at_;
      if (const char c = peek(); c == '\'' || c == '"') {
        const auto end = text_.find(c, at_ + 1);
        if (end == text_.npos) {
          return no_value;
        }
        quoted = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
      } else if (!word().empty() && peek() == '=' && !text_.substr(at_).starts_with("==")) {
        ++at_;
        static_cast<void>(word());
      } else {
        at_ = before;
        args.push_back(sum());
      }
      if (!accept(",") && peek() != ')') {
        return no_value;
      }
    }
    return !accept(")")                                    ? no_value
           : function == "Symbol" || function == "Dummy" ? value_of_(quoted).value_or(no_value)
                                                           : value_of_call(function, args);
  }
  static double value_of_call(std::string_view name, const std::vector<double>& args) {
    using binary = double (*)(double, double);
    struct function {
      std::string_view name;
      std::size_t args; // 0: any number, from left to right
      binary value;
    };
    constexpr binary same = [](double a, double) { return a; };
    constexpr binary down = [](double a, double) { return std::floor(a); };
    constexpr binary up = [](double a, double) { return std::ceil(a); };
    constexpr binary to_zero = [](double a, double) { return std::trunc(a); };
    static constexpr function functions[] = {
      {"Add", 0, [](double a, double b) { return a + b; }},
      {"Mul", 0, [](double a, double b) { return a * b; }},
      {"Max", 0, [](double a, double b) { return std::max(a, b); }},
      {"Min", 0, [](double a, double b) { return std::min(a, b); }},
      {"Abs", 1, [](double a, double) { return std::abs(a); }},
      {"Integer", 1, same},      {"Identity", 1, same},        {"Float", 1, same},
      {"ToFloat", 1, same},      {"floor", 1, down},           {"FloorToInt", 1, down},
      {"ceil", 1, up},           {"ceiling", 1, up},           {"CeilToInt", 1, up},
      {"TruncToInt", 1, to_zero}, {"TruncToFloat", 1, to_zero},
      {"CeilDiv", 2, [](double a, double b) { return std::ceil(divided(a, b)); }},
      {"Pow", 2, power},         {"PowByNatural", 2, power},   {"FloatPow", 2, power},
      {"Mod", 2, remainder},     {"PythonMod", 2, remainder},  {"Rational", 2, divided},
      {"IntTrueDiv", 2, divided}, {"FloatTrueDiv", 2, divided}, {"FloorDiv", 2, floor_divided},
      {"CleanDiv", 2, floor_divided}};
    if (args.empty() || std::ranges::any_of(args, [](double x) { return std::isnan(x); })) {
      return no_value;
    }
    if (name == "ModularIndexing" && args.size() == 3) {
      return remainder(floor_divided(args[0], args[1]), args[2]);
    }
    const auto* at = std::ranges::find(functions, name, &function::name);
    if (at == std::end(functions) || (at->args != 0 && at->args != args.size())) {
      return no_value;
    }
    return at->args > 0 ? at->value(args.front(), args.back())
                        : std::accumulate(args.begin() + 1, args.end(), args.front(), at->value);
  }

  std::string_view text_;
  const ValueOf& value_of_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

/// The symbol that an expression is, or nothing if it is more: `s0` and `Symbol('s0', integer=True)` are one.
/// `seen(name)` is called for each in it.
template <class Seen>
std::optional<std::string> symbol_of(std::string_view text, const Seen& seen) {
  std::string only;
  std::size_t symbols = 0;
  const auto value_of = [&](std::string_view name) {
    only = name;
    ++symbols;
    seen(name);
    return std::optional{7.25}; // no expression of integers is that by chance
  };
  const auto value = size_expression{text, value_of}();
  return value == 7.25 && symbols == 1 ? std::optional{only} : std::nullopt;
}
inline std::optional<std::string> symbol_of(std::string_view text) {
  return symbol_of(text, [](std::string_view) {});
}

} // namespace detail
} // namespace weft::pytorch
