// SPDX-License-Identifier: BSL-1.0
#include "onnx_models.hpp"
#include "parallel/built_net.hpp"
#include "weft/interop/onnx.hpp"
#include "weft/parallel/sharded_parameters.hpp"
#include "weft/parallel/sharding.hpp"
#include "weft/parallel/split_graph.hpp"
#include "weft/platform/identical.hpp"
#include "weft/problem.hpp"
#include "weft/report/sharding_summary.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace onnx_graph_test {

using namespace weft;

std::vector<op_id> all_of(const workload& w) {
  std::vector<op_id> all(w.num_ops());
  std::iota(all.begin(), all.end(), op_id{0});
  return all;
}

TEST_CASE("onnx: ops of a network that was written are split like those of the network") {
  for (const std::string name : {"gpt2_small@2x16", "resnet50@2", "bert_base@2x16", "switch_base@2x16"}) {
    for (const bool training : {true, false}) {
      CAPTURE(name);
      CAPTURE(training);
      const test::built_net n{(training ? name : name + ":inference").c_str()};
      const auto& built = n.built;
      std::ostringstream file;
      weft::onnx::write_network(file, *n.net, built);
      const auto bytes = file.str();
      const auto m = weft::onnx::parsed_model{bytes}.read();
      REQUIRE(m.graph);
      REQUIRE(m.graph->num_ops() == built.graph.num_ops());
      const auto own = n.model();
      const auto read = parallel::make_split_model(*m.graph, m.ops, all_of(m.ops));
      CHECK(read.is_state == own.is_state);
      for (const op_id v : ids(built.graph.num_ops())) {
        CAPTURE(built.graph.name(v));
        CAPTURE(built.graph.type(v));
        const auto& a = own.axes[v];
        const auto& b = read.axes[v];
        CHECK(own.is_parameter[v] == read.is_parameter[v]);
        CHECK(a.extents == b.extents);
        CHECK(a.inputs == b.inputs);
        CHECK(a.outputs == b.outputs);
        CHECK(a.terms == b.terms);
      }
    }
  }
}

using resident = std::vector<byte_count>;

TEST_CASE("onnx: weights lie in parts along their own axes, those of inputs do not count") {
  weft_test::onnx_model m;
  m.input("x", {4096, 64}).weights("w", {64, 128}).weights("b", {128});
  m.node("MatMul", {"x", "w"}, {"y"});
  m.node("Add", {"y", "b"}, {"z"});
  m.output("z", {4096, 128});
  const auto read = m.read();
  REQUIRE(read.graph);
  const auto split = parallel::make_split_model(*read.graph, read.ops, all_of(read.ops));
  CHECK(split.axes[0].extents == std::vector<std::uint64_t>{4096, 64, 128}); // x, z and y of xz,zy->xy
  CHECK(split.axes[0].resident_parts == resident{0, 64 * 128 * 4, 64 * 128 * 4});
  CHECK(parallel::resident_part(split.axes[0], read.ops, 0, 0, 2) == 64 * 128 * 4);
  CHECK(parallel::resident_part(split.axes[0], read.ops, 0, 2, 2) == 64 * 128 * 2);
  CHECK(split.axes[1].terms.empty()); // each part would add the biases again

  const auto held = parallel::sharded_parameters(split, {2, none}, 0, 2);
  REQUIRE(held.size() == 2);
  CHECK(held[0].name == "w");
  CHECK(held[0].shape == std::vector<std::uint64_t>{64, 128});
  CHECK(held[0].spec == std::vector<std::uint32_t>{none, 0});
  CHECK(held[0].bytes == 64 * 128 * 4);
  CHECK(held[1].name == "b");
  CHECK(!held[1].is_split()); // the biases, where the sum is made
  CHECK(parallel::sharded_parameters(split, {1, none}, 0, 2)[0].spec == std::vector<std::uint32_t>{0, none});

  const auto ring = presets::identical(2);
  const parallel::sharding all{.mesh = {.axes = {{"tensor", 2}}, .devices = {0, 1}}, .parameters = held};
  const auto layers = report::sharding_by_layer(problem{read.ops, ring}, all, {});
  REQUIRE(layers.size() == 1);
  CHECK(layers[0].split == std::vector<std::string>{"w [64, 128/2]"});
  const parallel::sharding cache{.mesh = all.mesh, .parameters = {{.name = "keys", .op = 0, .bytes = 64, .spec = {0}}}};
  CHECK(report::sharding_by_layer(problem{read.ops, ring}, cache, {})[0].split[0] == "keys [64 B/2]");
}

