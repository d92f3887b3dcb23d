// SPDX-License-Identifier: BSL-1.0
#include "weft/report/comparison.hpp"

#include <doctest/doctest.h>

namespace report_comparison_test {

using namespace weft::report;

run_record run(const char* partition, const char* schedule, double makespan, const char* platform = "p") {
  run_record r{.workload = "w", .platform = platform, .partition = partition, .schedule = schedule};
  r.makespan = makespan;
  r.status = r.solved() ? "solved" : "infeasible";
  r.reason = r.solved() ? "" : "too small";
  r.lower_bound = 10;
  r.lower_bound_name = "area";
  r.gap = relative_gap(makespan, 10);
  r.transfer_bytes = static_cast<std::uint64_t>(r.solved() ? makespan * 100 : 0);
  r.peak_memory = r.solved() ? 8 : 0;
  r.partition_seconds = 1;
  r.schedule_seconds = 2;
  return r;
}

TEST_CASE("relative_gap is makespan / bound - 1, and absent where that means nothing") {
  CHECK(relative_gap(15, 10) == doctest::Approx(.5));
  CHECK(relative_gap(10, 10) == 0);
  CHECK(std::isnan(relative_gap(absent, 10)));
  CHECK(std::isnan(relative_gap(10, absent)));
  CHECK(std::isnan(relative_gap(10, 0)));
}

TEST_CASE("relative_gap is never negative: a makespan that rounding puts below the bound meets it") {
  const double below = std::nextafter(10.0, 0);
  CHECK(relative_gap(below, 10) == 0);
  CHECK_FALSE(std::signbit(relative_gap(below, 10)));
  CHECK(relative_gap(9, 10) == 0);
  const comparison c{{run("heft", "fifo", below)}};
  CHECK(c.sections()[0].combinations[0].gap == 0);
  CHECK(run("heft", "fifo", below).gap == 0);
}

TEST_CASE("comparison: repeats become means, minima and maxima, best first") {
  const comparison c{
    {run("hash", "fifo", 30), run("heft", "fifo", 12), run("hash", "fifo", 50), run("heft", "fifo", 14)}};
  const auto sections = c.sections();
  REQUIRE(sections.size() == 1);
  const auto& s = sections[0];
  CHECK(s.title() == "w on p");
  CHECK(s.lower_bound == 10);
  CHECK(s.lower_bound_name == "area");
  REQUIRE(s.combinations.size() == 2);

  const auto& best = s.combinations[0];
  CHECK(best.partition == "heft");
  CHECK(best.best);
  CHECK(best.runs == 2);
  CHECK(best.solved == 2);
  CHECK(best.status == "solved");
  CHECK(best.makespan_mean == 13);
  CHECK(best.makespan_low <= 13);
  CHECK(best.makespan_high >= 13);
  CHECK(best.makespan_min == 12);
  CHECK(best.makespan_max == 14);
  CHECK(best.speed_up == doctest::Approx(40. / 13));
  CHECK(best.gap == doctest::Approx(.3));
  CHECK(best.transfer_bytes == 1300);
  CHECK(best.peak_memory == 8);
  CHECK(best.planning_seconds == 3);

  CHECK(s.combinations[1].partition == "hash");
  CHECK_FALSE(s.combinations[1].best);
  CHECK(s.combinations[1].speed_up == 1);
}

TEST_CASE("comparison: without hash + fifo there is no speed-up, and it is looked for on the same platform only") {
  const comparison c{{run("heft", "fifo", 12), run("hash", "path_completion_time", 12), run("hash", "fifo", 12, "q")}};
  const auto sections = c.sections();
  REQUIRE(sections.size() == 2);
  CHECK(sections[0].platform == "p");
  CHECK(sections[1].platform == "q");
  CHECK(std::isnan(sections[0].combinations[0].speed_up));
  CHECK(std::isnan(sections[0].combinations[1].speed_up));
  CHECK(sections[1].combinations[0].speed_up == 1);
}

TEST_CASE("comparison: combinations that tie keep their order and are all best") {
  const auto s = comparison{{run("b", "x", 12), run("c", "x", 11), run("a", "x", 11)}}.sections()[0];
  CHECK(s.combinations[0].partition == "c");
  CHECK(s.combinations[1].partition == "a");
  CHECK(s.combinations[0].best);
  CHECK(s.combinations[1].best);
  CHECK_FALSE(s.combinations[2].best);
}

TEST_CASE("comparison: the mean of equal makespans is exactly that makespan") {
  comparison c;
  for (int i = 0; i < 10; ++i) {
    c.runs.push_back(run("a", "x", .1));
  }
  const auto combination = c.sections()[0].combinations[0];
  CHECK(combination.makespan_mean == .1);
  CHECK(combination.makespan_mean == combination.makespan_max);
}

TEST_CASE("comparison: failed runs come last, with their reason, and never win") {
  const comparison c{{run("none", "x", absent), run("some", "x", 11), run("some", "x", absent), run("all", "x", 99)}};
  const auto s = c.sections()[0];
  REQUIRE(s.combinations.size() == 3);
  CHECK(s.combinations[0].partition == "all");
  CHECK(s.combinations[0].best);
  CHECK(s.combinations[1].partition == "some");
  CHECK_FALSE(s.combinations[1].best);
  CHECK(s.combinations[1].solved == 1);
  CHECK(s.combinations[1].runs == 2);
  CHECK(s.combinations[1].makespan_mean == 11);
  CHECK(s.combinations[1].status == "infeasible");
  CHECK(s.combinations[1].reason == "too small");
  CHECK(s.combinations[2].partition == "none");
  CHECK(s.combinations[2].solved == 0);
  CHECK_FALSE(s.combinations[2].best);
  CHECK(std::isnan(s.combinations[2].makespan_mean));
  CHECK(std::isnan(s.combinations[2].gap));
  CHECK(s.combinations[2].reason == "too small");
}

TEST_CASE("comparison: nothing in, nothing out; nothing solved, nothing best") {
  CHECK(comparison{}.sections().empty());
  const auto s = comparison{{run("a", "x", absent), run("b", "x", absent)}}.sections()[0];
  CHECK_FALSE(s.combinations[0].best);
  CHECK(s.combinations[0].partition == "a");
}

TEST_CASE("sections: refiners are told apart, and the speed-up is over hash + fifo as decided") {
  auto refined = run("hash", "fifo", 20);
  refined.refine = "genetic";
  refined.refine_seconds = 4;
  const auto sections = comparison{{run("hash", "fifo", 40), refined}}.sections();
  REQUIRE(sections.size() == 1);
  CHECK(sections[0].refined());
  REQUIRE(sections[0].combinations.size() == 2);
  const auto& best = sections[0].combinations[0];
  CHECK(best.refine == "genetic");
  CHECK(best.name() == "hash + genetic + fifo");
  CHECK(best.planner() == "hash + genetic");
  CHECK(best.speed_up == 2);
  CHECK(best.planning_seconds == 7);
  CHECK(sections[0].combinations[1].name() == "hash + fifo");
  CHECK_FALSE(comparison{{run("hash", "fifo", 40)}}.sections()[0].refined());
}

TEST_CASE("names: what decides everything is said once, and a missing schedule not at all") {
  CHECK(combination{.partition = "best", .schedule = "best"}.name() == "best");
  CHECK(combination{.partition = "heft", .schedule = "none"}.name() == "heft");
}

} // namespace report_comparison_test
