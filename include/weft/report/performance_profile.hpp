// SPDX-License-Identifier: BSL-1.0
/// Performance profiles of strategies as CSV and as a picture (SVG).
#pragma once

#include "weft/report/csv.hpp"
#include "weft/report/detail/text.hpp"
#include "weft/report/quality.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::report {

/// A factor, and the share of problems that a strategy solves within it.
struct profile_step {
  double factor = 1;
  double share = 0;
};

/// The steps of a strategy's performance profile: its value at the factor 1, and each rise after that. Complexity:
/// O(problems · log problems).
inline std::vector<profile_step> profile_of(const strategy_quality& s) {
  std::vector<profile_step> steps{{1, s.share_within(1)}};
  for (const double factor : s.ratios) {
    if (const double share = s.share_within(factor); std::isfinite(factor) && share > steps.back().share) {
      steps.push_back({factor, share});
    }
  }
  return steps;
}

/// Writes `strategy,factor,share`: for each strategy the steps of `profile_of`, between which the share stays what it
/// was. Complexity: O(k · problems · log problems) for k strategies.
inline void write_profile_csv(std::ostream& out, const quality& q) {
  out << "strategy,factor,share\n";
  for (const auto& s : q.strategies) {
    for (const auto& [factor, share] : profile_of(s)) {
      out << detail::quote_csv(s.name) << ',' << detail::shortest(factor) << ',' << detail::shortest(share) << '\n';
    }
  }
}

namespace detail {

/// The profile's drawing: factors from left to right on a logarithmic axis, shares upwards.
struct profile_plot {
  static constexpr double left = 72, right = 552, top = 16, bottom = 336;
  double greatest = 1.1; ///< factor on the right

  double x(double factor) const {
    return left + (right - left) * std::log(std::min(factor, greatest)) / std::log(greatest);
  }
  static double y(double share) { return bottom - (bottom - top) * share; }
};

/// Factors to be labelled, at least 40 pixels apart.
inline std::vector<double> factor_marks(const profile_plot& plot) {
  std::vector<double> marks{1};
  const auto add = [&](double factor) {
    if (factor <= plot.greatest && plot.x(factor) >= plot.x(marks.back()) + 40) {
      marks.push_back(factor);
    }
  };
  for (const double factor : {1.01, 1.02, 1.05, 1.1, 1.2, 1.3, 1.5, 1.75}) {
    add(factor);
  }
  for (double power = 1; power < plot.greatest && std::isfinite(power); power *= 10) {
    for (const double digit : {2, 3, 5, 10}) {
      add(digit * power);
    }
  }
  return marks;
}

} // namespace detail

/// Draws the performance profiles of the first `max_strategies`: per strategy, the share of problems that it solves
/// within a factor of the best of all, in `objective`. The factor's axis is logarithmic, and ends at the largest of a
/// drawn strategy. The picture is as wide as the longest name needs. UTF-8; fonts are the viewer's.
/// Complexity: that of the CSV file.
inline void write_profile_svg(std::ostream& out, const quality& q, std::size_t max_strategies = 12,
                              std::string_view objective = "makespan") {
  using detail::fixed, detail::profile_plot;
  constexpr std::array<std::string_view, 8> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                    "#e69f00", "#56b4e9", "#7a6a00", "#333333"};
  const std::size_t count = std::min(max_strategies, q.strategies.size());
  profile_plot plot;
  for (std::size_t k = 0; k < count; ++k) {
    for (const auto& step : profile_of(q.strategies[k])) {
      plot.greatest = std::max(plot.greatest, step.factor);
    }
  }
  constexpr double names = 604, per_column = 8; // where names begin, and what a character of 13 pixels may take
  double width = 840;
  for (std::size_t k = 0; k < count; ++k) {
    width = std::max(width, names + per_column * static_cast<double>(detail::display_width(q.strategies[k].name)) + 12);
  }
  const double height = std::max(392.0, profile_plot::top + 20 * static_cast<double>(count) + 24);
  const auto at = [](double pixels) { return fixed(pixels, 1); };
  const auto line = [&](double x1, double y1, double x2, double y2, std::string_view style) {
    out << "<line x1=\"" << at(x1) << "\" y1=\"" << at(y1) << "\" x2=\"" << at(x2) << "\" y2=\"" << at(y2) << "\" "
        << style << "/>\n";
  };
  const auto text = [&](double x, double y, std::string_view anchor, const std::string& what) {
    out << "<text x=\"" << at(x) << "\" y=\"" << at(y) << "\" text-anchor=\"" << anchor << "\">"
        << detail::escape_html(what) << "</text>\n";
  };
  constexpr std::string_view grid = "stroke=\"#dfe3e8\"";
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << fixed(width, 0) << "\" height=\"" << at(height)
      << "\" viewBox=\"0 0 " << fixed(width, 0) << ' ' << at(height)
      << "\" role=\"img\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#1b1f24\">\n"
      << "<title>Performance profile: the share of problems solved within a factor of the best strategy</title>\n"
      << "<rect width=\"" << fixed(width, 0) << "\" height=\"" << at(height) << "\" fill=\"#fff\"/>\n";
  for (const double factor : detail::factor_marks(plot)) {
    line(plot.x(factor), plot.top, plot.x(factor), plot.bottom, grid);
    text(plot.x(factor), plot.bottom + 18, "middle", detail::significant(factor, 4));
  }
  for (int percent = 0; percent <= 100; percent += 25) {
    line(plot.left, plot.y(percent / 100.0), plot.right, plot.y(percent / 100.0), grid);
    text(plot.left - 8, plot.y(percent / 100.0) + 4, "end", std::to_string(percent) + " %");
  }
  text((plot.left + plot.right) / 2, plot.bottom + 42, "middle",
       std::string{objective} + " / the best of all strategies");
  out << "<text text-anchor=\"middle\" transform=\"translate(20 " << at((plot.top + plot.bottom) / 2)
      << ") rotate(-90)\">problems within that factor</text>\n";
  for (std::size_t k = count; k-- > 0;) { // the best on top
    const auto style = "stroke=\"" + std::string{colours[k % colours.size()]} + "\" stroke-width=\"2\"" +
                       (k < colours.size() ? "" : " stroke-dasharray=\"6 3\"");
    out << "<path fill=\"none\" " << style << " d=\"";
    const auto steps = profile_of(q.strategies[k]);
    out << 'M' << at(plot.x(1)) << ' ' << at(plot.y(steps.front().share));
    for (std::size_t i = 1; i < steps.size(); ++i) {
      out << 'H' << at(plot.x(steps[i].factor)) << 'V' << at(plot.y(steps[i].share));
    }
    out << 'H' << at(plot.right) << "\"/>\n";
    const double y = plot.top + 8 + 20 * static_cast<double>(k);
    line(572, y, 596, y, style);
    text(names, y + 4, "start", q.strategies[k].name);
  }
  out << "</svg>\n";
}

} // namespace weft::report
