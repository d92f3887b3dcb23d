// SPDX-License-Identifier: BSL-1.0
/// Writes a comparison and selected runs as one HTML page that needs nothing else: no network, no other files.
#pragma once

#include "weft/report/comparison.hpp"
#include "weft/report/detail/html_data.hpp"
#include "weft/report/detail/html_gantt.hpp"
#include "weft/report/detail/html_script.hpp"
#include "weft/report/detail/html_style.hpp"
#include "weft/report/detail/html_tables.hpp"
#include "weft/report/detail/html_timeline.hpp"
#include "weft/report/gantt.hpp"
#include "weft/report/quality.hpp"

#include <algorithm>
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

/// What the page shows.
struct html_report {
  std::string title = "Comparison of strategies";
  comparison results = {};
  /// How the results came about, shown under the title: contention model, seed, version, command line, …
  std::vector<std::pair<std::string, std::string>> notes = {};
  std::vector<text_table> tables = {};
  std::vector<gantt_run> runs = {}; ///< a Gantt chart each
};

namespace detail {

/// Writes a script that stands inside an HTML element, which `</script` and `<!--` would end or confuse. In a script
/// these stand in strings and comments only, where the escaped form means the same.
inline void write_inline_script(std::ostream& out, std::string_view script) {
  const auto starts_with = [](std::string_view text, std::string_view lower) {
    return text.size() >= lower.size() && std::equal(lower.begin(), lower.end(), text.begin(), [](char l, char c) {
             return l == (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
           });
  };
  while (!script.empty()) {
    const std::size_t at = std::min(script.find('<'), script.size());
    out << script.substr(0, at);
    script.remove_prefix(at);
    if (!script.empty()) {
      const bool end_tag = starts_with(script, "</script"), comment = starts_with(script, "<!--");
      out << (end_tag ? "<\\/" : comment ? "<\\x21" : "<");
      script.remove_prefix(end_tag || comment ? 2 : 1);
    }
  }
}

} // namespace detail

/// Writes the page. `chart_library` is the text of Apache ECharts 5 (`echarts.min.js`), which the page carries inside;
/// if it is empty, the page has its tables and says that the charts are missing. Names may contain anything.
/// Size: the library plus about 60 bytes per op and per transfer and the names.
/// Complexity: O(k log k) for k runs, ops and transfers.
inline void write_html(std::ostream& out, const html_report& report, std::string_view chart_library) {
  using namespace detail;
  const auto sections = report.results.sections();
  const std::string title = escape_html(report.title);
  out << "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n"
         // The page fetches nothing, and this makes a browser refuse if a name managed to ask it to.
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
         "script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
         "<title>"
      << title << "</title>\n<style>" << html_style << "</style>\n</head>\n<body>\n<header>\n<h1>" << title
      << "</h1>\n";
  write_notes(out, report.notes);
  out << "</header>\n<main>\n";
  if (!sections.empty()) {
    write_summary(out, sections);
  }
  const quality over_all = sections.size() > 1 ? quality_of(sections) : quality{};
  if (sections.size() > 1) {
    write_quality_tables(out, over_all, sections.size());
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
    out << "<p>The charts are missing: the program that wrote this page gave it no chart library.</p>";
  } else {
    out << "<p>Charts: Apache ECharts, © The Apache Software Foundation, Apache License 2.0.</p>";
  }
  out << "</footer>\n<div id=\"tip\" role=\"tooltip\" hidden></div>\n<script type=\"application/json\" id=\"data\">";
  write_chart_data(out, sections, over_all, report.runs);
  out << "</script>\n<script>";
  write_inline_script(out, chart_library);
  out << "</script>\n<script>";
  out << html_script << html_profile_script << html_gantt_script << html_timeline_script << html_start_script
      << "</script>\n</body>\n</html>\n";
}

} // namespace weft::report
