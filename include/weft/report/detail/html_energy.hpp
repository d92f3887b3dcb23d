// SPDX-License-Identifier: BSL-1.0
/// The energy section of the report of a placed model: the energy of a step, and trade-offs.
#pragma once

#include "weft/report/detail/html_placement.hpp"
#include "weft/report/placed_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::report::detail {

/// Numbers of an axis: at multiples of 1, 2 or 5 times a power of ten, about `about` of them.
inline std::vector<double> ticks(double from, double to, int about) {
  const double rough = (to - from) / about;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double step = power * (rough > 5 * power ? 10 : rough > 2 * power ? 5 : rough > power ? 2 : 1);
  std::vector<double> at;
  for (double k = std::ceil(from / step); k * step <= to; ++k) {
    at.push_back(k * step);
  }
  return at;
}

/// A tick with as many digits as tell it from the next one.
inline std::string tick_label(double x, const unit& u, double step) {
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step * u.per_base) - 1e-9)));
  return fixed(x * u.per_base, decimals);
}

/// One axis of a plot: from numbers to pixels.
struct plot_axis {
  double from, to;     ///< numbers
  double first, last;  ///< pixels
  double operator()(double x) const { return first + (x - from) / (to - from) * (last - first); }
};

/// Trade-offs between step time and energy as points on stairs: no plan that was found is left of and below them.
/// The drawing needs no script; points tell their numbers as titles, and the table has them, too.
inline void write_front_drawing(std::ostream& out, const placed_model& m) {
  const auto& front = m.about.front;
  const auto range = [](double low, double high, double bound) {
    const double span = std::max(high - low, 0.05 * high);
    const double from = bound > 0 && low - bound < 0.6 * span ? std::min(low, bound) : low;
    return std::pair{std::max(0.0, from - 0.12 * span), high + 0.12 * span};
  };
  const auto [seconds_from, seconds_to] =
    range(front.front().step_seconds, front.back().step_seconds, m.about.bound.value);
  const auto [joules_from, joules_to] = range(front.back().joules, front.front().joules, m.about.least_joules);
  const plot_axis x{seconds_from, seconds_to, 64, 704};
  const plot_axis y{joules_from, joules_to, 276, 12};
  const auto at = [](double pixels) { return fixed(pixels, 1); };
  const auto line = [&](std::string_view kind, double x1, double y1, double x2, double y2) {
    out << "<line class=\"" << kind << "\" x1=\"" << at(x1) << "\" y1=\"" << at(y1) << "\" x2=\"" << at(x2)
        << "\" y2=\"" << at(y2) << "\"/>";
  };
  const auto text = [&](std::string_view anchor, double tx, double ty, const std::string& what) {
    out << "<text text-anchor=\"" << anchor << "\" x=\"" << at(tx) << "\" y=\"" << at(ty) << "\">" << escape_html(what)
        << "</text>";
  };
  out
    << "<svg class=\"front\" viewBox=\"0 0 720 324\" role=\"img\" aria-label=\"Energy over step time of the plans that "
       "no other beats in both; the table has the numbers\">\n";
  const unit time = time_unit(seconds_to);
  const unit energy = joule_unit(joules_to);
  for (const auto& [axis, u, is_x] : {std::tuple{x, time, true}, std::tuple{y, energy, false}}) {
    const auto marks = ticks(axis.from, axis.to, is_x ? 8 : 5);
    const double step = marks.size() > 1 ? marks[1] - marks[0] : axis.to - axis.from;
    for (const double mark : marks) {
      const double pixels = axis(mark);
      is_x ? line("grid", pixels, y.last, pixels, y.first) : line("grid", x.first, pixels, x.last, pixels);
      is_x ? text("middle", pixels, y.first + 18, tick_label(mark, u, step))
           : text("end", x.first - 8, pixels + 4, tick_label(mark, u, step));
    }
  }
  text("middle", (x.first + x.last) / 2, y.first + 40, "step time, " + std::string{time.symbol});
  out << "<text text-anchor=\"middle\" transform=\"translate(14 " << at((y.first + y.last) / 2)
      << ") rotate(-90)\">energy, " << energy.symbol << "</text>\n";
  if (m.about.bound.value > x.from) {
    line("bound", x(m.about.bound.value), y.last, x(m.about.bound.value), y.first);
  }
  if (m.about.least_joules > y.from) {
    line("bound", x.first, y(m.about.least_joules), x.last, y(m.about.least_joules));
  }
  out << "<path class=\"stairs\" d=\"M" << at(x(front.front().step_seconds)) << ' ' << at(y.last);
  for (const trade_off& f : front) {
    out << 'H' << at(x(f.step_seconds)) << 'V' << at(y(f.joules));
  }
  out << 'H' << at(x.last) << "\"/>\n";
  for (const trade_off& f : front) {
    const bool own = f.step_seconds == m.step_seconds();
    out << "<circle" << (own ? " class=\"own\"" : "") << " cx=\"" << at(x(f.step_seconds)) << "\" cy=\""
        << at(y(f.joules)) << "\" r=\"" << (own ? 6 : 4) << "\"><title>" << duration(f.step_seconds) << ", "
        << joules_text(f.joules) << (own ? ": this plan" : "") << "</title></circle>";
  }
  out << "\n</svg>\n";
}

