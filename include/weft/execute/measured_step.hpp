// SPDX-License-Identifier: BSL-1.0
/// Times of a step's ops by their numbers of threads, alone and side by side, measured while it runs.
#pragma once

#include "weft/concurrency/hill_climbing.hpp"
#include "weft/concurrency/profile.hpp"
#include "weft/concurrency/sampled_curve.hpp"
#include "weft/concurrency/team_plan.hpp"
#include "weft/core/budget.hpp"
#include "weft/execute/items.hpp"
#include "weft/execute/phased_executor.hpp"
#include "weft/execute/setting.hpp"
#include "weft/execute/team_executor.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/concepts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::execute {

namespace detail {

using step_runner = std::function<run_report(const run_options&)>;

template <class Executor, class Kernel>
step_runner with_kernel(std::shared_ptr<Executor> run, Kernel kernel) {
  return [run, kernel](const run_options& o) { return (*run)(kernel, o); };
}

/// In phases, if its wide ops are alone.
template <class Crew, class Kernel>
step_runner executor_of(const concurrency::op_graph& g, const concurrency::team_plan& p, Kernel kernel) {
  return has_wide_ops_alone(p) ? with_kernel(std::make_shared<phased_executor<Crew>>(g, p), kernel)
                               : with_kernel(std::make_shared<team_executor>(g, p), kernel);
}

} // namespace detail

/// A step whose short ops are joined to items, with the times of these. The first part of tuning (`tuned`): runs the
/// step for at most 65 % of the time that the options give. The step must outlive it and stay where it is.
template <repeated_step Step, worker_crew Crew = execute::crew>
class measured_step {
public:
  /// Throws what ops throw.
  measured_step(Step& step, const tuning_options& o) : step_{&step}, options_{o}, graph_{step.graph()} {
    options_.here.check();
    warm_up();
    join();
    climb();
    measure_side_by_side();
  }
  measured_step(const measured_step&) = delete;
  measured_step& operator=(const measured_step&) = delete;

  const machine& here() const { return options_.here; }
  const execute::items& items() const { return items_; }
  const workload& item_graph() const { return item_graph_; }
  const concurrency::op_graph& graph_of_items() const { return graph_of_items_; }
  /// Times of items that run alone, and of those beside which others run on all other cores.
  const concurrency::time_table& alone() const { return alone_; }
  const concurrency::time_table& side_by_side() const { return side_by_side_; }
  const concurrency::profile& profile() const { return profile_; }
  std::size_t profiling_runs() const { return profiling_runs_; }

  void begin() { step_->begin(); }
  void run_item(std::uint32_t item, team t) {
    for (const op_id v : items_.ops(item)) {
      step_->run(v, t);
    }
  }

  /// Seconds since the beginning, and those of a step of the recommended setting meanwhile, as the median.
  double seconds() const { return watch_.seconds(); }
  double usual_seconds() const { return concurrency::median(usual_seconds_); } // other programs make some slower
  /// Whether less than that share of the time is spent, and no stop was asked for.
  bool has_time(double share = 1) const {
    return !options_.stop.stop_requested() &&
           watch_.seconds() < share * std::min(options_.steps * usual_seconds(), options_.seconds);
  }
  void count_step() { ++num_steps_; }
  void say(tuning_phase phase) const {
    if (options_.progress) {
      options_.progress({phase, num_steps_, watch_.seconds() / recommended_seconds_});
    }
  }

private:
  /// Ops one after the other, with their times.
  std::vector<double> run_in_order(std::span<const op_id> order, team t) {
    std::vector<double> seconds(graph_.num_ops());
    step_->begin();
    for (const op_id v : order) {
      const stopwatch watch;
      step_->run(v, t);
      seconds[v] = watch.seconds();
    }
    ++num_steps_;
    return seconds;
  }

  /// Three steps; the fastest tells which ops are short, and how much time there is. What is known of an op from before
  /// counts for more, so that the same ops are joined again.
  void warm_up() {
    const team all{here().cores()};
    recommended_seconds_ = std::numeric_limits<double>::infinity();
    short_.assign(graph_.num_ops(), std::numeric_limits<double>::infinity());
    for (int i = 0; i == 0 || (i < 3 && has_time()); ++i) {
      const stopwatch watch;
      const auto seconds = run_in_order(graph_.topological_order(), all);
      usual_seconds_.push_back(watch.seconds());
      recommended_seconds_ = std::min(recommended_seconds_, usual_seconds_.back());
      for (const op_id v : ids(seconds.size())) {
        short_[v] = std::min(short_[v], seconds[v]);
      }
      say(tuning_phase::warm_up);
    }
    profile_ = options_.known != nullptr ? *options_.known : concurrency::profile{};
    for (const op_id v : ids(graph_.num_ops())) {
      const concurrency::profile::key key{here().name, step_->key(v), all.threads, all.affinity};
      const auto known = options_.known != nullptr ? options_.known->find(key) : std::nullopt;
      short_[v] = known ? known->seconds : short_[v];
      if (!known && !profile_.find(key)) {
        profile_.record(key, std::max(short_[v], 1e-9));
      }
    }
  }

