// SPDX-License-Identifier: BSL-1.0
/// Co-run policies: which ready op starts next to those that run, and with how many threads. Values with options that
/// compose; what they look at is a `run_view`.
#pragma once

#include "weft/concurrency/time_table.hpp"

#include <algorithm>
#include <concepts>
#include <optional>
#include <span>

namespace weft {
namespace concurrency {

/// A decision to start an op now.
struct launch {
  op_id op = none;
  weft::team team = {};
  bool second = false; ///< on the second hardware threads of cores that are busy
  friend constexpr bool operator==(const launch&, const launch&) = default;
};

/// An op that runs, or the send of a tensor, which is no op (`launch.op` is `none`) and has a core for itself.
struct running_op {
  weft::concurrency::launch launch = {};
  double start = 0;
  double expected_finish = 0; ///< start + predicted time, with what a shared core costs; seconds on the run's clock
};

/// The state of a run on one machine, as a co-run policy sees it.
struct run_view {
  double now = 0;
  std::span<const op_id> ready = {};        ///< the most urgent first
  std::span<const running_op> running = {};
  std::uint32_t cores = 1;                  ///< of the machine
  std::uint32_t idle_cores = 1;
  std::uint32_t idle_second = 0; ///< busy cores whose second hardware thread is idle
  double smt_gain = 1;           ///< throughput of a core with two busy threads, relative to one
  const time_table* times = nullptr;
  std::span<const team> teams = {}; ///< what the thread policy chose, by class

  /// The predicted time of an op with a team.
  double seconds(op_id v, team t) const { return times->seconds(v, t); }
  /// The team that the thread policy chose for an op.
  team chosen(op_id v) const { return teams[times->classes().class_of(v)]; }
  /// Whether v may run beside what runs now: no pair of types that is known to slow each other down.
  bool may_join(op_id v) const { return joins == nullptr || joins(context, v); }

  bool (*joins)(const void*, op_id) = nullptr;
  const void* context = nullptr;
};

} // namespace concurrency

/// `s(view)` returns the next op to start, or nothing to wait until an op ends or becomes ready. It is asked again
/// after each start. A launch must fit: not more threads than idle cores (or idle second threads), at least one.
/// Precondition of the call: something is ready. A policy must start something when nothing runs.
template <class S>
concept corun_policy = std::copy_constructible<S> && requires(const S& s, const concurrency::run_view& view) {
  { s(view) } -> std::same_as<std::optional<concurrency::launch>>;
};

namespace why_not {
template <class S>
struct corun_policy {
  static_assert(weft::corun_policy<S>,
                "weft: this is not a co-run policy: a copyable const function of (const concurrency::run_view&) that "
                "returns a std::optional<concurrency::launch>; see docs/concepts/corun_policy.md");
};
} // namespace why_not

namespace must_be {
template <class S>
concept corun_policy = weft::corun_policy<S> || explained<why_not::corun_policy<S>>;
} // namespace must_be

namespace concurrency {

/// One op at a time (inter-op 1), with the team that the thread policy chose.
struct one_at_a_time {
  std::optional<launch> operator()(const run_view& view) const {
    if (!view.running.empty()) {
      return {};
    }
    const op_id v = view.ready.front();
    return launch{v, view.chosen(v)};
  }
};

/// At most `count` ops at a time (inter-op `count`), each with the team that the thread policy chose, but never more
/// than its share of the cores, cores / count.
struct executors {
  std::uint32_t count = 1;

