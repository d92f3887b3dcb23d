// SPDX-License-Identifier: BSL-1.0
#include "weft/cost/measured.hpp"

#include "support/small_problem.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace cost_measured_test {

using namespace weft;

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

platform<uniform_links> devices() {
  return {{{.kind = device_kind::cpu, .speed = 1},
           {.kind = device_kind::gpu, .speed = 10},
           {.kind = device_kind::gpu, .speed = 20}},
          uniform_links{{.bandwidth = 100}}};
}

static_assert(cost_model_for<cost::measured<>, workload, platform<>>);

TEST_CASE("measured: without times it is its base") {
  const workload w = test::diamond();
  const auto p = devices();
  const cost::measured c{cost::linear{}, p};
  CHECK(c.compute_time(w, 1, p, 1) == cost::linear{}.compute_time(w, 1, p, 1));
  CHECK(c.transfer_time(w, 1, p, 0, 1) == cost::linear{}.transfer_time(w, 1, p, 0, 1));
  CHECK(c.send_time(w, 1, p, 0, 1) == 0);
}

TEST_CASE("measured: a time holds for its kind and is scaled by the estimates elsewhere") {
  const workload w = test::diamond();
  const auto p = devices();
  cost::measured c{cost::linear{}, p};
  c.add(device_kind::gpu, {7, nothing, 3});
  CHECK(c.compute_time(w, 0, p, 1) == 7);
  CHECK(c.compute_time(w, 0, p, 2) == 3.5);
  CHECK(c.compute_time(w, 0, p, 0) == 70);
  CHECK(c.compute_time(w, 1, p, 1) == w.work(1) / 10); // not measured
  CHECK(c.compute_time(w, 3, p, 1) == w.work(3) / 10); // beyond the list
}

TEST_CASE("measured: each kind has its own times, and the first fill in") {
  const workload w = test::diamond();
  const auto p = devices();
  cost::measured c{cost::linear{}, p};
  c.add(device_kind::gpu, {7, 5, nothing, nothing});
  c.add(device_kind::cpu, {9, nothing, 4, nothing});
  CHECK(c.compute_time(w, 0, p, 0) == 9);
  CHECK(c.compute_time(w, 0, p, 1) == 7);
  CHECK(c.compute_time(w, 1, p, 0) == 50);
  CHECK(c.compute_time(w, 2, p, 2) == doctest::Approx(4.0 / 20));
  c.add(device_kind::tpu, {1, 1, 1, 6}); // no such device: as if measured on the first accelerator
  CHECK(c.compute_time(w, 3, p, 1) == 6);
  cost::measured cpu_times{cost::linear{}, platform<uniform_links>{{{.kind = device_kind::gpu, .speed = 2},
                                                                    {.kind = device_kind::gpu, .speed = 4}},
                                                                   uniform_links{}}};
  cpu_times.add(device_kind::cpu, {1, 1, 1, 6}); // no CPU: as if measured on the first device
  CHECK(cpu_times.compute_time(w, 3, p, 0) == 6);
}

TEST_CASE("measured: where the base expects no time, the measured one holds everywhere") {
  workload_builder b;
  b.add_op({.work = 0});
  const workload w = std::move(b).build();
  const auto p = devices();
  cost::measured c{cost::linear{}, p};
  c.add(device_kind::gpu, {2});
  CHECK(c.compute_time(w, 0, p, 0) == 2);
  CHECK(c.compute_time(w, 0, p, 2) == 2);
}

TEST_CASE("measured: devices are alike if they are for the base, and of one kind") {
  const workload w = test::diamond();
  const device a{.kind = device_kind::cpu, .speed = 2}, b{.kind = device_kind::gpu, .speed = 2};
  const device c{.kind = device_kind::gpu, .speed = 1};
  const platform<> p{{a, b, c, b, a}, link_matrix{5}};
  cost::measured<cost::linear> m{cost::linear{}, p};
  m.add(kind_set{device_kind::gpu}, std::vector<double>(w.num_ops(), 3.0));
  const std::vector<device_id> first{0, 1, 2, 1, 0};
  for (const device_id d : ids(p.num_devices())) {
    CHECK(m.device_class(w, p, d) == first[d]);
    CHECK(m.compute_time(w, 1, p, d) == m.compute_time(w, 1, p, first[d]));
  }
}

TEST_CASE("measured: times that cannot be are refused") {
  const auto p = devices();
  cost::measured c{cost::linear{}, p};
  CHECK_THROWS_WITH_AS(c.add(device_kind::gpu, {1, -1}), doctest::Contains("op 1"), value_error);
  CHECK_THROWS_AS(c.add(device_kind::gpu, {std::numeric_limits<double>::infinity()}), value_error);
}

} // namespace cost_measured_test