  void join() {
    items_ = execute::items{graph_, short_, options_.joining};
    workload_builder b;
    std::vector<std::string> keys;
    for (std::uint32_t i = 0; i < items_.num_items(); ++i) {
      std::string key;
      op_id longest = items_.ops(i).front();
      for (const op_id v : items_.ops(i)) {
        key += (key.empty() ? "" : "; ") + std::string{step_->key(v)};
        longest = short_[v] > short_[longest] ? v : longest;
      }
      op item{.bytes = 0};
      if constexpr (named_workload<std::remove_cvref_t<decltype(step_->graph())>>) {
        item.name = step_->graph().name(longest);
        item.type = step_->graph().type(longest);
      }
      b.add_op(std::move(item));
      keys.push_back(std::move(key));
    }
    for (std::uint32_t i = 0; i < items_.num_items(); ++i) {
      std::vector<op_id> after;
      for (const op_id v : items_.ops(i)) {
        for (const op_id w : graph_.consumers(v)) {
          after.push_back(items_.item_of(w));
        }
      }
      sort_unique(after);
      for (const op_id j : after) {
        if (j != i) {
          b.add_edge(i, j);
        }
      }
    }
    item_graph_ = std::move(b).build();
    graph_of_items_ = concurrency::op_graph{item_graph_};
    classes_ = {item_graph_, keys};
  }

  /// How much slower the machine is than when it was fastest: a step with all cores tells. Other programs and clocks
  /// change that within seconds, and times of different moments are compared.
  double slowness() {
    step_->begin();
    const stopwatch watch;
    for (const op_id i : graph_of_items_.topological_order()) {
      run_item(i, {here().cores()});
    }
    ++num_steps_;
    usual_seconds_.push_back(watch.seconds());
    return std::max(usual_seconds_.back() / recommended_seconds_, 0.5);
  }

