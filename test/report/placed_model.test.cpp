// SPDX-License-Identifier: BSL-1.0
#include "weft/report/placed_model.hpp"

#include "support/small_problem.hpp"
#include "weft/evaluate/slack.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace report_placed_model_test {

using namespace weft;
using namespace weft::report;

template <class Problem>
trace run_of(const Problem& p, const placement& where) {
  trace run;
  simulator<Problem, schedule::path_completion_time>{p}.run({where}, simulate::recorder{run});
  return run;
}

TEST_CASE("make_placed_model: the diamond on two of three devices") {
  const auto w = test::diamond();
  const auto platform = test::three_devices();
  const problem p{w, platform};
  const placement where{0, 0, 1, 1};
  const auto m = make_placed_model(p, where, run_of(p, where),
                                   {.model = "diamond",
                                    .bound = {2, lower_bound::rule::area},
                                    .baselines = {{"one device", 24},
                                                  {"first gpu", absent, 90, absent, "does not fit"},
                                                  {"second gpu", 24, 90, absent, "does not fit"}}});
  CHECK(m.violations.empty());
  CHECK(m.run.lower_bound_name == "area");
  CHECK(m.gap() == doctest::Approx(m.step_seconds() / 2 - 1));
  CHECK(m.speed_up(m.about.baselines[0]) == doctest::Approx(24 / m.step_seconds()));
  CHECK(!std::isfinite(m.speed_up(m.about.baselines[1])));
  CHECK(!std::isfinite(m.speed_up(m.about.baselines[2]))); // what cannot be run is not beaten

  REQUIRE(m.devices.size() == 3);
  CHECK(m.devices[0].load.ops == 2);
  CHECK(m.devices[0].resident_bytes == 1000);
  CHECK(m.devices[1].resident_bytes == 7000);
  CHECK(m.devices[2].peak_bytes == 0);
  CHECK(m.fullest_device() == 1);
  const auto peaks = peak_memory_of(p, where, m.run.trace); // by the independent checker
  for (const device_id d : ids(3)) {
    CHECK(m.devices[d].peak_bytes == peaks[d]);
    CHECK(*std::max_element(m.memory[d].bytes.begin(), m.memory[d].bytes.end()) == peaks[d]);
  }
  // a (100), b's tensors (200 and 50) go from 0 to 1.
  CHECK(m.traffic[0 * 3 + 1].transfers == 3);
  CHECK(m.traffic[0 * 3 + 1].bytes == 350);
  CHECK(m.traffic[1 * 3 + 0].transfers == 0);
  REQUIRE(m.largest_transfers.size() == 3);
  CHECK(m.run.trace.transfers[m.largest_transfers[0]].tensor == 1);
  std::vector<std::pair<op_id, op_id>> edges;
  for (const flow_edge& e : m.edges) {
    edges.emplace_back(e.source, e.target);
  }
  CHECK(edges == std::vector<std::pair<op_id, op_id>>{{0, 1}, {0, 2}, {1, 3}, {1, 3}, {2, 3}}); // two tensors of b to d
  CHECK(m.shares.ops + m.shares.sends + m.shares.transfers + m.shares.idle == doctest::Approx(m.step_seconds()));
  CHECK(std::find(m.largest_ops.begin(), m.largest_ops.end(), 3) != m.largest_ops.end());
}

TEST_CASE("make_placed_model: slack, and the ops that are critical most often when times are uncertain") {
  const auto w = test::diamond();
  const auto platform = test::three_devices();
  const problem p{w, platform};
  const placement where{0, 0, 1, 1};
  const auto run = run_of(p, where);
  const auto plain = make_placed_model(p, where, run);
  CHECK(plain.slack == slack_of_run(p, run));
  CHECK(plain.slack[3] == 0);
  CHECK(plain.most_critical.empty());
  const auto spread = [](std::vector<double> criticality) {
    return makespan_distribution{.estimate = 1, .makespans = {1, 2}, .criticality = std::move(criticality)};
  };
  const auto m = make_placed_model(p, where, run, {.largest = 3, .spread = spread({1, 0.25, 0.75, 1})});
  CHECK(m.most_critical == std::vector<op_id>{3, 0, 2}); // op 3 takes 2 s, op 0 takes 1 s
  const auto rarely = make_placed_model(p, where, run, {.largest = 3, .spread = spread({1, 0, 0, 0.5})});
  CHECK(rarely.most_critical == std::vector<op_id>{0, 3}); // the others never are
  CHECK(make_placed_model(p, where, run, {.spread = spread({1, 1})}).most_critical.empty()); // of another model
  auto broken = run;
  broken.ops[1].device = 2; // not where it is placed
  CHECK(make_placed_model(p, where, broken, {.spread = spread({1, 1, 1, 1})}).slack.empty());
}

