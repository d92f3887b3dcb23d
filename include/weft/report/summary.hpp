// SPDX-License-Identifier: BSL-1.0
/// Writes the summary of a placed model for a terminal: at most 80 columns, no colours.
#pragma once

#include "weft/report/detail/text.hpp"
#include "weft/report/placed_model.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::report {

namespace detail {

inline constexpr std::size_t summary_width = 80;

/// The text in so many columns: cut in the middle, since the ends of names tell more, and filled with spaces.
inline std::string in_columns(std::string_view text, std::size_t columns, bool right = false) {
  std::string line = printable(text);
  if (display_width(line) > columns) {
    std::vector<char32_t> points;
    for (std::string_view rest = line; !rest.empty();) {
      points.push_back(take_code_point(rest));
    }
    std::string head, tail;
    std::size_t first = 0, last = points.size(), used = 1;
    while (first < last) {
      const bool left = display_width(head) <= display_width(tail);
      const char32_t c = left ? points[first] : points[last - 1];
      if (used + width(c) > columns) {
        break;
      }
      used += width(c);
      if (left) {
        append_utf8(head, c);
        ++first;
      } else {
        std::string with;
        append_utf8(with, c);
        tail.insert(0, with);
        --last;
      }
    }
    line = head + "…" + tail;
  }
  const std::string space(columns - std::min(columns, display_width(line)), ' ');
  return right ? space + line : line + space;
}

/// Writes a line without the spaces at its end.
inline void write_line(std::ostream& out, const std::string& line) {
  out << std::string_view{line}.substr(0, line.find_last_not_of(' ') + 1) << '\n';
}

/// Breaks a line at spaces so that it fits, the first line after `first`, the others after as many spaces.
inline void write_wrapped(std::ostream& out, std::string_view first, std::string_view text) {
  const std::size_t indent = display_width(first), room = summary_width - indent;
  std::string line, all = printable(text);
  std::string lead{first};
  const auto flush = [&] {
    out << lead << line << '\n';
    lead.assign(indent, ' ');
    line.clear();
  };
  for (std::string_view rest = all; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.empty() && display_width(line) + 1 + display_width(word) > room) {
      flush();
    }
    const std::string fitting = display_width(word) > room ? in_columns(word, room) : std::string{word};
    line += (line.empty() ? "" : " ") + fitting;
  }
  flush();
}

/// A bar of so many columns; what is not empty has at least an eighth of one.
inline std::string bar(double share, std::size_t columns) {
  constexpr std::string_view parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
  const double eighths = std::clamp(share, 0.0, 1.0) * 8 * static_cast<double>(columns);
  auto left = static_cast<std::size_t>(std::lround(eighths));
  left = left == 0 && share > 0 ? 1 : left;
  std::string text;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t part = std::min<std::size_t>(left, 8);
    text += part == 0 ? " " : parts[part];
    left -= part;
  }
  return text;
}

inline std::string plural(std::size_t n, std::string_view noun) {
  std::string digits = std::to_string(n);
  for (std::size_t i = digits.size(); i > 3; i -= 3) {
    digits.insert(i - 3, ",");
  }
  return digits + " " + std::string{noun} + (n == 1 ? "" : "s");
}

/// The slow-down of another plan, and what is wrong with it.
inline std::string compared_with(const placed_model& m, const alternative& other) {
  std::string text;
  if (std::isfinite(m.speed_up(other))) {
    text = three_digits(m.speed_up(other)) + " × " + other.name + " (" + duration(other.step_seconds) + ")";
  } else {
    text = "–  " + other.name;
  }
  return text + (other.status.empty() ? "" : ": " + other.status);
}

