// SPDX-License-Identifier: BSL-1.0
/// The parts of the HTML report that need no script: notes, summary, comparison tables, frames of the charts.
#pragma once

#include "weft/report/comparison.hpp"
#include "weft/report/detail/text.hpp"
#include "weft/report/gantt.hpp"
#include "weft/report/quality.hpp"
#include "weft/report/table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::report::detail {

inline void write_notes(std::ostream& out, const std::vector<std::pair<std::string, std::string>>& notes) {
  if (notes.empty()) {
    return;
  }
  out << "<dl class=\"notes\">";
  for (const auto& [name, value] : notes) {
    out << "<div" << (value.size() > 60 ? " class=\"wide\"" : "") << "><dt>" << escape_html(name) << "</dt><dd>"
        << escape_html(value) << "</dd></div>";
  }
  out << "</dl>\n";
}

/// A cell with a number: its text, and the value to sort by.
inline void write_number(std::ostream& out, double value, const std::string& text) {
  out << "<td class=\"n\"";
  if (std::isfinite(value)) {
    out << " data-v=\"" << shortest(value) << "\">" << escape_html(text);
  } else {
    out << "><span class=\"none\" aria-label=\"none\">–</span>";
  }
  out << "</td>";
}

inline std::string times(double speed_up) {
  return three_digits(speed_up) + " ×";
}

/// The objective of the sections, in lower case; "objective" where they differ.
inline std::string lower_case_name(const std::vector<section>& sections) {
  const std::string& name = sections.front().objective;
  const bool same =
    std::all_of(sections.begin(), sections.end(), [&](const section& s) { return s.objective == name; });
  return name.empty() || !same ? "objective" : name;
}

/// The same as a heading.
inline std::string objective_name(const std::vector<section>& sections) {
  std::string name = lower_case_name(sections);
  if (name.front() >= 'a' && name.front() <= 'z') {
    name.front() = static_cast<char>(name.front() - 'a' + 'A');
  }
  return name;
}

/// One row per section: who wins, by how much, and how far from the bound. Precondition: there are sections.
inline void write_summary(std::ostream& out, const std::vector<section>& sections) {
  const bool times_alone = std::all_of(sections.begin(), sections.end(), [](const section& s) { return s.is_time(); });
  const bool speed_ups = std::any_of(sections.begin(), sections.end(), [](const section& s) {
    return s.objective == "makespan" || std::isfinite(s.combinations.front().speed_up);
  });
  out << "<section aria-labelledby=\"summary\">\n<h2 id=\"summary\">Best of each</h2>\n"
         "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"summary\"><table>\n<thead><tr>"
         "<th scope=\"col\">Workload</th><th scope=\"col\">Platform</th><th scope=\"col\">Partition</th>"
         "<th scope=\"col\">Schedule</th><th scope=\"col\" class=\"n\">"
      << escape_html(objective_name(sections))
      << "</th><th scope=\"col\" class=\"n\">Lower bound</th><th scope=\"col\" class=\"n\">Gap</th>"
      << (!speed_ups    ? ""
          : times_alone ? "<th scope=\"col\" class=\"n\">Speed-up over hash + fifo</th>"
                        : "<th scope=\"col\" class=\"n\">Gain over hash + fifo</th>")
      << "</tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const auto& s = sections[i];
    const auto& best = s.combinations.front();
    const makespan_format makespan{s};
    out << "<tr><th scope=\"row\"><a href=\"#section-" << std::to_string(i) << "\">" << escape_html(s.workload)
        << "</a></th><td>" << escape_html(s.platform) << "</td>";
    if (best.solved == 0) {
      out << "<td colspan=\"" << (speed_ups ? "6" : "5") << "\" class=\"failed\">" << escape_html(failure(best))
          << "</td></tr>\n";
      continue;
    }
    out << "<td>" << escape_html(best.planner()) << "</td><td>" << escape_html(best.schedule) << "</td>";
    write_number(out, best.makespan_mean, makespan.with_unit(best.makespan_mean));
    write_number(out, s.lower_bound, makespan.with_unit(s.lower_bound));
    write_number(out, best.gap, percentage(best.gap));
    if (speed_ups) {
      write_number(out, best.speed_up, times(best.speed_up));
    }
    out << "</tr>\n";
  }
  out << "</tbody>\n</table></div>\n</section>\n";
}

