// SPDX-License-Identifier: BSL-1.0
/// The concept of a run policy, and the simulator for each kind of policy.
#pragma once

#include "weft/schedule/concepts.hpp"
#include "weft/simulate/simulator.hpp"

namespace weft {
namespace simulate {

/// `type` is the simulator of plans of `Problem` under `Policy`; without it, Policy is none. `runs_teams`: ops have
/// several threads and share devices, so that what holds for slots does not. simulate/under.hpp adds policies on
/// networks and on other devices than those that they are for.
template <class Policy, class Problem>
struct engine {};

template <class Policy, class Problem>
  requires device_model_for<devices_of<Policy>, Problem, Policy>
struct engine<Policy, Problem> {
  using type = simulator<Problem, Policy>;
  static constexpr bool runs_teams = simulate::runs_teams<devices_of<Policy>>;
};

} // namespace simulate

/// Says how a plan is run: a ready policy, one on a network, or, for moldable problems, a concurrency strategy.
template <class S, class Problem>
concept run_policy_for = requires { typename simulate::engine<S, Problem>::type; };

/// One whose devices run an op per slot, as problems have it.
template <class S, class Problem>
concept slot_policy_for = run_policy_for<S, Problem> && !simulate::engine<S, Problem>::runs_teams;

namespace must_be {
template <class S, class Problem>
concept run_policy_for = weft::run_policy_for<S, Problem> || ready_policy_for<S, Problem>;
} // namespace must_be

/// The simulator of plans of a problem under a policy.
template <class Problem, class Policy>
  requires run_policy_for<Policy, Problem>
using simulator_for = typename simulate::engine<Policy, Problem>::type;

} // namespace weft
