// SPDX-License-Identifier: BSL-1.0
/// Finds by measuring how a step that is run again and again is best run on this machine: how many threads each op
/// gets, and which ops run side by side.
#pragma once

#include "weft/concurrency/moldable.hpp"
#include "weft/concurrency/profile.hpp"
#include "weft/concurrency/team_plan.hpp"
#include "weft/core/random.hpp"
#include "weft/core/sort.hpp"
#include "weft/cost/linear.hpp"
#include "weft/execute/concurrent_executor.hpp"
#include "weft/execute/measured_step.hpp"
#include "weft/execute/setting.hpp"
#include "weft/problem.hpp"
#include "weft/simulate/manycore.hpp"
#include "weft/simulate/record.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::execute {

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
  tuned(Step& step, const tuning_options& o) : measured_{step, o}, stop_{o.stop} {
    make_settings();
    try_settings();
  }
  tuned(const tuned&) = delete;
  tuned& operator=(const tuned&) = delete;

  /// Runs a step with the chosen setting. The trace is by item.
  run_report operator()(const run_options& o = {}) { return run(chosen_, o); }
  /// The same with another setting.
  run_report run(std::size_t setting, const run_options& o = {}) {
    measured_.begin();
    return runner(setting)(o);
  }
  /// Runs the settings in turns, `rounds` times, each `steps` times after one that does not count, and adds the times
  /// to theirs. What disturbs the machine then disturbs all alike.
  void measure(std::span<const std::size_t> which, unsigned rounds, unsigned steps = 1) {
    std::vector<std::size_t> turn{which.begin(), which.end()};
    for (unsigned round = 0; round < rounds && !stop_.stop_requested(); ++round) {
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
    std::vector<std::size_t> tried{recommended, one_thread};
    double least = std::numeric_limits<double>::infinity();
    const auto is_uniform = [](const setting& s) {
      return s.kind == one_at_a_time || s.kind == uniform || s.kind == symmetric;
    };
    for (const auto& s : settings_) {
      least = is_uniform(s) ? std::min(least, s.predicted.makespan) : least;
    }
    for (std::size_t i = one_thread + 1; i < settings_.size(); ++i) {
      if (is_uniform(settings_[i]) && settings_[i].predicted.makespan <= 1.5 * least) {
        tried.push_back(i);
      }
    }
    measure(tried, rounds);
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
  /// Ops that run as one. Traces are by item.
  const execute::items& items() const { return measured_.items(); }
  const workload& item_graph() const { return measured_.item_graph(); }
  /// The measured times of items that run alone.
  const concurrency::time_table& times() const { return measured_.alone(); }
  /// What was measured of ops alone, to be known next time.
  const concurrency::profile& profile() const { return measured_.profile(); }
  /// Seconds that tuning took; how many steps of the recommended setting took as long meanwhile.
  double tuning_seconds() const { return tuning_seconds_; }
  double tuning_time_in_steps() const { return tuning_seconds_ / measured_.usual_seconds(); }
  std::size_t profiling_runs() const { return measured_.profiling_runs(); }

private:
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

  const machine& here() const { return measured_.here(); }
  const concurrency::op_graph& graph() const { return measured_.graph_of_items(); }
  auto kernel() {
    return [this](op_id item, team t) { measured_.run_item(item, t); };
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
      if (most > 1 && most != cores / (threads + 1)) { // the most threads for so many at once
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
    const auto in_order = [this](std::vector<team> teams) {
      return concurrency::one_after_the_other(graph(), measured_.alone(), std::move(teams));
    };
    switch (s.kind) {
    case setting_kind::one_at_a_time: return in_order(std::vector<team>(graph().num_ops(), {s.threads}));
    case setting_kind::s1: return in_order(by_item(concurrency::s1));
    case setting_kind::s1_s2: return in_order(by_item(concurrency::s1_s2));
    case setting_kind::planned:
      return concurrency::plan_teams(graph(), measured_.side_by_side(), here(),
                                     {.threads = s.threads, .alone = s.alone, .min_efficiency = s.min_efficiency});
    default: return {};
    }
  }
  std::vector<team> by_item(const auto& strategy) const {
    const auto teams = strategy.threads(measured_.alone(), here());
    std::vector<team> all;
    for (const op_id v : ids(graph().num_ops())) {
      all.push_back(teams[measured_.alone().classes().class_of(v)]);
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
    const problem p{item_graph(), one, measured_cost{{}, &measured_.side_by_side()}};
    return with_strategy(s, [&](const auto& strategy) {
      trace predicted;
      manycore_simulator simulator{p, strategy, {measured_.side_by_side()}};
      simulator.run({placement(graph().num_ops(), 0)}, simulate::recorder{predicted});
      return predicted;
    });
  }

  detail::step_runner& runner(std::size_t i) {
    auto& made = runners_[i];
    if (!made) {
      make_room();
    }
    if (const auto plan = made ? std::nullopt : plan_of(settings_[i])) {
      made = detail::executor_of<Crew>(graph(), *plan, kernel());
    } else if (!made) {
      made = with_strategy(settings_[i], [&](const auto& strategy) {
        using executor = concurrent_executor<std::decay_t<decltype(strategy)>>;
        return detail::with_kernel(
          std::make_shared<executor>(item_graph(), measured_.side_by_side(), here(), strategy), kernel());
      });
    }
    return made;
  }
  /// Executors keep their threads for the next run: those of more than a hundred threads are not kept.
  void make_room() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      kept += runners_[i] ? std::size_t{here().cores()} * here().threads_per_core : 0;
      if (kept > 100 && i != chosen_) {
        runners_[i] = nullptr;
      }
    }
  }
  double timed(std::size_t i) {
    const auto report = run(i); // to its end, for its time to count
    report.rethrow();
    measured_.count_step();
    return report.seconds;
  }

  /// Runs the recommended setting and the best by prediction in turns. Those that turn out slower drop out.
  void try_settings() {
    auto left = candidates();
    for (unsigned round = 1; left.size() > 1 && measured_.has_time(); ++round) {
      random_.shuffle(left);
      for (const std::size_t i : left) {
        settings_[i].seconds.push_back(timed(i));
        settings_[i].seconds.push_back(timed(i));
      }
      chosen_ = recommended;
      double least = usually_least(recommended) * 0.98; // what is as fast is not worth a change
      for (const std::size_t i : left) {
        if (usually_least(i) < least && usually_wins(i)) {
          chosen_ = i;
          least = usually_least(i);
        }
      }
      std::erase_if(left, [&](std::size_t i) {
        return i != recommended && i != chosen_ && usually_least(i) > least * (1 + 0.3 / round);
      });
      measured_.say(tuning_phase::trial);
    }
    tuning_seconds_ = measured_.seconds();
  }
  /// Whether two thirds of its steps were faster than those of the recommended setting in the same rounds.
  bool usually_wins(std::size_t i) const {
    const auto& usual = settings_[recommended].seconds;
    std::size_t wins = 0;
    for (std::size_t k = 0; k < settings_[i].seconds.size(); ++k) {
      wins += settings_[i].seconds[k] < usual[k];
    }
    return 3 * wins >= 2 * settings_[i].seconds.size();
  }
  /// The lower quartile: other programs make steps slower, never faster.
  double usually_least(std::size_t i) const {
    auto seconds = settings_[i].seconds;
    weft::sort(seconds);
    return seconds[seconds.size() / 4];
  }

  /// The recommended setting, and the four best by prediction of different kinds that are at most a fifth slower than
  /// the best of all.
  std::vector<std::size_t> candidates() const {
    using enum setting_kind;
    const auto group = [](const setting& s) {
      switch (s.kind) {
      case one_at_a_time:
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
      const bool is_new = std::none_of(best.begin() + 1, best.end(), [&](std::size_t j) {
        return group(settings_[i]) == group(settings_[j]);
      });
      if (best.size() < 5 && i != recommended && is_new && seconds(i) < 1.2 * seconds(by_prediction.front())) {
        best.push_back(i);
      }
    }
    return best;
  }

  measured_step<Step, Crew> measured_;
  std::stop_token stop_;
  rng random_{1};
  std::vector<setting> settings_;
  std::vector<detail::step_runner> runners_; // by setting
  std::size_t chosen_ = recommended;
  double tuning_seconds_ = 0;
};

} // namespace weft::execute
