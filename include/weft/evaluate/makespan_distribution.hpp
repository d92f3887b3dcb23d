// SPDX-License-Identifier: BSL-1.0
/// The distribution of a plan's makespan when times are uncertain, and the criticality of its ops.
#pragma once

#include "weft/evaluate/risk_measure.hpp"

#include <vector>

namespace weft {

/// The distribution of a plan's makespan.
struct makespan_distribution {
  double estimate = 0;                  ///< the makespan if all times are as estimated
  std::vector<double> makespans = {};   ///< seconds, by sample
  std::vector<double> criticality = {}; ///< by op: the share of samples in which it is on a longest path of the run

  double of(objective::risk_measure m) const {
    auto values = makespans;
    return m.of(values);
  }
  double mean() const { return of(objective::mean); }
  double quantile(double level) const { return of(objective::quantile(level)); }
  double conditional_value_at_risk(double level) const { return of(objective::conditional_value_at_risk(level)); }
};

} // namespace weft
