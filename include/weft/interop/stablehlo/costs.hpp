// SPDX-License-Identifier: BSL-1.0
/// FLOP of the operations of a StableHLO program: by the catalogue of ops (workload/op_catalogue.hpp), and by formulas
/// here where attributes and regions count. Source: the StableHLO specification (openxla.org/stablehlo/spec).
#pragma once

#include "weft/core/error.hpp"
#include "weft/interop/stablehlo/loops.hpp"
#include "weft/interop/stablehlo/program.hpp"
#include "weft/io/tally.hpp"
#include "weft/io/text.hpp"
#include "weft/workload/op_catalogue.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace weft::stablehlo {

namespace detail {

/// The number that a text begins with, if it begins with one, and where that ends. Throws `error` if it is too large.
inline std::optional<std::pair<std::size_t, std::size_t>> leading_number(std::string_view text) {
  std::size_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status == std::errc::result_out_of_range) {
    throw error("an attribute has a number of 2^64 or more: " + io::in_quotes(text));
  }
  const auto length = static_cast<std::size_t>(end - text.data());
  return length > 0 ? std::optional{std::pair{number, length}} : std::nullopt;
}

/// The numbers of the first list in a text, 0 and 1 of `[0, 1]`, `array<i64: 0, 1>` and `dense<[0, 1]>`.
inline std::vector<std::size_t> numbers_in(std::string_view text) {
  auto at = text.find_first_of("[<:");
  std::vector<std::size_t> numbers;
  if (at == text.npos) {
    return numbers;
  }
  if (const auto colon = text.find(':', at); text.substr(0, at).ends_with("array") && colon != text.npos) {
    at = colon; // the type
  }
  for (++at; at < text.size() && text[at] != ']' && text[at] != '>'; ++at) {
    if (const auto found = leading_number(text.substr(at))) {
      numbers.push_back(found->first);
      at += found->second - 1;
    }
  }
  return numbers;
}

inline double extent(const value_type& t, std::size_t axis) {
  return axis < t.dims.size() ? static_cast<double>(t.dims[axis]) : 1;
}

} // namespace detail

/// The costs of a program's operations. Costs of regions and functions are part of the operation that has or calls
/// them.
class costs {
public:
  /// `unknown_trips`: how often loops run of which the text does not tell it; `unknown_flop`: per element of the
  /// results of operations that have no rule here.
  costs(const program& p, double unknown_trips, double unknown_flop)
      : p_{p}, unknown_trips_{unknown_trips}, unknown_flop_{unknown_flop},
        known_(p.ops.size(), std::numeric_limits<double>::quiet_NaN()),
        of_functions_(p.functions.size(), std::numeric_limits<double>::quiet_NaN()),
        constants_of_ops_(p.ops.size(), std::numeric_limits<double>::quiet_NaN()),
        constants_of_functions_(p.functions.size(), std::numeric_limits<double>::quiet_NaN()) {}

  /// FLOP. Complexity: the operations in its regions and in what it calls; once each.
  double flop_of(std::uint32_t op) {
    auto& known = known_[op];
    if (std::isnan(known)) {
      const double computed = compute(p_.ops[op]);
      known = std::isnan(computed) ? std::numeric_limits<double>::infinity() : computed;
    }
    return known;
  }
  /// Bytes of the constants in the regions of an operation and in the functions that it calls, which it keeps.
  /// Complexity: as `flop_of`.
  double constants_in(std::uint32_t op) {
    auto& known = constants_of_ops_[op];
    if (std::isnan(known)) {
      std::vector<std::uint32_t> callees;
      known = own_constants(p_.ops[op], callees);
      known += constants_of(callees);
    }
    return known;
  }
  const io::tally& assumed() const { return assumed_; }

