// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include "tool/command_line.hpp"
#include "tool/help_text.hpp"
#include "tool/networks.hpp"
#include "tool/random_graphs.hpp"

#include "weft/core/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace comparison {
namespace {

std::string about_strategies(const strategy_names& all) {
  constexpr std::size_t indent = 14;
  const auto named = [](const char* kind, const std::vector<std::string>& names) {
    return tool::help_entry(kind, fmt::format("{}", fmt::join(names, ", ")), indent);
  };
  return "Strategies\n" + named("partition:", all.partitioners) + named("schedule:", all.policies) +
         named("refine:", all.refiners) +
         tool::help_entry("best:", "several of these and exact search within one budget; takes the place of a "
                                   "partition and a schedule: --partition best --schedule best", indent);
}

std::string about_models() {
  return "Workloads\n" + tool::list_networks() +
         tool::help_paragraph("Batch size and length may follow, and inference, as in zoo:bert_base@8x128:inference, "
                              "and sizes, as in zoo:gpt2+layers=24+hidden=2304+heads=24@8x2048.") +
         tool::help_entry("suite:NAME", "generated problems with their own devices: suite:all, suite:fft, "
                                        "'suite:fft/ccr 1/related'") +
         tool::list_random_graphs() + tool::list_model_formats() +
         tool::help_paragraph("A file of that study is for --objective period or latency; it brings its devices; in "
                              "milliseconds.");
}

std::string about_platforms() {
  return "Platforms\n" + tool::list_platforms() + tool::list_random_platforms() +
         tool::help_paragraph("Files: native JSON (docs/formats.md; the program machine writes it), the critical-path "
                              "paper's CSV, HyperDAG machines. Speeds of the named machines are FLOP/s, so work must "
                              "be FLOP or measured seconds there.");
}

std::string about_objectives() {
  std::string text = "Objectives\n";
  for (const auto& x : objectives) {
    text += tool::help_entry(x.name, x.help, 12);
  }
  return text;
}

constexpr const char* first_examples =
  "Examples\n"
  "  compare --workload zoo:mnist_conv --platform preset:workstation_2gpu\n"
  "  compare --workload graph.csv --platform devices.csv --partition best --schedule best --budget 60\n"
  "  compare --workload suite:fft,suite:lu --partition heft,peft,etf --schedule static_order \\\n"
  "          --html suite.html\n";

constexpr const char* more_examples =
  "  compare --workload zoo:lstm,zoo:dynamic_rnn --platform preset:paper_like_50 \\\n"
  "          --partition hash,heft,mite --schedule fifo,path_completion_time,static_order \\\n"
  "          --repeat 20 --jobs 2 --html report.html\n"
  "  compare --workload zoo:lstm --platform preset:paper_like_50 --partition heft,dsc \\\n"
  "          --schedule static_order --refine none,simulated_annealing,tabu_search --budget 5\n"
  "  compare --workload random:layered,ops=100,ccr=1,count=50 --platform random:related \\\n"
  "          --partition heft,peft --schedule static_order --format summary --aggregate means.csv \\\n"
  "          --performance-profile profile.svg\n"
  "  compare --workload graph.csv --platform devices.csv --validate plan.json\n"
  "  compare --workload bert.json --objective period --partition best --schedule best --budget 10\n"
  "  compare --workload zoo:inception_v3 --platform workstation_2gpu --objective energy \\\n"
  "          --partition heft,best --schedule static_order,best --contention fair\n"
  "  compare --workload graph.csv --platform devices.csv --format csv > results.csv\n";

tool::help_pages help(const strategy_names& all) {
  return {.topics = {{"strategies", "what is compared, and what it may spend", about_strategies(all)},
                     {"models", "what is run: files, bundled networks and generated graphs", about_models()},
                     {"costs", "how long ops and transfers take"},
                     {"platforms", "where it runs: named, generated and your own machines", about_platforms()},
                     {"objectives", "what to make small", about_objectives()},
                     {"results", "tables, reports, and files for programs of others"},
                     {"validation", "a plan that another program made"},
                     {"examples", "more command lines", std::string{first_examples} + more_examples}},
          .usual = {"--workload", "--platform", "--partition", "--schedule", "--refine", "--objective", "--budget",
                    "--repeat", "--jobs", "--format", "--html", "--validate", "--help"},
          .ending = first_examples};
}

/// The greatest --tolerance: with larger ones, nonsense would be valid.
constexpr double max_tolerance = 0.1;

/// A number of rows; `all` and 0 are all of them.
std::size_t parse_top(const std::string& text) {
  std::size_t rows = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, rows);
  if (text != "all" && (failed != std::errc{} || rest != end)) {
    throw weft::error(fmt::format("--top: '{}' is not a number of rows; write one, as in 50, or all", text));
  }
  return rows == 0 ? std::numeric_limits<std::size_t>::max() : rows;
}

} // namespace

