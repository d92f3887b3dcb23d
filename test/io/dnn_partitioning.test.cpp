// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#include "weft/io/dnn_partitioning.hpp"
#include "weft/throughput/loads.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace io_dnn_partitioning_test {

using namespace weft;

io::dnn_partitioning read(const std::string& text) {
  std::istringstream in{text};
  return io::read_dnn_partitioning(in, "x.json");
}

std::string write(const io::dnn_partitioning& x) {
  return weft_test::text_of([&](std::ostream& out) { io::write_dnn_partitioning(out, x); });
}

/// A file on a line per entry. The first two nodes are on lines 3 and 4, the edges on 7 to 9.
const std::string sample = R"({"maxSizePerFPGA": 1e3, "maxFPGAs": 2, "maxCPUs": 1,
"nodes": [
{"id": 7, "name": "a", "supportedOnFpga": 1, "cpuLatency": 10, "fpgaLatency": 1, "isBackwardNode": 0, "colorClass": 5, "size": 2.5},
{"id": -3, "name": "b", "supportedOnFpga": true, "cpuLatency": 20, "fpgaLatency": 2.5, "isBackwardNode": false, "colorClass": null, "size": 0},
{"id": 9, "supportedOnFpga": false, "cpuLatency": 30.0, "fpgaLatency": 0, "isBackwardNode": true, "colorClass": 5, "size": 4}],
"edges": [
{"sourceId": 7, "destId": -3, "cost": 0.5, "size": 12},
{"sourceId": 7, "destId": 9, "cost": 0.5},
{"sourceId": -3, "destId": 9, "cost": 0}]})";

std::string changed(const std::string& what, const std::string& to) {
  std::string text = sample;
  const auto at = text.find(what);
  REQUIRE(at != text.npos);
  return text.replace(at, what.size(), to);
}

struct wrong {
  std::string text;
  std::size_t line;
  std::string phrase; ///< of the message after "x.json:line: "
};

TEST_CASE("dnn_partitioning: a file becomes ops, devices and times") {
  const auto x = read(sample);
  CHECK(x.ops.num_ops() == 3);
  CHECK(x.ids == std::vector<std::int64_t>{7, -3, 9});
  CHECK(x.ops.name(0) == "a");
  CHECK(x.ops.name(2).empty());
  CHECK(x.ops.type(1) == "forward");
  CHECK(x.ops.type(2) == "backward");
  CHECK(x.ops.resident_bytes(0) == 3);
  CHECK(x.ops.kinds(0).is_all());
  CHECK(x.ops.kinds(2) == device_kind::cpu);
  CHECK(x.ops.group(0) == x.ops.group(2));
  CHECK(x.ops.group(1) == none);
  CHECK(x.ops.num_tensors() == 2);
  CHECK(x.ops.consumers(0).size() == 2);
  CHECK(x.ops.bytes(0) == 0);
  REQUIRE(x.devices.num_devices() == 3);
  CHECK(x.devices.kind(1) == device_kind::fpga);
  CHECK(x.devices.memory_capacity(1) == 1000);
  CHECK(x.devices.kind(2) == device_kind::cpu);
  CHECK(x.devices.memory_capacity(2) > byte_count{1} << 62);
  CHECK(x.cost.times() == cost::staged::columns{{10, 20, 30}, {1, 2.5, 0}, {0.5, 0}});
  const auto p = x.problem();
  CHECK(p.demand(0) == 7); // only sizes count
  CHECK(throughput::period(p, {2, 0, 2}) == 40);
}

TEST_CASE("dnn_partitioning: tensors keep their costs whatever the order of edges") {
  const auto x = read(R"({"maxSizePerFPGA": 9, "maxFPGAs": 1, "maxCPUs": 0, "nodes": [
    {"id": 0, "supportedOnFpga": true, "cpuLatency": 1, "fpgaLatency": 1, "size": 0},
    {"id": 1, "supportedOnFpga": true, "cpuLatency": 1, "fpgaLatency": 1, "size": 0},
    {"id": 2, "supportedOnFpga": true, "cpuLatency": 1, "fpgaLatency": 1, "size": 0}],
    "edges": [{"sourceId": 2, "destId": 0, "cost": 3}, {"sourceId": 1, "destId": 2, "cost": 5}]})");
  REQUIRE(x.ops.num_tensors() == 2);
  for (const tensor_id t : ids(2)) {
    CHECK(x.cost.times().transfer[t] == (x.ops.producer(t) == 2 ? 3 : 5));
  }
}

TEST_CASE("dnn_partitioning: what is written reads back the same") {
  const auto x = read(sample);
  const auto text = write(x);
  const auto y = read(text);
  CHECK(weft_test::same(x.ops, y.ops));
  CHECK(x.devices.devices() == y.devices.devices());
  CHECK(x.cost.times() == y.cost.times());
  CHECK(x.ids == y.ids);
  CHECK(write(y) == text);
  const auto empty = read(R"({"maxSizePerFPGA": 1, "maxFPGAs": 0, "maxCPUs": 2, "nodes": [], "edges": []})");
  CHECK(write(read(write(empty))) == write(empty));
}

