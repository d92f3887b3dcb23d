// SPDX-License-Identifier: BSL-1.0
// The code of docs/onnx.md, each piece between two lines with its name.
#include "weft/interop/onnx.hpp"
#include "interop/onnx_models.hpp"
#include "weft/all.hpp"
#include "weft/models.hpp"
#include "weft/networks.hpp"
#include "weft/io/files.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
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
  if (!result) {
    throw weft::error("net.onnx: " + to_string(result.reason.value())); // such as the op that fits nowhere
  }

  std::vector<std::string> names;
  for (weft::device_id d = 0; d < machine.num_devices(); ++d) {
    names.emplace_back(machine.name(d));
  }
  weft::onnx::write_placed(out, bytes, result.plan.placement, names);
}
// [place]

// [split]
/// Writes a model per stage, and how they belong together.
void split(const std::filesystem::path& folder, std::string_view bytes, const weft::placement& where,
           const std::vector<std::string>& device_names) {
  const weft::onnx::split_model cut{bytes, where};
  std::vector<std::string> files;
  for (std::uint32_t k = 0; k < cut.stages().size(); ++k) {
    files.push_back("stage_" + std::to_string(k) + ".onnx");
    weft::io::write_file(folder / files.back(), [&](std::ostream& out) { out << cut.piece(k, device_names); });
  }
  weft::io::write_file(folder / "manifest.json", [&](std::ostream& out) {
    weft::onnx::write_manifest(out, cut, {.model = "net.onnx", .devices = device_names, .files = files});
  });
}
// [split]

TEST_CASE("docs: a model is split") {
  weft_test::onnx_model m;
  m.input("x", {1, 64}).output("z", {1, 64}).weights("w", {64, 64});
  m.node("MatMul", {"x", "w"}, {"y"});
  m.node("Relu", {"y"}, {"z"});
  const auto folder = std::filesystem::temp_directory_path() / ("weft_split_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  split(folder, m.bytes(), {0, 1}, {"cpu", "gpu"});
  CHECK(weft::onnx::read_model(folder / "stage_1.onnx").ops.num_ops() == 1);
  CHECK(weft::io::read_file(folder / "manifest.json").find("\"feeds\"") != std::string::npos);
  std::filesystem::remove_all(folder);
}

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
  using extents = weft::ops::call::extents;
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