  /// Runs steps with one item at a time until hill climbing knows how all classes scale. All items of a step have the
  /// same team, the smallest that some class asks for: mixed teams would measure how threads are woken. A point has as
  /// much of the time as three steps of the recommended setting, or three of its own; where time runs out, what lies
  /// between the last point and all cores is guessed.
  void climb() {
    constexpr std::uint32_t runs = 3;
    constexpr double any = std::numeric_limits<double>::infinity(); // of hundreds of classes some always disagree
    concurrency::profiler learn{
      classes_, here().cores(),
      {.step = here().cores() > 8 ? 4u : 1u, .runs = runs, .agreement = any, .spread = false}};
    replay(learn);
    for (std::optional<team> t; (t = smallest_wanted(learn)) && has_time(0.5);) {
      double slower = t->threads < here().cores() ? slowness() : 1;
      step_->begin();
      std::vector<std::vector<double>> seconds(classes_.num_classes());
      const stopwatch whole;
      for (const op_id i : graph_of_items_.topological_order()) {
        const stopwatch watch;
        run_item(i, *t);
        seconds[classes_.class_of(i)].push_back(watch.seconds());
      }
      slower = t->threads < here().cores() ? slower : std::max(whole.seconds() / recommended_seconds_, 0.5);
      const double steps = std::clamp(whole.seconds() / recommended_seconds_, 1.0, double{runs});
      for (concurrency::class_id c = 0; c < classes_.num_classes(); ++c) {
        const double middle = std::max(concurrency::median(seconds[c]) / slower, 1e-9);
        for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(steps); ++k) { // a long step counts as several
          learn.record(classes_.representative(c), *t, middle);
        }
        profile_.record({here().name, classes_.key(c), t->threads, t->affinity}, middle);
      }
      ++num_steps_;
      say(tuning_phase::climb);
    }
    profiling_runs_ = learn.num_runs();
    alone_ = times_of(learn);
  }
  /// The climbers' times; of a climb that did not end, with those of all cores from the first steps as its last point.
  concurrency::time_table times_of(const concurrency::profiler& learn) const {
    std::vector<concurrency::sampled_curve> curves;
    for (concurrency::class_id c = 0; c < classes_.num_classes(); ++c) {
      const auto next = learn.climber(c).next();
      std::vector<concurrency::sample> points;
      for (std::uint32_t p = 1; next && p < next->threads; ++p) {
        points.push_back({p, learn.climber(c).curve()({p})});
      }
      if (next) {
        points.push_back({here().cores(), std::max(seconds_of(classes_.representative(c)), 1e-9)});
      }
      curves.push_back(next ? concurrency::sampled_curve{std::move(points), {}} : learn.climber(c).curve());
    }
    return {classes_, here().cores(), [&](concurrency::class_id c, team t) { return curves[c](t); }};
  }
  /// Of an item with all cores.
  double seconds_of(std::uint32_t item) const {
    double sum = 0;
    for (const op_id v : items_.ops(item)) {
      sum += short_[v];
    }
    return sum;
  }
  static std::optional<team> smallest_wanted(const concurrency::profiler& learn) {
    std::optional<team> smallest;
    for (concurrency::class_id c = 0; c < learn.classes().num_classes(); ++c) {
      const auto wanted = learn.climber(c).next();
      smallest = wanted && (!smallest || wanted->threads < smallest->threads) ? wanted : smallest;
    }
    return smallest;
  }
  /// Tells the climbers what is known already.
  void replay(concurrency::profiler& learn) {
    for (concurrency::class_id c = 0; options_.known != nullptr && c < classes_.num_classes(); ++c) {
      for (std::optional<team> t; (t = learn.climber(c).next());) {
        const auto known = options_.known->find({here().name, classes_.key(c), t->threads, t->affinity});
        if (!known) {
          break;
        }
        learn.record(classes_.representative(c), *t, known->seconds);
      }
    }
  }

  /// Times of items while others run, too: as many teams of p threads as there are cores for, for p = 1, 2, 4, …
  void measure_side_by_side() {
    std::vector<std::vector<double>> factors(classes_.num_classes()); // by power of two
    for (std::uint32_t p = 1; 2 * p <= here().cores() && has_time(0.65); p *= 2) {
      const auto plan = concurrency::plan_teams(graph_of_items_, alone_, here(), {.threads = p});
      auto run = detail::executor_of<Crew>(graph_of_items_, plan, [this](op_id v, team t) { run_item(v, t); });
      std::vector<std::vector<double>> seconds(classes_.num_classes());
      const unsigned runs = plan.predicted.makespan > 2 * recommended_seconds_ ? 2 : 4;
      for (unsigned i = 0; i < runs && has_time(0.65); ++i) {
        const double slower = slowness();
        step_->begin();
        const auto report = run({.record = true});
        report.rethrow();
        for (const op_id v : ids(i > 0 ? graph_of_items_.num_ops() : 0)) {
          seconds[classes_.class_of(v)].push_back((report.trace.ops[v].finish - report.trace.ops[v].start) /
                                                   slower);
        }
        ++num_steps_;
        say(tuning_phase::side_by_side);
      }
      for (concurrency::class_id c = 0; c < classes_.num_classes(); ++c) {
        const double alone = alone_.seconds_of_class(c, {p});
        factors[c].push_back(seconds[c].empty() || alone <= 0 ? 1 : concurrency::median(seconds[c]) / alone);
      }
    }
    side_by_side_ = {classes_, here().cores(), [&](concurrency::class_id c, team t) {
                       std::size_t power = 0;
                       while (std::uint32_t{2} << power <= t.threads) {
                         ++power;
                       }
                       return alone_.seconds_of_class(c, t) * (power < factors[c].size() ? factors[c][power] : 1);
                     }};
  }

  Step* step_;
  tuning_options options_;
  stopwatch watch_;
  concurrency::op_graph graph_;
  std::vector<double> usual_seconds_;      // steps of the recommended setting
  double recommended_seconds_ = 0;         // the fastest of the first three of these
  std::vector<double> short_;              // by op: the least seconds that it took with all cores
  execute::items items_;
  workload item_graph_;
  concurrency::op_graph graph_of_items_;
  concurrency::op_classes classes_;        // of items, as the tables
  concurrency::time_table alone_;
  concurrency::time_table side_by_side_;
  concurrency::profile profile_;
  std::size_t num_steps_ = 0;
  std::size_t profiling_runs_ = 0;
};

} // namespace weft::execute