TEST_CASE("placed_model: the device that needs the most bytes, and the one that is fullest") {
  // By hand: each op holds its resident bytes for ever, and the one tensor of 10 bytes is there on both devices.
  workload_builder b;
  b.add_op({.work = 1, .bytes = 10, .resident_bytes = 600});
  b.add_op({.work = 1, .resident_bytes = 5000});
  b.add_edge(0, 1);
  const auto w = std::move(b).build();
  const platform machine{std::vector<device>{{.memory_capacity = 1000}, {.memory_capacity = 100'000}}, uniform_links{}};
  const problem p{w, machine};
  const auto m = make_placed_model(p, {0, 1}, run_of(p, {0, 1}));
  CHECK(m.devices[0].peak_bytes == 610);
  CHECK(m.devices[1].peak_bytes == 5010);
  CHECK(m.largest_device() == 1); // what `alternative::peak_memory` tells of other plans
  CHECK(m.fullest_device() == 0); // 61 % against 5 %
  CHECK(make_placed_model(p, {}, {}).largest_device() == none);
}

TEST_CASE("make_placed_model: too much memory is a violation, and the rest is still there") {
  const auto w = test::diamond();
  const platform machine{std::vector<device>(1, device{.memory_capacity = 5000}), uniform_links{}};
  const problem p{w, machine};
  const auto m = make_placed_model(p, {0, 0, 0, 0}, run_of(p, {0, 0, 0, 0}));
  REQUIRE(!m.violations.empty());
  CHECK(m.violations.front().find("5000") != std::string::npos);
  CHECK(m.devices[0].peak_bytes > 8000);
  CHECK(!m.path.empty());
  CHECK(m.largest_transfers.empty());
  CHECK(!std::isfinite(m.gap())); // no bound was given
}

TEST_CASE("make_placed_model: runs that name what does not exist do no harm") {
  const auto w = test::diamond();
  const auto platform = test::three_devices();
  const problem p{w, platform};
  const placement where{0, 0, 1, 1};
  auto run = run_of(p, where);
  run.ops[2].device = 77;
  run.transfers[0].to = none - 1;
  run.transfers[1].tensor = 1000;
  run.ops[0].start = absent;
  const auto m = make_placed_model(p, where, run);
  CHECK(!m.violations.empty());
  CHECK(m.path.empty());
  CHECK(m.run.num_devices() == 3);
  CHECK(make_placed_model(p, {}, {}).run.trace.ops.size() == 4);
  CHECK(make_placed_model(p, {0, 0, 1, none}, run_of(p, where)).memory.empty());
}

TEST_CASE("thin: peaks and the last level of each part stay") {
  memory_curve c;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    c.time.push_back(i);
    c.bytes.push_back(i * 2654435761u % 1000 + (i == 54321 ? 5000 : 0));
  }
  const auto few = thin(c, 100);
  CHECK(few.time.size() <= 300);
  CHECK(few.time.size() >= 200);
  CHECK(std::is_sorted(few.time.begin(), few.time.end()));
  CHECK(*std::max_element(few.bytes.begin(), few.bytes.end()) == *std::max_element(c.bytes.begin(), c.bytes.end()));
  CHECK(few.time.back() == c.time.back());
  CHECK(few.bytes.back() == c.bytes.back());
  for (std::size_t i = 0; i < few.time.size(); ++i) {
    CHECK(c.bytes[static_cast<std::size_t>(few.time[i])] == few.bytes[i]);
  }
  CHECK(thin(few, 100).time == few.time);
  CHECK(thin({}, 100).time.empty());
}

} // namespace report_placed_model_test
