// SPDX-License-Identifier: BSL-1.0
/// Two objectives, of which the second decides between plans that are equal by the first.
#pragma once

#include "weft/evaluate/concepts.hpp"
#include "weft/evaluate/score.hpp"
#include "weft/objective/detail/wrapper_of.hpp"
#include "weft/plan/trace.hpp"
#include "weft/simulate/simulation.hpp"

#include <limits>
#include <utility>

namespace weft::objective {

/// The objective `first`; of plans equal but for rounding by it (`score::better_than`), the smaller one by `second`.
/// A plan that either forbids is forbidden. Both have to judge single runs. Searches that follow sums follow the first.
///
/// Value, bound and gap of a result are those of the first, and so is what `status::optimal` says: no plan has a
/// smaller value by the first. It says nothing about the second, for which there is no bound: another plan that is
/// optimal may be better by it, and a search whose plan meets the bound of the first may end there.
template <class First, class Second>
struct lexicographic : detail::wrapper_of<First> {
  Second second;

  constexpr lexicographic(First a = First(), Second b = Second())
      : detail::wrapper_of<First>{std::move(a)}, second{std::move(b)} {}

  template <class Problem>
    requires objective_parts::scores_summaries<First, Problem> && objective_parts::scores_summaries<Second, Problem>
  constexpr weft::score score(const Problem& p, const simulation& run) const {
    return both(this->of.score(p, run), second.score(p, run));
  }
  template <class Problem>
    requires(objective_parts::scores_traces<First, Problem> || objective_parts::scores_traces<Second, Problem>)
  constexpr weft::score score(const Problem& p, const trace& run) const {
    return both(detail::score_by(this->of, p, run), detail::score_by(second, p, run));
  }

private:
  static constexpr weft::score both(const weft::score& a, const weft::score& b) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return {a.violation + b.violation, b.value < infinity ? a.value : infinity, b.value};
  }
};

} // namespace weft::objective
