// SPDX-License-Identifier: BSL-1.0
// Compares partitioning and scheduling strategies on workloads and platforms: who wins, by how much, and how far from
// a proven lower bound.
#include "weft/io/read.hpp"
#include "weft/platform/presets.hpp"
#include "weft/report/chrome_trace.hpp"
#include "weft/report/csv.hpp"
#include "weft/report/html.hpp"
#include "weft/report/json.hpp"
#include "weft/report/table.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/solve/registry.hpp"
#include "weft/workload/zoo.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

std::string_view weft_echarts_js(); // embedded by the build

namespace {

using problem = weft::problem<weft::workload, weft::platform<>>;
using registry = weft::registry<problem>;

struct options {
  std::vector<std::string> workloads;
  std::vector<std::string> platforms;
  std::vector<std::string> partitions{"all"};
  std::vector<std::string> schedules{"all"};
  unsigned repeat = 1;
  std::uint64_t seed = 0;
  weft::contention_model contention = weft::contention_model::none;
  std::string format = "table";
  std::string html;
  unsigned gantt = 1;
  std::string trace;
  unsigned jobs = 1;
};

/// A workload on a platform, and what is computed once for it.
struct setting {
  std::string workload_name;
  std::string platform_name;
  const weft::workload& workload;
  const weft::platform<>& platform;
  problem task;
  weft::lower_bound bound;

  setting(std::string w_name, std::string p_name, const weft::workload& w, const weft::platform<>& p)
      : workload_name{std::move(w_name)}, platform_name{std::move(p_name)}, workload{w}, platform{p}, task{w, p},
        bound{weft::bound::best(task)} {}
};

/// Joins names for a message.
std::string list(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

template <class Entries>
std::vector<std::string> entry_names(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& e : entries) {
    names.emplace_back(e.name);
  }
  return names;
}

weft::workload load_workload(const std::string& spec) {
  return spec.starts_with("zoo:") ? weft::zoo::make(spec.substr(4)) : weft::io::read_workload(spec);
}

weft::platform<> load_platform(const std::string& spec) {
  return spec.starts_with("preset:") ? weft::presets::make(spec.substr(7)) : weft::io::read_platform(spec);
}

/// How a workload or platform is called in the results: as given, a file by its name without folder and extension.
std::string short_name(const std::string& spec) {
  return spec.starts_with("zoo:") || spec.starts_with("preset:") ? spec : std::filesystem::path{spec}.stem().string();
}

/// Replaces `all` by all names, and refuses unknown ones.
std::vector<std::string> expand(const std::vector<std::string>& wanted, const std::vector<std::string>& known,
                                std::string_view what) {
  std::vector<std::string> names;
  for (const auto& name : wanted) {
    if (name == "all") {
      names.insert(names.end(), known.begin(), known.end());
    } else if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw weft::error(fmt::format("unknown {} '{}'; known are: all, {}", what, name, list(known)));
    } else {
      names.push_back(name);
    }
  }
  std::vector<std::string> unique;
  for (auto& name : names) {
    if (std::find(unique.begin(), unique.end(), name) == unique.end()) {
      unique.push_back(std::move(name));
    }
  }
  return unique;
}

/// A line on a terminal that says how far the runs are; silent elsewhere.
class progress_bar {
public:
  explicit progress_bar(std::size_t total) : total_{total}, shown_{isatty(STDERR_FILENO) != 0 && total > 1} {}
  ~progress_bar() {
    if (shown_) {
      fmt::print(stderr, "\r\x1b[K");
    }
  }
  void advance(std::string_view what) {
    if (!shown_) {
      return;
    }
    const std::lock_guard lock{mutex_};
    ++done_;
    const std::size_t filled = 30 * done_ / total_;
    fmt::print(stderr, "\r\x1b[K[{:━<{}}{:·<{}}] {}/{} {}", "", filled, "", 30 - filled, done_, total_, what);
    std::fflush(stderr);
  }

private:
  std::size_t total_;
  std::size_t done_ = 0;
  bool shown_;
  std::mutex mutex_;
};

