// SPDX-License-Identifier: BSL-1.0
/// The charges of an objective for the items of an incremental schedule.
#pragma once

#include "weft/core/exact_sum.hpp"
#include "weft/core/revertible.hpp"
#include "weft/evaluate/concepts.hpp"
#include "weft/schedule/changing_flow.hpp"

#include <cmath>

namespace weft::refine::detail {

/// Where the objective is no sum, nothing is charged, and the value is the makespan.
template <class Problem, class Objective>
class item_charges {
public:
  static constexpr bool is_sum = objective_parts::is_sum<Objective, Problem>;

  item_charges(const Problem& p, const Objective& o, std::size_t num_items) : objective_{o} {
    if constexpr (is_sum) {
      price_ = o.price(p);
      charge_ = revertible<double>(num_items);
    }
  }

  /// What is charged for an op on a device, wherever it is now.
  double of(const Problem& p, op_id v, device_id d) const {
    if constexpr (is_sum) {
      return objective_.op_charge(p, v, d);
    } else {
      return 0;
    }
  }
  double value_of(double makespan, double charges) const {
    if constexpr (is_sum) {
      return price_.of(makespan) + charges;
    } else {
      return makespan;
    }
  }
  double late(double makespan) const {
    if constexpr (is_sum) {
      return makespan > price_.deadline ? makespan - price_.deadline : 0;
    } else {
      return 0;
    }
  }
  double committed() const { return committed_.value(); }
  double pending() const { return pending_.value(); }
  /// The largest makespan with which, given the charges, the value can be within `limit`; some more, as sums are
  /// rounded. Negative if none can.
  double max_seconds(double limit) const { return price_.max_seconds(limit + std::abs(limit) * 1e-9 - pending()); }

  /// Charges for i where it is now.
  void set(const Problem& p, const changing_flow& flow, item_id i) {
    if constexpr (is_sum) {
      change(i, flow.is_op(i)
                  ? objective_.op_charge(p, i, flow.device(i))
                  : objective_.transfer_charge(p, flow.tensor(i), flow.device_of(i), flow.destination(i)));
    }
  }
  void take_away(item_id i) {
    if constexpr (is_sum) {
      change(i, 0);
    }
  }
  /// Precondition: no change is pending.
  void restart() {
    charge_.fill(0);
    pending_ = {};
  }
  void commit() {
    charge_.commit();
    committed_ = pending_;
  }
  void rollback() {
    charge_.rollback();
    pending_ = committed_;
  }

private:
  void change(item_id i, double charge) {
    pending_.add(-charge_[i]);
    pending_.add(charge);
    charge_.set(i, charge);
  }

  [[no_unique_address]] Objective objective_;
  objective_parts::price_of_time price_;
  revertible<double> charge_;     // per item, of a sum
  exact_sum committed_, pending_; // of the last commit, and with the changes since
};

} // namespace weft::refine::detail