options parse(int argc, char** argv, const strategy_names& all) {
  options o;
  CLI::App app{
    "Compares partitioning and scheduling strategies for dataflow graphs: runs every partitioner with every\n"
    "ready policy in a simulator and prints who wins, by how much, and how far from a proven lower bound."};
  const auto names = [&app](const char* option, std::vector<std::string>& to, const char* help) {
    return app.add_option(option, to, help)->delimiter(',')->type_name("NAME,…")->capture_default_str();
  };
  app.option_defaults()->group("models");
  app.add_option("--workload", o.workloads, "What to run, separated by commas")
    ->required()
    ->delimiter(',')
    ->type_name("FILE|zoo:NAME|suite:NAME|random:FAMILY");
  app.option_defaults()->group("platforms");
  app
    .add_option("--platform", o.platforms, "Where to run it, separated by commas; not for workloads that bring devices")
    ->delimiter(',')
    ->type_name("NAME|FILE|identical:P|random:FAMILY");
  tool::add_model_options(app, o.modelling);
  tool::add_times_table_option(app, o.modelling);
  app.option_defaults()->group("strategies");
  std::vector<CLI::Option*> of_runs; // what has no effect where nothing runs
  of_runs.push_back(names("--partition", o.partitions, "Partitioners, or all, or best"));
  of_runs.push_back(names("--schedule", o.schedules, "Ready policies, or all, or best"));
  of_runs.push_back(names("--refine", o.refiners,
        "Refiners that improve every partitioner's plan, or none, or all, which is none and\n"
        "every refiner\n\n"
        "Where a refined plan is slower under a ready policy, the row shows the\n"
        "plan that it came from"));
  std::vector<std::string> objective_names;
  for (const auto& x : objectives) {
    objective_names.emplace_back(x.name);
  }
  std::string objective{to_string(o.objective)};
  app.option_defaults()->group("objectives");
  of_runs.push_back(app.add_option("--objective", objective, "What to make small"));
  of_runs.back()
    ->check(CLI::IsMember(objective_names).description(""))
    ->type_name(fmt::format("{}", fmt::join(objective_names, "|")))
    ->capture_default_str();
  app.option_defaults()->group("strategies");
  std::string budget;
  auto* const budgeted =
    app.add_option("--budget", budget,
                   "What each refinement, and best, may spend: seconds, or moves, as in 5000moves\n\n"
                   "Without it, refiners spend their own number of moves and best one second.\n"
                   "Seconds make results depend on the machine");
  budgeted->type_name("SECONDS|Nmoves");
  of_runs.push_back(budgeted);
  of_runs.push_back(app.add_option("--repeat", o.repeat, "How often to run each, with the seeds seed, seed + 1, …"));
  of_runs.back()
    ->check(CLI::Range(1u, 1'000'000u))
    ->type_name("N")
    ->capture_default_str();
  app.add_option("--seed", o.seed, "The first seed; the same seed gives the same results")
    ->type_name("S")
    ->capture_default_str();
  app.option_defaults()->group("costs");
  tool::add_contention_option(app, o.contention);
  app.option_defaults()->group("strategies");
  std::string memory = "reserved";
  of_runs.push_back(app.add_option("--memory", memory,
                                   "What best keeps to. reserved: memory for all tensors of a device at once, as the\n"
                                   "partitioners keep; over_time: for those that exist at each moment of the run"));
  of_runs.back()
    ->check(CLI::IsMember({"reserved", "over_time"}).description(""))
    ->type_name("reserved|over_time")
    ->capture_default_str();
  app.option_defaults()->group("results");
  of_runs.push_back(
    app.add_option("--format", o.format, "What to print; summary: of the tables, the one over all problems alone"));
  of_runs.back()
    ->check(CLI::IsMember({"table", "summary", "csv", "json"}).description(""))
    ->type_name("table|summary|csv|json")
    ->capture_default_str();
  std::string top = std::to_string(o.top);
  auto* const rows =
    app.add_option("--top", top,
                   "How many rows a table has, the best first; 0 or all for all of them. Without it, the table\n"
                   "over all problems has 12");
  rows->type_name("N|all")
    ->capture_default_str();
  of_runs.push_back(rows);
  std::vector<CLI::Option*> outputs;
  const auto output = [&](const char* option, auto& to, const char* help) {
    outputs.push_back(app.add_option(option, to, help));
    of_runs.push_back(outputs.back());
    return outputs.back();
  };
  output("--html", o.html, "Also write a report with charts, to be opened in a browser")->type_name("FILE");
  app.add_option("--gantt", o.gantt, "How many of the best combinations get a Gantt chart in the report")
    ->type_name("N")
    ->capture_default_str();
  output("--trace", o.trace, "Also write the best run as a Chrome trace, to be opened in Perfetto")->type_name("FILE");
  output("--traces", o.traces, "Also write what happens when in each run, a JSON file (weft.trace) each")
    ->type_name("FOLDER");
  output("--aggregate", o.aggregate,
         "Also write means over all problems of a kind as CSV, with 95 % confidence intervals, ratios to\n"
         "the baseline, and how often each strategy wins")
    ->type_name("FILE");
  output("--performance-profile", o.profiles,
         "Also write the share of problems that each strategy solves within a factor of the best: as CSV,\n"
         "or as a picture if the name ends in .svg")
    ->delimiter(',')
    ->type_name("FILE,…");
  output("--baseline", o.baseline,
         "What others are compared with, as tables call it, such as heft + static_order, or by its\n"
         "partitioner; without it, --aggregate takes the first of the command line")
    ->type_name("NAME");
  output("--problems", o.problems,
         "Also write each workload and platform as native JSON, and what ops take on each device as CSV,\n"
         "for programs of others")
    ->type_name("FOLDER");
  app.option_defaults()->group("validation");
  auto* const validate =
    app.add_option("--validate", o.validate,
                   "Run nothing, and check a plan, or a schedule with times, that another program made\n\n"
                   "Each\n"
                   "broken rule in a line, with exit status 1 if there is one; else makespan and gap");
  validate->type_name("FILE");
  for (auto* const other : of_runs) {
    validate->excludes(other);
  }
  app
    .add_option("--tolerance", o.tolerance,
                "By what share times of --validate may differ from those of the model and still be the same")
    ->check(
      [](const std::string& text) {
        double share = 0;
        const char* const end = text.data() + text.size();
        const auto [rest, failed] = std::from_chars(text.data(), end, share);
        const bool usable = failed == std::errc{} && rest == end && share >= 0 && share <= max_tolerance;
        return usable ? std::string{} : fmt::format("'{}' is not a number from 0 to {}", text, max_tolerance);
      },
      "")
    ->type_name("X")
    ->capture_default_str()
    ->needs(validate);
  app.option_defaults()->group("strategies");
  app
    .add_option("--jobs", o.jobs,
                "Threads to use: for several combinations at once, or for best if there is nothing\n"
                "else to run\n\nTimings are cleanest with 1")
    ->check(CLI::Range(1u, 1024u))
    ->type_name("N")
    ->capture_default_str();
  tool::parse(app, "compare", argc, argv, help(all));
  o.workloads = tool::join_parameters(o.workloads);
  o.platforms = tool::join_parameters(o.platforms);
  o.top = parse_top(top);
  o.top_strategies = rows->count() > 0 ? o.top : o.top_strategies;
  for (const auto* const option : outputs) {
    const auto& given = option->results();
    if (std::find(given.begin(), given.end(), "") != given.end()) {
      throw weft::error(option->get_name() + ": the name is empty; leave the option out, or give one");
    }
  }
  if (o.seed > std::numeric_limits<std::uint64_t>::max() - (o.repeat - 1)) {
    throw weft::error(fmt::format("--seed: {} seeds from {} on are more than there are; take a smaller one", o.repeat,
                                  o.seed));
  }
  const auto chosen = std::find(objective_names.begin(), objective_names.end(), objective); // which was checked
  o.objective = static_cast<comparison::objective>(chosen - objective_names.begin());
  o.memory = memory == "over_time" ? weft::memory_rule::over_time : weft::memory_rule::reserved;
  if (budgeted->count() > 0) {
    o.budget = tool::parse_budget(budget, "compare");
  }
  return o;
}

} // namespace comparison
