// SPDX-License-Identifier: BSL-1.0
// Graphs that TensorFlow itself has written.
#include <doctest/doctest.h>

#ifdef WEFT_REFERENCE_DATA
#include "weft/interop/tensorflow.hpp"

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>
#endif

namespace interop_tensorflow_reference_test {

#ifdef WEFT_REFERENCE_DATA
using namespace weft;

/// Row of reference/input_stats.csv: nodes, and edges as pairs of nodes.
struct counts {
  std::size_t nodes = 0;
  std::size_t edges = 0;
};
counts counts_of(const std::string& file) {
  std::istringstream in{[] {
    auto stream = io::open_for_reading(std::filesystem::path{WEFT_REFERENCE_DATA} / "reference/input_stats.csv");
    return io::read_all(stream, "input_stats.csv");
  }()};
  for (std::string line; std::getline(in, line);) {
    const auto fields = io::split(line, ',');
    if (fields[0] == "data/tensorflow/" + file) {
      return {std::stoul(std::string{fields[1]}), std::stoul(std::string{fields[3]})};
    }
  }
  return {};
}
std::string bytes_of(const std::string& file) {
  auto in = io::open_for_reading(std::filesystem::path{WEFT_REFERENCE_DATA} / "data/tensorflow" / file);
  return io::read_all(in, file);
}

TEST_CASE(
  "golden: TensorFlow's own graphs have as many nodes and edges as they should, and placements change nothing else") {
  for (const std::string file :
       {"convolutional_network.pbtxt", "mnist_convolution.pbtxt", "tensorboard_demo_graph.pbtxt"}) {
    CAPTURE(file);
    const auto text = bytes_of(file);
    tensorflow::reader reader{.fetch = {"*"}};
    if (file != "tensorboard_demo_graph.pbtxt") { // it says all extents
      reader.batch = 50;
    }
    const auto m = reader.read(text, file);
    CHECK(m.ops.num_ops() == counts_of(file).nodes);
    CHECK(m.ops.num_edges() == counts_of(file).edges);
    CHECK(m.ops.num_groups() > 0);
    for (const auto& n : m.notes) {
      CHECK(n.find("unknown shape") == n.npos);
      CHECK(n.find("without a formula") == n.npos);
    }
    const auto encoded = tensorflow::from_text(text, tensorflow::schema::message_id::graph_def, file);
    CHECK(reader.read(encoded, file).ops.num_edges() == m.ops.num_edges());

    const std::vector<std::string> names{"/device:CPU:0", "/device:GPU:0"};
    std::vector<device_id> placement(m.ops.num_ops(), 1);
    std::ostringstream placed;
    tensorflow::write_placed(placed, text, m.ops, placement, names);
    const auto without_devices = [](std::string_view bytes) {
      std::string result;
      for (const auto& f : tensorflow::wire::fields{bytes}) {
        if (f.number == 1) {
          std::string node;
          for (const auto& part : tensorflow::wire::fields{f.bytes}) {
            node += part.number == 4 ? std::string_view{} : part.whole;
          }
          tensorflow::wire::put(result, 1, std::string_view{node});
        } else {
          result += f.whole;
        }
      }
      return result;
    };
    const auto again = tensorflow::from_text(placed.str(), tensorflow::schema::message_id::graph_def, file);
    CHECK(without_devices(again) == without_devices(encoded));
    const auto g = tensorflow::graph::of_graph_def(again);
    for (op_id v = 0; v < g.num_nodes(); ++v) {
      CHECK(g[v].device == "/device:GPU:0");
    }
  }
}

TEST_CASE("golden: work and memory of the MNIST network are those of its layers") {
  const auto w = tensorflow::reader{.batch = 50}.read(bytes_of("mnist_convolution.pbtxt"), "mnist").ops;
  double products = 0;
  byte_count state = 0;
  for (const op_id v : ids(w.num_ops())) {
    products += w.type(v).starts_with("Conv2D") || w.type(v) == "MatMul" ? w.work(v) : 0;
    state += w.resident_bytes(v);
  }
  const double forward = 2.0 * 50 * (28 * 28 * 25 * 32 + 14 * 14 * 25 * 32 * 64 + 3136 * 1024 + 1024 * 10);
  CHECK(products == doctest::Approx(3 * forward)); // forward, and two gradients of the same work each
  CHECK(state == 4 * (3 * (25 * 32 + 32 + 25 * 32 * 64 + 64 + 3136 * 1024 + 1024 + 1024 * 10 + 10) + 2));
}

TEST_CASE("golden: a cost graph alone, and its times in the graph that it belongs to") {
  const std::string file = "convolutional_network.cost.pbtxt";
  const auto text = bytes_of(file);
  const auto m = tensorflow::reader{}.read(text, file);
  CHECK(m.ops.num_ops() == counts_of(file).nodes);
  CHECK(m.ops.num_edges() == counts_of(file).edges);
  CHECK(m.measured_on == device_kind::cpu);
  double total = 0;
  for (const double s : m.seconds) {
    total += s;
  }
  CHECK(total == doctest::Approx(0.654405));
  const auto costs = tensorflow::read_costs(text, file);
  const auto timed =
    tensorflow::reader{.batch = 50, .costs = costs}.read(bytes_of("convolutional_network.pbtxt"), "net");
  REQUIRE(timed.seconds.size() == timed.ops.num_ops());
  const auto matched = std::ranges::count_if(timed.seconds, [](double s) { return s == s; });
  CHECK(matched > 150);
}

#else
TEST_CASE("golden: TensorFlow's own graphs") { MESSAGE("skipped: WEFT_REFERENCE_DATA is not set"); }
#endif

} // namespace interop_tensorflow_reference_test
