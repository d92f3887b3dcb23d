// SPDX-License-Identifier: BSL-1.0
#include "weft/report/performance_profile.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

namespace report_performance_profile_test {

using namespace weft::report;

run_record run(const std::string& workload, const std::string& partition, double makespan) {
  return {.workload = workload, .platform = "p", .partition = partition, .schedule = "fifo", .makespan = makespan};
}

/// x has the ratios 1, 1, 2 and no plan for the last; y has 4, 1, 1, 1.
quality two_strategies() {
  return quality_of(comparison{{run("a", "x", 10), run("a", "y", 40), run("b", "x", 7), run("b", "y", 7),
                                run("c", "x", 20), run("c", "y", 10), run("d", "x", absent), run("d", "y", 3)}}
                      .sections());
}

TEST_CASE("write_profile_csv: where the share of problems rises") {
  std::ostringstream out;
  write_profile_csv(out, two_strategies());
  CHECK(out.str() == "strategy,factor,share\n"
                     "y + fifo,1,0.75\n"
                     "y + fifo,4,1\n"
                     "x + fifo,1,0.5\n"
                     "x + fifo,2,0.75\n");
}

TEST_CASE("write_profile_svg: a path per strategy, on a logarithmic axis to the largest factor") {
  std::ostringstream out;
  auto q = two_strategies();
  q.strategies[1].name = "<x> & \"co\"";
  write_profile_svg(out, q);
  const auto svg = out.str();
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(svg.find("d=\"M72.0 96.0H552.0V16.0H552.0\"") != std::string::npos);  // y: 75 %, at 4 all
  CHECK(svg.find("d=\"M72.0 176.0H312.0V96.0H552.0\"") != std::string::npos); // x: 50 %, 75 % at 2, half the way
  CHECK(svg.find(">y + fifo</text>") != std::string::npos);
  CHECK(svg.find("&lt;x&gt; &amp;") != std::string::npos);
  std::ostringstream one;
  write_profile_svg(one, q, 1);
  CHECK(one.str().find("&lt;x&gt;") == std::string::npos);
}

TEST_CASE("write_profile_svg: wide enough for the longest name, and in the words of the objective") {
  auto q = two_strategies();
  std::ostringstream usual, wide;
  write_profile_svg(usual, q);
  CHECK(usual.str().find("width=\"840\"") != std::string::npos);
  CHECK(usual.str().find(">makespan / the best of all strategies</text>") != std::string::npos);
  q.strategies[1].name = std::string(60, 'm');
  write_profile_svg(wide, q, 12, "period");
  CHECK(wide.str().find("width=\"1096\"") != std::string::npos);
  CHECK(wide.str().find("viewBox=\"0 0 1096 392.0\"") != std::string::npos);
  CHECK(wide.str().find(">period / the best of all strategies</text>") != std::string::npos);
}

TEST_CASE("performance profiles of nothing") {
  std::ostringstream csv, svg;
  write_profile_csv(csv, {});
  write_profile_svg(svg, {});
  CHECK(csv.str() == "strategy,factor,share\n");
  CHECK(svg.str().ends_with("</svg>\n"));
}

} // namespace report_performance_profile_test
