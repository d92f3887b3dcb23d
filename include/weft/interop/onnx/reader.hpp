// SPDX-License-Identifier: BSL-1.0
/// Reads ONNX models as workloads.
#pragma once

#include "weft/interop/onnx/reader_options.hpp" // IWYU pragma: export
#include "weft/interop/onnx/graph_of_model.hpp"
#include "weft/io/files.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace weft::onnx {

/// A model file, decoded once to be read with several options, or read and then cut into stages.
class parsed_model {
public:
  /// `bytes` must outlive this; errors call the model `file`. Throws as `reader::read`.
  explicit parsed_model(std::string_view bytes, std::string file = "<model>")
      : bytes_{bytes}, file_{std::move(file)}, decoded_{detail::decode(bytes, file_)} {}

  /// The workload. Throws as `reader::read`.
  model read(const reader& options = {}) const {
    detail::graph_of_model reading{decoded_, options, file_};
    reading.infer();
    return reading.read();
  }

  std::string_view bytes() const { return bytes_; }
  const std::string& file() const { return file_; }
  const ::onnx::ModelProto& decoded() const { return decoded_; }

private:
  std::string_view bytes_;
  std::string file_;
  ::onnx::ModelProto decoded_;
};

inline model reader::read(std::string_view bytes, const std::string& file) const {
  return parsed_model{bytes, file}.read(*this);
}

/// Reads a model from a file. Throws `error` if it cannot be opened, else as `reader::read`.
/// ```
/// const weft::model m = weft::onnx::read_model("resnet50.onnx", {.batch = 8});
/// ```
inline model read_model(const std::filesystem::path& path, const reader& options = {}) {
  auto in = io::open_for_reading(path);
  return options.read(io::read_all(in, path.string()), path.string());
}

} // namespace weft::onnx
