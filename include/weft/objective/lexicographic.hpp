// SPDX-License-Identifier: BSL-1.0
/// Two objectives, of which the second decides between plans that are equal by the first.
#pragma once

#include "weft/bound/lower_bound.hpp"
#include "weft/evaluate/concepts.hpp"
#include "weft/evaluate/score.hpp"
#include "weft/plan/trace.hpp"
#include "weft/simulate/simulation.hpp"

#include <limits>
#include <string_view>

namespace weft::objective {

/// What `first` says, and of equal values the smaller one by `second`. What either forbids is forbidden. Both have to
/// judge single runs. Searches that follow sums follow the first.
template <class First, class Second>
struct lexicographic {
  First first{};
  Second second{};

  static constexpr std::string_view unit = [] {
    if constexpr (requires { First::unit; }) {
      return std::string_view{First::unit};
    } else {
      return std::string_view{};
    }
  }();

  template <class Problem>
    requires objective_parts::scores_summaries<First, Problem> && objective_parts::scores_summaries<Second, Problem>
  constexpr weft::score score(const Problem& p, const simulation& run) const {
    return both(first.score(p, run), second.score(p, run));
  }
  template <class Problem>
    requires(objective_parts::scores_traces<First, Problem> || objective_parts::scores_traces<Second, Problem>)
  constexpr weft::score score(const Problem& p, const trace& run) const {
    return both(score_by(first, p, run), score_by(second, p, run));
  }

  template <class Problem>
    requires objective_parts::has_bound<First, Problem>
  constexpr double bound(const Problem& p, const lower_bound& makespan) const {
    return first.bound(p, makespan);
  }

  template <class Problem>
    requires objective_parts::is_sum<First, Problem>
  constexpr objective_parts::price_of_time price(const Problem& p) const {
    return first.price(p);
  }
  template <class Problem>
    requires objective_parts::is_sum<First, Problem>
  constexpr double op_charge(const Problem& p, op_id v, device_id d) const {
    return first.op_charge(p, v, d);
  }
  template <class Problem>
    requires objective_parts::is_sum<First, Problem>
  constexpr double transfer_charge(const Problem& p, tensor_id t, device_id from, device_id to) const {
    return first.transfer_charge(p, t, from, to);
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