/// The composition of the critical path, such as `41 steps: 93.1 % in ops, 6.9 % in transfers`.
inline std::string path_sentence(const placed_model& m) {
  const double all = m.shares.ops + m.shares.sends + m.shares.transfers + m.shares.idle;
  std::string text = plural(m.path.size(), "step");
  const char* separator = ": ";
  const std::pair<double, const char*> parts[] = {{m.shares.ops, "in ops"},
                                                  {m.shares.sends, "in sends"},
                                                  {m.shares.transfers, "in transfers"},
                                                  {m.shares.idle, "idle"}};
  for (const auto& [seconds, where] : parts) {
    if (seconds > 0 && all > 0) {
      text += separator + percentage(seconds / all) + " " + where;
      separator = ", ";
    }
  }
  const auto waits = [&](path_step::cause c) {
    return static_cast<std::size_t>(
      std::count_if(m.path.begin(), m.path.end(), [&](const path_step& s) { return s.after == c; }));
  };
  if (const auto n = waits(path_step::cause::device); n > 0) {
    text += "; " + plural(n, "step") + " waited for a busy device";
  }
  if (const auto n = waits(path_step::cause::link); n > 0) {
    text += "; " + plural(n, "step") + " for a busy link";
  }
  return text;
}

/// The gap to the bound, such as `4.2 % above the lower bound of 11.8 ms (area)`; empty without one.
inline std::string gap_sentence(const placed_model& m) {
  if (!std::isfinite(m.gap())) {
    return {};
  }
  const std::string bound = "the lower bound of " + duration(m.run.lower_bound) + " (" + m.run.lower_bound_name + ")";
  return m.gap() < 5e-7 ? "optimal: it meets " + bound : percentage(m.gap()) + " above " + bound;
}

/// The step time when times are uncertain, such as `412 ms on average, 430 ms with probability 95 %, …`; empty if it is
/// not known.
inline std::string spread_sentence(const placed_model& m) {
  const auto& spread = m.about.spread;
  if (spread.makespans.empty()) {
    return {};
  }
  return duration(spread.mean()) + " on average, at most " + duration(spread.quantile(0.95)) +
         " with probability 95 %, " + duration(spread.conditional_value_at_risk(0.95)) +
         " in the mean of the worst 5 %" + (m.about.uncertainty.empty() ? "" : "; " + m.about.uncertainty);
}

/// The peak memory of the plan in bytes; `absent` where it is not known.
inline double peak_memory(const placed_model& m) {
  const device_id d = m.largest_device();
  return d == none ? absent : static_cast<double>(m.devices[d].peak_bytes);
}

/// The splits of layers that are alike, such as `kernel [1600, 4800/8]; 1 whole (9.77 MiB); 2 all-reduces`.
inline std::string sharding_sentence(const layer_sharding& l) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, l.split.size()); ++i) {
    text += (i == 0 ? "" : ", ") + l.split[i];
  }
  text += l.split.size() > most ? " and " + std::to_string(l.split.size() - most) + " more" : "";
  if (l.whole > 0) {
    text += (text.empty() ? "" : "; ") + std::to_string(l.whole) + " whole (" +
            amount(static_cast<double>(l.whole_bytes)) + ")";
  }
  if (l.small > 0) {
    text += (text.empty() ? "" : "; ") + std::to_string(l.small) + " small";
  }
  return text + (l.sent.empty() || text.empty() ? "" : "; ") + l.sent;
}

/// The device with the peak memory, such as `on gpu0, 4.0 % of its 80.0 GiB`, or the devices that share it; and the
/// fullest device, if that is another one.
inline std::string memory_sentence(const placed_model& m) {
  const device_id most = m.largest_device(), fullest = m.fullest_device();
  if (most == none) {
    return {};
  }
  const auto of_capacity = [&](const placed_device& x) {
    return std::isfinite(x.share())
             ? ", " + percentage(x.share()) + " of its " + amount(static_cast<double>(x.capacity)) : std::string{};
  };
  const placed_device &x = m.devices[most], &y = m.devices[fullest];
  return (x.memory.empty() ? "on " + x.name : "in the memory that " + x.memory + " share") + of_capacity(x) +
         (fullest == most
            ? "" : "; " + y.name + " is fullest: " + amount(static_cast<double>(y.peak_bytes)) + of_capacity(y));
}

inline void write_heading(std::ostream& out, std::string_view text) {
  out << '\n' << text << '\n';
}

