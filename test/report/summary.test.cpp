// SPDX-License-Identifier: BSL-1.0
#include "weft/report/summary.hpp"

#include "support/small_problem.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <utility>

namespace report_summary_test {

using namespace weft;
using namespace weft::report;

template <class Problem>
placed_model placed(const Problem& p, const placement& where, placed_model_options about) {
  trace run;
  simulator<Problem, schedule::path_completion_time>{p}.run({where}, simulate::recorder{run});
  return make_placed_model(p, where, std::move(run), std::move(about));
}

std::string summary(const placed_model& m) {
  std::ostringstream out;
  write_summary(out, m);
  return out.str();
}

void check_width(const std::string& text) {
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(report::detail::display_width(line) <= 80);
    CHECK(!line.ends_with(' '));
  }
}

bool has(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

TEST_CASE("write_summary: step time, gap, speed-ups, devices, path, strategies, notes") {
  const auto w = test::diamond();
  const auto platform = test::three_devices();
  const problem p{w, platform};
  auto m =
    placed(p, {0, 0, 1, 1},
           {.model = "diamond",
            .platform = "three",
            .strategy = "by hand",
            .bound = {5, lower_bound::rule::area},
            .baselines = {{"one device", 40},
                          {"first gpu", absent, absent, absent, "does not fit"},
                          {"second gpu", 40, absent, absent, "needs more"}},
            .strategies = {{"heft", 9, 2e9, 0.5}, {"dfs", absent, absent, absent, "no room"}},
            .notes = {"times are estimates"},
            .guesses = {"cpu: memory bandwidth 17 GB/s, since its name has no data sheet here; give it another one"}});
  const auto text = summary(m);
  CAPTURE(text);
  check_width(text);
  CHECK(has(text, "diamond on three\n4 ops, 3 devices, 3 transfers; strategy: by hand\n"
                  "a guess: cpu: memory bandwidth 17 GB/s, since its name has no data sheet here;\n"
                  "         give it another one\n\n"));
  CHECK(has(text, "% above the lower bound of 5.00 s (area)"));
  CHECK(has(text, report::detail::three_digits(40 / m.step_seconds()) + " × one device (40.0 s)"));
  CHECK(has(text, "–  first gpu: does not fit"));
  CHECK(has(text, "–  second gpu: needs more"));
  CHECK(has(text, "Largest transfers\n      200 B  b "));
  CHECK(has(text, "1.86 GiB peak"));
  CHECK(has(text, "    no plan  dfs"));
  CHECK(has(text, "no room"));
  CHECK(has(text, "times are estimates"));
  CHECK(!has(text, "Not valid"));
  m.run.lower_bound = m.step_seconds();
  CHECK(has(summary(m), "optimal: it meets the lower bound"));
}

TEST_CASE("write_summary: uncertain times") {
  const auto w = test::diamond();
  const auto platform = test::three_devices();
  const problem p{w, platform};
  const makespan_distribution spread{.estimate = 2, .makespans = {1, 2, 3, 2}, .criticality = {1, 0.5, 0.25, 1}};
  const auto text = summary(placed(p, {0, 0, 1, 1},
                                   {.spread = spread, .uncertainty = "4 samples, all times lognormal with sigma 0.2"}));
  CAPTURE(text);
  check_width(text);
  CHECK(has(text, "  Uncertain    2.00 s on average, at most 3.00 s with probability 95 %, 3.00 s\n"));
  CHECK(has(text, "4 samples, all times lognormal with\n               sigma 0.2\n"));
  CHECK(has(text, "Most often critical when times are uncertain\n    100.0 %  d "));
  CHECK(has(text, "slack 0 s"));
  CHECK(!has(summary(placed(p, {0, 0, 1, 1}, {})), "ncertain"));
}

TEST_CASE("write_summary: violations are told, many devices and long names fit") {
  workload_builder b;
  const std::string evil = "\x1b[31m" + std::string(10'000, 'x') + "/名前\xff\u202e";
  for (int i = 0; i < 30; ++i) {
    b.add_op({.work = 1, .bytes = 1, .resident_bytes = 100, .name = evil + std::to_string(i)});
  }
  b.add_edge(0, 29);
  const auto w = std::move(b).build();
  const platform machine{std::vector<device>(40, device{.memory_capacity = 150}), uniform_links{}};
  const problem p{w, machine};
  placement where(30, 0);
  where[29] = 39;
  const auto text = summary(placed(p, where, {.model = evil, .platform = evil, .strategy = evil, .notes = {evil}}));
  check_width(text);
  CHECK(has(text, "Not valid"));
  CHECK(has(text, "… and 24 more"));
  CHECK(!has(text, "\x1b"));
  CHECK(!has(text, "\u202e"));
}

TEST_CASE("write_summary: nothing to run") {
  const auto w = workload_builder{}.build();
  const auto platform = test::three_devices();
  const problem p{w, platform};
  const auto text = summary(placed(p, {}, {.baselines = {{"one device", 0}}}));
  check_width(text);
  CHECK(has(text, "0 ops, 3 devices, 0 transfers"));
  CHECK(!has(text, "nan"));
}

TEST_CASE("in_columns and bar") {
  using report::detail::bar;
  using report::detail::in_columns;
  CHECK(in_columns("abc", 5) == "abc  ");
  CHECK(in_columns("abc", 5, true) == "  abc");
  CHECK(in_columns("abcdefgh", 5) == "ab…gh");
  CHECK(in_columns("名前名前", 5) == "名…前");
  CHECK(report::detail::display_width(in_columns("名前名前名前", 6)) == 6);
  CHECK(bar(0, 2) == "  ");
  CHECK(bar(1, 2) == "██");
  CHECK(bar(1e-9, 2) == "▏ ");
  CHECK(bar(7, 1) == "█");
}

TEST_CASE("write_summary: how parameters are split, the first kinds of layers and the first names of each") {
  const auto w = test::diamond();
  const auto platform = test::three_devices();
  const problem p{w, platform};
  placed_model_options about{.model = "diamond", .platform = "three"};
  CHECK(!has(summary(placed(p, {0, 0, 1, 1}, about)), "Sharding"));
  about.sharding.mesh = "2 × tensor on a to b";
  CHECK(has(summary(placed(p, {0, 0, 1, 1}, about)), "\nSharding\n  2 × tensor on a to b\n"));
  const layer_sharding layer{.split = {"a [2, 4/2]", "b [4/2]", "c [2/2]", "d [8/2]"},
                             .whole = 1,
                             .whole_bytes = 2048,
                             .small = 3,
                             .sent = "2 all-reduces"};
  for (int i = 0; i < 6; ++i) {
    about.sharding.layers.push_back(layer);
    about.sharding.layers.back().layers = "layer_" + std::to_string(i);
  }
  about.sharding.unsplit = "whole on each device: Tile 1.0 %";
  const auto text = summary(placed(p, {0, 0, 1, 1}, about));
  check_width(text);
  CHECK(has(text, "  layer_0: a [2, 4/2], b [4/2], c [2/2] and 1 more; 1 whole (2.00 KiB); 3 small;\n"
                  "  2 all-reduces\n"));
  CHECK(has(text, "  layer_3: "));
  CHECK(!has(text, "  layer_4: "));
  CHECK(has(text, "  … and 2 more kinds of layer\n  whole on each device: Tile 1.0 %\n"));
}

} // namespace report_summary_test
