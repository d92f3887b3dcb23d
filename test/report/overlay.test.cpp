// SPDX-License-Identifier: BSL-1.0
#include "weft/concurrency/moldable.hpp"
#include "weft/report/detail/html_tables.hpp"
#include "weft/report/gantt.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <sstream>
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

TEST_CASE("gantt: each run of an overlay is told by itself, by its own makespan") {
  auto predicted = two_ops("predicted", {{{0, 0, 1}, {0, 1, 2}}, {}, 2});
  predicted.lower_bound = 1;
  const auto measured = two_ops("<b>", {{{0, 0, 2}, {1, 3, 4}}, {{0, 0, 1, 2, 2, 2, 3}}, 4});
  const auto both = weft::report::overlay("both", {predicted, measured});
  const auto parts = both.parts();
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].title == "predicted");
  CHECK(parts[0].num_devices == 1);
  CHECK(parts[0].makespan == 2);
  CHECK(parts[0].lower_bound == 1);
  CHECK(parts[1].num_devices == 2);
  CHECK(weft::report::device_loads(both)[0].utilisation == 2. / (2 * 4));
  CHECK(weft::report::device_loads(both)[1].utilisation == 2. / (4 * 4));
  CHECK(weft::report::device_loads(both)[2].utilisation == 1. / 4);

  std::ostringstream out;
  weft::report::detail::write_gantt_frame(out, both, 0);
  CHECK(out.str().find("<p class=\"facts\">predicted: makespan 2.00 s, 100.0 % above the lower bound of 1.00 s; 2 ops "
                       "and 0 transfers on 1 devices, which were busy 25.0 % of their time.</p>") != std::string::npos);
  CHECK(out.str().find("<p class=\"facts\">&lt;b&gt;: makespan 4.00 s; 2 ops and 1 transfers on 2 devices") !=
        std::string::npos);
  CHECK(out.str().find("4 ops") == std::string::npos);

  std::ostringstream one;
  weft::report::detail::write_gantt_frame(one, predicted, 0);
  CHECK(one.str().find("<p class=\"facts\">Makespan 2.00 s, 100.0 % above") != std::string::npos);

  const auto three = weft::report::overlay("three", {both, predicted});
  REQUIRE(three.parts().size() == 3);
  CHECK(three.parts()[1].title == "both, <b>");
  CHECK(three.parts()[2].title == "predicted");
  CHECK(three.num_devices() == 4);
}

} // namespace report_overlay_test
