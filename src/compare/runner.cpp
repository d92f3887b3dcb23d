// SPDX-License-Identifier: BSL-1.0
#include "runner.hpp"

#include "energy.hpp"
#include "progress.hpp"
#include "throughput.hpp"

#include "weft/bound/component_memory.hpp"
#include "weft/report/names.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/solve/best.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

namespace comparison {
namespace {

/// Runs one partitioner with everything that follows it. Keeps simulators and buffers between runs of one setting.
class runner {
public:
  runner(const options& o, const registry& strategies, const selection& chosen, progress_bar& progress)
      : options_{o}, strategies_{strategies}, chosen_{chosen}, progress_{progress} {}

  /// The rows of a partitioner and a seed: refiner by refiner, and for each ready policy. `best` may use `threads`.
  std::vector<row> run(const setting& s, const std::string& partition, unsigned repeat, unsigned threads) {
    weft::report::run_record r{.workload = s.workload_name,
                               .platform = s.platform_name,
                               .partition = partition,
                               .schedule = std::string{no_name},
                               .repeat = static_cast<int>(repeat),
                               .seed = options_.seed + repeat,
                               .refine = std::string{no_name},
                               .objective = std::string{to_string(options_.objective)},
                               .unit = std::string{facts_of(options_.objective).unit},
                               .unit_seconds = s.unit_seconds};
    if (without_schedule(options_.objective, s)) {
      return {place(s, std::move(r))};
    }
    bound_ = bound_of(s, s.bound);
    set_bound(r, bound_);
    return partition == best ? std::vector<row>{solve(s, std::move(r), threads)} : plan_and_run(s, std::move(r));
  }

private:
  bool is_energy() const { return options_.objective == objective::energy; }

  /// A bound on the objective, where none has a smaller makespan than that.
  weft::lower_bound bound_of(const setting& s, const weft::lower_bound& makespan) const {
    return is_energy() ? bound_of_energy(s.for_bounds(), makespan) : makespan;
  }
  void raise_bound(const weft::lower_bound& proven, weft::report::run_record& r) {
    if (proven.value > bound_.value) {
      bound_ = proven;
      set_bound(r, bound_);
    }
  }
  static void set_bound(weft::report::run_record& r, const weft::lower_bound& bound) {
    r.lower_bound = std::isfinite(bound.value) ? bound.value : weft::report::absent;
    r.lower_bound_name = std::string{to_string(bound.which)};
  }

  static void explain(const setting& s, const weft::infeasibility& why, weft::report::run_record& r) {
    const bool proven = s.task ? weft::bound::proves_infeasible(*s.task, why)
                               : why.cause == weft::infeasibility::kind::no_device_of_kind;
    r.status = to_string(proven ? weft::status::infeasible : weft::status::not_found);
    r.reason = to_string(why, why.op < s.workload().num_ops() ? s.workload().name(why.op) : std::string_view{});
  }

  std::string label(const weft::report::run_record& r) const {
    return fmt::format("{} on {}: {}", r.workload, r.platform, r.partition);
  }

  /// The given budget, with a listener; a second where none is given and `otherwise_a_second`.
  weft::budget budget(bool otherwise_a_second) const {
    weft::budget b = options_.budget;
    if (otherwise_a_second && !options_.has_budget()) {
      b.seconds = 1;
    }
    return b;
  }

  /// For objectives of the placement alone.
  row place(const setting& s, weft::report::run_record r) {
    weft::rng random{r.seed};
    const weft::stopwatch deciding;
    weft::outcome<placed> found = place_by(s, r.partition, random);
    r.partition_seconds = deciding.seconds();
    const bool period = options_.objective == objective::period;
    r.lower_bound_name = period ? "period_bound" : "latency_bound";
    if (!found) {
      explain(s, found.error(), r);
      return {std::move(r)};
    }
    r.makespan = found->value;
    r.lower_bound = found->bound;
    r.gap = weft::report::relative_gap(r.makespan, r.lower_bound);
    r.status = to_string(found->value <= found->bound * (1 + 1e-6) ? weft::status::optimal : weft::status::solved);
    return {std::move(r)};
  }

  weft::outcome<placed> place_by(const setting& s, const std::string& partition, weft::rng& random) {
    const bool period = options_.objective == objective::period;
    if (s.placement_study != nullptr) {
      const auto& x = *s.placement_study;
      return period ? best_period(x, budget(true), random) : best_latency(x, budget(true), random);
    }
    if (partition == best) {
      return best_period(*s.task, budget(true), random);
    }
    auto decided = (*strategies_.find_partitioner(partition))(*s.task, random, scratch_);
    if (!decided) {
      return decided.error();
    }
    placed made{std::move(decided->plan.placement)};
    made.value = period_of(*s.task, made.placement);
    made.bound = s.bound_of_period;
    return made;
  }

