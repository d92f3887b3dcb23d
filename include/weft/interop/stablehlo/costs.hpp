// SPDX-License-Identifier: BSL-1.0
/// FLOP of the operations of a StableHLO program: by the catalogue of ops (ops/catalogue.hpp), and by formulas
/// here where attributes and regions count. Source: the StableHLO specification (openxla.org/stablehlo/spec).
#pragma once

#include "weft/core/error.hpp"
#include "weft/interop/stablehlo/loops.hpp"
#include "weft/interop/stablehlo/program.hpp"
#include "weft/io/tally.hpp"
#include "weft/io/text.hpp"
#include "weft/ops/flop_rules.hpp"
#include "weft/ops/catalogue.hpp"

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
  if (text.substr(0, at).ends_with("array")) {
    at = text.find(':', at); // the type comes first
    if (at == text.npos) {
      return numbers;
    }
  }
  for (++at; at < text.size() && text[at] != ']' && text[at] != '>'; ++at) {
    if (const auto found = leading_number(text.substr(at))) {
      numbers.push_back(found->first);
      at += found->second - 1;
    }
  }
  return numbers;
}

/// The axes of its left operand that a product contracts, or those of its batch: `kind` is "contracting" or "batching".
inline std::vector<std::size_t> product_axes(const program& p, const operation& o, const std::string& kind) {
  if (const auto numbers = p.attribute_of(o, "dot_dimension_numbers"); !numbers.empty()) {
    const auto at = numbers.find("lhs_" + kind + "_dimensions");
    return at == numbers.npos ? std::vector<std::size_t>{} : numbers_in(numbers.substr(at));
  }
  const auto text = p.attribute_of(o, kind + "_dims");
  const auto rank = p.operand_type(o, 0).dims.size();
  return text.empty() && kind == "contracting" && plain_name(o.name) == "dot" && rank > 0 ? std::vector{rank - 1}
                                                                                           : numbers_in(text);
}

