// SPDX-License-Identifier: BSL-1.0
/// Writes a comparison as aligned text tables, one per workload × platform.
#pragma once

#include "weft/report/comparison.hpp"
#include "weft/report/detail/text.hpp"
#include "weft/report/quality.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace weft::report {

/// Options of `write_table`.
struct table_options {
  bool colour = false; ///< ANSI colours and bold for a terminal; without them a `*` marks the best row
  /// Rows of each table; a line says how many more there are.
  std::size_t top = std::numeric_limits<std::size_t>::max();
  /// Rows of the table over all problems, of which the baseline is one in any case.
  std::size_t top_strategies = 12;
  std::string_view way_to_all = {}; ///< what that line says of seeing them
  std::string_view baseline = {};   ///< the combination that the table over all problems compares the others with
};

namespace detail {

/// The unit and decimals of all makespans of a section: the smallest is at least 1, and decimal points align.
struct makespan_format {
  unit in{1, "s"};
  int decimals = 3;

  explicit makespan_format(const section& s) {
    double smallest = 0, largest = std::isfinite(s.lower_bound) ? s.lower_bound : 0;
    for (const auto& c : s.combinations) {
      if (c.solved != 0) {
        smallest = smallest > 0 ? std::min(smallest, c.makespan_min) : c.makespan_min;
        largest = std::max(largest, c.makespan_max);
      }
    }
    in = unit_for((smallest > 0 ? smallest : largest) * s.unit_seconds, s.unit);
    in.per_base *= s.unit_seconds;
    decimals = decimals_for(largest * in.per_base);
  }
  std::string operator()(double seconds) const { return fixed(seconds * in.per_base, decimals); }
  std::string with_unit(double seconds) const { return (*this)(seconds) + " " + std::string{in.symbol}; }
};

/// `20` if all runs were solved, else `17/20`.
inline std::string run_counts(const combination& c) {
  return (c.solved == c.runs ? "" : std::to_string(c.solved) + "/") + std::to_string(c.runs);
}

/// `status: reason` of a combination in which a run failed.
inline std::string failure(const combination& c) {
  return printable(c.status) + (c.reason.empty() ? "" : ": " + printable(c.reason));
}

using table_row = std::vector<std::string>;

/// Behind the ready policy of a combination whose runs are not in the order of what placed the ops.
inline constexpr std::string_view other_order_mark = "°";

inline std::string schedule_cell(const combination& c) {
  return c.schedule + (c.in_other_order() ? std::string{other_order_mark} : std::string{});
}

/// The meaning of the mark, for the first `shown` combinations; empty if none has it.
inline std::string about_orders(const section& s, std::size_t shown) {
  constexpr std::size_t max_names = 4;
  const auto planners = [&](order_origin wanted) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < shown; ++i) {
      const auto& c = s.combinations[i];
      if (auto name = c.planner(); c.order == wanted && std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(std::move(name));
      }
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), max_names); ++i) {
      text += (i == 0 ? "" : ", ") + names[i];
    }
    return text + (names.size() > max_names ? ", …" : "");
  };
  const auto replaced = planners(order_origin::replaced), undecided = planners(order_origin::undecided);
  if (replaced.empty() && undecided.empty()) {
    return {};
  }
  std::string text = std::string{other_order_mark} + " ordered by the ready policy";
  text += replaced.empty() ? "" : "; static_order keeps the order planned by " + replaced;
  return text + (undecided.empty() ? "" : "; none is planned by " + undecided);
}

/// The columns that a section has beside those that all have.
struct section_columns {
  bool refiners;
  bool intervals; ///< of means over several runs
  bool speed_ups; ///< else other gains

  explicit section_columns(const section& s)
      : refiners{s.refined()}, intervals{std::any_of(s.combinations.begin(), s.combinations.end(), [](const auto& c) {
          return std::isfinite(c.makespan_low);
        })}, speed_ups{s.is_time()} {}
};

inline constexpr std::string_view interval_title = "95 %";

inline table_row header_cells(const makespan_format& makespan, section_columns columns) {
  const std::string in = " [" + std::string{makespan.in.symbol} + "]";
  table_row row{"partition"};
  if (columns.refiners) {
    row.push_back("refine");
  }
  row.insert(row.end(), {"schedule", "runs", "mean" + in});
  if (columns.intervals) {
    row.emplace_back(interval_title);
  }
  row.insert(row.end(), {"min" + in, "max" + in, columns.speed_ups ? "speed-up" : "gain", "gap", "moved",
                         "peak memory", "planning"});
  return row;
}

inline table_row cells(const combination& c, const makespan_format& makespan, section_columns columns) {
  table_row row{printable(c.partition)};
  if (columns.refiners) {
    row.push_back(printable(c.refine));
  }
  row.insert(row.end(), {printable(schedule_cell(c)), run_counts(c), makespan(c.makespan_mean)});
  if (columns.intervals) {
    const double half = (c.makespan_high - c.makespan_low) / 2;
    row.push_back(std::isfinite(half) ? "± " + makespan(half) : std::string{});
  }
  for (auto&& cell : {makespan(c.makespan_min), makespan(c.makespan_max),
                      std::isfinite(c.speed_up) ? three_digits(c.speed_up) + " ×" : std::string{}, percentage(c.gap),
                      amount(c.transfer_bytes), amount(c.peak_memory), duration(c.planning_seconds)}) {
    row.push_back(cell);
  }
  return row;
}

