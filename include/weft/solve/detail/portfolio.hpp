// SPDX-License-Identifier: BSL-1.0
/// The portfolio of `solve::best` where transfers do not affect each other: candidates, exact search, refinement.
#pragma once

#include "weft/bound/component_memory.hpp"
#include "weft/bound/refutation.hpp"
#include "weft/core/budget.hpp"
#include "weft/core/buffer.hpp"
#include "weft/core/parallel.hpp"
#include "weft/core/sort.hpp"
#include "weft/evaluate/any_evaluator.hpp"
#include "weft/partition/cluster/dominant_sequence.hpp"
#include "weft/partition/clustered.hpp"
#include "weft/partition/critical_path.hpp"
#include "weft/partition/etf.hpp"
#include "weft/partition/heft.hpp"
#include "weft/partition/layer_split.hpp"
#include "weft/partition/peft.hpp"
#include "weft/partition/reverse_heft.hpp"
#include "weft/refine/branch_and_bound.hpp"
#include "weft/refine/contest.hpp"
#include "weft/refine/identical_devices.hpp"
#include "weft/refine/less_traffic.hpp"
#include "weft/refine/local_search.hpp"
#include "weft/refine/simulated_annealing.hpp"
#include "weft/refine/tabu_search.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/plan_of.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/best_result.hpp"
#include "weft/solve/detail/progress_listener.hpp"
#include "weft/solve/detail/fallbacks.hpp"
#include "weft/solve/detail/memory_guard.hpp"
#include "weft/solve/detail/memory_orders.hpp"
#include "weft/solve/detail/priced_heft.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::solve::detail {

