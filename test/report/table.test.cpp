// SPDX-License-Identifier: BSL-1.0
#include "weft/report/table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace report_table_test {

using namespace weft::report;
using weft::order_origin;

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

TEST_CASE("write_table: title, best row, failed row and verdict") {
  const auto text = lines({{run("net", "hash", 250), run("net", "heft", 125.5), run("net", "dfs", absent)}});
  REQUIRE(text.size() == 10);
  CHECK(text[0] == "net on p: lower bound 100.000 s (critical path)");
  CHECK(text[4].starts_with("* heft"));
  CHECK(text[4].find("125.500") != std::string::npos);
  CHECK(text[4].find("1.99 ×") != std::string::npos);
  CHECK(text[4].find("25.5 %") != std::string::npos);
  CHECK(text[4].find("11.7 KiB") != std::string::npos);
  CHECK(text[5].starts_with("  hash"));
  CHECK(text[6].find("0/1") != std::string::npos);
  CHECK(text[6].ends_with("infeasible: op 3 fits nowhere"));
  CHECK(text[8] == " Best: heft + fifo, 125.500 s, 1.99 times as fast as hash + fifo, 25.5 % above the lower bound.");
}

TEST_CASE("write_table: the first rows, and how many more there are") {
  const comparison c{{run("net", "hash", 250), run("net", "heft", 125.5), run("net", "dfs", 300)}};
  const auto text = lines(c, {.top = 1, .way_to_all = "ask for all"});
  REQUIRE(text.size() == 9);
  CHECK(text[4].starts_with("* heft"));
  CHECK(text[5] == "  … 2 more: ask for all");
  CHECK(text[7].starts_with(" Best: heft"));
  CHECK(lines(c, {.top = 2})[6] == "  … 1 more");
  CHECK(lines(c, {.top = 3}) == lines(c));
}

TEST_CASE("write_table: runs in another order than that of what placed the ops bear a mark, which is explained") {
  comparison c{{run("net", "hash", 250), run("net", "heft", 125.5), run("net", "heft", 120)}};
  c.runs[0].order = order_origin::undecided;
  c.runs[1].order = order_origin::replaced;
  c.runs[2].order = order_origin::own;
  c.runs[2].schedule = "static_order";
  c.notes = {{"net", "p", {"measured"}}};
  const auto text = lines(c);
  REQUIRE(text.size() == 13);
  CHECK(text[4].starts_with("* heft       static_order  "));
  CHECK(text[5].starts_with("  heft       fifo°         "));
  CHECK(text[6].starts_with("  hash       fifo°         "));
  CHECK(end_of(text[4], "120.000") == end_of(text[5], "125.500"));
  CHECK(text[10] ==
        "  ° ordered by the ready policy; static_order keeps the order planned by heft; none is planned by hash");
  CHECK(text[11] == "  measured");
  CHECK(lines(c, {.top = 1})[9] == "  measured"); // nothing about rows that are not shown
  c.runs.resize(1);
  CHECK(lines(c)[8] == "  ° ordered by the ready policy; none is planned by hash");
  for (const char* more : {"a", "b", "c", "d"}) {
    c.runs.push_back(c.runs.front());
    c.runs.back().partition = more;
  }
  CHECK(lines(c)[12].ends_with("none is planned by hash, a, b, c, …"));
}

TEST_CASE("write_table: what the costs rest on stands under the table") {
  comparison c{{run("net", "hash", 250)}};
  c.notes = {{"net", "elsewhere", {"of another"}}, {"net", "p", {"measured", "or guessed"}}};
  const auto text = lines(c);
  REQUIRE(text.size() == 11);
  CHECK(text[8] == "  measured");
  CHECK(text[9] == "  or guessed");
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
  CHECK(std::count(text.begin(), text.end(), " No combination found a plan.") == 1);
}

TEST_CASE("write_table: over several workloads, the best strategies last") {
  const auto text = lines({{run("a1", "x", 250), run("a1", "y", 500), run("b1", "x", 250), run("b1", "y", 250)}});
  const auto at = std::find(text.begin(), text.end(), "All 2 problems; gap to the lower bound, also by family");
  REQUIRE(text.end() - at >= 5);
  CHECK(at[2] == " strategy  solved  best  to best              95 %      gap            95 %        a        b");
  CHECK(at[3] == " x + fifo       2     2  1.000 ×    1.000 to 1.000  150.0 %  150.0 to 150.0  150.0 %  150.0 %");
  CHECK(at[4] == " y + fifo       2     1  1.414 ×  1.000 to 115.608  253.6 %  0.0 to 28802.1  400.0 %  150.0 %");
  for (const auto& line : text) {
    CHECK_FALSE(line.ends_with(' '));
  }
  const auto one = lines({{run("a", "x", 250)}});
  CHECK(std::find_if(one.begin(), one.end(), [](const auto& l) { return l.starts_with("All "); }) == one.end());
}

