// SPDX-License-Identifier: BSL-1.0
/// The parts of the report of one placed model that need no script, and the data of its charts.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/report/detail/graph_drawing.hpp"
#include "weft/report/detail/html_data.hpp"
#include "weft/report/detail/html_tables.hpp"
#include "weft/report/detail/op_groups.hpp"
#include "weft/report/placed_model.hpp"
#include "weft/report/summary.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::report::detail {

inline void begin_section(std::ostream& out, std::string_view id, std::string_view title) {
  out << "<section aria-labelledby=\"" << id << "\">\n<h2 id=\"" << id << "\">" << title << "</h2>\n";
}

/// A table up to its body; a title that ends with `#` heads numbers.
inline void begin_table(std::ostream& out, std::string_view labelled_by, std::initializer_list<std::string_view> titles,
                        bool sortable = false) {
  out << "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-labelledby=\"" << labelled_by << "\"><table"
      << (sortable ? " class=\"sortable\"" : "") << ">\n<thead><tr>";
  for (std::string_view title : titles) {
    const bool number = title.ends_with('#');
    title.remove_suffix(number ? 1 : 0);
    out << "<th scope=\"col\"" << (number ? " class=\"n\"" : "") << '>';
    if (sortable) {
      out << "<button type=\"button\">" << title << "</button>";
    } else {
      out << title;
    }
    out << "</th>";
  }
  out << "</tr></thead>\n<tbody>\n";
}
inline void end_table(std::ostream& out) { out << "</tbody>\n</table></div>\n"; }

/// Tiles in rows of at most `most`, of which none stays alone: all rows are full, as the first tile is wider.
struct even_rows {
  std::size_t columns;
  std::size_t first; ///< the columns of the first tile

  even_rows(std::size_t tiles, std::size_t most) {
    const std::size_t rows = (tiles + most - 1) / most;
    columns = (tiles + rows - 1) / rows;
    first = rows * columns - tiles + 1;
  }
};

inline void write_card(std::ostream& out, std::string_view name, const std::string& value, const std::string& note,
                       bool bad = false) {
  out << "<div" << (bad ? " class=\"bad\"" : "") << "><dt>" << escape_html(name) << "</dt><dd><b>" << escape_html(value)
      << "</b><span>" << escape_html(note) << "</span></dd></div>\n";
}

/// What a reader wants to know first.
inline void write_cards(std::ostream& out, const placed_model& m) {
  const std::size_t tiles = m.about.baselines.size() + (m.memory.empty() ? 3 : 4);
  out << "<dl class=\"cards\" style=\"";
  constexpr std::pair<const char*, std::size_t> screens[] = {{"wide", 6}, {"middle", 4}, {"narrow", 2}};
  for (const auto& [screen, most] : screens) {
    const even_rows rows{tiles, most};
    out << "--" << screen << ':' << rows.columns << ";--" << screen << "-first:" << rows.first << ';';
  }
  out << "\">\n";
  const std::string gap = gap_sentence(m);
  write_card(out, "Step time", duration(m.step_seconds()), gap.empty() ? "no lower bound is known" : gap);
  for (const auto& other : m.about.baselines) {
    const double times = m.speed_up(other);
    write_card(out, std::isfinite(times) ? "Speed-up" : "Baseline",
               std::isfinite(times) ? three_digits(times) + " ×" : "–",
               (std::isfinite(times) ? "over " + other.name + ", " + duration(other.step_seconds) : other.name) +
                 (other.status.empty() ? "" : ": " + other.status));
  }
  if (!m.memory.empty()) {
    write_card(out, "Peak memory", amount(peak_memory(m)), memory_sentence(m),
               m.devices[m.fullest_device()].share() > 1);
  }
  double busy = 0;
  for (const auto& d : m.devices) {
    busy += d.load.utilisation / static_cast<double>(m.devices.size());
  }
  const auto used = std::count_if(m.devices.begin(), m.devices.end(), [](const auto& d) { return d.load.ops > 0; });
  write_card(out, "Devices in use", std::to_string(used) + " of " + std::to_string(m.devices.size()),
             "busy " + percentage(busy) + " of the time, on average over all");
  double moved = 0;
  for (const auto& cell : m.traffic) {
    moved += static_cast<double>(cell.bytes);
  }
  write_card(out, "Moved", amount(moved), "in " + plural(m.run.trace.transfers.size(), "transfer"));
  out << "</dl>\n";
  if (!m.violations.empty()) {
    constexpr std::size_t most = 20;
    out << "<div class=\"alert\" role=\"alert\"><b>This plan is not valid: " << plural(m.violations.size(), "violation")
        << " of the execution model.</b><ul>";
    for (std::size_t i = 0; i < std::min(most, m.violations.size()); ++i) {
      out << "<li>" << escape_html(m.violations[i]) << "</li>";
    }
    out << "</ul>"
        << (m.violations.size() > most ? "<p>… and " + std::to_string(m.violations.size() - most) + " more</p>" : "")
        << "</div>\n";
  }
}