/// Runs the jobs `0 … count - 1` on `threads` threads; `worker()` makes what one thread keeps between its jobs. The
/// first exception ends the rest and is rethrown.
template <class Worker>
void parallel_for(std::size_t count, unsigned threads, Worker worker) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto loop = [&] {
    try {
      auto job = worker();
      for (std::size_t i = next++; i < count; i = next++) {
        job(i);
      }
    } catch (...) {
      next = count;
      const std::lock_guard lock{mutex};
      failure = failure ? failure : std::current_exception();
    }
  };
  std::vector<std::jthread> pool;
  for (unsigned t = 1; t < std::min<std::size_t>(threads, count); ++t) {
    pool.emplace_back(loop);
  }
  loop();
  pool.clear(); // joins
  if (failure) {
    std::rethrow_exception(failure);
  }
}

/// Decides once and runs the plan under every ready policy.
class comparer {
public:
  comparer(const options& o, const registry& strategies) : options_{o}, strategies_{strategies} {}

  /// The rows of one partitioner and one seed, in the order of `schedules`.
  std::vector<weft::report::run_record> run(const setting& s, const std::string& partition,
                                            const std::vector<std::string>& schedules, unsigned repeat) {
    weft::report::run_record row{.workload = s.workload_name,
                                 .platform = s.platform_name,
                                 .partition = partition,
                                 .schedule = {},
                                 .repeat = static_cast<int>(repeat),
                                 .seed = options_.seed + repeat,
                                 .lower_bound = std::isfinite(s.bound.value) ? s.bound.value : weft::report::absent,
                                 .lower_bound_name = std::string{to_string(s.bound.which)}};
    weft::rng random{row.seed};
    const weft::stopwatch deciding;
    const auto decided = (*strategies_.find_partitioner(partition))(s.task, random, scratch_);
    row.partition_seconds = deciding.seconds();
    weft::lower_bound bound = s.bound;
    if (!decided) {
      row.status = to_string(weft::status::infeasible);
      row.reason = to_string(decided.error(), weft::report::op_name(s.workload, decided.error().op));
    } else if (decided->bound > bound.value) {
      bound = {decided->bound, weft::lower_bound::rule::search};
      row.lower_bound = bound.value;
      row.lower_bound_name = to_string(bound.which);
    }
    std::vector<weft::report::run_record> rows;
    for (const auto& schedule : schedules) {
      row.schedule = schedule;
      rows.push_back(row);
      if (decided) {
        simulate(s, decided->plan, bound, rows.back());
      }
    }
    return rows;
  }

  /// What happened in the last run.
  const weft::trace& last_trace() const { return trace_; }

private:
  void simulate(const setting& s, const weft::plan& plan, const weft::lower_bound& bound,
                weft::report::run_record& row) {
    if (current_ != &s) { // simulators belong to a problem
      simulators_.clear();
      memory_ = std::make_unique<weft::simulate::memory_tracker<problem>>(s.task);
      current_ = &s;
    }
    auto& simulator = simulators_[row.schedule];
    if (!simulator) {
      simulator = (*strategies_.find_policy(row.schedule))(s.task, options_.contention);
    }
    const weft::stopwatch scheduling;
    simulator->prepare(plan);
    row.schedule_seconds = scheduling.seconds();
    const weft::stopwatch simulating;
    const auto run = simulator->run_prepared(trace_);
    row.simulate_seconds = simulating.seconds();
    row.status = to_string(weft::judge(run, bound));
    row.transfer_bytes = run.transfer_bytes;
    if (!run.complete) {
      row.reason = "the order contradicts the graph, so some ops never run";
      return;
    }
    row.makespan = run.makespan;
    row.gap = weft::report::relative_gap(run.makespan, bound.value);
    memory_->follow(plan.placement, trace_);
    row.peak_memory = memory_->largest_peak();
    if (const auto& overflow = memory_->overflow()) {
      row.status = "out_of_memory";
      row.reason =
        fmt::format("device {} needs {} bytes and has {}", overflow->device, overflow->bytes, overflow->capacity);
      row.makespan = weft::report::absent;
    }
  }

  const options& options_;
  const registry& strategies_;
  weft::workspace scratch_;
  weft::trace trace_;
  const setting* current_ = nullptr;
  std::map<std::string, std::unique_ptr<weft::any_simulator<problem>>> simulators_;
  std::unique_ptr<weft::simulate::memory_tracker<problem>> memory_;
};

