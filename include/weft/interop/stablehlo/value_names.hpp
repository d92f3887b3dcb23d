// SPDX-License-Identifier: BSL-1.0
/// Scoped symbol tables: from the names in the text of a StableHLO program to its values, region by region.
#pragma once

#include "weft/interop/stablehlo/program.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::stablehlo::detail {

/// Names are known until the region ends in which they were defined. A function sees nothing of what is around it.
class value_names {
public:
  struct entry {
    value_id first = 0; ///< the others follow it
    std::uint32_t count = 0;
    std::uint32_t function = 0;
  };

  /// What a name means, or nothing.
  std::optional<entry> find(std::string_view name) const {
    const auto at = names_.find(name);
    return at == names_.end() || at->second.function != function_ ? std::nullopt : std::optional{at->second};
  }
  void define(std::string_view name, value_id first, std::uint32_t count) {
    auto& here = names_[name];
    shadowed_.emplace_back(name, here);
    here = {first, count, function_};
  }

  /// A region or a function begins; what `enter` returned ends it.
  std::size_t enter() const { return shadowed_.size(); }
  void leave(std::size_t depth) {
    for (; shadowed_.size() > depth; shadowed_.pop_back()) {
      const auto& [name, before] = shadowed_.back();
      if (before.count == 0) {
        names_.erase(name);
      } else {
        names_[name] = before;
      }
    }
  }
  std::uint32_t enter_function() { return std::exchange(function_, ++functions_); }
  void leave_function(std::uint32_t outer) { function_ = outer; }

private:
  std::unordered_map<std::string_view, entry> names_;
  std::vector<std::pair<std::string_view, entry>> shadowed_; // what names meant before, in the regions that are open
  std::uint32_t function_ = 0;
  std::uint32_t functions_ = 0;
};

} // namespace weft::stablehlo::detail