/// This plan among the others, as bars and numbers. Of the strategies, the first with the time of this plan made it.
inline void write_strategies(std::ostream& out, const placed_model& m) {
  const auto& tried = m.about.strategies;
  if (tried.empty() && m.about.baselines.empty()) {
    return;
  }
  const auto made_it =
    std::find_if(tried.begin(), tried.end(), [&](const auto& a) { return a.step_seconds == m.step_seconds(); });
  alternative mine = made_it != tried.end() ? *made_it : alternative{"this plan", m.step_seconds()};
  mine.peak_memory = peak_memory(m);
  std::vector<std::pair<const alternative*, bool>> rows{{&mine, true}}; // and whether it is this plan
  for (const auto* list : {&tried, &m.about.baselines}) {
    for (const auto& a : *list) {
      if (made_it == tried.end() || &a != &*made_it) {
        rows.emplace_back(&a, false);
      }
    }
  }
  const auto seconds = [](const alternative& a) { return std::isfinite(a.step_seconds) ? a.step_seconds : HUGE_VAL; };
  weft::stable_sort(rows,
                   [&](const auto& a, const auto& b) { return seconds(*a.first) < seconds(*b.first); });
  double longest = 0;
  for (const auto& [a, own] : rows) {
    longest = std::isfinite(a->step_seconds) ? std::max(longest, a->step_seconds) : longest;
  }
  begin_section(out, "strategies", "Strategies");
  begin_table(out, "strategies", {"Strategy", "", "Step time#", "× this plan#", "Peak memory#", "Planning#", "Remark"});
  for (const auto& [a, own] : rows) {
    const bool ran = std::isfinite(a->step_seconds);
    out << "<tr"
        << (own   ? " class=\"best\""
            : ran ? ""
                  : " class=\"failed\"")
        << "><th scope=\"row\">" << escape_html(a->name)
        << (own && made_it != tried.end() ? " <span class=\"badge\">this plan</span>" : "")
        << "</th><td class=\"bar\">";
    if (ran && longest > 0) {
      out << "<i style=\"width:" << fixed(100 * a->step_seconds / longest, 1) << "%\"></i>";
    }
    out << "</td>";
    write_number(out, a->step_seconds, duration(a->step_seconds));
    write_number(out, own ? absent : m.speed_up(*a), times(m.speed_up(*a)));
    write_number(out, a->peak_memory, amount(a->peak_memory));
    write_number(out, a->planning_seconds, duration(a->planning_seconds));
    out << "<td class=\"wrap\">" << escape_html(a->status) << "</td></tr>\n";
  }
  end_table(out);
  out << "</section>\n";
}

