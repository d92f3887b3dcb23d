// SPDX-License-Identifier: BSL-1.0
/// The best plan that a budget allows: heuristics, exact search where it pays, and refinement of what was found.
#pragma once

#include "weft/bound/best.hpp"
#include "weft/bound/component_memory.hpp"
#include "weft/core/budget.hpp"
#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"
#include "weft/partition/cluster/dominant_sequence.hpp"
#include "weft/partition/clustered.hpp"
#include "weft/partition/critical_path.hpp"
#include "weft/partition/etf.hpp"
#include "weft/partition/heft.hpp"
#include "weft/partition/layer_split.hpp"
#include "weft/partition/peft.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/plan/memory_shortage.hpp"
#include "weft/refine/branch_and_bound.hpp"
#include "weft/refine/identical_devices.hpp"
#include "weft/refine/memory_descent.hpp"
#include "weft/refine/simulated_annealing.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/plan_of.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/detail/chains.hpp"
#include "weft/solve/detail/fallbacks.hpp"
#include "weft/solve/detail/memory_guard.hpp"
#include "weft/solve/detail/priced_heft.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/solve/result.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::solve {

/// One strategy that `best` ran.
struct attempt {
  std::string name;
  double makespan = std::numeric_limits<double>::infinity(); ///< seconds; infinite if it found no plan
  double seconds = 0;                                        ///< wall-clock time
};

/// How far `best` goes.
enum class effort : std::uint8_t {
  full,       ///< for the best plan
  heuristics, ///< for the best one that heuristics find: plans that need too much memory are not repaired
  first_plan, ///< for the first plan, asking only those heuristics that are good at tight memory
};

/// How much `best` may spend. With neither seconds nor moves, `default_moves`.
struct best_options {
  static constexpr std::uint64_t default_moves = 400'000;

  double seconds = std::numeric_limits<double>::infinity();        ///< wall-clock time
  std::uint64_t moves = std::numeric_limits<std::uint64_t>::max(); ///< changes that refinement may evaluate
  std::uint64_t seed = 0;                                          ///< the same seed, the same plan
  unsigned threads = 1;                                            ///< at most
  /// Independent refinements of which the best is taken. 0: 4 if the budget is in moves, so that the result does not
  /// depend on the number of threads; else one per thread.
  unsigned chains = 0;
  const std::stop_token* stop = nullptr; ///< ends the search with the best plan so far
  const std::function<void(const progress&)>* on_progress = nullptr; ///< of better plans; one call at a time
  /// Reserved: plans keep to the reservations, by construction. Over time: their runs keep to the capacities.
  memory_limit memory = {};
  solve::effort effort = solve::effort::full; ///< the best plan, or what heuristics find
};

/// A plan, its quality, and what was tried in which order.
struct best_result : result {
  std::vector<attempt> tried = {};
  std::vector<byte_count> peaks = {}; ///< memory over time: bytes per device at its worst moment
  /// Memory over time, without a plan: what the run of the plan that came nearest lacks.
  std::optional<memory_shortage> shortage = {};
};

namespace detail {

template <class Problem>
class portfolio {
public:
  /// Under `memory_rule::over_time` the demands of the problem must be those that every plan keeps to; see
  /// `resident_demands`.
  portfolio(const Problem& p, const best_options& o)
      : p_{p}, options_{o}, by_order_{p}, by_path_{p}, listener_{o.on_progress} {
    if (o.moves == std::numeric_limits<std::uint64_t>::max() && !(o.seconds < std::numeric_limits<double>::infinity())) {
      options_.moves = best_options::default_moves;
    }
    options_.threads = std::max(1u, o.threads);
    if (o.memory.rule == memory_rule::over_time) {
      guard_.emplace(p, o.memory);
    }
    found_.bound = bound::best(p);
  }

