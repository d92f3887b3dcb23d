// SPDX-License-Identifier: BSL-1.0
#include "weft/report/json.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string_view>

namespace report_json_test {

TEST_CASE("write_json: runs and aggregates, null for what does not exist") {
  using namespace weft::report;
  run_record good{.workload = "w \"1\"", .platform = "p", .partition = "hash", .schedule = "fifo"};
  good.status = "solved";
  good.makespan = .1 + .2;
  good.lower_bound = .2;
  good.lower_bound_name = "area";
  good.gap = relative_gap(good.makespan, good.lower_bound);
  good.transfer_bytes = 7;
  good.order = weft::order_origin::own;
  run_record bad = good;
  bad.partition = "heft\n</script>";
  bad.makespan = bad.gap = absent;
  bad.status = "infeasible";
  bad.order = weft::order_origin::unknown;
  bad.reason = "no room";
  std::ostringstream out;
  write_json(out, {{good, bad}});
  const auto json = nlohmann::json::parse(out.str());

  REQUIRE(json["runs"].size() == 2);
  const auto& first = json["runs"][0];
  CHECK(first["workload"] == "w \"1\"");
  CHECK(first["makespan"].get<double>() == .1 + .2);
  CHECK(first["transfer_bytes"] == 7);
  CHECK(first["partition_seconds"].is_null());
  CHECK(first["reason"].is_null());
  CHECK(first["refine"] == "none");
  CHECK(first["objective"] == "makespan");
  CHECK(first["bound"] == "area");
  CHECK(first["refine_seconds"].is_null());
  CHECK(first["order"] == "own");
  const auto& second = json["runs"][1];
  CHECK(second["partition"] == "heft\n</script>");
  CHECK(second["makespan"].is_null());
  CHECK(second["gap"].is_null());
  CHECK(second["transfer_bytes"].is_null());
  CHECK(second["status"] == "infeasible");
  CHECK(second["reason"] == "no room");
  CHECK(second["order"].is_null());

  REQUIRE(json["sections"].size() == 1);
  const auto& section = json["sections"][0];
  CHECK(section["lower_bound"] == .2);
  CHECK(section["lower_bound_name"] == "area");
  REQUIRE(section["combinations"].size() == 2);
  CHECK(section["combinations"][0]["best"] == true);
  CHECK(section["combinations"][0]["speed_up"] == 1);
  CHECK(section["combinations"][0]["runs"] == 1);
  CHECK(section["combinations"][0]["order"] == "own");
  CHECK(section["combinations"][1]["best"] == false);
  CHECK(section["combinations"][1]["solved"] == 0);
  CHECK(section["combinations"][1]["makespan_mean"].is_null());
  CHECK(section["combinations"][1]["reason"] == "no room");
  CHECK(section["combinations"][0]["refine"] == "none");
  CHECK(section["objective"] == "makespan");
  CHECK(section["unit"] == "s");
  CHECK(section["unit_seconds"] == 1);

  REQUIRE(json["strategies"].size() == 2);
  CHECK(json["strategies"][0]["partition"] == "hash");
  CHECK(json["strategies"][0]["best"] == 1);
  CHECK(json["strategies"][0]["ratio"] == 1);
  CHECK(json["strategies"][0]["ratio_low"].is_null()); // one problem has no interval
  CHECK(section["combinations"][0]["makespan_high"].is_null());
  CHECK(json["strategies"][1]["solved"] == 0);
  CHECK(json["strategies"][1]["problems"] == 1);
  CHECK(json["strategies"][1]["gap"].is_null());
}

TEST_CASE("write_json: strategies are compared with a baseline if there is one") {
  using namespace weft::report;
  const auto run = [](const char* workload, const char* partition, double makespan) {
    return run_record{
      .workload = workload, .platform = "p", .partition = partition, .schedule = "fifo", .makespan = makespan};
  };
  const comparison c{{run("a", "x", 10), run("a", "y", 20), run("b", "x", 40), run("b", "y", 20)}};
  const auto strategies = [&](std::string_view baseline) {
    std::ostringstream out;
    write_json(out, c, baseline);
    return nlohmann::json::parse(out.str());
  };
  const auto plain = strategies({});
  CHECK(plain["baseline"].is_null());
  CHECK(plain["strategies"][0]["to_baseline"].is_null());
  CHECK(plain["strategies"][0]["wins"].is_null());
  CHECK(plain["strategies"][0]["makespan"] == 25);
  CHECK(plain["strategies"][0]["makespan_high"].get<double>() > 25);
  const auto compared = strategies("y + fifo");
  CHECK(compared["baseline"] == "y + fifo");
  const auto& x = compared["strategies"][0];
  CHECK(x["partition"] == "x");
  CHECK(x["to_baseline"].get<double>() == doctest::Approx(1));
  CHECK(x["to_baseline_low"].get<double>() < 1);
  CHECK(x["wins"] == 1);
  CHECK(x["losses"] == 1);
}

TEST_CASE("write_json: an empty comparison is valid") {
  std::ostringstream out;
  weft::report::write_json(out, {});
  const auto json = nlohmann::json::parse(out.str());
  CHECK(json["runs"].empty());
  CHECK(json["strategies"].empty());
  CHECK(json["sections"].empty());
}

} // namespace report_json_test
