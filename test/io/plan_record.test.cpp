// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#include "weft/io/plan_record.hpp"
#include "weft/platform/identical.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace io_plan_record_test {

namespace io = weft::io;
using weft::step;

/// Ops of these names; the k-th has k tensors.
weft::workload ops_called(const std::vector<std::string>& names) {
  weft::workload_builder b;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto v = b.add_op({.work = 1, .name = names[i]});
    for (std::size_t k = 0; k < (names[i].empty() ? 0 : static_cast<std::size_t>(names[i].back() - '0')); ++k) {
      b.add_output(v, 8);
    }
  }
  return std::move(b).build();
}

weft::platform<> devices_called(const std::vector<std::string>& names) {
  auto q = weft::presets::identical(static_cast<std::uint32_t>(names.size()));
  q.set_names(names);
  return q;
}

std::string why_not(const io::plan_record& r, const weft::workload& w, const weft::platform<>& q) {
  try {
    (void)io::plan_for(r, w, q);
  } catch (const weft::error& e) {
    return e.what();
  }
  return {};
}

const io::plan_record record{
  .plan = {{0, 1, 0, 1}, {step::run(0), step::run(2), step::send(2, 4, 1), step::run(1), step::run(3)}},
  .ops = {"a1", "b3", "c2", "b3"},
  .devices = {"left", "right"}};

TEST_CASE("plan_record: what it was made for gets the plan as it is") {
  CHECK(io::plan_for(record, ops_called(record.ops), devices_called(record.devices)) == record.plan);
  auto numbers = record;
  numbers.ops.clear();
  numbers.devices.clear();
  CHECK(io::plan_for(numbers, ops_called({"x1", "y3", "z2", "w3"}), devices_called({"p", "q"})) == record.plan);
}

TEST_CASE("plan_record: names find ops, tensors and devices in another order") {
  const auto found =
    io::plan_for(record, ops_called({"b3", "c2", "b3", "a1"}), devices_called({"more", "right", "left"}));
  CHECK(found.placement == weft::placement{1, 2, 1, 2});
  CHECK(found.order ==
        weft::order{step::run(3), step::run(1), step::send(1, 3, 1), step::run(0), step::run(2)});
}

TEST_CASE("plan_record: what is missing is named, three of each at most") {
  const auto devices = devices_called(record.devices);
  CHECK(why_not(record, ops_called({"a1", "b3", "x2", "b3"}), devices) ==
        "the plan is of another model: of the model, 1 of its 4 ops are not in the plan: 'x2'; of the plan, 1 of its 4 "
        "ops are not in the model: 'c2'");
  CHECK(why_not(record, ops_called({"a1", "b3", "c2"}), devices) ==
        "the plan is of another model: of the plan, 1 of its 4 ops are not in the model: 'b3'");
  CHECK(why_not(record, ops_called({"a1", "b3", "c2", "b3", "d0", "e0", "f0", "g0"}), devices) ==
        "the plan is of another model: of the model, 4 of its 8 ops are not in the plan: 'd0', 'e0', 'f0', ...");
  CHECK(why_not(record, ops_called(record.ops), devices_called({"left", "wrong"})) ==
        "the plan is of another platform: it uses device 'right', and the platform has none of that name");
  auto numbers = record;
  numbers.ops.clear();
  numbers.devices.clear();
  CHECK(why_not(numbers, ops_called({"a1"}), devices) ==
        "the plan is of another model: it places 4 ops, and the model has 1 op");
  CHECK(why_not(numbers, ops_called(record.ops), devices_called({"one"})) ==
        "the plan is of another platform: it uses device 1, and the platform has 1 devices");
}

TEST_CASE("plan_record: what no run could follow is refused") {
  const auto devices = devices_called(record.devices);
  auto undecided = record;
  undecided.plan.placement[2] = weft::none;
  CHECK(why_not(undecided, ops_called(record.ops), devices) == "the plan does not say on which device op 'c2' runs");
  auto astray = record;
  astray.plan.order[2] = step::send(2, 3, 1);
  CHECK(why_not(astray, ops_called(record.ops), devices) ==
        "the plan's order sends tensor 3, which op 'c2' does not make");
  astray.plan.order[2] = step::send(2, 4, 7);
  CHECK(why_not(astray, ops_called(record.ops), devices) ==
        "the plan is of another platform: it uses device 7, and the platform has none of that name");
}

TEST_CASE("plan_record: names that JSON cannot hold are found all the same") {
  auto r = record;
  const auto w = ops_called({"\xff 1", "b3", "c2", "b3"});
  r.ops = io::op_names(w);
  CHECK(r.ops[0] == "\xef\xbf\xbd 1");
  CHECK(io::plan_for(r, w, devices_called(r.devices)) == r.plan);
}

} // namespace io_plan_record_test
