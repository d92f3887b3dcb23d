// SPDX-License-Identifier: BSL-1.0
/// Trip counts of the `while` loops of a StableHLO program, where they follow from constants.
#pragma once

#include "weft/interop/stablehlo/program.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace weft::stablehlo {

/// The integer of `dense<5> : tensor<i32>`, or nothing.
inline std::optional<std::int64_t> integer_of(std::string_view constant) {
  if (!constant.starts_with("dense<")) {
    return std::nullopt;
  }
  constant.remove_prefix(6);
  while (constant.starts_with('[')) {
    constant.remove_prefix(1);
  }
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(constant.data(), constant.data() + constant.size(), value);
  const bool alone = end != constant.data() + constant.size() && (*end == '>' || *end == ']');
  return status == std::errc{} && alone ? std::optional{value} : std::nullopt;
}

/// Whether a constant repeats one element, so that it takes no memory: `dense<0.0>`.
inline bool is_splat(std::string_view constant) {
  return constant.starts_with("dense<") && constant.size() > 7 && constant[6] != '[' && constant[6] != '"';
}

namespace detail {

/// A symbolic scalar: an argument of a loop and a number, or the number alone.
struct scalar {
  std::uint32_t argument = none;
  std::int64_t number = 0;
};

/// Whether a sum with such a number might overflow.
constexpr bool is_large(std::int64_t x) { return x > (std::int64_t{1} << 60) || x < -(std::int64_t{1} << 60); }

/// Finds out what scalars are by looking at the operations that make them, through calls. Gives up after some hundred.
class scalars {
public:
  explicit scalars(const program& p) : p_{p} {}

  /// Seen from a region whose arguments stay open.
  std::optional<scalar> operator()(value_id v, region_id from) {
    left_ = 200;
    return find(v, from, nullptr);
  }

private:
  struct call {
    region_id body;
    const operation* op;
    const call* outer;
    int depth;
  };

  std::optional<scalar> find(value_id id, region_id from, const call* inside) {
    const auto& v = p_.values[id];
    if (--left_ < 0) {
      return std::nullopt;
    }
    if (v.op == none) {
      if (inside != nullptr && v.region == inside->body) {
        return v.number < inside->op->num_operands
                 ? find(p_.operands(*inside->op)[v.number], from, inside->outer)
                 : std::nullopt;
      }
      return v.region == from ? std::optional{scalar{v.number, 0}} : unchanged(v, from, inside);
    }
    const auto& o = p_.ops[v.op];
    const auto name = plain_name(o.name);
    const auto operand = [&](std::size_t i) {
      return i < o.num_operands ? find(p_.operands(o)[i], from, inside) : std::nullopt;
    };
    if (name == "constant") {
      const auto value = integer_of(p_.attribute_of(o, "value"));
      return value ? std::optional{scalar{none, *value}} : std::nullopt;
    }
    if (name == "convert" || name == "reshape" || name == "broadcast_in_dim") {
      return operand(0);
    }
    if (name == "optimization_barrier") {
      return operand(v.number);
    }
    if (name == "add" || name == "subtract") {
      const auto a = operand(0);
      const auto b = operand(1);
      const bool added = name == "add";
      if (!a || !b || (b->argument != none && (a->argument != none || !added)) || is_large(a->number) ||
          is_large(b->number)) {
        return std::nullopt;
      }
      return scalar{a->argument != none ? a->argument : b->argument,
                    added ? a->number + b->number : a->number - b->number};
    }
    if (name == "call" && (inside == nullptr || inside->depth < 20)) {
      const auto f = p_.callee(o);
      const auto body = f == none ? none : p_.functions[f].body;
      const auto* end = body == none ? nullptr : p_.terminator(body);
      const call here{body, &o, inside, inside == nullptr ? 1 : inside->depth + 1};
      return end != nullptr && v.number < end->num_operands ? find(p_.operands(*end)[v.number], from, &here)
                                                            : std::nullopt;
    }
    return std::nullopt;
  }
  /// Values that a loop around the region passes on from iteration to iteration, as they began.
  std::optional<scalar> unchanged(const value& v, region_id from, const call* inside) {
    const auto owner = v.region == none ? none : p_.regions[v.region].op;
    const auto* loop = owner == none ? nullptr : &p_.ops[owner];
    if (loop == nullptr || plain_name(loop->name) != "while" || loop->num_regions != 2) {
      return std::nullopt;
    }
    const auto body = p_.regions_of(*loop)[1];
    const auto* next = p_.terminator(body);
    const auto i = v.number;
    const bool stays = next != nullptr && i < std::min(next->num_operands, loop->num_operands) &&
                       i < p_.regions[body].num_arguments &&
                       p_.operands(*next)[i] == p_.regions[body].first_argument + i;
    return stays ? find(p_.operands(*loop)[i], from, inside) : std::nullopt;
  }

