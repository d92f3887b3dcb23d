// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/slots.hpp"

#include "weft/problem.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace workload_slots_test {

using namespace weft;

/// Independent ops that take so many slots.
workload ops_of(const std::vector<std::uint32_t>& slots, kind_set kinds = kind_set::all()) {
  workload_builder b;
  for (const auto s : slots) {
    b.add_op({.work = 10, .kinds = kinds, .name = "t", .slots = s});
  }
  return std::move(b).build();
}

platform<> nodes(const std::vector<std::uint32_t>& slots) {
  std::vector<device> devices;
  for (const auto s : slots) {
    devices.push_back({.kind = device_kind::cpu, .slots = s, .idle_watts = 10, .active_watts = 90});
  }
  return platform<>{devices, link_matrix{devices.size()}};
}

template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const value_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST_CASE("slots: devices have as many as ops run at once") {
  const auto q = nodes({4, 9, 1});
  const auto fitted = with_slots_of(ops_of({4, 4, 4}), q);
  CHECK(fitted.slots(0) == 1);
  CHECK(fitted.slots(1) == 2);
  CHECK(fitted.slots(2) == 1); // the whole device
  CHECK(fitted.devices()[0].active_watts == 90);
  CHECK(fitted.devices()[1].active_watts == doctest::Approx(10 + 80 * 8.0 / 9));
  CHECK(with_slots_of(ops_of({1, 1}), q).devices() == q.devices());
  // What may not run there does not count.
  CHECK(with_slots_of(ops_of({4, 2}, device_kind::gpu), q).devices() == q.devices());
}

TEST_CASE("slots: where it depends on which ops run, one line says what to do") {
  CHECK(refusal([] { (void)with_slots_of(ops_of({1, 4}), nodes({1, 8})); }) ==
        "device 1: has 8 slots, and ops take 1 to 4 of them at once, which is not modelled; describe each node as one "
        "device of one slot, whose speed is that of all its cores, on which one op runs at a time");
  CHECK(refusal([] { (void)with_slots_of(ops_of({4, 4}), nodes({2})); }).starts_with(
    "device 0: has 2 slots, and each op takes 4 at once; describe each node"));
}

TEST_CASE("slots: problems take ops of one slot each, unless their devices have one") {
  const auto w = ops_of({4, 1});
  const auto q = nodes({1, 4});
  CHECK(refusal([&] { problem p{w, q}; }).starts_with(
    "op 0 't': takes 4 slots at once, and device 1 has 4, each of which runs an op of its own: describe a node"));
  const auto whole = nodes({1, 1});
  CHECK(problem{w, whole}.num_ops() == 2);
  const auto elsewhere = ops_of({4}, device_kind::gpu);
  CHECK(problem{elsewhere, q}.num_ops() == 1);
  const auto alike = ops_of({4, 4});
  const auto fitted = with_slots_of(alike, q);
  const auto each = workload{alike}.with_one_slot_each();
  CHECK(problem{each, fitted}.num_ops() == 2);
  CHECK_FALSE(each.takes_several_slots());
  CHECK(each.slots(1) == 1);
}

TEST_CASE("slots: a builder keeps them, and refuses none") {
  const auto w = ops_of({1, 3, 1});
  CHECK(w.takes_several_slots());
  CHECK(w.slots(0) == 1);
  CHECK(w.slots(1) == 3);
  CHECK(w.slots(2) == 1);
  CHECK_FALSE(ops_of({1, 1}).takes_several_slots());
  CHECK(refusal([] { (void)ops_of({0}); }) == "op 0 't': slots: must be at least 1");
  workload_builder b;
  b.add_op({.slots = 2});
  CHECK(b[0].slots == 2);
}

} // namespace workload_slots_test
