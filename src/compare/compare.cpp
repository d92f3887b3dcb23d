// SPDX-License-Identifier: BSL-1.0
// Compares partitioning and scheduling strategies on workloads and platforms: who wins, by how much, and how far from
// a proven lower bound.
#include "weft/tool/compare.hpp"

#include "options.hpp"
#include "runner.hpp"
#include "selection.hpp"
#include "setting.hpp"
#include "throughput.hpp"
#include "tool/files.hpp"
#include "tool/main.hpp"

#include "weft/io/files.hpp"
#include "weft/report/csv.hpp"
#include "weft/report/html.hpp"
#include "weft/report/json.hpp"
#include "weft/report/table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
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
      runs.push_back(weft::report::make_gantt_run(
        fmt::format("{}: {}", section.title(), c.name()),
        in_seconds(rerun(o, all, s, *found->plan, found->policy), s.unit_seconds), s.workload(), s.task->platform(),
        r.lower_bound * s.unit_seconds, r.lower_bound_name));
    }
  }
  return runs;
}

/// `trace.json` for one setting; with several, `trace-WORKLOAD-PLATFORM.json` for each.
std::filesystem::path trace_path(const options& o, const setting& s, bool single) {
  std::filesystem::path path{o.trace};
  if (!single) {
    auto name = fmt::format("{}-{}-{}", path.stem().string(), s.workload_name, s.platform_name);
    std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ':' || c == '/' || c == ' '; }, '-');
    path.replace_filename(name + path.extension().string());
  }
  return path;
}

/// Refuses files that cannot be written before anything runs.
void check_outputs(const options& o, const std::vector<setting>& settings) {
  if (!o.html.empty()) {
    weft::io::require_writable(o.html);
  }
  if (!o.trace.empty()) {
    for (const auto& s : settings) {
      weft::io::require_writable(trace_path(o, s, settings.size() == 1));
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
  const options o = parse(argc, argv, known);
  bench b{o};
  const auto chosen = select(o, known, b.settings);
  if (o.objective == objective::period && chosen.partitions != std::vector<std::string>{std::string{best}}) {
    for (auto& s : b.settings) {
      s.bound_of_period = s.task ? bound_of_period(*s.task) : weft::report::absent;
    }
  }

  check_outputs(o, b.settings);
  const auto rows = run_all(o, all, chosen, b.settings);

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
    weft::report::write_json(std::cout, results);
  } else {
    weft::report::write_table(
      std::cout, results,
      {.colour = isatty(STDOUT_FILENO) != 0, .top = o.top, .way_to_all = "--top all shows them"});
  }
  std::cout.flush();
  const auto sections = results.sections();
  if (!o.html.empty()) {
    weft::report::html_report report{
      .title = "Partitioning and scheduling strategies", .results = results, .notes = notes(o, argc, argv)};
    for (const auto& s : b.settings) {
      auto runs = best_runs(o, all, s, rows, sections, o.gantt);
      std::move(runs.begin(), runs.end(), std::back_inserter(report.runs));
    }
    weft::io::write_file(o.html, [&](std::ostream& out) { weft::report::write_html(out, report, weft_echarts_js()); });
    fmt::print(stderr, "report written to {}\n", o.html);
  }
  if (!o.trace.empty()) {
    bool written = false;
    for (const auto& s : b.settings) {
      for (const auto& run : best_runs(o, all, s, rows, sections, 1)) {
        const auto path = trace_path(o, s, b.settings.size() == 1);
        tool::write_trace(path, run.trace, s.workload(), s.task->platform());
        fmt::print(stderr, "{} written to {}\n", run.title, path.string());
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
  return 0;
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