/// One sentence: who wins, by how much, and how far from the bound.
inline std::string verdict(const section& s, const makespan_format& makespan) {
  const auto& best = s.combinations.front();
  if (best.solved == 0) {
    return "No combination found a plan.";
  }
  std::string text = "Best: " + printable(best.name()) + ", " + (s.objective == "makespan" ? "" : s.objective + " ") +
                     makespan.with_unit(best.makespan_mean);
  const bool compared = std::isfinite(best.speed_up);
  if (compared && s.is_time()) {
    text += ", " + three_digits(best.speed_up) + " times as fast as hash + fifo";
  }
  if (std::isfinite(best.gap)) {
    text +=
      best.gap < 5e-7 ? ", optimal: it meets the lower bound" : ", " + percentage(best.gap) + " above the lower bound";
  }
  if (compared && !s.is_time()) {
    text += "; hash + fifo takes " + three_digits(best.speed_up) + " times as much";
  }
  return text + ".";
}

inline void pad(std::ostream& out, std::size_t columns) {
  for (; columns > 0; --columns) {
    out << ' ';
  }
}

/// The notes below a table of the first `shown` combinations.
inline std::vector<std::string> notes_below(const section& s, std::size_t shown) {
  auto notes = s.notes;
  if (auto orders = about_orders(s, shown); !orders.empty()) {
    notes.insert(notes.begin(), std::move(orders));
  }
  return notes;
}

inline void write_section(std::ostream& out, const section& s, table_options options) {
  const auto style = [&](std::string_view code) { return options.colour ? code : std::string_view{}; };
  constexpr std::string_view bold = "\x1b[1m", best_style = "\x1b[1;32m", faint = "\x1b[2m", plain = "\x1b[0m";
  const makespan_format makespan{s};

  const section_columns wanted{s};
  const std::size_t names = wanted.refiners ? 3 : 2; // columns of text, to the left
  std::vector<table_row> rows{header_cells(makespan, wanted)};
  const std::size_t shown = std::min(options.top, s.combinations.size());
  for (std::size_t i = 0; i < shown; ++i) {
    rows.push_back(cells(s.combinations[i], makespan, wanted));
  }
  const std::size_t columns = rows.front().size();
  std::vector<std::size_t> widths(columns, 0);
  std::size_t total = 0;
  for (std::size_t column = 0; column < columns; ++column) {
    for (const auto& row : rows) {
      widths[column] = std::max(widths[column], display_width(row[column]));
    }
    total += widths[column] + 2;
  }

  out << style(bold) << printable(s.title()) << style(plain);
  if (std::isfinite(s.lower_bound)) {
    out << ": lower bound " << makespan.with_unit(s.lower_bound);
    if (!s.lower_bound_name.empty()) {
      out << " (" << printable(s.lower_bound_name) << ")";
    }
  }
  out << "\n\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const combination* const c = i == 0 ? nullptr : &s.combinations[i - 1];
    const std::string_view row_style = style(!c ? bold : c->best ? best_style : c->solved == 0 ? faint : "");
    out << row_style << (c && c->best && !options.colour ? "*" : " ");
    // Numbers that a failed combination does not have leave room for the reason.
    const std::size_t filled = c && c->solved == 0 ? names + 1 : columns;
    std::size_t owed = 0; // spaces are written only before text, so that no line ends with them
    for (std::size_t column = 0; column < filled; ++column) {
      const std::string& cell = rows[i][column];
      const std::size_t space = widths[column] - display_width(cell);
      const bool left = column < names;
      owed += (column == 0 ? 1 : 2) + (left ? 0 : space);
      if (!cell.empty()) {
        pad(out, owed);
        out << cell;
        owed = 0;
      }
      owed += left ? space : 0;
    }
    if (c && c->solved != c->runs) {
      out << "  " << failure(*c);
    }
    out << (row_style.empty() ? "" : plain) << '\n';
    if (!c) {
      out << style(faint);
      for (std::size_t k = 0; k < total; ++k) {
        out << (k == 0 ? " " : "─");
      }
      out << style(plain) << '\n';
    }
  }
  if (const std::size_t more = s.combinations.size() - shown; more > 0) {
    out << style(faint) << "  … " << more << " more" << (options.way_to_all.empty() ? "" : ": ") << options.way_to_all
        << style(plain) << '\n';
  }
  out << '\n' << style(bold) << ' ' << verdict(s, makespan) << style(plain) << "\n";
  const auto notes = notes_below(s, shown);
  for (std::size_t i = 0; i < notes.size(); ++i) {
    out << (i == 0 ? "\n" : "") << style(faint) << "  " << printable(notes[i]) << style(plain) << '\n';
  }
}

