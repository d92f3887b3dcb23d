// SPDX-License-Identifier: BSL-1.0
#include "weft/bound/area.hpp"

#include "weft/core/random.hpp"
#include "weft/cost/compose.hpp"
#include "weft/cost/table.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace bound_area_test {

using weft::device_kind;

weft::workload independent(std::initializer_list<weft::op> ops) {
  weft::workload_builder b;
  for (const auto& o : ops) {
    b.add_op(o);
  }
  return std::move(b).build();
}

weft::platform<weft::uniform_links> made_of(std::vector<weft::device> devices) { return {std::move(devices), {}}; }

TEST_CASE("bound::area: work over speed") {
  const auto w = independent({{.work = 5}, {.work = 7}, {.work = 8}});
  const auto two = made_of({{.speed = 1}, {.speed = 3}});
  CHECK(weft::bound::area(weft::problem{w, two}) == doctest::Approx(20.0 / 4));
  const auto alike = made_of({{.speed = 2}, {.speed = 2}, {.speed = 2}});
  CHECK(weft::bound::area(weft::problem{w, alike}) == doctest::Approx(20.0 / 6));
}

TEST_CASE("bound::area: a device on which an op takes for ever is one on which it does not run") {
  const auto w = independent({{.work = 1}, {.work = 1}, {.work = 1}});
  const auto three = made_of({{}, {}, {}});
  constexpr double never = std::numeric_limits<double>::infinity();
  const auto all_but_own = [](weft::op_id v, weft::device_id d) { return v == d ? never : 1.0; };
  CHECK(weft::bound::area(weft::problem{w, three, weft::cost::from_function{all_but_own}}) == doctest::Approx(1));
  const auto one_each = [](weft::op_id v, weft::device_id d) { return v == d ? 2.0 : never; };
  CHECK(weft::bound::area(weft::problem{w, three, weft::cost::from_function{one_each}}) == doctest::Approx(2));
}

TEST_CASE("bound::area: each slot has the device's speed") {
  const auto w = independent({{.work = 5}, {.work = 7}, {.work = 8}});
  const auto two = made_of({{.speed = 1, .slots = 2}, {.speed = 3, .slots = 1}});
  CHECK(weft::bound::area(weft::problem{w, two}) == doctest::Approx(20.0 / 5));
}

TEST_CASE("bound::area: ops that are confined to a kind load its devices") {
  const auto w = independent({{.work = 10, .kinds = device_kind::gpu}, {.work = 20, .kinds = device_kind::gpu},
                              {.work = 6}, {.work = 1, .kinds = device_kind::cpu}});
  const auto mixed = made_of({{.kind = device_kind::cpu, .speed = 5}, {.kind = device_kind::gpu, .speed = 2},
                              {.kind = device_kind::gpu, .speed = 3}});
  CHECK(weft::bound::area(weft::problem{w, mixed}) == doctest::Approx(30.0 / 5)); // 37 / 10 for all devices
}

TEST_CASE("bound::area: sets of devices that no op is allowed on as a whole") {
  // Every pair of kinds alone gives 12 / 2, all three together 36 / 3.
  const auto both = [](device_kind a, device_kind b) { return weft::kind_set{a} | weft::kind_set{b}; };
  const auto w = independent({{.work = 12, .kinds = both(device_kind::cpu, device_kind::gpu)},
                              {.work = 12, .kinds = both(device_kind::gpu, device_kind::tpu)},
                              {.work = 12, .kinds = both(device_kind::cpu, device_kind::tpu)}});
  const auto mixed = made_of({{.kind = device_kind::cpu}, {.kind = device_kind::gpu}, {.kind = device_kind::tpu}});
  CHECK(weft::bound::area(weft::problem{w, mixed}) == doctest::Approx(12));
}

TEST_CASE("bound::area: ops that only some devices are large enough for") {
  const auto w = independent({{.work = 8, .resident_bytes = 50}, {.work = 8, .resident_bytes = 50}, {.work = 4}});
  const auto mixed = made_of({{.memory_capacity = 100}, {.memory_capacity = 10}, {.memory_capacity = 10}});
  CHECK(weft::bound::area(weft::problem{w, mixed}) == doctest::Approx(16)); // 20 / 3 for all devices
}

/// The linear program for two devices: max over y in [0, 1] of Σ min(y·first, (1 - y)·second), at one of the kinks.
double linear_program(const std::vector<double>& seconds) {
  double most = 0;
  for (std::size_t i = 0; i < seconds.size(); i += 2) {
    const double y = seconds[i + 1] / (seconds[i] + seconds[i + 1]);
    double sum = 0;
    for (std::size_t j = 0; j < seconds.size(); j += 2) {
      sum += std::min(y * seconds[j], (1 - y) * seconds[j + 1]);
    }
    most = std::max(most, sum);
  }
  return most;
}

TEST_CASE("bound::area: unrelated devices, nearly as good as the linear program and never above it") {
  weft::rng random{6};
  const auto two = made_of({{}, {}});
  double worst = 1;
  for (int round = 0; round < 50; ++round) {
    weft::workload_builder b;
    std::vector<double> seconds;
    const double advantage = random.uniform(0.1, 10); // of the second device, on some ops
    for (std::size_t v = 0; v < 30; ++v) {
      b.add_op({.work = 1});
      seconds.push_back(random.uniform(1, 10));
      seconds.push_back(random.below(3) == 0 ? seconds.back() * random.uniform(1, 5) : seconds.back() / advantage);
    }
    const weft::workload w = std::move(b).build();
    const double found = weft::bound::area(weft::problem{w, two, weft::cost::table{seconds, 30, 2}});
    const double best = linear_program(seconds);
    CHECK(found <= best * (1 + 1e-12));
    worst = std::min(worst, found / best);
  }
  MESSAGE("worst ratio to the linear program: ", worst);
  CHECK(worst > 0.95);
}

TEST_CASE("bound::area: ops that take no time") {
  const auto w = independent({{.work = 0}, {.work = 0}});
  const auto two = made_of({{}, {}});
  CHECK(weft::bound::area(weft::problem{w, two}) == 0);
}

} // namespace bound_area_test
