// SPDX-License-Identifier: BSL-1.0
/// Plans that need as small a share of the memory as can be found.
#pragma once

#include "weft/refine/memory_descent.hpp"
#include "weft/solve/best.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace weft::solve {

/// The largest share of its capacity that a device needs; infinite if one without memory needs some.
template <class Problem>
double largest_share(const Problem& p, const std::vector<byte_count>& peaks) {
  double largest = 0;
  for (const device_id d : ids(peaks.size())) {
    const auto capacity = static_cast<double>(p.capacity(d));
    largest = std::max(largest, peaks[d] == 0 ? 0 : static_cast<double>(peaks[d]) / capacity);
  }
  return largest;
}

namespace detail {
/// That share of each capacity, also of one without a limit; not less than `least`, if it is given.
template <class Problem>
std::vector<byte_count> capacities_of(const Problem& p, double share, const std::vector<byte_count>& least = {}) {
  std::vector<byte_count> all;
  for (const device_id d : ids(p.num_devices())) {
    all.push_back(share < 1 ? static_cast<byte_count>(static_cast<double>(p.capacity(d)) * share) : p.capacity(d));
    all.back() = std::max(all.back(), least.empty() ? 0 : least[d]);
  }
  return all;
}

template <class Problem>
best_result least_memory_of(const Problem& p, const best_options& options) {
  constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
  constexpr int max_shrinks = 16;
  constexpr std::uint64_t max_run_ops = 10'000'000; // that the search may spend on runs
  const stopwatch clock;
  auto first = options;
  first.moves = 0;
  first.memory = memory_rule::over_time;
  auto least = best(p, first);
  if (!least.has_plan() || p.num_ops() == 0) {
    return least;
  }
  const auto left = [&](double share) {
    return options.timed() ? std::max(0.0, options.seconds - clock.seconds()) * share : options.seconds;
  };
  const auto fastest = least.plan.placement;
  const auto same_kinds = [&](const placement& where) {
    return std::equal(where.begin(), where.end(), fastest.begin(), [&](device_id a, device_id b) {
      return hardware_kind(p.platform(), a) == hardware_kind(p.platform(), b);
    });
  };
  double share = largest_share(p, least.peaks);
  double factor = 0.7;
  for (int k = 0; k < max_shrinks && factor < 0.99 && share > 0 && share <= 1 && left(1) > 0; ++k) {
    auto smaller = first;
    smaller.seconds = left(0.5);
    smaller.effort = effort::heuristics;
    auto r = best(p.with_capacities(capacities_of(p, share * factor)), smaller);
    if (r.has_plan() && same_kinds(r.plan.placement)) {
      share = largest_share(p, r.peaks);
      std::swap(least, r);
    } else {
      factor = (1 + factor) / 2;
    }
  }

  const auto relaxed = p.with_resident_demands();
  rng random{rng::mix(options.seed)};
  const refine::memory_descent lower{
    .budget = {.moves = options.timed() ? unlimited : std::clamp<std::uint64_t>(max_run_ops / p.num_ops(), 50, 20'000),
               .seconds = left(0.5),
               .stop = options.stop},
    .keep_kinds = true};
  any_evaluator<Problem> judge{relaxed};
  simulate::memory_tracker<Problem> memory{p};
  const auto consider = [&](evaluated_plan x) {
    memory.follow(x.plan.placement, judge.record_of(x));
    const double needs = largest_share(p, memory.peaks());
    if (x.run.complete && (needs < share || (needs <= share && x.score.value < least.makespan))) {
      share = needs;
      least.take(std::move(x));
      least.peaks = memory.peaks();
    }
  };
  consider(judge.recorded(lower(relaxed, least.plan, schedule::static_order{}, random)));
  const refine::simulated_annealing shorten{.budget = {.moves = options.moves == unlimited && !options.timed()
                                                                  ? best_options::default_moves / 4
                                                                  : options.moves,
                                                       .seconds = left(1),
                                                       .stop = options.stop,
                                                       .target = least.bound.value},
                                            .memory = memory_rule::over_time};
  const Problem within = relaxed.with_capacities(capacities_of(p, share, least.peaks));
  any_evaluator<Problem> judge_within{within};
  consider(shorten(judge_within, judge_within.recorded(least.plan), random));
  least.stats.partition_seconds = clock.seconds();
  return least;
}
} // namespace detail

/// A plan whose devices need little memory at their worst moment in the run under `schedule::static_order`: as small a
/// largest share of the capacities as is found. `peaks` has the bytes per device; of plans within that share, the
/// makespan decides.
///
/// First heuristics run in smaller and smaller shares of the memory, then a search lowers the worst moment; in both,
/// components stay on the kind of device on which the fastest plan has them, or else everything would go to the host,
/// whose memory is largest. Then annealing shortens the makespan within the share that was reached. Without a plan as
/// `best` says. The budget in moves is that of annealing; a budget in seconds is shared by all. The result is not
/// proven to be the least. Deterministic for a seed when the budget is in moves.
template <must_be::problem Problem>
best_result least_memory(const Problem& p, const best_options& options = {}) {
  return detail::on_instance(p, options, [](const instance& numbers, const tensor_numbers&, const auto& rest) {
    return detail::least_memory_of(numbers, rest);
  });
}

} // namespace weft::solve

#ifdef WEFT_COMPILED
namespace weft::solve::detail {
extern template best_result least_memory_of(const instance&, const best_options&);
} // namespace weft::solve::detail
#endif
