// SPDX-License-Identifier: BSL-1.0
/// The concept of a device model, which says which of the ready items run when, and for how long.
#pragma once

#include "weft/core/explained.hpp"
#include "weft/schedule/concepts.hpp"
#include "weft/simulate/network.hpp"

#include <concepts>
#include <type_traits>

namespace weft {
namespace simulate {

namespace detail {
/// An archetype of the arguments of `serve` and `advance`.
struct any_call {
  template <class... More>
  constexpr void operator()(std::uint32_t, const More&...) const {}
};
} // namespace detail

/// S says what runs: `reset(flow, order)` before a run; `push(i, d, now)` when item i may run on device d; and, when
/// everything that ends at an instant has ended and something became ready or ended on d, `serve(d, now, begin)`: it
/// calls `begin(i, finish)` for each item that starts there now. `release(i, d, now)`, if there is one, says that i has
/// ended; `num_places()`, how many items can be under way at once, at most.
template <class S, class Problem>
concept runs_items = requires(S& s, const placed_flow<Problem>& flow, const order& steps, item_id i, device_id d,
                              double now, detail::any_call begin) {
  s.reset(flow, steps);
  s.push(i, d, now);
  s.serve(d, now, begin);
};

/// S decides when items end, too, so that it can change its mind while they run: `advance(now, finish, wake)` lets the
/// first thing happen that does at `next()`: it calls `finish(i)` for what ends, and `wake(d)` for a device that is to
/// be served although nothing ended there. Then there is no finish to tell: it calls `begin(i)`, or `begin(i, launch)`
/// for an op with a team.
template <class S>
concept ends_items =
  has_instants<S> && requires(S& s, double now, detail::any_call call) { s.advance(now, call, call); };

/// A model of devices: how many items run on one at a time and how long they take. A copyable value that holds options;
/// `d.state_for(problem, policy)` makes what runs under a policy need. A model under which ops have several threads, so
/// that devices may be faster than with an op per slot, says so: `static constexpr bool runs_teams = true`.
template <class D, class Problem, class Policy>
concept device_model_for = requires(const D& d, const Problem& p, const Policy& policy) {
  { d.state_for(p, policy) } -> runs_items<std::remove_const_t<Problem>>;
} && std::copy_constructible<D>;

template <class D>
inline constexpr bool runs_teams = false;
template <class D>
  requires(D::runs_teams)
inline constexpr bool runs_teams<D> = true;

struct slot_devices;
namespace detail {
template <class Policy>
struct devices_of {
  using type = slot_devices;
};
template <class Policy>
  requires requires { typename Policy::devices; }
struct devices_of<Policy> {
  using type = typename Policy::devices;
};
} // namespace detail

/// The devices that a policy is for unless something else is said: `Policy::devices`, or else those with slots.
template <class Policy>
using devices_of = typename detail::devices_of<Policy>::type;

} // namespace simulate

namespace why_not {
template <class D, class Problem, class Policy>
struct device_model_for {
  static_assert(simulate::device_model_for<D, Problem, Policy>,
                "weft: this is not a device model for this policy: a device model is a copyable value with "
                "state_for(problem, policy) const, whose result has reset(placed_flow, order), push(item_id, "
                "device_id, double now) and serve(device_id, double now, begin); those of concurrency strategies are "
                "in weft/simulate/manycore.hpp; see docs/concepts/device_model_for.md");
};
template <class Problem, class Policy>
struct device_model_for<simulate::slot_devices, Problem, Policy> : ready_policy_for<Policy, Problem> {};
} // namespace why_not

namespace must_be {
template <class D, class Problem, class Policy>
concept device_model_for =
  simulate::device_model_for<D, Problem, Policy> || explained<why_not::device_model_for<D, Problem, Policy>>;
} // namespace must_be

} // namespace weft
