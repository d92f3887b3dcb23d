// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#include "weft/graph/adjacency.hpp"
#include "weft/io/dot.hpp"
#include "weft/workload/annotated_graph.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace io_dot_test {

namespace io = weft::io;
using weft_test::text_of;

weft::workload small() {
  weft::workload_builder b;
  b.add_op({.bytes = 1536, .name = "a \"b\" \\n", .type = "Mat\nMul"});
  b.add_op({.bytes = 3});
  b.add_op({});
  b.add_edge(0, 1);
  b.add_edge(1, 2);
  b.add_control_edge(0, 2);
  return std::move(b).build();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("dot: ops, edges, sizes and control edges; names are escaped") {
  const auto text = text_of([](std::ostream& out) { io::write_dot(out, small(), {.weights = false}); });
  CHECK(has(text, "digraph \"workload\" {\n"));
  CHECK(has(text, R"(n0 [label="a \"b\" \\n\nMat\nMul"];)"));
  CHECK(has(text, "n1 [label=\"1\"];"));
  CHECK(has(text, "n0 -> n1 [label=\"1.5 KiB\"];"));
  CHECK(has(text, "n1 -> n2 [label=\"3 B\"];"));
  CHECK(has(text, "n0 -> n2 [style=dashed];"));
  CHECK_FALSE(has(text, "fillcolor=\""));
  const auto plain =
    text_of([](std::ostream& out) { io::write_dot(out, small(), {.bytes = false, .name = "g \"1\""}); });
  CHECK(has(plain, "digraph \"g \\\"1\\\"\" {\n"));
  CHECK(has(plain, "n0 -> n1;\n"));
}

TEST_CASE("dot: weights are attributes that Graphviz does not look at") {
  const auto text = text_of([](std::ostream& out) { io::write_dot(out, small()); });
  CHECK(has(text,
            R"(n0 [label="a \"b\" \\n\nMat\nMul", work="0", name="a \"b\" \\n", type="Mat\nMul", outputs="1536 0"];)"));
  CHECK(has(text, R"(n1 [label="1", work="0", name="", outputs="3"];)"));
  CHECK(has(text, "n0 -> n2 [style=dashed, tensor=1];"));
}

TEST_CASE("dot: a placement colours ops by device and boxes them on request") {
  const std::vector<weft::device_id> placed{7, weft::none, 7};
  const std::vector<weft::device_id> apart{7, 1, 7};
  const auto text = text_of([&](std::ostream& out) { io::write_dot(out, small(), {}, placed); });
  const auto color = [&](const std::string& node) {
    const auto at = text.find("fillcolor=\"", text.find("  " + node + " ["));
    return text.substr(at, text.find('"', at + 11) - at);
  };
  CHECK(color("n0") == color("n2"));
  CHECK(has(text, "tooltip=\"device 7\""));
  CHECK_FALSE(has(text, "cluster"));
  CHECK(has(text, "n0 -> n1 [label=\"1.5 KiB\"];"));
  CHECK(has(text, "n0 -> n2 [style=dashed, tensor=1];"));
  CHECK(has(text_of([&](std::ostream& out) { io::write_dot(out, small(), {}, apart); }),
            "n0 -> n1 [style=bold, label=\"1.5 KiB\"];"));
  const auto boxes = text_of([&](std::ostream& out) { io::write_dot(out, small(), {.cluster = true}, placed); });
  const auto box = boxes.find("  subgraph cluster_7 {\n    label=\"device 7\";\n    n0 [");
  CHECK(box != std::string::npos);
  CHECK(boxes.find("\n    n2 [", box) < boxes.find("\n  }\n", box));
  CHECK(boxes.find("\n  n1 [") > boxes.find("\n  }\n", box));
  CHECK_THROWS_WITH_AS(
    (void)text_of([&](std::ostream& out) { io::write_dot(out, small(), {}, std::vector<weft::device_id>{1}); }),
    "placement: has 1 entries for a workload of 3 ops", weft::value_error);
}

TEST_CASE("dot: draws any type of workload") {
  const std::vector<std::vector<weft::op_id>> g{{1}, {}};
  const std::vector<double> work{1, 2};
  const weft::annotated_graph w{g, {.work = work}};
  CHECK(has(text_of([&](std::ostream& out) { io::write_dot(out, w); }), "n0 -> n1 [style=dashed];"));
}

} // namespace io_dot_test
