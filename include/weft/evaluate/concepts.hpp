// SPDX-License-Identifier: BSL-1.0
/// The concept of an objective, which says how good a run of a plan is.
#pragma once

#include "weft/bound/lower_bound.hpp"
#include "weft/core/budget.hpp"
#include "weft/core/random.hpp"
#include "weft/core/rounding.hpp"
#include "weft/evaluate/score.hpp"
#include "weft/plan/infeasibility.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/simulate/simulation.hpp"

#include <concepts>
#include <limits>
#include <memory>

namespace weft {

namespace objective_parts {

/// The summary of a run is enough.
template <class O, class Problem>
concept scores_summaries = requires(const O& o, const Problem& p, const simulation& run) {
  { o.score(p, run) } -> std::convertible_to<score>;
};

/// It takes the record.
template <class O, class Problem>
concept scores_traces = requires(const O& o, const Problem& p, const trace& run) {
  { o.score(p, run) } -> std::convertible_to<score>;
};

/// It takes more than one run, or what is kept between plans: `o.state_for(p, policy)` makes something of which
/// `s.score(plan, trace)` is the score of a plan whose run, under the policy, left this trace.
template <class O, class Problem, class Policy>
concept keeps_state = requires(const O& o, const Problem& p, const Policy& policy, const plan& x, const trace& run) {
  { o.state_for(p, policy).score(x, run) } -> std::convertible_to<score>;
};

/// `o.bound(p, makespan)`: no plan has a smaller value, given that none has a smaller makespan than that.
template <class O, class Problem>
concept has_bound = requires(const O& o, const Problem& p, const lower_bound& makespan) {
  { o.bound(p, makespan) } -> std::convertible_to<double>;
};

/// The price of time, and the charge on a plan's choices; both ≥ 0.
struct price_of_time {
  double per_second = 1;
  double deadline = std::numeric_limits<double>::infinity(); ///< seconds
  double per_late_second = 0; ///< on top, after the deadline: what makes a search come back

  constexpr double of(double makespan) const {
    const double due = per_second > 0 ? rounded(per_second * makespan) : 0; // of nothing, also for ever
    return makespan > deadline ? due + rounded(per_late_second * (makespan - deadline)) : due;
  }
  /// The largest makespan that costs no more; negative if there is none.
  constexpr double max_seconds(double cost) const {
    const double in_time = per_second > 0 ? cost / per_second : cost < 0 ? -1 : std::numeric_limits<double>::infinity();
    if (!(in_time > deadline) || per_late_second == 0) {
      return in_time;
    }
    return deadline + (cost - rounded(per_second * deadline)) / (per_second + per_late_second);
  }
};

/// The value is `o.price(p).of(makespan)` + Σ `o.op_charge(p, v, d)` over ops on their devices + Σ
/// `o.transfer_charge(p, t, from, to)` over transfers, so that a search can follow it change by change.
template <class O, class Problem>
concept is_sum = requires(const O& o, const Problem& p, op_id v, tensor_id t, device_id d) {
  { o.price(p) } -> std::convertible_to<price_of_time>;
  { o.op_charge(p, v, d) } -> std::convertible_to<double>;
  { o.transfer_charge(p, t, d, d) } -> std::convertible_to<double>;
};

/// The charges of an objective that is a sum, whatever its type: a search that follows them is compiled once for all.
class any_sum {
public:
  virtual price_of_time price() const = 0;
  virtual double op_charge(op_id v, device_id d) const = 0;
  virtual double transfer_charge(tensor_id t, device_id from, device_id to) const = 0;
  virtual ~any_sum() = default;
};

/// The same of an objective for plans of a problem, which must outlive them; null if it is no sum.
template <class Problem, class O>
std::shared_ptr<const any_sum> sum_of(const Problem& p, const O& o) {
  if constexpr (is_sum<O, Problem>) {
    class sum final : public any_sum {
    public:
      sum(const Problem& of, const O& by) : p_{of}, o_{by} {}
      price_of_time price() const override { return o_.price(p_); }
      double op_charge(op_id v, device_id d) const override { return o_.op_charge(p_, v, d); }
      double transfer_charge(tensor_id t, device_id from, device_id to) const override {
        return o_.transfer_charge(p_, t, from, to);
      }

    private:
      const Problem& p_;
      O o_;
    };
    return std::make_shared<sum>(p, o);
  } else {
    return nullptr;
  }
}

template <class Problem, class O>
std::shared_ptr<const any_sum> sum_of(const Problem&&, const O&) = delete; // the problem must outlive it

/// `o.propose(p, budget, random)`: a plan that is good for it, or why there is none, for those who ask several.
template <class O, class Problem>
concept proposes = requires(const O& o, const Problem& p, const budget& spend, rng& random) {
  { o.propose(p, spend, random) } -> std::convertible_to<outcome<plan>>;
};

} // namespace objective_parts

/// O says how good runs of plans are: what is minimised, a value that is not negative. A copyable value that holds
/// options.
template <class O, class Problem, class Policy>
concept objective_for = std::copy_constructible<O> && (objective_parts::scores_summaries<O, Problem> ||
                                                       objective_parts::scores_traces<O, Problem> ||
                                                       objective_parts::keeps_state<O, Problem, Policy>);

} // namespace weft
