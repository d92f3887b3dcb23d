// SPDX-License-Identifier: BSL-1.0
// Compares partitioning and scheduling strategies on workloads and platforms: who wins, by how much, and how far from
// a proven lower bound.
#include "weft/tool/compare.hpp"

#include "options.hpp"
#include "runner.hpp"
#include "selection.hpp"
#include "setting.hpp"
#include "throughput.hpp"
#include "validation.hpp"
#include "tool/costs.hpp"
#include "tool/files.hpp"
#include "tool/interrupt.hpp"
#include "tool/main.hpp"

#include "weft/io/files.hpp"
#include "weft/io/json_plan.hpp"
#include "weft/io/json_platform.hpp"
#include "weft/io/json_workload.hpp"
#include "weft/io/times_csv.hpp"
#include "weft/report/aggregate_csv.hpp"
#include "weft/report/csv.hpp"
#include "weft/report/html.hpp"
#include "weft/report/json.hpp"
#include "weft/report/performance_profile.hpp"
#include "weft/report/table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

std::string_view weft_echarts_js(); // embedded by the build

namespace {

using namespace comparison;

/// The trace of a run in seconds.
weft::trace in_seconds(weft::trace t, double unit) {
  t.makespan *= unit;
  for (auto& op : t.ops) {
    op.start *= unit;
    op.finish *= unit;
  }
  for (auto& x : t.transfers) {
    for (double* time : {&x.send_start, &x.send_finish, &x.start, &x.arrival}) {
      *time *= unit;
    }
  }
  return t;
}

/// The best run of each of the `count` best combinations of a setting, run again for its trace.
std::vector<weft::report::gantt_run> best_runs(const options& o, const registry& all, const setting& s,
                                               const std::vector<row>& rows,
                                               const std::vector<weft::report::section>& sections, std::size_t count) {
  std::vector<weft::report::gantt_run> runs;
  for (const auto& section : sections) {
    if (section.workload != s.workload_name || section.platform != s.platform_name) {
      continue;
    }
    for (const auto& c : section.combinations) { // best first
      const row* found = nullptr;
      for (const auto& x : rows) {
        const auto& r = x.record;
        if (r.workload == section.workload && r.platform == section.platform && r.partition == c.partition &&
            r.refine == c.refine && r.schedule == c.schedule && x.plan != nullptr && r.solved() &&
            (found == nullptr || r.makespan < found->record.makespan)) {
          found = &x;
        }
      }
      if (found == nullptr || runs.size() == count) {
        break;
      }
      const auto& r = found->record;
      const bool of_makespan = section.is_time(); // the bound; else that of the setting is one
      runs.push_back(weft::report::make_gantt_run(
        fmt::format("{}: {}", section.title(), c.name()),
        in_seconds(rerun(o, all, s, *found->plan, found->policy), s.unit_seconds), s.workload(), s.task->platform(),
        (of_makespan ? r.lower_bound : s.bound.value) * s.unit_seconds,
        of_makespan ? r.lower_bound_name : std::string{to_string(s.bound.which)}));
    }
  }
  return runs;
}

/// Files in a folder, called after what they are of: each name once, and short enough for file systems.
class named_files {
public:
  explicit named_files(std::filesystem::path folder) : folder_{std::move(folder)} {}

  std::filesystem::path of(std::string name, std::string_view extension) {
    constexpr std::size_t most = 200; // bytes; most file systems allow 255, of which extensions and numbers need some
    std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return !(std::isalnum(c) != 0 || c == '.' || c == '=' || c == '_' || c == '+'); }, '-');
    name.resize(std::min(name.size(), most));
    auto unlike = name;
    for (int k = 2; !taken_.insert(unlike + std::string{extension}).second; ++k) {
      unlike = fmt::format("{}-{}", name, k);
    }
    return folder_ / (unlike + std::string{extension});
  }

private:
  std::filesystem::path folder_;
  std::set<std::string> taken_;
};

/// Where the Chrome trace of each setting goes: to `trace.json` for one, else to `trace-WORKLOAD-PLATFORM.json`.
std::vector<std::filesystem::path> trace_paths(const options& o, const std::vector<setting>& settings) {
  const std::filesystem::path path{o.trace};
  if (settings.size() == 1) {
    return {path};
  }
  named_files files{path.parent_path()};
  std::vector<std::filesystem::path> paths;
  for (const auto& s : settings) {
    paths.push_back(files.of(fmt::format("{}-{}-{}", path.stem().string(), s.workload_name, s.platform_name),
                             path.extension().string()));
  }
  return paths;
}

