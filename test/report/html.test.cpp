// SPDX-License-Identifier: BSL-1.0
#include "weft/report/html.hpp"

#include "report/columns.hpp"
#include "report/page.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace report_html_test {

using namespace weft;
using namespace weft::report;
using json = nlohmann::json;

std::string page(const html_report& r, std::string_view library = "var echarts;") {
  std::ostringstream out;
  write_html(out, r, library);
  return out.str();
}

run_record run(std::string workload, std::string partition, double makespan, std::string reason = "") {
  run_record r{.workload = std::move(workload), .platform = "p", .partition = std::move(partition), .schedule = "fifo"};
  r.makespan = makespan;
  r.status = r.solved() ? "solved" : "infeasible";
  r.reason = std::move(reason);
  r.lower_bound = 10;
  r.lower_bound_name = "area";
  return r;
}

gantt_run small_gantt() {
  gantt_run g{.title = "a run"};
  g.trace.ops = {{0, 0, 2}, {0, 1, 3}, {1, 4.25, 5}, {}};
  g.trace.transfers = {
    {.tensor = 0, .from = 0, .to = 1, .send_start = 2, .send_finish = 3, .start = 3, .arrival = 4.25}};
  g.trace.makespan = 5;
  g.op_names = {"x", "y", "z", "unplaced"};
  g.op_types = {"Conv", "Add", "Conv", ""};
  g.device_names = {"d0", "d1"};
  g.device_slots = {2, 1};
  g.producers = {0};
  g.tensor_bytes = {64};
  g.lower_bound = 4;
  return g;
}

TEST_CASE("write_html: tables, best row, failures and notes are there without any script") {
  html_report r{.title = "Report",
                .results = {{run("w", "hash", 30), run("w", "heft", 12), run("w", "dfs", absent, "too big")}}};
  r.notes = {{"Contention", "port"}, {"Command", "compare --seed 1"}};
  const auto html = page(r);
  CHECK(html.starts_with("<!doctype html>\n<html lang=\"en\">"));
  CHECK(html.find("<title>Report</title>") != std::string::npos);
  CHECK(html.find("<dt>Contention</dt><dd>port</dd>") != std::string::npos);
  CHECK(test::count(html, "<tr class=\"best\">") == 1);
  CHECK(html.find("<tr class=\"best\"><th scope=\"row\">heft") != std::string::npos);
  CHECK(html.find("infeasible: too big") != std::string::npos);
  CHECK(html.find("data-v=\"2.5\">2.50 ×") != std::string::npos);
  CHECK(html.find("Lower bound: 10.000 s (area).") != std::string::npos);
  CHECK(html.find("prefers-color-scheme: dark") != std::string::npos);
  CHECK(html.ends_with("</html>\n"));
}

TEST_CASE("write_html: nothing is fetched") {
  html_report r{.results = {{run("w", "hash", 30)}}, .runs = {small_gantt()}};
  const auto html = page(r);
  CHECK(html.find("default-src 'none'") != std::string::npos);
  CHECK(test::count(html, "http://") + test::count(html, "https://") == 0);
  CHECK(test::count(html, " src=") + test::count(html, "<link") + test::count(html, "@import") +
          test::count(html, "url(") ==
        0);
}

TEST_CASE("write_html: the charts' data says what the tables say") {
  html_report r{.results = {{run("w", "hash", 30), run("w", "heft", 12), run("w", "heft", 14)}},
                .runs = {small_gantt()}};
  const auto data = test::chart_data(page(r));
  REQUIRE(data["sections"].size() == 1);
  CHECK(data["sections"][0]["bound"] == 10);
  CHECK(data["sections"][0]["rows"][0] == json::parse(R"(["heft","fifo",13,12,14,2,2,"solved"])"));

  const auto& g = data["gantts"][0];
  CHECK(g["makespan"] == 5);
  CHECK(g["bound"] == 4);
  CHECK(g["devices"] == json::parse(R"(["d0","d1"])"));
  CHECK(g["lanes"] == json::parse("[2,1]"));
  const auto numbers = [&](const char* key) { return test::numbers_in(g[key].get<std::string>()); };
  using list = std::vector<double>;
  CHECK(numbers("device") == list{0, 0, 1, 2}); // the last one did not run
  CHECK(numbers("lane") == list{0, 1, 0, 0});
  CHECK(numbers("start") == list{0, 1, 4.25, 0});
  CHECK(numbers("length") == list{2, 2, .75, 0});
  CHECK(numbers("producer") == list{0});
  CHECK(numbers("from") == list{0});
  CHECK(numbers("to") == list{1});
  CHECK(numbers("bytes") == list{64});
  CHECK(numbers("moveStart") == list{3});
  CHECK(numbers("moveLength") == list{1.25});
  CHECK(numbers("sendLane") == list{0});
  CHECK(numbers("sendStart") == list{2});
  CHECK(numbers("sendLength") == list{1});
  CHECK(g["types"] == json::parse(R"(["","Add","Conv"])"));
  CHECK(numbers("type") == list{2, 1, 2, 0});
  CHECK(g["load"] == json::parse("[0.5,0.15]"));
  CHECK(data["names"][static_cast<std::size_t>(g["names"])] == json::parse(R"(["x","y","z","unplaced"])"));
}

TEST_CASE("write_html: columns take as few bytes as their numbers need, of any count") {
  for (const std::vector<std::uint32_t>& list : std::vector<std::vector<std::uint32_t>>{
         {}, {0}, {255, 1}, {256, 1, 2}, {65535, 7, 8, 9}, {65536}, {4294967295u, 1}, {1, 2, 3, 4, 5}}) {
    std::ostringstream out;
    report::detail::write_column(out, "x", list.size(), [&](std::size_t i) { return list[i]; });
    const auto text = json::parse("{\"a\":0" + out.str() + "}")["x"].get<std::string>();
    CHECK(test::numbers_in(text) == std::vector<double>(list.begin(), list.end()));
    const auto most = list.empty() ? 0 : *std::max_element(list.begin(), list.end());
    CHECK(text[0] == (most > 65535 ? 'i' : most > 255 ? 'h' : 'b'));
  }
}

