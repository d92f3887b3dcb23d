// SPDX-License-Identifier: BSL-1.0
/// The charges of an objective for the items of an incremental schedule.
#pragma once

#include "weft/core/exact_sum.hpp"
#include "weft/core/revertible.hpp"
#include "weft/core/rounding.hpp"
#include "weft/evaluate/concepts.hpp"
#include "weft/schedule/changing_flow.hpp"

#include <cmath>
#include <memory>
#include <utility>

namespace weft::refine::detail {

/// Without a sum nothing is charged, and the value is the makespan.
class item_charges {
public:
  item_charges(std::shared_ptr<const objective_parts::any_sum> sum, std::size_t num_items) : sum_{std::move(sum)} {
    if (sum_) {
      price_ = sum_->price();
      charge_ = revertible<double>(num_items);
    }
  }

  bool is_sum() const { return sum_ != nullptr; }
  /// What is charged for an op on a device, wherever it is now.
  double of(op_id v, device_id d) const { return sum_ ? sum_->op_charge(v, d) : 0; }
  double value_of(double makespan, double charges) const { return sum_ ? price_.of(makespan) + charges : makespan; }
  double late(double makespan) const { return makespan > price_.deadline ? makespan - price_.deadline : 0; }
  double committed() const { return committed_.value(); }
  double pending() const { return pending_.value(); }
  /// The largest makespan with which, given the charges, the value can be within `limit`; some more, as sums are
  /// rounded. Negative if none can.
  double max_seconds(double limit) const {
    return price_.max_seconds(limit + rounded(std::abs(limit) * 1e-9) - pending());
  }

  /// Charges for i where it is now.
  void set(const changing_flow& flow, item_id i) {
    if (sum_) {
      change(i, flow.is_op(i) ? sum_->op_charge(i, flow.device(i))
                              : sum_->transfer_charge(flow.tensor(i), flow.device_of(i), flow.destination(i)));
    }
  }
  void take_away(item_id i) {
    if (sum_) {
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

  std::shared_ptr<const objective_parts::any_sum> sum_;
  objective_parts::price_of_time price_;
  revertible<double> charge_;     // per item, of a sum
  exact_sum committed_, pending_; // of the last commit, and with the changes since
};

} // namespace weft::refine::detail