TEST_CASE("write_table: means of several runs have an interval") {
  const auto text = lines({{run("net", "hash", 250), run("net", "heft", 120), run("net", "heft", 130)}});
  CHECK(text[2] ==
        "  partition  schedule  runs  mean [s]      95 %  min [s]  max [s]  speed-up      gap     moved  peak "
        "memory  planning");
  CHECK(text[4].starts_with("* heft       fifo         2   125.000  ± 63.531  120.000  130.000"));
  CHECK(text[5].starts_with("  hash       fifo         1   250.000            250.000"));
}

TEST_CASE("write_summary: the table over all problems alone, perhaps with a baseline") {
  const comparison c{{run("a1", "x", 250), run("a1", "y", 500), run("a2", "x", 250), run("a2", "y", 200)}};
  std::ostringstream out;
  write_summary(out, c, {.baseline = "y + fifo"});
  CHECK(
    out.str() ==
    "All 2 problems; gap to the lower bound; baseline: y + fifo\n\n"
    " strategy  solved  best  to best              95 %  to baseline              95 %  won  lost      gap             "
    "95 %\n"
    " x + fifo       2     1  1.118 ×    1.000 to 4.615      0.791 ×  0.002 to 266.743    1     1  150.0 %   150.0 to "
    "150.0\n"
    " y + fifo       2     1  1.414 ×  1.000 to 115.608      1.000 ×    1.000 to 1.000    0     0  216.2 %  0.0 to "
    "106597.4\n");
  std::ostringstream one;
  write_summary(one, {{run("a1", "x", 250)}}, {.top = 1});
  CHECK(one.str() == "All 1 problem; gap to the lower bound\n\n"
                     " strategy  solved  best  to best      gap\n x + fifo       1     1  1.000 ×  150.0 %\n");
}

TEST_CASE("write_summary: as many strategies as asked for, and always the baseline") {
  comparison c;
  for (int k = 10; k < 30; ++k) {
    c.runs.push_back(run("a", "s" + std::to_string(k), 100 + k));
  }
  const auto summary = [&](table_options how) {
    std::ostringstream out;
    write_summary(out, c, how);
    return out.str();
  };
  const auto rows = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n') - 3; };
  CHECK(rows(summary({})) == 12);
  CHECK(rows(summary({.top = 3})) == 3);
  CHECK(rows(summary({.top_strategies = 1000})) == 20);
  const auto compared = summary({.top_strategies = 2, .baseline = "s27 + fifo"});
  CHECK(compared.starts_with("All 1 problem, the best 2 of 20 strategies and the baseline; gap to the lower bound"));
  CHECK(rows(compared) == 3);
  CHECK(compared.find("\n s27 + fifo") != std::string::npos);
  CHECK(rows(summary({.top_strategies = 2, .baseline = "s10 + fifo"})) == 2);
}

TEST_CASE("write_table: refiners have a column where there are any") {
  comparison c{{run("net", "heft", 250), run("net", "heft", 125)}};
  CHECK(lines(c)[2].find("refine") == std::string::npos);
  c.runs[1].refine = "tabu_search";
  c.runs.push_back(run("net", "hash", absent));
  const auto text = lines(c);
  CHECK(text[2].starts_with("  partition  refine       schedule"));
  CHECK(text[4].starts_with("* heft       tabu_search  fifo"));
  CHECK(text[5].starts_with("  heft       none         fifo"));
  CHECK(text[6].starts_with("  hash       none         fifo       0/1  infeasible"));
  CHECK(text[8].starts_with(" Best: heft + tabu_search + fifo, 125.0"));
}

TEST_CASE("write_table: other objectives and units say what they are") {
  auto r = run("net", "best", 25);
  r.schedule = "none";
  r.objective = "period";
  r.unit_seconds = 1e-3;
  r.lower_bound = 20;
  const auto text = lines({{r}});
  CHECK(text[0].find("lower bound 20.000 ms") != std::string::npos);
  CHECK(text[6].starts_with(" Best: best, period 25.000 ms"));
}

TEST_CASE("write_table: energies are in joules, and gains no speed-ups") {
  comparison c{{run("net", "hash", 0.25), run("net", "heft", 0.125)}};
  for (auto& r : c.runs) {
    r.objective = "energy";
    r.unit = "J";
    r.lower_bound = 0.1;
  }
  const auto text = lines(c);
  CHECK(text[0] == "net on p: lower bound 100.000 mJ (critical path)");
  CHECK(text[2].find("mean [mJ]") != std::string::npos);
  CHECK(text[2].find("gain") != std::string::npos);
  CHECK(text[2].find("speed-up") == std::string::npos);
  CHECK(text[7].starts_with(" Best: heft + fifo, energy 125.000 mJ, 25.0 % above the lower bound; hash + fifo "
                           "takes 2.00 times as much."));
}

} // namespace report_table_test
