// SPDX-License-Identifier: BSL-1.0
/// Finds by measuring how a step that is run again and again is best run on this machine: how many threads each op
/// gets, and which ops run side by side.
#pragma once

#include "weft/concurrency/hill_climbing.hpp"
#include "weft/concurrency/moldable.hpp"
#include "weft/concurrency/profile.hpp"
#include "weft/concurrency/team_plan.hpp"
#include "weft/core/budget.hpp"
#include "weft/core/random.hpp"
#include "weft/cost/linear.hpp"
#include "weft/execute/concurrent_executor.hpp"
#include "weft/execute/items.hpp"
#include "weft/execute/phased_executor.hpp"
#include "weft/execute/setting.hpp"
#include "weft/execute/team_executor.hpp"
#include "weft/simulate/manycore.hpp"
#include "weft/simulate/record.hpp"
#include "weft/workload/builder.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {
namespace execute {

/// A step, tuned: the fastest setting that was found, ready to run, and what was found on the way. The recommended
/// setting, one op at a time on all cores, takes part. Tuning runs the step, with all that it changes. The step must
/// outlive it and stay where it is.
/// ```
/// weft::execute::tuned best{step, {.here = weft::local_topology{}.describe()}};
/// for (;;) {
///   best().rethrow(); // a step
/// }
/// ```
template <repeated_step Step, worker_crew Crew = execute::crew>
class tuned {
public:
  /// Tunes, for about as long as the options say, or until it is stopped. Throws what ops throw.
  tuned(Step& step, tuning_options o)
      : step_{&step}, options_{std::move(o)}, graph_{step.graph()} {
    options_.here.check();
    warm_up();
    join();
    climb();
    measure_side_by_side();
    make_settings();
    try_settings();
  }
  tuned(const tuned&) = delete;
  tuned& operator=(const tuned&) = delete;

  /// Runs a step with the chosen setting. The trace is by item.
  run_report operator()(const run_options& o = {}) { return run(chosen_, o); }
  /// The same with another setting.
  run_report run(std::size_t setting, const run_options& o = {}) {
    step_->begin();
    return runner(setting)(o);
  }
  /// Runs the settings in turns, `rounds` times, each `steps` times after one that does not count, and adds the times
  /// to theirs. What disturbs the machine then disturbs all alike.
  void measure(std::span<const std::size_t> which, unsigned rounds, unsigned steps = 1) {
    std::vector<std::size_t> turn{which.begin(), which.end()};
    for (unsigned round = 0; round < rounds && !options_.stop.stop_requested(); ++round) {
      random_.shuffle(turn);
      for (const std::size_t i : turn) {
        (void)timed(i);
        for (unsigned k = 0; k < steps; ++k) {
          settings_[i].seconds.push_back(timed(i));
        }
      }
    }
  }

  /// Finds by trial the best setting that users make by hand: so many ops at a time, so many threads each, as they
  /// become ready or the critical path first.
  std::size_t best_uniform(unsigned rounds = 3) {
    using enum setting_kind;
    std::vector<std::size_t> tried;
    double least = std::numeric_limits<double>::infinity();
    const auto is_uniform = [&](const setting& s) {
      return s.kind == one_at_a_time || s.kind == uniform || s.kind == symmetric;
    };
    for (const auto& s : settings_) {
      least = is_uniform(s) ? std::min(least, s.predicted.makespan) : least;
    }
    for (std::size_t i = 0; i < settings_.size(); ++i) {
      if (is_uniform(settings_[i]) && settings_[i].predicted.makespan < 1.5 * least) {
        tried.push_back(i);
      }
    }
    measure(tried, tried.size() > 1 ? rounds : 0);
    return *std::ranges::min_element(tried, {}, [this](std::size_t i) { return settings_[i].measured(); });
  }