TEST_CASE("write_html: runs of one workload share their names") {
  html_report r{.runs = {small_gantt(), small_gantt(), small_gantt()}};
  r.runs[1].op_names[0] = "other";
  const auto data = test::chart_data(page(r));
  CHECK(data["names"].size() == 2);
  CHECK(data["gantts"][0]["names"] == 0);
  CHECK(data["gantts"][1]["names"] == 1);
  CHECK(data["gantts"][2]["names"] == 0);
}

TEST_CASE("write_html: over all problems, strategies are compared with a baseline if there is one") {
  html_report r{.results = {{run("v", "a", 30), run("v", "b", 15), run("w", "a", 20), run("w", "b", 10)}}};
  CHECK(page(r).find(">To baseline<") == std::string::npos);
  r.baseline = r.results.runs[0].partition + " + " + r.results.runs[0].schedule;
  const auto compared = page(r);
  CHECK(compared.find(">To baseline<") != std::string::npos);
  CHECK(compared.find(">0.500 ×<") != std::string::npos); // b is twice as fast as a
}

TEST_CASE("write_html: no name can leave its place") {
  const std::string evil = "</script><script>alert(1)</script><img src=x onerror=\"alert(2)\">'&\xff\x01</title><!--";
  html_report r{
    .title = evil, .results = {{run(evil, evil, 30), run(evil, "x", absent, evil)}}, .notes = {{evil, evil}}};
  r.results.runs[0].platform = r.results.runs[1].platform = evil;
  r.results.runs[0].schedule = r.results.runs[0].lower_bound_name = r.results.runs[1].status = evil;
  auto g = small_gantt();
  g.title = g.op_names[0] = g.op_types[0] = g.device_names[0] = evil;
  r.runs = {g};
  const auto html = page(r);
  const auto harmless = page({.results = {{run("w", "y", 30), run("w", "x", absent, "r")}}, .runs = {small_gantt()}});
  CHECK(test::count(html, "<script") == test::count(harmless, "<script"));
  CHECK(test::count(html, "</script") == test::count(harmless, "</script"));
  CHECK(test::count(html, "</title") == 1);
  CHECK(test::count(html, "<img") == 0);
  CHECK(test::count(html, "<!--") == 0);
  CHECK(html.find("onerror=\"") == std::string::npos);
  const auto data = test::chart_data(html); // valid JSON and UTF-8
  CHECK(data["sections"][0]["rows"].size() == 2);
  CHECK(data["names"][0][0].get<std::string>().starts_with("</script><script>alert(1)"));
}

TEST_CASE("write_html: the chart library is inside, and cannot end its element") {
  const auto html = page({}, "var a = \"</script><!--</SCRIPT>\"; var b = a < 1 && 2 </3/.exec(4);");
  CHECK(html.find("var a = \"<\\/script><\\x21--<\\/SCRIPT>\"; var b = a < 1 && 2 </3/.exec(4);") != std::string::npos);
  CHECK(html.find("Apache ECharts") != std::string::npos);
  CHECK(page({}, "").find("Bar charts are missing") != std::string::npos);
  CHECK(page({}, "").find("Apache ECharts") == std::string::npos);
}

TEST_CASE("write_html: runs without ops, devices or results do no harm") {
  html_report r{.results = {{run("w", "hash", absent)}}, .runs = {gantt_run{.title = "empty"}}};
  r.results.runs[0].lower_bound = absent;
  const auto data = test::chart_data(page(r));
  CHECK(data["gantts"][0]["devices"].empty());
  CHECK(data["sections"][0]["bound"].is_null());
}

TEST_CASE("html: periods are headed as such, and what nobody computed is not shown") {
  html_report r;
  r.results.runs = {run("w", "best", 12), run("v", "best", absent, "no room")};
  for (auto& x : r.results.runs) {
    x.schedule = "none";
    x.objective = "period";
  }
  const auto html = page(r);
  const auto summary = html.substr(html.find("Best of each"), html.find("</table>") - html.find("Best of each"));
  CHECK(test::count(summary, ">Period</th>") == 1);
  CHECK(test::count(summary, "Makespan") == 0);
  CHECK(test::count(summary, "Speed-up") == 0);
  CHECK(test::count(summary, "colspan=\"5\"") == 1);
  CHECK(test::count(html, "0 B") == 0);
  r.results.runs[1].objective = "latency";
  CHECK(test::count(page(r), ">Objective</th>") == 1);
}

TEST_CASE("html: energies are in joules, and gains no speed-ups") {
  html_report r;
  r.results.runs = {run("w", "hash", 0.25), run("w", "heft", 0.125), run("v", "heft", 0.5)};
  for (auto& x : r.results.runs) {
    x.objective = "energy";
    x.unit = "J";
  }
  const auto html = page(r);
  CHECK(test::count(html, ">Energy</th>") == 1);
  CHECK(test::count(html, ">Gain over hash + fifo</th>") == 1);
  CHECK(test::count(html, "Mean [mJ]") == 2);
  CHECK(test::count(html, "mean energy of hash + fifo divided by this mean") == 2);
  CHECK(test::count(html, "geometric mean of energy / lower bound") == 1);
  CHECK(test::count(html, "peed-up") == 0);
  CHECK(test::chart_data(html)["sections"][0]["unit"] == "J");
}

} // namespace report_html_test
