// SPDX-License-Identifier: BSL-1.0
/// The catalogue of ops: what is known of an op by its type, whatever format it comes from. Readers of models, cost
/// models and training steps all ask here.
#pragma once

#include "weft/ops/detail/compiler_table.hpp"
#include "weft/ops/detail/framework_table.hpp"
#include "weft/ops/rows_by_type.hpp"
#include "weft/ops/facts.hpp" // IWYU pragma: export

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

namespace weft::ops {

namespace detail {

/// Every type of the tables, ascending, made when the first one is asked for.
inline const std::vector<typed_row<family>>& ops_by_type() {
  static const auto made = rows_by_type<family>({op_table, compiler_op_table});
  return made;
}

} // namespace detail

/// The type without what comes before its last '.', ':' or '_' at the front (a domain, a mark of fused ops), and
/// without a version such as V2 or the '_' of PyTorch's ops that write into their input at its end.
constexpr std::string_view plain_type(std::string_view type) {
  if (const auto domain = type.find_last_of(".:"); domain != type.npos) {
    type.remove_prefix(domain + 1);
  }
  while (type.starts_with('_')) {
    type.remove_prefix(1);
  }
  if (type.size() > 1 && type.ends_with('_')) {
    type.remove_suffix(1);
  }
  const auto last = type.find_last_not_of("0123456789");
  if (last != type.npos && last > 0 && last + 1 < type.size() && type[last] == 'V') {
    type = type.substr(0, last);
  }
  return type;
}

/// The facts about ops of this very type, or null. Complexity: O(log of the number of known types).
inline const facts* find(std::string_view type) {
  const auto* family = find_row(detail::ops_by_type(), type);
  return family != nullptr ? &family->facts : nullptr;
}

/// The first of these types that is known, or null: from the most particular name of an op to the most general.
inline const facts* find(std::initializer_list<std::string_view> types) {
  for (const auto type : types) {
    if (const auto* found = find(type)) {
      return found;
    }
  }
  return nullptr;
}

/// The facts about ops of that type, or else of its plain name, without domain and version; or null.
inline const facts* find_by_name(std::string_view type) {
  return find({type, plain_type(type)});
}

/// The same. Types that nobody knows are differentiable, cost as much backward as forward, and their gradients read
/// what they read and what they made; without work and inputs they are variables.
inline facts facts_of(std::string_view type) {
  const auto* found = find_by_name(type);
  return found != nullptr ? *found : facts{.gradient = {.variable = true}};
}

/// The use that ops of that type make of a device; nothing if the type is not known. Beside the types of the tables
/// those that training steps add are: `Loss`, and gradients of known types, such as `AddGrad`.
inline std::optional<device_use> use_of(std::string_view type) {
  if (const auto* found = find_by_name(type)) {
    return found->use;
  }
  constexpr std::string_view gradient = "Grad";
  const auto forward = type.substr(0, type.size() - (type.ends_with(gradient) ? gradient.size() : 0));
  const bool is_known = forward == "Loss" || (forward != type && find_by_name(forward) != nullptr);
  return is_known ? std::optional{device_use::other} : std::nullopt;
}

/// True if an op makes each element from the inputs' elements in its place alone. TensorFlow's Where of one tensor does
/// not: it lists places.
inline bool is_elementwise(std::string_view type, std::size_t num_inputs) {
  return facts_of(type).in_place && !(type == "Where" && num_inputs == 1);
}

} // namespace weft::ops