/// `1.020 to 1.104`; empty if there is none.
inline std::string range_of(double low, double high, int decimals) {
  return std::isfinite(low) && std::isfinite(high) ? fixed(low, decimals) + " to " + fixed(high, decimals)
                                                   : std::string{};
}

/// The best strategies over all sections: problems solved, problems won, distance to the best, to a baseline and to the
/// bound.
inline void write_quality(std::ostream& out, const std::vector<section>& sections, table_options options) {
  constexpr std::size_t max_families = 8;
  const quality q = quality_of(sections, options.baseline);
  const bool by_family = q.families.size() > 1 && q.families.size() <= max_families;
  const bool intervals = sections.size() > 1;
  const bool compared = !options.baseline.empty();
  const auto times = [](double x) { return std::isfinite(x) ? fixed(x, 3) + " ×" : std::string{}; };
  std::vector<table_row> rows{{"strategy", "solved", "best", "to best"}};
  const auto add_title = [&](const char* title) {
    rows.front().emplace_back(title);
    if (intervals) {
      rows.front().emplace_back(interval_title);
    }
  };
  if (intervals) {
    rows.front().emplace_back(interval_title);
  }
  if (compared) {
    add_title("to baseline");
    rows.front().insert(rows.front().end(), {"won", "lost"});
  }
  add_title("gap");
  if (by_family) {
    for (const auto& family : q.families) {
      rows.front().push_back(printable(family));
    }
  }
  const std::size_t shown = std::min({q.strategies.size(), options.top_strategies, options.top});
  for (std::size_t k = 0; k < q.strategies.size(); ++k) {
    const auto& s = q.strategies[k];
    if (k >= shown && !(compared && s.name == options.baseline)) {
      continue;
    }
    auto& row = rows.emplace_back(table_row{printable(s.name), std::to_string(s.solved), std::to_string(s.best)});
    const auto add = [&](std::string cell, std::string range) {
      row.push_back(std::move(cell));
      if (intervals) {
        row.push_back(std::move(range));
      }
    };
    add(times(s.ratio.mean), range_of(s.ratio.low, s.ratio.high, 3));
    if (compared) {
      add(times(s.to_baseline.mean), range_of(s.to_baseline.low, s.to_baseline.high, 3));
      row.insert(row.end(), {std::to_string(s.wins), std::to_string(s.losses)});
    }
    add(percentage(s.gap.mean), range_of(s.gap.low * 100, s.gap.high * 100, 1));
    for (std::size_t f = 0; by_family && f < q.families.size(); ++f) {
      row.push_back(percentage(s.family_gap[f]));
    }
  }
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  const auto count = sections.size() == 1 ? std::string{"1 problem"} : std::to_string(sections.size()) + " problems";
  out << (options.colour ? "\x1b[1m" : "") << "All " << count << (options.colour ? "\x1b[0m" : "");
  if (shown < q.strategies.size()) {
    out << ", the best " << shown << " of " << q.strategies.size() << " strategies";
    out << (rows.size() > shown + 1 ? " and the baseline" : "");
  }
  out << (by_family ? "; gap to the lower bound, also by family" : "; gap to the lower bound");
  if (compared) {
    out << "; baseline: " << printable(options.baseline);
  }
  out << "\n\n";
  for (const auto& row : rows) {
    out << ' ' << row.front();
    std::size_t owed = widths.front() - display_width(row.front());
    for (std::size_t i = 1; i < row.size(); ++i) {
      owed += 2 + widths[i] - display_width(row[i]);
      if (!row[i].empty()) {
        pad(out, owed);
        out << row[i];
        owed = 0;
      }
    }
    out << '\n';
  }
}

} // namespace detail

/// Writes the table over all problems alone: the best strategies, with how many problems they solved and won, and the
/// geometric means of makespan / the best of all and of makespan / lower bound, with 95 % confidence intervals over the
/// problems if there are several. UTF-8. Complexity: O(r log r) for r runs.
inline void write_summary(std::ostream& out, const comparison& c, table_options options = {}) {
  detail::write_quality(out, c.sections(), options);
}

/// Writes a table per workload × platform: one row per combination, best first, with mean, minimum and maximum
/// makespan, speed-up over `hash` + `fifo` (called gain where the objective is no time), gap of the mean to the lower
/// bound, mean bytes moved, mean peak memory and mean planning time; of several runs, the mean has its 95 % confidence
/// interval. With several workloads or platforms, then what `write_summary` writes. UTF-8; combinations without a plan
/// show their status and reason. Complexity: O(r log r) for r runs.
inline void write_table(std::ostream& out, const comparison& c, table_options options = {}) {
  const auto sections = c.sections();
  bool first = true;
  for (const auto& s : sections) {
    out << (first ? "" : "\n\n");
    detail::write_section(out, s, options);
    first = false;
  }
  if (sections.size() > 1) {
    out << "\n\n";
    detail::write_quality(out, sections, options);
  }
}

} // namespace weft::report
