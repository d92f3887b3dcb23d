// SPDX-License-Identifier: BSL-1.0
#include "weft/report/names.hpp"

#include "weft/platform/archetype.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/archetype.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

namespace report_names_test {

TEST_CASE("op_name, op_type and device_name take names where there are some") {
  weft::workload_builder b;
  b.add_op({.work = 1, .name = "conv", .type = "Conv2D"});
  b.add_op({.work = 1});
  const auto w = std::move(b).build();
  CHECK(weft::report::op_name(w, 0) == "conv");
  CHECK(weft::report::op_name(w, 1) == "op 1");
  CHECK(weft::report::op_type(w, 0) == "Conv2D");
  CHECK(weft::report::op_type(w, 1).empty());
  CHECK(weft::report::op_name(weft::workload_archetype{}, 4) == "op 4");
  CHECK(weft::report::op_type(weft::workload_archetype{}, 4).empty());

  weft::platform p{{weft::device{}, weft::device{.kind = weft::device_kind::gpu}},
                   weft::link_matrix{2, {.bandwidth = 1}}};
  CHECK(weft::report::device_name(p, 1) == "gpu 1");
  p.set_names({"left", ""});
  CHECK(weft::report::device_name(p, 0) == "left");
  CHECK(weft::report::device_name(p, 1) == "gpu 1");
}

TEST_CASE("memory_name and in_memory_of name the devices that share a memory") {
  const weft::device gpu{.kind = weft::device_kind::gpu, .memory_of = 0};
  weft::platform p{{weft::device{}, gpu, weft::device{.kind = weft::device_kind::gpu}, gpu},
                   weft::link_matrix{4, {.bandwidth = 1}}};
  p.set_names({"cpu", "gpu0", "gpu1", "gpu2"});
  for (const weft::device_id d : {0u, 1u, 3u}) {
    CHECK(weft::report::names_sharing_memory(p, d) == "cpu, gpu0 and gpu2");
    CHECK(weft::report::memory_name(p, d) == "the memory that cpu, gpu0 and gpu2 share");
    CHECK(weft::report::in_memory_of(p, d) == "in the memory that cpu, gpu0 and gpu2 share");
  }
  CHECK(weft::report::names_sharing_memory(p, 2).empty());
  CHECK(weft::report::memory_name(p, 2) == "gpu1");
  CHECK(weft::report::in_memory_of(p, 2) == "on gpu1");
}

} // namespace report_names_test