/// The ways to share the work of a step.
inline void write_ways(std::ostream& out, const placed_model& m) {
  if (m.about.ways.empty()) {
    return;
  }
  double longest = 0;
  for (const auto& w : m.about.ways) {
    longest = std::max(longest, w.step_seconds);
  }
  begin_section(out, "ways", "Ways to share the work");
  begin_table(out, "ways", {"Way", "", "Step time#", "Samples per second#", "Peak memory#", "Sent#", "Remark"});
  bool found = false; // ways may take equally long
  for (const auto& w : m.about.ways) {
    const bool own = !found && w.step_seconds == m.step_seconds() && w.status.empty();
    found = found || own;
    out << "<tr" << (own ? " class=\"best\"" : w.status.empty() ? "" : " class=\"failed\"") << "><th scope=\"row\">"
        << escape_html(w.name) << (own ? " <span class=\"badge\">this plan</span>" : "") << "</th><td class=\"bar\">"
        << "<i style=\"width:" << fixed(w.step_seconds > 0 ? 100 * w.step_seconds / longest : 0, 1) << "%\"></i></td>";
    write_number(out, w.step_seconds, duration(w.step_seconds));
    write_number(out, w.samples_per_second, three_digits(w.samples_per_second));
    write_number(out, w.peak_memory, amount(w.peak_memory));
    write_number(out, w.bytes_sent, amount(w.bytes_sent));
    out << "<td class=\"wrap\">" << escape_html(w.remark) << (w.remark.empty() || w.status.empty() ? "" : "; ")
        << escape_html(w.status) << "</td></tr>\n";
  }
  end_table(out);
  out << "</section>\n";
}

/// The section on how several devices share the parameters.
inline void write_sharding(std::ostream& out, const placed_model& m) {
  const auto& s = m.about.sharding;
  if (s.mesh.empty()) {
    return;
  }
  begin_section(out, "sharding", "Sharding");
  out << "<p class=\"facts\">" << escape_html(s.mesh) << ".</p>\n";
  if (!s.layers.empty()) {
    begin_table(out, "sharding", {"Layers", "Split", "Whole#", "Bytes of them#", "Small#", "Sent in each"});
    for (const auto& l : s.layers) {
      out << "<tr><th scope=\"row\">" << escape_html(l.layers) << "</th><td class=\"wrap\">";
      for (std::size_t i = 0; i < l.split.size(); ++i) {
        out << (i == 0 ? "" : ", ") << escape_html(l.split[i]);
      }
      out << "</td>";
      write_number(out, static_cast<double>(l.whole), std::to_string(l.whole));
      write_number(out, static_cast<double>(l.whole_bytes), amount(static_cast<double>(l.whole_bytes)));
      write_number(out, static_cast<double>(l.small), std::to_string(l.small));
      out << "<td class=\"wrap\">" << escape_html(l.sent) << "</td></tr>\n";
    }
    end_table(out);
    out << "<p class=\"help\">Small: each below 1 % of the layer's bytes, split or not.</p>\n";
  }
  if (!s.unsplit.empty()) {
    out << "<p class=\"facts\">" << escape_html(s.unsplit) << ".</p>\n";
  }
  out << "</section>\n";
}

/// A name as a button that shows the op in the Gantt chart, once there is a script.
inline void write_op_button(std::ostream& out, const placed_model& m, op_id v) {
  out << "<button type=\"button\" class=\"op\" disabled data-op=\"" << std::to_string(v) << "\">"
      << escape_html(m.run.op_names[v]) << "</button>";
}

inline void write_path(std::ostream& out, const placed_model& m) {
  if (m.path.empty()) {
    return;
  }
  begin_section(out, "path", "Critical path");
  out << "<p class=\"facts\">What made the run end when it did: " << escape_html(path_sentence(m)) << ".</p>\n";
  const double all = m.shares.ops + m.shares.sends + m.shares.transfers + m.shares.idle;
  if (all > 0) {
    out << "<div class=\"shares\" aria-hidden=\"true\">";
    const std::pair<double, const char*> parts[] = {
      {m.shares.ops, "ops"}, {m.shares.sends, "sends"}, {m.shares.transfers, "transfers"}, {m.shares.idle, "idle"}};
    for (const auto& [seconds, name] : parts) {
      if (seconds > 0) {
        out << "<i class=\"" << name << "\" style=\"flex-grow:" << significant(seconds / all * 1000, 6) << "\"><span>"
            << name << ' ' << percentage(seconds / all) << "</span></i>";
      }
    }
    out << "</div>\n";
  }
  begin_table(out, "path", {"Longest ops on it", "Type", "Device", "Time#", "Of the step#", "Start#"}, true);
  for (const op_id v : m.largest_ops) {
    const auto& r = m.run.trace.ops[v];
    const double seconds = r.finish - r.start;
    out << "<tr><th scope=\"row\" class=\"name\">";
    write_op_button(out, m, v);
    out << "</th><td>" << escape_html(v < m.run.op_types.size() ? m.run.op_types[v] : "") << "</td><td>"
        << escape_html(m.devices[r.device].name) << "</td>";
    write_number(out, seconds, duration(seconds));
    write_number(out, m.step_seconds() > 0 ? seconds / m.step_seconds() : absent,
                 percentage(seconds / m.step_seconds()));
    write_number(out, r.start, duration(r.start));
    out << "</tr>\n";
  }
  end_table(out);
  out << "</section>\n";
}

