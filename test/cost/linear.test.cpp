// SPDX-License-Identifier: BSL-1.0
#include "weft/cost/linear.hpp"

#include "support/small_problem.hpp"

#include <doctest/doctest.h>

namespace cost_linear_test {

using namespace weft;

static_assert(cost_model_for<cost::linear, workload, platform<>>);
static_assert(cost_parts::has_send_time<cost::linear, workload, platform<>>);
static_assert(cost_parts::has_device_classes<cost::linear, workload, platform<>>);

/// Speeds and links, and nothing else.
struct plain_platform {
  std::size_t num_devices() const { return 2; }
  device_kind kind(device_id) const { return device_kind::cpu; }
  byte_count memory_capacity(device_id) const { return 1; }
  std::uint32_t slots(device_id) const { return 1; }
  double speed(device_id) const { return 2; }
  double latency(device_id, device_id) const { return 1; }
  double bandwidth(device_id, device_id) const { return 10; }
};
static_assert(cost_model_for<cost::linear, workload, plain_platform>);

TEST_CASE("linear cost: work over speed, bytes over bandwidth, send work over the sender's speed") {
  const workload w = test::diamond();
  const platform<> p = test::three_devices();
  const cost::linear c;
  CHECK(c.compute_time(w, 2, p, 0) == 3);
  CHECK(c.compute_time(w, 2, p, 1) == 1.5);
  CHECK(c.transfer_time(w, 1, p, 1, 0) == 0.5 + 2);
  CHECK(c.transfer_time(w, 1, p, 0, 2) == 1 + 4.0);
  CHECK(c.send_time(w, 1, p, 0, 1) == 0.5);
  CHECK(c.send_time(w, 1, p, 1, 0) == 0.25);
}

TEST_CASE("linear cost: devices of one speed are one class, named by the first of them") {
  const workload w = test::diamond();
  const platform<> p = test::three_devices();
  const cost::linear c;
  CHECK(c.device_class(w, p, 0) == 0);
  CHECK(c.device_class(w, p, 1) == 1);
  CHECK(c.device_class(w, p, 2) == 1);
}

TEST_CASE("linear cost: a platform that charges nothing for sending") {
  CHECK(cost::linear{}.send_time(test::diamond(), 0, plain_platform{}, 0, 1) == 0);
}

} // namespace cost_linear_test