  const std::vector<setting>& settings() const { return settings_; }
  /// Forgets the measured times of settings, as before a measurement of its own.
  void forget_times() {
    for (auto& s : settings_) {
      s.seconds.clear();
    }
  }
  std::size_t chosen() const { return chosen_; }
  static constexpr std::size_t recommended = 0; ///< the setting with one op at a time on all cores
  static constexpr std::size_t one_thread = 1;  ///< … on one; on a machine with one core the same
  /// The team of each op, unless it is decided while a step runs.
  std::vector<team> teams() const {
    const auto plan = plan_of(settings_[chosen_]);
    std::vector<team> by_op;
    for (const op_id v : ids(plan ? graph_.num_ops() : 0)) {
      by_op.push_back(plan->teams[items_.item_of(v)]);
    }
    return by_op;
  }
  /// Ops that run as one. Traces are by item.
  const execute::items& items() const { return items_; }
  const workload& item_graph() const { return item_graph_; }
  /// The measured times, of items, alone and with company.
  const concurrency::time_table& times() const { return alone_; }
  const concurrency::time_table& times_side_by_side() const { return side_by_side_; }
  /// What was measured of ops alone, to be known next time.
  const concurrency::profile& profile() const { return profile_; }
  /// Seconds that tuning took; how many steps of the recommended setting took as long meanwhile; the steps that it ran.
  double tuning_seconds() const { return tuning_seconds_; }
  double tuning_time_in_steps() const { return tuning_seconds_ / concurrency::median(usual_seconds_); }
  std::size_t tuning_steps() const { return num_steps_; }
  std::size_t profiling_runs() const { return profiling_runs_; }

private:
  using runner_type = std::function<run_report(const run_options&)>;

  /// What an item costs is what its ops do; what strategies believe is what was measured.
  struct measured_cost : cost::link_transfers {
    const concurrency::time_table* times = nullptr;

    template <class W>
    double seconds(const W&, op_id v, const machine& m, team t) const {
      const double s = times->seconds(v, t);
      return s > 0 ? s + m.dispatch_seconds : 0;
    }
    template <class W, class P>
    double compute_time(const W&, op_id v, const P&, device_id) const {
      return times->seconds(v, {});
    }
  };

  const machine& here() const { return options_.here; }
  bool stopped() const { return options_.stop.stop_requested(); }
  bool has_time() const {
    return !stopped() && watch_.seconds() < std::min(options_.steps * recommended_seconds_, options_.seconds);
  }
  void say(tuning_phase phase) const {
    if (options_.progress) {
      options_.progress({phase, num_steps_, recommended_seconds_ > 0 ? watch_.seconds() / recommended_seconds_ : 0});
    }
  }

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