void make_folder(const char* option, const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (!std::filesystem::is_directory(folder)) {
    throw weft::error(fmt::format("{} {}: the folder cannot be made{}{}", option, folder, failed ? ": " : "",
                                  failed ? failed.message() : std::string{}));
  }
  weft::io::require_writable(std::filesystem::path{folder} / "x.json");
}

/// Every run's trace in seconds.
void write_traces(const options& o, const registry& all, const std::vector<setting>& settings,
                  const std::vector<row>& rows) {
  named_files files{o.traces};
  std::size_t count = 0;
  for (const auto& s : settings) {
    for (const auto& [record, plan, policy] : rows) {
      if (record.workload != s.workload_name || record.platform != s.platform_name || plan == nullptr) {
        continue;
      }
      const auto path = files.of(fmt::format("{} {} {}{} {} {}", record.workload, record.platform, record.partition,
                                             record.refine == no_name ? "" : " " + record.refine, record.schedule,
                                             record.seed),
                                 ".json");
      const auto run = in_seconds(rerun(o, all, s, *plan, policy), s.unit_seconds);
      weft::io::write_file(path, [&](std::ostream& out) { weft::io::write_trace_json(out, run); });
      ++count;
    }
  }
  fmt::print(stderr, "{} trace{} written to {}\n", count, count == 1 ? "" : "s", o.traces);
}

/// The options with which a written problem is read again so that ops take the same times; nothing if none do.
std::optional<std::string> way_back(const setting& s) {
  const auto& w = s.workload();
  const tool::target on{.name = s.platform_name, .devices = s.task->platform(), .is_file = true};
  const auto efficiencies = weft::cost::typical_efficiencies();
  for (const std::string options : {"", "--work seconds", "--peak-rates"}) {
    tool::model_options how;
    how.peak_rates = options == "--peak-rates";
    tool::input in;
    in.model.ops = w;
    in.model.format = weft::io::json_workload_reader::format();
    if (options == "--work seconds") {
      tool::state_unit(weft::work_unit::seconds, in);
    }
    std::vector<std::string> told;
    const auto times = tool::make_costs(how, in, on, tool::make_estimate(how, in, on, efficiencies), told);
    const auto agree = [&](weft::op_id v) {
      const auto devices = weft::ids(on.devices.num_devices());
      return std::all_of(devices.begin(), devices.end(), [&](weft::device_id d) {
        return !w.kinds(v).contains(on.devices.kind(d)) ||
               times.compute_time(w, v, on.devices, d) == s.task->compute_time(v, d);
      });
    };
    const auto ops = weft::ids(w.num_ops());
    auto read_again = on;
    tool::fit_links(how, in.model, read_again);
    const bool same_links = read_again.devices.link_share() == on.devices.link_share();
    if (same_links && std::all_of(ops.begin(), ops.end(), agree)) {
      return options;
    }
  }
  return std::nullopt;
}

/// Workloads, platforms, and what ops take where; with a note where the times do not come back by themselves.
void write_problems(const options& o, const std::vector<setting>& settings) {
  named_files files{o.problems};
  std::set<std::string> platforms;
  std::map<std::string, std::vector<std::string>> to_be_told; // notes, and the files that they are of
  for (const auto& s : settings) {
    const auto& w = s.workload();
    const auto& q = s.task->platform();
    const auto name = s.workload_name + " " + s.platform_name;
    const auto file = files.of(name, ".workload.json");
    weft::io::write_file(file, [&](std::ostream& out) { weft::io::write_workload_json(out, w); });
    if (const auto options = way_back(s); !options || !options->empty()) {
      to_be_told[options ? fmt::format("read it again with {}", *options)
                         : std::string{"read it again with --times-table and its .times.csv; from the JSON "
                                                "alone, ops would take other times"}]
        .push_back(file.filename().string());
    }
    if (s.platform_name == own_devices || platforms.insert(s.platform_name).second) {
      weft::io::write_file(files.of(s.platform_name == own_devices ? name : s.platform_name, ".platform.json"),
                           [&](std::ostream& out) { weft::io::write_platform_json(out, q); });
    }
    weft::io::write_file(files.of(name, ".times.csv"), [&](std::ostream& out) {
      weft::io::write_times_csv(out, w, q, [&](weft::op_id v, weft::device_id d) {
        return s.task->compute_time(v, d) * s.unit_seconds;
      });
    });
  }
  fmt::print(stderr, "{} problem{} written to {}\n", settings.size(), settings.size() == 1 ? "" : "s", o.problems);
  for (const auto& [note, names] : to_be_told) {
    fmt::print(stderr, "{}{}: {}\n", names.front(),
               names.size() == 1 ? "" : fmt::format(" and {} more", names.size() - 1), note);
  }
}

