// SPDX-License-Identifier: BSL-1.0
/// Accessors for the JSON schema of exported programs. Source: torch/_export/serde/schema.py, versions 1 to 8.
#pragma once

#include "weft/core/error.hpp"
#include "weft/interop/pytorch/document.hpp"

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

inline const json* find(const json& object, const char* key) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && at != object.end() && !at->is_null() ? &*at : nullptr;
}

inline const json& member(const json& object, const char* key, const std::string& where) {
  const auto* found = find(object, key);
  if (found == nullptr) {
    throw error(where + " has no \"" + key + "\": this is no exported program, or one of a version that is not known");
  }
  return *found;
}

inline const json& list(const json& object, const char* key, const std::string& where) {
  const auto& found = member(object, key, where);
  if (!found.is_array()) {
    throw error("\"" + std::string{key} + "\" of " + where + " is no list");
  }
  return found;
}

/// The members of a list that may be absent.
inline const json& items(const json* list_or_null) {
  static const json nothing = json::array();
  return list_or_null != nullptr && list_or_null->is_array() ? *list_or_null : nothing;
}

inline std::string text(const json& object, const char* key) {
  const auto* found = find(object, key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string{};
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
    if (const auto* argument = find(input, "arg")) {
      if (const auto* given = find(*argument, "as_graph")) {
        if (const auto* graph = find(*given, "graph")) {
          graphs.push_back(graph);
        }
      }
    }
  }
  return graphs;
}

/// Names of the tensors that a user gives.
inline std::vector<std::string> inputs_of(const json* signature) {
  std::vector<std::string> names;
  for (const auto& spec : items(signature != nullptr ? find(*signature, "input_specs") : nullptr)) {
    if (const auto* given = find(spec, "user_input")) {
      if (const auto* argument = find(*given, "arg")) {
        if (const auto* tensor = find(*argument, "as_tensor")) {
          names.push_back(text(*tensor, "name"));
        }
      }
    }
  }
  return names;
}

/// Adds the names of the tensors of an argument, "" for each that is none.
inline void add_tensors(const json& argument, std::vector<std::string>& names, int depth) {
  const auto [kind, value] = kind_of(argument);
  if (value == nullptr || depth > 8) {
    return;
  }
  const auto each = [&](const json& items, const auto& f) {
    if (items.is_array()) {
      for (const auto& item : items) {
        f(item);
      }
    }
  };
  if (kind == "as_tensor") {
    names.push_back(text(*value, "name"));
  } else if (kind == "as_none") {
    names.emplace_back();
  } else if (kind == "as_tensors") {
    each(*value, [&](const json& t) { names.push_back(text(t, "name")); });
  } else if (kind == "as_optional_tensor") {
    add_tensors(*value, names, depth + 1);
  } else if (kind == "as_optional_tensors") {
    each(*value, [&](const json& t) { add_tensors(t, names, depth + 1); });
  } else if (kind == "as_nested_tensors") {
    each(*value, [&](const json& inner) { each(inner, [&](const json& t) { names.push_back(text(t, "name")); }); });
  } else if (kind == "as_string_to_argument" && value->is_object()) {
    for (const auto& inner : *value) {
      add_tensors(inner, names, depth + 1);
    }
  }
}

/// Names of the tensors of an argument, "" for each that is none.
inline std::vector<std::string> tensors_of(const json& argument) {
  std::vector<std::string> names;
  add_tensors(argument, names, 0);
  return names;
}

/// Adds the names of the sizes and other numbers of an argument that nodes make.
inline void add_numbers(const json& argument, std::vector<std::string>& names) {
  const auto [kind, value] = kind_of(argument);
  if (value == nullptr || !kind.starts_with("as_sym_")) {
    return;
  }
  const auto add = [&](const json& number) {
    if (auto name = text(number, "as_name"); !name.empty()) {
      names.push_back(std::move(name));
    }
  };
  if (!value->is_array()) {
    add(*value);
    return;
  }
  for (const auto& number : *value) {
    add(number);
  }
}

/// The names of numbers that nodes make: of arguments that are `key` of each item, or the items themselves.
inline std::vector<std::string> numbers_of(const json& list, const char* key = nullptr) {
  std::vector<std::string> names;
  for (const auto& item : list) {
    if (const auto* argument = key == nullptr ? &item : find(item, key)) {
      add_numbers(*argument, names);
    }
  }
  return names;
}

inline std::vector<std::string> results_of(const json& node, const std::string& where) {
  std::vector<std::string> names;
  for (const auto& output : list(node, "outputs", where)) {
    for (auto& name : tensors_of(output)) {
      if (!name.empty()) {
        names.push_back(std::move(name));
      }
    }
  }
  return names;
}

} // namespace weft::pytorch::detail