/// How good the strategies are over all problems: frame of the performance profile, and table.
inline void write_quality_tables(std::ostream& out, const quality& q, const std::vector<section>& sections,
                                 std::string_view baseline) {
  const auto value = lower_case_name(sections);
  out
    << "<section aria-labelledby=\"quality\">\n<h2 id=\"quality\">All " << std::to_string(sections.size())
    << " problems</h2>\n<p class=\"facts\">Performance profile: the share of problems that a strategy solves within a "
       "factor of the best of all strategies; the higher, the better. On the left, how often it is the best.</p>\n"
       "<div class=\"chart profile\" role=\"img\" aria-label=\"Performance profiles; the table below has the means"
       "\"></div>\n<div class=\"scroll tall\" role=\"region\" tabindex=\"0\" aria-labelledby=\"quality\">"
       "<table class=\"sortable\">\n<thead><tr><th scope=\"col\"><button type=\"button\">Strategy</button></th>";
  const auto head = [&](const std::string& name, const std::string& help) {
    out << "<th scope=\"col\" class=\"n\" title=\"" << escape_html(help) << "\"><button type=\"button\">"
        << escape_html(name) << "</button></th>";
  };
  head("Solved", "problems that it found plans for");
  head("Best", "problems where nothing is better");
  head("To best", "geometric mean of " + value + " / the best of all strategies on the same problem");
  if (!baseline.empty()) {
    const auto than = " than " + std::string{baseline};
    head("To baseline", "geometric mean of " + value + " / that of " + std::string{baseline} + " on the same problem");
    head("Won", "problems where it is better" + than);
    head("Lost", "problems where it is worse" + than);
  }
  head("Gap", "geometric mean of " + value + " / lower bound, minus 1");
  for (const auto& family : q.families) {
    head(family, "the gap on problems of this family");
  }
  out << "</tr></thead>\n<tbody>\n";
  for (const auto& s : q.strategies) {
    out << "<tr><th scope=\"row\">" << escape_html(s.name) << "</th>";
    write_number(out, static_cast<double>(s.solved), std::to_string(s.solved));
    write_number(out, static_cast<double>(s.best), std::to_string(s.best));
    write_number(out, s.ratio.mean, fixed(s.ratio.mean, 3) + " ×");
    if (!baseline.empty()) {
      write_number(out, s.to_baseline.mean, fixed(s.to_baseline.mean, 3) + " ×");
      write_number(out, static_cast<double>(s.wins), std::to_string(s.wins));
      write_number(out, static_cast<double>(s.losses), std::to_string(s.losses));
    }
    write_number(out, s.gap.mean, percentage(s.gap.mean));
    for (const double gap : s.family_gap) {
      write_number(out, gap, percentage(gap));
    }
    out << "</tr>\n";
  }
  out << "</tbody>\n</table></div>\n</section>\n";
}

/// A table of text; the first column has the rows' names.
inline void write_text_table(std::ostream& out, const std::string& title, const std::vector<std::string>& header,
                             const std::vector<std::vector<std::string>>& rows, std::size_t number) {
  const std::string id = "table-" + std::to_string(number);
  out << "<section aria-labelledby=\"" << id << "\">\n<h2 id=\"" << id << "\">" << escape_html(title) << "</h2>\n"
      << "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"" << id << "\"><table>\n<thead><tr>";
  for (const auto& name : header) {
    out << "<th scope=\"col\">" << escape_html(name) << "</th>";
  }
  out << "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows) {
    out << "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      out << (i == 0 ? "<th scope=\"row\">" : "<td>") << escape_html(row[i]) << (i == 0 ? "</th>" : "</td>");
    }
    out << "</tr>\n";
  }
  out << "</tbody>\n</table></div>\n</section>\n";
}

