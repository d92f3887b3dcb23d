// SPDX-License-Identifier: BSL-1.0
/// The best placement for the period that weft can find: splits, then annealing, and a bound.
#pragma once

#include "weft/bound/lower_bound.hpp"
#include "weft/instance.hpp"
#include "weft/throughput/annealing.hpp"
#include "weft/throughput/bound.hpp"
#include "weft/throughput/packing.hpp"
#include "weft/throughput/split.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::throughput {

/// A placement, and what is known about all placements.
struct best_result {
  struct attempt {
    std::string_view method;
    double period = std::numeric_limits<double>::infinity(); ///< seconds; infinite if it found nothing
  };

  weft::placement placement;
  double period = 0;                ///< seconds; equals `throughput::period` of the placement
  double bound = 0;                 ///< seconds; no placement has a smaller period
  std::vector<attempt> tried;       ///< in the order of the runs
  bool contiguous_optimum = false;  ///< whether no contiguous split has a smaller period (staged costs only)

  /// The gap of the period above the bound, relative to the bound (`gap_above`); 0 means optimal.
  double gap() const { return gap_above(bound, period); }
};

/// Tries what pays, in this order: a placement that fits into memory (`packing`), `linear_split`, a round of
/// `annealing`, `downset_split` for what is better still (staged costs), and further rounds of `annealing`, all from
/// the best placement so far and by turns hot, warm and cool: hot ones find other regions, cool ones what is left to
/// gain where large problems are already good. Ends when the period meets the bound, when `patience` rounds in a row
/// found nothing better, or with the budget or its target. Only annealing's moves are counted as moves. Deterministic
/// for a seed, unless the budget is in seconds.
///
/// Returns why there is no placement if memory or kinds allow none.
struct best {
  weft::budget budget = {};
  std::uint32_t rounds = 12;                 ///< of annealing, at most
  std::uint32_t patience = 3;                ///< rounds
  std::uint64_t moves_per_round = 300'000;   ///< and at most 2500 per component
  std::size_t max_downsets = 20'000;

  template <class Problem>
  outcome<best_result> operator()(const Problem& p, rng& random) const {
    if constexpr (staged_problem<Problem> || std::same_as<Problem, instance>) {
      return search(p, random);
    } else {
      const stopwatch watch;
      const lowered_problem numbers{p};
      auto rest = *this;
      rest.budget.seconds -= watch.seconds();
      return rest.search(*numbers, random);
    }
  }

private:
  template <class Problem>
  outcome<best_result> search(const Problem& p, rng& random) const;

  static bool over(const weft::budget& b) {
    return b.seconds <= 0 || (b.stop != nullptr && b.stop->stop_requested());
  }

  template <class Problem>
  struct run {
    const flow<Problem>& f;
    best_result result;
    std::vector<device_id> where;

    bool optimal() const { return result.period <= result.bound * (1 + 1e-6); }

    void offer(std::string_view method, std::vector<device_id> found) {
      const double period = ledger<Problem>{f, found}.period();
      if (result.tried.empty() || period < result.period) {
        result.period = period;
        where = std::move(found);
      }
      result.tried.push_back({method, period});
    }

    void split(const downset_split& s) {
      auto found = s(f);
      result.contiguous_optimum = found.status == split_status::optimal || found.status == split_status::none_below;
      if (found.has_split()) {
        offer("downset_split", std::move(found.where));
      } else {
        result.tried.push_back({"downset_split"});
      }
    }
  };
};

// Not inline, so that a program can compile it once (`extern template`).
template <class Problem>
outcome<best_result> best::search(const Problem& p, rng& random) const {
  const stopwatch clock;
  const flow<Problem> f{p};
  auto packed = pack(f);
  if (!packed) {
    return packed.error();
  }
  run<Problem> r{f, {}, {}};
  std::uint64_t used = 0;
  const progress_callback tell = [&](const progress& x) {
    budget.on_progress({used + x.moves, clock.seconds(), x.best});
  };
  const auto left = [&] {
    return weft::budget{.seconds = budget.seconds - clock.seconds(),
                        .stop = budget.stop,
                        .target = budget.target,
                        .on_progress = budget.on_progress ? tell : nullptr};
  };
  const auto told = [&](double before) { // annealing tells by itself
    if (budget.on_progress && r.result.period < before) {
      tell({0, 0, r.result.period});
    }
  };
  const auto good = [&] { return r.result.period <= budget.target * (1 + 1e-12); };
  r.offer("packing", std::move(*packed));
  told(std::numeric_limits<double>::infinity());
  if (!good()) {
    if (auto split = linear_split{.budget = left()}(f); split.has_split()) {
      const double before = r.result.period;
      r.offer("linear_split", std::move(split.where));
      told(before);
    }
  }
  r.result.bound = period_bound(f, r.result.period);
  std::uint64_t moves = budget.moves;
  std::uint32_t failures = 0;
  const auto done = [&] { return r.optimal() || good() || over(left()); };
  for (std::uint32_t i = 0; i < rounds && failures < patience && moves > 0 && !done(); ++i) {
    const double before = r.result.period;
    annealing a{.budget = left(),
                .length = std::min({moves_per_round, moves, 2500 * std::uint64_t{f.num_components()} + 1}),
                .goal = r.result.bound};
    a.hot = i % 3 == 0 ? a.hot : i % 3 == 1 ? a.hot / 10 : a.hot / 100;
    moves -= a.length;
    r.offer("annealing", a(f, r.where, random));
    used += a.length;
    if constexpr (staged_problem<Problem>) {
      if (i == 0 && !r.optimal() && !good()) {
        const double annealed = r.result.period;
        r.split(downset_split{.max_downsets = max_downsets, .below = r.result.period, .budget = left()});
        told(annealed);
      }
    }
    failures = r.result.period < before ? 0 : failures + 1;
  }
  for (const op_id v : ids(p.num_ops())) {
    r.result.placement.push_back(r.where[p.component(v)]);
  }
  return std::move(r.result);
}

} // namespace weft::throughput

#ifdef WEFT_COMPILED
namespace weft::throughput {
extern template outcome<best_result> best::search(const instance&, rng&) const;
} // namespace weft::throughput
#endif