  std::optional<launch> operator()(const run_view& view) const {
    const std::uint32_t at_once = std::min(std::max(count, 1u), view.cores);
    if (view.running.size() >= at_once) {
      return {};
    }
    const op_id v = view.ready.front();
    auto t = view.chosen(v);
    t.threads = std::min(t.threads, view.cores / at_once);
    if (t.threads > view.idle_cores) {
      return {};
    }
    return launch{v, t};
  }
};

/// All ready ops run at once and share the idle cores equally.
struct equal_split {
  std::optional<launch> operator()(const run_view& view) const {
    if (view.idle_cores == 0) {
      return {};
    }
    const auto waiting = static_cast<std::uint32_t>(std::min<std::size_t>(view.ready.size(), view.idle_cores));
    return launch{view.ready.front(),
                  {std::min(view.idle_cores / waiting, view.times->max_threads()), affinity::packed}};
  }
};

/// Strategy 3: when cores are idle beside running ops, starts a ready op whose predicted time, with one of its
/// `candidates` fastest thread counts that fit, ends no later than the ops that run; the most urgent such op goes
/// first. If there is none, the most time-consuming ready op runs on what is idle, provided that this ends it sooner
/// than waiting for the running ops and then giving it its own team would. When nothing runs, the most urgent op
/// starts.
///
/// The proviso is ours: without it an op that needs many cores could be started on the two that are left and hold up
/// the step. Complexity: O(min(ready, window) · candidates) per call. Source: [CC] strategy 3.
struct fill_idle {
  std::uint32_t candidates = 3;
  std::uint32_t window = 64; ///< how many of the most urgent ready ops are looked at

  std::optional<launch> operator()(const run_view& view) const {
    if (view.idle_cores == 0) {
      return {};
    }
    if (view.running.empty()) {
      const op_id v = view.ready.front();
      return launch{v, view.chosen(v)};
    }
    double last_finish = view.now;
    for (const running_op& r : view.running) {
      last_finish = std::max(last_finish, r.expected_finish);
    }
    std::optional<launch> longest;
    double longest_seconds = -1;
    const auto looked_at = view.ready.first(std::min<std::size_t>(view.ready.size(), window));
    for (const op_id v : looked_at) {
      if (!view.may_join(v)) {
        continue;
      }
      const team fastest = fastest_fitting(view, v);
      if (const double s = view.seconds(v, fastest); view.now + s <= last_finish) {
        return launch{v, fastest};
      }
      auto rest = view.chosen(v);
      rest.threads = std::min(rest.threads, view.idle_cores);
      const double on_rest = view.seconds(v, rest);
      const bool sooner = view.now + on_rest <= last_finish + view.seconds(v, view.chosen(v));
      if (sooner && on_rest > longest_seconds) {
        longest = launch{v, rest};
        longest_seconds = on_rest;
      }
    }
    return longest;
  }

private:
  /// The fastest of the op's own team and its next fewer counts, as far as they fit.
  team fastest_fitting(const run_view& view, op_id v) const {
    const team own = view.chosen(v);
    const std::uint32_t most = std::min(own.threads, view.idle_cores);
    team best{most, own.affinity};
    double least = view.seconds(v, best);
    for (std::uint32_t i = 1; i < candidates && i < most; ++i) {
      const team fewer{most - i, own.affinity};
      if (const double s = view.seconds(v, fewer); s < least) {
        best = fewer;
        least = s;
      }
    }
    return best;
  }
};

/// Strategy 4: what `base` does, and while one op holds all physical cores, the smallest ready op runs on a second
/// hardware thread. The two then run at smt_gain / 2 of their speed, and the large op's other threads wait for the one
/// that shares: for a second of the small op the large one loses 2 / smt_gain − 1. Only where that is less than
/// `at_most_lost` does it happen: on machines whose second threads add little, this strategy does nothing.
/// Source: [CC] strategy 4; the condition is ours.
template <corun_policy Base = fill_idle>
struct with_hyper_threads {
  Base base = {};
  double at_most_lost = 0.7; ///< seconds that the large op may lose for a second of the small one

  std::optional<launch> operator()(const run_view& view) const {
    if (auto started = base(view)) {
      return started;
    }
    if (view.running.size() != 1 || view.idle_cores > 0 || view.idle_second == 0 ||
        2 / view.smt_gain - 1 > at_most_lost) {
      return {};
    }
    const double left = view.running.front().expected_finish - view.now;
    std::optional<launch> smallest;
    double least = left * view.smt_gain / 2; // a larger one would not be over by then
    for (const op_id v : view.ready) {
      const team one{1};
      if (const double s = view.seconds(v, one); s < least && view.may_join(v)) {
        smallest = launch{v, one, true};
        least = s;
      }
    }
    return smallest;
  }
};
template <class Base>
with_hyper_threads(Base) -> with_hyper_threads<Base>;

} // namespace concurrency
} // namespace weft
