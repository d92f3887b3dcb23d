// SPDX-License-Identifier: BSL-1.0
/// The command line of `compare`.
#pragma once

#include "strategies.hpp"
#include "tool/command_line.hpp"

#include "weft/core/budget.hpp"
#include "weft/core/error.hpp"
#include "weft/plan/contention.hpp"
#include "weft/platform/presets.hpp"
#include "weft/workload/zoo.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace compare {

enum class objective { makespan, period, latency };

constexpr std::string_view to_string(objective o) {
  return o == objective::makespan ? "makespan" : o == objective::period ? "period" : "latency";
}

struct options {
  std::vector<std::string> workloads;
  std::vector<std::string> platforms;
  std::vector<std::string> partitions{"all"};
  std::vector<std::string> schedules{"all"};
  std::vector<std::string> refiners{"none"};
  compare::objective objective = objective::makespan;
  weft::budget budget = {}; ///< no limit: each strategy's own
  unsigned repeat = 1;
  std::uint64_t seed = 0;
  weft::contention_model contention = weft::contention_model::none;
  std::string format = "table";
  std::string html;
  unsigned gantt = 1;
  std::string trace;
  unsigned jobs = 1;

  bool has_budget() const { return budget.moves != weft::budget{}.moves || budget.seconds != weft::budget{}.seconds; }
};

inline constexpr std::string_view best = "best"; ///< the name of solve::best
inline constexpr std::string_view no_name = "none";

/// Joins names for a message.
inline std::string list(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Replaces `all` by all names, and refuses unknown ones. Each name once.
inline std::vector<std::string> expand(const std::vector<std::string>& wanted, const std::vector<std::string>& known,
                                       std::string_view what) {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  };
  for (const auto& name : wanted) {
    if (name == "all") {
      std::for_each(known.begin(), known.end(), add);
    } else if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw weft::error(fmt::format("unknown {} '{}'; known are: all, {}", what, name, list(known)));
    } else {
      add(name);
    }
  }
  return names;
}

/// Breaks a list of names into lines that start below the first.
inline std::string in_lines(const std::vector<std::string>& names, std::size_t indent) {
  std::string text;
  std::size_t column = indent;
  for (const auto& name : names) {
    if (column + name.size() + 2 > 100) {
      text += "\n" + std::string(indent, ' ');
      column = indent;
    }
    text += name + (name == names.back() ? "" : ", ");
    column += name.size() + 2;
  }
  return text;
}

inline std::string footer(const registry& all) {
  std::string text = fmt::format("Strategies\n  partition: {}\n  schedule:  {}\n  refine:    {}\n",
                                 in_lines(all.partitioner_names(), 13), in_lines(all.policy_names(), 13),
                                 in_lines(all.refiner_names(), 13));
  text += "  best:      several of these and exact search within one budget; takes the place of a partition and\n"
          "             a schedule: --partition best --schedule best\n\nWorkloads\n";
  for (const auto& e : weft::zoo::entries) {
    text += fmt::format("  zoo:{:<16} {}\n", e.name, e.description);
  }
  text += "  Batch size and length may follow, and inference, as in zoo:bert_base@8x128:inference.\n"
          "  suite:NAME           generated problems with their own devices: suite:all, suite:fft,\n"
          "                       'suite:fft/ccr 1/related'\n"
          "  Files: native JSON, the critical-path paper's CSV, standard task graphs (STG), WfFormat, DOT, HyperDAG,\n"
          "  PipeDream graphs, and JSON of the device-placement study (for --objective period or latency; brings\n"
          "  its devices; in milliseconds). For ONNX and TensorFlow files see place.\n"
          "\nPlatforms\n";
  for (const auto& e : weft::presets::entries) {
    text += fmt::format("  preset:{:<16} {}\n", e.name, e.description);
  }
  text +=
    "  identical:P             P devices of speed 1 whose links take no time\n"
    "  Files: native JSON, or the critical-path paper's CSV.\n\nObjectives\n"
    "  makespan  when the last op or transfer of one run ends\n"
    "  period    the time between two results of a pipelined run: the largest load of a device or link. It\n"
    "            depends on the placement alone, so a partition has one row, with the schedule 'none'\n"
    "  latency   of one sample: for files of the placement study as they define it, else the makespan\n\nExamples\n"
    "  compare --workload zoo:mnist_conv --platform preset:workstation_2gpu\n"
    "  compare --workload zoo:lstm,zoo:dynamic_rnn --platform preset:paper_like_50 --partition hash,heft,mite \\\n"
    "          --schedule fifo,path_completion_time,static_order --repeat 20 --jobs 2 --html report.html\n"
    "  compare --workload zoo:lstm --platform preset:paper_like_50 --partition heft,dsc --schedule static_order \\\n"
    "          --refine none,simulated_annealing,tabu_search --budget 5\n"
    "  compare --workload graph.csv --platform devices.csv --partition best --schedule best --budget 60 --jobs 4\n"
    "  compare --workload suite:fft,suite:lu --partition heft,peft,etf --schedule static_order --html suite.html\n"
    "  compare --workload bert.json --objective period --partition best --schedule best --budget 10\n"
    "  compare --workload graph.csv --platform devices.csv --format csv > results.csv\n";
  return text;
}

