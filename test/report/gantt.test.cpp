// SPDX-License-Identifier: BSL-1.0
#include "weft/report/gantt.hpp"

#include "weft/platform/archetype.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/archetype.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

namespace report_gantt_test {

TEST_CASE("make_gantt_run copies names, types, slots and sizes; device_loads adds up") {
  using namespace weft;
  workload_builder b;
  b.add_op({.work = 1, .bytes = 64, .name = "a", .type = "MatMul"});
  b.add_op({.work = 1});
  b.add_edge(0, 1);
  const auto w = std::move(b).build();
  const platform p{{device{}, device{.kind = device_kind::gpu, .slots = 2}}, link_matrix{2}};
  trace t;
  t.ops = {{0, 0, 2}, {1, 5, 9}};
  t.transfers = {{.tensor = 0, .from = 0, .to = 1, .send_start = 2, .send_finish = 3, .start = 3, .arrival = 5}};
  t.makespan = 10;
  const auto run = report::make_gantt_run("title", t, w, p, 8, "area");
  CHECK(run.title == "title");
  CHECK(run.trace == t);
  CHECK(run.op_names == std::vector<std::string>{"a", "op 1"});
  CHECK(run.op_types == std::vector<std::string>{"MatMul", ""});
  CHECK(run.device_names == std::vector<std::string>{"cpu 0", "gpu 1"});
  CHECK(run.device_slots == std::vector<std::uint32_t>{1, 2});
  CHECK(run.producers == std::vector<op_id>{0});
  CHECK(run.tensor_bytes == std::vector<byte_count>{64});
  CHECK(run.lower_bound == 8);
  CHECK(run.num_devices() == 2);

  const auto loads = report::device_loads(run);
  REQUIRE(loads.size() == 2);
  CHECK(loads[0].ops == 1);
  CHECK(loads[0].sends == 1);
  CHECK(loads[0].arrivals == 0);
  CHECK(loads[0].busy_seconds == 3);
  CHECK(loads[0].utilisation == doctest::Approx(.3));
  CHECK(loads[1].arrivals == 1);
  CHECK(loads[1].busy_seconds == 4);
  CHECK(loads[1].utilisation == doctest::Approx(.2)); // two slots
}

TEST_CASE("gantt_run: types are left out where no op has one; archetypes and bare traces are enough") {
  using namespace weft;
  workload_builder b;
  b.add_op({.work = 1, .name = "a"});
  const auto w = std::move(b).build();
  CHECK(report::make_gantt_run("t", {}, w, platform_archetype{}).op_types.empty());
  CHECK(report::make_gantt_run("t", {}, workload_archetype{}, platform_archetype{}).op_names.empty());

  report::gantt_run bare{.title = "bare"};
  CHECK(bare.num_devices() == 0);
  CHECK(report::device_loads(bare).empty());
  bare.trace.ops = {{2, 0, 1}, {}};
  CHECK(bare.num_devices() == 3);
  CHECK(report::device_loads(bare)[2].utilisation == 0); // no makespan
}

} // namespace report_gantt_test
