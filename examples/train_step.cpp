// SPDX-License-Identifier: BSL-1.0
// Really runs training steps, built from oneDNN kernels, on this machine: profiles them, decides how many threads each
// op gets and which ops run side by side, and compares the result with the settings that frameworks recommend, in
// alternating runs of one process.
#include "kernels/by_name.hpp"
#include "tool/command_line.hpp"
#include "tool/main.hpp"

#include "weft/concurrency/baselines.hpp"
#include "weft/concurrency/hill_climbing.hpp"
#include "weft/concurrency/moldable.hpp"
#include "weft/core/budget.hpp"
#include "weft/core/random.hpp"
#include "weft/cost/table.hpp"
#include "weft/execute/concurrent_executor.hpp"
#include "weft/execute/static_executor.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/interop/hwloc.hpp"
#include "weft/interop/openmp.hpp"
#include "weft/io/files.hpp"
#include "weft/partition/heft.hpp"
#include "weft/report/html.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/manycore.hpp"
#include "weft/simulate/record.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

std::string_view weft_echarts_js(); // embedded by the build

namespace {

namespace concurrency = weft::concurrency;
namespace execute = weft::execute;

struct options {
  std::vector<std::string> nets{"all"};
  unsigned steps = 40;
  unsigned profiles = 4;
  unsigned threads = 0;
  std::string kernels = "separate";
  std::string attention = "separate";
  std::string format = "table";
  std::string html;

  /// The way in which layers become ops.
  weft::nn::network_options lowering() const {
    using weft::nn::attention_kernels;
    using weft::nn::kernel_set;
    return {.kernels = kernels == "compiled"    ? kernel_set::compiled
                       : kernels == "framework" ? kernel_set::framework
                                                : kernel_set::separate,
            .attention = attention == "fused" ? attention_kernels::fused : attention_kernels::separate};
  }
};

/// Says on a terminal what is going on.
void progress(const std::string& what) {
  if (isatty(STDERR_FILENO) != 0) {
    fmt::print(stderr, "\r\x1b[K{}", what);
    std::fflush(stderr);
  }
}

/// A training step with all its kernels, and what is known of their times.
class task {
public:
  task(std::string_view name, const weft::nn::network_options& lowering, const weft::machine& m)
      : net_{kernels::make_net(name, lowering)}, step_{net_.bind()}, machine_{m},
        classes_{graph(), keys()}, order_{weft::graph::topological_order(graph())} {
    for (const weft::op_id v : weft::ids(graph().num_ops())) {
      for (unsigned threads = 1; threads <= m.cores(); ++threads) {
        step_.prepare(v, threads);
      }
    }
  }

  const weft::workload& graph() const { return net_.step.graph; }
  const std::string& name() const { return net_.name; }
  const weft::machine& machine() const { return machine_; }
  const std::vector<weft::op_id>& order() const { return order_; }
  const concurrency::op_classes& classes() const { return classes_; }
  const concurrency::time_table& times() const { return times_; }
  std::size_t profiling_runs() const { return profiling_runs_; }

  /// The kernel of an op: what executors call.
  void run(weft::op_id v, weft::team t) const { step_.run(v, t.threads); }

  /// The losses of the next steps, each run by `one_step`, from the same start.
  std::vector<double> losses(unsigned steps, const std::function<void()>& one_step) {
    step_.reset();
    std::vector<double> values;
    for (unsigned i = 0; i < steps; ++i) {
      one_step();
      for (const auto t : net_.losses) {
        values.push_back(step_.values(t)[0]);
      }
    }
    return values;
  }

  void run_sequentially(unsigned threads) const {
    for (const weft::op_id v : order_) {
      step_.run(v, threads);
    }
  }

