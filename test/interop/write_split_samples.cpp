// SPDX-License-Identifier: BSL-1.0
/// Writes models and their stages for run_split.js: `write_split_samples FOLDER` makes a folder per model and placement
/// in FOLDER, with the manifest, which names the whole model by its path from there.
#include "interop/onnx_split_models.hpp"

#include "weft/io/files.hpp"

#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

namespace {

using path = std::filesystem::path;

void write(const path& file, const std::string& bytes) {
  weft::io::write_file(file,
                       [&](std::ostream& out) { out.write(bytes.data(), static_cast<std::streamsize>(bytes.size())); });
}

/// `whole` is where the model is, seen from the new folder, and `prefix` where its data is.
void write_stages(const path& folder, const std::string& bytes, const weft::placement& p, const std::string& whole,
                  const std::string& prefix = {}) {
  std::filesystem::create_directories(folder);
  const weft::onnx::split_model cut{bytes, p};
  const std::vector<std::string> devices{"a", "b", "c", "d"};
  std::vector<std::string> files;
  for (std::uint32_t k = 0; k < cut.stages().size(); ++k) {
    files.push_back("stage_" + std::to_string(k) + ".onnx");
    write(folder / files.back(), cut.piece(k, devices, prefix));
  }
  weft::io::write_file(folder / "manifest.json", [&](std::ostream& out) {
    weft::onnx::write_manifest(out, cut, {.model = whole, .devices = devices, .files = files});
  });
}

/// A model with its weights in a file beside it, in a folder of its own; the stages are in the folder around.
void write_with_external_data(const path& folder) {
  weft_test::onnx_model m;
  m.input("x", {3, 4}).output("y", {3, 4});
  for (const char* name : {"w1", "w2"}) {
    auto& t = *m.m.mutable_graph()->add_initializer();
    t.set_name(name);
    t.set_data_type(::onnx::TensorProto::FLOAT);
    t.add_dims(4);
    t.add_dims(4);
    t.set_data_location(::onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : {std::pair{"location", "weights.bin"},
                                     std::pair{"offset", name[1] == '1' ? "0" : "64"},
                                     std::pair{"length", "64"}}) {
      auto& entry = *t.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
  }
  m.node("MatMul", {"x", "w1"}, {"a"});
  m.node("Relu", {"a"}, {"b"});
  m.node("MatMul", {"b", "w2"}, {"y"});
  std::filesystem::create_directories(folder / "inside");
  write(folder / "inside" / "whole.onnx", m.bytes());
  write(folder / "inside" / "weights.bin", weft_test::weights_maker{8}.bytes(32));
  write_stages(folder, m.bytes(), {0, 1, 0}, "inside/whole.onnx", "inside/");
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_split_samples FOLDER\n";
    return 2;
  }
  const path folder{argv[1]};
  std::filesystem::remove_all(folder);
  for (const auto& sample : weft_test::split_samples()) {
    if (!sample.tensors_only) { // which onnxruntime-node does not take
      continue;
    }
    const auto bytes = sample.model.bytes();
    std::filesystem::create_directories(folder);
    write(folder / (sample.name + ".onnx"), bytes);
    for (const std::uint32_t k : {2u, 3u, 4u}) {
      const auto n = static_cast<std::size_t>(sample.model.m.graph().node_size());
      for (const auto& [how, p] : weft_test::split_placements(n, k, k)) {
        write_stages(folder / (sample.name + "-" + how + "-" + std::to_string(k)), bytes, p,
                     "../" + sample.name + ".onnx");
      }
    }
  }
  write_with_external_data(folder / "external_data");
#ifdef WEFT_REFERENCE_DATA
  for (const auto& file : std::filesystem::directory_iterator{path{WEFT_REFERENCE_DATA} / "data" / "onnx"}) {
    if (file.path().extension() != ".onnx") {
      continue;
    }
    const auto bytes = weft::io::read_file(file.path());
    ::onnx::ModelProto m;
    m.ParseFromString(bytes);
    for (const std::uint32_t k : {2u, 3u, 4u}) {
      write_stages(folder / (file.path().stem().string() + "-" + std::to_string(k)), bytes,
                   weft_test::blocks_of(m.graph(), k), file.path().string());
    }
  }
#endif
}
