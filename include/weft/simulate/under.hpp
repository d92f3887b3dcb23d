// SPDX-License-Identifier: BSL-1.0
/// A policy on a network and on devices, as one value.
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
template <class Policy, class Network = no_contention, class Devices = devices_of<Policy>>
struct under {
  Policy policy{};
  Network network{};
  Devices devices{};
};
template <class Policy, class Network>
under(Policy, Network) -> under<Policy, Network>;
template <class Policy, class Network, class Devices>
under(Policy, Network, Devices) -> under<Policy, Network, Devices>;

/// A simulator that is made with an `under`.
template <class Problem, class Policy, class Network, class Devices>
class simulator_under : public simulator<Problem, Policy, Network, Devices> {
public:
  constexpr explicit simulator_under(const Problem& p, const under<Policy, Network, Devices>& how = {})
      : simulator<Problem, Policy, Network, Devices>{p, how.policy, how.network, how.devices} {}
  explicit simulator_under(const Problem&&, const under<Policy, Network, Devices>& = {},
                           weft::detail::problem_must_outlive_it = {}) = delete;
};

template <class Policy, class Network, class Devices, class Problem>
  requires network_for<Network, Problem> && device_model_for<Devices, Problem, Policy>
struct engine<under<Policy, Network, Devices>, Problem> {
  using type = simulator_under<Problem, Policy, Network, Devices>;
  static constexpr bool runs_teams = simulate::runs_teams<Devices>;
};

} // namespace simulate
} // namespace weft