/// The model, the machine and what the plan is worth, a line or a paragraph each.
inline void summarise_result(std::ostream& out, const placed_model& m) {
  write_wrapped(out, "", m.about.model + " on " + m.about.platform);
  write_wrapped(out, "",
                plural(m.run.trace.ops.size(), "op") + ", " + plural(m.devices.size(), "device") + ", " +
                  plural(m.run.trace.transfers.size(), "transfer") +
                  (m.about.strategy.empty() ? "" : "; strategy: " + m.about.strategy));
  for (const auto& guess : m.about.guesses) {
    write_wrapped(out, "a guess: ", guess);
  }
  out << '\n';
  if (!m.about.result.empty()) {
    write_wrapped(out, "  Result       ", m.about.result);
  }
  const std::string gap = gap_sentence(m);
  write_wrapped(out, "  Step time    ",
                duration(m.step_seconds()) + (gap.empty() ? "" : ", " + gap) +
                  (m.about.assuming.empty() ? "" : "; assuming " + m.about.assuming));
  bool first = true;
  for (const auto& other : m.about.baselines) {
    write_wrapped(out, first ? "  Speed-up     " : "               ", compared_with(m, other));
    first = false;
  }
  if (const std::string memory = memory_sentence(m); !memory.empty()) {
    write_wrapped(out, "  Peak memory  ", amount(peak_memory(m)) + " " + memory);
  }
  if (!m.path.empty()) {
    write_wrapped(out, "  Critical     ", path_sentence(m));
  }
  if (const std::string spread = spread_sentence(m); !spread.empty()) {
    write_wrapped(out, "  Uncertain    ", spread);
  }
  if (!m.violations.empty()) {
    write_wrapped(out, "  Not valid    ",
                  plural(m.violations.size(), "violation") +
                    " of the execution model, the first: " + m.violations.front());
  }
}

/// A line for each of the first devices, and for each memory that they share.
inline void summarise_devices(std::ostream& out, const placed_model& m, std::size_t max_devices) {
  if (!m.devices.empty()) {
    out << '\n'
        << in_columns("  Device", 18) << in_columns("busy", 24, true) << "     ops  resident      peak   of all\n";
    for (std::size_t d = 0; d < std::min(m.devices.size(), max_devices); ++d) {
      const placed_device& x = m.devices[d];
      const double part = x.capacity > 0 ? static_cast<double>(x.peak_bytes) / static_cast<double>(x.capacity) : 0;
      out << "  " << in_columns(x.name, 15) << ' ' << bar(x.load.utilisation, 16)
          << in_columns(fixed(x.load.utilisation * 100, 1) + " %", 8, true)
          << in_columns(std::to_string(x.load.ops), 8, true)
          << in_columns(amount(static_cast<double>(x.resident_bytes)), 10, true)
          << in_columns(amount(static_cast<double>(x.peak_bytes)), 10, true)
          << in_columns(x.limited() && x.capacity > 0 ? percentage(part) : "–", 9, true)
          << (x.peak_bytes > x.capacity ? "!" : "") << '\n';
    }
    if (m.devices.size() > max_devices) {
      out << "  … and " << m.devices.size() - max_devices << " more\n";
    }
    for (const auto& names : shared_memories(m.devices, max_devices)) {
      write_wrapped(out, "  ", names + " share one memory; its peak is shown for each of them");
    }
  }
}

/// The ways to share the work.
inline void summarise_ways(std::ostream& out, const placed_model& m) {
  if (!m.about.ways.empty()) {
    write_heading(out, "Ways to share the work");
    out << in_columns("step", 12, true) << in_columns("samples/s", 12, true) << in_columns("peak memory", 13, true)
        << in_columns("sent", 12, true) << '\n';
    for (const auto& w : m.about.ways) {
      write_line(out, in_columns(duration(w.step_seconds), 12, true) +
                        in_columns(std::isfinite(w.samples_per_second) ? three_digits(w.samples_per_second) : "–", 12,
                                   true) +
                        in_columns(amount(w.peak_memory), 13, true) + in_columns(amount(w.bytes_sent), 12, true) +
                        "  " + in_columns(w.name, 29));
      for (const auto* text : {&w.remark, &w.status}) {
        if (!text->empty()) {
          write_wrapped(out, std::string(51, ' '), *text);
        }
      }
    }
  }
}

