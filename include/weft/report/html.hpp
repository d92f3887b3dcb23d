// SPDX-License-Identifier: BSL-1.0
/// Writes a comparison and selected runs as one HTML page that needs nothing else: no network, no other files.
#pragma once

#include "weft/report/comparison.hpp"
#include "weft/report/detail/html_base.hpp"
#include "weft/report/detail/html_chart.hpp"
#include "weft/report/detail/html_data.hpp"
#include "weft/report/detail/html_gantt.hpp"
#include "weft/report/detail/html_page.hpp"
#include "weft/report/detail/html_script.hpp"
#include "weft/report/detail/html_tables.hpp"
#include "weft/report/detail/html_timeline.hpp"
#include "weft/report/gantt.hpp"
#include "weft/report/quality.hpp"

#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::report {

/// A table of results that are no comparison of strategies; the first column has the rows' names.
struct text_table {
  std::string title = {};
  std::vector<std::string> header = {};
  std::vector<std::vector<std::string>> rows = {};
};

/// The content of the page.
struct html_report {
  std::string title = "Comparison of strategies";
  comparison results = {};
  /// The conditions of the results, shown under the title: contention model, seed, version, command line, …
  std::vector<std::pair<std::string, std::string>> notes = {};
  std::vector<text_table> tables = {};
  std::vector<gantt_run> runs = {}; ///< a Gantt chart each
  std::string baseline = {};        ///< the combination that the table over all problems compares the others with
};

/// Writes the page. `chart_library` is the text of Apache ECharts 5 (`echarts.min.js`), which the page carries inside;
/// if it is empty, bar charts and profiles are missing, and the page says so. Names may contain anything.
/// Size: the library plus the names, about 25 bytes per op and 35 per transfer.
/// Complexity: O(k log k) for k runs, ops and transfers.
inline void write_html(std::ostream& out, const html_report& report, std::string_view chart_library) {
  using namespace detail;
  const auto sections = report.results.sections();
  write_page_begin(out, report.title);
  write_notes(out, report.notes);
  out << "</header>\n<main>\n";
  if (!sections.empty()) {
    write_summary(out, sections);
  }
  const quality over_all = sections.size() > 1 ? quality_of(sections, report.baseline) : quality{};
  if (sections.size() > 1) {
    write_quality_tables(out, over_all, sections, report.baseline);
  }
  for (std::size_t i = 0; i < sections.size(); ++i) {
    write_comparison(out, sections[i], i);
  }
  for (std::size_t i = 0; i < report.tables.size(); ++i) {
    write_text_table(out, report.tables[i].title, report.tables[i].header, report.tables[i].rows, i);
  }
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    write_gantt_frame(out, report.runs[i], i);
  }
  out << "</main>\n<footer>";
  if (chart_library.empty()) {
    out << "<p>Bar charts are missing: the program that wrote this page gave it no chart library.</p>";
  } else {
    out << "<p>Bar charts: Apache ECharts, © The Apache Software Foundation, Apache License 2.0.</p>";
  }
  out << "</footer>\n";
  write_page_end(out, [&] { write_chart_data(out, sections, over_all, report.runs); }, chart_library,
                 {html_base_script, html_chart_script, html_run_script, html_paint_script, html_gantt_script,
                  html_bars_script, html_profile_script, html_start_script});
}

} // namespace weft::report