  /// Profiles until whole steps take about as long as their ops together; a profile taken while something else kept a
  /// core busy does not pass.
  void profile(unsigned max_profiles) {
    for (unsigned tries = 0; tries < max_profiles; ++tries) {
      profile_once();
      if (agrees(1) && agrees(machine_.cores())) {
        return;
      }
    }
    progress("");
    fmt::print(stderr, "train_step: {}: the machine is busy, predictions will be off\n", name());
  }

private:
  /// Runs training steps with one op at a time until hill climbing knows how all classes of ops scale. All ops of a
  /// step have the same team, the smallest that some class asks for: mixed teams would measure how threads are woken.
  void profile_once() {
    concurrency::profiler learn{
      classes_, machine_.cores(), {.step = machine_.cores() > 8 ? 4u : 1u, .runs = 9, .spread = false}};
    while (!learn.done()) {
      weft::team team{machine_.cores()};
      for (concurrency::class_id c = 0; c < classes_.num_classes(); ++c) {
        if (const auto wanted = learn.climber(c).next(); wanted && wanted->threads < team.threads) {
          team = *wanted;
        }
      }
      run_sequentially(team.threads);
      for (const weft::op_id v : order_) {
        const weft::stopwatch watch;
        step_.run(v, team.threads);
        learn.record(v, team, std::max(watch.seconds(), 1e-9));
      }
    }
    profiling_runs_ = learn.num_runs();
    const auto measured = learn.times();
    times_ = {classes_, machine_.cores(), [&](concurrency::class_id c, weft::team t) {
                const bool nothing_to_do = step_.is_empty(classes_.representative(c));
                return nothing_to_do ? 0.0 : measured.seconds_of_class(c, t);
              }};
  }

  bool agrees(unsigned threads) const {
    double predicted = 0;
    for (const weft::op_id v : order_) {
      predicted += times_.seconds(v, {threads});
    }
    std::vector<double> seconds;
    for (int i = 0; i < 9; ++i) {
      const weft::stopwatch watch;
      run_sequentially(threads);
      seconds.push_back(watch.seconds());
    }
    return std::abs(predicted / concurrency::median(std::move(seconds)) - 1) < 0.2;
  }

  std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (const weft::op_id v : weft::ids(graph().num_ops())) {
      all.push_back(step_.key(v));
    }
    return all;
  }

  kernels::training_net net_;
  kernels::bound_step step_;
  weft::machine machine_;
  concurrency::op_classes classes_;
  std::vector<weft::op_id> order_;
  concurrency::time_table times_;
  std::size_t profiling_runs_ = 0;
};

/// Measured times as a cost model, for simulations: what ran is what is believed.
struct measured_cost : weft::cost::link_transfers {
  const concurrency::time_table* times = nullptr;

  template <class W>
  double seconds(const W&, weft::op_id v, const weft::machine& m, weft::team t) const {
    const double s = times->seconds(v, t);
    return s > 0 ? s + m.dispatch_seconds : 0;
  }
  template <class W, class P>
  double compute_time(const W&, weft::op_id v, const P&, weft::device_id) const {
    return times->seconds(v, {});
  }
};

/// A way to run a step, how long it is predicted to take, and how long it took.
struct setting {
  std::string name;
  std::string detail;
  std::function<execute::run_report(const execute::run_options&)> step;
  weft::trace predicted = {};
  std::vector<double> seconds = {};
};

template <class Strategy>
setting online(const task& t, std::string name, std::string detail, const Strategy& s) {
  using executor = weft::concurrent_executor<Strategy, execute::openmp_teams>;
  const auto run = std::make_shared<executor>(t.graph(), t.times(), t.machine(), s);
  setting made{std::move(name), std::move(detail), [run, &t](const execute::run_options& o) {
                 return (*run)([&t](weft::op_id v, weft::team team) { t.run(v, team); }, o);
               }};
  const auto one = weft::single(t.machine());
  const weft::problem p{t.graph(), one, measured_cost{{}, &t.times()}};
  weft::manycore_simulator simulator{p, s, {t.times()}};
  simulator.run({weft::placement(t.graph().num_ops(), 0)}, weft::simulate::recorder{made.predicted});
  return made;
}

