// SPDX-License-Identifier: BSL-1.0
/// The concept of a ready policy, which says what a free device runs next.
#pragma once

#include "weft/core/explained.hpp"
#include "weft/plan/plan.hpp"
#include "weft/schedule/placed_flow.hpp"

#include <concepts>
#include <span>

namespace weft {
namespace schedule {

/// Everything that a policy may look at before the run begins.
template <class Problem>
struct context {
  const placed_flow<Problem>& flow;
  const weft::order& order; ///< the plan's order, possibly empty
};

/// Returned by a queue that has nothing to offer now.
inline constexpr item_id nothing = none;

/// A policy that is a **key**: `assign_keys` gives each item a number, once per run; the largest goes first, and
/// among equals the one that became ready first. The simulator keeps the heap.
template <class S, class Problem>
concept key_policy = std::copy_constructible<S> && requires(const S& s, const context<Problem>& c,
                                                            std::span<double> keys) { s.assign_keys(c, keys); };

/// A function `(const placed_flow&, item_id) -> double` is a key policy, too.
template <class S, class Problem>
concept key_function = std::copy_constructible<S> && requires(const S& s, const placed_flow<Problem>& f, item_id i) {
  { s(f, i) } -> std::convertible_to<double>;
};

/// A queue of ready items that serves the devices during a run. `push` hands over an item that became ready; `pop`
/// takes the one that device d should run now, or `nothing` to leave it idle until something changes on it. A queue may
/// also have any of `on_start(item, now, finish)`, `on_finish(item, now)` to watch the run, and `push(item, device,
/// now)`, which is then called instead and saves it from looking the device up.
template <class Q, class S, class Problem>
concept ready_queue = std::constructible_from<Q, const Problem&> &&
                      requires(Q& q, const S& s, const context<Problem>& c, item_id i, device_id d, double now) {
                        q.reset(s, c);
                        q.push(i, now);
                        { q.pop(d, now) } -> std::same_as<item_id>;
                      };

/// A policy that is a **selection**: it brings a queue of its own, `S::queue<Problem>`, which may look at the run.
template <class S, class Problem>
concept selection_policy = std::copy_constructible<S> && ready_queue<typename S::template queue<Problem>, S, Problem>;

} // namespace schedule

/// A policy for what a free device runs next.
template <class S, class Problem>
concept ready_policy_for =
  schedule::key_policy<S, Problem> || schedule::key_function<S, Problem> || schedule::selection_policy<S, Problem>;

namespace why_not {
template <class S, class Problem>
struct ready_policy_for {
  static constexpr bool is_function = requires(const S& s, const placed_flow<Problem>& f, item_id i) { s(f, i); };
  static constexpr bool has_keys =
    requires(const S& s, const schedule::context<Problem>& c, std::span<double> keys) { s.assign_keys(c, keys); };
  static constexpr bool lacks_const =
    called_only_if_mutable<S, const placed_flow<Problem>&, item_id> ||
    (!has_keys &&
     requires(S& s, const schedule::context<Problem>& c, std::span<double> keys) { s.assign_keys(c, keys); });
  static constexpr bool has_queue = requires { typename S::template queue<Problem>; };
  static_assert(is_function || !lacks_const,
                "weft: operator() or assign_keys of this ready policy is not const, and a policy holds options and no "
                "state of a run: add const, or leave out mutable of a lambda; what changes during a run belongs into "
                "a queue<Problem>; see docs/concepts/ready_policy_for.md");
  static_assert(std::copy_constructible<S>, "weft: a ready policy is kept by value, so it must be copyable");
  static_assert(!is_function || !std::copy_constructible<S>,
                "weft: a ready policy that is a function of (placed_flow, item_id) returns a number, the largest goes "
                "first; this one returns something else; see docs/concepts/ready_policy_for.md");
  static_assert(is_function || !has_queue,
                "weft: the queue of this ready policy lacks a constructor of (problem), reset(policy, context), "
                "push(item_id, double now) or pop(device_id, double now), an item_id; see "
                "docs/concepts/ready_policy_for.md");
  static_assert(is_function || has_queue || has_keys || lacks_const,
                "weft: this is not a ready policy, which the last stage of a pipeline must be, such as "
                "schedule::path_completion_time{}: it has neither assign_keys(context, span<double>) const nor a "
                "queue<Problem>, and is not a function of (placed_flow, item_id); a concurrency strategy, such as "
                "concurrency::s1_s2_s3, may stand there for moldable problems, with weft/simulate/manycore.hpp; see "
                "docs/concepts/ready_policy_for.md");
};
} // namespace why_not

namespace must_be {
template <class S, class Problem>
concept ready_policy_for = weft::ready_policy_for<S, Problem> || explained<why_not::ready_policy_for<S, Problem>>;
} // namespace must_be

} // namespace weft
