// SPDX-License-Identifier: BSL-1.0
// Measured times: CostGraphDef, StepStats and RunMetadata, alone and with a graph.
#include "interop/reading.hpp"
#include "weft/interop/tensorflow.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace interop_tensorflow_costs_test {

using namespace weft;
using tensorflow::schema::message_id;

const std::string cost_graph = R"(
node { name: "_SOURCE" compute_cost: 3 }
node { name: "a" device: "/job:localhost/replica:0/task:0/cpu:0" id: 1 control_input: 0
       output_info { size: 400 } output_info { size: -1 } compute_cost: 250 }
node { name: "b" device: "/job:localhost/replica:0/task:0/gpu:0" id: 5 input_info { preceding_node: 1 preceding_port: 1 }
       input_info { preceding_node: 1 preceding_port: 1 } control_input: 1 persistent_memory_size: 64 compute_cost: -1 }
)";

std::string refusal(const std::string& text) {
  return weft_test::refusal_of([&] { return tensorflow::reader{}.read(text, "c.pbtxt"); });
}

TEST_CASE("a cost graph is a workload with times") {
  for (const auto& bytes : {cost_graph, tensorflow::from_text(cost_graph, message_id::cost_graph_def, "c")}) {
    CHECK(tensorflow::reader{}.recognises(bytes));
    const auto m = tensorflow::reader{}.read(bytes, "c.pbtxt");
    CHECK(m.format == "TensorFlow CostGraphDef");
    REQUIRE(m.ops.num_ops() == 3);
    CHECK(m.ops.num_edges() == 2);
    CHECK(m.seconds == std::vector<double>{3e-6, 250e-6, 0});
    CHECK(m.unit == work_unit::seconds);
    CHECK(m.ops.work(1) == 250e-6);
    CHECK(m.ops.kinds(0).is_all());
    CHECK(m.ops.kinds(1) == device_kind::cpu);
    CHECK(m.ops.kinds(2) == device_kind::gpu);
    CHECK(m.measured_on == (kind_set{device_kind::cpu} | device_kind::gpu));
    CHECK(m.ops.bytes(*m.ops.outputs(1).begin()) == 400);
    CHECK(m.ops.resident_bytes(2) == 64);
  }
}

TEST_CASE("cost graphs that are wrong are refused in one line") {
  for (const auto& [text, problem] : std::vector<std::pair<std::string, std::string>>{
         {"node { name: 'a' compute_cost: 1 } node { name: 'b' compute_cost: 1 }",
          "c.pbtxt: node 1 'b' has id 0, which another node has already"},
         {"node { name: 'a' id: 1 } node { name: 'a' id: 2 }", "a name that another node has"},
         {"node { id: 1 }", "c.pbtxt: node 0 '' has no name"},
         {"node { name: 'a' id: 1 control_input: 9 }", "from node id 9, but there is no such node"},
         {"node { name: 'a' id: 1 } node { name: 'b' id: 2 input_info { preceding_node: 1 } }",
          "reads output 0 of 'a', which has 0"},
         {"node { name: 'a' id: 1 control_input: 1 }", "has a cycle"}}) {
    CHECK_MESSAGE(refusal(text).find(problem) != std::string::npos, refusal(text));
  }
}

const std::string run = R"(
step_stats {
  dev_stats { device: "/job:localhost/replica:0/task:0/device:CPU:0"
    node_stats { node_name: "x" op_start_rel_micros: 2 op_end_rel_micros: 12 }
    node_stats { node_name: "fine" op_start_rel_micros: 1 op_end_rel_micros: 2 op_start_rel_nanos: 1000 op_end_rel_nanos: 1500 } }
  dev_stats { device: "/job:localhost/replica:0/task:0/device:GPU:0"
    node_stats { node_name: "y" op_start_rel_micros: 0 op_end_rel_micros: 3 } }
  dev_stats { device: "/device:GPU:0/stream:all"
    node_stats { node_name: "y:MatMul" all_end_rel_micros: 40 } node_stats { node_name: "y:MatMul" all_end_rel_micros: 20 } }
  dev_stats { device: "/device:GPU:0/stream:13" node_stats { node_name: "y:MatMul" all_end_rel_micros: 40 } }
  dev_stats { device: "/device:GPU:0/memcpy" node_stats { node_name: "edge" all_end_rel_micros: 9 } }
})";

TEST_CASE("step statistics: kernels on streams count, not their launch") {
  const auto text = run.substr(run.find("{") + 1, run.rfind("}") - run.find("{") - 1);
  for (const auto& bytes : {run, tensorflow::from_text(run, message_id::run_metadata, "r"), text,
                            tensorflow::from_text(text, message_id::step_stats, "s")}) {
    const auto c = tensorflow::read_costs(bytes, "r");
    REQUIRE(c.seconds.size() == 3);
    CHECK(c.seconds.at("x") == doctest::Approx(10e-6));
    CHECK(c.seconds.at("fine") == doctest::Approx(0.5e-6));
    CHECK(c.seconds.at("y") == doctest::Approx(60e-6));
    CHECK(c.measured_on == (kind_set{device_kind::cpu} | device_kind::gpu));
  }
}

TEST_CASE("a run's cost graph counts where it has no statistics") {
  const auto c = tensorflow::read_costs("cost_graph {" + cost_graph + "}", "r");
  CHECK(c.seconds.at("a") == doctest::Approx(250e-6));
  CHECK(c.seconds.at("b") == 0);
}

