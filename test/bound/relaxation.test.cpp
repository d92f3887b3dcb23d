// SPDX-License-Identifier: BSL-1.0
#include "weft/bound/detail/relaxation.hpp"

#include "weft/cost/table.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

namespace bound_relaxation_test {

using weft::device_kind;
using weft::bound::detail::relaxation;

TEST_CASE("relaxation: devices that are alike are one type") {
  weft::workload_builder b;
  b.add_op({.work = 6});
  const weft::workload w = std::move(b).build();
  const weft::platform<weft::uniform_links> p{{{.speed = 1},
                                               {.speed = 2},
                                               {.speed = 1},
                                               {.kind = device_kind::gpu, .speed = 1},
                                               {.speed = 2, .slots = 2},
                                               {.speed = 1, .memory_capacity = 5},
                                               {.speed = 1}},
                                              {}};
  const weft::problem problem{w, p};
  const relaxation r{problem};
  REQUIRE(r.types().size() == 5);
  CHECK(r.types()[0].count == 3);
  CHECK(r.types()[1].count == 1);
  CHECK(r.best(0) == 3);
}

TEST_CASE("relaxation: what no op may run on makes no difference between components") {
  weft::workload_builder b;
  b.add_op({.work = 6, .resident_bytes = 3});
  b.add_op({.work = 6, .resident_bytes = 1, .kinds = device_kind::gpu});
  b.add_op({.work = 6, .kinds = weft::kind_set{device_kind::gpu} | device_kind::dsp});
  const weft::workload w = std::move(b).build();
  const weft::platform<weft::uniform_links> p{{{.kind = device_kind::tpu, .memory_capacity = 0},
                                               {.kind = device_kind::gpu, .memory_capacity = 7},
                                               {.kind = device_kind::npu, .memory_capacity = 0},
                                               {.kind = device_kind::gpu}},
                                              {}};
  const weft::problem problem{w, p};
  const relaxation r{problem};
  CHECK(r.choices().size() == 1);
  CHECK(r.choice(0).types == std::vector<std::uint32_t>{1, 3});
  CHECK(r.choice(0).total == std::vector<double>{18, 18});
  CHECK(r.usable_types() == r.choice(0).types);
  CHECK(r.usable_devices() == std::vector<weft::device_id>{1, 3});
}

TEST_CASE("relaxation: components share a choice if they allow the same devices") {
  weft::workload_builder b;
  b.add_op({.work = 6});
  b.add_op({.work = 6, .kinds = device_kind::gpu});
  b.add_op({.work = 6});
  b.add_op({.work = 6, .resident_bytes = 11});
  b.add_op({.work = 6});
  b.colocate(1, 4);
  b.add_op({.work = 6, .resident_bytes = 10});
  const weft::workload w = std::move(b).build();
  const weft::platform<weft::uniform_links> p{{{.kind = device_kind::cpu, .speed = 3, .memory_capacity = 10},
                                               {.kind = device_kind::cpu, .speed = 1, .memory_capacity = 20},
                                               {.kind = device_kind::gpu, .speed = 2, .memory_capacity = 10}},
                                              {}};
  const weft::problem problem{w, p};
  const relaxation r{problem};
  CHECK(r.choice_index(0) == r.choice_index(2));
  CHECK(r.choice_index(0) == r.choice_index(5));
  CHECK(r.choice_index(1) == r.choice_index(4));
  CHECK(r.choices().size() == 3);
  CHECK(r.choice(1).types == std::vector<std::uint32_t>{2});
  CHECK(r.choice(3).types == std::vector<std::uint32_t>{1});
  CHECK(r.disjoint(r.choice_index(1), r.choice_index(3)));
  CHECK_FALSE(r.disjoint(r.choice_index(0), r.choice_index(3)));
  CHECK(std::array{r.best(0), r.best(1), r.best(2), r.best(3), r.best(4), r.best(5)} ==
        std::array{2.0, 3.0, 2.0, 6.0, 3.0, 2.0});
  CHECK(r.feasible());
}

TEST_CASE("longest_paths: heads and tails") {
  weft::workload_builder b;
  for (const double work : {1.0, 2.0, 4.0, 8.0}) {
    b.add_op({.work = work, .bytes = 0});
  }
  b.add_edge(3, 1);
  b.add_edge(1, 0);
  b.add_edge(2, 0);
  const weft::workload w = std::move(b).build();
  const weft::platform<weft::uniform_links> p{{{}}, {}};
  const weft::problem problem{w, p};
  const relaxation r{problem};
  const auto x = weft::bound::detail::longest_paths(r);
  CHECK(x.head == std::vector<double>{10, 8, 0, 0});
  CHECK(x.tail == std::vector<double>{0, 1, 1, 3});
  CHECK(weft::bound::detail::longest(r, x) == 11);
}

} // namespace bound_relaxation_test
