// SPDX-License-Identifier: BSL-1.0
#include "weft/io/json_schedule.hpp"

#include "weft/platform/platform.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

namespace io_json_schedule_test {

using namespace weft;

workload three_ops() {
  workload_builder b;
  const op_id u = b.add_op({.work = 2, .bytes = 4, .name = "read"});
  const op_id v = b.add_op({.work = 3, .name = "twin"});
  b.add_op({.work = 1, .name = "twin"});
  b.add_edge(u, v);
  return std::move(b).build();
}

platform<> two_devices() {
  platform<> q{{{}, {}}, link_matrix{2}};
  q.set_names({"left", "right"});
  return q;
}

io::given_plan read(const std::string& text) {
  std::istringstream in{text};
  return io::read_given_plan_json(in, three_ops(), two_devices(), "s.json");
}

std::string schedule(const std::string& members) {
  return R"({"format": "weft.schedule", "version": 1, )" + members + "}";
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const error& e) {
    return e.what();
  }
  return "none";
}

TEST_CASE("read_given_plan_json: ops and devices by position, number and name") {
  const auto given = read(schedule(R"("ops": [{"op": 2, "device": 1, "start": 0, "finish": 1},
    {"op": "read", "device": "right", "start": 1, "finish": 3}, {"op": 1, "device": null, "start": 4, "finish": 7}])"));
  CHECK(given.plan.placement == placement{1, none, 1});
  CHECK(given.plan.order.empty());
  CHECK_FALSE(given.has_transfers);
  CHECK_FALSE(given.has_makespan);
  CHECK(given.unsaid.empty());
  REQUIRE(given.run);
  CHECK(given.run->makespan == 7);
  CHECK(given.run->ops[0].start == 1);
  CHECK(given.run->ops[2].finish == 1);

  const auto partial = read(schedule(R"("makespan": 9, "ops": [{"device": 0, "start": 0, "finish": 2}],
    "transfers": [{"tensor": 0, "from": "left", "to": 1, "start": 2, "arrival": 3}])"));
  CHECK(partial.plan.placement == placement{0, none, none});
  CHECK(partial.run->makespan == 9);
  CHECK(partial.has_makespan);
  CHECK(partial.unsaid == std::vector<op_id>{1, 2});
  CHECK(partial.has_transfers);
  REQUIRE(partial.run->transfers.size() == 1);
  CHECK(partial.run->transfers[0].send_start == 2);
  CHECK(partial.run->transfers[0].to == 1);
}

TEST_CASE("read_given_plan_json: plans and traces as weft writes them") {
  const auto plan = read(R"({"format": "weft.plan", "version": 1, "placement": [0, 1, 1], "order": [0, 2, 1]})");
  CHECK(plan.plan.placement == placement{0, 1, 1});
  CHECK(plan.plan.order.size() == 3);
  CHECK_FALSE(plan.run);
  trace run{.ops = {{0, 0, 2}, {1, 3, 6}, {0, 2, 3}}, .transfers = {{0, 0, 1, 2, 2, 2, 3}}, .makespan = 6};
  std::ostringstream out;
  io::write_trace_json(out, run);
  const auto read_again = read(out.str());
  CHECK(read_again.run == run);
  CHECK(read_again.has_transfers);
}

TEST_CASE("read_given_plan_json: one line says what is wrong and where") {
  const auto record = [](const std::string& op) {
    return schedule(R"("ops": [)" + op + "]");
  };
  CHECK(refusal(record(R"({"op": "write", "device": 0, "start": 0, "finish": 1})")) ==
        "s.json:1: /ops/0/op: there is no op 'write'");
  CHECK(refusal(record(R"({"op": "twin", "device": 0, "start": 0, "finish": 1})")) ==
        "s.json:1: /ops/0/op: several ops are called 'twin'; give its number instead");
  CHECK(refusal(record(R"({"op": "", "device": 0, "start": 0, "finish": 1})")) ==
        "s.json:1: /ops/0/op: is an empty name; give the number of the op");
  CHECK(refusal(record(R"({"op": 3, "device": 0, "start": 0, "finish": 1})")) ==
        "s.json:1: /ops/0/op: there is no op 3; there are 3");
  CHECK(refusal(record(R"({"device": "middle", "start": 0, "finish": 1})")) ==
        "s.json:1: /ops/0/device: there is no device 'middle'");
  CHECK(refusal(record(R"({"device": 0, "start": 0, "finish": 1}, {"op": 0, "device": 0, "start": 0, "finish": 1})")) ==
        "s.json:1: /ops/1: op 0 is listed twice");
  CHECK(refusal(record(R"({"device": 0, "start": -1, "finish": 1})")).find("/ops/0/start") != std::string::npos);
  CHECK(refusal(record(R"({"device": 0, "start": 1})")).find("'finish' is missing") != std::string::npos);
  CHECK(refusal(R"({"format": "weft.workload", "version": 1})").find("weft.schedule") != std::string::npos);
  CHECK(refusal("[]").find("an object") != std::string::npos);
}

} // namespace io_json_schedule_test
