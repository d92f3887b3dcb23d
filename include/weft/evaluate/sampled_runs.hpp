// SPDX-License-Identifier: BSL-1.0
/// Runs of plans in samples of uncertain times.
#pragma once

#include "weft/cost/sampled.hpp"
#include "weft/evaluate/detail/by_estimates.hpp"
#include "weft/evaluate/detail/order_sweep.hpp"
#include "weft/evaluate/makespan_distribution.hpp"
#include "weft/evaluate/slack.hpp"
#include "weft/plan/contention.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/run_policy.hpp"

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace weft {

namespace detail {
template <class Problem>
using sampled_problem =
  problem<typename Problem::workload_type, typename Problem::platform_type, cost::sampled<typename Problem::cost_type>>;

/// The contention model of runs under a policy: the `model` of its network, if it has one.
template <class Policy>
contention_model contention_of(const Policy& policy) {
  if constexpr (requires { contention_model{policy.network.model}; }) {
    return policy.network.model;
  } else {
    return contention_model::none;
  }
}
} // namespace detail

/// Plans of Problem can be run under this policy when times are uncertain: a ready policy, or one on a network, that
/// takes any problem with this workload and platform.
template <class Policy, class Problem>
concept samples_runs_for =
  run_policy_for<typename detail::estimating<Policy>::type, detail::sampled_problem<Problem>>;

/// Runs plans of one problem in all samples of its times. A device under `schedule::static_order` keeps to the order of
/// the plan, or, if that has none, to the one that the estimates say; other policies react: they rank by estimates, but
/// take what is ready. All plans meet the same samples. Refers to the problem. Not for several threads at a time.
///
/// Complexity: per plan a simulation for each sample; for static orders on devices of one slot without contention one
/// simulation and O((n + m) · samples), since samples are followed together. Memory: O((n + m) + samples · (n + m)).
template <class Problem, class Policy>
  requires samples_runs_for<Policy, Problem>
class sampled_runs {
public:
  sampled_runs(const Problem& p, const Policy& policy, const cost::uncertainty& times, cost::sampling how)
      : parts_{std::make_unique<parts>(p, policy, times, how)} {}
  sampled_runs(const Problem&&, const Policy&, const cost::uncertainty&, cost::sampling,
               detail::problem_must_outlive_it = {}) = delete;

  std::uint32_t size() const { return parts_->drawn.size(); }

  /// By sample, until the next call; infinite if a static order contradicts the graph.
  std::span<const double> makespans(const plan& x) {
    auto& all = parts_->makespans;
    if (parts_->sweep) {
      (*parts_->sweep)(x, parts_->drawn, all);
    } else {
      for (std::uint32_t s = 0; s < size(); ++s) {
        all[s] = run(x, s).makespan;
      }
    }
    return all;
  }

  /// The run of a plan in one sample.
  template <class Observer = simulate::no_observer>
  simulation run(const plan& x, std::uint32_t sample, Observer&& observer = {}) {
    parts_->drawn.select(sample);
    return parts_->runs.run(x, observer);
  }

  /// The problem with the times of one sample, until the next call of any member.
  const detail::sampled_problem<Problem>& problem(std::uint32_t sample) {
    parts_->drawn.select(sample);
    return parts_->actual;
  }

private:
  using policy_type = typename detail::estimating<Policy>::type;

  struct parts { // where they refer to each other
    parts(const Problem& p, const Policy& policy, const cost::uncertainty& times, cost::sampling how)
        : drawn{p.workload(), times, how}, actual{p.with_costs(cost::sampled{p.cost(), drawn})},
          runs{actual, detail::estimating<Policy>::of(policy, drawn)}, makespans(how.samples, 0.0) {
      if constexpr (std::same_as<Policy, schedule::static_order>) {
        if (detail::order_sweep<Problem>::covers(p)) {
          sweep.emplace(p);
        }
      }
    }
    cost::draws drawn;
    detail::sampled_problem<Problem> actual;
    simulator_for<detail::sampled_problem<Problem>, policy_type> runs;
    std::optional<detail::order_sweep<Problem>> sweep;
    std::vector<double> makespans;
  };
  std::unique_ptr<parts> parts_;
};

/// Runs a plan in samples of uncertain times.
/// ```
/// const auto spread = sample_makespans(p, r.plan, schedule::static_order{}, cost::lognormal{0.2}, {.samples = 1000});
/// spread.quantile(0.95); // seconds, with probability 0.95
/// ```
/// Of the ops that are on one of several longest paths of equal length, all count as critical (`on_longest_paths`).
/// The transfers before another at a port count on networks whose `model` is `contention_model::port`.
/// Complexity: per sample a simulation and `on_longest_paths`.
template <must_be::problem Problem, class Policy>
  requires samples_runs_for<Policy, Problem>
makespan_distribution sample_makespans(const Problem& p, const plan& x, const Policy& policy,
                                       const cost::uncertainty& times, cost::sampling how = {}) {
  sampled_runs<Problem, Policy> runs{p, policy, times, how};
  makespan_distribution found{.estimate = runs.run(x, runs.size()).makespan,
                              .criticality = std::vector<double>(p.num_ops(), 0.0)};
  trace record;
  for (std::uint32_t s = 0; s < how.samples; ++s) {
    found.makespans.push_back(runs.run(x, s, simulate::recorder{record}).makespan);
    const auto critical = on_longest_paths(p, record, detail::contention_of(policy));
    for (const op_id v : ids(p.num_ops())) {
      found.criticality[v] += critical[v];
    }
  }
  for (double& share : found.criticality) {
    share /= how.samples;
  }
  return found;
}

} // namespace weft
