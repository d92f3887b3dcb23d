// SPDX-License-Identifier: BSL-1.0
#include "weft/report/table.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace weft::report;

run_record run(std::string workload, std::string partition, double makespan) {
  run_record r{.workload = std::move(workload), .platform = "p", .partition = std::move(partition), .schedule = "fifo"};
  r.makespan = makespan;
  r.status = r.solved() ? "solved" : "infeasible";
  r.reason = r.solved() ? "" : "op 3 fits nowhere";
  r.lower_bound = 100;
  r.lower_bound_name = "critical path";
  r.transfer_bytes = 12000;
  return r;
}

std::vector<std::string> lines(const comparison& c, table_options options = {}) {
  std::ostringstream out;
  write_table(out, c, options);
  std::vector<std::string> result(1);
  for (const char ch : out.str()) {
    if (ch == '\n') {
      result.emplace_back();
    } else {
      result.back() += ch;
    }
  }
  return result;
}

/// In which column of a terminal `text` ends.
std::size_t end_of(const std::string& line, const std::string& text) {
  const std::size_t at = line.find(text);
  REQUIRE(at != std::string::npos);
  return detail::display_width(line.substr(0, at + text.size()));
}

} // namespace

TEST_CASE("write_table: title, best row, failed row and verdict") {
  const auto text = lines({{run("net", "hash", 250), run("net", "heft", 125.5), run("net", "dfs", absent)}});
  REQUIRE(text.size() == 10);
  CHECK(text[0] == "net on p: lower bound 100.000 s (critical path)");
  CHECK(text[4].starts_with("* heft"));
  CHECK(text[4].find("125.500") != std::string::npos);
  CHECK(text[4].find("1.99 ×") != std::string::npos);
  CHECK(text[4].find("25.5 %") != std::string::npos);
  CHECK(text[4].find("12.0 kB") != std::string::npos);
  CHECK(text[5].starts_with("  hash"));
  CHECK(text[6].find("0/1") != std::string::npos);
  CHECK(text[6].ends_with("infeasible: op 3 fits nowhere"));
  CHECK(text[8] == " Best: heft + fifo, 125.500 s, 1.99 times as fast as hash + fifo, 25.5 % above the lower bound.");
}

TEST_CASE("write_table: columns align by what a terminal shows, not by bytes") {
  const auto text = lines({{run("net", "größe", 250), run("net", "网络", 125.5), run("net", "plain", 9999.25)}});
  CHECK(end_of(text[4], "125.50") == end_of(text[5], "250.00"));
  CHECK(end_of(text[5], "250.00") == end_of(text[6], "9999.25"));
  CHECK(end_of(text[2], "mean [s]") == end_of(text[6], "9999.25"));
  for (const auto& line : text) {
    CHECK_FALSE(line.ends_with(' '));
  }
}

TEST_CASE("write_table: the unit of time fits the best makespan") {
  comparison c{{run("net", "hash", .00025), run("net", "heft", .0000125)}};
  c.runs[0].lower_bound = c.runs[1].lower_bound = .00001;
  const auto text = lines(c);
  CHECK(text[0] == "net on p: lower bound 10.000 µs (critical path)");
  CHECK(text[2].find("mean [µs]") != std::string::npos);
  CHECK(text[4].find("12.500") != std::string::npos);
  CHECK(text[5].find("250.000") != std::string::npos);
}

TEST_CASE("write_table: colour replaces the marker") {
  const comparison c{{run("net", "hash", 250), run("net", "heft", 125.5)}};
  const auto plain = lines(c), coloured = lines(c, {.colour = true});
  for (const auto& line : plain) {
    CHECK(line.find('\x1b') == std::string::npos);
  }
  CHECK(coloured[4].starts_with("\x1b[1;32m  heft"));
  CHECK(coloured[4].ends_with("\x1b[0m"));
  CHECK(coloured[5].find('\x1b') == std::string::npos);
}

TEST_CASE("write_table: names cannot drive the terminal") {
  const auto text = lines({{run("net\x1b[2J", "heft\nfake", 125.5)}});
  REQUIRE(text.size() == 8);
  for (const auto& line : text) {
    CHECK(line.find('\x1b') == std::string::npos);
  }
}

TEST_CASE("write_table: a section per workload, and one where nothing was found") {
  const auto text = lines({{run("a", "hash", 250), run("b", "hash", absent)}});
  std::size_t titles = 0;
  for (const auto& line : text) {
    titles += line.starts_with("a on p") || line.starts_with("b on p") ? 1u : 0u;
  }
  CHECK(titles == 2);
  CHECK(text[text.size() - 2] == " No combination found a plan.");
}