  /// `strictest`: the problem with demands that no run exceeds.
  best_result run(const Problem& strictest) && {
    if (p_.num_ops() == 0) {
      found_.status = status::optimal;
      found_.makespan = 0;
      found_.peaks.assign(guard_ ? p_.num_devices() : 0, 0);
      return std::move(found_);
    }
    if (guard_ && (found_.reason = why_impossible(p_, options_.memory))) {
      found_.status = status::infeasible;
      return std::move(found_);
    }
    const bool alike = refine::identical_devices::applies(p_);
    if (alike) {
      exact("identical_devices", refine::identical_devices{left(1)});
    }
    if (!alike || (guard_ && !has_plan_)) {
      heuristics(strictest);
      if (p_.num_ops() <= most_ops_for_exact && !done() && found_.bound.value < std::numeric_limits<double>::infinity()) {
        auto share = left(0.3);
        // Its moves are single ops.
        share.moves = options_.moves < 100'000'000 ? options_.moves / 4 * 50 : share.moves;
        exact("branch_and_bound", refine::branch_and_bound{share});
      }
    }
    if (guard_ && options_.effort == effort::full && !near_.empty() && !done() && !stopped()) {
      relieve();
    }
    if (has_plan_ && !done()) {
      anneal();
    }
    return std::move(*this).finish();
  }

private:
  static constexpr std::size_t most_ops_for_exact = 30;
  /// Estimates of an op on a device that heuristics beside HEFT may take when the budget is in moves.
  static constexpr std::size_t most_pairs = 20'000'000;
  /// How often a heuristic tries again with what was learned from its last plan, which needed too much memory.
  static constexpr int most_lessons = 12;
  static constexpr int most_bisections = 5;

  weft::budget left(double share) const {
    return {.moves = options_.moves,
            .seconds = std::max(0.0, options_.seconds - clock_.seconds()) * share,
            .stop = options_.stop,
            .target = found_.bound.value};
  }
  bool stopped() const {
    return clock_.seconds() >= options_.seconds || (options_.stop != nullptr && options_.stop->stop_requested());
  }
  bool done() const {
    return has_plan_ && (options_.effort == effort::first_plan || found_.makespan <= found_.bound.value * (1 + 1e-12) ||
                         stopped());
  }

  void heuristics(const Problem& strictest) {
    attempt_partitioner("heft", partition::heft{});
    if (found_.bound.value == std::numeric_limits<double>::infinity()) {
      return; // some component is allowed nowhere
    }
    if (!near_.empty() && !done()) { // memory binds
      attempt_priced();
    }
    if (options_.effort != effort::first_plan) {
      attempt_partitioner("one_device", one_device{});
      attempt_partitioner("peft", partition::peft{});
      attempt_partitioner("etf", partition::etf{});
      attempt_partitioner("dsc", partition::dsc{});
    }
    attempt_partitioner("critical_path", partition::critical_path{});
    if (!near_.empty() && !done()) {
      attempt_partitioner("layer_split", partition::layer_split{});
      attempt_within("heft, reserved", partition::heft{}, strictest);
    }
    if (!has_plan_) {
      attempt_partitioner("packing", packing{});
    }
    if (guard_ && !has_plan_) {
      attempt_within("packing, reserved", packing{}, strictest);
    }
  }

  /// A partitioner, for the time of a call. The portfolio is compiled once for all of them.
  class strategy {
  public:
    template <class S>
    strategy(const S& s)
        : s_{&s}, run_{[](const void* of, const Problem& p, rng& random, workspace& scratch) {
            return partition::run(*static_cast<const S*>(of), p, random, scratch);
          }} {}

    outcome<partition::decided> operator()(const Problem& p, rng& random, workspace& scratch) const {
      return run_(s_, p, random, scratch);
    }

  private:
    const void* s_;
    outcome<partition::decided> (*run_)(const void*, const Problem&, rng&, workspace&);
  };

  /// Heuristics get a quarter of the seconds; HEFT always runs.
  void attempt_partitioner(std::string_view name, const strategy& s) {
    const bool first = found_.tried.empty();
    const bool too_large = options_.seconds < std::numeric_limits<double>::infinity()
                             ? clock_.seconds() > options_.seconds / 4
                             : p_.num_ops() * p_.num_devices() > most_pairs;
    if (!first && (has_plan_ ? done() || too_large : guard_ && stopped())) {
      return;
    }
    attempt_within(name, s, p_);
  }