TEST_CASE("dnn_partitioning: every wrong file is refused in one line with file, line, path and reason") {
  const std::vector<wrong> all{
    {sample.substr(0, 400), 5, "not valid JSON"},
    {"[]", 1, "expected an object"},
    {"", 1, "not valid JSON"},
    {changed("\"maxCPUs\": 1", "\"maxCPUs\": 1, \"maxTPUs\": 1"), 1, "/maxTPUs: unknown key"},
    {changed("\"maxFPGAs\": 2, ", ""), 1, "the key 'maxFPGAs' is missing"},
    {changed("\"maxFPGAs\": 2, \"maxCPUs\": 1", "\"maxFPGAs\": 0, \"maxCPUs\": 0"), 1, "there is no device"},
    {changed("\"maxFPGAs\": 2", "\"maxFPGAs\": 2.5"), 1, "/maxFPGAs: expected a whole number"},
    {changed("\"maxFPGAs\": 2", "\"maxFPGAs\": 20000000"), 1, "/maxFPGAs: expected a whole number from 0 to 1000"},
    {changed("1e3", "-1"), 1, "/maxSizePerFPGA: expected a number that is not negative"},
    {changed("\"id\": -3", "\"id\": 7"), 4, "/nodes/1/id: the id 7 was given to /nodes/0"},
    {changed("\"id\": -3", "\"id\": \"b\""), 4, "/nodes/1/id: expected a whole number"},
    {changed("\"id\": -3", "\"id\": 1e30"), 4, "/nodes/1/id: expected a whole number"},
    {changed("\"id\": -3, ", ""), 4, "/nodes/1: the key 'id' is missing"},
    {changed("\"name\": \"b\"", "\"name\": 5"), 4, "/nodes/1/name: expected a string"},
    {changed("\"cpuLatency\": 20", "\"cpuLatency\": -20"), 4, "/nodes/1/cpuLatency: expected a number that is not"},
    {changed("\"fpgaLatency\": 2.5", "\"fpgaLatency\": null"), 4, "/nodes/1/fpgaLatency: expected a number"},
    {changed("\"fpgaLatency\": 2.5", "\"fpgaLatency\": 1e999"), 4, "the number 1e999 is out of the range"},
    {changed("\"size\": 2.5", "\"size\": 1e30"), 3, "/nodes/0/size: expected less than 2^62 bytes"},
    {changed("\"supportedOnFpga\": true", "\"supportedOnFpga\": 2"), 4, "/nodes/1/supportedOnFpga: expected true or"},
    {changed("\"isBackwardNode\": false", "\"isBackwardNode\": \"no\""), 4, "/nodes/1/isBackwardNode: expected true"},
    {changed("\"colorClass\": null", "\"colorClass\": 0.5"), 4, "/nodes/1/colorClass: expected a whole number"},
    {changed("\"destId\": -3", "\"destId\": 4"), 7, "/edges/0/destId: there is no node with the id 4"},
    {changed("\"destId\": -3", "\"destId\": 7"), 7, "/edges/0: goes from node 7 to itself"},
    {changed("\"cost\": 0.5}", "\"cost\": 0.25}"), 8,
     "/edges/1/cost: node 7 has one output, but its cost here is 0.25"},
    {changed("\"cost\": 0.5,", "\"cost\": -1,"), 7, "/edges/0/cost: expected a number that is not negative"},
    {changed("\"sourceId\": -3, \"destId\": 9, \"cost\": 0}", "\"sourceId\": 7, \"destId\": 9, \"cost\": 0.5}"), 9,
     "/edges/2: is the same as /edges/1"},
    {changed("\"sourceId\": -3, \"destId\": 9", "\"sourceId\": -3, \"destId\": 7"), 3,
     "/nodes/0: the graph has a cycle: 7 -> -3 -> 7"},
    {changed("\"edges\": [", "\"edges\": {},\n\"nodes\": ["), 7, "the key \"nodes\" is given twice"},
    {changed("\"edges\": [", "\"vertices\": ["), 6, "/vertices: unknown key"},
  };
  for (const auto& w : all) {
    const auto e = weft_test::parse_error_of([&] { (void)read(w.text); });
    const std::string what = e.what();
    CAPTURE(w.phrase);
    CAPTURE(what);
    CHECK(what.find("x.json:" + std::to_string(w.line) + ": ") == 0);
    CHECK(what.find(w.phrase) != std::string::npos);
    CHECK(what.find('\n') == std::string::npos);
  }
}

TEST_CASE("dnn_partitioning: no prefix of a file is accepted") {
  for (std::size_t length = 0; length < sample.size(); ++length) {
    CHECK_THROWS_AS((void)read(sample.substr(0, length)), parse_error);
  }
}

TEST_CASE("dnn_partitioning: damaged files are read or refused, and nothing else happens") {
  rng random{11};
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto text = weft_test::damaged(random, sample);
    try {
      const auto x = read(text);
      (void)read(write(x));
    } catch (const parse_error& e) {
      ++refused;
      REQUIRE(std::string{e.what()}.find('\n') == std::string::npos);
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("dnn_partitioning: files are told apart by their settings") {
  CHECK(io::is_dnn_partitioning(sample));
  CHECK(!io::is_dnn_partitioning(R"({"format": "weft.workload", "version": 1})"));
  CHECK(!io::is_dnn_partitioning(""));
}

TEST_CASE("dnn_partitioning: a file that is not there") {
  CHECK_THROWS_AS((void)io::read_dnn_partitioning(std::filesystem::path{"/no/such/file.json"}), error);
}

} // namespace io_dnn_partitioning_test
