// SPDX-License-Identifier: BSL-1.0
/// The best plan that a budget allows: heuristics, exact search where it pays, and refinement of what was found.
#pragma once

#include "weft/bound/best.hpp"
#include "weft/core/budget.hpp"
#include "weft/partition/cluster/dominant_sequence.hpp"
#include "weft/partition/clustered.hpp"
#include "weft/partition/critical_path.hpp"
#include "weft/partition/etf.hpp"
#include "weft/partition/heft.hpp"
#include "weft/partition/peft.hpp"
#include "weft/refine/branch_and_bound.hpp"
#include "weft/refine/identical_devices.hpp"
#include "weft/refine/simulated_annealing.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/plan_of.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/detail/chains.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/solve/result.hpp"
#include "weft/throughput/detail/packing.hpp"

#include <algorithm>
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

/// How much `best` may spend. With neither seconds nor moves, `default_moves`.
struct best_options {
  static constexpr std::uint64_t default_moves = 400'000;

  double seconds = std::numeric_limits<double>::infinity();
  std::uint64_t moves = std::numeric_limits<std::uint64_t>::max(); ///< changes that refinement may evaluate
  std::uint64_t seed = 0;
  unsigned threads = 1;
  /// Independent refinements of which the best is taken. 0: 4 if the budget is in moves, so that the result does not
  /// depend on the number of threads; else one per thread.
  unsigned chains = 0;
  const std::stop_token* stop = nullptr;
  const std::function<void(const progress&)>* on_progress = nullptr; ///< of better plans; one call at a time
};

/// A plan, its quality, and what was tried in which order.
struct best_result : result {
  std::vector<attempt> tried = {};
};

namespace detail {

/// Everything on the device where it takes least in all, as far as it fits; where communication is dear, nothing
/// better may exist. Ties: the smaller id.
struct one_device {
  template <class Problem>
  constexpr outcome<placement> operator()(const Problem& p) const {
    std::vector<double> load(p.num_devices(), 0.0);
    for (const op_id v : ids(p.num_ops())) {
      for (const device_id d : ids(p.num_devices())) {
        load[d] += p.compute_time(v, d);
      }
    }
    partition::assignment<Problem> made{p};
    for (component_id c = 0; c < p.num_components(); ++c) {
      const device_id d = made.best_fit(c, [&](device_id x) { return load[x]; });
      if (d == none) {
        return made.why_unplaced(c);
      }
      made.place(c, d);
    }
    return std::move(made).take();
  }
};

/// Any placement that fits, for problems whose memory is too tight for heuristics.
struct packing {
  template <class Problem>
  outcome<placement> operator()(const Problem& p) const {
    const throughput::flow<Problem> f{p};
    const auto device = throughput::detail::pack(f);
    if (!device) {
      return device.error();
    }
    placement where(p.num_ops(), none);
    for (const op_id v : ids(p.num_ops())) {
      where[v] = (*device)[p.component(v)];
    }
    return where;
  }
};

template <class Problem>
class portfolio {
public:
  portfolio(const Problem& p, const best_options& o)
      : p_{p}, options_{o}, by_order_{p}, by_path_{p}, listener_{o.on_progress} {
    if (o.moves == std::numeric_limits<std::uint64_t>::max() && !(o.seconds < std::numeric_limits<double>::infinity())) {
      options_.moves = best_options::default_moves;
    }
    options_.threads = std::max(1u, o.threads);
    found_.bound = bound::best(p);
  }

