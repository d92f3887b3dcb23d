// SPDX-License-Identifier: BSL-1.0
#include "small.hpp"

#include "support/small_problem.hpp"
#include "weft/throughput/loads.hpp"

#include <doctest/doctest.h>

namespace throughput_loads_test {

using namespace weft;

/// 0 -> {1, 2, 3}, 1 -> 3; op 0 hands one tensor to all of its consumers.
workload fan() {
  workload_builder b;
  for (int v = 0; v < 4; ++v) {
    b.add_op({.work = 1, .bytes = 0});
  }
  b.add_edge(0, 1);
  b.add_edge(0, 2);
  b.add_edge(0, 3);
  b.add_edge(1, 3);
  return std::move(b).build();
}

TEST_CASE("throughput: loads with staged costs count each tensor once in and once out") {
  const auto w = fan();
  const platform<> devices{{{.kind = device_kind::fpga}, {.kind = device_kind::fpga}, {.kind = device_kind::cpu}},
                           link_matrix{3}};
  const problem p{w, devices, cost::staged{{{10, 20, 30, 40}, {1, 2, 3, 4}, {0.5, 0.25, 7, 7}}}};
  CHECK(throughput::loads(p, {0, 0, 0, 0}) == std::vector<double>{10, 0, 0});
  // Two consumers on device 1 read the tensor once; it leaves device 0 once, although it goes to two devices.
  CHECK(throughput::loads(p, {0, 1, 1, 2}) == std::vector<double>{1.5, 5 + 0.5 + 0.25, 40});
  CHECK(throughput::period(p, {0, 1, 1, 2}) == 40);
  CHECK(throughput::period(p, {0, 1, 1, 1}) == 9.5);
  CHECK(throughput::loads(p, {2, 0, 0, 0}) == std::vector<double>{9.5, 0, 10}); // hosts pay nothing
}

TEST_CASE("throughput: loads with other costs are those of devices and of directed links") {
  const auto w = test::diamond(); // 0 -> {1, 2} -> 3; send work 5
  const auto devices = test::three_devices();
  const problem p{w, devices};
  const auto load = throughput::loads(p, {0, 0, 1, 2});
  // device 0: (10 + 20) / 10, and three sends of 5 / 10 (a to 1; b's two tensors to 2)
  CHECK(load[0] == doctest::Approx(3 + 1.5));
  CHECK(load[1] == doctest::Approx(30.0 / 20 + 5.0 / 20));
  CHECK(load[2] == doctest::Approx(40.0 / 20));
  CHECK(load[3 + 0 * 3 + 1] == doctest::Approx(0.5 + 100.0 / 100));
  CHECK(load[3 + 0 * 3 + 2] == doctest::Approx(1 + 200.0 / 50 + 1 + 50.0 / 50));
  CHECK(load[3 + 1 * 3 + 2] == doctest::Approx(0.5 + 300.0 / 100));
  CHECK(load[3 + 2 * 3 + 1] == 0);
  CHECK(throughput::period(p, {0, 0, 1, 2}) == doctest::Approx(7));
}

TEST_CASE("throughput: slots share a device's load, and no op makes no load") {
  workload_builder b;
  b.add_op({.work = 6});
  const auto w = std::move(b).build();
  const platform<uniform_links> devices{{device{.speed = 2, .slots = 3}}, {}};
  CHECK(throughput::period(problem{w, devices}, {0}) == 1);
  const auto nothing = workload_builder{}.build();
  CHECK(throughput::period(problem{nothing, devices}, {}) == 0);
}

TEST_CASE("throughput: periods of random placements are those of the definition") {
  rng random{1};
  for (int i = 0; i < 2000; ++i) {
    const auto s = weft_test::random_small(random, {.max_ops = 12, .max_devices = 4});
    placement where(s.ops.num_ops());
    for (auto& d : where) {
      d = random.below(s.devices.num_devices());
    }
    REQUIRE(weft_test::about(throughput::period(s.staged(), where), weft_test::naive_period(s.staged(), where)));
    REQUIRE(weft_test::about(throughput::period(s.linear(), where), weft_test::naive_period(s.linear(), where)));
  }
}

TEST_CASE("throughput: placements that are none are refused") {
  const auto w = fan();
  const platform<> devices{{{}, {}}, link_matrix{2}};
  const problem p{w, devices};
  CHECK_THROWS_WITH_AS(throughput::period(p, {0, 1, 2, 0}),
                       "placement: op 2 is on device 2, and there are only 2 devices, from 0", dangling_id_error);
  CHECK_THROWS_AS(throughput::period(p, {0, 1, none, 0}), dangling_id_error);
  CHECK_THROWS_AS(throughput::loads(p, {0, 1, 1}), value_error);
}

/// Imports that take less than no time.
struct backwards : cost::linear {
  double import_time(const workload&, tensor_id, const platform<>&, device_id) const { return -1; }
  double export_time(const workload&, tensor_id, const platform<>&, device_id) const { return 1; }
};

TEST_CASE("throughput: staging times that are none are refused") {
  const auto w = fan();
  const platform<> devices{{{}, {}}, link_matrix{2}};
  const problem p{w, devices, backwards{}};
  CHECK_THROWS_WITH_AS(
    throughput::period(p, {0, 1, 0, 0}),
    "import_time of tensor 0 of op 0 on device 1: -1 is not a time: a cost model returns seconds, at least 0",
    value_error);
}

} // namespace throughput_loads_test
