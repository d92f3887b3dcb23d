// SPDX-License-Identifier: BSL-1.0
/// Finds out how an op scales from a few measurements: climbs from one thread in steps until more threads do not help.
#pragma once

#include "weft/concurrency/profile.hpp"
#include "weft/concurrency/time_table.hpp"
#include "weft/core/sort.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace weft::concurrency {

/// Options of hill climbing over numbers of threads.
struct hill_climbing {
  std::uint32_t step = 4;      ///< x: threads are 1, 1 + x, 1 + 2x, … and the machine's cores
  std::uint32_t patience = 2;  ///< points in a row that are no improvement and end the climb
  double improvement = 0.01;   ///< the least relative gain that counts as one
  std::uint32_t runs = 2;      ///< measurements per point …
  double agreement = 1.25; ///< … and more, up to twice as many, while the middle one is above the lowest by this factor
  bool spread = true;          ///< climb with spread threads, too; without it both affinities count as alike
  std::uint32_t survey = 2; ///< after the climb threads are multiplied by this up to all cores, to know what lies there
};

/// The climb of one class of ops. Ask `next` what to measure, tell `record` what came out, until `next` is empty; the
/// measuring can be spread over training steps. First with packed threads, then with spread ones (one thread is the
/// same in both). The estimate of a point is the median of its runs, or, of two, their mean: a spike makes the two
/// disagree and is outvoted by further runs.
/// Source: [CC]. Complexity: O(runs log runs) per call.
class hill_climber {
public:
  hill_climber(hill_climbing o, std::uint32_t max_threads) : options_{o}, max_threads_{std::max(max_threads, 1u)} {
    options_.step = std::max(options_.step, 1u);
    options_.runs = std::max(options_.runs, 1u);
    points_[0].push_back({1, {}});
  }

  /// The team to measure next, or nothing when the climb is over.
  std::optional<team> next() const {
    if (phase_ > 1) {
      return {};
    }
    return team{points_[phase_].back().threads, phase_ == 0 ? affinity::packed : affinity::spread};
  }

  /// A measured time, in seconds, of the team that `next` named; those of other teams are ignored. Less than a
  /// nanosecond counts as one: clocks have their grain. Throws `value_error` if it is not a number.
  void record(team t, double seconds) {
    if (next() != t) {
      return;
    }
    if (!(seconds < std::numeric_limits<double>::infinity())) {
      throw value_error("hill_climber", "a measured time must be a finite number of seconds");
    }
    seconds = std::max(seconds, 1e-9);
    auto& p = points_[phase_].back();
    p.runs.push_back(seconds);
    ++num_runs_;
    if (settled(p.runs)) {
      advance();
    }
  }

  bool done() const { return phase_ > 1; }
  /// The number of measurements made.
  std::size_t num_runs() const { return num_runs_; }

  /// The curve through what was measured. Precondition: at least one point is.
  sampled_curve curve() const {
    std::vector<sample> samples[2];
    for (int a : {0, 1}) {
      for (const point& p : points_[a]) {
        if (!p.runs.empty()) {
          samples[a].push_back({p.threads, value(p.runs)});
        }
      }
    }
    return {std::move(samples[0]), std::move(samples[1])};
  }

private:
  struct point {
    std::uint32_t threads;
    std::vector<double> runs;
  };

  static double value(const std::vector<double>& runs) { return median(runs); }

  bool settled(const std::vector<double>& runs) const {
    if (runs.size() < options_.runs) {
      return false;
    }
    if (runs.size() >= 2 * options_.runs || runs.size() == 1) {
      return true;
    }
    auto sorted = runs;
    weft::sort(sorted);
    return runs.size() == 2 ? sorted[1] <= sorted[0] * options_.agreement
                            : sorted[sorted.size() / 2] <= sorted[0] * options_.agreement;
  }

  void advance() {
    auto& hill = points_[phase_];
    const auto& last = hill.back();
    const double seconds = value(last.runs);
    if (failures_ < options_.patience) {
      const bool improved = seconds < best_ * (1 - options_.improvement);
      best_ = improved ? seconds : best_;
      failures_ = improved ? 0 : failures_ + 1;
    }
    const bool climbs = failures_ < options_.patience;
    if (last.threads == max_threads_ || (!climbs && options_.survey < 2)) {
      begin_spread();
      return;
    }
    const std::uint32_t further = climbs ? last.threads + options_.step
                                         : std::max(last.threads * options_.survey, last.threads + options_.step);
    hill.push_back({std::min(further, max_threads_), {}});
  }

  void begin_spread() {
    ++phase_;
    if (phase_ > 1) {
      return;
    }
    if (max_threads_ == 1 || !options_.spread) {
      phase_ = 2;
      return;
    }
    points_[1].push_back(points_[0].front()); // one thread
    best_ = value(points_[0].front().runs);
    failures_ = 0;
    points_[1].push_back({std::min(1 + options_.step, max_threads_), {}});
  }

  hill_climbing options_;
  std::uint32_t max_threads_;
  int phase_ = 0; // 0 packed, 1 spread, 2 over
  std::vector<point> points_[2];
  double best_ = std::numeric_limits<double>::infinity();
  std::uint32_t failures_ = 0;
  std::size_t num_runs_ = 0;
};

/// One climber per class: the profiling phase of a training run. In each step every op runs alone, with the team that
/// its class wants to know next; afterwards `times` is what the strategies decide by.
/// ```
/// weft::concurrency::profiler learn{classes, machine.cores()};
/// while (!learn.done()) { … for each op v: const auto t = learn.team_for(v); run it; learn.record(v, t, seconds); }
/// ```
class profiler {
public:
  profiler(op_classes classes, std::uint32_t max_threads, hill_climbing o = {})
      : classes_{std::move(classes)}, max_threads_{max_threads} {
    climbers_.assign(classes_.num_classes(), hill_climber{o, max_threads});
  }

  bool done() const {
    return std::all_of(climbers_.begin(), climbers_.end(), [](const hill_climber& c) { return c.done(); });
  }
  /// The team to run op v with: what is to be measured next, or one thread when its class is done.
  team team_for(op_id v) const { return climbers_[classes_.class_of(v)].next().value_or(team{}); }
  void record(op_id v, team t, double seconds) { climbers_[classes_.class_of(v)].record(t, seconds); }

  const hill_climber& climber(class_id c) const { return climbers_[c]; }
  const op_classes& classes() const { return classes_; }
  std::size_t num_runs() const {
    std::size_t sum = 0;
    for (const auto& c : climbers_) {
      sum += c.num_runs();
    }
    return sum;
  }

  /// The predictions. Precondition: every class was measured at least once.
  time_table times() const {
    std::vector<sampled_curve> curves;
    for (const auto& c : climbers_) {
      curves.push_back(c.curve());
    }
    return {classes_, max_threads_, [&](class_id c, team t) { return curves[c](t); }};
  }

private:
  op_classes classes_;
  std::uint32_t max_threads_;
  std::vector<hill_climber> climbers_;
};

} // namespace weft::concurrency
