// SPDX-License-Identifier: BSL-1.0
/// Writes the report of one placed model as one HTML page that needs nothing else: no network, no other files.
#pragma once

#include "weft/report/detail/html_base.hpp"
#include "weft/report/detail/html_chart.hpp"
#include "weft/report/detail/html_energy.hpp"
#include "weft/report/detail/html_gantt.hpp"
#include "weft/report/detail/html_group_tree_script.hpp"
#include "weft/report/detail/html_groups_script.hpp"
#include "weft/report/detail/html_layered_script.hpp"
#include "weft/report/detail/html_page.hpp"
#include "weft/report/detail/html_placement.hpp"
#include "weft/report/detail/html_placement_script.hpp"
#include "weft/report/detail/html_timeline.hpp"
#include "weft/report/placed_model.hpp"

#include <ostream>
#include <string>
#include <string_view>

namespace weft::report {

/// Writes the page: summary, sharding, strategies, Gantt chart with the critical path, memory over time, uncertain
/// times, devices, energy, traffic, the graph coloured by device, notes. Tables need no script; charts do, and the page
/// carries it. Names may contain anything. Graphs of more than 500 ops are drawn as groups that open on a click.
/// Size: 80 kB, the names, and about 55 bytes per op, 35 per transfer, and for memory up to 130 kB per device.
/// Complexity: O(k log k) for k ops, transfers and edges.
inline void write_placement_html(std::ostream& out, const placed_model& m) {
  using namespace detail;
  write_page_begin(out, m.about.model + " on " + m.about.platform);
  out << "<p class=\"facts\">" << plural(m.run.trace.ops.size(), "op") << ", " << plural(m.devices.size(), "device")
      << ", " << plural(m.run.trace.transfers.size(), "transfer")
      << (m.about.strategy.empty() ? "" : "; strategy: " + escape_html(m.about.strategy)) << "</p>\n";
  if (!m.about.result.empty()) {
    out << "<p class=\"facts\">" << escape_html(m.about.result) << "</p>\n";
  }
  const bool compared = !m.about.strategies.empty() || !m.about.baselines.empty();
  const auto link = [&](bool there, std::string_view id, std::string_view text) {
    if (there) {
      out << "<a href=\"#" << id << "\">" << text << "</a>";
    }
  };
  out << "<nav aria-label=\"Sections\">";
  link(!m.about.ways.empty(), "ways", "Ways");
  link(!m.about.sharding.mesh.empty(), "sharding", "Sharding");
  link(compared, "strategies", "Strategies");
  link(true, "run-0", "Timeline");
  link(!m.memory.empty(), "memory", "Memory");
  link(!m.path.empty(), "path", "Critical path");
  link(!m.about.spread.makespans.empty(), "uncertainty", "Uncertain times");
  link(true, "devices", "Devices");
  link(m.knows_energy(), "energy", "Energy");
  link(true, "traffic", "Traffic");
  link(true, "graph", "Graph");
  const bool has_notes = !m.about.guesses.empty() || !m.about.notes.empty();
  link(has_notes, "notes", "Notes");
  out << "</nav>\n</header>\n<main>\n";
  write_cards(out, m);
  write_ways(out, m);
  write_sharding(out, m);
  write_strategies(out, m);

  begin_section(out, "run-0", "Timeline");
  if (m.run.trace.ops.empty()) {
    out << "<p class=\"facts\">There are no ops.</p>\n";
  } else {
    out << "<p class=\"facts\">Each row is a device, each bar an op; the thin strip below the bars shows tensors that "
           "arrive. At the right, the share of time that the device is busy.</p>\n";
  }
  write_timeline(out, "run-0", "Ops of each device over time", 0);
  out << "</section>\n";

  if (!m.memory.empty()) {
    begin_section(out, "memory", "Memory over time");
    out << "<p class=\"facts\">What each device holds: parameters and state of its ops, and the tensors alive there. "
           "The dashed line is its capacity, if that is not far above; the number at the right, the peak as a part of "
           "it. The window of time is that of the timeline.</p>\n<div class=\"tools\" hidden></div>\n"
           "<div class=\"chart plot memory\" role=\"application\" aria-roledescription=\"chart\" tabindex=\"0\" "
           "aria-label=\"Memory of each device over time; the table of devices has the peaks\"></div>\n";
    if (m.memory.size() > 64) {
      out << "<p class=\"help\">The first 64 devices; the table below has the peaks of all.</p>\n";
    }
    out << "</section>\n";
  }
  write_path(out, m);
  write_uncertainty(out, m);
  write_devices(out, m);
  write_energy(out, m);
  write_traffic(out, m);

  begin_section(out, "graph", "Graph");
  const bool grouped = is_grouped(m);
  if (m.run.trace.ops.empty()) {
    out << "<p class=\"facts\">There is nothing to draw.</p>\n</section>\n";
  } else {
    out << "<p class=\"facts\">"
        << (grouped
              ? "Groups of ops, by the scopes of their names, else by layers; each is below what it needs. Click a "
                "group to open or close it. The bar shows on which devices its ops spend their time; the wider a "
                "line, the more bytes go along it."
              : "Each box is an op, to the right of what it needs, in the colour of its device.")
        << " Blue lines are tensors that move to another device.</p>\n<div class=\"tools\" hidden></div>\n"
           "<div class=\"legend\" hidden></div>\n<div aria-describedby=\"graph-help\" "
        << (grouped ? "class=\"graph groups\" role=\"tree\" aria-label=\"Groups of ops\""
                    : "class=\"chart plot graph\" role=\"application\" aria-roledescription=\"graph\" tabindex=\"0\" "
                      "aria-label=\"The graph, coloured by device\"")
        << "></div>\n<p class=\"help\" id=\"graph-help\">Drag to move, Ctrl + wheel to zoom"
        << (grouped
              ? ". With the keyboard: ↑ and ↓ go from box to box, → opens a group and ← closes it, + and − zoom, 0 "
                "shows everything."
              : ", double-click to see everything; or focus the graph and use the arrow keys, + and −, and 0.")
        << "</p>\n</section>\n";
  }
  if (has_notes) {
    begin_section(out, "notes", "Notes");
    out << "<ul>";
    for (const auto& guess : m.about.guesses) {
      out << "<li>a guess: " << escape_html(guess) << "</li>";
    }
    for (const auto& note : m.about.notes) {
      out << "<li>" << escape_html(note) << "</li>";
    }
    out << "</ul>\n</section>\n";
  }
  const std::string command = escape_html(m.about.command);
  out << "</main>\n<footer>" << (command.empty() ? "" : "<p>Made by <code>" + command + "</code></p>") << "</footer>\n";
  write_page_end(out, [&] { write_placement_data(out, m); }, {},
                 {html_base_script, html_chart_script, html_run_script, html_paint_script, html_gantt_script,
                  html_memory_script, html_graph_script, html_layered_script, html_group_tree_script,
                  html_groups_script, html_placement_start_script});
}

} // namespace weft::report
