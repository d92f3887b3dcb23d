// SPDX-License-Identifier: BSL-1.0
/// Rooflines with tables of efficiencies.
#pragma once

#include "weft/cost/efficiency.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/planner/costs.hpp"

#include <memory>
#include <utility>

namespace weft::planner::detail {

/// A roofline with the table of efficiencies that it looks types up in.
struct typical_roofline : cost::roofline {
  explicit typical_roofline(cost::efficiency_table t)
      : table{std::make_shared<const cost::efficiency_table>(std::move(t))} {
    efficiencies = table.get();
  }
  std::shared_ptr<const cost::efficiency_table> table;
};

/// The costs of `typical_costs`.
inline step_costs rooflines_of(const cost::typical_of& what) {
  const auto table = [&](bool counts_launches) {
    auto with = what;
    with.counts_launches = counts_launches;
    return any_cost{typical_roofline{cost::typical_efficiencies(with)}};
  };
  const auto launched = table(true);
  return {launched, table(false), launched, what.how};
}

} // namespace weft::planner::detail
