// SPDX-License-Identifier: BSL-1.0
/// Reads ONNX models as workloads.
#pragma once

#include "weft/interop/onnx/reader_options.hpp" // IWYU pragma: export
#include "weft/interop/onnx/workload_of_graph.hpp"
#include "weft/io/files.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace weft::onnx {

inline model reader::read(std::string_view bytes, const std::string& file) const {
  const auto decoded = detail::decode(bytes, file);
  return detail::workload_of_graph{decoded, *this, file}();
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
