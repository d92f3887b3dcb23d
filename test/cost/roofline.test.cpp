// SPDX-License-Identifier: BSL-1.0
#include "weft/cost/roofline.hpp"

#include "support/small_problem.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace cost_roofline_test {

using namespace weft;

static_assert(cost_model_for<cost::roofline, workload, platform<>>);

TEST_CASE("roofline: the slower of arithmetic and memory, plus the launch") {
  const workload w = test::diamond();
  const platform<> p = test::three_devices();
  const cost::roofline c;
  // b moves 100 in and 200 + 50 out: 350 / 400 s on device 0, where its work takes 20 / 10 s.
  CHECK(c.compute_time(w, 1, p, 0) == 2);
  // d reads 200 + 50 + 300 and its own 4000: 4550 / 400 s, more than 40 / 10 s.
  CHECK(c.compute_time(w, 3, p, 0) == doctest::Approx(11.375));
  CHECK(c.compute_time(w, 3, p, 1) == doctest::Approx(2.275));
  cost::roofline slow;
  slow.launch_overhead = 0.25;
  CHECK(slow.compute_time(w, 1, p, 0) == 2.25);
  CHECK(slow.transfer_time(w, 1, p, 1, 0) == 2.5);
}

TEST_CASE("roofline: devices are alike if they are of one kind, speed and bandwidth") {
  static_assert(cost_parts::has_device_classes<cost::roofline, workload, platform<>>);
  const device gpu{.kind = device_kind::gpu, .speed = 2, .memory_bandwidth = 100};
  auto narrow = gpu, slow = gpu, other = gpu, given = gpu;
  narrow.memory_bandwidth = 50;
  slow.speed = 1;
  other.kind = device_kind::cpu;
  given.reached_rates = true;
  const platform<> p{{gpu, narrow, gpu, slow, other, given, narrow, given}, link_matrix{8}};
  const workload w = test::diamond();
  const cost::roofline c;
  std::vector<device_id> first;
  for (const device_id d : ids(p.num_devices())) {
    first.push_back(c.device_class(w, p, d));
  }
  CHECK(first == std::vector<device_id>{0, 1, 0, 3, 4, 5, 1, 5});
}

} // namespace cost_roofline_test
