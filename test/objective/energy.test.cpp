// SPDX-License-Identifier: BSL-1.0
#include "weft/objective/energy.hpp"

#include "weft/bound/best.hpp"
#include "weft/evaluate/evaluation.hpp"
#include "weft/platform/presets.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace objective_energy_test {

using namespace weft;

/// An op of 4 s, and one that needs its 100 bytes and takes 2 s.
workload pair_of_ops(kind_set first = kind_set::all(), kind_set second = kind_set::all()) {
  workload_builder b;
  b.add_op({.work = 4, .bytes = 100, .kinds = first});
  b.add_op({.work = 2, .kinds = second});
  b.add_edge(0, 1);
  return std::move(b).build();
}

platform<uniform_links> two_devices() {
  return {{{.kind = device_kind::cpu, .idle_watts = 10, .active_watts = 50},
           {.kind = device_kind::gpu, .speed = 2, .slots = 2, .idle_watts = 30, .active_watts = 230}},
          {{.latency = 1, .joules_per_byte = 0.5}},
          1};
}

TEST_CASE("energy: idle devices, ops and sends by slots, bytes by links") {
  const auto w = pair_of_ops();
  const auto q = two_devices();
  const problem p{w, q};
  evaluator judge{p, evaluation{schedule::fifo{}, objective::energy{}}};

  // On the cpu [0, 4), send [4, 5), transfer [5, 6), on one of two slots of the gpu [6, 7).
  const auto apart = judge.recorded({.placement = {0, 1}});
  CHECK(apart.record.makespan == 7);
  const auto use = energy_of(p, apart.record);
  CHECK(use.devices[0].idle == 70);
  CHECK(use.devices[1].idle == 210);
  CHECK(use.devices[0].active == 40 * 5);
  CHECK(use.devices[1].active == 100 * 1);
  CHECK(use.transfers == 50);
  CHECK(use.idle() == 280);
  CHECK(use.active() == 300);
  CHECK(use.total() == 630);
  CHECK(apart.score.value == 630);

  CHECK(judge.judge({.placement = {0, 0}}).value == 40 * 6 + 40 * 6);
  CHECK(judge.judge({.placement = {1, 1}}).value == 40 * 3 + 100 * 3);
  static_assert(objective::energy<>::unit == "J");
}

TEST_CASE("energy: a sum of charges, and a bound that kinds raise") {
  const auto q = two_devices();
  const objective::energy joules;
  const auto bound_of = [&](const workload& w, double seconds) {
    return joules.bound(problem{w, q}, {.value = seconds});
  };
  const auto w = pair_of_ops();
  const problem p{w, q};
  static_assert(objective_parts::is_sum<objective::energy<>, decltype(p)>);
  CHECK(joules.price(p).of(2) == 80);
  CHECK(joules.op_charge(p, 0, 0) == 160);
  CHECK(joules.op_charge(p, 0, 1) == 200);
  CHECK(joules.transfer_charge(p, 0, 0, 1) == 50 + 40);
  CHECK(joules.transfer_charge(p, 0, 1, 0) == 50 + 100 * 0.5);
  CHECK(bound_of(w, 3) == 120 + 160 + 80);
  CHECK(bound_of(pair_of_ops(device_kind::cpu, device_kind::gpu), 3) == 120 + 160 + 100 + 50); // has to move
  CHECK(bound_of(pair_of_ops(device_kind::tpu), 3) == std::numeric_limits<double>::infinity());
}

TEST_CASE("energy: where nothing runs, and where something takes for ever") {
  const auto w = workload_builder{}.build();
  const auto q = two_devices();
  CHECK(objective::energy{}.bound(problem{w, q}, {}) == 0);
  CHECK(energy_of(problem{w, q}, trace{}).total() == 0);
  // A device that draws no more when busy charges nothing, not "nothing times for ever".
  const auto pair = pair_of_ops();
  CHECK(objective::energy{uniform_power{.idle = 1, .active = 1}}.busy(problem{pair, q}, 0,
                                                                      std::numeric_limits<double>::infinity()) == 0);
}

/// A platform that tells no power.
struct silent {
  std::size_t num_devices() const { return 2; }
  device_kind kind(device_id) const { return device_kind::cpu; }
  byte_count memory_capacity(device_id) const { return 1000; }
  std::uint32_t slots(device_id) const { return 1; }
  double speed(device_id) const { return 1; }
  double latency(device_id, device_id) const { return 1; }
  double bandwidth(device_id, device_id) const { return 100; }
};

/// Device 1 is the hot one.
struct own_power {
  double idle_watts(const silent&, device_id) const { return 0; }
  double active_watts(const silent&, device_id d) const { return d == 1 ? 100 : 10; }
  double joules_per_byte(const silent&, device_id from, device_id) const { return from; }
};

TEST_CASE("energy: power models for platforms that tell none") {
  static_assert(!platform_parts::has_power<silent> && platform_parts::has_power<platform<>>);
  static_assert(!power_model_for<platform_power, silent> && power_model_for<own_power, silent>);
  const auto w = pair_of_ops();
  const silent q;
  const problem p{w, q};
  evaluator mine{p, evaluation{schedule::fifo{}, objective::energy{own_power{}}}};
  CHECK(mine.judge({.placement = {1, 0}}).value == 400 + 20 + 100);
  evaluator alike{p, evaluation{schedule::fifo{}, objective::energy{uniform_power{1, 3, 0.25}}}};
  CHECK(alike.judge({.placement = {1, 0}}).value == 2 * 8 + 2 * 6 + 25); // 4 s, 1 s latency, 1 s for the bytes, 2 s
}

TEST_CASE("energy: every preset that has a data sheet draws power, more when busy") {
  for (const auto& e : presets::entries) {
    CAPTURE(e.name);
    const auto q = e.make();
    for (const device_id d : ids(q.num_devices())) {
      const bool has_sheet = !q.reached_rates(d); // random devices have none
      CHECK((q.idle_watts(d) > 0) == has_sheet);
      CHECK((q.active_watts(d) > q.idle_watts(d)) == has_sheet);
      for (const device_id other : ids(q.num_devices())) {
        CHECK((d == other || (q.joules_per_byte(d, other) > 0) == has_sheet));
      }
    }
  }
}

} // namespace objective_energy_test