/// The makespans of all samples as a histogram of bars, the measures, and the ops that are critical most often.
inline void write_uncertainty(std::ostream& out, const placed_model& m) {
  const auto& spread = m.about.spread;
  if (spread.makespans.empty()) {
    return;
  }
  begin_section(out, "uncertainty", "Uncertain times");
  out << "<p class=\"facts\">The step time in " << plural(spread.makespans.size(), "sample") << ": "
      << escape_html(spread_sentence(m)) << ". By the estimates, " << duration(spread.estimate) << ".</p>\n";
  const auto [least, most] = std::minmax_element(spread.makespans.begin(), spread.makespans.end());
  constexpr std::size_t bins = 15;
  const double width = (*most - *least) / static_cast<double>(bins);
  std::vector<std::size_t> counts(width > 0 ? bins : 1, 0);
  for (const double makespan : spread.makespans) {
    ++counts[std::min(counts.size() - 1, static_cast<std::size_t>(width > 0 ? (makespan - *least) / width : 0))];
  }
  const auto all = static_cast<double>(spread.makespans.size());
  const auto largest = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
  begin_table(out, "uncertainty", {"Step time from", "", "Samples#", "Share#", "Share up to here#"});
  std::size_t so_far = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto count = static_cast<double>(counts[i]);
    so_far += counts[i];
    out << "<tr><th scope=\"row\">" << duration(*least + width * static_cast<double>(i)) << "</th><td class=\"bar\">";
    if (counts[i] > 0) {
      out << "<i style=\"width:" << fixed(100 * count / largest, 1) << "%\"></i>";
    }
    out << "</td>";
    write_number(out, count, std::to_string(counts[i]));
    write_number(out, count / all, percentage(count / all));
    write_number(out, static_cast<double>(so_far) / all, percentage(static_cast<double>(so_far) / all));
    out << "</tr>\n";
  }
  end_table(out);
  if (!m.most_critical.empty()) {
    out << "<h3 id=\"critical\">Most often critical</h3>\n";
    begin_table(out, "critical", {"Op", "Type", "Device", "Critical#", "Slack#", "Time#"}, true);
    for (const op_id v : m.most_critical) {
      const auto& r = m.run.trace.ops[v];
      out << "<tr><th scope=\"row\" class=\"name\">";
      write_op_button(out, m, v);
      out << "</th><td>" << escape_html(v < m.run.op_types.size() ? m.run.op_types[v] : "") << "</td><td>"
          << escape_html(m.devices[r.device].name) << "</td>";
      write_number(out, spread.criticality[v], percentage(spread.criticality[v]));
      write_number(out, m.slack[v], duration(m.slack[v]));
      write_number(out, r.finish - r.start, duration(r.finish - r.start));
      out << "</tr>\n";
    }
    end_table(out);
    out << "<p class=\"help\">Critical: the share of samples in which the op is on a longest path of the run. Slack: "
           "how much longer it may take, by the estimates and in this order, without a longer step.</p>\n";
  }
  out << "</section>\n";
}

