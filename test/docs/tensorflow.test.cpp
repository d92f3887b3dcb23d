// SPDX-License-Identifier: BSL-1.0
// The code of docs/tensorflow.md, each piece between two lines with its name.
#include "weft/interop/tensorflow.hpp"
#include "weft/all.hpp"
#include "weft/models.hpp"
#include "weft/networks.hpp"
#include "weft/io/files.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

namespace docs_tensorflow_test {

// [place]
/// Decides where the nodes of a graph run on a DGX A100 and writes that into the graph.
void place(std::istream& in, std::ostream& out, std::uint64_t batch) {
  const std::string bytes = weft::io::read_all(in, "graph.pb");
  const weft::model m = weft::tensorflow::reader{.batch = batch}.read(bytes, "graph.pb");
  const auto machine = weft::presets::dgx_a100();
  const auto solve = weft::pipeline(weft::partition::heft{}, weft::schedule::static_order{});
  const auto result = solve(weft::problem{m.ops, machine, weft::cost::roofline{}});
  if (!result) {
    throw weft::error("graph.pb: " + to_string(result.reason.value())); // such as the op that fits nowhere
  }
  weft::tensorflow::write_placed(out, bytes, m.ops, result.plan.placement,
                                 weft::tensorflow::device_names(machine));
}
// [place]

const std::string graph = R"(
node {
  name: "x"
  op: "Placeholder"
  attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: -1 } dim { size: 784 } } } }
}
node {
  name: "y"
  op: "Softmax"
  input: "x"
  attr { key: "T" value { type: DT_FLOAT } }
}
versions { producer: 27 }
)";

TEST_CASE("docs: a graph is placed and written") {
  std::istringstream in{graph};
  std::ostringstream out;
  place(in, out, 32);
  CHECK(out.str().find("  input: \"x\"\n  device: \"/device:") != std::string::npos);
}

// [options]
/// Reads a graph whose input `x` has no shape, with the times of a run.
weft::model read_with_times(const std::string& graph_bytes, const std::string& run_bytes) {
  const weft::tensorflow::reader reader{.shapes = {{"x", {32, 784}}},
                                        .costs = weft::tensorflow::read_costs(run_bytes, "run.pb")};
  return reader.read(graph_bytes, "graph.pb");
}

/// A cost model that takes measured times where there are some, and estimates the rest.
template <class Platform>
auto costs_of(const weft::model& m, const Platform& machine) {
  weft::cost::measured costs{weft::cost::roofline{}, machine};
  costs.add(m.measured_on, m.seconds);
  return costs;
}
// [options]

TEST_CASE("docs: shapes and times are given") {
  const auto m = read_with_times(graph, "node { name: 'y' device: '/gpu:0' id: 1 compute_cost: 7 }");
  CHECK(m.seconds[1] == doctest::Approx(7e-6));
  const auto machine = weft::presets::dgx_a100();
  const weft::problem p{m.ops, machine, costs_of(m, machine)};
  CHECK(p.num_ops() == 2);
}

// [saved_model]
/// What a SavedModel computes for training, with loops of 50 steps where the file does not tell their number.
weft::model read_training(const std::string& bytes) {
  const weft::tensorflow::reader reader{.batch = 32, .signature = "train", .trips = {{"*", 50}}};
  return reader.read(bytes, "saved_model.pb");
}
// [saved_model]

TEST_CASE("docs: a SavedModel is read by a signature") {
  const auto m =
    read_training("saved_model_schema_version: 1 meta_graphs { graph_def { node { name: 'a' op: 'Placeholder' "
                  "attr { key: 'dtype' value { type: DT_FLOAT } } "
                  "attr { key: 'shape' value { shape { dim { size: -1 } } } } } } "
                  "signature_def { key: 'train' value { outputs { key: 'o' value { name: 'a:0' } } } } }");
  CHECK(m.ops.num_ops() == 1);
}

// [network]
/// Writes the training step of a bundled network as a GraphDef.
void write_training_step(std::ostream& out, std::string_view name) {
  weft::nn::network net;
  const auto task = weft::zoo::define(net, name);
  const auto step = weft::training_step_with_origins(net, task.objectives, task.options);
  weft::tensorflow::write_network(out, net, step, {.text = true});
}
// [network]

TEST_CASE("docs: a network is written") {
  std::ostringstream out;
  write_training_step(out, "mnist_conv@2");
  CHECK(weft::tensorflow::reader{}.read(out.str(), "graph.pbtxt").ops.num_ops() == 181);
}

} // namespace docs_tensorflow_test