  row solve(const setting& s, weft::report::run_record r, unsigned threads) {
    r.schedule = best;
    const auto given = budget(true);
    const auto name = label(r);
    const weft::solve::best_options how{
      .seconds = given.seconds,
      .moves = given.moves,
      .seed = r.seed,
      .threads = threads,
      .stop = given.stop,
      .on_progress = [&](const weft::progress& p) { progress_.improve(name, p); },
      .memory = options_.memory};
    auto found = is_energy() ? best_energy(*s.task, options_.contention, how)
                 : options_.contention == weft::contention_model::none
                   ? weft::solve::best(*s.task, how)
                   : weft::solve::best(*s.task,
                                       weft::simulate::under{weft::schedule::static_order{},
                                                             weft::simulate::any_network{options_.contention}},
                                       how);
    r.partition_seconds = found.stats.partition_seconds;
    row made{std::move(r)};
    if (!found.has_plan()) {
      if (found.status == weft::status::infeasible && found.reason) { // a proof says more than what came nearest
        explain(s, *found.reason, made.record);
      } else if (found.shortage) {
        const auto memory = weft::report::memory_name(s.task->platform(), found.shortage->device);
        const auto op_name = [&](weft::op_id v) { return s.workload().name(v); };
        const auto text = about_shortage(*found.shortage, memory, op_name, 0);
        made.record.reason = "in the plan that came nearest, " + text.substr(0, text.find('\n'));
      } else if (found.reason) {
        explain(s, *found.reason, made.record);
      }
      made.record.status = to_string(found.status);
      return made;
    }
    raise_bound(found.bound, made.record);
    simulate(s, std::move(found.plan), "static_order", made);
    return made;
  }

  std::vector<row> plan_and_run(const setting& s, weft::report::run_record r) {
    weft::rng random{r.seed};
    const weft::stopwatch deciding;
    auto decided = (*strategies_.find_partitioner(r.partition))(*s.task, random, scratch_);
    r.partition_seconds = deciding.seconds();
    if (!decided) {
      explain(s, decided.error(), r);
    } else if (!s.over_time) { // else other plans need not reserve what this proof assumes
      raise_bound(bound_of(s, {decided->bound, weft::lower_bound::rule::search}), r);
    }
    std::vector<row> as_decided;
    for (const auto& schedule : chosen_.schedules) {
      r.schedule = schedule;
      as_decided.push_back({r});
      if (decided) {
        simulate(s, decided->plan, schedule, as_decided.back());
      }
    }
    std::vector<row> rows;
    for (const auto& refiner : chosen_.refiners) {
      auto more = refiner == no_name ? as_decided
                  : decided          ? refine(s, refiner, decided->plan, as_decided)
                                     : as_decided;
      for (auto& x : more) {
        x.record.refine = refiner;
        rows.push_back(std::move(x));
      }
    }
    return rows;
  }

  /// The refined plan under each ready policy, or what there was where that is better.
  std::vector<row> refine(const setting& s, const std::string& refiner, const weft::plan& start,
                          const std::vector<row>& as_decided) {
    weft::rng random{as_decided.front().record.seed};
    auto given = budget(false);
    given.target = bound_.value;
    const auto name = fmt::format("{} + {}", label(as_decided.front().record), refiner);
    given.on_progress = [&](const weft::progress& p) { progress_.improve(name, p); };
    const weft::stopwatch refining;
    auto judge = is_energy() ? energy_judge(*s.task) : weft::any_evaluator{*s.task};
    const auto better = (*strategies_.find_refiner(refiner))(judge, start, given, random).plan;
    const double seconds = refining.seconds();
    auto rows = as_decided;
    for (auto& x : rows) {
      row refined{x.record};
      simulate(s, better, x.record.schedule, refined);
      if (refined.record.solved() && !(x.record.makespan <= refined.record.makespan)) {
        x = std::move(refined);
      }
      x.record.refine_seconds = seconds;
    }
    return rows;
  }

  weft::any_simulator<problem>& simulator_for(const setting& s, const std::string& policy) {
    if (current_ != &s) { // simulators belong to a problem
      simulators_.clear();
      memory_ = std::make_unique<weft::simulate::memory_tracker<problem>>(*s.task);
      current_ = &s;
    }
    auto& simulator = simulators_[policy];
    if (!simulator) {
      simulator = (*strategies_.find_policy(policy))(*s.task, options_.contention);
    }
    return *simulator;
  }