inline void write_row(std::ostream& out, const combination& c, const makespan_format& makespan, bool refined) {
  out << "<tr"
      << (c.best          ? " class=\"best\""
          : c.solved == 0 ? " class=\"failed\""
                          : "")
      << "><th scope=\"row\">" << escape_html(c.partition) << (c.best ? " <span class=\"badge\">best</span>" : "")
      << "</th><td>" << (refined ? escape_html(c.refine) + "</td><td>" : "") << escape_html(schedule_cell(c))
      << "</td><td class=\"n\" data-v=\"" << std::to_string(c.solved) << "\">" << run_counts(c) << "</td>";
  if (c.solved == 0) {
    out << "<td colspan=\"8\">" << escape_html(failure(c)) << "</td></tr>\n";
    return;
  }
  write_number(out, c.makespan_mean, makespan(c.makespan_mean));
  write_number(out, c.makespan_min, makespan(c.makespan_min));
  write_number(out, c.makespan_max, makespan(c.makespan_max));
  write_number(out, c.speed_up, times(c.speed_up));
  write_number(out, c.gap, percentage(c.gap));
  write_number(out, c.transfer_bytes, amount(c.transfer_bytes));
  write_number(out, c.peak_memory, amount(c.peak_memory));
  write_number(out, c.planning_seconds, duration(c.planning_seconds));
  out << "</tr>\n";
}

/// A section's heading, frame of the bar chart, and table.
inline void write_comparison(std::ostream& out, const section& s, std::size_t index) {
  const makespan_format makespan{s};
  const std::string id = "section-" + std::to_string(index);
  const std::string in = " [" + std::string{makespan.in.symbol} + "]";
  out << "<section aria-labelledby=\"" << id << "\">\n<h2 id=\"" << id << "\">" << escape_html(s.workload)
      << " <span class=\"on\">on</span> " << escape_html(s.platform) << "</h2>\n<p class=\"facts\">"
      << escape_html(verdict(s, makespan));
  if (std::isfinite(s.lower_bound)) {
    out << " Lower bound: " << escape_html(makespan.with_unit(s.lower_bound));
    if (!s.lower_bound_name.empty()) {
      out << " (" << escape_html(s.lower_bound_name) << ")";
    }
    out << ".";
  }
  out << "</p>\n<div class=\"chart bars\" data-section=\"" << std::to_string(index)
      << "\" role=\"img\" aria-label=\"Bar chart of the mean of each combination; the table below has the "
         "same numbers\"></div>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\""
      << id << "\"><table class=\"sortable\">\n<thead><tr>";
  const bool refined = s.refined();
  for (const std::string_view name : {"Partition", "Refine", "Schedule"}) {
    if (refined || name != "Refine") {
      out << "<th scope=\"col\"><button type=\"button\">" << name << "</button></th>";
    }
  }
  const std::array<std::pair<std::string, std::string>, 9> numbers{{
    {"Runs", "runs that found a plan"},
    {"Mean" + in, "mean " + s.objective + " over the runs"},
    {"Min" + in, "smallest " + s.objective},
    {"Max" + in, "largest " + s.objective},
    {s.is_time() ? "Speed-up" : "Gain", "mean " + s.objective + " of hash + fifo divided by this mean"},
    {"Gap", "how far the mean is above the lower bound"},
    {"Moved", "mean bytes moved between devices"},
    {"Peak memory", "mean of the largest memory use of a device"},
    {"Planning", "mean wall time to partition, refine and schedule"},
  }};
  for (const auto& [name, help] : numbers) {
    const bool sorted = name.starts_with("Mean");
    out << "<th scope=\"col\" class=\"n\"" << (sorted ? " aria-sort=\"ascending\"" : "") << " title=\"" << help
        << "\"><button type=\"button\">" << escape_html(name) << "</button></th>";
  }
  out << "</tr></thead>\n<tbody>\n";
  for (const auto& c : s.combinations) {
    write_row(out, c, makespan, refined);
  }
  out << "</tbody>\n</table></div>\n";
  for (const auto& c : s.combinations) {
    if (c.solved != 0 && c.solved != c.runs) { // its row has the numbers of the runs that found a plan
      out << "<p class=\"failed\">" << escape_html(c.name()) << ", " << std::to_string(c.runs - c.solved) << " of "
          << std::to_string(c.runs) << " runs: " << escape_html(failure(c)) << "</p>\n";
    }
  }
  for (const auto& note : notes_below(s, s.combinations.size())) {
    out << "<p class=\"facts\">" << escape_html(note) << "</p>\n";
  }
  out << "</section>\n";
}