  /// The target of a `custom_call`.
  std::string_view target(const operation& o) const {
    auto name = p_.attribute_of(o, "@");
    name = name.empty() ? p_.attribute_of(o, "call_target_name") : name;
    return name.size() >= 2 && name.front() == '"' ? name.substr(1, name.size() - 2) : name;
  }
  /// The type of an op in a workload: the operation's name, with what it calls if that says more.
  std::string type_of(const operation& o) const {
    const auto name = plain_name(o.name);
    if (name == "custom_call") {
      return std::string{o.name} + ":" + std::string{target(o)};
    }
    if (name == "composite") {
      return std::string{o.name} + ":" + std::string{p_.attribute_of(o, "\"")};
    }
    return std::string{o.name};
  }

private:
  static constexpr int max_depth = 500;

  static bool calls(const operation& o) {
    const auto name = plain_name(o.name);
    return name == "call" || name == "composite";
  }
  /// Without those of what is called, which is added to `callees`.
  double own_constants(const operation& o, std::vector<std::uint32_t>& callees) const {
    if (const auto f = calls(o) ? p_.callee(o) : none; f != none && p_.functions[f].body != none) {
      callees.push_back(f);
    }
    double bytes = 0;
    for (const auto r : p_.regions_of(o)) {
      bytes += own_constants(r, callees);
    }
    return bytes;
  }
  double own_constants(region_id r, std::vector<std::uint32_t>& callees) const {
    double bytes = 0;
    for (const auto inner : p_.ops_in(r)) {
      const auto& i = p_.ops[inner];
      const bool stored = plain_name(i.name) == "constant" && !is_splat(p_.attribute_of(i, "value"));
      bytes += stored ? static_cast<double>(p_.result_type(i).bytes()) : own_constants(i, callees);
    }
    return bytes;
  }
  /// Of these functions and what they call; each counts once, however often it is called from one place.
  double constants_of(std::vector<std::uint32_t>& functions) {
    if (++depth_ > max_depth) {
      throw error("regions and calls are nested more than " + std::to_string(max_depth) + " deep");
    }
    std::ranges::sort(functions);
    functions.erase(std::unique(functions.begin(), functions.end()), functions.end());
    double bytes = 0;
    for (const auto f : functions) {
      auto& known = constants_of_functions_[f];
      if (std::isnan(known)) {
        known = 0; // for what calls itself
        std::vector<std::uint32_t> callees;
        const double own = own_constants(p_.functions[f].body, callees);
        known = own + constants_of(callees);
      }
      bytes += known;
    }
    --depth_;
    return bytes;
  }

  double of_region(region_id r) {
    if (++depth_ > max_depth) {
      throw error("regions and calls are nested more than " + std::to_string(max_depth) + " deep");
    }
    double sum = 0;
    for (const auto op : p_.ops_in(r)) {
      sum += flop_of(op);
    }
    --depth_;
    return sum;
  }
  double of_regions(const operation& o) {
    double sum = 0;
    for (const auto r : p_.regions_of(o)) {
      sum += of_region(r);
    }
    return sum;
  }
  double of_function(std::uint32_t f) {
    if (f == none || p_.functions[f].body == none) {
      return 0;
    }
    auto& known = of_functions_[f];
    if (std::isnan(known)) {
      known = 0; // for what calls itself, which the reader refuses where it is run
      known = of_region(p_.functions[f].body);
    }
    return known;
  }