/// The kinds of layers and how they are split.
inline void summarise_sharding(std::ostream& out, const placed_model& m) {
  if (const auto& s = m.about.sharding; !s.mesh.empty()) {
    constexpr std::size_t most = 4;
    write_heading(out, "Sharding");
    write_wrapped(out, "  ", s.mesh);
    for (std::size_t i = 0; i < std::min(most, s.layers.size()); ++i) {
      write_wrapped(out, "  ", s.layers[i].layers + ": " + sharding_sentence(s.layers[i]));
    }
    if (s.layers.size() > most) {
      out << "  … and " << plural(s.layers.size() - most, "more kind") << " of layer\n";
    }
    if (!s.unsplit.empty()) {
      write_wrapped(out, "  ", s.unsplit);
    }
  }
}

/// The ops that make the step long.
inline void summarise_ops(std::ostream& out, const placed_model& m) {
  if (!m.largest_ops.empty()) {
    write_heading(out, "Longest ops on the critical path");
    for (const op_id v : m.largest_ops) {
      const auto& r = m.run.trace.ops[v];
      write_line(out, in_columns(duration(r.finish - r.start), 11, true) + "  " + in_columns(m.run.op_names[v], 34) +
                        "  " + in_columns(v < m.run.op_types.size() ? m.run.op_types[v] : "", 16) + "  " +
                        in_columns(m.devices[r.device].name, 13));
    }
  }
  if (!m.most_critical.empty()) {
    write_heading(out, "Most often critical when times are uncertain");
    for (std::size_t i = 0; i < std::min<std::size_t>(m.most_critical.size(), 5); ++i) {
      const op_id v = m.most_critical[i];
      write_line(out, in_columns(percentage(m.about.spread.criticality[v]), 11, true) + "  " +
                        in_columns(m.run.op_names[v], 34) + "  " +
                        in_columns(v < m.run.op_types.size() ? m.run.op_types[v] : "", 16) + "  " +
                        in_columns("slack " + duration(m.slack[v]), 13));
    }
  }
}

/// The largest transfers.
inline void summarise_transfers(std::ostream& out, const placed_model& m) {
  if (!m.largest_transfers.empty()) {
    write_heading(out, "Largest transfers");
    for (std::size_t i = 0; i < std::min<std::size_t>(m.largest_transfers.size(), 5); ++i) {
      const auto& x = m.run.trace.transfers[m.largest_transfers[i]];
      write_line(out, in_columns(amount(static_cast<double>(m.run.tensor_bytes[x.tensor])), 11, true) + "  " +
                        in_columns(m.run.op_names[m.run.producers[x.tensor]], 38) + "  " +
                        in_columns(m.devices[x.from].name + " → " + m.devices[x.to].name, 26));
    }
  }
}

/// The strategies that were tried.
inline void summarise_strategies(std::ostream& out, const placed_model& m) {
  if (!m.about.strategies.empty()) {
    write_heading(out, "Strategies");
    for (const auto& s : m.about.strategies) {
      write_line(out,
                 in_columns(std::isfinite(s.step_seconds) ? duration(s.step_seconds) : "no plan", 11, true) + "  " +
                   in_columns(s.name, 28) +
                   in_columns(std::isfinite(s.peak_memory) ? amount(s.peak_memory) + " peak" : "", 16, true) +
                   in_columns(std::isfinite(s.planning_seconds) ? "in " + duration(s.planning_seconds) : "", 15, true));
      if (!s.status.empty()) {
        write_wrapped(out, "             ", s.status);
      }
    }
  }
}

} // namespace detail

/// Writes what a person wants to know first: step time, distance to the bound, speed-ups, devices, critical path, what
/// is wrong. At most `max_devices` devices have a line each. Complexity: O(path + devices log devices).
inline void write_summary(std::ostream& out, const placed_model& m, std::size_t max_devices = 16) {
  detail::summarise_result(out, m);
  detail::summarise_devices(out, m, max_devices);
  detail::summarise_ways(out, m);
  detail::summarise_sharding(out, m);
  detail::summarise_ops(out, m);
  detail::summarise_transfers(out, m);
  detail::summarise_strategies(out, m);
  if (!m.about.notes.empty()) {
    detail::write_heading(out, "Notes");
    for (const auto& note : m.about.notes) {
      detail::write_wrapped(out, "  ", note);
    }
  }
}

} // namespace weft::report
