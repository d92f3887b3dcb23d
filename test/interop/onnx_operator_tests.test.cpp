// SPDX-License-Identifier: BSL-1.0
// The models that ONNX publishes to test its operators (Debian: libonnx-testdata). What they declare of their outputs
// is taken, and found out where they are made not to declare it.
#include "weft/interop/onnx.hpp"

#include "weft/io/files.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace interop_onnx_operator_tests_test {

using namespace weft;

const std::filesystem::path folder = "/usr/share/libonnx-testdata/data/node";

/// Bytes of a declared tensor; nothing if its type or an extent is open.
std::optional<byte_count> bytes_of(const ::onnx::TypeProto& type) {
  const auto dims = weft::onnx::detail::extents_of(type);
  const auto bits = dims ? weft::ops::elements::bits(type.tensor_type().elem_type()) : std::nullopt;
  if (!bits) {
    return std::nullopt;
  }
  byte_count count = 1;
  for (const auto d : *dims) {
    count *= static_cast<byte_count>(d);
  }
  return (count * *bits + 7) / 8;
}

/// The bytes of the tensors of these names in the workload of a model, where nodes make them.
std::map<std::string, byte_count> bytes_in(const ::onnx::ModelProto& m, const workload& w) {
  std::map<std::string, byte_count> found;
  for (const op_id v : ids(w.num_ops())) {
    auto tensor = *w.outputs(v).begin();
    for (const auto& name : m.graph().node(static_cast<int>(v)).output()) {
      if (!name.empty()) {
        found[name] = w.bytes(tensor++);
      }
    }
  }
  return found;
}

bool scales(const std::string& type) { return type == "Resize" || type == "Upsample"; }

/// Ops of which nobody knows how much they give before they have run.
bool depends_on_data(const std::string& type) {
  return type == "Compress" || type == "NonMaxSuppression" || type == "NonZero" || type == "Unique";
}

/// The model without what it says of its outputs; whole numbers, and by how much it scales, it holds as parameters.
::onnx::ModelProto without_declarations(const ::onnx::ModelProto& m, const std::filesystem::path& data) {
  auto open = m;
  for (auto& x : *open.mutable_graph()->mutable_output()) {
    x.clear_type();
  }
  for (int i = 0; i < m.graph().input_size(); ++i) {
    const auto file = data / ("input_" + std::to_string(i) + ".pb");
    ::onnx::TensorProto t;
    if (std::filesystem::exists(file) && t.ParseFromString(io::read_file(file)) &&
        (t.data_type() == ::onnx::TensorProto::INT64 || t.dims().empty() || scales(m.graph().node(0).op_type()))) {
      t.set_name(m.graph().input(i).name());
      *open.mutable_graph()->add_initializer() = t;
    }
  }
  return open;
}

struct counts {
  std::size_t outputs = 0;
  std::size_t in_reach = 0;                ///< of those, whose shapes do not depend on data
  std::vector<std::string> wrong = {};     ///< where the file declares them
  std::vector<std::string> misjudged = {}; ///< where it does not
};

void count(const std::filesystem::path& file, counts& c) {
  const auto name = file.parent_path().filename().string();
  const auto bytes = io::read_file(file);
  ::onnx::ModelProto m;
  REQUIRE(m.ParseFromString(bytes));
  const auto open = without_declarations(m, file.parent_path() / "test_data_set_0").SerializeAsString();
  const auto told = bytes_in(m, weft::onnx::reader{}.read(bytes, name).ops);
  const auto untold = bytes_in(m, weft::onnx::reader{}.read(open, name).ops);
  for (const auto& x : m.graph().output()) {
    const auto right = bytes_of(x.type());
    if (!right || !told.contains(x.name())) {
      continue;
    }
    const auto compare = [&](byte_count is, std::vector<std::string>& different) {
      if (is != *right && is != 0) { // what follows from parameters alone is one
        different.push_back(name + " " + x.name() + ": " + std::to_string(is) + " for " + std::to_string(*right));
      }
    };
    ++c.outputs;
    compare(told.at(x.name()), c.wrong);
    if (!depends_on_data(m.graph().node(0).op_type())) {
      ++c.in_reach;
      compare(untold.at(x.name()), c.misjudged);
    }
  }
}

TEST_CASE("onnx: outputs of the published operator tests have the bytes that they have") {
  if (!std::filesystem::is_directory(folder)) {
    MESSAGE("skipped: " << folder.string() << " is not there (Debian: libonnx-testdata)");
    return;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (std::filesystem::exists(entry.path() / "model.onnx")) {
      files.push_back(entry.path() / "model.onnx");
    }
  }
  std::sort(files.begin(), files.end());
  counts c;
  for (const auto& file : files) {
    count(file, c);
  }
  MESSAGE(c.outputs << " outputs of " << files.size() << " models, " << c.wrong.size()
                    << " wrong; where the file does not "
                    << "say them, " << c.misjudged.size() << " of " << c.in_reach);
  for (const auto& line : c.misjudged) {
    MESSAGE(line);
  }
  CHECK(c.outputs > 1000);
  CHECK(c.wrong == std::vector<std::string>{});
  CHECK(static_cast<double>(c.misjudged.size()) <= 0.005 * static_cast<double>(c.in_reach));
}

} // namespace interop_onnx_operator_tests_test