bool is_picture(const std::string& file) { return std::filesystem::path{file}.extension() == ".svg"; }

/// What the tables call the combinations, in the order of the command line.
std::vector<std::string> combination_names(const options& o, const selection& chosen,
                                           const std::vector<setting>& settings) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& partition, const std::string& refine, std::string_view schedule) {
    const weft::report::combination c{.partition = partition, .schedule = std::string{schedule}, .refine = refine};
    if (auto name = c.name(); !has(names, name)) {
      names.push_back(std::move(name));
    }
  };
  for (const auto& partition : chosen.partitions) {
    for (const auto& s : settings) {
      if (without_schedule(o.objective, s)) {
        add(partition, std::string{no_name}, no_name);
      } else if (partition == best) {
        add(partition, std::string{no_name}, best);
      } else {
        for (const auto& refiner : chosen.refiners) {
          for (const auto& schedule : chosen.schedules) {
            add(partition, refiner, schedule);
          }
        }
      }
    }
  }
  return names;
}

/// The name of the baseline: as given, the first of a partitioner, or the first of all.
std::string baseline_of(const options& o, const std::vector<std::string>& names) {
  if (o.baseline.empty()) {
    return names.empty() ? std::string{} : names.front();
  }
  for (const bool whole : {true, false}) {
    for (const auto& name : names) {
      if (whole ? name == o.baseline : name.starts_with(o.baseline + " + ")) {
        return name;
      }
    }
  }
  const auto shown = std::vector(names.begin(), names.begin() + std::min<std::ptrdiff_t>(std::ssize(names), 6));
  throw weft::error(fmt::format("--baseline: nothing that runs is called '{}'; the names are {}{}", o.baseline,
                                list(shown), shown.size() < names.size() ? ", …" : ""));
}

/// Refuses files that cannot be written, or would replace each other, before anything runs.
void check_outputs(const options& o, const std::vector<setting>& settings) {
  auto outputs = o.profiles;
  outputs.insert(outputs.end(), {o.html, o.trace, o.traces, o.aggregate, o.problems});
  std::set<std::filesystem::path> taken;
  for (const auto& file : outputs) {
    if (!file.empty() && !taken.insert((std::filesystem::absolute(file) / "").lexically_normal()).second) {
      throw weft::error(fmt::format("two outputs are called '{}'; give each a name of its own", file));
    }
  }
  if (!o.html.empty()) {
    weft::io::require_writable(o.html);
  }
  if (!o.aggregate.empty()) {
    weft::io::require_writable(o.aggregate);
  }
  for (const auto& file : o.profiles) {
    if (!is_picture(file) && std::filesystem::path{file}.extension() != ".csv") {
      throw weft::error(fmt::format("--performance-profile: '{}' is neither .csv nor .svg", file));
    }
    weft::io::require_writable(file);
  }
  if (!o.traces.empty()) {
    make_folder("--traces", o.traces);
  }
  if (!o.problems.empty()) {
    for (const auto& s : settings) {
      if (s.placement_study != nullptr) {
        throw weft::error(fmt::format("--problems: '{}' is a file of the placement study already", s.workload_name));
      }
    }
    make_folder("--problems", o.problems);
  }
  if (!o.trace.empty()) {
    for (const auto& path : trace_paths(o, settings)) {
      weft::io::require_writable(path);
    }
  }
}

std::vector<std::pair<std::string, std::string>> notes(const options& o, int argc, char** argv) {
  return {{"objective", std::string{to_string(o.objective)}},
          {"contention", std::string{to_string(o.contention)}},
          {"seeds", o.repeat == 1 ? std::to_string(o.seed) : fmt::format("{} to {}", o.seed, o.seed + o.repeat - 1)},
          {"weft", fmt::format("{}.{}.{}", WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR, WEFT_VERSION_PATCH)},
          {"command", tool::command_line("compare", argc, argv)}};
}

