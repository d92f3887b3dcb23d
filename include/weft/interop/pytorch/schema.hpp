// SPDX-License-Identifier: BSL-1.0
/// Accessors for the JSON schema of exported programs. Source: torch/_export/serde/schema.py, versions 1 to 8.
#pragma once

#include "weft/core/error.hpp"
#include "weft/interop/pytorch/document.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::pytorch::detail {

/// `aten.addmm` of `torch.ops.aten.addmm.default`: without the overload.
inline std::string type_of(std::string_view target) {
  constexpr std::string_view prefix = "torch.ops.";
  if (!target.starts_with(prefix)) {
    return std::string{target};
  }
  target.remove_prefix(prefix.size());
  const auto space = target.find('.');
  const auto overload = target.rfind('.');
  return std::string{overload != target.npos && overload > space ? target.substr(0, overload) : target};
}

/// A member, or one of its members by further keys; null if there is none.
inline const json* find(const json* object) { return object; }
template <class... Keys>
const json* find(const json* object, const char* key, Keys... inner) {
  const auto at = object != nullptr && object->is_object() ? object->find(key) : json::const_iterator{};
  return object != nullptr && object->is_object() && at != object->end() && !at->is_null() ? find(&*at, inner...)
                                                                                           : nullptr;
}
template <class... Keys>
const json* find(const json& object, const char* key, Keys... inner) {
  return find(&object, key, inner...);
}

inline const json& member(const json& object, const char* key, const std::string& where) {
  const auto* found = find(object, key);
  if (found == nullptr) {
    throw error(where + " has no \"" + key + "\": this is not an exported program, or of a version that is not known");
  }
  return *found;
}

inline const json& list(const json& object, const char* key, const std::string& where) {
  const auto& found = member(object, key, where);
  if (!found.is_array()) {
    throw error("\"" + std::string{key} + "\" of " + where + " is not a list");
  }
  return found;
}

/// The members of a list that may be absent.
inline const json& items(const json* list_or_null) {
  static const json nothing = json::array();
  return list_or_null != nullptr && list_or_null->is_array() ? *list_or_null : nothing;
}

/// The members of an object that may be absent.
inline const json& members(const json* object_or_null) {
  static const json nothing = json::object();
  return object_or_null != nullptr && object_or_null->is_object() ? *object_or_null : nothing;
}

/// A text by its keys; empty if there is none.
template <class... Keys>
std::string text(const json& object, const char* key, Keys... inner) {
  const json* const found = find(object, key, inner...);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string{};
}

/// A whole number by its keys; nothing if there is none.
template <class... Keys>
std::optional<double> whole_number(const json& object, const char* key, Keys... inner) {
  const json* const found = find(object, key, inner...);
  return found != nullptr && found->is_number_integer() ? std::optional{found->get<double>()} : std::nullopt;
}

/// The kind of an argument and its value: `as_tensor` and `{"name": "x"}`. Null if it is none.
inline std::pair<std::string_view, const json*> kind_of(const json& argument) {
  if (!argument.is_object() || argument.size() != 1) {
    return {"", nullptr};
  }
  return {argument.begin().key(), &argument.begin().value()};
}

inline std::vector<const json*> graphs_of(const json& node) {
  std::vector<const json*> graphs;
  for (const auto& input : items(find(node, "inputs"))) {
    if (const auto* graph = find(input, "arg", "as_graph", "graph")) {
      graphs.push_back(graph);
    }
  }
  return graphs;
}

/// Adds the names of tensors: of one, or of an argument, of lists of them, and of what has them by name.
inline void add_tensors(const json& given, std::vector<std::string>& names, int depth = 0) {
  if (depth > 8) {
    return;
  }
  if (given.is_array()) {
    for (const auto& item : given) {
      add_tensors(item, names, depth + 1);
    }
  } else if (find(given, "name") != nullptr) {
    names.push_back(text(given, "name"));
  } else if (const auto [kind, value] = kind_of(given); kind == "as_none") {
    names.emplace_back();
  } else if (kind == "as_string_to_argument" && value->is_object()) {
    for (const auto& inner : *value) {
      add_tensors(inner, names, depth + 1);
    }
  } else if (kind.starts_with("as_") && kind.find("tensor") != kind.npos) {
    add_tensors(*value, names, depth + 1);
  }
}

/// Names of the tensors of an argument, "" for each that is none.
inline std::vector<std::string> tensors_of(const json& argument) {
  std::vector<std::string> names;
  add_tensors(argument, names);
  return names;
}

/// The names of numbers that nodes make: of arguments that are `key` of each item, or the items themselves.
inline std::vector<std::string> numbers_of(const json& list, const char* key = nullptr) {
  std::vector<std::string> names;
  const auto add = [&](const json& number) {
    if (auto name = text(number, "as_name"); !name.empty()) {
      names.push_back(std::move(name));
    }
  };
  for (const auto& item : list) {
    const auto* argument = key == nullptr ? &item : find(item, key);
    const auto [kind, value] = argument != nullptr ? kind_of(*argument) : kind_of(json{});
    if (!kind.starts_with("as_sym_")) {
      continue;
    }
    if (!value->is_array()) {
      add(*value);
    } else {
      std::ranges::for_each(*value, add);
    }
  }
  return names;
}

inline std::vector<std::string> results_of(const json& node, const std::string& where) {
  std::vector<std::string> names;
  add_tensors(list(node, "outputs", where), names);
  std::erase(names, "");
  return names;
}

} // namespace weft::pytorch::detail
