// SPDX-License-Identifier: BSL-1.0
#include "weft/report/aggregate_csv.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

namespace report_aggregate_csv_test {

using namespace weft::report;

run_record run(const std::string& workload, const std::string& partition, double makespan) {
  return {.workload = workload,
          .platform = "p",
          .partition = partition,
          .schedule = "fifo",
          .status = "solved",
          .makespan = makespan,
          .lower_bound = 10,
          .partition_seconds = 0.5};
}

std::vector<std::string> lines(const comparison& c, std::string_view baseline) {
  std::ostringstream out;
  write_aggregate_csv(out, c, baseline);
  std::istringstream in{out.str()};
  std::vector<std::string> result;
  for (std::string line; std::getline(in, line);) {
    result.push_back(line);
  }
  return result;
}

TEST_CASE("write_aggregate_csv: a row per strategy, intervals over the problems") {
  const comparison c{{run("g/1", "x", 10), run("g/1", "y", 20), run("g/2", "x", 40), run("g/2", "y", 40)}};
  const auto text = lines(c, "y + fifo");
  REQUIRE(text.size() == 3);
  CHECK(text[0] == aggregate_csv_header);
  CHECK(text[1].starts_with("g,p,x,none,fifo,2,2,2,25,-165.59"));
  CHECK(text[1].find(",0.7071067811865476,") != std::string::npos); // to the baseline: sqrt(1/2 · 1)
  CHECK(text[1].find(",1,0,2,") != std::string::npos);               // wins, losses, best
  CHECK(text[1].ends_with(",0.5"));
  CHECK(text[2].starts_with("g,p,y,none,fifo,2,2,2,30,"));
  CHECK(text[2].find(",1,1,1,0,0,1,") != std::string::npos); // the baseline itself: 1, wins none and loses none
}

TEST_CASE("write_aggregate_csv: of one problem, the interval of the makespan is over its runs") {
  const comparison c{{run("g/1", "x", 10), run("g/1", "x", 12)}};
  const auto text = lines(c, {});
  REQUIRE(text.size() == 2);
  CHECK(text[1].starts_with("g,p,x,none,fifo,1,1,2,11,-1.7062"));
  CHECK(text[1].find(",,,") != std::string::npos); // no interval over one problem, no baseline
}

TEST_CASE("write_aggregate_csv: families and platforms apart, then all") {
  comparison c{{run("g/1", "x", 10), run("h/1", "x", 20), run("h/2", "x", 20)}};
  c.runs[1].platform = "q, r";
  const auto text = lines(c, {});
  REQUIRE(text.size() == 5);
  CHECK(text[1].starts_with("g,p,x,none,fifo,1,1,1,10,,"));
  CHECK(text[2].starts_with("h,\"q, r\",x,"));
  CHECK(text[3].starts_with("h,p,x,"));
  CHECK(text[4].starts_with("all,all,x,none,fifo,3,3,3,"));
}

TEST_CASE("write_aggregate_csv: random platforms that differ in the seed are one family") {
  comparison c{{run("g/1", "x", 10), run("g/1", "x", 20), run("g/1", "x", 30)}};
  c.runs[0].platform = "random:related devices=4";
  c.runs[1].platform = "random:related devices=4/1";
  c.runs[2].platform = "racks/q"; // of a file
  const auto text = lines(c, {});
  REQUIRE(text.size() == 4);
  CHECK(text[1].starts_with("g,random:related devices=4,x,none,fifo,2,2,2,15,"));
  CHECK(text[2].starts_with("g,racks/q,x,none,fifo,1,1,1,30,"));
  CHECK(text[3].starts_with("all,all,"));
}

} // namespace report_aggregate_csv_test
