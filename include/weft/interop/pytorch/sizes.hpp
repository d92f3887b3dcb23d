// SPDX-License-Identifier: BSL-1.0
/// Shapes of tensors in exported programs, with values for symbolic sizes.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/interop/pytorch/expression.hpp"
#include "weft/interop/pytorch/schema.hpp"
#include "weft/io/tally.hpp"
#include "weft/io/text.hpp"
#include "weft/ops/call.hpp"
#include "weft/ops/element_type.hpp"

#include <cmath>
#include <cstdint>
#include <iterator>
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
  ops::call::extents dims = {};
  ops::element_type element = ops::elements::unknown;
  byte_count bytes = 0;
};

/// An element's type by the numbers of torch/_export/serde/schema.py's ScalarType, and its bytes; 0 where that is none.
struct scalar_type {
  ops::element_type element;
  std::uint8_t bytes;
  bool is_floating = false;
};
inline scalar_type scalar_type_of(std::int64_t number) {
  static constexpr scalar_type known[] = {
    {0, 0},  {2, 1}, {3, 1},  {5, 2},  {6, 4}, {7, 8},        {10, 2, true}, {1, 4, true},  {11, 8, true},
    {0, 4},  {14, 8}, {15, 16}, {9, 1}, {16, 2, true}, {0, 0}, {0, 0},        {0, 0},        {0, 0},
    {0, 0},  {0, 0}, {0, 0},  {0, 0},  {0, 0}, {0, 0},        {0, 0},        {0, 0},        {0, 0},
    {0, 0},  {4, 2}, {17, 1, true}, {19, 1, true}, {18, 1, true}, {20, 1, true}};
  return number > 0 && number < std::ssize(known) ? known[number] : scalar_type{};
}

/// Values of the symbols of a program: given ones, else the hints of the file, else a default.
class sizes {
public:
  sizes(std::map<std::string, std::uint64_t, std::less<>> given, std::uint64_t otherwise)
      : given_{std::move(given)}, otherwise_{static_cast<double>(otherwise)} {}

  /// Looks at `{"as_expr": {"expr_str": "s0", "hint": {"as_int": 8}}}` for symbols and their hints.
  void learn(const json& size) {
    const auto symbol = symbol_of(text(size, "as_expr", "expr_str"),
                                  [&](std::string_view name) { hints_.try_emplace(std::string{name}); });
    if (symbol && !hints_[*symbol]) {
      hints_[*symbol] = hint_of(size);
    }
  }
  bool knows(std::string_view symbol) const { return hints_.contains(symbol); }
  void give(const std::string& symbol, std::uint64_t value) { given_[symbol] = value; }

  /// The symbol that a size is, if it is one.
  static std::optional<std::string> symbol(const json& size) { return symbol_of(text(size, "as_expr", "expr_str")); }

  /// Throws `error` if it is no size.
  std::int64_t value(const json& size) {
    if (const auto whole = whole_number(size, "as_int")) {
      return checked(*whole);
    }
    if (find(size, "as_expr") == nullptr) {
      throw error("a size is neither a number nor an expression");
    }
    const auto written = text(size, "as_expr", "expr_str");
    const auto value_of = [this](std::string_view name) { return std::optional{symbol_value(name)}; };
    if (const auto value = size_expression{written, value_of}()) {
      return checked(std::floor(*value));
    }
    const auto hint = hint_of(size);
    assumed_.add("{symbolic size that is|symbolic sizes that are} not understood: " +
                   (hint ? "{its hint counts|their hints count}" : "each is " + io::number_text(otherwise_)),
                 io::in_quotes(written));
    return checked(hint.value_or(otherwise_));
  }

  /// A `TensorMeta`, which must stay where it is. Throws `error` if it is none, or larger than anything.
  const tensor_shape& shape(const json& meta) {
    if (const auto known = shapes_.find(&meta); known != shapes_.end()) {
      return known->second;
    }
    const auto* dims = find(meta, "sizes");
    const auto* number = find(meta, "dtype");
    if (dims == nullptr || !dims->is_array() || number == nullptr || !number->is_number_integer()) {
      throw error("a tensor has no sizes or no type");
    }
    auto type = scalar_type_of(number->get<std::int64_t>());
    if (type.bytes == 0) {
      assumed_.add("{tensor|tensors} with elements of a type that is not known here: 4 bytes each",
                   std::to_string(number->get<std::int64_t>()));
      type.bytes = 4;
    }
    if (dims->size() > 64) {
      throw error("a tensor has more than 64 extents, more than PyTorch allows");
    }
    tensor_shape made{.element = type.element};
    for (const auto& size : *dims) {
      made.dims.push_back(value(size));
    }
    const auto bits = 8u * type.bytes;
    made.bytes = ops::tensor_bytes(made.dims, bits);
    if (made.bytes > max_total_bytes) {
      throw error("a tensor has more than 2^62 bytes");
    }
    if (type.is_floating) {
      float_bytes_[bits] += static_cast<double>(made.bytes);
    }
    return shapes_.emplace(&meta, std::move(made)).first->second;
  }

  const io::tally& assumed() const { return assumed_; }
  /// Of the floating-point tensors that were asked for, by the bits of a number.
  const std::map<std::uint32_t, double>& float_bytes() const { return float_bytes_; }
  /// Symbols of which nothing tells the value.
  std::vector<assumed_size> unknown() const {
    std::vector<assumed_size> all;
    for (const auto& [symbol, hint] : hints_) {
      if (!hint && !given_.contains(symbol)) {
        all.push_back({.given_by = assumed_size::option::dimension,
                       .name = symbol,
                       .value = static_cast<std::uint64_t>(otherwise_)});
      }
    }
    return all;
  }
  /// A line with the other symbols and their values; empty if there are none.
  std::string note() const {
    std::string text;
    for (const auto& [symbol, hint] : hints_) {
      if (const bool given = given_.contains(symbol); given || hint) {
        text += (text.empty() ? "symbolic sizes: " : ", ") + io::on_one_line(symbol) + " = " +
                io::number_text(value_of_known(symbol, hint)) + (given ? "" : " (its hint)");
      }
    }
    return text;
  }
  std::string symbols() const {
    return io::joined(hints_, [](const auto& known) { return io::on_one_line(known.first); });
  }

private:
  static std::optional<double> hint_of(const json& size) { return whole_number(size, "as_expr", "hint", "as_int"); }
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
