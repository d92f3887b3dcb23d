// SPDX-License-Identifier: BSL-1.0
// The snippets of docs/throughput.md.
#include "weft/io/dnn_partitioning.hpp"
#include "weft/platform/platform.hpp"
#include "weft/throughput/best.hpp"
#include "weft/throughput/loads.hpp"
#include "weft/throughput/lowest_latency.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

namespace docs_throughput_test {

/// A chain of six layers on two accelerators and a core.
std::string six_layers() {
  std::ostringstream text;
  text << R"({"maxSizePerFPGA": 4, "maxFPGAs": 2, "maxCPUs": 1, "nodes": [)";
  for (int v = 0; v < 6; ++v) {
    text << (v == 0 ? "" : ", ") << R"({"id": )" << v
         << R"(, "supportedOnFpga": true, "cpuLatency": 30, "fpgaLatency": 2, "size": 1})";
  }
  text << R"(], "edges": [)";
  for (int v = 0; v < 5; ++v) {
    text << (v == 0 ? "" : ", ") << R"({"sourceId": )" << v << R"(, "destId": )" << v + 1 << R"(, "cost": 0.5})";
  }
  text << "]}";
  return text.str();
}

TEST_CASE("docs: the best period of a file") {
  std::istringstream in{six_layers()};
  // [file]
  const weft::io::dnn_partitioning file = weft::io::read_dnn_partitioning(in); // times are in ms
  const auto problem = file.problem();

  weft::rng random{1};
  const auto found = weft::throughput::best{.budget = {.seconds = 2}}(problem, random);
  std::string line;
  if (found) {
    line = "one result every " + std::to_string(found->period) + " ms; no placement is below " +
           std::to_string(found->bound) + " ms";
  } else {
    line = to_string(found.error());
  }
  // [file]
  CHECK(line.find("one result every 6.5") == 0);
  REQUIRE(found);

  // [latency]
  const auto quickest = weft::throughput::lowest_latency{}(problem, random);
  const double one_sample = weft::throughput::latency(problem, found->placement);
  // [latency]
  REQUIRE(quickest);
  CHECK(quickest->latency <= one_sample);
}

TEST_CASE("docs: the period of any problem") {
  weft::workload_builder b;
  const auto x = b.add_op({.work = 8, .bytes = 6});
  const auto y = b.add_op({.work = 4});
  b.add_edge(x, y);
  const weft::workload workload = std::move(b).build();
  const weft::platform platform{std::vector<weft::device>(2, {.speed = 4}),
                                weft::uniform_links{{.latency = 0, .bandwidth = 4}}};
  // [loads]
  const weft::problem problem{workload, platform};
  const weft::placement where{0, 1};
  const auto load = weft::throughput::loads(problem, where); // 2 devices, then the links 0-0, 0-1, 1-0 and 1-1
  const double period = weft::throughput::period(problem, where);
  // [loads]
  CHECK(load == std::vector<double>{2, 1, 0, 1.5, 0, 0});
  CHECK(period == 2);
}

} // namespace docs_throughput_test
