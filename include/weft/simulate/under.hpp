// SPDX-License-Identifier: BSL-1.0
/// A ready policy on a network, as one value.
#pragma once

#include "weft/simulate/network.hpp"
#include "weft/simulate/run_policy.hpp"

#include <utility>

namespace weft {
namespace simulate {

/// Says how a plan is run, for all that takes a run policy: pipelines and refiners. What they then minimise is the
/// makespan of that run.
/// ```
/// weft::pipeline(weft::partition::heft{}, weft::refine::simulated_annealing{},
///                weft::simulate::under{weft::schedule::static_order{}, weft::simulate::fair_sharing{}});
/// ```
template <class Policy, class Network>
struct under {
  Policy policy{};
  Network network{};
};
template <class Policy, class Network>
under(Policy, Network) -> under<Policy, Network>;

/// A simulator that is made with an `under`.
template <class Problem, class Policy, class Network>
class simulator_under : public simulator<Problem, Policy, Network> {
public:
  constexpr explicit simulator_under(const Problem& p, const under<Policy, Network>& how = {})
      : simulator<Problem, Policy, Network>{p, how.policy, how.network} {}
};

template <class Policy, class Network, class Problem>
  requires ready_policy_for<Policy, Problem> && network_for<Network, Problem>
struct engine<under<Policy, Network>, Problem> {
  using type = simulator_under<Problem, Policy, Network>;
  static constexpr bool runs_teams = false;
};

} // namespace simulate
} // namespace weft
