// SPDX-License-Identifier: BSL-1.0
/// Parameters that a training step leaves as they are, chosen by patterns of names.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/pattern.hpp"
#include "weft/workload/model.hpp"
#include "weft/workload/parameter_holders.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/// The parameters of which a training step changes none, and how many there are.
struct frozen_parameters {
  std::vector<byte_count> bytes = {}; ///< per op, of what it holds: for `step_options::frozen` and `stored_as`
  std::size_t count = 0;              ///< of names that are frozen …
  std::size_t all = 0;                ///< … and of all names
  double frozen_bytes = 0;
  double all_bytes = 0;
};

/// A choice by names: patterns, separated by commas, of which the last one that describes a name counts, and `!` before
/// it takes back. A pattern describes a name (`matches`), or the end of one behind a character other than letters,
/// digits and `_`: so `lora_*` describes `lora_A.weight` and `layers.0.query.lora_A.weight`, but not `use_lora_A`.
class name_patterns {
public:
  /// Throws `value_error` for a pattern that is empty.
  explicit name_patterns(std::string_view list) {
    while (true) {
      const auto end = list.find(',');
      auto text = list.substr(0, end);
      const bool takes_back = text.starts_with('!');
      text.remove_prefix(takes_back ? 1 : 0);
      if (text.empty()) {
        throw value_error("frozen parameters", "a pattern is empty; write patterns of names, as in '*,!lora_*'");
      }
      patterns_.push_back({text, !takes_back});
      if (end == list.npos) {
        return;
      }
      list.remove_prefix(end + 1);
    }
  }

  /// True if what has these names is chosen; an empty name is none. Complexity: O(patterns × lengths multiplied).
  bool operator()(std::initializer_list<std::string_view> names) {
    bool chosen = false;
    for (auto& p : patterns_) {
      if (std::any_of(names.begin(), names.end(), [&](std::string_view name) { return describes(p.text, name); })) {
        chosen = p.chooses;
        p.is_used = true;
      }
    }
    return chosen;
  }

  /// The patterns that describe none of the names so far.
  std::vector<std::string_view> unused() const {
    std::vector<std::string_view> found;
    for (const auto& p : patterns_) {
      if (!p.is_used) {
        found.push_back(p.text);
      }
    }
    return found;
  }

private:
  struct pattern {
    std::string_view text;
    bool chooses;
    bool is_used = false;
  };

  static bool describes(std::string_view pattern, std::string_view name) {
    const auto is_part = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    for (std::size_t i = 0; i < name.size(); ++i) {
      if ((i == 0 || !is_part(name[i - 1])) && matches(pattern, name.substr(i))) {
        return true;
      }
    }
    return false;
  }

  std::vector<pattern> patterns_;
};

namespace detail {

/// `op_name(v)` is a name besides for what op v holds. Throws as `frozen`.
template <class OpName>
frozen_parameters frozen_among(std::span<const named_parameter> parameters, std::size_t num_ops,
                               std::string_view patterns, const OpName& op_name) {
  name_patterns chosen{patterns};
  frozen_parameters found{.bytes = std::vector<byte_count>(num_ops, 0)};
  std::set<std::string_view> names, frozen_names;
  for (const auto& p : parameters) {
    const bool is_frozen = chosen({p.name, op_name(p.op)});
    names.insert(p.name);
    found.all_bytes += static_cast<double>(p.bytes);
    if (is_frozen) {
      frozen_names.insert(p.name);
      found.bytes[p.op] += p.bytes;
      found.frozen_bytes += static_cast<double>(p.bytes);
    }
  }
  found.count = frozen_names.size();
  found.all = names.size();
  if (names.empty()) {
    throw value_error("frozen parameters", "the model has no parameters; leave the patterns out");
  }
  if (const auto unused = chosen.unused(); !unused.empty()) {
    std::string examples;
    for (auto name = names.begin(); name != names.end() && std::distance(names.begin(), name) < 3; ++name) {
      examples += std::string{examples.empty() ? "'" : ", '"}.append(*name) + "'";
    }
    throw value_error("frozen parameters", "no parameter is called '" + std::string{unused.front()} +
                                             "'; write patterns of their names, which are " + examples +
                                             (names.size() > 3 ? " and so on" : ""));
  }
  if (found.frozen_bytes == found.all_bytes) {
    throw value_error("frozen parameters", "'" + std::string{patterns} + "' leaves nothing to train; take some "
                                           "parameters back with '!', as in '*,!lora_*'");
  }
  return found;
}

} // namespace detail

/// All parameters of a forward model: those that the file has names for, and by the names of ops what else ops hold
/// that may be trained. Complexity: O(n + parameters).
inline std::vector<named_parameter> parameters_of(const model& m) {
  const auto& w = m.ops;
  std::vector<byte_count> named(w.num_ops(), 0);
  std::vector<named_parameter> found;
  for (const auto& p : m.parameters) {
    named[p.op] += p.bytes;
    if (may_hold_parameters(w, p.op)) {
      found.push_back(p);
    }
  }
  for (const op_id v : ids(w.num_ops())) {
    if (may_hold_parameters(w, v) && w.resident_bytes(v) > named[v]) {
      found.push_back({.name = w.name(v).empty() ? "op_" + std::to_string(v) : std::string{w.name(v)},
                       .op = v,
                       .bytes = w.resident_bytes(v) - named[v]});
    }
  }
  return found;
}

/// The parameters of a forward model that patterns (`name_patterns`) choose by their own names or by those of the ops
/// that hold them. Throws `value_error` if a pattern describes none, or if all are frozen.
/// Complexity: O(n + parameters × patterns).
/// ```
/// const auto step = training_step(m.ops, {.frozen = frozen(m, "*,!lora_*").bytes});
/// ```
inline frozen_parameters frozen(const model& m, std::string_view patterns) {
  return detail::frozen_among(parameters_of(m), m.ops.num_ops(), patterns, [&](op_id v) { return m.ops.name(v); });
}

} // namespace weft
