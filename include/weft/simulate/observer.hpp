// SPDX-License-Identifier: BSL-1.0
/// Watching a run: structs with any subset of the `on_…` members below.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/schedule/placed_flow.hpp"

#include <concepts>

namespace weft::concurrency {
struct launch;
}

namespace weft::simulate {

/// Watches nothing. An observer has any of these members; `k` numbers the transfers of the run, times are seconds:
/// - `on_begin(const placed_flow<Problem>&)`: the placement is known, nothing has run
/// - `on_op_start(op_id, device_id, double now)`, `on_op_finish(op_id, device_id, double now)`
/// - `on_send_start(k, const transfer&, double now)`, `on_send_finish(k, const transfer&, double now)`
/// - `on_transfer(k, const transfer&, double possible, double now)`: a transfer that could begin from `possible` on
///   begins
/// - `on_arrival(k, const transfer&, double now)`: it ends
/// - `on_team(op_id, const concurrency::launch&, double now)`: after `on_op_start`, where ops have teams (manycore.hpp)
struct no_observer {};

namespace detail {

// For each event: does O see it, has O a member of that name which could never be called, and what calls it if it can.
#define WEFT_DETAIL_EVENT(name, ...)                                                                                   \
  template <class O>                                                                                                   \
  concept sees_##name = requires(O& o, const transfer& x, const concurrency::launch& l) { o.name(__VA_ARGS__); };      \
  template <class O>                                                                                                   \
  concept misuses_##name = requires { &O::name; } && !sees_##name<O>;                                                  \
  template <class O, class... Args>                                                                                    \
  constexpr void name(O& o, const Args&... args) {                                                                     \
    if constexpr (sees_##name<O>) {                                                                                    \
      o.name(args...);                                                                                                 \
    }                                                                                                                  \
  }
WEFT_DETAIL_EVENT(on_op_start, op_id{}, device_id{}, 0.0)
WEFT_DETAIL_EVENT(on_op_finish, op_id{}, device_id{}, 0.0)
WEFT_DETAIL_EVENT(on_send_start, 0u, x, 0.0)
WEFT_DETAIL_EVENT(on_send_finish, 0u, x, 0.0)
WEFT_DETAIL_EVENT(on_transfer, 0u, x, 0.0, 0.0)
WEFT_DETAIL_EVENT(on_arrival, 0u, x, 0.0)
WEFT_DETAIL_EVENT(on_team, op_id{}, l, 0.0)
#undef WEFT_DETAIL_EVENT

} // namespace detail

/// O can watch a run: it has at least one of the event members.
template <class O>
concept run_observer = std::same_as<O, no_observer> || detail::sees_on_op_start<O> || detail::sees_on_op_finish<O> ||
                       detail::sees_on_send_start<O> || detail::sees_on_send_finish<O> || detail::sees_on_transfer<O> ||
                       detail::sees_on_arrival<O> || detail::sees_on_team<O>;

/// Turns a mistyped observer into one readable error instead of silence.
template <class O>
constexpr void check_observer() {
  static_assert(run_observer<O>, "weft: this observer has no event member that the simulator calls; give it one of "
                                 "on_op_start, on_op_finish, on_send_start, on_send_finish, on_transfer, on_arrival "
                                 "with the parameters listed in weft/simulate/observer.hpp");
  static_assert(!detail::misuses_on_op_start<O> && !detail::misuses_on_op_finish<O>,
                "weft: on_op_start and on_op_finish take (op_id, device_id, double now)");
  static_assert(
    !detail::misuses_on_send_start<O> && !detail::misuses_on_send_finish<O> && !detail::misuses_on_arrival<O>,
    "weft: on_send_start, on_send_finish and on_arrival take (std::uint32_t k, const transfer&, double now)");
  static_assert(!detail::misuses_on_team<O>, "weft: on_team takes (op_id, const concurrency::launch&, double now)");
  static_assert(!detail::misuses_on_transfer<O>, "weft: on_transfer takes (std::uint32_t k, const transfer&, double "
                                                 "possible, double now)");
}

} // namespace weft::simulate