TEST_CASE("onnx: what is made of weights alone is a weight of its own, or shows one") {
  weft_test::onnx_model m;
  m.input("x", {32, 64}).weights("w", {128, 64}).weights("flat", {128 * 32});
  m.integers("shape", {128, 32});
  auto& turned = m.node("Transpose", {"w"}, {"t"});
  weft_test::onnx_model::set(turned, "perm", weft_test::onnx_model::dims{1, 0});
  m.node("MatMul", {"x", "t"}, {"y"});
  m.node("Reshape", {"flat", "shape"}, {"v"});
  m.node("MatMul", {"y", "v"}, {"z"});
  m.output("z", {32, 32});
  const auto read = m.read();
  CHECK(read.ops.resident_bytes(0) + read.ops.resident_bytes(2) == 0);
  CHECK(read.ops.work(0) + read.ops.work(2) == 0);
  CHECK(read.ops.resident_bytes(1) == 64 * 128 * 4);
  CHECK(read.ops.resident_bytes(3) == 32 * 128 * 4);
  CHECK(read.ops.group(0) == read.ops.group(1));
  const auto split = parallel::make_split_model(*read.graph, read.ops, all_of(read.ops));
  CHECK(split.is_state == std::vector<bool>(4, false));
  REQUIRE(split.held.size() == 2);
  CHECK(split.held[0].name == "w");
  CHECK(split.held[0].shape == std::vector<std::uint64_t>{64, 128}); // as it is held
  CHECK(split.held[0].parts == std::vector<std::uint32_t>{none, 0, 1});
  CHECK(split.held[1].name == "flat");
  CHECK(split.uses.empty());
}

TEST_CASE("onnx: what only orders the nodes of a written network is no tensor, whoever reads it") {
  weft_test::onnx_model m;
  m.input("x", {8});
  m.node("Relu", {"x", "^before"}, {"y"});
  m.node("Initialise", {}, {"^before"}, "ai.weft");
  m.output("y", {8});
  const auto read = m.read();
  REQUIRE(read.graph);
  CHECK(read.graph->num_tensors() == 2);
  CHECK((*read.graph)[0].after == std::vector<op_id>{1});
  CHECK(read.ops.inputs(0).size() == 1);
  CHECK(read.ops.producer(read.ops.inputs(0)[0]) == 1);
}

TEST_CASE("onnx: nodes in any order have the same axes") {
  weft_test::onnx_model sorted, turned;
  for (auto* m : {&sorted, &turned}) {
    m->input("x", {32, 64}).weights("w", {64, 128}).weights("v", {128, 16}).output("z", {32, 16});
  }
  sorted.node("MatMul", {"x", "w"}, {"y"});
  sorted.node("MatMul", {"y", "v"}, {"z"});
  turned.node("MatMul", {"y", "v"}, {"z"});
  turned.node("MatMul", {"x", "w"}, {"y"});
  const auto a = sorted.read(), b = turned.read();
  const auto of_a = parallel::make_split_model(*a.graph, a.ops, all_of(a.ops));
  const auto of_b = parallel::make_split_model(*b.graph, b.ops, all_of(b.ops));
  for (const op_id v : {0u, 1u}) {
    CHECK(a.ops.name(v) == b.ops.name(1 - v));
    CHECK(of_a.axes[v].extents == of_b.axes[1 - v].extents);
    CHECK(of_a.axes[v].inputs == of_b.axes[1 - v].inputs);
    CHECK(of_a.axes[v].resident_parts == of_b.axes[1 - v].resident_parts);
  }
}

TEST_CASE("onnx: a parameter of several readers lies in the parts that all of them need") {
  weft_test::onnx_model m;
  m.input("ids", {8}, 7).weights("e", {1000, 64}).weights("w", {64, 64});
  m.node("Gather", {"e", "ids"}, {"h"});
  m.node("MatMul", {"h", "w"}, {"g"});
  auto& logits = m.node("Gemm", {"g", "e"}, {"y"});
  weft_test::onnx_model::set(logits, "transB", 1);
  m.output("y", {8, 1000});
  const auto read = m.read();
  REQUIRE(read.graph);
  const auto split = parallel::make_split_model(*read.graph, read.ops, all_of(read.ops));
  CHECK(split.axes[0].resident_parts == resident{1000 * 64 * 4, 1000 * 64 * 4, 0}); // words, width, the numbers
  for (const auto parts : split.axes[2].resident_parts) { // it is with the first one
    CHECK(parts == read.ops.resident_bytes(2));
  }
  REQUIRE(split.uses.size() == 1);
  const auto& x = split.uses.front();
  CHECK(x.is_met(0, 2)); // words of the table, columns of the logits
  CHECK(x.is_met(1, 1));
  CHECK(x.is_met(2, 0));
  CHECK(!x.is_met(0, 1));
  CHECK(!x.is_met(0, none));
  CHECK(split.axes[1].resident_parts == resident{0, 64 * 64 * 4, 64 * 64 * 4});
}

} // namespace onnx_graph_test
