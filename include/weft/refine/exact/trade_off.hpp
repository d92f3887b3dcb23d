// SPDX-License-Identifier: BSL-1.0
/// All trade-offs between the makespan and another objective of a small problem, by trying all placements.
#pragma once

#include "weft/core/rounding.hpp"
#include "weft/evaluate/concepts.hpp"
#include "weft/evaluate/pareto_front.hpp"
#include "weft/partition/assignment.hpp"
#include "weft/problem.hpp"
#include "weft/refine/detail/sequencing.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft::refine::exact {

/// Adds to a front all points that its bounds and its points leave open. Where a value is a price of time and charges
/// for what is where, of the plans of one placement the fastest has the least value, so orders are searched for the
/// makespan alone, and only as far as the front is not reached. Placements keep to the reservations; orders are for
/// `schedule::static_order`. Complexity: exponential.
template <class Problem, class Objective>
  requires objective_parts::is_sum<Objective, Problem>
class trade_off {
public:
  /// Tries up to so many placements of single components and visits of items. Precondition: the front has bounds.
  trade_off(const Problem& p, const Objective& o, std::uint64_t visits, pareto_front& front)
      : p_{p}, o_{o}, price_{o.price(p)}, left_{visits}, front_{front}, where_{p}, sequencing_{p},
        rest_(p.num_components() + 1, 0.0) {
    for (component_id c = static_cast<component_id>(p.num_components()); c-- > 0;) {
      double least = std::numeric_limits<double>::infinity();
      for (const device_id d : ids(p.num_devices())) {
        least = p.allows(c, d) ? std::min(least, charge(c, d)) : least;
      }
      rest_[c] = rest_[c + 1] + least;
    }
  }

  /// Whether all were tried.
  bool run() {
    place(where_, 0, 0);
    return left_ > 0;
  }

private:
  bool spend(std::uint64_t visits) {
    left_ -= std::min(left_, visits);
    return left_ > 0;
  }

  double charge(component_id c, device_id d) const {
    double sum = 0;
    for (const op_id v : p_.members(c)) {
      sum += o_.op_charge(p_, v, d);
    }
    return sum;
  }

  void place(const partition::assignment<Problem>& so_far, component_id c, double charges) {
    double makespan = front_.makespan_bound.value; // at least
    for (const device_id d : ids(p_.num_devices())) {
      makespan = std::max(makespan, so_far.load(d) / p_.platform().slots(d));
    }
    if (!spend(1) || front_.dominated(makespan, price_.of(makespan) + charges + rest_[c])) {
      return;
    }
    if (c == p_.num_components()) {
      return order(partition::assignment<Problem>{so_far}.take(), charges);
    }
    for (const device_id d : ids(p_.num_devices())) {
      if (so_far.fits(c, d)) {
        auto next = so_far;
        next.place(c, d);
        place(next, c + 1, charges + charge(c, d));
      }
    }
  }

  void order(const placement& where, double charges) {
    for (const tensor_id t : ids(p_.num_tensors())) {
      const device_id from = where[p_.workload().producer(t)];
      std::vector<device_id> reached{from};
      for (const op_id c : p_.workload().consumers(t)) {
        if (std::find(reached.begin(), reached.end(), where[c]) == reached.end()) {
          reached.push_back(where[c]);
          charges += o_.transfer_charge(p_, t, from, where[c]);
        }
      }
    }
    double limit = std::numeric_limits<double>::infinity(); // from there on the front is reached
    for (const pareto_point& x : front_.points) {
      const double as_dear = charges >= x.value ? 0 : price_.max_seconds(x.value - charges);
      limit = std::min(limit, std::max(x.makespan, as_dear));
    }
    const double makespan = sequencing_.minimise(where, limit, [this](std::uint64_t n) { return spend(n); });
    if (makespan < limit) {
      front_.offer({{where, sequencing_.best_order()}, makespan, price_.of(makespan) + charges});
    }
  }

  const Problem& p_;
  const Objective& o_;
  objective_parts::price_of_time price_;
  std::uint64_t left_;
  pareto_front& front_;
  partition::assignment<Problem> where_;
  detail::sequencing<Problem> sequencing_;
  std::vector<double> rest_; // by component: the least that it and those after it are charged
};

} // namespace weft::refine::exact