/// Runs everything; the rows come in the order of the command line whatever the number of jobs.
weft::report::comparison compare(const options& o, const registry& strategies,
                                 const std::vector<std::unique_ptr<setting>>& settings,
                                 const std::vector<std::string>& partitions,
                                 const std::vector<std::string>& schedules) {
  const std::size_t per_setting = partitions.size() * o.repeat;
  const std::size_t count = settings.size() * per_setting;
  std::vector<std::vector<weft::report::run_record>> results(count);
  progress_bar progress{count};
  parallel_for(count, o.jobs, [&] {
    return [&, runner = std::make_shared<comparer>(o, strategies)](std::size_t i) {
      const setting& s = *settings[i / per_setting];
      const auto& partition = partitions[i % per_setting / o.repeat];
      results[i] = runner->run(s, partition, schedules, static_cast<unsigned>(i % o.repeat));
      progress.advance(fmt::format("{} on {}: {}", s.workload_name, s.platform_name, partition));
    };
  });
  weft::report::comparison all;
  for (auto& rows : results) {
    all.runs.insert(all.runs.end(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
  }
  return all;
}

/// The best run of each of the `count` best combinations of a setting, run again for its trace.
std::vector<weft::report::gantt_run> best_runs(const options& o, const registry& strategies, const setting& s,
                                               const weft::report::comparison& results, std::size_t count) {
  std::vector<weft::report::gantt_run> runs;
  comparer runner{o, strategies};
  for (const auto& section : results.sections()) {
    if (section.workload != s.workload_name || section.platform != s.platform_name) {
      continue;
    }
    for (const auto& c : section.combinations) { // best first
      const weft::report::run_record* best = nullptr;
      for (const auto& r : results.runs) {
        if (r.workload == section.workload && r.platform == section.platform && r.partition == c.partition &&
            r.schedule == c.schedule && r.solved() && (best == nullptr || r.makespan < best->makespan)) {
          best = &r;
        }
      }
      if (best == nullptr || runs.size() == count) {
        break;
      }
      runner.run(s, best->partition, {best->schedule}, static_cast<unsigned>(best->repeat));
      runs.push_back(weft::report::make_gantt_run(
        fmt::format("{} on {}: {} + {}", best->workload, best->platform, best->partition, best->schedule),
        runner.last_trace(), s.workload, s.platform, best->lower_bound, best->lower_bound_name));
    }
  }
  return runs;
}

/// `trace.json` for one setting; with several, `trace-WORKLOAD-PLATFORM.json` for each.
std::filesystem::path trace_path(const options& o, const setting& s, bool single) {
  std::filesystem::path path{o.trace};
  if (!single) {
    auto name = fmt::format("{}-{}-{}", path.stem().string(), s.workload_name, s.platform_name);
    std::replace(name.begin(), name.end(), ':', '-');
    path.replace_filename(name + path.extension().string());
  }
  return path;
}

std::string footer() {
  std::string text = "Strategies\n  partition:";
  const auto strategies = registry::standard();
  text += fmt::format(" {}\n  schedule:  {}\n\nWorkloads\n", list(strategies.partitioner_names()),
                      list(strategies.policy_names()));
  for (const auto& e : weft::zoo::entries) {
    text += fmt::format("  zoo:{:<16} {}\n", e.name, e.description);
  }
  text += "  A batch size may follow, as in zoo:lstm@32. Files: native JSON, or the critical-path paper's "
          "CSV.\n\nPlatforms\n";
  for (const auto& e : weft::presets::entries) {
    text += fmt::format("  preset:{:<16} {}\n", e.name, e.description);
  }
  text +=
    "  Files: native JSON, or the critical-path paper's CSV.\n\nExamples\n"
    "  compare --workload zoo:mnist_conv --platform preset:workstation_2gpu\n"
    "  compare --workload zoo:lstm,zoo:dynamic_rnn --platform preset:paper_like_50 --partition hash,heft,mite \\\n"
    "          --schedule fifo,path_completion_time,static_order --repeat 20 --jobs 2 --html report.html\n"
    "  compare --workload graph.csv --platform devices.csv --format csv > results.csv\n";
  return text;
}

/// Reads the command line. Ends the program for `--help`.
options parse(int argc, char** argv) {
  options o;
  CLI::App app{
    "Compares partitioning and scheduling strategies for dataflow graphs: runs every partitioner with every\n"
    "ready policy in a simulator and prints who wins, by how much, and how far from a proven lower bound."};
  app.get_formatter()->column_width(34);
  app.footer(footer());
  app.add_option("--workload", o.workloads, "What to run: files or zoo:NAME, separated by commas")
    ->required()
    ->delimiter(',')
    ->type_name("FILE|zoo:NAME");
  app.add_option("--platform", o.platforms, "Where to run it: files or preset:NAME, separated by commas")
    ->required()
    ->delimiter(',')
    ->type_name("FILE|preset:NAME");
  app.add_option("--partition", o.partitions, "Partitioners, or all")
    ->delimiter(',')
    ->type_name("NAME,…")
    ->capture_default_str();
  app.add_option("--schedule", o.schedules, "Ready policies, or all")
    ->delimiter(',')
    ->type_name("NAME,…")
    ->capture_default_str();
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
  app.add_option("--jobs", o.jobs, "Threads to use; timings are cleanest with 1")
    ->check(CLI::Range(1u, 1024u))
    ->type_name("N")
    ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) {
      std::exit(app.exit(e)); // --help
    }
    throw weft::error(std::string{e.what()} + " (compare --help says more)");
  }
  o.contention = contention == "port" ? weft::contention_model::port : weft::contention_model::none;
  return o;
}