  const program& p_;
  int left_ = 0;
};

inline std::string_view comparison(const program& p, const operation& compare) {
  auto text = p.attribute_of(compare, "word");
  if (const auto direction = p.attribute_of(compare, "comparison_direction"); !direction.empty()) {
    text = direction.ends_with('>') ? direction.substr(0, direction.size() - 1) : direction;
  }
  return text.size() >= 2 ? text.substr(text.size() - 2) : text;
}

} // namespace detail

/// The trip count of a `while`: its condition compares a counter, which begins as a constant and to which the
/// body adds a constant, with a constant. Nothing for other loops, and for those that never end. Complexity: a few
/// hundred steps at most.
inline std::optional<double> trips_of(const program& p, const operation& loop) {
  if (loop.num_regions != 2) {
    return std::nullopt;
  }
  const auto condition = p.regions_of(loop)[0];
  const auto body = p.regions_of(loop)[1];
  const auto* decision = p.terminator(condition);
  const auto* next = p.terminator(body);
  if (decision == nullptr || next == nullptr || decision->num_operands != 1) {
    return std::nullopt;
  }
  const auto& decided = p.values[p.operands(*decision)[0]];
  if (decided.op == none || plain_name(p.ops[decided.op].name) != "compare" || p.ops[decided.op].num_operands != 2) {
    return std::nullopt;
  }
  const auto& compare = p.ops[decided.op];
  detail::scalars scalar_of{p};
  const auto initial = [&](std::uint32_t argument) -> std::optional<std::int64_t> {
    if (argument >= loop.num_operands) {
      return std::nullopt;
    }
    const auto x = scalar_of(p.operands(loop)[argument], none);
    return x && x->argument == none ? std::optional{x->number} : std::nullopt;
  };
  const auto step = [&](std::uint32_t argument) -> std::optional<std::int64_t> {
    if (argument >= next->num_operands) {
      return std::nullopt;
    }
    const auto x = scalar_of(p.operands(*next)[argument], body);
    return x && x->argument == argument ? std::optional{x->number} : std::nullopt;
  };

  auto left = scalar_of(p.operands(compare)[0], condition);
  auto right = scalar_of(p.operands(compare)[1], condition);
  auto direction = detail::comparison(p, compare);
  if (!left || !right) {
    return std::nullopt;
  }
  for (auto* side : {&left, &right}) { // what the loop carries along unchanged is a constant, too
    const auto start = (*side)->argument != none ? initial((*side)->argument) : std::nullopt;
    if (start && step((*side)->argument) == 0 && !detail::is_large(*start) && !detail::is_large((*side)->number)) {
      *side = detail::scalar{none, (*side)->number + *start};
    }
  }
  if (left->argument == none) {
    std::swap(left, right);
    direction = direction == "LT" ? "GT" : direction == "LE" ? "GE" : direction == "GT" ? "LT"
                : direction == "GE" ? "LE" : direction;
  }
  if (left->argument == none || right->argument != none) {
    return std::nullopt;
  }
  const auto start = initial(left->argument);
  const auto by = step(left->argument);
  if (!start || !by) {
    return std::nullopt;
  }
  const bool down = direction.starts_with('G');
  const double change = static_cast<double>(*by) * (down ? -1 : 1);
  const double way = (static_cast<double>(right->number) - static_cast<double>(left->number) -
                      static_cast<double>(*start)) * (down ? -1 : 1);
  const double rounds = way / change; // infinite, or none at all, for a counter that stays
  if (direction == "EQ" || direction == "NE") {
    const bool begins = (way == 0) == (direction == "EQ");
    const double last = direction == "EQ" ? 1 : rounds;
    return !begins                                                ? std::optional{0.0}
           : change != 0 && last > 0 && last == std::floor(last) ? std::optional{last}
                                                                   : std::nullopt;
  }
  if (direction != "LT" && direction != "LE" && !down) {
    return std::nullopt;
  }
  const bool or_equal = direction.ends_with('E');
  return way < 0 || (way == 0 && !or_equal) ? std::optional{0.0}
         : change <= 0                      ? std::nullopt
         : or_equal                         ? std::optional{std::floor(rounds) + 1}
                                            : std::optional{std::ceil(rounds)};
}

} // namespace weft::stablehlo
