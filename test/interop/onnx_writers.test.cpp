// SPDX-License-Identifier: BSL-1.0
#include "interop/onnx_models.hpp"
#include "io/support.hpp"
#include "support/rounds.hpp"
#include "weft/interop/onnx.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

namespace interop_onnx_writers_test {

using namespace weft;
using weft_test::onnx_model;

/// The model with a placement on gpu0 and cpu.
std::string placed(const std::string& bytes, const placement& p) {
  std::ostringstream out;
  weft::onnx::write_placed(out, bytes, p, std::vector<std::string>{"gpu0", "cpu"});
  return out.str();
}

onnx_model two_nodes() {
  onnx_model m;
  m.input("x", {2}).output("z", {2});
  m.node("Relu", {"x"}, {"y"}).set_name("a");
  m.node("Neg", {"y"}, {"z"}).set_name("b");
  return m;
}

/// A model without what a test does not need: only nodes, and the version.
std::string golden(const std::string& first, const std::string& second, const std::string& tail) {
  const auto node = [](const char* in, const char* out, const char* type, const std::string& more) {
    return io::protobuf::message(1, in, 2, out, 4, type) + more;
  };
  const auto graph = io::protobuf::message(1, node("x", "y", "Relu", first), 1, node("y", "z", "Neg", second));
  return "\x08\x08" + io::protobuf::message(7, graph) + tail;
}

TEST_CASE("onnx write_placed: devices are metadata of nodes and of the model, byte by byte") {
  // Field 9 of a node: an entry with key 1 and value 2; field 14 of the model: likewise.
  const std::string on_gpu = std::string{"\x4a\x13\x0a\x0bweft.device\x12\x04gpu0"};
  const std::string on_cpu = std::string{"\x4a\x12\x0a\x0bweft.device\x12\x03"} + "cpu";
  const std::string devices = std::string{"\x72\x1e\x0a\x0cweft.devices\x12\x0e[\"gpu0\",\"cpu\"]"};
  const std::string places = std::string{"\x72\x17\x0a\x0eweft.placement\x12\x05[0,1]"};
  CHECK(placed(golden("", "", ""), {0, 1}) == golden(on_gpu, on_cpu, devices + places));
  CHECK(placed(golden("", "", ""), {none, 0}).find("[null,0]") != std::string::npos);
}

TEST_CASE("onnx write_placed: nothing else changes, placing again replaces, the checker accepts it") {
  auto m = two_nodes();
  m.m.add_metadata_props()->set_key("author");
  m.m.mutable_graph()->mutable_node(0)->set_doc_string("kept");
  const auto bytes = m.bytes();
  const auto once = placed(bytes, {0, 1});
  CHECK(placed(once, {0, 1}) == once);
  CHECK(placed(placed(bytes, {1, none}), {0, 1}) == once);
  ::onnx::ModelProto read;
  REQUIRE(read.ParseFromString(once));
  CHECK_NOTHROW(::onnx::checker::check_model(read));
  REQUIRE(read.metadata_props_size() == 3);
  CHECK(read.metadata_props(0).key() == "author");
  CHECK(read.metadata_props(2).value() == "[0,1]");
  // Without what was added, the model is the old one.
  read.mutable_metadata_props()->DeleteSubrange(1, 2);
  for (auto& n : *read.mutable_graph()->mutable_node()) {
    n.DiscardUnknownFields();
  }
  CHECK(read.SerializeAsString() == bytes);
  CHECK(weft_test::same(weft::onnx::reader{}.read(once, "f").ops, m.read().ops));
}

TEST_CASE("onnx write_placed: what does not fit is refused, and nothing is written") {
  const auto bytes = two_nodes().bytes();
  CHECK_THROWS_AS(placed(bytes, {0}), value_error);
  CHECK_THROWS_AS(placed(bytes, {0, 1, 1}), value_error);
  CHECK_THROWS_AS(placed(bytes, {0, 2}), value_error);
  CHECK_THROWS_AS(placed("nothing", {}), parse_error);
  std::ostringstream out;
  CHECK_THROWS_AS(weft::onnx::write_placed(out, bytes.substr(0, 20), {0, 1}, std::vector<std::string>{"a", "b"}),
                  parse_error);
  CHECK(out.str().empty());
}

TEST_CASE("onnx write_network: every bundled network reads back as the same workload, and the checker accepts it") {
  for (const auto& e : zoo::entries) {
    for (const bool bookkeeping : {true, false}) {
      CAPTURE(e.name);
      CAPTURE(bookkeeping);
      nn::network net{{.bookkeeping = bookkeeping}};
      const auto task = zoo::define(net, std::string{e.name});
      const auto built = training_step_with_origins(net, task.objectives, task.options);
      if (built.graph.num_ops() > (test::are_all_rounds ? 13'000 : 3000)) {
        continue; // the same ops as in smaller ones, and more of them than the test has time for
      }
      std::ostringstream out;
      weft::onnx::write_network(out, net, built);
      const auto m = weft::onnx::reader{}.read(out.str(), "net.onnx");
      CHECK(m.notes.empty());
      CHECK(weft_test::same(m.ops, built.graph));
      ::onnx::ModelProto proto;
      REQUIRE(proto.ParseFromString(out.str()));
      CHECK_NOTHROW(::onnx::checker::check_model(proto));
    }
  }
}

TEST_CASE("onnx write_network: ops that ONNX has are its own, others are weft's") {
  nn::network net{{.bookkeeping = false}};
  const auto x = net.data("Const", "x", {{8, 3}});
  const auto w = net.make_variable("w", {3, 5});
  const auto square = net.data("Const", "square", {{5, 5}});
  const auto b = net.data("Const", "b", {{5}});
  const auto y = nn::relu(nn::matmul(x, w));
  const auto z = nn::matmul(y, square) + b;
  std::ostringstream out;
  const std::vector<op_id> roots{z.op()};
  weft::onnx::write_network(out, net, roots);
  ::onnx::ModelProto m;
  REQUIRE(m.ParseFromString(out.str()));
  std::string domains;
  for (const auto& n : m.graph().node()) {
    domains += n.op_type() + (n.domain().empty() ? " " : "@" + n.domain() + " ");
  }
  // Of a product with a square matrix one cannot tell whether that is transposed.
  CHECK(domains == "Const@ai.weft VariableV2@ai.weft Identity@ai.weft Const@ai.weft Const@ai.weft MatMul Relu "
                   "MatMul@ai.weft Add ");
  CHECK(m.graph().output_size() == 1);
  CHECK(weft_test::same(weft::onnx::reader{}.read(out.str(), "f").ops, net.build(roots)));
}

TEST_CASE("onnx: damaged attributes of weft's ops get one line") {
  onnx_model m;
  m.input("x", {2}).declared("y", {2});
  auto& n = m.node("Thing", {"x"}, {"y"}, "ai.weft");
  n.set_name("t");
  onnx_model::set(n, "weft_work", std::string{"12"});
  CHECK(m.read().ops.work(0) == 12);
  n.mutable_attribute(0)->set_s("-1");
  CHECK(weft_test::refusal([&] { return m.read(); }) ==
        "test.onnx: node 't': weft_work is '-1', not a number that is not negative");
  n.clear_attribute();
  onnx_model::set(n, "weft_resident_bytes", -4);
  CHECK(weft_test::refusal([&] { return m.read(); }) == "test.onnx: node 0 't': weft_resident_bytes is negative");
  n.clear_attribute();
  onnx_model::set(n, "weft_kinds", std::string{"gpu|toaster"});
  CHECK(weft_test::refusal([&] { return m.read(); }).find("'toaster', no kind of device") != std::string::npos);
}

} // namespace interop_onnx_writers_test