inline void write_devices(std::ostream& out, const placed_model& m) {
  begin_section(out, "devices", "Devices");
  begin_table(out, "devices",
              {"Device", "Kind", "Busy#", "Ops#", "Resident#", "Peak#", "Capacity#", "Of it#", "Sent#", "Received#"},
              true);
  for (const auto& d : m.devices) {
    const auto count = [&](std::size_t n) { write_number(out, static_cast<double>(n), std::to_string(n)); };
    const auto bytes = [&](byte_count n) { write_number(out, static_cast<double>(n), amount(static_cast<double>(n))); };
    out << "<tr" << (d.peak_bytes > d.capacity ? " class=\"failed\"" : "") << "><th scope=\"row\">"
        << escape_html(d.name) << "</th><td>" << escape_html(d.kind) << "</td>";
    write_number(out, d.load.utilisation, percentage(d.load.utilisation));
    count(d.load.ops);
    bytes(d.resident_bytes);
    bytes(d.peak_bytes);
    write_number(out, d.limited() ? static_cast<double>(d.capacity) : absent, amount(static_cast<double>(d.capacity)));
    write_number(out, d.share(), percentage(d.share()));
    count(d.load.sends);
    count(d.load.arrivals);
    out << "</tr>\n";
  }
  end_table(out);
  for (const auto& names : shared_memories(m.devices)) {
    out << "<p>" << escape_html(names) << " share one memory; its peak is shown for each of them.</p>\n";
  }
  out << "</section>\n";
}

inline constexpr std::size_t max_devices_in_matrix = 16;

/// Device to device: a table with coloured cells, or, for many devices, the frame of a heat map; the largest transfers.
inline void write_traffic(std::ostream& out, const placed_model& m) {
  begin_section(out, "traffic", "Traffic");
  const std::size_t n = m.devices.size();
  double most = 0;
  for (const auto& cell : m.traffic) {
    most = std::max(most, static_cast<double>(cell.bytes));
  }
  if (m.run.trace.transfers.empty() || m.traffic.empty()) {
    out << "<p class=\"facts\">Nothing moves between devices.</p>\n</section>\n";
    return;
  }
  if (n > max_devices_in_matrix) {
    out
      << "<div class=\"chart plot traffic-map\" role=\"img\" aria-label=\"Heat map of bytes between devices\"></div>\n";
  } else {
    out << "<div class=\"scroll matrix\" role=\"region\" tabindex=\"0\" "
           "aria-labelledby=\"traffic\"><table>\n<thead><tr><th scope=\"col\">from ↓ "
           "to →</th>";
    for (const auto& d : m.devices) {
      out << "<th scope=\"col\" class=\"n\">" << escape_html(d.name) << "</th>";
    }
    out << "</tr></thead>\n<tbody>\n";
    for (std::size_t from = 0; from < n; ++from) {
      out << "<tr><th scope=\"row\">" << escape_html(m.devices[from].name) << "</th>";
      for (std::size_t to = 0; to < n; ++to) {
        const auto& cell = m.traffic[from * n + to];
        if (cell.transfers == 0) {
          out << "<td class=\"n none\">" << (from == to ? "" : "–") << "</td>";
          continue;
        }
        const double share = most > 0 ? static_cast<double>(cell.bytes) / most : 0;
        out << "<td class=\"n heat" << (share > .55 ? " hot" : "") << "\" style=\"--s:" << fixed(.06 + .84 * share, 3)
            << "\">" << amount(static_cast<double>(cell.bytes)) << "<small>" << cell.transfers << " ×</small></td>";
      }
      out << "</tr>\n";
    }
    end_table(out);
  }
  out << "<h3 id=\"transfers\">Largest transfers</h3>\n";
  begin_table(out, "transfers", {"Tensor of", "From", "To", "Size#", "Time#", "Start#"}, true);
  for (const auto k : m.largest_transfers) {
    const auto& x = m.run.trace.transfers[k];
    const auto bytes = static_cast<double>(m.run.tensor_bytes[x.tensor]);
    out << "<tr><th scope=\"row\" class=\"name\">";
    write_op_button(out, m, m.run.producers[x.tensor]);
    out << "</th><td>" << escape_html(m.devices[x.from].name) << "</td><td>" << escape_html(m.devices[x.to].name)
        << "</td>";
    write_number(out, bytes, amount(bytes));
    write_number(out, x.arrival - x.start, duration(x.arrival - x.start));
    write_number(out, x.start, duration(x.start));
    out << "</tr>\n";
  }
  end_table(out);
  out << "</section>\n";
}