  void simulate(const setting& s, const weft::plan& plan, const std::string& policy, row& into) {
    auto& r = into.record;
    auto& simulator = simulator_for(s, policy);
    const weft::stopwatch scheduling;
    simulator.prepare(plan);
    r.order = order_origin_of(plan, simulator.keeps_order());
    r.schedule_seconds = scheduling.seconds();
    const weft::stopwatch simulating;
    const auto run = simulator.run_prepared(trace_);
    r.simulate_seconds = simulating.seconds();
    const weft::score score = run.complete && is_energy() ? energy_of(*s.task, trace_) : weft::score{run.makespan};
    r.status = to_string(weft::judge(run, score, bound_));
    r.transfer_bytes = run.transfer_bytes;
    if (!run.complete) {
      r.reason = "the order contradicts the graph, so some ops never run";
      r.makespan = weft::report::absent;
      return;
    }
    r.makespan = score.value;
    r.gap = weft::report::relative_gap(score.value, bound_.value);
    memory_->follow(plan.placement, trace_);
    r.peak_memory = memory_->largest_peak();
    r.reason.clear();
    if (const auto& overflow = memory_->overflow()) {
      r.status = "out_of_memory";
      r.reason =
        fmt::format("device {} needs {} bytes and has {}", overflow->device, overflow->bytes, overflow->capacity);
      r.makespan = r.gap = weft::report::absent;
    }
    if (!options_.html.empty() || !options_.trace.empty() || !options_.traces.empty()) {
      into.plan = std::make_shared<const weft::plan>(plan);
      into.policy = policy;
    }
  }

  const options& options_;
  const registry& strategies_;
  const selection& chosen_;
  progress_bar& progress_;
  weft::workspace scratch_;
  weft::trace trace_;
  weft::lower_bound bound_; // of the setting, or a better one of a search
  const setting* current_ = nullptr;
  std::map<std::string, std::unique_ptr<weft::any_simulator<problem>>> simulators_;
  std::unique_ptr<weft::simulate::memory_tracker<problem>> memory_;
};

} // namespace

strategy_names known_strategies(const registry& strategies) {
  strategy_names all{strategies.partitioner_names(), strategies.policy_names(), strategies.refiner_names()};
  for (const auto* names : {&all.partitioners, &all.policies, &all.refiners}) {
    for (auto name = names->begin(); name != names->end(); ++name) {
      if (std::find(names->begin(), name, *name) != name) {
        throw weft::error(fmt::format("there are two strategies '{}'; call your own something else", *name));
      }
      const bool usable = !name->empty() && name->find(',') == std::string::npos;
      if (!usable || *name == best || *name == no_name || *name == "all") {
        throw weft::error(
          fmt::format("a strategy cannot be called '{}' on a command line; call it something else", *name));
      }
    }
  }
  return all;
}

std::vector<row> run_all(const options& o, const registry& strategies, const selection& chosen,
                         const std::vector<setting>& settings) {
  const std::size_t per_setting = chosen.partitions.size() * o.repeat;
  const std::size_t count = settings.size() * per_setting;
  const bool slow = has(chosen.partitions, best) || chosen.refiners.size() > 1 || chosen.refiners.front() != no_name;
  const unsigned threads = count == 1 ? o.jobs : 1;
  std::vector<std::vector<row>> results(count);
  progress_bar progress{count, slow};
  parallel_for(count, o.jobs, o.budget.stop, [&] {
    return [&, run = std::make_shared<runner>(o, strategies, chosen, progress)](std::size_t i) {
      const setting& s = settings[i / per_setting];
      const auto& partition = chosen.partitions[i % per_setting / o.repeat];
      results[i] = run->run(s, partition, static_cast<unsigned>(i % o.repeat), threads);
      progress.advance(fmt::format("{} on {}: {}", s.workload_name, s.platform_name, partition));
    };
  });
  std::vector<row> all;
  for (auto& rows : results) {
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
  return all;
}

weft::trace rerun(const options& o, const registry& strategies, const setting& s, const weft::plan& plan,
                  const std::string& policy) {
  const auto simulator = (*strategies.find_policy(policy))(*s.task, o.contention);
  simulator->prepare(plan);
  weft::trace run;
  simulator->run_prepared(run);
  return run;
}

} // namespace comparison