  /// Three steps; the fastest tells which ops are short, and how much time there is.
  void warm_up() {
    recommended_seconds_ = std::numeric_limits<double>::infinity();
    short_.assign(graph_.num_ops(), std::numeric_limits<double>::infinity());
    for (int i = 0; i < 3; ++i) {
      const stopwatch watch;
      const auto seconds = run_in_order(graph_.topological_order(), {here().cores()});
      usual_seconds_.push_back(watch.seconds());
      recommended_seconds_ = std::min(recommended_seconds_, usual_seconds_.back());
      for (const op_id v : ids(seconds.size())) {
        short_[v] = std::min(short_[v], seconds[v]);
      }
      say(tuning_phase::warm_up);
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
      b.add_op({.bytes = 0, .name = name_of(longest), .type = type_of(longest)});
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
    of_items_ = concurrency::op_graph{item_graph_};
    classes_ = {item_graph_, keys};
  }
  std::string name_of(op_id v) const {
    if constexpr (requires { std::string{step_->graph().name(v)}; }) {
      return std::string{step_->graph().name(v)};
    }
    return {};
  }
  std::string type_of(op_id v) const {
    if constexpr (requires { std::string{step_->graph().type(v)}; }) {
      return std::string{step_->graph().type(v)};
    }
    return {};
  }

  void run_item(std::uint32_t item, team t) {
    for (const op_id v : items_.ops(item)) {
      step_->run(v, t);
    }
  }

  /// How much slower the machine is than when it was fastest: a step with all cores tells. Other programs and clocks
  /// change that within seconds, and times of different moments are compared.
  double slowness() {
    step_->begin();
    const stopwatch watch;
    for (const op_id i : of_items_.topological_order()) {
      run_item(i, {here().cores()});
    }
    ++num_steps_;
    usual_seconds_.push_back(watch.seconds());
    return std::max(usual_seconds_.back() / recommended_seconds_, 0.5);
  }

  /// Runs steps with one item at a time until hill climbing knows how all classes scale. All items of a step have the
  /// same team, the smallest that some class asks for: mixed teams would measure how threads are woken.
  void climb() {
    concurrency::profiler learn{
      classes_, here().cores(), {.step = here().cores() > 8 ? 4u : 1u, .runs = 3, .agreement = 1.25, .spread = false}};
    replay(learn);
    for (std::optional<team> t; (t = smallest_wanted(learn)) && has_time();) {
      const double slower = slowness();
      step_->begin();
      std::vector<std::vector<double>> seconds(classes_.num_classes());
      for (const op_id i : of_items_.topological_order()) {
        const stopwatch watch;
        run_item(i, *t);
        seconds[classes_.class_of(i)].push_back(std::max(watch.seconds() / slower, 1e-9));
      }
      for (concurrency::class_id c = 0; c < classes_.num_classes(); ++c) {
        const double middle = concurrency::median(seconds[c]);
        learn.record(classes_.representative(c), *t, middle);
        profile_.record({here().name, classes_.key(c), t->threads, t->affinity}, middle);
      }
      ++num_steps_;
      say(tuning_phase::climb);
    }
    profiling_runs_ = learn.num_runs();
    is_climbed_ = learn.done();
    alone_ = is_climbed_ ? learn.times() : concurrency::time_table{classes_, here().cores(), [&](auto c, team) {
                                             return seconds_of(classes_.representative(c));
                                           }};
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
    if (options_.known != nullptr) {
      profile_ = *options_.known;
    }
  }

  /// Times of items while others run, too: as many teams of p threads as there are cores for, for p = 1, 2, 4, …
  void measure_side_by_side() {
    std::vector<std::vector<double>> factors(classes_.num_classes()); // by power of two
    for (std::uint32_t p = 1; 2 * p <= here().cores(); p *= 2) {
      const auto plan = concurrency::plan_teams(of_items_, alone_, here(), {.threads = p});
      auto run = executor_of(plan);
      std::vector<std::vector<double>> seconds(classes_.num_classes());
      const unsigned runs = plan.predicted.makespan > 2.5 * recommended_seconds_ ? 2 : 4;
      for (unsigned i = 0; i < runs && has_time(); ++i) {
        const double slower = slowness();
        step_->begin();
        const auto report = run({.stop = options_.stop, .record = true});
        report.rethrow();
        for (const op_id v : ids(i > 0 || runs == 1 ? of_items_.num_ops() : 0)) {
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

  void make_settings() {
    using enum setting_kind;
    const std::uint32_t cores = here().cores();
    settings_ = {{.kind = one_at_a_time, .threads = cores}, {.kind = one_at_a_time, .threads = 1}};
    for (std::uint32_t threads = 2; threads < cores; threads *= 2) {
      settings_.push_back({.kind = one_at_a_time, .threads = threads});
    }
    for (std::uint32_t threads = 1; threads <= cores; ++threads) {
      const std::uint32_t most = cores / threads;
      if (most > 1 && (threads == 1 || most != cores / (threads - 1))) {
        settings_.push_back({.kind = uniform, .at_once = most, .threads = threads});
        settings_.push_back({.kind = symmetric, .at_once = most, .threads = threads});
        settings_.push_back({.kind = planned, .at_once = most, .threads = threads});
      }
    }
    for (const auto k : {s1, s1_s2, s1_s2_s3, s1_s2_s3_s4}) {
      settings_.push_back({.kind = k});
    }
    for (const double e : {0.3, 0.6, 0.75, 0.9}) {
      for (const bool alone : {true, false}) {
        if (alone || cores > 2) { // of two cores a wide op takes both
          settings_.push_back({.kind = planned, .min_efficiency = e, .alone = alone});
        }
      }
    }
    for (auto& s : settings_) {
      s.predicted = prediction(s);
    }
    runners_.resize(settings_.size());
  }

  /// The plan of a setting that decides before the run.
  std::optional<concurrency::team_plan> plan_of(const setting& s) const {
    switch (s.kind) {
    case setting_kind::one_at_a_time:
      return concurrency::one_after_the_other(of_items_, alone_, std::vector<team>(of_items_.num_ops(), {s.threads}));
    case setting_kind::s1: return concurrency::one_after_the_other(of_items_, alone_, by_item(concurrency::s1));
    case setting_kind::s1_s2: return concurrency::one_after_the_other(of_items_, alone_, by_item(concurrency::s1_s2));
    case setting_kind::planned:
      return concurrency::plan_teams(of_items_, side_by_side_, here(),
                                     {.threads = s.threads, .alone = s.alone, .min_efficiency = s.min_efficiency});
    default: return {};
    }
  }
  std::vector<team> by_item(const auto& strategy) const {
    const auto teams = strategy.threads(alone_, here());
    std::vector<team> all;
    for (const op_id v : ids(of_items_.num_ops())) {
      all.push_back(teams[classes_.class_of(v)]);
    }
    return all;
  }

  /// Calls `f` with the strategy of a setting that decides while a step runs.
  template <class F>
  static auto with_strategy(const setting& s, F f) {
    switch (s.kind) {
    case setting_kind::symmetric: return f(concurrency::symmetric(s.at_once, s.threads));
    case setting_kind::s1_s2_s3: return f(concurrency::s1_s2_s3);
    case setting_kind::s1_s2_s3_s4: return f(concurrency::s1_s2_s3_s4);
    default: return f(concurrency::uniform(s.at_once, s.threads));
    }
  }

  trace prediction(const setting& s) const {
    if (auto plan = plan_of(s)) {
      return std::move(plan->predicted);
    }
    const auto one = single(here());
    const problem p{item_graph_, one, measured_cost{{}, &side_by_side_}};
    return with_strategy(s, [&](const auto& strategy) {
      trace predicted;
      manycore_simulator simulator{p, strategy, {side_by_side_}};
      simulator.run({placement(of_items_.num_ops(), 0)}, simulate::recorder{predicted});
      return predicted;
    });
  }

  runner_type& runner(std::size_t i) {
    auto& made = runners_[i];
    if (const auto plan = made ? std::nullopt : plan_of(settings_[i])) {
      made = executor_of(*plan);
    } else if (!made) {
      made = with_strategy(settings_[i], [&](const auto& strategy) {
        using executor = concurrent_executor<std::decay_t<decltype(strategy)>>;
        return with_kernel(std::make_shared<executor>(item_graph_, side_by_side_, here(), strategy));
      });
    }
    return made;
  }
  runner_type executor_of(const concurrency::team_plan& p) {
    return is_phased(p) ? with_kernel(std::make_shared<phased_executor<Crew>>(of_items_, p))
                        : with_kernel(std::make_shared<team_executor>(of_items_, p));
  }
  template <class Executor>
  runner_type with_kernel(std::shared_ptr<Executor> run) {
    return [this, run](const run_options& o) { return (*run)([this](op_id v, team t) { run_item(v, t); }, o); };
  }

  /// Whether ops with several threads have the machine for themselves.
  static bool is_phased(const concurrency::team_plan& p) {
    double free_from = 0;
    double last = 0; // end of what has begun
    for (const op_id v : p.order) {
      const auto& r = p.predicted.ops[v];
      if (r.start < free_from || (r.threads > 1 && r.start < last)) {
        return false;
      }
      free_from = r.threads > 1 ? r.finish : free_from;
      last = std::max(last, r.finish);
    }
    return true;
  }

  double timed(std::size_t i) {
    const auto report = run(i, {.stop = options_.stop});
    report.rethrow();
    ++num_steps_;
    return report.seconds;
  }

  /// Runs the recommended setting and the best by prediction in turns. Those that turn out slower drop out.
  void try_settings() {
    auto left = is_climbed_ ? candidates() : std::vector{recommended};
    for (unsigned round = 1; left.size() > 1 && has_time(); ++round) {
      random_.shuffle(left);
      for (const std::size_t i : left) {
        settings_[i].seconds.push_back(timed(i));
        settings_[i].seconds.push_back(timed(i));
      }
      chosen_ = recommended;
      double least = usually_least(recommended) * 0.98; // what is as fast is not worth a change
      for (const std::size_t i : left) {
        if (usually_least(i) < least) {
          chosen_ = i;
          least = usually_least(i);
        }
      }
      std::erase_if(left, [&](std::size_t i) {
        return i != recommended && i != chosen_ && usually_least(i) > least * (1 + 0.3 / round);
      });
      say(tuning_phase::trial);
    }
    tuning_seconds_ = watch_.seconds();
  }
  /// The lower quartile: other programs make steps slower, never faster.
  double usually_least(std::size_t i) const {
    auto seconds = settings_[i].seconds;
    weft::sort(seconds);
    return seconds[seconds.size() / 4];
  }

  /// The recommended setting, and the three best by prediction of different kinds that are at most a fifth slower than
  /// the best of all.
  std::vector<std::size_t> candidates() const {
    using enum setting_kind;
    const auto group = [](const setting& s) {
      switch (s.kind) {
      case s1_s2: return std::pair{s1, false};
      case symmetric: return std::pair{uniform, false};
      case s1_s2_s3_s4: return std::pair{s1_s2_s3, false};
      default: return std::pair{s.kind, s.kind == planned && s.threads > 0};
      }
    };
    std::vector<std::size_t> by_prediction(settings_.size());
    std::iota(by_prediction.begin(), by_prediction.end(), std::size_t{0});
    const auto seconds = [this](std::size_t i) { return settings_[i].predicted.makespan; };
    weft::sort(by_prediction, [&](std::size_t a, std::size_t b) {
      return std::pair{seconds(a), a} < std::pair{seconds(b), b};
    });
    std::vector<std::size_t> best{recommended};
    for (const std::size_t i : by_prediction) {
      const bool is_new = std::ranges::none_of(best, [&](std::size_t j) {
        return group(settings_[i]) == group(settings_[j]);
      });
      if (best.size() < 4 && is_new && seconds(i) < 1.2 * seconds(by_prediction.front())) {
        best.push_back(i);
      }
    }
    return best;
  }

  Step* step_;
  tuning_options options_;
  stopwatch watch_;
  rng random_{1};
  concurrency::op_graph graph_;
  double recommended_seconds_ = 0;         // the least …
  std::vector<double> usual_seconds_;      // … of all steps of the recommended setting while tuning
  std::vector<double> short_; // by op: the least seconds that it took with all cores
  execute::items items_;
  workload item_graph_;
  concurrency::op_graph of_items_;
  concurrency::op_classes classes_;        // of items, as the tables
  concurrency::time_table alone_;
  concurrency::time_table side_by_side_;
  concurrency::profile profile_;
  std::vector<setting> settings_;
  std::vector<runner_type> runners_;       // by setting
  std::size_t chosen_ = recommended;
  std::size_t num_steps_ = 0;
  std::size_t profiling_runs_ = 0;
  bool is_climbed_ = false; // all classes are known with all teams
  double tuning_seconds_ = 0;
};

} // namespace execute
} // namespace weft
