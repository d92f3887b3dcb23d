// SPDX-License-Identifier: BSL-1.0
/// Scoped symbol tables: from the names in the text of a StableHLO program to its values, region by region.
#pragma once

#include "weft/interop/stablehlo/program.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::stablehlo::detail {

/// Names are known until the region ends in which they were defined.
class value_names {
public:
  struct entry {
    value_id first = 0; ///< the others follow it
    std::uint32_t count = 0;
  };

  /// The meaning of a name; null if it has none.
  const entry* find(std::string_view name) const {
    const auto at = names_.find(name);
    return at == names_.end() || at->second.count == 0 ? nullptr : &at->second;
  }
  void define(std::string_view name, value_id first, std::uint32_t count) {
    shadowed_.emplace_back(name, std::exchange(names_[name], {first, count}));
  }

  /// A region begins; what `enter` returned ends it.
  std::size_t enter() const { return shadowed_.size(); }
  void leave(std::size_t depth) {
    for (; shadowed_.size() > depth; shadowed_.pop_back()) {
      names_[shadowed_.back().first] = shadowed_.back().second;
    }
  }

private:
  std::unordered_map<std::string_view, entry> names_;
  std::vector<std::pair<std::string_view, entry>> shadowed_; // what names meant before, in the regions that are open
};

} // namespace weft::stablehlo::detail