/// One op after the other, each on all cores, with the least possible overhead: no decision is made at run time.
setting recommended(const task& t) {
  weft::plan p{weft::placement(t.graph().num_ops(), 0)};
  for (const weft::op_id v : t.order()) {
    p.order.push_back(weft::step::run(v));
  }
  const weft::team all{t.machine().cores()};
  const auto run = std::make_shared<weft::static_executor>(t.graph(), p);
  setting made{"recommended", fmt::format("1 op at a time, {} threads", all.threads),
               [run, all, &t](const execute::run_options& o) {
                 return (*run)([all, &t](weft::op_id v) { t.run(v, all); }, o);
               }};
  made.predicted.ops.resize(t.graph().num_ops());
  for (const weft::op_id v : t.order()) {
    const double finish = made.predicted.makespan + t.times().seconds(v, all);
    made.predicted.ops[v] = {0, made.predicted.makespan, finish, all.threads};
    made.predicted.makespan = finish;
  }
  return made;
}

/// Decided before the run: every op has one thread, HEFT deals ops to the cores by the measured times.
setting planned(const task& t) {
  const std::uint32_t cores = t.machine().cores();
  const weft::platform<weft::uniform_links> workers{std::vector<weft::device>(cores), {{.latency = 3e-7}}};
  const weft::problem p{t.graph(), workers, measured_cost{{}, &t.times()}};
  weft::rng random;
  weft::workspace scratch;
  const weft::plan plan = weft::partition::run(weft::partition::heft{}, p, random, scratch)->plan;
  const auto run = std::make_shared<weft::static_executor>(t.graph(), plan);
  setting made{"static_plan", "planned by HEFT, 1 thread per op",
               [run, &t](const execute::run_options& o) {
                 return (*run)([&t](weft::op_id v) { t.run(v, {}); }, o);
               }};
  weft::simulator simulator{p, weft::schedule::static_order{}};
  simulator.run(plan, weft::simulate::recorder{made.predicted});
  return made;
}

double median(std::vector<double> x) { return concurrency::median(std::move(x)); }

double seconds_of(setting& s) { return s.step({}).seconds; }

/// The setting of that shape that takes the shortest, of all that fit.
template <class Search, class Make>
concurrency::uniform_setting by_trial(const task& t, Search search, Make make) {
  return search(t.machine(), [&](const auto& strategy) {
    auto tried = make(strategy);
    std::vector<double> seconds;
    for (int i = 0; i < 7; ++i) {
      seconds.push_back(seconds_of(tried));
    }
    return median(seconds);
  });
}

std::vector<setting> make_settings(const task& t) {
  const auto m = t.machine();
  std::vector<setting> all;
  all.push_back(recommended(t));
  all.push_back(online(t, "per_socket", fmt::format("{} at a time, {} threads each", m.sockets, m.cores_per_socket),
                       concurrency::per_socket(m)));
  all.push_back(online(t, "equal_split", "all ready ops share the cores", concurrency::equally_split));
  const auto try_out = [&](const auto& s) { return online(t, "", "", s); };
  const auto by_hand = by_trial(
    t, [](const auto& machine, auto f) { return concurrency::manual_optimum(machine, f); }, try_out);
  all.push_back(online(t, "manual_optimum", fmt::format("{} at a time, {} threads each", by_hand.inter, by_hand.intra),
                       concurrency::uniform(by_hand.inter, by_hand.intra)));
  const auto executors = by_trial(
    t, [](const auto& machine, auto f) { return concurrency::best_symmetric(machine, f); }, try_out);
  all.push_back(online(t, "symmetric", fmt::format("{} executors, {} threads each", executors.inter, executors.intra),
                       concurrency::symmetric(executors.inter, executors.intra)));
  all.push_back(online(t, "s1", fmt::format("best threads per op, {} profiling runs", t.profiling_runs()),
                       concurrency::s1));
  all.push_back(online(t, "s1_s2", "… one team per op type", concurrency::s1_s2));
  all.push_back(online(t, "s1_s2_s3", "… co-run on idle cores", concurrency::s1_s2_s3));
  all.push_back(online(t, "s1_s2_s3_s4", "… and on second hardware threads", concurrency::s1_s2_s3_s4));
  all.push_back(planned(t));
  return all;
}

