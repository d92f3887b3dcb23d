// SPDX-License-Identifier: BSL-1.0
#include "weft/io/piper.hpp"

#include "weft/parallel/choose_stages.hpp"

#include "parallel/staged.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>

namespace io_piper_test {

using namespace weft;

/// A small file, in which a test can replace a part.
std::string text(std::string_view part = "", std::string_view other = "") {
  std::string all = R"({
"maxDevices": 4, "maxMemoryPerDevice": 100.0, "bandwidth": 10.0, "mbsInBatch": 6,
"nodes": [
{"id": 7, "name": "second", "TMPCs": {"1": [
  {"id": "vanilla", "timePerSample": 2.0, "parameterSize": 3, "memoryUsageA": 4, "memoryUsageB": 5,
   "syncTimeFw": {"3": 6}, "syncTimeBw": {}}]}},
{"id": 3, "TMPCs": {"1": [], "2": [
  {"id": "recomputed", "timePerSample": 1, "parameterSize": 1, "memoryUsageA": 0, "memoryUsageB": 0,
   "syncTimeFw": {}, "syncTimeBw": {"7": 9}}]}}],
"edges": [{"sourceId": 3, "destId": 7, "communicationCost": 8.0}]})";
  if (!part.empty()) {
    const auto at = all.find(part);
    REQUIRE(at != all.npos);
    all.replace(at, part.size(), other);
  }
  return all;
}

parallel::stage_problem read(const std::string& file) {
  std::istringstream in{file};
  return io::read_piper(in, "p.json");
}

std::string refusal(std::string_view part, std::string_view other) {
  try {
    static_cast<void>(read(text(part, other)));
  } catch (const parse_error& e) {
    CHECK(e.file == "p.json");
    return e.what();
  }
  return "";
}

TEST_CASE("read_piper: layers in the order of the file, edges by their place") {
  const auto p = read(text());
  CHECK(p.num_devices == 4);
  CHECK(p.memory_bytes == 100);
  CHECK(p.bandwidth == 10);
  CHECK(p.micro_batches == 6);
  REQUIRE(p.layers.size() == 2);
  CHECK(p.layers[0].name == "second");
  REQUIRE(p.layers[0].variants.size() == 1);
  const auto& x = p.layers[0].variants[0];
  CHECK(x.name == "vanilla");
  CHECK(x.tensor_degree == 1);
  CHECK(x.seconds == 2);
  CHECK(x.parameter_bytes == 3);
  CHECK(x.bytes_per_micro_batch == 4);
  CHECK(x.fixed_bytes == 5);
  CHECK(x.input_bytes == std::vector<double>{6});
  CHECK(x.output_bytes.empty());
  REQUIRE(p.layers[1].variants.size() == 1);
  CHECK(p.layers[1].variants[0].tensor_degree == 2);
  CHECK(p.layers[1].variants[0].output_bytes == std::vector<double>{9});
  REQUIRE(p.edges.size() == 1);
  CHECK(p.edges[0].from == 1);
  CHECK(p.edges[0].to == 0);
  CHECK(p.edges[0].bytes == 8);
}

TEST_CASE("read_piper: says what is wrong, where, and what it should be") {
  CHECK(refusal("\"mbsInBatch\": 6", "\"mbsInBatch\": 0") ==
        "p.json:2: /mbsInBatch: expected a whole number from 1 to 4294967294, found 0");
  CHECK(refusal("\"bandwidth\": 10.0, ", "") == "p.json:1: the key 'bandwidth' is missing");
  CHECK(refusal("{\"id\": 3, \"TMPCs", "{\"id\": 7, \"TMPCs") ==
        "p.json:7: /nodes/1/id: another layer has the id 7; ids must differ");
  CHECK(refusal("\"destId\": 7", "\"destId\": 8") ==
        "p.json:10: /edges/0/destId: no layer has the id 8; it must be one of those in 'nodes'");
  CHECK(refusal("8.0}]", "8.0}, {\"sourceId\": 7, \"destId\": 3, \"communicationCost\": 1}]") ==
        "p.json:10: /edges: with layers counted from 0, the graph has a cycle: 0 -> 1 -> 0; a dataflow graph must be "
        "acyclic (unroll loops first)");
  CHECK(refusal("8.0}]", "8.0}, {\"sourceId\": 3, \"destId\": 7, \"communicationCost\": 1}]") ==
        "p.json:10: /edges/1: there is an edge between these layers already; add up their costs");
  CHECK(refusal("\"2\": [", "\"two\": [") ==
        "p.json:7: /nodes/1/TMPCs/two: the key must be how many devices share the layer, such as \"2\"");
  CHECK(refusal("\"7\": 9", "\"6\": 9") == "p.json:9: /nodes/1/TMPCs/2/0/syncTimeBw/6: no edge leads to or from layer "
                                           "'6' here; the keys are those of 'edges'");
  CHECK(refusal("{\"3\": 6}", "{}") == "p.json:6: /nodes/0/TMPCs/1/0/syncTimeFw: the edge to or from layer 3 is "
                                       "missing; every edge needs its bytes, or 0");
  CHECK(refusal("\"memoryUsageB\": 5", "\"memoryUsageB\": -5") ==
        "p.json:5: /nodes/0/TMPCs/1/0/memoryUsageB: expected a number that is not negative, found -5");
}

#ifdef WEFT_REFERENCE_DATA
TEST_CASE("golden: Piper's times per sample of BERT") {
  const auto file = std::filesystem::path{WEFT_REFERENCE_DATA} / "data/piper/bert32a100.json";
  constexpr double gib = 1024.0 * 1024.0 * 1024.0;
  struct published {
    std::uint32_t devices;
    double memory, seconds, last_digit;
  };
  for (const auto& [devices, memory, seconds, last_digit] :
       {published{8, 8, 0.16586, 1e-5}, {32, 8, 0.041515, 1e-6}, {128, 8, 0.010121, 1e-6}, {512, 8, 0.0025611, 1e-7},
        {8, 80, 0.12201, 1e-5}, {32, 80, 0.030844, 1e-6}, {128, 80, 0.0080532, 1e-7}, {512, 80, 0.0022725, 1e-7}}) {
    auto p = io::read_piper(file);
    p.num_devices = devices;
    p.memory_bytes = memory * gib;
    p.bandwidth = 25 * gib; // in what was published
    const auto r = parallel::choose_stages(p);
    CAPTURE(devices);
    CAPTURE(memory);
    REQUIRE(r.has_plan());
    CHECK(r.optimal);
    const double judged = test::seconds_by_definition(p, r.plan);
    CHECK(judged == doctest::Approx(r.value.seconds));
    CHECK(judged <= seconds + last_digit / 2);
    CHECK(r.bound >= seconds - last_digit / 2); // so Piper's greedy knapsacks lose nothing here
  }
}
#else
TEST_CASE("golden: Piper's times per sample of BERT") { MESSAGE("skipped: WEFT_REFERENCE_DATA is not set"); }
#endif

} // namespace io_piper_test
