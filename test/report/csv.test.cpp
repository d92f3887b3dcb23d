// SPDX-License-Identifier: BSL-1.0
#include "weft/report/csv.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace report_csv_test {

using namespace weft::report;

/// A small RFC 4180 reader, so that what is written is read back by other code.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      rows.back().back() += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      rows.back().emplace_back();
    } else if (!quoted && c == '\n') {
      rows.emplace_back(1);
    } else {
      rows.back().back() += c;
    }
  }
  rows.pop_back(); // after the last line end
  return rows;
}

TEST_CASE("write_csv: columns, order, and numbers that read back exactly") {
  run_record r{.workload = "w", .platform = "p", .partition = "heft", .schedule = "fifo"};
  r.repeat = 3;
  r.seed = 18'446'744'073'709'551'615u;
  r.status = "solved";
  r.makespan = 182.535;
  r.lower_bound = .1 + .2;
  r.gap = 1. / 3;
  r.transfer_bytes = 12000;
  r.peak_memory = 9'007'199'254'740'993u;
  r.partition_seconds = 1e-9;
  r.schedule_seconds = 0;
  r.refine = "tabu_search";
  r.objective = "period";
  r.lower_bound_name = "area";
  r.refine_seconds = .25;
  r.order = weft::order_origin::replaced;
  std::ostringstream out;
  write_csv(out, {{r}});
  const auto rows = read_csv(out.str());
  REQUIRE(rows.size() == 2);
  CHECK(out.str().starts_with("workload,platform,partition,schedule,repeat,seed,status,makespan,lower_bound,gap,"
                              "transfer_bytes,peak_memory,partition_seconds,schedule_seconds,simulate_seconds,refine,"
                              "objective,bound,refine_seconds,order\n"));
  REQUIRE(rows[0].size() == 20);
  REQUIRE(rows[1].size() == 20);
  CHECK(rows[1][19] == "replaced");
  CHECK(rows[1][0] == "w");
  CHECK(rows[1][3] == "fifo");
  CHECK(rows[1][4] == "3");
  CHECK(rows[1][5] == "18446744073709551615");
  CHECK(rows[1][7] == "182.535");
  CHECK(std::strtod(rows[1][8].c_str(), nullptr) == .1 + .2);
  CHECK(std::strtod(rows[1][9].c_str(), nullptr) == 1. / 3);
  CHECK(rows[1][10] == "12000");
  CHECK(rows[1][11] == "9007199254740993");
  CHECK(std::strtod(rows[1][12].c_str(), nullptr) == 1e-9);
  CHECK(rows[1][13] == "0");
  CHECK(rows[1][14].empty());
  CHECK(rows[1][15] == "tabu_search");
  CHECK(rows[1][16] == "period");
  CHECK(rows[1][17] == "area");
  CHECK(rows[1][18] == "0.25");
}

TEST_CASE("write_csv: a run without a plan has empty fields") {
  run_record r{.workload = "w", .platform = "p", .partition = "hash", .schedule = "fifo"};
  r.status = "infeasible";
  std::ostringstream out;
  write_csv_row(out, r);
  CHECK(out.str() == "w,p,hash,fifo,0,0,infeasible,,,,,,,,,none,makespan,,,\n");
}

TEST_CASE("write_csv: commas, quotes and line ends are quoted") {
  run_record r{.workload = "a,b", .platform = "say \"hi\"", .partition = "two\nlines", .schedule = "plain text"};
  std::ostringstream out;
  write_csv(out, {{r}});
  const auto rows = read_csv(out.str());
  REQUIRE(rows.size() == 2);
  CHECK(rows[1][0] == "a,b");
  CHECK(rows[1][1] == "say \"hi\"");
  CHECK(rows[1][2] == "two\nlines");
  CHECK(out.str().find("\"say \"\"hi\"\"\"") != std::string::npos);
  CHECK(out.str().find(",plain text,") != std::string::npos);
}

} // namespace report_csv_test