/// More ops than that are drawn as groups.
inline constexpr std::size_t max_ops_drawn = 500;
inline bool is_grouped(const placed_model& m) { return m.run.trace.ops.size() > max_ops_drawn; }

/// `layers`, how many; by op `layer`. Of a small graph also `place` by op, and `from` and `to` by edge. Of a large one
/// `groups` (names) with the `parent` of each, the innermost `group` by op, by tensor `producer`, `bytes` and how many
/// `uses`, and then `consumer`, all those of the first tensor first.
inline void write_graph_data(std::ostream& out, const placed_model& m) {
  const bool grouped = is_grouped(m);
  const graph_drawing g = draw_graph(m, !grouped);
  out << "{\"layers\":" << g.layers;
  const auto write = [&](std::string_view name, const auto& numbers) {
    write_column(out, name, numbers.size(), [&](std::size_t i) { return numbers[i]; });
  };
  write("layer", g.layer);
  if (!grouped) {
    write_column_as<float>(out, "place", g.place.size(), [&](std::size_t i) { return g.place[i]; });
    write_column(out, "from", g.edges.size(), [&](std::size_t i) { return g.edges[i].first; });
    write_column(out, "to", g.edges.size(), [&](std::size_t i) { return g.edges[i].second; });
  } else {
    const op_groups groups = group_ops(m.run.op_names, g.layer);
    out << ",\"groups\":";
    write_strings(out, groups.name);
    write("parent", groups.parent);
    write("group", groups.of);
    std::vector<std::uint32_t> uses(m.run.producers.size(), 0);
    for (const flow_edge& e : m.edges) {
      ++uses[e.tensor];
    }
    write("producer", m.run.producers);
    write_column_as<float>(out, "bytes", uses.size(),
                           [&](std::size_t t) { return static_cast<double>(m.run.tensor_bytes[t]); });
    write("uses", uses);
    write_column(out, "consumer", m.edges.size(), [&](std::size_t i) { return m.edges[i].target; });
  }
  out << '}';
}

/// `run` with `path` and, by op, `slack` (seconds) and `critical` (a share), `memory`, `traffic`, `graph`; see
/// `write_run_data`.
inline void write_placement_data(std::ostream& out, const placed_model& m) {
  const std::size_t n = m.run.trace.ops.size(), k = m.run.trace.transfers.size();
  out << "{\"names\":[";
  write_strings(out, m.run.op_names);
  out << "],\"run\":{";
  write_run_data(out, m.run, 0);
  if (!m.path.empty()) {
    out << ",\"path\":{\"steps\":" << m.path.size();
    write_column(out, "step", m.path.size(), [&](std::size_t i) {
      const auto& s = m.path[i];
      return s.index + (s.what == path_step::kind::op ? 0 : s.what == path_step::kind::send ? n : n + k);
    });
    write_column(out, "cause", m.path.size(), [&](std::size_t i) { return static_cast<unsigned>(m.path[i].after); });
    out << '}';
  }
  if (!m.slack.empty()) {
    write_column_as<float>(out, "slack", n, [&](std::size_t v) { return m.slack[v]; });
  }
  if (!m.most_critical.empty()) {
    write_column_as<float>(out, "critical", n, [&](std::size_t v) { return m.about.spread.criticality[v]; });
  }
  out << "},\"memory\":";
  write_array(out, ids(m.memory.size()), [&](device_id d) {
    const auto& curve = m.memory[d];
    out << "{\"capacity\":" << (m.devices[d].limited() ? compact(static_cast<double>(m.devices[d].capacity)) : "null");
    write_column_as<double>(out, "time", curve.time.size(), [&](std::size_t i) { return curve.time[i]; });
    write_column_as<double>(out, "bytes", curve.bytes.size(), [&](std::size_t i) { return curve.bytes[i]; });
    out << '}';
  });
  write_column_as<double>(out, "traffic", m.devices.size() > max_devices_in_matrix ? m.traffic.size() : 0,
                          [&](std::size_t i) { return m.traffic[i].bytes; });
  out << ",\"graph\":";
  write_graph_data(out, m);
  out << '}';
}

} // namespace weft::report::detail
