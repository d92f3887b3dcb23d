// SPDX-License-Identifier: BSL-1.0
// The code of docs/onnx.md, each piece between two lines with its name.
#include "weft/interop/onnx.hpp"
#include "interop/onnx_models.hpp"
#include "weft/all.hpp"
#include "weft/networks.hpp"
#include "weft/io/files.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

namespace docs_onnx_test {

// [place]
/// Decides where the nodes of a model run on a DGX A100 and writes that into the model.
void place(std::istream& in, std::ostream& out, std::uint64_t batch) {
  const std::string bytes = weft::io::read_all(in, "net.onnx");
  const weft::model m = weft::onnx::reader{.batch = batch}.read(bytes, "net.onnx");
  const auto machine = weft::presets::dgx_a100();
  const auto solve = weft::pipeline(weft::partition::heft{}, weft::schedule::static_order{});
  const auto result = solve(weft::problem{m.ops, machine, weft::cost::roofline{}});

  std::vector<std::string> names;
  for (weft::device_id d = 0; d < machine.num_devices(); ++d) {
    names.emplace_back(machine.name(d));
  }
  weft::onnx::write_placed(out, bytes, result.plan.placement, names);
}
// [place]

TEST_CASE("docs: a model is placed and written") {
  weft_test::onnx_model m;
  m.input("x", {1, 64}).weights("w", {64, 64});
  m.node("MatMul", {"x", "w"}, {"y"});
  m.node("Relu", {"y"}, {"z"});
  std::istringstream in{m.bytes()};
  std::ostringstream out;
  place(in, out, 32);
  CHECK(out.str().find("weft.placement") != std::string::npos);
  CHECK(weft::onnx::reader{}.read(out.str(), "placed").ops.num_ops() == 2);
}

// [costs]
/// FLOP of a product of a 4 × 8 and an 8 × 16 matrix: 2 · 4 · 8 · 16.
double product() {
  using extents = weft::onnx::op_call::extents;
  return *weft::onnx::flop_of(
    {.type = "MatMul", .inputs = {extents{4, 8}, extents{8, 16}}, .outputs = {extents{4, 16}}});
}
// [costs]

// [network]
/// Writes the training step of a bundled network as an ONNX model.
void write_training_step(std::ostream& out, std::string_view name) {
  weft::nn::network net;
  const auto task = weft::zoo::define(net, name);
  weft::onnx::write_network(out, net, weft::training_step_with_origins(net, task.objectives, task.options));
}
// [network]

TEST_CASE("docs: costs of one op, and a network as a model") {
  CHECK(product() == 1024);
  std::ostringstream out;
  write_training_step(out, "mnist_conv");
  CHECK(weft::onnx::reader{}.read(out.str(), "mnist").ops.num_ops() == weft::zoo::make("mnist_conv").num_ops());
}

} // namespace docs_onnx_test
