// SPDX-License-Identifier: BSL-1.0
#include "weft/io/times_csv.hpp"

#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace times_csv_test {

using namespace weft;
constexpr double inf = std::numeric_limits<double>::infinity();

/// Three ops, `10`, `load` and one without a name; the second runs on CPUs alone.
workload ops() {
  workload_builder b;
  b.add_op({.work = 1, .name = "10"});
  b.add_op({.work = 1, .kinds = device_kind::cpu, .name = "load"});
  b.add_op({.work = 1});
  return std::move(b).build();
}

platform<> devices() {
  platform<> q{{{.kind = device_kind::cpu}, {.kind = device_kind::gpu}}, link_matrix{2}};
  q.set_names({"host", "gpu0"});
  return q;
}

std::vector<double> read(std::string_view text) { return io::read_times_csv(text, "t.csv", ops(), devices()); }

std::string refusal(std::string_view text) {
  try {
    read(text);
  } catch (const parse_error& e) {
    return e.what();
  }
  return "accepted";
}

TEST_CASE("times_csv: what is written is read") {
  const std::vector<double> seconds{0.1 + 0.2, 1e-9, 3, inf, 1.0 / 3, 0};
  std::ostringstream out;
  io::write_times_csv(out, ops(), devices(), [&](op_id v, device_id d) { return seconds[v * 2 + d]; });
  CHECK(out.str().starts_with("op,device,seconds\n0,0,0.30000000000000004\n0,1,1e-09\n1,0,3\n2,0,"));
  CHECK(read(out.str()) == seconds);
}

TEST_CASE("times_csv: a column per device, in any order, by number or by name") {
  const std::vector<double> seconds{1, 2, 3, inf, 5, 6};
  CHECK(read("op,0,1\n0,1,2\n1,3,\n2,5,6\n") == seconds);
  CHECK(read("\xef\xbb\xbfop, gpu0, host\r\n2,6,5\r\n\nload,,3\r\n0, 2 ,1\r\n") == seconds);
  CHECK(read("op,host,gpu0\n0,1,2\n1,3,9\n2,5,6")[3] == 9); // where it may not run, it is not read by anybody
  CHECK(read("OP,host,gpu0\n0,Inf,2\n1,3,\n2,5,∞") == std::vector<double>{inf, 2, 3, inf, 5, inf});
  CHECK(read("op,device,seconds\n2,host,5\n2,gpu0,6\n0,host,1\n0,1,2\nload,0,3\n") == seconds);
}

TEST_CASE("times_csv: in a column 'name', numbers are names") {
  CHECK(refusal("name,0,1\n10,1,2\nload,3,\n2,5,6\n") ==
        "t.csv:4: there is no op '2': write its name or its number, from 0");
  workload_builder b;
  for (const char* name : {"3", "1", "2"}) {
    b.add_op({.name = name});
  }
  const auto w = std::move(b).build();
  CHECK(io::read_times_csv("name,0,1\n1,1,2\n2,3,4\n3,5,6\n", "t", w, devices()) ==
        std::vector<double>{5, 6, 1, 2, 3, 4});
}

TEST_CASE("times_csv: what is wrong, where, and what to write") {
  CHECK(refusal("").starts_with("t.csv: the header is '': write op,device,seconds above a row"));
  CHECK(refusal("task,P1,P2\n").starts_with("t.csv:1: the header is 'task,P1,P2': write op,device,seconds"));
  CHECK(refusal("op\n0\n").starts_with("t.csv:1: the header is 'op'"));
  CHECK(refusal("op,P1,P2\n") == "t.csv:1: there is no device 'P1': write its name or its number, from 0");
  CHECK(refusal("op,0,2\n") == "t.csv:1: there is no device 2: numbers go from 0 to 1");
  CHECK(refusal("op,0,1\n3,1,1\n") == "t.csv:2: there is no op 3: numbers go from 0 to 2");
  CHECK(refusal("op,0,1\n0,1\n") == "t.csv:2: has 2 columns, and the header has 3");
  CHECK(refusal("op,0,1\n0,1,2,3\n") == "t.csv:2: has 4 columns, and the header has 3");
  CHECK(refusal("op,0,1\n0,-1,2\n").starts_with("t.csv:2: op 0 '10' on device 0 'host': the time '-1' is negative: "
                                                "write seconds, or inf"));
  CHECK(refusal("op,0,1\n0,,2\n").starts_with("t.csv:2: op 0 '10' on device 0 'host': the time is empty: write a"));
  CHECK(refusal("op,0,1\n0,1,fast\n").starts_with("t.csv:2: op 0 '10' on device 1 'gpu0': the time 'fast' is not a"));
  CHECK(refusal("op,0,1\n0,1,nan\n").starts_with("t.csv:2: op 0 '10' on device 1 'gpu0': the time 'nan' is not a"));
  CHECK(refusal("op,0,1\n0,1,2\n1,3,\n0,1,2\n") == "t.csv:4: op 0 '10' on device 0 'host' has two times: leave one of "
                                                   "them out");
  CHECK(refusal("op,0,0\n0,1,2\n").ends_with("has two times: leave one of them out"));
  CHECK(refusal("op,0,1\n0,1,2\n1,3,\n") ==
        "t.csv: op 2 on device 0 'host' has no time: add one, or inf if the op cannot run there (3 ops × 2 devices are "
        "needed)");
  CHECK(refusal("op,1\n0,2\n2,6\n").starts_with("t.csv: op 0 '10' on device 0 'host' has no time"));
}

TEST_CASE("times_csv: names that several have") {
  workload_builder b;
  b.add_op({.name = "x"});
  b.add_op({.name = "x"});
  const auto w = std::move(b).build();
  CHECK_THROWS_WITH_AS(io::read_times_csv("op,0,1\nx,1,2\n", "t", w, devices()),
                       "t:2: several ops are called 'x': write numbers, from 0", parse_error);
}

} // namespace times_csv_test
