// SPDX-License-Identifier: BSL-1.0
/// Orders for given placements whose runs keep to the memory.
#pragma once

#include "weft/plan/memory_rule.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/refine/detail/memory_sequencing.hpp"
#include "weft/refine/detail/one_device_order.hpp"
#include "weft/refine/detail/placed_live_ranges.hpp"
#include "weft/schedule/placed_flow.hpp"
#include "weft/simulate/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>

namespace weft::refine {

/// Looks for the order of ops and sends with the least makespan for a placement, of those in whose run under
/// `schedule::static_order` no device ever holds more than its limit. First by rules that prefer what frees memory, as
/// one forward pass, one backward pass does in pipelines; then by trying all orders, as far as it may. On one device of
/// one slot, where all orders take the same time, by sets of ops that are done (detail/one_device_order.hpp).
/// ```
/// refine::orders_within_memory orders{problem};
/// const double seconds = orders.minimise(placement, infinity, 10'000, [](std::uint64_t) { return true; });
/// // orders.best_order() if it is finite; if not, and orders.ended(), there is none
/// ```
/// Without contention of transfers. Source: those two headers. Complexity: O((n + m) devices) per run that a
/// rule makes, and for each of its choices that keeps memory O(n r + m) to see whether all can end, for r ready ops;
/// then exponential. Memory: O(n + m).
template <class Problem>
class orders_within_memory {
public:
  explicit orders_within_memory(const Problem& p) : flow_{p}, tracker_{p} {}
  explicit orders_within_memory(const Problem&&, weft::detail::problem_must_outlive_it = {}) = delete;

  /// Whether no device ever held more than its limit in a run.
  bool admits(const placement& where, const trace& run) {
    tracker_.follow(where, run);
    return tracker_.excess() == 0;
  }

  /// The smallest makespan below `below` that was found, or `below` if there is none, in seconds. `spend(n)` pays for n
  /// visits of items and returns false to end the search; `max_choices` are made when all orders are tried.
  double minimise(const placement& where, double below, std::uint64_t max_choices,
                  const std::function<bool(std::uint64_t)>& spend) {
    flow_.assign(where);
    live_ranges_.assign(flow_);
    is_one_queue_ = live_ranges_.is_one_queue();
    if (is_one_queue_) {
      return minimise_alone(below, max_choices, spend);
    }
    ended_ = search_.search(live_ranges_, below, max_choices, spend) == detail::memory_sequencing::answer::ended;
    return search_.makespan();
  }
  /// Whether it came to its end, so that there is nothing better.
  bool ended() const { return ended_; }
  /// Of the makespan that was found last.
  order best_order() const {
    if (!is_one_queue_) {
      return search_.best_order(flow_);
    }
    order steps;
    for (const op_id v : alone_.sequence()) {
      steps.push_back(step::run(v));
    }
    return steps;
  }

private:
  double minimise_alone(double below, std::uint64_t max_choices, const std::function<bool(std::uint64_t)>& spend) {
    double makespan = 0;
    for (const double seconds : live_ranges_.seconds) {
      makespan += seconds;
    }
    if (!(makespan < below)) {
      ended_ = true;
      return below;
    }
    using answer = detail::one_device_order::answer;
    const answer a = alone_.search(live_ranges_, max_choices, spend);
    ended_ = a != answer::unknown;
    if (a != answer::found) {
      return below;
    }
    makespan = 0;
    for (const op_id v : alone_.sequence()) { // as a run adds them up
      makespan += live_ranges_.seconds[v];
    }
    return std::min(makespan, below);
  }

  placed_flow<Problem> flow_;
  simulate::memory_tracker<Problem> tracker_;
  detail::placed_live_ranges live_ranges_;
  detail::memory_sequencing search_;
  detail::one_device_order alone_;
  bool is_one_queue_ = false; // on one device of one slot: searched by `alone_`
  bool ended_ = false;
};

} // namespace weft::refine