/// The setting that was the fastest so far, to be used from then on: it begins as the winner of a short trial among
/// those that predictions say are within a third of the best, and goes on learning from every round that is measured.
/// The recommended one takes part, so that nobody is worse off for long.
class decision {
public:
  explicit decision(std::vector<setting>& all) : all_{&all} {
    double best = std::numeric_limits<double>::infinity();
    for (const auto& s : all) {
      best = std::min(best, s.predicted.makespan);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i == 0 || all[i].predicted.makespan < best * 4 / 3) {
        candidates_.push_back({i, {}});
      }
    }
  }

  void try_candidates(unsigned rounds, const std::string& net) {
    for (unsigned round = 0; round < rounds; ++round) {
      progress(fmt::format("{}: trial {} of {}", net, round + 1, rounds));
      for (auto& c : candidates_) {
        (void)seconds_of((*all_)[c.setting]);
        c.seconds.push_back(seconds_of((*all_)[c.setting]));
      }
    }
    decide();
  }

  void learn(std::size_t of, double seconds) {
    for (auto& c : candidates_) {
      if (c.setting == of) {
        c.seconds.push_back(seconds);
      }
    }
  }

  void decide() {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& c : candidates_) {
      if (const double seconds = median(c.seconds); seconds < least) {
        least = seconds;
        chosen_ = c.setting;
      }
    }
  }

  std::size_t chosen() const { return chosen_; }
  std::size_t num_candidates() const { return candidates_.size(); }

private:
  struct candidate {
    std::size_t setting;
    std::vector<double> seconds;
  };
  std::vector<setting>* all_;
  std::vector<candidate> candidates_;
  std::size_t chosen_ = 0;
};

/// Every setting must compute what one thread computes; returns the largest relative difference.
double check_numbers(task& t, std::vector<setting>& settings) {
  constexpr unsigned steps = 4;
  const auto expected = t.losses(steps, [&] { t.run_sequentially(1); });
  double worst = 0;
  for (auto& s : settings) {
    const auto found = t.losses(steps, [&] {
      const auto report = s.step({});
      report.rethrow();
      if (report.num_finished != t.graph().num_ops()) {
        throw weft::error(s.name + ": not every op ran");
      }
    });
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double off = std::abs(found[i] - expected[i]) / std::max(std::abs(expected[i]), 1e-6);
      if (!(off < 1e-2)) {
        throw weft::error(
          fmt::format("{} with {}: loss {} is {} instead of {}", t.name(), s.name, i, found[i], expected[i]));
      }
      worst = std::max(worst, off);
    }
  }
  return worst;
}

/// Runs each setting in turn, in another order each round, so that what disturbs the machine disturbs all alike.
void measure(const task& t, std::vector<setting>& settings, unsigned steps) {
  weft::rng random{1};
  decision decided{settings};
  decided.try_candidates(15, t.name());
  const std::size_t last = settings.size();
  settings.push_back(
    {"decided", "", [&](const execute::run_options& o) { return settings[decided.chosen()].step(o); }});
  std::vector<std::size_t> turn(settings.size());
  for (std::size_t i = 0; i < turn.size(); ++i) {
    turn[i] = i;
  }
  for (unsigned round = 0; round < steps; ++round) {
    progress(fmt::format("{}: round {} of {}", t.name(), round + 1, steps));
    random.shuffle(turn);
    for (const auto i : turn) {
      (void)settings[i].step({}); // after another setting, caches and sleeping threads are its, not this one's
      double sum = 0;
      for (int k = 0; k < 3; ++k) {
        sum += seconds_of(settings[i]);
      }
      settings[i].seconds.push_back(sum / 3);
      decided.learn(i, sum / 3);
    }
    decided.decide();
  }
  const auto& winner = settings[decided.chosen()];
  settings[last].predicted = winner.predicted;
  settings[last].step = winner.step;
  settings[last].detail = fmt::format("by trials of {}: {}", decided.num_candidates(), winner.name);
}

struct interval {
  double middle, low, high;
};

/// The median of the rounds' ratios, with a 95 % bootstrap interval (percentiles of 1000 resamples).
interval ratio(const setting& s, const setting& base) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < s.seconds.size(); ++i) {
    ratios.push_back(s.seconds[i] / base.seconds[i]);
  }
  weft::rng random{2};
  std::vector<double> medians;
  for (int k = 0; k < 1000; ++k) {
    std::vector<double> sample;
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      sample.push_back(ratios[random.below(ratios.size())]);
    }
    medians.push_back(median(std::move(sample)));
  }
  std::sort(medians.begin(), medians.end());
  return {median(ratios), medians[25], medians[974]};
}