int run(int argc, char** argv, const registry& all) {
  const auto known = known_strategies(all);
  options o = parse(argc, argv, known);
  const tool::interrupt ctrl_c{"ending with the runs so far"};
  o.budget.stop = &ctrl_c.token();
  bench b{o};
  if (!o.validate.empty()) {
    return validate(o, all, b.settings);
  }
  const auto chosen = select(o, known, b.settings);
  check_outputs(o, b.settings);
  if (o.objective == objective::period && chosen.partitions != std::vector<std::string>{std::string{best}}) {
    for (auto& s : b.settings) {
      s.bound_of_period = s.task ? bound_of_period(*s.task) : weft::report::absent;
    }
  }

  const auto baseline = baseline_of(o, combination_names(o, chosen, b.settings));
  const auto rows = run_all(o, all, chosen, b.settings);
  const bool is_stopped = ctrl_c.token().stop_requested();
  if (is_stopped) {
    fmt::print(stderr, "compare: ended by Ctrl-C with {}; searches that ran ended with their best plans so far\n",
               rows.empty() ? "no run" : fmt::format("{} run{}", rows.size(), rows.size() == 1 ? "" : "s"));
    if (rows.empty()) {
      return tool::interrupted;
    }
  }

  weft::report::comparison results;
  for (const auto& x : rows) {
    results.runs.push_back(x.record);
  }
  for (const auto& s : b.settings) {
    results.notes.push_back({s.workload_name, s.platform_name, s.notes});
  }
  if (o.format == "csv") {
    weft::report::write_csv(std::cout, results);
  } else if (o.format == "json") {
    weft::report::write_json(std::cout, results, o.baseline.empty() ? std::string_view{} : baseline);
  } else {
    const weft::report::table_options how{.colour = isatty(STDOUT_FILENO) != 0,
                                          .top = o.top,
                                          .top_strategies = o.top_strategies,
                                          .way_to_all = "--top all shows them",
                                          .baseline = o.baseline.empty() ? std::string_view{} : baseline};
    o.format == "summary" ? weft::report::write_summary(std::cout, results, how)
                          : weft::report::write_table(std::cout, results, how);
  }
  std::cout.flush();
  const auto sections = results.sections();
  if (!o.aggregate.empty()) {
    weft::io::write_file(o.aggregate,
                         [&](std::ostream& out) { weft::report::write_aggregate_csv(out, results, baseline); });
  }
  const auto quality = o.profiles.empty() ? weft::report::quality{} : weft::report::quality_of(sections);
  for (const auto& file : o.profiles) {
    weft::io::write_file(file, [&](std::ostream& out) {
      is_picture(file) ? weft::report::write_profile_svg(out, quality, 12, to_string(o.objective))
                       : weft::report::write_profile_csv(out, quality);
    });
  }
  if (!o.problems.empty()) {
    write_problems(o, b.settings);
  }
  if (!o.traces.empty()) {
    write_traces(o, all, b.settings, rows);
  }
  if (!o.html.empty()) {
    weft::report::html_report report{
      .title = "Partitioning and scheduling strategies",
      .results = results,
      .notes = notes(o, argc, argv),
      .baseline = o.baseline.empty() ? std::string{} : baseline};
    for (const auto& s : b.settings) {
      auto runs = best_runs(o, all, s, rows, sections, o.gantt);
      std::move(runs.begin(), runs.end(), std::back_inserter(report.runs));
    }
    weft::io::write_file(o.html, [&](std::ostream& out) { weft::report::write_html(out, report, weft_echarts_js()); });
    fmt::print(stderr, "report written to {}\n", o.html);
  }
  if (!o.trace.empty()) {
    bool written = false;
    const auto paths = trace_paths(o, b.settings);
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const auto& s = b.settings[i];
      for (const auto& run : best_runs(o, all, s, rows, sections, 1)) {
        tool::write_trace(paths[i], run.trace, s.workload(), s.task->platform());
        fmt::print(stderr, "{} written to {}\n", run.title, paths[i].string());
        written = true;
      }
    }
    if (!written) {
      fmt::print(stderr, "no trace written: there is no run of a schedule\n");
    }
  }
  if (!std::cout) {
    throw weft::error("cannot write the results to standard output");
  }
  return is_stopped ? tool::interrupted : 0;
}

} // namespace

int weft::tool::compare(int argc, char** argv, const std::function<void(strategies&)>& add) {
  return ::tool::main_of("compare", argc, argv, [&](int count, char** arguments) {
    auto all = strategies::standard();
    if (add) {
      add(all);
    }
    return run(count, arguments, all);
  });
}