  /// Under memory over time, plans that need too much are made again under reservations that were learned from them.
  /// What was there at different moments need not fit at once, so the share of what was learned that is charged falls
  /// while it leaves no plan, and is then bisected: smaller shares leave more freedom.
  void attempt_within(std::string_view name, const strategy& s, const Problem& reserved) {
    const stopwatch watch;
    attempt a{.name = std::string{name}};
    const Problem* in = &reserved;
    double share = 1;     // of what was learned
    double enough = 0;    // the least share with which there was a plan; 0: none so far
    double too_little = 0; // the largest share, below it, with which the plan needed too much
    placement last;
    for (int lesson = 0, bisection = 0; bisection <= most_bisections; ++lesson) {
      rng random{options_.seed};
      auto decided = s(*in, random, scratch_);
      double makespan = no_plan;
      const bool repeated = decided && decided->plan.placement == last;
      if (decided) {
        last = guard_ ? decided->plan.placement : placement{};
        makespan = consider(std::move(decided->plan));
        a.makespan = std::min(a.makespan, makespan);
      } else {
        found_.reason = decided.error(); // the last one to try is the one that can prove it
      }
      const bool fits = makespan < no_plan;
      if (!guard_ || done() || lessons_are_over(watch, 0.125) || (lesson == 0 && (fits || !decided))) {
        break; // or nothing was learned
      }
      if (fits) {
        enough = share;
      } else if (enough > 0) {
        too_little = share;
      } else if (lesson == most_lessons || repeated) {
        break;
      } else if (!guard_->learn()) {
        share *= 0.85;
      }
      if (enough > 0) {
        share = (enough + too_little) / 2;
        ++bisection;
      }
      in = &guard_->reserved(share);
    }
    conclude(std::move(a), watch);
  }

  /// What HEFT has at the worst moments gets a price instead of a reservation. It doubles until there is a plan, then the
  /// least price that leaves one is bisected. What only plans with a price have at their worst moments has none: it is
  /// there for reasons of order, and would distort what is charged.
  void attempt_priced() {
    const stopwatch watch;
    attempt a{.name = "heft, priced"};
    std::vector<std::uint8_t> scarce(p_.num_tensors(), 0);
    std::vector<std::uint8_t> short_of(p_.num_devices(), 0);
    double enough = 0; // the least price with which there was a plan; 0: none so far
    double too_little = 0;
    double price = 0;
    for (int lesson = 0, bisection = 0; lesson <= most_lessons && bisection <= most_bisections; ++lesson) {
      rng random{options_.seed};
      auto decided = partition::run(priced_heft{price, scarce, short_of}, p_, random, scratch_);
      const double makespan = decided ? consider(std::move(decided->plan)) : no_plan;
      a.makespan = std::min(a.makespan, makespan);
      if (!decided || done() || lessons_are_over(watch, 0.25) || (price == 0 && makespan < no_plan)) {
        break;
      }
      (makespan < no_plan ? enough : too_little) = price;
      guard_->mark_overfull(short_of);
      if (lesson == 0) {
        guard_->mark_alive(scarce);
      }
      guard_->learn();
      if (enough > 0) {
        price = too_little > 0 ? std::sqrt(enough * too_little) : enough / 4;
        ++bisection;
      } else {
        price = price > 0 ? 2 * price : near_.front().makespan;
      }
    }
    conclude(std::move(a), watch);
  }

  /// One heuristic may take a share of the seconds to learn.
  bool lessons_are_over(const stopwatch& watch, double share) const {
    return stopped() || watch.seconds() > options_.seconds * share;
  }

  void conclude(attempt a, const stopwatch& watch) {
    if (guard_) {
      if (auto near = guard_->start_anew(); near.excess < no_plan) {
        near_.push_back(std::move(near));
      }
    }
    a.seconds = watch.seconds();
    found_.tried.push_back(std::move(a));
  }

  /// Runs a plan in its own order and by path completion time; returns the better makespan.
  double consider(plan candidate) {
    trace run;
    trace other;
    const auto ordered = by_order_.run(candidate, simulate::recorder{run});
    const auto ready = by_path_.run(candidate, simulate::recorder{other});
    if (guard_) {
      const double first = ordered.complete ? take_if_admitted(candidate, run) : no_plan;
      return std::min(first, admit(simulate::plan_of(p_, other)));
    }
    const bool by_path = !ordered.complete || ready.makespan < ordered.makespan;
    const double makespan = by_path ? ready.makespan : ordered.makespan;
    if (!has_plan_ || makespan < found_.makespan) {
      if (by_path) {
        candidate = simulate::plan_of(p_, other);
      }
      take(std::move(candidate), makespan);
    }
    return makespan;
  }

  /// The makespan of a plan with an order if its run keeps to the memory, else infinity.
  double admit(plan candidate) {
    trace run;
    if (!by_order_.run(candidate, simulate::recorder{run}).complete) {
      return no_plan;
    }
    return take_if_admitted(std::move(candidate), run);
  }
  double take_if_admitted(plan candidate, const trace& run) {
    if (!guard_->admits(candidate, run)) {
      return no_plan;
    }
    if (!has_plan_ || run.makespan < found_.makespan) {
      take(std::move(candidate), run.makespan);
    }
    return run.makespan;
  }

