// SPDX-License-Identifier: BSL-1.0
// Really runs training steps, built from oneDNN kernels, on this machine: profiles them, decides how many threads each
// op gets and which ops run side by side, and compares the result with the settings that frameworks recommend, in
// alternating runs of one process.
#include "kernels/by_name.hpp"
#include "tool/command_line.hpp"
#include "tool/main.hpp"
#include "tool/own_machine.hpp"

#include "weft/core/random.hpp"
#include "weft/execute/tuning.hpp"
#include "weft/interop/hwloc.hpp"
#include "weft/interop/openmp.hpp"
#include "weft/io/files.hpp"
#include "weft/report/html.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

std::string_view weft_echarts_js(); // embedded by the build

namespace {

namespace execute = weft::execute;

struct options {
  std::vector<std::string> nets{"all"};
  unsigned steps = 40;
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

/// A training step with all its kernels.
class task {
public:
  task(std::string_view name, const weft::nn::network_options& lowering, unsigned cores)
      : net_{kernels::make_net(name, lowering)}, step_{net_.bind()} {
    for (const weft::op_id v : weft::ids(graph().num_ops())) {
      for (unsigned threads = 1; threads <= cores; ++threads) {
        step_.prepare(v, threads);
      }
    }
  }

  const std::string& name() const { return net_.name; }
  const weft::workload& graph() const { return net_.step.graph; }
  std::string key(weft::op_id v) const { return step_.key(v); }
  void begin() {}
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

private:
  kernels::training_net net_;
  kernels::bound_step step_;
};

using tuning = execute::tuned<task, execute::openmp_crew>;
using execute::setting;

std::string name_of(const setting& s) {
  using enum execute::setting_kind;
  const auto shape = fmt::format("_{}x{}", s.at_once, s.threads);
  switch (s.kind) {
  case one_at_a_time: return "one_at_a_time" + shape;
  case uniform: return "uniform" + shape;
  case symmetric: return "symmetric" + shape;
  case s1: return "s1";
  case s1_s2: return "s1_s2";
  case s1_s2_s3: return "s1_s2_s3";
  case s1_s2_s3_s4: return "s1_s2_s3_s4";
  case planned: break;
  }
  return s.threads > 0 ? "planned" + shape : fmt::format("planned_{:.2f}{}", s.min_efficiency, s.alone ? "_alone" : "");
}

/// Every setting must compute what one thread computes.
void check_numbers(task& t, tuning& found) {
  constexpr unsigned steps = 4;
  const auto expected = t.losses(steps, [&] {
    for (const weft::op_id v : weft::graph::topological_order(t.graph())) {
      t.run(v, {1});
    }
  });
  for (std::size_t s = 0; s < found.settings().size(); ++s) {
    const auto losses = t.losses(steps, [&] { found.run(s).rethrow(); });
    for (std::size_t i = 0; i < losses.size(); ++i) {
      const double off = std::abs(losses[i] - expected[i]) / std::max(std::abs(expected[i]), 1e-6);
      if (!(off < 1e-2)) {
        throw weft::error(fmt::format("{} with {}: loss {} is {} instead of {}", t.name(),
                                      name_of(found.settings()[s]), i, losses[i], expected[i]));
      }
    }
  }
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
    medians.push_back(weft::concurrency::median(std::move(sample)));
  }
  std::sort(medians.begin(), medians.end());
  return {weft::concurrency::median(ratios), medians[25], medians[974]};
}

/// A line of the table: a setting with its name there.
struct row {
  std::string name;
  std::string detail;
  std::size_t setting;
};

/// All settings, and the one that was chosen once more.
std::vector<row> rows_of(const tuning& found) {
  std::vector<row> rows;
  for (std::size_t i = 0; i < found.settings().size(); ++i) {
    rows.push_back({i == found.recommended ? "recommended" : name_of(found.settings()[i]), "", i});
  }
  rows.push_back({"decided", name_of(found.settings()[found.chosen()]), found.chosen()});
  return rows;
}

void print(const task& t, const tuning& found, const options& o, const weft::machine& m) {
  const bool csv = o.format == "csv";
  if (!csv) {
    fmt::print("\n{}: {} ops on {}\n{:<20}{:>11}{:>8}{:>17}{:>16}\n", t.name(), t.graph().num_ops(), m.name,
               "setting", "step (ms)", "ratio", "95 % interval", "predicted (ms)");
  }
  for (const auto& [name, detail, i] : rows_of(found)) {
    const auto& s = found.settings()[i];
    const auto r = ratio(s, found.settings()[found.recommended]);
    const double ms = s.measured() * 1e3;
    if (csv) {
      fmt::print("{},{},{},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f}\n", t.name(), name, m.cores(), ms, r.middle, r.low,
                 r.high, s.predicted.makespan * 1e3);
    } else {
      fmt::print("{:<20}{:>11.3f}{:>8.3f}{:>17}{:>16.3f}  {}\n", name, ms, r.middle,
                 fmt::format("{:.3f} to {:.3f}", r.low, r.high), s.predicted.makespan * 1e3, detail);
    }
  }
  std::fflush(stdout);
}

/// The table, and a chart of the chosen setting: what was predicted above what was measured.
void add_to_report(weft::report::html_report& report, const task& t, tuning& found, const weft::machine& m) {
  weft::report::text_table table{
    t.name(), {"setting", "step (ms)", "ratio to recommended", "95 % interval", "predicted (ms)", ""}, {}};
  for (const auto& [name, detail, i] : rows_of(found)) {
    const auto& s = found.settings()[i];
    const auto r = ratio(s, found.settings()[found.recommended]);
    table.rows.push_back({name, fmt::format("{:.3f}", s.measured() * 1e3), fmt::format("{:.3f}", r.middle),
                          fmt::format("{:.3f} to {:.3f}", r.low, r.high),
                          fmt::format("{:.3f}", s.predicted.makespan * 1e3), detail});
  }
  report.tables.push_back(std::move(table));
  const auto machine = weft::single(m);
  const auto make = [&](const char* what, const weft::trace& trace) {
    auto run = weft::report::make_gantt_run(what, trace, found.item_graph(), machine);
    run.device_slots = {m.cores()};
    return run;
  };
  const auto& best = found.settings()[found.chosen()];
  report.runs.push_back(weft::report::overlay(
    fmt::format("{}, {}: predicted and measured", t.name(), name_of(best)),
    {make("predicted", best.predicted), make("measured", found({.record = true}).trace)}));
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

int run(int argc, char** argv) {
  const options o = parse(argc, argv);
  if (!o.html.empty()) {
    weft::io::require_writable(o.html);
  }
  const auto nets = chosen(o);
  const auto machine = tool::with_threads(weft::local_topology{}.describe(), o.threads);
  weft::report::html_report report{.title = "Training steps on this machine"};
  report.notes = {{"machine", machine.name}, {"rounds", std::to_string(o.steps)}};
  if (o.format == "csv") {
    fmt::print("net,setting,threads,step_ms_median,ratio_to_recommended,ci_low,ci_high,predicted_ms\n");
  }
  std::vector<double> errors;
  for (const auto& name : nets) {
    tool::progress(name + ": tuning");
    task t{name, o.lowering(), machine.cores()};
    tuning found{t, {.here = machine}};
    tool::progress(name + ": comparing results with those of one thread");
    check_numbers(t, found);
    found.forget_times();
    std::vector<std::size_t> all(found.settings().size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    for (unsigned round = 0; round < o.steps; ++round) {
      tool::progress(fmt::format("{}: round {} of {}", name, round + 1, o.steps));
      found.measure(all, 1);
    }
    tool::progress("");
    print(t, found, o, machine);
    for (const auto& s : found.settings()) {
      errors.push_back(std::abs(s.predicted.makespan / s.measured() - 1));
    }
    if (!o.html.empty()) {
      add_to_report(report, t, found, machine);
    }
  }
  if (o.format == "table") {
    fmt::print("\nprediction error: median {:.1f} % of {} settings\n",
               100 * weft::concurrency::median(errors), errors.size());
  }
  if (!o.html.empty()) {
    weft::io::write_file(o.html, [&](std::ostream& out) { weft::report::write_html(out, report, weft_echarts_js()); });
    fmt::print(stderr, "report written to {}\n", o.html);
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  tool::shorten_spins(argv);
  return tool::main_of("train_step", argc, argv, run);
}