void print(const task& t, const std::vector<setting>& settings, const options& o) {
  const bool csv = o.format == "csv";
  if (!csv) {
    fmt::print("\n{}: {} ops on {}\n{:<16}{:>11}{:>8}{:>17}{:>16}\n", t.name(), t.graph().num_ops(), t.machine().name,
               "setting", "step (ms)", "ratio", "95 % interval", "predicted (ms)");
  }
  for (const auto& s : settings) {
    const auto r = ratio(s, settings.front());
    const double ms = median(s.seconds) * 1e3;
    if (csv) {
      fmt::print("{},{},{},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f}\n", t.name(), s.name, t.machine().cores(), ms, r.middle,
                 r.low, r.high, s.predicted.makespan * 1e3);
    } else {
      fmt::print("{:<16}{:>11.3f}{:>8.3f}{:>17}{:>16.3f}  {}\n", s.name, ms, r.middle,
                 fmt::format("{:.3f} to {:.3f}", r.low, r.high), s.predicted.makespan * 1e3, s.detail);
    }
  }
  std::fflush(stdout);
}

/// How far predictions are off, relative to what was measured.
std::vector<double> prediction_errors(const std::vector<setting>& settings) {
  std::vector<double> errors;
  for (const auto& s : settings) {
    const double measured = median(s.seconds);
    errors.push_back(std::abs(s.predicted.makespan - measured) / measured);
  }
  return errors;
}

/// The table, and a chart of the fastest setting: what was predicted above what was measured.
void add_to_report(weft::report::html_report& report, const task& t, std::vector<setting>& settings) {
  weft::report::text_table table{
    t.name(), {"setting", "step (ms)", "ratio to recommended", "95 % interval", "predicted (ms)", ""}, {}};
  for (const auto& s : settings) {
    const auto r = ratio(s, settings.front());
    table.rows.push_back({s.name, fmt::format("{:.3f}", median(s.seconds) * 1e3), fmt::format("{:.3f}", r.middle),
                          fmt::format("{:.3f} to {:.3f}", r.low, r.high),
                          fmt::format("{:.3f}", s.predicted.makespan * 1e3), s.detail});
  }
  report.tables.push_back(std::move(table));
  const auto best = std::min_element(settings.begin(), settings.end(), [](const setting& a, const setting& b) {
    return median(a.seconds) < median(b.seconds);
  });
  const auto machine = weft::single(t.machine());
  const auto make = [&](const char* what, weft::trace trace) {
    for (auto& r : trace.ops) { // workers of a plan are cores of the one machine
      r.device = r.device == weft::none ? weft::none : 0;
    }
    trace.transfers.clear();
    auto run = weft::report::make_gantt_run(what, std::move(trace), t.graph(), machine);
    run.device_slots = {t.machine().cores()};
    return run;
  };
  const auto title = fmt::format("{}, {}: predicted and measured", t.name(), best->name);
  report.runs.push_back(weft::report::overlay(
    title, {make("predicted", best->predicted), make("measured", best->step({.record = true}).trace)}));
}

std::vector<std::string> chosen(const options& o) {
  std::vector<std::string> result;
  for (const auto& name : o.nets) {
    if (name == "all") {
      result.insert(result.end(), std::begin(kernels::net_names), std::end(kernels::net_names));
    } else {
      kernels::check_net_name(name, "all, ");
      result.push_back(name);
    }
  }
  return result;
}