/// An axis as rules of the catalogue number it, for which negative ones are from the innermost: 2^64 - 1 is none.
inline std::int64_t axis_of(std::size_t number) {
  return static_cast<std::int64_t>(std::min<std::size_t>(number, std::numeric_limits<std::int64_t>::max()));
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
  costs(const program& p, std::optional<double> unknown_trips, double unknown_flop)
      : p_{p}, unknown_trips_{unknown_trips}, unknown_flop_{unknown_flop},
        known_(p.ops.size(), std::numeric_limits<double>::quiet_NaN()),
        of_functions_(p.functions.size(), std::numeric_limits<double>::quiet_NaN()) {}

  /// FLOP. Complexity: the operations in its regions and in what it calls; once each.
  double flop_of(std::uint32_t op) {
    auto& known = known_[op];
    if (std::isnan(known)) {
      const double computed = compute(p_.ops[op]);
      known = std::isnan(computed) ? std::numeric_limits<double>::infinity() : computed;
    }
    return known;
  }
  const io::tally& assumed() const { return assumed_; }
  /// Loops of which nobody tells how often they run.
  const std::vector<assumed_size>& assumed_trips() const { return loops_.list(); }

  /// The type of an op in a workload: the operation's name, with what it calls if that says more.
  std::string type_of(const operation& o) const {
    const auto name = plain_name(o.name);
    if (name == "custom_call") {
      return std::string{o.name} + ":" + std::string{target_of(p_, o)};
    }
    if (name == "composite") {
      return std::string{o.name} + ":" + std::string{p_.attribute_of(o, "\"")};
    }
    return std::string{o.name};
  }

private:
  static constexpr int max_depth = 500;

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

  /// An operation, and its operands and results as rules of the catalogue see them.
  struct counted {
    const operation& op;
    ops::call call;
  };
  using rule = double (*)(costs&, const counted&);
  static double nothing(costs&, const counted&) { return 0; }
  static double callee(costs& c, const counted& x) { return c.of_function(c.p_.callee(x.op)); }
  static double products(costs& c, const counted& x) {
    double product = 2 * x.call.out();
    for (const auto axis : detail::product_axes(c.p_, x.op, "contracting")) {
      product *= x.call.extent(0, detail::axis_of(axis));
    }
    return product;
  }
  static double einsum(costs& c, const counted& x) {
    auto call = x.call;
    call.texts["equation"] = unquoted(c.attribute(x.op, "config", "einsum_config"));
    return ops::flop_rules::einsum(call);
  }
  static double filters(costs& c, const counted& x) { return c.convolution(x); }
  static double each_in(costs& c, const counted& x) { return c.of_regions(x.op) * x.call.in(0); }
  static double dearest_region(costs& c, const counted& x) {
    double dearest = 0;
    for (const auto r : c.p_.regions_of(x.op)) {
      dearest = std::max(dearest, c.of_region(r));
    }
    return dearest;
  }

  double compute(const operation& o) {
    static constexpr std::pair<std::string_view, rule> rules[] = {
      {"return", nothing},
      {"yield", nothing},
      {"call", callee},
      {"composite", callee},
      {"while", [](costs& c, const counted& x) { return c.loop(x.op); }},
      {"if", dearest_region},
      {"case", dearest_region},
      {"dot_general", products},
      {"dot", products},
      {"einsum", einsum},
      {"unary_einsum", einsum},
      {"convolution", filters},
      {"dynamic_conv", filters},
      {"reduce", // each element is combined once; `applies` names one operation
       [](costs& c, const counted& x) { return x.op.num_regions > 0 ? each_in(c, x) : x.call.in(0); }},
      {"all_reduce", each_in},
      {"reduce_scatter", each_in},
      {"map", [](costs& c, const counted& x) { return c.of_regions(x.op) * x.call.out(); }},
      {"scatter", // n inputs, indices, n updates; each element of an update is combined with what is there
       [](costs& c, const counted& x) {
         const auto n = x.op.num_operands;
         return n < 3 ? 0 : c.of_regions(x.op) * x.call.in((n + 1) / 2);
       }},
      {"sort", // n log2 n comparisons per row
       [](costs& c, const counted& x) {
         const auto axis = detail::leading_number(c.p_.attribute_of(x.op, "dimension"));
         const double row = x.call.extent(0, axis ? detail::axis_of(axis->first) : -1);
         return each_in(c, x) * std::log2(std::max(row, 2.0));
       }},
      {"reduce_window", [](costs& c, const counted& x) { return c.of_regions(x.op) * x.call.out() * c.window(x.op); }},
      {"select_and_scatter", // each element of the gradient chooses one of its window and is added to it
       [](costs& c, const counted& x) { return x.call.in(1) * (c.window(x.op) + 1); }},
      {"cholesky", [](costs&, const counted& x) { return ops::flop_rules::cubic<1>(x.call); }},
      {"triangular_solve", [](costs&, const counted& x) { return ops::flop_rules::substitution(x.call); }},
      {"fft", // 5 n log2 n
       [](costs& c, const counted& x) {
         double n = 1;
         for (const auto l : detail::numbers_in(c.attribute(x.op, "length", "fft_length"))) {
           n *= static_cast<double>(l);
         }
         return 5 * std::max(x.call.in(0), x.call.out()) * std::log2(std::max(n, 1.0));
       }}};
    const auto* at = std::ranges::find(rules, plain_name(o.name), &std::pair<std::string_view, rule>::first);
    counted x{o, {}};
    for (const auto id : p_.operands(o)) {
      x.call.inputs.emplace_back(p_.type_of(id).dims);
    }
    for (std::uint32_t i = 0; i < o.num_results; ++i) {
      x.call.outputs.emplace_back(p_.result_type(o, i).dims);
    }
    return at == std::end(rules) ? by_name(std::move(x)) : at->second(*this, x);
  }

  double by_name(counted x) {
    const auto& o = x.op;
    auto name = plain_name(o.name);
    if (name == "custom_call") {
      name = plain_name(target_of(p_, o));
    }
    const auto type = type_of(o);
    if (const auto* facts = ops::find({type, name}); facts != nullptr && facts->flop != nullptr) {
      x.call.type = type;
      return facts->flop(x.call);
    }
    if (o.num_regions > 0) { // of a dialect that nobody here knows: what is inside counts once
      return of_regions(o);
    }
    if (o.num_results == 0) {
      return 0;
    }
    assumed_.add("{op of a type|ops of types} without a rule here: " + io::number_text(unknown_flop_) +
                   " FLOP per element of the first result", type);
    return unknown_flop_ * x.call.out();
  }

  double loop(const operation& o) {
    const auto trips = trips_of(p_, o);
    if (!trips && unknown_trips_) {
      assumed_.add("{loop|loops} with an unknown number of rounds, taken to be " + io::number_text(*unknown_trips_),
                   o.result);
    } else if (!trips) {
      loops_.add({assumed_size::option::trips, '%' + std::string{o.result}, std::string{o.name}, 1});
    }
    return trips.value_or(unknown_trips_.value_or(1)) * of_regions(o);
  }

  std::string_view attribute(const operation& o, std::string_view key, std::string_view other) const {
    const auto text = p_.attribute_of(o, key);
    return text.empty() ? p_.attribute_of(o, other) : text;
  }

  /// Each element of the result is the product of a filter with its window. What a transposed convolution puts between
  /// the elements of its input (lhs_dilation) is zero and not multiplied.
  double convolution(const counted& x) const {
    const auto& o = x.op;
    const auto numbers = attribute(o, "dim_numbers", "dimension_numbers");
    std::int64_t features = 0; // the axis of a filter
    constexpr std::string_view raw = "kernel_output_feature_dimension = ";
    if (const auto at = numbers.find(raw); at != numbers.npos) {
      if (const auto found = detail::leading_number(numbers.substr(at + raw.size()))) {
        features = detail::axis_of(found->first);
      }
    } else if (const auto start = numbers.find("]x["); start != numbers.npos) { // [b, f, 0, 1]x[o, i, 0, 1]->…
      const auto axes = numbers.substr(start + 3, numbers.find(']', start + 3) - start - 3);
      features = std::ranges::count(axes.substr(0, axes.find('o')), ',');
    }
    double spread = 1;
    const auto window = p_.attribute_of(o, "window");
    const auto dilation = window.find("lhs_dilate");
    const auto text = dilation == window.npos ? p_.attribute_of(o, "lhs_dilation") : window.substr(dilation);
    for (const auto d : detail::numbers_in(text)) {
      spread *= static_cast<double>(std::max<std::size_t>(d, 1));
    }
    return 2 * x.call.out() * x.call.in(1) / std::max(x.call.extent(1, features), 1.0) / spread;
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
  std::optional<double> unknown_trips_;
  io::assumed_sizes loops_;
  double unknown_flop_;
  std::vector<double> known_;        // by operation
  std::vector<double> of_functions_; // by function
  int depth_ = 0;
  io::tally assumed_;
};

} // namespace weft::stablehlo