  best_result run() && {
    if (p_.num_ops() == 0) {
      found_.status = status::optimal;
      return std::move(found_);
    }
    if (refine::identical_devices::applies(p_)) {
      exact("identical_devices", refine::identical_devices{left(1)});
    } else {
      heuristics();
      if (p_.num_ops() <= most_ops_for_exact && !done() && found_.bound.value < std::numeric_limits<double>::infinity()) {
        auto share = left(0.3);
        // Its moves are single ops.
        share.moves = options_.moves < 100'000'000 ? options_.moves / 4 * 50 : share.moves;
        exact("branch_and_bound", refine::branch_and_bound{share});
      }
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
    return has_plan_ && (found_.makespan <= found_.bound.value * (1 + 1e-12) || stopped());
  }

  void heuristics() {
    attempt_partitioner("heft", partition::heft{});
    if (found_.bound.value == std::numeric_limits<double>::infinity()) {
      return; // some component is allowed nowhere
    }
    attempt_partitioner("one_device", one_device{});
    attempt_partitioner("peft", partition::peft{});
    attempt_partitioner("etf", partition::etf{});
    attempt_partitioner("dsc", partition::dsc{});
    attempt_partitioner("critical_path", partition::critical_path{});
    if (!has_plan_) {
      attempt_partitioner("packing", packing{});
    }
  }

  /// Heuristics get a quarter of the seconds; HEFT always runs.
  template <class S>
  void attempt_partitioner(std::string_view name, const S& s) {
    const bool first = found_.tried.empty();
    const bool too_large = options_.seconds < std::numeric_limits<double>::infinity()
                             ? clock_.seconds() > options_.seconds / 4
                             : p_.num_ops() * p_.num_devices() > most_pairs;
    if (has_plan_ && !first && (done() || too_large)) {
      return;
    }
    const stopwatch watch;
    rng random{options_.seed};
    auto decided = partition::run(s, p_, random, scratch_);
    attempt a{.name = std::string{name}};
    if (decided) {
      a.makespan = consider(std::move(decided->plan));
    } else {
      found_.reason = decided.error(); // the last one to try is the one that can prove it
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

  void take(plan better, double makespan) {
    found_.plan = std::move(better);
    found_.makespan = makespan;
    has_plan_ = true;
    listener_.tell(0, clock_.seconds(), makespan);
  }

  template <class S>
  void exact(std::string_view name, const S& s) {
    const stopwatch watch;
    rng random{options_.seed};
    const auto decided = partition::run(s, p_, random, scratch_);
    attempt a{.name = std::string{name}};
    if (decided) {
      const auto run = by_order_.run(decided->plan);
      a.makespan = run.makespan;
      if (!has_plan_ || run.makespan < found_.makespan) {
        take(decided->plan, run.makespan);
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
    std::vector<plan> plans(chains);
    std::vector<double> makespans(chains, found_.makespan);
    for_each_chain(chains, options_.threads, [&](unsigned k) {
      rng random{rng::mix(options_.seed + 0x9e3779b97f4a7c15u * (k + 1))};
      auto mine = share;
      const std::function<void(const progress&)> tell = [&](const progress& x) {
        listener_.tell(x.moves, clock_.seconds(), x.best);
      };
      mine.on_progress = &tell;
      const refine::simulated_annealing s{.budget = mine};
      plans[k] = s(p_, found_.plan, schedule::static_order{}, random);
      makespans[k] = simulator<Problem, schedule::static_order>{p_}.run(plans[k]).makespan;
    });
    const auto best = static_cast<std::size_t>(std::min_element(makespans.begin(), makespans.end()) - makespans.begin());
    found_.tried.push_back({"simulated_annealing", makespans[best], watch.seconds()});
    if (makespans[best] < found_.makespan) {
      take(std::move(plans[best]), makespans[best]);
    }
  }

  best_result finish() && {
    found_.stats.partition_seconds = clock_.seconds();
    if (!has_plan_) {
      found_.status = status::infeasible;
      return std::move(found_);
    }
    const stopwatch running;
    const auto run = by_order_.run(found_.plan);
    found_.stats.simulate_seconds = running.seconds();
    found_.stats.transfer_bytes = run.transfer_bytes;
    found_.stats.num_events = run.num_events;
    found_.makespan = run.makespan;
    found_.reason.reset();
    found_.status = judge(run, found_.bound);
    return std::move(found_);
  }

  const Problem& p_;
  best_options options_;
  stopwatch clock_;
  simulator<Problem, schedule::static_order> by_order_;
  simulator<Problem, schedule::path_completion_time> by_path_;
  progress_listener listener_;
  workspace scratch_;
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
/// if the budget is in moves. Infeasible if there is no plan, or if none was found; `reason` tells which.
template <class Problem>
best_result best(const Problem& p, const best_options& options = {}) {
  return detail::portfolio<Problem>{p, options}.run();
}

} // namespace weft::solve
