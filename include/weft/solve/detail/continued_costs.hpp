// SPDX-License-Identifier: BSL-1.0
/// The costs of a problem that goes on from a state (solve/continuation.hpp).
#pragma once

#include "weft/core/ids.hpp"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace weft::solve::detail {

/// What the ops and tensors of a continuation stand for, and the times of what was. Numbers is the type of the instance
/// that is continued.
template <class Numbers>
struct continued_facts {
  struct op_facts {
    op_id op = none;         ///< of the whole problem; `none`: of the past, and takes `seconds`
    device_id only = none;   ///< the one device on which it may run
    double seconds = 0;
  };
  struct tensor_facts {
    tensor_id tensor = none; ///< of the whole problem; `none`: it tells the time only
    std::uint32_t row = none; ///< of what was, in the tables below
    device_id home = none;   ///< it is sent from there to where it is not; `none`: it arrives as the table says
  };

  const Numbers* whole = nullptr;
  std::size_t num_devices = 0; ///< of the whole problem
  std::vector<std::uint8_t> gone = {};
  std::vector<op_facts> ops = {};
  std::vector<tensor_facts> tensors = {};
  std::vector<double> arrival = {};     ///< per row and device: when an op there can use it
  std::vector<std::uint8_t> there = {}; ///< per row and device: whether it need not be sent there
  std::vector<double> soonest = {};     ///< per row: the least arrival
  device_id stand_in[2] = {0, 0};       ///< two devices that are not gone; the same one if there is only one

  bool usable(device_id d) const { return d < num_devices && gone[d] == 0; }
  /// A pair for one in which a device is that no op runs on, so that means and minima over all pairs mean something.
  std::pair<device_id, device_id> pair(device_id from, device_id to) const {
    if (!usable(from)) {
      from = stand_in[usable(to) && stand_in[0] == to ? 1 : 0];
    }
    if (!usable(to)) {
      to = stand_in[stand_in[0] == from ? 1 : 0];
    }
    return {from, to};
  }
  bool is_sent(const tensor_facts& x, device_id to) const {
    return usable(to) && !there[x.row * num_devices + to];
  }
};

/// What ops that have not begun cost is what the whole problem says, and never on devices that are gone. What was is on
/// the past, and comes when it can be used.
template <class Numbers>
class continued_costs {
  static constexpr double never = std::numeric_limits<double>::infinity();

public:
  explicit continued_costs(const continued_facts<Numbers>& facts) : facts_{&facts} {}

  template <class W, class P>
  double compute_time(const W&, op_id v, const P&, device_id d) const {
    const auto& o = facts_->ops[v];
    if (o.op == none) {
      return d == o.only ? o.seconds : never;
    }
    return facts_->usable(d) && (o.only == none || o.only == d) ? facts_->whole->compute_time(o.op, d) : never;
  }
  template <class W, class P>
  double transfer_time(const W&, tensor_id t, const P&, device_id from, device_id to) const {
    const auto& x = facts_->tensors[t];
    if (x.row == none) {
      const auto [a, b] = facts_->pair(from, to);
      return a == b ? 0 : facts_->whole->transfer_time(x.tensor, a, b);
    }
    if (x.home == none) {
      return facts_->usable(to) ? facts_->arrival[x.row * facts_->num_devices + to] : facts_->soonest[x.row];
    }
    return facts_->is_sent(x, to) ? facts_->whole->transfer_time(x.tensor, x.home, to) : 0;
  }
  template <class W, class P>
  double send_time(const W&, tensor_id t, const P&, device_id from, device_id to) const {
    const auto& x = facts_->tensors[t];
    if (x.row == none) {
      const auto [a, b] = facts_->pair(from, to);
      return a == b ? 0 : facts_->whole->send_time(x.tensor, a, b);
    }
    return x.home != none && facts_->is_sent(x, to) ? facts_->whole->send_time(x.tensor, x.home, to) : 0;
  }

private:
  const continued_facts<Numbers>* facts_;
};

} // namespace weft::solve::detail