/// Reads the command line. Ends the program for `--help`.
inline options parse(int argc, char** argv, const registry& all) {
  options o;
  CLI::App app{
    "Compares partitioning and scheduling strategies for dataflow graphs: runs every partitioner with every\n"
    "ready policy in a simulator and prints who wins, by how much, and how far from a proven lower bound."};
  app.get_formatter()->column_width(34);
  app.footer(footer(all));
  const auto names = [&app](const char* option, std::vector<std::string>& to, const char* help) {
    return app.add_option(option, to, help)->delimiter(',')->type_name("NAME,…")->capture_default_str();
  };
  app.add_option("--workload", o.workloads, "What to run, separated by commas")
    ->required()
    ->delimiter(',')
    ->type_name("FILE|zoo:NAME|suite:NAME");
  app
    .add_option("--platform", o.platforms, "Where to run it, separated by commas; not for workloads that bring devices")
    ->delimiter(',')
    ->type_name("FILE|preset:NAME|identical:P");
  names("--partition", o.partitions, "Partitioners, or all, or best");
  names("--schedule", o.schedules, "Ready policies, or all, or best");
  names("--refine", o.refiners,
        "Refiners that improve every partitioner's plan, or none, or all, which is none and\n"
        "every refiner. Where a refined plan is slower under a ready policy, the row shows the\n"
        "plan that it came from");
  std::string objective{to_string(o.objective)};
  app.add_option("--objective", objective, "What to make small")
    ->check(CLI::IsMember({"makespan", "period", "latency"}).description(""))
    ->type_name("makespan|period|latency")
    ->capture_default_str();
  std::string budget;
  auto* const budgeted =
    app.add_option("--budget", budget,
                   "What each refinement, and best, may spend: seconds, or moves, as in 5000moves.\n"
                   "Without it, refiners spend their own number of moves and best one second.\n"
                   "Seconds make results depend on the machine");
  budgeted->type_name("SECONDS|Nmoves");
  app.add_option("--repeat", o.repeat, "How often to run each, with the seeds seed, seed + 1, …")
    ->check(CLI::Range(1u, 1'000'000u))
    ->type_name("N")
    ->capture_default_str();
  app.add_option("--seed", o.seed, "The first seed; the same seed gives the same results")
    ->type_name("S")
    ->capture_default_str();
  std::string contention = "none";
  app.add_option("--contention", contention, "How transfers share links: not at all, or one at a time per device port")
    ->check(CLI::IsMember({"none", "port"}).description(""))
    ->type_name("none|port")
    ->capture_default_str();
  app.add_option("--format", o.format, "What to print")
    ->check(CLI::IsMember({"table", "csv", "json"}).description(""))
    ->type_name("table|csv|json")
    ->capture_default_str();
  app.add_option("--html", o.html, "Also write a report with charts, to be opened in a browser")->type_name("FILE");
  app.add_option("--gantt", o.gantt, "How many of the best combinations get a Gantt chart in the report")
    ->type_name("N")
    ->capture_default_str();
  app.add_option("--trace", o.trace, "Also write the best run as a Chrome trace, to be opened in Perfetto")
    ->type_name("FILE");
  app
    .add_option("--jobs", o.jobs,
                "Threads to use: for several combinations at once, or for best if there is nothing\n"
                "else to run; timings are cleanest with 1")
    ->check(CLI::Range(1u, 1024u))
    ->type_name("N")
    ->capture_default_str();
  tool::parse(app, "compare", argc, argv);
  o.contention = contention == "port" ? weft::contention_model::port : weft::contention_model::none;
  o.objective = objective == "period"    ? objective::period
                : objective == "latency" ? objective::latency
                                         : objective::makespan;
  if (budgeted->count() > 0) {
    o.budget = tool::parse_budget(budget, "compare");
  }
  return o;
}

} // namespace compare