int run(int argc, char** argv) {
  const options o = parse(argc, argv);
  const auto strategies = registry::standard();
  const auto partitions = expand(o.partitions, strategies.partitioner_names(), "partitioner");
  const auto schedules = expand(o.schedules, strategies.policy_names(), "ready policy");

  std::vector<weft::workload> workloads;
  std::vector<weft::platform<>> platforms;
  for (const auto& spec : o.workloads) {
    workloads.push_back(load_workload(spec));
  }
  for (const auto& spec : o.platforms) {
    platforms.push_back(load_platform(spec));
  }
  std::vector<std::unique_ptr<setting>> settings;
  for (std::size_t w = 0; w < workloads.size(); ++w) {
    for (std::size_t p = 0; p < platforms.size(); ++p) {
      settings.push_back(
        std::make_unique<setting>(short_name(o.workloads[w]), short_name(o.platforms[p]), workloads[w], platforms[p]));
    }
  }

  const auto results = compare(o, strategies, settings, partitions, schedules);

  if (o.format == "csv") {
    weft::report::write_csv(std::cout, results);
  } else if (o.format == "json") {
    weft::report::write_json(std::cout, results);
  } else {
    weft::report::write_table(std::cout, results, {.colour = isatty(STDOUT_FILENO) != 0});
  }
  std::cout.flush();
  if (!o.html.empty()) {
    weft::report::html_report report{
      .title = "Partitioning and scheduling strategies",
      .results = results,
      .notes = {
        {"contention", std::string{to_string(o.contention)}},
        {"seeds", o.repeat == 1 ? std::to_string(o.seed) : fmt::format("{} to {}", o.seed, o.seed + o.repeat - 1)},
        {"weft", fmt::format("{}.{}.{}", WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR, WEFT_VERSION_PATCH)},
        {"command", fmt::format("compare {}", fmt::join(argv + 1, argv + argc, " "))}}};
    for (const auto& s : settings) {
      auto runs = best_runs(o, strategies, *s, results, o.gantt);
      std::move(runs.begin(), runs.end(), std::back_inserter(report.runs));
    }
    weft::io::write_file(o.html, [&](std::ostream& out) { weft::report::write_html(out, report, weft_echarts_js()); });
    fmt::print(stderr, "report written to {}\n", o.html);
  }
  if (!o.trace.empty()) {
    for (const auto& setting : settings) {
      for (const auto& best : best_runs(o, strategies, *setting, results, 1)) {
        const auto path = trace_path(o, *setting, settings.size() == 1);
        weft::io::write_file(path, [&](std::ostream& out) {
          weft::report::write_chrome_trace(out, best.trace, setting->workload, setting->platform, {});
        });
        fmt::print(stderr, "{} written to {}\n", best.title, path.string());
      }
    }
  }
  if (!std::cout) {
    throw weft::error("cannot write the results to standard output");
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "compare: {}\n", e.what());
    return 2;
  }
}