  void take(plan better, double makespan) {
    found_.plan = std::move(better);
    found_.makespan = makespan;
    has_plan_ = true;
    listener_.tell(0, clock_.seconds(), makespan);
  }

  void exact(std::string_view name, const strategy& s) {
    const stopwatch watch;
    rng random{options_.seed};
    const auto decided = s(p_, random, scratch_);
    attempt a{.name = std::string{name}};
    if (decided) {
      if (guard_) {
        a.makespan = admit(decided->plan);
      } else {
        const auto run = by_order_.run(decided->plan);
        a.makespan = run.makespan;
        if (!has_plan_ || run.makespan < found_.makespan) {
          take(decided->plan, run.makespan);
        }
      }
      if (decided->bound > found_.bound.value) {
        found_.bound = {decided->bound, lower_bound::rule::search};
      }
    } else if (!has_plan_) {
      found_.reason = decided.error();
    }
    a.seconds = watch.seconds();
    found_.tried.push_back(std::move(a));
  }

  /// From the plans that came nearest to plans whose memory is enough, if they would be better than what was found. At
  /// first components stay on the kind of device on which they are, as hosts have room, but little speed.
  void relieve() {
    using near_miss = typename memory_guard<Problem>::near_miss;
    weft::stable_sort(near_, [](const near_miss& a, const near_miss& b) { return a.excess < b.excess; });
    std::size_t relieved = 0;
    for (const auto& near : near_) {
      if (relieved == most_relieved || done()) {
        break;
      }
      if (has_plan_ && near.makespan > found_.makespan * 0.97) {
        continue;
      }
      ++relieved;
      const stopwatch watch;
      auto share = left(0.25);
      share.target = 0;
      // A move is a run of everything.
      share.moves = std::clamp<std::uint64_t>(most_run_ops / p_.num_ops(), 50, 5'000);
      rng random{rng::mix(options_.seed + found_.tried.size())};
      refine::memory_descent s{.budget = share, .enough = options_.memory.capacity_share, .keep_kinds = true};
      auto lower = s(p_, near.decided, schedule::static_order{}, random);
      double makespan = admit(lower);
      if (!has_plan_) {
        s.keep_kinds = false;
        makespan = admit(s(p_, std::move(lower), schedule::static_order{}, random));
      }
      found_.tried.push_back({"memory_descent", makespan, watch.seconds()});
    }
  }

  void anneal() {
    const stopwatch watch;
    const bool timed = options_.seconds < std::numeric_limits<double>::infinity();
    if (timed && options_.seconds - clock_.seconds() < 2 * found_.tried.front().seconds) {
      return; // setting up the search would take longer than is left
    }
    const unsigned chains = options_.chains > 0 ? options_.chains : timed ? options_.threads : 4;
    auto share = left(1);
    share.moves /= chains;
    // With more chains than threads, the chains of a thread run one after the other.
    share.seconds /= static_cast<double>((chains + options_.threads - 1) / options_.threads);
    buffer<plan> plans(chains);
    std::vector<double> makespans(chains, found_.makespan);
    for_each_chain(chains, options_.threads, [&](unsigned k) {
      rng random{rng::mix(options_.seed + 0x9e3779b97f4a7c15u * (k + 1))};
      auto mine = share;
      const std::function<void(const progress&)> tell = [&](const progress& x) {
        listener_.tell(x.moves, clock_.seconds(), x.best);
      };
      mine.on_progress = &tell;
      const refine::simulated_annealing s{.budget = mine, .memory = options_.memory};
      plans[k] = s(p_, found_.plan, schedule::static_order{}, random);
      makespans[k] = simulator<Problem, schedule::static_order>{p_}.run(plans[k]).makespan;
    });
    if (guard_) { // with several slots, runs may differ from what was planned
      for (std::size_t k = 0; k < chains; ++k) {
        makespans[k] = admit(plans[k]);
      }
    }
    const auto best = static_cast<std::size_t>(std::min_element(makespans.begin(), makespans.end()) - makespans.begin());
    found_.tried.push_back({"simulated_annealing", makespans[best], watch.seconds()});
    if (makespans[best] < found_.makespan) {
      take(std::move(plans[best]), makespans[best]);
    }
  }

  best_result finish() && {
    found_.stats.partition_seconds = clock_.seconds();
    if (!has_plan_) {
      if (guard_) {
        explain();
      }
      // Over time, all that is left of reservations is what is always held.
      const bool proven = found_.reason && (guard_ ? found_.reason->why != infeasibility::reason::not_found
                                                   : bound::proves_infeasible(p_, *found_.reason));
      found_.status = proven ? status::infeasible : status::not_found;
      return std::move(found_);
    }
    const stopwatch running;
    trace run;
    const auto simulated = by_order_.run(found_.plan, simulate::recorder{run});
    found_.stats.simulate_seconds = running.seconds();
    found_.stats.transfer_bytes = simulated.transfer_bytes;
    found_.stats.num_events = simulated.num_events;
    found_.makespan = simulated.makespan;
    found_.reason.reset();
    found_.status = judge(simulated, found_.bound);
    if (guard_) {
      simulate::memory_tracker<Problem> memory{p_};
      memory.follow(found_.plan.placement, run);
      found_.peaks = memory.peaks();
    }
    return std::move(found_);
  }

  /// What heuristics say of reservations that were learned proves nothing; only what is always held does.
  void explain() {
    if (auto last = guard_->start_anew(); last.excess < no_plan) {
      near_.push_back(std::move(last));
    }
    if (!near_.empty()) {
      found_.shortage = std::min_element(near_.begin(), near_.end(), [](const auto& a, const auto& b) {
                          return a.excess < b.excess;
                        })->shortage;
    }
    const auto packed = packing{}(p_);
    found_.reason = packed ? infeasibility{} : packed.error();
  }

  static constexpr double no_plan = std::numeric_limits<double>::infinity();
  static constexpr std::uint64_t most_run_ops = 2'000'000; ///< that a memory descent may spend on runs
  static constexpr std::size_t most_relieved = 3;

  const Problem& p_;
  best_options options_;
  stopwatch clock_;
  simulator<Problem, schedule::static_order> by_order_;
  simulator<Problem, schedule::path_completion_time> by_path_;
  progress_listener listener_;
  workspace scratch_;
  std::optional<memory_guard<Problem>> guard_; // memory over time only
  buffer<typename memory_guard<Problem>::near_miss> near_; // of each heuristic that needed too much
  best_result found_;
  bool has_plan_ = false;
};

} // namespace detail

/// The best plan that a budget allows, for the makespan without contention of transfers. Run it under
/// `schedule::static_order`.
/// ```
/// const auto r = weft::solve::best(problem, {.seconds = 10});
/// // r.plan, r.makespan, r.bound, r.gap(), r.tried
/// ```
/// Devices that are alike and transfers that cost nothing: exact search by windows. Else several heuristics, each run
/// in its own order and by path completion time; up to 30 ops, branch and bound; then annealing from the best. Ends
/// early when a plan meets the bound. The same problem, options and seed give the same result at any number of threads
/// if the budget is in moves. Without a plan, the status is `infeasible` if it is proven that there is none, else
/// `not_found`; `reason` says more.
///
/// With `.memory = {memory_rule::over_time}` no device ever holds more than its capacity in the run of the plan, and
/// `peaks` says how much; plans that reservations would refuse are found. Where memory binds, heuristics run again under
/// reservations learned from plans that needed too much, plans are repaired, and annealing accepts no better plan that
/// needs too much. Where it does not, plans are those of unlimited memory. See docs/memory.md.
/// Source: a composition of what this library has; each part names its own. Complexity: that of its parts, within the
/// budget.
/// Choose it when the plan matters more than the time to find it, or when you do not know what to choose.
template <must_be::problem Problem>
best_result best(const Problem& p, const best_options& options = {}) {
  if (options.memory.rule == memory_rule::over_time) {
    const Problem relaxed = p.with_demands(detail::resident_demands(p, options.memory.capacity_share));
    return detail::portfolio<Problem>{relaxed, options}.run(p);
  }
  return detail::portfolio<Problem>{p, options}.run(p);
}

} // namespace weft::solve

#if defined(WEFT_COMPILED_LINEAR) || defined(WEFT_COMPILED_TABULATED)
#include "weft/compiled.hpp"
namespace weft::solve {
#ifdef WEFT_COMPILED_LINEAR
extern template best_result best(const compiled::linear&, const best_options&);
#endif
#ifdef WEFT_COMPILED_TABULATED
extern template best_result best(const compiled::tabulated&, const best_options&);
#endif
} // namespace weft::solve
#endif
