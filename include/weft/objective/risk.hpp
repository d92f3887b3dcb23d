// SPDX-License-Identifier: BSL-1.0
/// The makespan when times are uncertain: its mean, a quantile, or the mean of the worst.
#pragma once

#include "weft/bound/best.hpp"
#include "weft/bound/critical_path.hpp"
#include "weft/bound/lower_bound.hpp"
#include "weft/evaluate/risk_measure.hpp"
#include "weft/evaluate/sampled_runs.hpp"
#include "weft/evaluate/score.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace weft::objective {

/// Seconds, where the times of ops and transfers are distributions: every plan is run in the same samples of them, and
/// the score is the measure of its makespans. Of plans that are equal in that, the one with the smaller makespan by the
/// estimates is better.
/// ```
/// const objective::risk cautious{.measure = objective::quantile(0.95), .times = cost::lognormal{0.2}};
/// weft::pipeline(partition::heft{}, refine::local_search{}, weft::evaluation{schedule::static_order{}, cautious});
/// ```
struct risk {
  risk_measure measure = quantile(0.95);
  cost::uncertainty times = cost::lognormal{0.2};
  std::uint32_t samples = 200;
  std::uint64_t seed = 0;

  static constexpr std::string_view unit = "s";

  template <class Problem, class Policy>
  class state {
  public:
    state(const risk& how, const Problem& p, const Policy& policy)
        : measure_{how.measure}, runs_{p, policy, how.times, {how.samples, how.seed}} {}

    weft::score score(const plan& x, const trace& estimate) {
      const auto makespans = runs_.makespans(x);
      values_.assign(makespans.begin(), makespans.end());
      return {0, measure_.of(values_), estimate.makespan};
    }

  private:
    risk_measure measure_;
    sampled_runs<Problem, Policy> runs_;
    std::vector<double> values_;
  };

  template <class Problem, class Policy>
    requires samples_runs_for<Policy, Problem>
  state<Problem, Policy> state_for(const Problem& p, const Policy& policy) const {
    return {*this, p, policy};
  }

  /// The measure of the samples' own lower bounds. No run of any plan in a sample ends sooner than that one's bound,
  /// whatever the policy and the network, and no measure is smaller of values none of which is. Up to 100,000 ops times
  /// samples, these are the best bounds; above, where they would take longer than many plans, the critical paths.
  template <class Problem>
  double bound(const Problem& p, const lower_bound&) const {
    cost::draws drawn{p.workload(), times, {samples, seed}};
    const auto actual = p.with_costs(cost::sampled{p.cost(), drawn});
    const bool few = p.num_ops() <= 100'000 / samples;
    std::vector<double> bounds;
    for (std::uint32_t s = 0; s < samples; ++s) {
      drawn.select(s);
      bounds.push_back(few ? weft::bound::best(actual).value : weft::bound::critical_path(actual));
    }
    return measure.of(bounds);
  }
};

} // namespace weft::objective
