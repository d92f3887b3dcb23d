// SPDX-License-Identifier: BSL-1.0
/// Memory, importance, traffic and execution time in one product.
#pragma once

#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"
#include "weft/partition/assignment.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/partition/importance.hpp"
#include "weft/partition/traffic.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace weft::partition {

/// MITE: colocation groups in descending demand, then single ops in topological order, each go to the fitting device d
/// with the smallest product of four terms (ties: the smaller id): **m**emory, the share of d in use; **i**mportance, 1
/// − importance · relative speed of d, so that ops on long paths go to fast devices; **t**raffic, the transfer time
/// added with placed neighbours; **e**xecution, the compute time of d with the component on it. Traffic and execution
/// are normalised by their largest value among the fitting devices, importance by the largest of all ops (a group
/// counts the mean of its members). So that a term of 0 does not cancel the others, it is replaced by `zero_term`, for
/// memory by a tenth of the least share in use.
/// Departs: the published code visits components in the order of a hash table and truncates traffic to integers, so its
/// plans differ from run to run. Here the order is defined and numbers are exact.
/// Source: [CP] §3. Complexity: O(devices · (n + traffic of each op)). Uses no randomness.
/// Choose it to compare with [CP], or where balanced memory matters more than time.
struct mite {
  double zero_term = 1e-6; ///< replaces a term of 0

  template <class Problem>
  constexpr outcome<placement> operator()(const Problem& p, rng&, workspace&) const {
    assignment a{p};
    execution_and_traffic<Problem> value{p, zero_term};
    const auto imp = importance(p);
    const double largest = imp.empty() ? 0 : *std::max_element(imp.begin(), imp.end());
    for (const component_id c : sequence(p)) {
      double mean = 0;
      for (const op_id v : p.members(c)) {
        mean += imp[v];
      }
      const double relative = largest > 0 ? mean / (largest * static_cast<double>(p.members(c).size())) : 0;
      value.look_at(c, a);
      const device_id d = choose(p, a, c, relative, value);
      if (d == none) {
        return a.why_unplaced(c);
      }
      a.place(c, d);
    }
    return std::move(a).take();
  }

private:
  template <class Problem>
  static constexpr std::vector<component_id> sequence(const Problem& p) {
    std::vector<component_id> result;
    result.reserve(p.num_components());
    for (component_id c = 0; c < p.num_components() && p.is_group(c); ++c) {
      result.push_back(c);
    }
    weft::sort(result, [&](component_id x, component_id y) {
      return p.demand(x) != p.demand(y) ? p.demand(x) > p.demand(y) : x < y;
    });
    for (const op_id v : p.topological_order()) {
      if (!p.is_group(p.component(v))) {
        result.push_back(p.component(v));
      }
    }
    return result;
  }

  template <class Problem>
  static constexpr device_id choose(const Problem& p, const assignment<Problem>& a, component_id c,
                                    double relative_importance, const execution_and_traffic<Problem>& value) {
    double fastest = std::numeric_limits<double>::infinity();
    double least_use = 1;
    for (const device_id d : ids(p.num_devices())) {
      if (a.fits(c, d)) {
        fastest = std::min(fastest, value.own_seconds(d));
        if (const double use = share_in_use(p, a, d); use > 0) {
          least_use = std::min(least_use, use);
        }
      }
    }
    return a.best_fit(c, [&](device_id d) {
      const bool ends = fastest < std::numeric_limits<double>::infinity();
      const double speed = value.own_seconds(d) > 0 && ends ? fastest / value.own_seconds(d) : 1;
      const double use = share_in_use(p, a, d);
      const double term = value.term(1 - rounded(relative_importance * speed));
      return value.product(d) * term * (use == 0 ? least_use / 10 : use);
    });
  }

  template <class Problem>
  static constexpr double share_in_use(const Problem& p, const assignment<Problem>& a, device_id d) {
    const auto capacity = p.capacity(d);
    return capacity == 0 ? 1 : static_cast<double>(capacity - a.free(d)) / static_cast<double>(capacity);
  }
};

} // namespace weft::partition
