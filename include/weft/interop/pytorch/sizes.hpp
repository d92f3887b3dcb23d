// SPDX-License-Identifier: BSL-1.0
/// Shapes of tensors in exported programs, with values for symbolic sizes.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/interop/pytorch/document.hpp"
#include "weft/interop/pytorch/expression.hpp"
#include "weft/io/tally.hpp"
#include "weft/io/text.hpp"
#include "weft/workload/op_call.hpp"

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::pytorch::detail {

/// A tensor's shape and size.
struct tensor_shape {
  op_call::extents dims = {};
  byte_count bytes = 0;
};

/// Bytes of an element by the numbers of torch/_export/serde/schema.py's ScalarType; nothing for others.
inline std::optional<byte_count> element_bytes(std::int64_t type) {
  switch (type) {
  case 1:
  case 2:
  case 12:
  case 29:
  case 30:
  case 31:
  case 32: return 1; // bytes, bool, the types of 8 bits
  case 3:
  case 6:
  case 13:
  case 28: return 2;
  case 4:
  case 7:
  case 9: return 4;
  case 5:
  case 8:
  case 10: return 8;
  case 11: return 16;
  default: return std::nullopt;
  }
}

/// Whether a number of ScalarType is a floating-point type: half, float, double, bfloat16 and those of 8 bits.
inline bool is_floating(std::int64_t type) {
  return (type >= 6 && type <= 8) || type == 13 || (type >= 29 && type <= 32);
}

/// Values of the symbols of a program: given ones, else the hints of the file, else a default.
class sizes {
public:
  sizes(std::map<std::string, std::uint64_t, std::less<>> given, std::uint64_t otherwise)
      : given_{std::move(given)}, otherwise_{static_cast<double>(otherwise)} {}

  /// Looks at `{"as_expr": {"expr_str": "s0", "hint": {"as_int": 8}}}` for symbols and their hints.
  void learn(const json& size) {
    const auto* expression = expression_of(size);
    if (expression == nullptr) {
      return;
    }
    const auto text = text_of(*expression);
    const auto symbol = symbol_of(text, [&](std::string_view name) { hints_.try_emplace(std::string{name}); });
    if (!symbol) {
      return;
    }
    auto& hint = hints_[*symbol];
    const auto at = expression->find("hint");
    if (!hint && at != expression->end() && at->is_object()) {
      if (const auto value = at->find("as_int"); value != at->end() && value->is_number_integer()) {
        hint = value->get<double>();
      }
    }
  }
  bool knows(std::string_view symbol) const { return hints_.contains(symbol); }
  void give(const std::string& symbol, std::uint64_t value) { given_[symbol] = value; }

  /// The symbol that a size is, if it is one.
  static std::optional<std::string> symbol(const json& size) {
    const auto* expression = expression_of(size);
    return expression != nullptr ? symbol_of(text_of(*expression)) : std::nullopt;
  }

  /// Throws `error` if it is no size.
  std::int64_t value(const json& size) {
    if (const auto whole = size.is_object() ? size.find("as_int") : size.end();
        size.is_object() && whole != size.end() && whole->is_number_integer()) {
      return checked(whole->get<double>());
    }
    const auto* expression = expression_of(size);
    if (expression == nullptr) {
      throw error("a size is neither a number nor an expression");
    }
    const auto text = text_of(*expression);
    const auto value_of = [this](std::string_view name) { return std::optional{symbol_value(name)}; };
    if (const auto value = size_expression{text, value_of}()) {
      return checked(std::floor(*value));
    }
    if (const auto hint = expression->find("hint"); hint != expression->end() && hint->is_object()) {
      if (const auto value = hint->find("as_int"); value != hint->end() && value->is_number_integer()) {
        assumed_.add("symbolic sizes that are not understood: their hints count", io::in_quotes(text));
        return checked(value->get<double>());
      }
    }
    assumed_.add("symbolic sizes that are not understood: each is " + io::number_text(otherwise_), io::in_quotes(text));
    return checked(otherwise_);
  }

  /// A `TensorMeta`, which must stay where it is. Throws `error` if it is none, or larger than anything.
  const tensor_shape& shape(const json& meta) {
    if (const auto known = shapes_.find(&meta); known != shapes_.end()) {
      return known->second;
    }
    const auto dims = meta.is_object() ? meta.find("sizes") : meta.end();
    const auto type = meta.is_object() ? meta.find("dtype") : meta.end();
    if (!meta.is_object() || dims == meta.end() || !dims->is_array() || type == meta.end() ||
        !type->is_number_integer()) {
      throw error("a tensor has no sizes or no type");
    }
    auto element = element_bytes(type->get<std::int64_t>());
    if (!element) {
      assumed_.add("tensors with elements of a type that is not known here: 4 bytes each",
                   std::to_string(type->get<std::int64_t>()));
      element = 4;
    }
    if (dims->size() > 64) {
      throw error("a tensor has more than 64 extents, which PyTorch has not");
    }
    tensor_shape made{.bytes = *element};
    double bytes = static_cast<double>(*element);
    for (const auto& size : *dims) {
      made.dims.push_back(value(size));
      bytes *= static_cast<double>(made.dims.back());
      made.bytes *= static_cast<byte_count>(made.dims.back()); // wraps around where it is refused
    }
    if (bytes >= static_cast<double>(max_total_bytes)) {
      throw error("a tensor has more than 2^62 bytes");
    }
    if (is_floating(type->get<std::int64_t>())) {
      float_bytes_[static_cast<std::uint32_t>(8 * *element)] += static_cast<double>(made.bytes);
    }
    return shapes_.emplace(&meta, std::move(made)).first->second;
  }

  const io::tally& assumed() const { return assumed_; }
  /// Of the floating-point tensors that were asked for, by the bits of a number.
  const std::map<std::uint32_t, double>& float_bytes() const { return float_bytes_; }
  /// A line with the symbols and their values; empty if there are none.
  std::string note() const {
    std::string text;
    for (const auto& [symbol, hint] : hints_) {
      const bool given = given_.contains(symbol);
      text += (text.empty() ? "symbolic sizes: " : ", ") + io::on_one_line(symbol) + " = " +
              io::number_text(value_of_known(symbol, hint)) +
              (given  ? std::string{}
               : hint ? " (its hint)"
                      : " (nothing tells it; --dim " + io::on_one_line(symbol) + "=… does)");
    }
    return text;
  }
  std::string symbols() const {
    std::string text;
    for (const auto& [symbol, hint] : hints_) {
      text += (text.empty() ? "" : ", ") + io::on_one_line(symbol);
    }
    return text;
  }

private:
  static const json* expression_of(const json& size) {
    const auto at = size.is_object() ? size.find("as_expr") : size.end();
    return size.is_object() && at != size.end() && at->is_object() ? &*at : nullptr;
  }
  static std::string text_of(const json& expression) {
    const auto at = expression.find("expr_str");
    return at != expression.end() && at->is_string() ? at->get<std::string>() : std::string{};
  }
  double symbol_value(std::string_view name) {
    const auto known = hints_.try_emplace(std::string{name}).first;
    return value_of_known(name, known->second);
  }
  double value_of_known(std::string_view name, const std::optional<double>& hint) const {
    const auto given = given_.find(name);
    return given != given_.end() ? static_cast<double>(given->second) : hint.value_or(otherwise_);
  }
  static std::int64_t checked(double value) {
    if (!(value >= 0 && value <= 1e15)) {
      throw error("a size is negative or beyond 10^15");
    }
    return static_cast<std::int64_t>(value);
  }

  std::map<std::string, std::uint64_t, std::less<>> given_;
  std::map<std::string, std::optional<double>, std::less<>> hints_; // of every symbol, where it has one
  double otherwise_;
  std::unordered_map<const json*, tensor_shape> shapes_; // that were asked for
  std::map<std::uint32_t, double> float_bytes_;
  io::tally assumed_;
};

} // namespace weft::pytorch::detail
