// SPDX-License-Identifier: BSL-1.0
/// Tables by types of ops whose rows are about several types each.
#pragma once

#include "weft/core/sort.hpp"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace weft::ops {

template <class Row>
struct typed_row {
  std::string_view type;
  const Row* row;
};

/// Each type of these tables with its row, ascending. `Row::types` has them, separated by blanks. A plain function, not
/// a lambda in an initialiser: that would be implicitly constexpr, and g++ would sort the tables whenever it reads a
/// header with one, in vain and in 86 MB.
template <class Row>
std::vector<typed_row<Row>> rows_by_type(std::initializer_list<std::span<const Row>> tables) {
  std::vector<typed_row<Row>> all;
  for (const auto table : tables) {
    for (const Row& row : table) {
      for (auto rest = row.types; !rest.empty();) {
        const auto end = std::min(rest.find(' '), rest.size());
        all.push_back({rest.substr(0, end), &row});
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
  }
  weft::sort(all, [](const typed_row<Row>& x, const typed_row<Row>& y) { return x.type < y.type; });
  return all;
}

/// The row for this very type, or null. Complexity: O(log of the number of types).
template <class Row>
const Row* find_row(const std::vector<typed_row<Row>>& all, std::string_view type) {
  const auto at = std::lower_bound(all.begin(), all.end(), type,
                                   [](const typed_row<Row>& x, std::string_view t) { return x.type < t; });
  return at != all.end() && at->type == type ? at->row : nullptr;
}

} // namespace weft::ops
