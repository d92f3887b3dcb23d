// SPDX-License-Identifier: BSL-1.0
/// Finds numbers by names.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::io::detail {

/// Numbers of things by their names; all are added before any is looked up.
class name_index {
public:
  void reserve(std::size_t count) { entries_.reserve(count); }
  void add(std::string name, std::uint32_t number) { entries_.push_back({std::move(name), number}); }

  /// Must be called before `find`. Two numbers with the same name, ascending, if there are any.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> sort() {
    weft::sort(entries_, [](const entry& a, const entry& b) {
      return a.name != b.name ? a.name < b.name : a.number < b.number;
    });
    const auto twice = std::adjacent_find(entries_.begin(), entries_.end(), same_name);
    return twice == entries_.end() ? std::nullopt : std::optional{std::pair{twice->number, twice[1].number}};
  }

  /// Instead of `sort`: numbers different names 0, 1, 2, … in alphabetical order and returns how many there are.
  std::size_t number_names() {
    (void)sort();
    entries_.erase(std::unique(entries_.begin(), entries_.end(), same_name), entries_.end());
    std::uint32_t next = 0;
    for (auto& e : entries_) {
      e.number = next++;
    }
    return entries_.size();
  }

  /// The number of that name, the smallest if there are several, or `none`.
  std::uint32_t find(std::string_view name) const {
    const auto at =
      std::lower_bound(entries_.begin(), entries_.end(), name, [](const entry& e, auto x) { return e.name < x; });
    return at == entries_.end() || at->name != name ? none : at->number;
  }

private:
  struct entry {
    std::string name;
    std::uint32_t number;
  };
  static bool same_name(const entry& a, const entry& b) { return a.name == b.name; }

  std::vector<entry> entries_;
};

} // namespace weft::io::detail
