// SPDX-License-Identifier: BSL-1.0
/// A StableHLO program as its text says it: functions, regions, operations and the values between them.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/interop/stablehlo/types.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::stablehlo {

/// Numbers of what a `program` holds in lists. Texts are parts of the text that it was read from.
using value_id = std::uint32_t;
using region_id = std::uint32_t;

struct operation {
  std::string_view name;                 ///< `stablehlo.add`
  std::string_view result;               ///< name of its first result, without %
  std::string_view location;             ///< what is in `loc(...)`
  std::size_t at = 0;                    ///< where it begins in the text
  value_id first_result = 0;             ///< the others follow it
  std::uint32_t num_results = 0;
  std::uint32_t first_operand = 0, num_operands = 0;
  std::uint32_t first_attribute = 0, num_attributes = 0;
  std::uint32_t first_region = 0, num_regions = 0;
};

/// Attributes of which costs and calls depend, as text: `key = text`. Besides named ones, `@` is the symbol that an
/// operation names (what it calls), `"` a text without a name, `word` a bare word such as LT, and `value` a constant.
struct attribute {
  std::string_view key;
  std::string_view text;
};

struct value {
  std::uint32_t type = 0;
  std::uint32_t op = none;  ///< that makes it; `none` for an argument
  std::uint32_t number = 0; ///< among the results, or the arguments of its region
  region_id region = none; ///< whose argument it is
};

struct region {
  value_id first_argument = 0; ///< the others follow it
  std::uint32_t num_arguments = 0;
  std::uint32_t first_op = 0, num_ops = 0; ///< in `program::ops_of_regions`
  std::uint32_t op = none;                 ///< whose region it is
};

struct function {
  std::string_view name;
  bool is_public = true;
  region_id body = none;                         ///< `none` for one that is only declared
  std::vector<std::string_view> argument_texts = {}; ///< attributes and location of each argument, as they are written
};

/// Without the quotes around it, if there are any.
constexpr std::string_view unquoted(std::string_view text) {
  return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? text.substr(1, text.size() - 2) : text;
}

struct program {
  std::vector<value_type> types = {};
  std::vector<value> values = {};
  std::vector<operation> ops = {};
  std::vector<value_id> operand_lists = {};
  std::vector<attribute> attribute_lists = {};
  std::vector<region_id> region_lists = {};
  std::vector<region> regions = {};
  std::vector<std::uint32_t> ops_of_regions = {};
  std::vector<function> functions = {};
  std::unordered_map<std::string_view, std::uint32_t> function_numbers = {};
  std::unordered_map<std::string_view, std::string_view> locations = {}; ///< `loc3` for `#loc3 = loc(...)`
  bool has_open_batch = false, has_open_others = false; ///< extents, outermost or others, that the text leaves open

  std::span<const value_id> operands(const operation& o) const {
    return std::span{operand_lists}.subspan(o.first_operand, o.num_operands);
  }
  std::span<const region_id> regions_of(const operation& o) const {
    return std::span{region_lists}.subspan(o.first_region, o.num_regions);
  }
  std::span<const std::uint32_t> ops_in(region_id r) const {
    return std::span{ops_of_regions}.subspan(regions[r].first_op, regions[r].num_ops);
  }
  /// Empty if there is none.
  std::string_view attribute_of(const operation& o, std::string_view key) const {
    for (const auto& a : std::span{attribute_lists}.subspan(o.first_attribute, o.num_attributes)) {
      if (a.key == key) {
        return a.text;
      }
    }
    return {};
  }
  const value_type& type_of(value_id v) const { return types[values[v].type]; }
  /// The type of an operand or result, or one without extents if there is none.
  const value_type& operand_type(const operation& o, std::size_t i) const {
    static const value_type nothing{};
    return i < o.num_operands ? type_of(operand_lists[o.first_operand + i]) : nothing;
  }
  const value_type& result_type(const operation& o, std::size_t i = 0) const {
    static const value_type nothing{};
    return i < o.num_results ? type_of(o.first_result + static_cast<value_id>(i)) : nothing;
  }
  /// A function that an operation calls or is made of; `none` if it names none.
  std::uint32_t callee(const operation& o) const {
    for (const auto key : {"callee", "decomposition", "@"}) {
      const auto text = attribute_of(o, key);
      const auto name = unquoted(text.starts_with('@') ? text.substr(1) : text);
      if (const auto at = function_numbers.find(name); !name.empty() && at != function_numbers.end()) {
        return at->second;
      }
    }
    return none;
  }
  /// The body of the function that an operation calls or is made of; `none` for others.
  region_id body_of_callee(const operation& o) const;
  /// The operation that ends a region and names its results; null if it has none.
  const operation* terminator(region_id r) const {
    const auto list = ops_in(r);
    return list.empty() ? nullptr : &ops[list.back()];
  }
};

/// Without the dialect: `add` of `stablehlo.add`.
constexpr std::string_view plain_name(std::string_view name) {
  return name.substr(name.find_last_of('.') + 1); // of a name without a dot, npos + 1: all of it
}

/// True for one of the names.
template <std::size_t N>
constexpr bool is_one_of(std::string_view name, const std::string_view (&names)[N]) {
  return std::ranges::find(names, name) != std::end(names);
}

inline region_id program::body_of_callee(const operation& o) const {
  const auto name = plain_name(o.name);
  const auto f = name == "call" || name == "composite" ? callee(o) : none;
  return f == none ? none : functions[f].body;
}

/// The target of a `custom_call`.
inline std::string_view target_of(const program& p, const operation& o) {
  const auto name = p.attribute_of(o, "@");
  return unquoted(name.empty() ? p.attribute_of(o, "call_target_name") : name);
}

/// True if an operation only says something about what it passes on.
inline bool is_marker(const program& p, const operation& o) {
  static constexpr std::string_view operations[] = {"stablehlo.optimization_barrier", "sdy.sharding_constraint",
                                                    "sdy.reshard", "sdy.data_flow_edge", "sdy.propagation_barrier"};
  static constexpr std::string_view targets[] = {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
                                                 "xla.sdy.FuncResultSharding", "LayoutConstraint"};
  return o.num_results == o.num_operands &&
         (is_one_of(o.name, operations) ||
          (o.name == "stablehlo.custom_call" && is_one_of(target_of(p, o), targets)));
}

/// True if an operation shows its operand in another shape or type.
inline bool is_view(std::string_view plain_name) {
  static constexpr std::string_view views[] = {"reshape", "transpose", "broadcast_in_dim", "broadcast", "slice",
                                               "convert", "bitcast_convert", "reverse", "copy"};
  return is_one_of(plain_name, views);
}

} // namespace weft::stablehlo
