// SPDX-License-Identifier: BSL-1.0
/// Symbolic sizes of exported programs: expressions over named symbols.
#pragma once

#include "weft/core/config.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
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
    const auto value = sum();
    return peek() == '\0' && value && std::isfinite(*value) ? value : std::nullopt;
  }

private:
  using number = std::optional<double>;

  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
    }
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(std::string_view token) {
    const bool there = peek() == token.front() && text_.substr(at_).starts_with(token);
    at_ += there ? token.size() : 0;
    return there;
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

  number sum() {
    auto left = product();
    for (;;) {
      const bool minus = peek() == '-';
      if (!minus && peek() != '+') {
        return left;
      }
      ++at_;
      const auto right = product();
      left = left && right ? number{*left + (minus ? -*right : *right)} : std::nullopt;
    }
  }
  number product() {
    auto left = factor();
    for (;;) {
      const bool power = text_.substr(std::min(at_, text_.size())).starts_with("**");
      const bool whole = !power && accept("//");
      if (whole || (!power && peek() == '/')) {
        at_ += whole ? 0u : 1u;
        left = divided(left, factor(), whole);
      } else if (!power && accept("*")) {
        const auto right = factor();
        left = left && right ? number{*left * *right} : std::nullopt;
      } else if (accept("%")) {
        left = remainder(left, factor());
      } else {
        return left;
      }
    }
  }
  static number divided(number a, number b, bool whole) {
    if (!a || !b || *b == 0) {
      return std::nullopt;
    }
    return whole ? std::floor(*a / *b) : *a / *b;
  }
  static number remainder(number a, number b) {
    return a && b && *b != 0 ? number{*a - *b * std::floor(*a / *b)} : std::nullopt;
  }
  number factor() {
    if (++depth_ > 60) {
      at_ = text_.size() + 1; // gives up
      return std::nullopt;
    }
    number value;
    if (accept("-")) {
      value = factor();
      value = value ? number{-*value} : std::nullopt;
    } else {
      value = atom();
      if (accept("**")) {
        const auto exponent = factor();
        value = value && exponent ? number{std::pow(*value, *exponent)} : std::nullopt;
      }
    }
    --depth_;
    return value;
  }
  number atom() {
    const char c = peek();
    if (accept("(")) {
      const auto value = sum();
      return accept(")") ? value : std::nullopt;
    }
    if (is_digit(c)) {
      double value = 0;
      for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
        value = 10 * value + (text_[at_] - '0');
      }
      if (at_ + 1 < text_.size() && text_[at_] == '.' && is_digit(text_[at_ + 1])) {
        double place = 0.1;
        for (++at_; at_ < text_.size() && is_digit(text_[at_]); ++at_, place /= 10) {
          value += place * (text_[at_] - '0');
        }
      }
      return value;
    }
    const auto name = word();
    if (name.empty()) {
      return std::nullopt;
    }
    return peek() == '(' ? call(name.substr(name.rfind('.') + 1)) : value_of_(name);
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
  number call(std::string_view function) {
    at_ += 1;
    std::vector<number> args;
    std::string_view quoted;
    while (peek() != ')' && peek() != '\0') {
      const auto before = at_;
      if (const char c = peek(); c == '\'' || c == '"') {
        const auto end = text_.find(c, at_ + 1);
        if (end == text_.npos) {
          return std::nullopt;
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
        return std::nullopt;
      }
    }
    return accept(")") ? value_of_call(function, args, quoted) : std::nullopt;
  }
  number value_of_call(std::string_view function, const std::vector<number>& args, std::string_view quoted) {
    if (function == "Symbol" || function == "Dummy") {
      return value_of_(quoted);
    }
    if (args.empty() || std::ranges::any_of(args, [](const number& n) { return !n; })) {
      return std::nullopt;
    }
    const auto fold = [&](const auto& combine) {
      double value = *args.front();
      for (std::size_t i = 1; i < args.size(); ++i) {
        value = combine(value, *args[i]);
      }
      return number{value};
    };
    const double a = *args[0];
    if (function == "Add") {
      return fold([](double x, double y) { return x + y; });
    }
    if (function == "Mul") {
      return fold([](double x, double y) { return x * y; });
    }
    if (function == "Max") {
      return fold([](double x, double y) { return std::max(x, y); });
    }
    if (function == "Min") {
      return fold([](double x, double y) { return std::min(x, y); });
    }
    if (args.size() == 1) {
      return function == "Integer" || function == "ToFloat" || function == "Float" || function == "Identity" ? number{a}
             : function == "floor" || function == "FloorToInt"                      ? number{std::floor(a)}
             : function == "ceiling" || function == "CeilToInt" || function == "ceil" ? number{std::ceil(a)}
             : function == "TruncToInt" || function == "TruncToFloat"               ? number{std::trunc(a)}
             : function == "Abs"                                                    ? number{std::abs(a)}
                                                                                    : std::nullopt;
    }
    const double b = *args[1];
    if (function == "ModularIndexing" && args.size() == 3) {
      return remainder(divided(a, b, true), args[2]);
    }
    if (args.size() != 2) {
      return std::nullopt;
    }
    return function == "Pow" || function == "PowByNatural" || function == "FloatPow" ? number{std::pow(a, b)}
           : function == "FloorDiv" || function == "CleanDiv"                        ? divided(a, b, true)
           : function == "CeilDiv" && b != 0                                         ? number{std::ceil(a / b)}
           : function == "IntTrueDiv" || function == "FloatTrueDiv" || function == "Rational" ? divided(a, b, false)
           : function == "Mod" || function == "PythonMod"                                    ? remainder(a, b)
                                                                                              : std::nullopt;
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
