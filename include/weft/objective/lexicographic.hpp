// SPDX-License-Identifier: BSL-1.0
/// Two objectives, of which the second decides between plans that are equal by the first.
#pragma once

#include "weft/evaluate/concepts.hpp"
#include "weft/evaluate/score.hpp"
#include "weft/objective/detail/wrapper_of.hpp"
#include "weft/plan/trace.hpp"
#include "weft/simulate/simulation.hpp"

#include <limits>

namespace weft::objective {

/// What `first` says, and of equal values the smaller one by `second`. What either forbids is forbidden. Both have to
/// judge single runs. Searches that follow sums follow the first.
template <class First, class Second>
struct lexicographic : detail::wrapper_of<First> {
  Second second{};

  template <class Problem>
    requires objective_parts::scores_summaries<First, Problem> && objective_parts::scores_summaries<Second, Problem>
  constexpr weft::score score(const Problem& p, const simulation& run) const {
    return both(this->of.score(p, run), second.score(p, run));
  }
  template <class Problem>
    requires(objective_parts::scores_traces<First, Problem> || objective_parts::scores_traces<Second, Problem>)
  constexpr weft::score score(const Problem& p, const trace& run) const {
    return both(score_by(this->of, p, run), score_by(second, p, run));
  }

private:
  static constexpr weft::score both(const weft::score& a, const weft::score& b) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return {a.violation + b.violation, b.value < infinity ? a.value : infinity, b.value};
  }
  /// A summary has less than the record of a run.
  template <class O, class Problem>
  static constexpr weft::score score_by(const O& o, const Problem& p, const trace& run) {
    if constexpr (objective_parts::scores_traces<O, Problem>) {
      return o.score(p, run);
    } else {
      simulation all{.makespan = run.makespan};
      for (const transfer_record& x : run.transfers) {
        all.transfer_bytes += p.workload().bytes(x.tensor);
      }
      return o.score(p, all);
    }
  }
};
template <class First, class Second>
lexicographic(First, Second) -> lexicographic<First, Second>;

} // namespace weft::objective