TEST_CASE("a graph takes the times of its nodes by name") {
  const auto costs = tensorflow::read_costs(cost_graph, "c");
  const auto m = tensorflow::reader{.costs = costs}.read("node { name: 'b' op: 'NoOp' } node { name: 'z' op: 'NoOp' } "
                                                         "node { name: 'a' op: 'NoOp' }", "g");
  REQUIRE(m.seconds.size() == 3);
  CHECK(m.seconds[0] == 0);
  CHECK(std::isnan(m.seconds[1]));
  CHECK(m.seconds[2] == doctest::Approx(250e-6));
  CHECK(m.notes.front() == "2 of 3 ops have a measured time (cpu|gpu); 1 measured times belong to no op of this graph");
  CHECK(tensorflow::reader{.costs = costs}.read("node { name: 'q' op: 'NoOp' }", "g").seconds.empty());
}

TEST_CASE("times count only for the batch size with which they were measured") {
  const auto shape = [](const std::string& rows) { return "shape { dim { size: " + rows + " } dim { size: 3 } }"; };
  const auto graph_of = [&](const std::string& rows) {
    return "node { name: 'x' op: 'Placeholder' attr { key: 'shape' value { " + shape(rows) +
           " } } } node { name: 'y' op: 'Relu' input: 'x' }";
  };
  const auto open = graph_of("-1");
  const auto closed = graph_of("8");
  const std::string silent = "node { name: 'y' id: 1 compute_cost: 5 output_info { size: -1 } }";
  const std::string told = "node { name: 'y' id: 1 compute_cost: 5 output_info { " + shape("8") + " } }";
  const std::string run_told = "step_stats { dev_stats { device: '/device:CPU:0' node_stats { node_name: 'y' "
                               "op_end_rel_micros: 5 output { tensor_description { " + shape("8") + " } } } } }";
  const auto outcome = [](const std::string& graph, const std::string& costs, std::uint64_t batch,
                          std::map<std::string, nn::extents, std::less<>> shapes = {}) -> std::string {
    const tensorflow::reader reader{
      .batch = batch, .shapes = std::move(shapes), .costs = tensorflow::read_costs(costs, "c")};
    model m;
    const auto refused = weft_test::refusal_of([&] { return m = reader.read(graph, "g"); });
    if (!refused.empty()) {
      return refused;
    }
    CHECK(m.seconds.at(1) == doctest::Approx(5e-6));
    const auto note = std::ranges::find_if(m.notes, [](const std::string& n) {
      return n.find("when times were measured") != n.npos || n.find("is taken to be that") != n.npos;
    });
    return note == m.notes.end() ? "taken" : *note;
  };
  const std::string other = "g: the measured times come from a run with another batch size: 'y' makes [8, 3] there "
                            "and ";
  CHECK(outcome(open, silent, 0) == "g: the graph leaves the batch size open, and the measured times do not tell with "
                                    "which one they were measured: give the batch of that run");
  CHECK(outcome(open, silent, 8) == "the measured times do not tell with which shapes they were measured: batch 8 is "
                                    "taken to be that of their run");
  CHECK(outcome(open, silent, 0, {{"x", {8, 3}}}) == "taken");
  CHECK(outcome(closed, silent, 0) == "taken");
  for (const auto& costs : {told, run_told}) {
    CHECK(outcome(open, costs, 0) == other + "[1, 3] here; give batch 8");
    CHECK(outcome(open, costs, 4) == other + "[4, 3] here; give batch 8");
    CHECK(outcome(open, costs, 8) == "taken");
    CHECK(outcome(open, costs, 0, {{"x", {8, 3}}}) == "taken");
    CHECK(outcome(open, costs, 0, {{"x", {2, 3}}}) ==
          "1 output had another shape when times were measured: 'y' makes [8, 3] there and [2, 3] here");
    CHECK(outcome(closed, costs, 0) == "taken");
  }
}

TEST_CASE("an extent that depends on data is no other batch size") {
  const std::string graph = "node { name: 'x' op: 'Placeholder' attr { key: 'shape' value { shape { dim { size: -1 } "
                            "dim { size: 3 } } } } } node { name: 'y' op: 'Relu' input: 'x' } "
                            "node { name: 'z' op: 'Relu' input: 'y' } node { name: 'w' op: 'Where' input: 'y' "
                            "attr { key: '_output_shapes' value { list { shape { dim { size: -1 } } } } } }";
  const std::string of_run =
    "node { name: 'y' id: 1 compute_cost: 5 output_info { shape { dim { size: 8 } dim { size: 3 } } } } "
    "node { name: 'z' id: 2 compute_cost: 5 output_info { shape { dim { size: 8 } dim { size: 3 } } } } "
    "node { name: 'w' id: 3 compute_cost: 5 output_info { shape { dim { size: 17 } } } }";
  const auto costs = tensorflow::read_costs(of_run, "c");
  CHECK(tensorflow::reader{.batch = 8, .costs = costs}.read(graph, "g").seconds.size() == 4);
  CHECK_THROWS_AS((tensorflow::reader{.batch = 17, .costs = costs}.read(graph, "g")), parse_error);
}

TEST_CASE("other files are no costs") {
  CHECK_THROWS_AS(tensorflow::read_costs("node { name: 'a' op: 'NoOp' }", "g"), parse_error);
  CHECK_THROWS_AS(tensorflow::read_costs("", "g"), parse_error);
  CHECK_THROWS_AS(tensorflow::read_costs("step_stats { dev_stats {", "g"), parse_error);
  CHECK_THROWS_AS(tensorflow::read_costs(std::filesystem::path{"/nowhere/at/all"}), error);
}

} // namespace interop_tensorflow_costs_test