  double compute(const operation& o) {
    const auto name = plain_name(o.name);
    const double out = p_.result_type(o).elements();
    const double in = p_.operand_type(o, 0).elements();
    if (name == "return" || name == "yield") {
      return 0;
    }
    if (calls(o)) {
      return of_function(p_.callee(o));
    }
    if (name == "while") {
      return loop(o);
    }
    if (name == "if" || name == "case") {
      double dearest = 0;
      for (const auto r : p_.regions_of(o)) {
        dearest = std::max(dearest, of_region(r));
      }
      return dearest;
    }
    if (name == "dot_general" || name == "dot") {
      return 2 * out * contracted(o);
    }
    if (name == "einsum") {
      return 2 * einsum(o);
    }
    if (name == "convolution" || name == "dynamic_conv") {
      return convolution(o);
    }
    if (name == "reduce") { // each element is combined once
      return o.num_regions > 0 ? of_regions(o) * in : in; // `applies` names one operation
    }
    if (name == "all_reduce" || name == "reduce_scatter") {
      return of_regions(o) * in;
    }
    if (name == "map") {
      return of_regions(o) * out;
    }
    if (name == "scatter") { // n inputs, indices, n updates; each element of an update is combined with what is there
      return o.num_operands < 3 ? 0 : of_regions(o) * p_.operand_type(o, (o.num_operands + 1) / 2).elements();
    }
    if (name == "sort") { // n log2 n comparisons per row
      const auto axis = attribute_number(o, "dimension", p_.operand_type(o, 0).dims.size() - 1);
      return of_regions(o) * in * std::log2(std::max(detail::extent(p_.operand_type(o, 0), axis), 2.0));
    }
    if (name == "reduce_window") {
      return of_regions(o) * out * window(o);
    }
    if (name == "select_and_scatter") { // each element of the gradient chooses one of its window and is added to it
      const double gradient = p_.operand_type(o, 1).elements();
      return gradient * (window(o) + 1);
    }
    if (name == "unary_einsum") {
      return in;
    }
    if (name == "cholesky") { // n³ / 3
      return in * last_extent(p_.operand_type(o, 0)) / 3;
    }
    if (name == "triangular_solve") { // n² multiply-adds per right-hand side, of a triangle
      return out * last_extent(p_.operand_type(o, 0));
    }
    if (name == "fft") { // 5 n log2 n
      const auto lengths = detail::numbers_in(attribute(o, "length", "fft_length"));
      double n = 1;
      for (const auto l : lengths) {
        n *= static_cast<double>(l);
      }
      return 5 * std::max(in, out) * std::log2(std::max(n, 1.0));
    }
    return by_name(o);
  }

  double by_name(const operation& o) {
    auto name = plain_name(o.name);
    if (name == "custom_call") {
      name = target(o);
      name = plain_name(name);
    }
    const auto type = type_of(o);
    if (const auto* facts = find_op({type, name}); facts != nullptr && facts->flop != nullptr) {
      op_call call{.type = type, .outputs = {}};
      for (const auto id : p_.operands(o)) {
        call.inputs.emplace_back(p_.type_of(id).dims);
      }
      for (std::uint32_t i = 0; i < o.num_results; ++i) {
        call.outputs.emplace_back(p_.result_type(o, i).dims);
      }
      return facts->flop(call);
    }
    if (o.num_regions > 0) { // of a dialect that nobody here knows: what is inside counts once
      return of_regions(o);
    }
    if (o.num_results == 0) {
      return 0;
    }
    assumed_.add("ops of types without a rule here: " + io::number_text(unknown_flop_) +
                   " FLOP per element of their first result", type);
    return unknown_flop_ * p_.result_type(o).elements();
  }

  double loop(const operation& o) {
    const auto trips = trips_of(p_, o);
    if (!trips) {
      assumed_.add("loops: how often they run is not constant, so that many rounds count: " +
                   io::number_text(unknown_trips_), o.result);
    }
    return trips.value_or(unknown_trips_) * of_regions(o);
  }

  std::string_view attribute(const operation& o, std::string_view key, std::string_view other) const {
    const auto text = p_.attribute_of(o, key);
    return text.empty() ? p_.attribute_of(o, other) : text;
  }
  std::size_t attribute_number(const operation& o, std::string_view key, std::size_t otherwise) const {
    const auto found = detail::leading_number(p_.attribute_of(o, key));
    return found ? found->first : otherwise;
  }
  static double last_extent(const value_type& t) { return t.dims.empty() ? 1 : static_cast<double>(t.dims.back()); }

