// SPDX-License-Identifier: BSL-1.0
/// A run policy that knows estimates, where times turn out to be others.
#pragma once

#include "weft/cost/sampled.hpp"
#include "weft/schedule/keyed_queue.hpp"
#include "weft/simulate/under.hpp"

namespace weft::detail {

/// The ready policy in a run of a problem with costs `cost::sampled`: what it looks at before and while it runs has the
/// estimated times, since nobody knows the others before they have passed: from the moment when a run's durations are
/// known to the simulator, the problem has those of the estimate.
template <class Policy>
struct by_estimates {
  Policy policy;
  cost::draws* drawn;

  template <class Problem>
    requires ready_policy_for<Policy, Problem>
  class queue : public schedule::queue_for<Policy, Problem> {
    using base = schedule::queue_for<Policy, Problem>;

  public:
    explicit queue(const Problem& p) : base{p}, estimated_{p} {}

    void reset(const by_estimates& how, const schedule::context<Problem>& c) {
      how.drawn->select_estimate();
      estimated_.assign(c.flow.placement());
      base::reset(how.policy, schedule::context<Problem>{estimated_, c.order});
    }
    void on_start(item_id i, double now, double)
      requires requires(base& b) { b.on_start(i, now, now); }
    {
      base::on_start(i, now, now + estimated_.duration(i));
    }

  private:
    placed_flow<Problem> estimated_;
  };
};

/// The same run policy, if it is one of those above or one of them on a network and on devices, by estimates.
template <class Policy>
struct estimating {
  using type = by_estimates<Policy>;
  static type of(const Policy& policy, cost::draws& drawn) { return {policy, &drawn}; }
};
template <class Policy, class Network, class Devices>
struct estimating<simulate::under<Policy, Network, Devices>> {
  using type = simulate::under<by_estimates<Policy>, Network, Devices>;
  static type of(const simulate::under<Policy, Network, Devices>& how, cost::draws& drawn) {
    return {{how.policy, &drawn}, how.network, how.devices};
  }
};

} // namespace weft::detail