/// How many moves a search may make whose moves are each a run of all ops, where no time is given.
constexpr std::uint64_t moves_by_runs(std::size_t num_ops) {
  return std::clamp<std::uint64_t>(2'000'000 / num_ops, 50, 5'000);
}

/// A search whose moves are runs, for what cannot be followed change by change; a run counts as a move per five ops.
template <class Judge>
evaluated_plan by_runs(Judge& judge, evaluated_plan start, weft::budget spend, rng& random) {
  const std::uint64_t n = judge.problem().num_ops();
  spend.moves /= std::max<std::uint64_t>(1, n / 5);
  if (spend.seconds == std::numeric_limits<double>::infinity()) {
    spend.moves = std::min(spend.moves, moves_by_runs(n));
  }
  return refine::local_search{.budget = spend}(judge, std::move(start), random);
}

template <class Problem>
class portfolio {
public:
  /// Under `memory_rule::over_time` the demands of the problem must be those that every plan keeps to; see
  /// `problem::with_resident_demands`. `for_network`: plans are to run on a network, where memory is in use at other
  /// times, so that what is proven of the memory of runs without contention does not hold.
  portfolio(any_evaluator<Problem> judge, const best_options& o, bool for_network = false)
      : p_{judge.problem()}, options_{o}, for_network_{for_network}, judge_{std::move(judge)},
        is_makespan_{judge_.minimises_makespan()}, is_followed_{judge_.is_followed()}, by_path_{p_},
        listener_{o.on_progress}, spreads_{rng::mix(o.seed)} {
    options_.moves = o.all_moves();
    options_.threads = std::max(1u, o.threads);
    if (o.memory == memory_rule::over_time) {
      guard_.emplace(p_);
    }
    least_ = judge_.makespan_bound();
    found_.bound = judge_.bound(least_);
  }

  /// After a run without a plan, of those whose runs need too much memory the one that came nearest, if any did.
  const plan* nearest() const { return nearest_.placement.empty() ? nullptr : &nearest_; }

  /// `strictest`: the problem with demands that no run exceeds.
  best_result run(const Problem& strictest) {
    if (guard_ && (found_.reason = why_impossible(p_))) {
      found_.status = status::infeasible;
      return std::move(found_);
    }
    const bool alike = refine::identical_devices::applies(p_);
    if (alike) {
      auto all = left(0.6); // what it has not closed by then, changes of its plan may improve
      all.target = least_.value;
      attempt("identical_devices", refine::identical_devices{all});
    }
    if (judge_.proposes()) {
      attempt("the objective's own", asked_objective{&judge_, left(0.5)});
    }
    if (!alike || !is_followed_ || (guard_ && !is_usable())) {
      attempt_heuristics(strictest);
      const bool binds = guard_ && (!near_.empty() || !has_plan_);
      if (binds && !done() && least_.value < infinity) {
        attempt_orders(0.2);
      }
      if (p_.num_ops() <= max_ops_for_exact && (!alike || guard_) && !done() && least_.value < infinity) {
        const refine::branch_and_bound exact{exact_share(0.3), binds ? options_.memory : memory_rule::reserved};
        attempt("branch_and_bound", exact, !binds || !for_network_);
        if (guard_ && !binds && !(found_.tried.back().value < infinity) && !done()) { // the best plan needs too much
          attempt("branch_and_bound", refine::branch_and_bound{exact_share(0.3), options_.memory}, !for_network_);
        }
        if (found_.reason && found_.reason->is_of_search()) {
          return finish();
        }
      }
    }
    if (p_.num_ops() > max_ops_for_exact && has_plan_ && !done() && options_.effort == effort::full &&
        judge_.bound({best_.run.makespan}).value > found_.bound.value) { // else nothing refuted would raise it
      raise_bound(bound::refutation{exact_share(0.1)}(p_, least_.value, best_.run.makespan));
    }
    if (guard_ && options_.effort == effort::full && !near_.empty() && !done() && !stopped()) {
      relieve();
    }
    if (guard_ && options_.effort == effort::full && options_.timed() && !has_plan_ && !stopped() &&
        least_.value < infinity) {
      attempt_orders(1);
    }
    if (has_plan_ && !done()) {
      improve(is_makespan_ ? 0.95 : is_followed_ || guard_ ? 1 : 0.5);
    }
    if (!is_followed_ && !guard_ && has_plan_ && !done()) {
      run_changes();
    }
    if (is_makespan_ && has_plan_ && options_.effort == effort::full && !stopped()) {
      rng unused;
      auto runs = left(1);
      runs.moves = std::min(runs.moves, moves_by_runs(p_.num_ops()));
      offer(refine::less_traffic{runs, options_.memory}(judge_, best_, unused));
    }
    return finish();
  }

private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr std::size_t max_ops_for_exact = 60;
  /// Estimates of an op on a device that heuristics beside HEFT may take when the budget is in moves.
  static constexpr std::size_t max_pairs = 20'000'000;
  /// How often a heuristic tries again with what was learned from its last plan, which needed too much memory.
  static constexpr int max_lessons = 12;
  static constexpr int max_bisections = 5;
  static constexpr std::size_t max_relieved = 3;

  weft::budget left(double share) const {
    return {.moves = options_.moves,
            .seconds = std::max(0.0, options_.seconds - clock_.seconds()) * share,
            .stop = options_.stop,
            .target = found_.bound.value};
  }
  /// For searches whose moves are pairs of ops.
  weft::budget exact_share(double share_of_seconds) const {
    auto share = left(share_of_seconds);
    share.target = least_.value;
    share.moves = options_.moves < 100'000'000 ? options_.moves / 4 * 50 : share.moves;
    return share;
  }
  bool stopped() const { return options_.is_over(clock_); }
  bool is_usable() const { return has_plan_ && best_.run.makespan < infinity; } // all ops of the plan end
  bool done() const {
    return has_plan_ &&
           (options_.effort == effort::first_plan || stopped() ||
            (best_.score.admitted() && best_.score.tie == 0 && best_.score.value <= found_.bound.value * (1 + 1e-12)));
  }

  /// A partitioner, for the time of a call. The portfolio is compiled once for all of them.
  class strategy {
  public:
    template <class S>
    strategy(const S& s)
        : s_{&s}, run_{[](const void* of, const Problem& p, rng& random, workspace& scratch) {
            return partition::run(*static_cast<const S*>(of), p, random, scratch);
          }} {}
    /// One that needs no options.
    template <class S>
    static constexpr strategy of() {
      return {nullptr, [](const void*, const Problem& p, rng& random, workspace& scratch) {
                return partition::run(S{}, p, random, scratch);
              }};
    }

    outcome<partition::decided> operator()(const Problem& p, rng& random, workspace& scratch) const {
      return run_(s_, p, random, scratch);
    }

  private:
    using function = outcome<partition::decided> (*)(const void*, const Problem&, rng&, workspace&);
    constexpr strategy(const void* s, function run) : s_{s}, run_{run} {}

    const void* s_;
    function run_;
  };

  /// What the objective proposes.
  struct asked_objective {
    const any_evaluator<Problem>* judge;
    weft::budget spend;
    outcome<plan> operator()(const Problem&, rng& random) const { return judge->propose(spend, random); }
  };

  /// When a candidate is asked.
  enum class when : std::uint8_t {
    always,
    with_time,     ///< not for the first plan
    memory_binds,  ///< if some plan needed too much
    without_plan,  ///< if there is none, or only one in which some op never ends
  };
  struct candidate {
    std::string_view name;
    strategy propose;
    when asked = when::always;
    bool reserved = false; ///< for memory over time only: under reservations that no run exceeds
  };

  /// In this order. Heuristics get a quarter of the seconds; the first always runs.
  void attempt_heuristics(const Problem& strictest) {
    static constexpr candidate candidates[]{
      {"heft", strategy::template of<partition::heft>()},
      {"one_device", strategy::template of<one_device>(), when::with_time},
      {"reverse_heft", strategy::template of<partition::reverse_heft>(), when::with_time},
      {"peft", strategy::template of<partition::peft>(), when::with_time},
      {"etf", strategy::template of<partition::etf>(), when::with_time},
      {"dsc", strategy::template of<partition::dsc>(), when::with_time},
      {"critical_path", strategy::template of<partition::critical_path>()},
      {"layer_split", strategy::template of<partition::layer_split>(), when::memory_binds},
      {"heft, reserved", strategy::template of<partition::heft>(), when::memory_binds, true},
      {"single_device", strategy::template of<single_device>(), when::without_plan},
      {"packing", strategy::template of<packing>(), when::without_plan},
      {"packing, reserved", strategy::template of<packing>(), when::without_plan, true},
    };
    const auto is_asked = [&](const candidate& x) {
      const bool too_large = options_.timed() ? clock_.seconds() > options_.seconds / 4
                                              : p_.num_ops() * p_.num_devices() > max_pairs;
      switch (x.asked) {
      case when::always: break;
      case when::with_time:
        if (options_.effort == effort::first_plan) {
          return false;
        }
        break;
      case when::memory_binds:
        if (near_.empty() || done()) {
          return false;
        }
        break;
      case when::without_plan:
        if (is_usable()) {
          return false;
        }
      }
      const bool late = is_usable() ? done() || too_large : guard_ && stopped();
      return x.reserved ? guard_.has_value() : !late;
    };
    for (const candidate& x : candidates) {
      if (&x == candidates) {
        attempt_within(x.name, x.propose, p_);
        if (least_.value == infinity) {
          return; // some component is allowed nowhere
        }
        if (!near_.empty() && !done()) {
          attempt_priced();
        }
      } else if (is_asked(x)) {
        attempt_within(x.name, x.propose, x.reserved ? strictest : p_);
      }
    }
  }

  /// Judges the plans `propose(knob)` while they need too much memory; `raise(knob, lesson, plan)` gives the next
  /// knob, or nothing. Then bisects by `between(too little, enough)` for the least knob: it leaves the most freedom.
  template <class Propose, class Raise, class Between>
  void learn(std::string name, double knob, double share_of_seconds, Propose propose, Raise raise, Between between) {
    const stopwatch watch;
    solve::attempt a{.name = std::move(name)};
    double enough = 0;     // the least knob with which there was a plan; 0: none so far
    double too_little = 0; // the largest, below it, with which the plan needed too much
    for (int lesson = 0, bisection = 0; bisection <= max_bisections; ++lesson) {
      rng random{options_.seed};
      auto decided = propose(knob, random);
      double value = infinity;
      placement where;
      if (decided) {
        where = guard_ ? decided->plan.placement : placement{};
        value = consider(std::move(decided->plan));
        a.value = std::min(a.value, value);
        raise_bound(decided->bound);
      } else if (!is_usable()) {
        found_.reason = decided.error(); // the last one to try is the one that can prove it
      }
      const bool fits = value < infinity;
      if (!guard_ || done() || stopped() || watch.seconds() > options_.seconds * share_of_seconds ||
          (lesson == 0 && (fits || !decided))) {
        break; // or nothing was learned
      }
      if (fits) {
        enough = knob;
      } else if (enough > 0) {
        too_little = knob;
      } else if (lesson == max_lessons || !raise(knob, too_little, where)) {
        break;
      }
      if (enough > 0) {
        knob = between(too_little, enough);
        ++bisection;
      }
    }
    if (guard_) {
      if (auto near = guard_->start_anew(); near.excess < infinity) {
        near_.push_back(std::move(near));
      }
    }
    a.seconds = watch.seconds();
    found_.tried.push_back(std::move(a));
  }

  /// Under memory over time, plans that need too much are made again under reservations learned from them. What was
  /// there at different moments need not fit at once, so the charged share of these falls while it leaves no plan.
  void attempt_within(std::string_view name, const strategy& s, const Problem& reserved) {
    bool first = true;
    placement last;
    learn(
      std::string{name}, 1, 0.125,
      [&](double share, rng& random) {
        const Problem& in = std::exchange(first, false) ? reserved : guard_->reserved(share);
        return s(in, random, scratch_);
      },
      [&](double& share, double&, placement& where) {
        if (!where.empty() && where == last) {
          return false;
        }
        last = where.empty() ? std::move(last) : std::move(where);
        if (!guard_->learn()) {
          share *= 0.85;
        }
        return true;
      },
      [](double too_little, double enough) { return (enough + too_little) / 2; });
  }

  /// A price, instead of a reservation, for what HEFT holds at its worst moments; it doubles until there is a plan.
  /// Tensors that only priced plans hold then have none: that is due to their order, and would distort the prices.
  void attempt_priced() {
    std::vector<std::uint8_t> scarce(p_.num_tensors(), 0);
    std::vector<std::uint8_t> short_of(p_.num_devices(), 0);
    bool first = true;
    learn(
      "heft, priced", 0, 0.25,
      [&](double price, rng& random) {
        if (price > 0) { // there is a run to learn from
          guard_->mark_overfull(short_of);
          if (std::exchange(first, false)) {
            guard_->mark_alive(scarce);
          }
          guard_->learn();
        }
        return partition::run(priced_heft{price, scarce, short_of}, p_, random, scratch_);
      },
      [&](double& price, double& too_little, const placement& where) {
        too_little = price;
        price = price > 0 ? 2 * price : near_.front().makespan;
        return !where.empty();
      },
      [](double too_little, double enough) { return too_little > 0 ? std::sqrt(enough * too_little) : enough / 4; });
  }

  /// A strategy that is asked once. `proves`: what it proves holds.
  void attempt(std::string_view name, const strategy& s, bool proves = true) {
    const stopwatch watch;
    rng random{options_.seed};
    auto decided = s(p_, random, scratch_);
    solve::attempt a{.name = std::string{name}};
    if (decided) {
      a.value = offer(evaluate(std::move(decided->plan)));
      raise_bound(proves ? decided->bound : 0);
    } else if (!is_usable()) {
      // That every placement fails holds on networks, too.
      proves = proves || decided.error().cause == infeasibility::kind::every_placement_fails;
      found_.reason = proves ? decided.error() : infeasibility{};
    }
    a.seconds = watch.seconds();
    found_.tried.push_back(std::move(a));
  }

  void raise_bound(double makespan) {
    if (makespan > least_.value) {
      least_ = {makespan, lower_bound::rule::search};
      found_.bound = judge_.bound(least_);
    }
  }

  /// Judges a plan in its own order and in the one of its run by path completion time; returns the better value, or
  /// infinity if neither may be used.
  double consider(plan x) {
    trace other;
    const double by_path = by_path_.run(x, simulate::recorder{other}).makespan;
    const double own = offer(evaluate(std::move(x)));
    if (!judge_.runs_in_order() || (is_makespan_ && !guard_ && by_path >= own)) {
      return own; // the other order would change nothing, or nothing for the better
    }
    return std::min(own, offer(evaluate(simulate::plan_of(p_, other))));
  }
  evaluated_plan evaluate(plan x) {
    const stopwatch watch;
    auto judged = guard_ ? judge_.recorded(std::move(x)) : judge_(std::move(x));
    found_.stats.simulate_seconds = watch.seconds();
    return judged;
  }

  /// The value of a plan that may be used, else infinity.
  double offer(evaluated_plan x) {
    if (!x.run.complete || (guard_ && !guard_->admits(x.plan, judge_.record_of(x)))) {
      return infinity;
    }
    const double value = x.score.usable();
    if (!has_plan_ || judge_.is_better(x.score, best_.score) ||
        (!judge_.is_better(best_.score, x.score) && x.run.transfer_bytes < best_.run.transfer_bytes)) {
      best_ = std::move(x);
      has_plan_ = true;
      listener_.tell(0, clock_.seconds(), value);
    }
    return value;
  }

  /// Orders within memory for the placements of the plans that came nearest, and for those that spread the work.
  void attempt_orders(double share_of_seconds) {
    const stopwatch watch;
    auto share = left(share_of_seconds);
    share.moves = std::max<std::uint64_t>(options_.moves / 4, 100);
    buffer<placement> places;
    for (const auto& near : near_) {
      places.push_back(near.decided.placement);
    }
    double value = infinity;
    try_orders(
      p_, share, places, has_plan_, spreads_,
      [&] { return is_makespan_ && has_plan_ ? best_.run.makespan : infinity; },
      [&](plan x) {
        value = std::min(value, offer(evaluate(std::move(x))));
        return has_plan_;
      });
    found_.tried.push_back({"orders within memory", value, watch.seconds()});
  }

  /// Anneals from the plans that came nearest to plans whose memory is enough, if they would be better than what was
  /// found: as long as memory lacks, changes are accepted that leave less lacking, at whatever price.
  void relieve() {
    using near_miss = typename memory_guard<Problem>::near_miss;
    weft::stable_sort(near_, [](const near_miss& a, const near_miss& b) { return a.excess < b.excess; });
    std::size_t relieved = 0;
    for (const auto& near : near_) {
      if (relieved == max_relieved || done()) {
        break;
      }
      if (has_plan_ && is_makespan_ && near.makespan > best_.run.makespan * 0.97) {
        continue;
      }
      ++relieved;
      const stopwatch watch;
      auto share = left(0.25);
      const std::uint64_t n = p_.num_ops();
      share.moves = std::max(moves_by_runs(n), std::min(options_.moves / 16, 20 * n));
      rng random{rng::mix(options_.seed + found_.tried.size())};
      const refine::simulated_annealing lessen{.budget = share, .memory = options_.memory};
      const double value = offer(lessen(judge_, judge_.recorded(near.decided), random));
      found_.tried.push_back({"simulated_annealing, for memory", value, watch.seconds()});
    }
  }

  void improve(double share_of_seconds) {
    const stopwatch watch;
    const bool timed = options_.timed();
    if (timed && options_.seconds - clock_.seconds() < 2 * found_.tried.front().seconds) {
      return; // setting up the search would take longer than is left
    }
    judge_.record_of(best_); // once for all chains
    const unsigned chains = num_chains();
    auto share = left(share_of_seconds);
    share.moves /= chains;
    // With more chains than threads, the chains of a thread run one after the other.
    share.seconds /= static_cast<double>((chains + options_.threads - 1) / options_.threads);
    buffer<evaluated_plan> plans(chains);
    for_each_on_threads(chains, options_.threads, [&](unsigned k) {
      rng random{rng::mix(options_.seed + 0x9e3779b97f4a7c15u * (k + 1))};
      auto mine = share;
      mine.on_progress = [&](const progress& x) { listener_.tell(x.moves, clock_.seconds(), x.best); };
      any_evaluator<Problem> judge = judge_;
      plans[k] = refined(judge, mine, random);
    });
    double value = infinity;
    for (auto& x : plans) { // with several slots, runs may need more memory than what was planned
      value = std::min(value, offer(std::move(x)));
    }
    found_.tried.push_back({is_makespan_ && is_followed_ ? "tabu_search, simulated_annealing" : "simulated_annealing",
                            value, watch.seconds()});
  }

  unsigned num_chains() const {
    if (options_.chains > 0) {
      return options_.chains;
    }
    if (options_.timed()) {
      return options_.threads;
    }
    constexpr std::uint64_t moves_per_op = 1000; // of a chain that is long enough
    const std::uint64_t per_op = options_.moves / std::max<std::size_t>(1, p_.num_ops());
    return static_cast<unsigned>(std::clamp<std::uint64_t>(per_op / moves_per_op, 1, 4));
  }

  /// Tabu search moves what is on longest paths, which says little where something else is minimised.
  evaluated_plan refined(any_evaluator<Problem>& judge, const weft::budget& spend, rng& random) const {
    const refine::simulated_annealing anneals{.budget = spend, .memory = options_.memory};
    if (!is_makespan_ || !is_followed_) {
      return anneals(judge, best_, random);
    }
    refine::contest both{refine::tabu_search{.memory = options_.memory}, anneals};
    both.budget = spend;
    return both(judge, best_, random);
  }

  void run_changes() {
    const stopwatch watch;
    rng random{rng::mix(options_.seed + 1)};
    const double value = offer(by_runs(judge_, best_, left(1), random));
    found_.tried.push_back({"local_search", value, watch.seconds()});
  }

  best_result finish() {
    found_.stats.partition_seconds = clock_.seconds();
    if (!is_usable()) {
      if (guard_) {
        explain();
      }
      found_.reason = found_.reason.value_or(infeasibility{}); // what was found never ends
      // Over time, all that is left of reservations is what is always held.
      const bool proven = guard_ ? found_.reason->cause != infeasibility::kind::not_found
                                 : bound::proves_infeasible(p_, *found_.reason);
      found_.status = proven ? status::infeasible : status::not_found;
      return std::move(found_);
    }
    found_.reason.reset();
    const trace& record = judge_.record_of(best_);
    if (guard_) {
      simulate::memory_tracker<Problem> memory{p_};
      memory.follow(best_.plan.placement, record);
      found_.peaks = memory.peaks();
    }
    found_.take(std::move(best_));
    return std::move(found_);
  }

  /// What heuristics say of reservations that were learned proves nothing; only what is always held does.
  void explain() {
    if (auto last = guard_->start_anew(); last.excess < infinity) {
      near_.push_back(std::move(last));
    }
    if (!near_.empty()) {
      auto& nearest = *std::min_element(near_.begin(), near_.end(),
                                        [](const auto& a, const auto& b) { return a.excess < b.excess; });
      found_.shortage = nearest.shortage;
      nearest_ = std::move(nearest.decided);
    }
    if (!found_.reason || !found_.reason->is_of_search()) {
      const auto packed = packing{}(p_);
      found_.reason = packed ? infeasibility{} : packed.error();
    }
  }

  const Problem& p_;
  best_options options_;
  bool for_network_;
  stopwatch clock_;
  any_evaluator<Problem> judge_;
  bool is_makespan_; // minimised
  bool is_followed_; // change by change
  simulator<Problem, schedule::path_completion_time> by_path_;
  progress_listener listener_;
  workspace scratch_;
  rng spreads_; // how else the work may be spread
  std::optional<memory_guard<Problem>> guard_; // memory over time only
  buffer<typename memory_guard<Problem>::near_miss> near_; // of each heuristic that needed too much
  lower_bound least_; // on the makespan
  best_result found_;
  evaluated_plan best_;
  plan nearest_;
  bool has_plan_ = false;
};

} // namespace weft::solve::detail