inline void write_front_table(std::ostream& out, const placed_model& m) {
  const auto& front = m.about.front;
  begin_table(out, "trade-offs", {"Plan", "Step time#", "Energy#", "× fastest#", "× least energy#", "Mean power#"},
              true);
  for (std::size_t i = 0; i < front.size(); ++i) {
    const auto& [seconds, joules] = front[i];
    const bool own = seconds == m.step_seconds();
    out << "<tr" << (own ? " class=\"best\"" : "") << "><th scope=\"row\">" << i + 1
        << (own ? " <span class=\"badge\">this plan</span>" : "") << "</th>";
    write_number(out, seconds, duration(seconds));
    write_number(out, joules, joules_text(joules));
    const double slower = front.front().step_seconds > 0 ? seconds / front.front().step_seconds : absent;
    const double dearer = front.back().joules > 0 ? joules / front.back().joules : absent;
    write_number(out, slower, times(slower));
    write_number(out, dearer, times(dearer));
    const double watts = seconds > 0 ? joules / seconds : absent;
    write_number(out, watts, std::isfinite(watts) ? three_digits(watts) + " W" : "");
    out << "</tr>\n";
  }
  end_table(out);
}

/// What the run takes, by device and by what for; then what other plans would take, if there are any.
inline void write_energy(std::ostream& out, const placed_model& m) {
  if (!m.knows_energy()) {
    return;
  }
  const double total = m.energy.total();
  const auto share = [&](double joules) { return percentage(total > 0 ? joules / total : 0); };
  begin_section(out, "energy", "Energy");
  out << "<p class=\"facts\">" << joules_text(total) << " a step"
      << (m.step_seconds() > 0 ? ", " + three_digits(total / m.step_seconds()) + " W on average" : "") << ": "
      << share(m.energy.idle()) << " for devices that are on, " << share(m.energy.active()) << " for ops and sends, "
      << share(m.energy.transfers) << " for moving tensors.</p>\n";
  begin_table(out, "energy", {"Device", "Energy#", "Of all#", "While on#", "Ops and sends#", "Mean power#"}, true);
  for (std::size_t d = 0; d < m.devices.size(); ++d) {
    const auto& [idle, active] = m.energy.devices[d];
    const double watts = m.step_seconds() > 0 ? (idle + active) / m.step_seconds() : absent;
    out << "<tr><th scope=\"row\">" << escape_html(m.devices[d].name) << "</th>";
    write_number(out, idle + active, joules_text(idle + active));
    write_number(out, total > 0 ? (idle + active) / total : 0, share(idle + active));
    write_number(out, idle, joules_text(idle));
    write_number(out, active, joules_text(active));
    write_number(out, watts, std::isfinite(watts) ? three_digits(watts) + " W" : "");
    out << "</tr>\n";
  }
  end_table(out);
  if (!m.about.front.empty()) {
    out << "<h3 id=\"trade-offs\">Step time against energy</h3>\n<p class=\"facts\">Plans of which none is better than "
           "another in both: of those that were found, none is left of and below the line"
        << (m.about.front_is_exact ? ", and there is no other" : "")
        << ". Dashed: what no plan can be better than. The large point is this plan.</p>\n";
    write_front_drawing(out, m);
    write_front_table(out, m);
  }
  out << "</section>\n";
}

} // namespace weft::report::detail
