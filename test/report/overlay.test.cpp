// SPDX-License-Identifier: BSL-1.0
#include "weft/concurrency/moldable.hpp"
#include "weft/report/gantt.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace report_overlay_test {

weft::report::gantt_run two_ops(std::string title, weft::trace trace) {
  weft::workload_builder b;
  b.add_op({.work = 1, .bytes = 8, .name = "a", .type = "A"});
  b.add_op({.work = 1, .name = "b", .type = "B"});
  b.add_edge(0, 1);
  const auto w = std::move(b).build();
  const auto one = weft::single({.name = "cpu", .cores_per_socket = 4});
  return weft::report::make_gantt_run(std::move(title), std::move(trace), w, one);
}

TEST_CASE("gantt: a team keeps as many cores busy as it has threads") {
  const auto run = two_ops("run", {{{0, 0, 1, 4}, {0, 1, 2, 2}}, {}, 2});
  CHECK(run.device_slots == std::vector<std::uint32_t>{4});
  CHECK(weft::report::device_loads(run)[0].busy_seconds == doctest::Approx(6));
  CHECK(weft::report::device_loads(run)[0].utilisation == doctest::Approx(0.75));
  CHECK(run.op_names == std::vector<std::string>{"a (4 threads)", "b (2 threads)"});
}

TEST_CASE("gantt: runs below each other on one time axis") {
  auto moved = two_ops("moved", {{{0, 0, 1}, {1, 3, 4}}, {{0, 0, 1, 1, 1, 1, 3}}, 4});
  moved.producers.clear(); // a column may be empty
  const auto both = weft::report::overlay("both", {moved, two_ops("planned", {{{0, 0, 1}, {0, 1, 2}}, {}, 2})});
  CHECK(both.device_names == std::vector<std::string>{"moved, cpu", "moved, 1", "planned"});
  CHECK(both.trace.makespan == 4);
  REQUIRE(both.trace.ops.size() == 4);
  CHECK(both.trace.ops[1].device == 1);
  CHECK(both.trace.ops[3].device == 2);
  CHECK(both.op_types == std::vector<std::string>{"A", "B", "A", "B"});
  REQUIRE(both.trace.transfers.size() == 1);
  CHECK(both.producers == std::vector<weft::op_id>{weft::none, 2}); // the second run's tensor is its own op's
}

} // namespace report_overlay_test