  /// Extents that a product sums over.
  double contracted(const operation& o) const {
    const auto& left = p_.operand_type(o, 0);
    auto text = p_.attribute_of(o, "contracting_dims");
    if (const auto numbers = p_.attribute_of(o, "dot_dimension_numbers"); !numbers.empty()) {
      const auto at = numbers.find("lhs_contracting_dimensions");
      text = at == numbers.npos ? "[]" : numbers.substr(at);
    } else if (text.empty() && plain_name(o.name) == "dot") {
      return last_extent(left);
    }
    double product = 1;
    for (const auto axis : detail::numbers_in(text)) {
      product *= detail::extent(left, axis);
    }
    return product;
  }

  /// Combinations of all indices of `ab,bc->ac`.
  double einsum(const operation& o) const {
    const auto equation = attribute(o, "config", "einsum_config");
    double all = 1;
    std::string seen;
    std::size_t operand = 0;
    std::size_t axis = 0;
    for (const char c : equation) {
      if (c == '-') {
        break;
      }
      if (c == ',') {
        ++operand;
        axis = 0;
      } else if (is_letter(c)) {
        all *= seen.find(c) == seen.npos ? detail::extent(p_.operand_type(o, operand), axis) : 1;
        seen += seen.find(c) == seen.npos ? std::string(1, c) : std::string{};
        ++axis;
      }
    }
    return all;
  }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

  /// Each element of the result is the product of a filter with its window. What a transposed convolution puts between
  /// the elements of its input (lhs_dilation) is zero and not multiplied.
  double convolution(const operation& o) const {
    const auto& filter = p_.operand_type(o, 1);
    const auto numbers = attribute(o, "dim_numbers", "dimension_numbers");
    std::size_t features = 0;
    constexpr std::string_view raw = "kernel_output_feature_dimension = ";
    if (const auto at = numbers.find(raw); at != numbers.npos) {
      if (const auto found = detail::leading_number(numbers.substr(at + raw.size()))) {
        features = found->first;
      }
    } else if (const auto start = numbers.find("]x["); start != numbers.npos) { // [b, f, 0, 1]x[o, i, 0, 1]->…
      const auto axes = numbers.substr(start + 3, numbers.find(']', start + 3) - start - 3);
      features = static_cast<std::size_t>(std::count(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(
                                                                     std::min(axes.find('o'), axes.size())), ','));
    }
    double spread = 1;
    const auto window = p_.attribute_of(o, "window");
    const auto dilation = window.find("lhs_dilate");
    const auto text = dilation == window.npos ? p_.attribute_of(o, "lhs_dilation") : window.substr(dilation);
    for (const auto d : detail::numbers_in(text)) {
      spread *= static_cast<double>(std::max<std::size_t>(d, 1));
    }
    return 2 * p_.result_type(o).elements() * filter.elements() / std::max(detail::extent(filter, features), 1.0) /
           spread;
  }

  /// Elements of a window. One that takes in all before an element is a running sum: one operation per element.
  double window(const operation& o) const {
    const auto& in = p_.operand_type(o, 0);
    const auto& out = p_.result_type(o);
    const auto extents = detail::numbers_in(p_.attribute_of(o, "window_dimensions"));
    double product = 1;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const auto n = static_cast<double>(extents[i]);
      const bool running = n > 1 && n == detail::extent(in, i) && n == detail::extent(out, i);
      const bool repeated = extents.size() == 1; // dense<2> stands for all axes
      product *= running    ? 1
                 : repeated ? std::pow(n, static_cast<double>(std::max<std::size_t>(in.dims.size(), 1)))
                            : n;
    }
    return product;
  }

  const program& p_;
  double unknown_trips_;
  double unknown_flop_;
  std::vector<double> known_;        // by operation
  std::vector<double> of_functions_; // by function
  std::vector<double> constants_of_ops_;
  std::vector<double> constants_of_functions_;
  int depth_ = 0;
  io::tally assumed_;
};

} // namespace weft::stablehlo
