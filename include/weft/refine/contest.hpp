// SPDX-License-Identifier: BSL-1.0
/// A contest of refiners: the one that suits the problem gets most of the budget.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/core/random.hpp"
#include "weft/evaluate/evaluated_plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

namespace weft::refine {

/// Lets each refiner improve the given plan with a share of the budget, and the one whose plan was best go on from
/// there with all that is left. No refiner is best everywhere: tabu search is where devices are the bottleneck,
/// annealing where communication is, and a short trial tells.
/// ```
/// weft::refine::contest search{weft::refine::tabu_search{}, weft::refine::simulated_annealing{}};
/// search.budget = {.seconds = 10};
/// ```
/// The refiners' own budgets do not count. Of equal plans that of the first refiner wins. Never worse than the given
/// plan. Deterministic for a seed when the budget is in moves.
/// Complexity: that of the refiners.
/// Choose it when you do not know which refiner suits.
template <class... Refiners>
struct contest {
  static_assert(sizeof...(Refiners) > 0);

  std::tuple<Refiners...> refiners;
  weft::budget budget = {.moves = 200'000};
  double share = 0.12; ///< of the budget, for the trial of each

  explicit contest(Refiners... r) : refiners{std::move(r)...} {}

  template <class Judge>
  evaluated_plan operator()(Judge& judge, evaluated_plan start, rng& random) const {
    const stopwatch clock;
    std::uint64_t moves = budget.moves;
    const auto part = [&](double of_all) {
      weft::budget b = budget;
      if (b.moves < weft::budget{}.moves) {
        b.moves = std::min(moves, static_cast<std::uint64_t>(std::ceil(of_all * static_cast<double>(budget.moves))));
        moves -= b.moves;
      }
      b.seconds = std::min(of_all * budget.seconds, std::max(0.0, budget.seconds - clock.seconds()));
      if (of_all < 1 && b.moves == weft::budget{}.moves && b.seconds == weft::budget{}.seconds) {
        b.moves = moves_of_endless; // a trial has to end
      }
      return b;
    };
    std::uint64_t before = 0; // moves of those that had their turn, as far as is known
    std::uint64_t spent = 0;
    double told = std::numeric_limits<double>::infinity();
    const progress_callback tell = [&](const progress& x) {
      if (x.best < told) {
        told = x.best;
        spent = before + x.moves;
        budget.on_progress({spent, clock.seconds(), x.best});
      }
    };
    evaluated_plan best = start;
    std::size_t winner = 0;
    const auto try_one = [&]<std::size_t I>(std::integral_constant<std::size_t, I>, const evaluated_plan& from,
                                            double of_all) {
      auto refiner = std::get<I>(refiners);
      refiner.budget = part(of_all);
      refiner.budget.on_progress = budget.on_progress ? tell : nullptr;
      if (auto x = refiner(judge, from, random); judge.is_better(x.score, best.score)) {
        best = std::move(x);
        winner = I;
      }
      before = refiner.budget.moves < weft::budget{}.moves ? before + refiner.budget.moves : spent;
    };
    const auto good_enough = [&] { return best.score.usable() <= budget.target * (1 + 1e-12); };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      if constexpr (sizeof...(Refiners) > 1) {
        ((good_enough() ? void() : try_one(std::integral_constant<std::size_t, I>{}, start, share)), ...);
      }
      const auto w = winner;
      const auto from = best;
      ((I == w && !good_enough() ? try_one(std::integral_constant<std::size_t, I>{}, from, 1) : void()), ...);
    }(std::index_sequence_for<Refiners...>{});
    return best;
  }

private:
  static constexpr std::uint64_t moves_of_endless = 100'000;
};

} // namespace weft::refine