/// The frame of a Gantt chart, which a script fills; `id` is that of its section's heading.
inline void write_timeline(std::ostream& out, const std::string& id, const std::string& title, std::size_t index) {
  out << "<div class=\"tools\" hidden></div>\n<div class=\"legend\" role=\"group\" "
         "aria-label=\"Colours; press one to fade it out\" hidden></div>\n<div class=\"chart timeline\" data-run=\""
      << std::to_string(index)
      << "\" role=\"application\" aria-roledescription=\"Gantt chart\" tabindex=\"0\" aria-label=\""
      << escape_html(title) << "\" aria-describedby=\"" << id
      << "-help\"></div>\n<p class=\"found\" role=\"status\"></p>\n<p class=\"help\" id=\"" << id
      << "-help\" hidden>Drag to pan, Ctrl + wheel or pinch to zoom, double-click to see everything, / to search; or "
         "focus the chart and use the arrow keys, + and −, and 0.</p>\n";
}

/// What a run came to; `name` is empty where it goes without saying.
inline void write_facts(std::ostream& out, const std::string& name, const gantt_part& run,
                        std::span<const device_load> loads) {
  double mean = 0;
  std::size_t ops = 0, transfers = 0;
  for (const auto& l : loads) {
    mean += l.utilisation / static_cast<double>(loads.size());
    ops += l.ops;
    transfers += l.sends;
  }
  out << "<p class=\"facts\">" << (name.empty() ? "Makespan " : escape_html(name) + ": makespan ")
      << escape_html(duration(run.makespan));
  if (const double gap = relative_gap(run.makespan, run.lower_bound); std::isfinite(gap)) {
    out << ", " << percentage(gap) << " above the lower bound of " << escape_html(duration(run.lower_bound));
  }
  out << "; " << std::to_string(ops) << " ops and " << std::to_string(transfers) << " transfers on "
      << std::to_string(loads.size()) << " devices, which were busy " << percentage(mean) << " of their time.</p>\n";
}

/// A run's heading, facts, frame of the Gantt chart, and the loads of its devices as a table.
inline void write_gantt_frame(std::ostream& out, const gantt_run& run, std::size_t index) {
  const std::string id = "run-" + std::to_string(index);
  const auto loads = device_loads(run);
  out << "<section class=\"gantt\" aria-labelledby=\"" << id << "\">\n<h2 id=\"" << id << "\">"
      << escape_html(run.title) << "</h2>\n";
  std::span<const device_load> rest{loads};
  for (const gantt_part& part : run.parts()) {
    write_facts(out, run.overlaid.empty() ? "" : part.title, part, rest.first(part.num_devices));
    rest = rest.subspan(part.num_devices);
  }
  write_timeline(out, id, run.title, index);
  out
    << "<details><summary>Devices as a table</summary>"
       "<div class=\"scroll\"><table class=\"sortable\"><thead><tr><th scope=\"col\"><button "
       "type=\"button\">Device</button></th>";
  for (const char* name : {"Busy", "Ops", "Sent", "Received"}) {
    out << "<th scope=\"col\" class=\"n\"><button type=\"button\">" << name << "</button></th>";
  }
  out << "</tr></thead><tbody>\n";
  for (std::size_t d = 0; d < loads.size(); ++d) {
    const auto count = [&](std::size_t n) { write_number(out, static_cast<double>(n), std::to_string(n)); };
    out << "<tr><th scope=\"row\">"
        << escape_html(d < run.device_names.size() ? run.device_names[d] : "device " + std::to_string(d)) << "</th>";
    write_number(out, loads[d].utilisation, percentage(loads[d].utilisation));
    count(loads[d].ops);
    count(loads[d].sends);
    count(loads[d].arrivals);
    out << "</tr>\n";
  }
  out << "</tbody></table></div></details>\n</section>\n";
}

} // namespace weft::report::detail
