// SPDX-License-Identifier: BSL-1.0
/// Times as functions of threads: of one op (a curve), and of all ops of a workload (a moldable cost model).
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/readable.hpp"
#include "weft/platform/machine.hpp"
#include "weft/problem.hpp"
#include "weft/workload/concepts.hpp"

#include <concepts>
#include <string>

namespace weft {

/// `c(team)` is the time of one op in seconds, finite and positive, when it runs alone with that team. Ops whose time
/// depends on the number of threads are called moldable.
template <class C>
concept moldable_curve = std::copy_constructible<C> && requires(const C& c, team t) {
  { c(t) } -> std::convertible_to<double>;
};

namespace concurrency_parts {

/// C tells how long op v takes on a machine with a team, running alone, in seconds.
template <class C, class W>
concept has_seconds = requires(const C& c, const W& w, op_id v, const machine& m, team t) {
  { c.seconds(w, v, m, t) } -> std::convertible_to<double>;
};

/// C tells how many bytes op v moves to and from memory; with them a simulator lets ops that run side by side share
/// the bandwidth. Optional; without it ops do not slow each other down through memory.
template <class C, class W>
concept has_memory_traffic = requires(const C& c, const W& w, op_id v, const machine& m, team t) {
  { c.memory_traffic(w, v, m, t) } -> std::convertible_to<double>;
};

} // namespace concurrency_parts

/// Turns a workload and a machine into times that depend on the team; see concurrency/roofline.hpp for the usual one
/// and concurrency/profile.hpp for measured ones.
template <class C, class W>
concept moldable_cost_for = std::copy_constructible<C> && concurrency_parts::has_seconds<C, W>;

/// A problem whose devices have insides and whose costs depend on threads: the platform has `machine(d)` and the cost
/// model is moldable; see concurrency/moldable.hpp.
template <class Problem>
concept moldable_problem = platform_parts::has_machines<typename Problem::platform_type> &&
                           moldable_cost_for<typename Problem::cost_type, typename Problem::workload_type>;

namespace why_not {
template <class Problem>
struct moldable_problem : problem<Problem> {
  static_assert(!is_problem<Problem> || platform_parts::has_machines<typename Problem::platform_type>,
                "weft: concurrency strategies need to know devices from the inside; this platform lacks "
                "machine(device_id) const; weft::with_machines{platform, machines} adds it");
  static constexpr bool has_seconds = requires(const typename Problem::cost_type& c,
                                               const typename Problem::workload_type& w, op_id v, const machine& m,
                                               team t) { c.seconds(w, v, m, t); };
  static_assert(!is_problem<Problem> || has_seconds,
                "weft: concurrency strategies need times by team; this cost model lacks seconds(workload, op_id, "
                "machine, team) const; see docs/concepts/moldable_cost_for.md");
  static_assert(!has_seconds || moldable_cost_for<typename Problem::cost_type, typename Problem::workload_type>,
                "weft: seconds(workload, op_id, machine, team) of this cost model does not return a number; see "
                "docs/concepts/moldable_cost_for.md");
};
} // namespace why_not

namespace must_be {
template <class Problem>
concept moldable_problem = weft::moldable_problem<Problem> || explained<why_not::moldable_problem<Problem>>;
} // namespace must_be

namespace concurrency {

/// The seconds that a moldable cost model returns, checked: throws `value_error` if it is negative or not a number.
template <class C, class W>
double checked_seconds(const C& cost, const W& w, op_id v, const machine& m, team t) {
  const double seconds = cost.seconds(w, v, m, t);
  if (!(seconds >= 0)) [[unlikely]] {
    throw value_error("seconds of op " + std::to_string(v) + " with " + std::to_string(t.threads) + " threads" +
                        (m.name.empty() ? "" : " on '" + m.name + "'"),
                      readable_number(seconds) + " is not a time: a cost model returns seconds, at least 0");
  }
  return seconds;
}

} // namespace concurrency

} // namespace weft