options parse(int argc, char** argv) {
  options o;
  CLI::App app{"Runs real training steps on this machine and compares concurrency settings.\n"
               "Ratios are step times relative to the recommended setting (one op at a time on all cores) in the same\n"
               "rounds; below 1 is faster. Predictions come from the profile, before the setting has run."};
  app.footer("Example: train_step --net lstm,inception --steps 100 --html report.html");
  app.add_option("--net", o.nets, "Training steps: all, resnet, dcgan, inception, lstm, gpt2, bert, llama")
    ->delimiter(',')
    ->type_name("NAME[,…]")
    ->capture_default_str();
  app.add_option("--kernels", o.kernels,
                 "Ops that layers become: one for each piece of arithmetic, one for each layer as frameworks run\n"
                 "them, or joined as compilers do it")
    ->check(CLI::IsMember({"separate", "framework", "compiled"}).description(""))
    ->type_name("separate|framework|compiled")
    ->capture_default_str();
  app.add_option("--attention", o.attention, "An attention of kernels that are not separate: several ops, or one")
    ->check(CLI::IsMember({"separate", "fused"}).description(""))
    ->type_name("separate|fused")
    ->capture_default_str();
  app.add_option("--steps", o.steps, "Rounds in which each setting is measured")
    ->check(CLI::Range(1u, 100000u))
    ->type_name("N")
    ->capture_default_str();
  app.add_option("--profiles", o.profiles, "How often to profile at most, until profiles agree with whole steps")
    ->check(CLI::Range(1u, 100u))
    ->type_name("N")
    ->capture_default_str();
  app.add_option("--threads", o.threads, "Cores to use; 0 for all of this machine")
    ->check(CLI::Range(0u, 1024u))
    ->type_name("N")
    ->capture_default_str();
  app.add_option("--format", o.format, "What to print")
    ->check(CLI::IsMember({"table", "csv"}).description(""))
    ->type_name("table|csv")
    ->capture_default_str();
  app.add_option("--html", o.html, "Also write a report with charts of predicted and measured runs")->type_name("FILE");
  tool::parse(app, "train_step", argc, argv);
  return o;
}

/// This machine, or as many of its cores as are to be used.
weft::machine describe(const options& o) {
  auto m = weft::local_topology{}.describe();
  if (o.threads > m.cores()) {
    throw weft::error(fmt::format("--threads {}: this machine has {} cores", o.threads, m.cores()));
  }
  if (o.threads > 0 && o.threads < m.cores()) {
    m.sockets = 1;
    m.cores_per_socket = o.threads;
    m.cores_per_tile = 1;
    m.name += fmt::format(", {} used", o.threads);
  }
  m.dispatch_seconds = 1e-6; // a decision of the concurrent executor
  return m;
}

int run(int argc, char** argv) {
  const options o = parse(argc, argv);
  if (!o.html.empty()) {
    weft::io::require_writable(o.html);
  }
  const auto nets = chosen(o);
  const auto machine = describe(o);
  weft::report::html_report report{.title = "Training steps on this machine"};
  report.notes = {{"machine", machine.name}, {"rounds", std::to_string(o.steps)}};
  if (o.format == "csv") {
    fmt::print("net,setting,threads,step_ms_median,ratio_to_recommended,ci_low,ci_high,predicted_ms\n");
  }
  std::vector<double> errors;
  for (const auto& name : nets) {
    progress(name + ": preparing kernels");
    task t{name, o.lowering(), machine};
    progress(name + ": profiling");
    t.profile(o.profiles);
    auto settings = make_settings(t);
    progress(name + ": comparing results with those of one thread");
    check_numbers(t, settings);
    measure(t, settings, o.steps);
    progress("");
    print(t, settings, o);
    std::ranges::copy(prediction_errors(settings), std::back_inserter(errors));
    if (!o.html.empty()) {
      add_to_report(report, t, settings);
    }
  }
  if (o.format == "table") {
    fmt::print("\nprediction error: median {:.1f} % of {} settings\n", 100 * median(errors), errors.size());
  }
  if (!o.html.empty()) {
    weft::io::write_file(o.html, [&](std::ostream& out) { weft::report::write_html(out, report, weft_echarts_js()); });
    fmt::print(stderr, "report written to {}\n", o.html);
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  // Idle threads of libgomp's pools spin for long by default, on cores that ops beside them want. A shorter count may
  // cost the recommended setting something: docs/performance.md has both. The variable is read when the library is
  // loaded.
  if (std::getenv("GOMP_SPINCOUNT") == nullptr && std::getenv("OMP_WAIT_POLICY") == nullptr) {
    setenv("GOMP_SPINCOUNT", "5000", 1);
    execv("/proc/self/exe", argv);
  }
  return tool::main_of("train_step", argc, argv, run);
}
