// SPDX-License-Identifier: BSL-1.0
/// The formats of other libraries: each is in <component>.cpp, and CMake makes the table of those that are built.
#pragma once

#include "model_file.hpp"
#include "model_options.hpp"

#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/model.hpp"

#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

/// A kind of model.
struct model_kind {
  std::string_view format;                       ///< as `weft::model::format`
  std::string_view models;                       ///< several of them, such as `ONNX models`
  std::vector<std::string_view> takes = {};      ///< of the options that `given_options` tells
  std::vector<std::string_view> written_as = {}; ///< extensions of files that -o writes
};

/// A model with the devices of its ops.
struct placed_input {
  const input& in;
  const model_options& options;
  const weft::placement& where;
  const weft::platform<>& devices;
};

/// A parsed file, of which models with any options are made.
struct loaded_model {
  std::function<weft::model(const model_options&)> read;
  /// Writes it with the devices of its ops. Returns notes on what could not be written.
  std::function<std::vector<std::string>(std::ostream&, const placed_input&)> write_placed = {};
  /// Refuses a folder that stages of it cannot be written into.
  std::function<void(const std::string&)> check_split = {};
  /// As `tool::write_split`.
  std::function<std::vector<std::string>(const std::string&, const placed_input&, const weft::trace&)> write_split = {};
};

struct file_format {
  std::string_view component; ///< of weft
  std::vector<model_kind> kinds;
  bool (*recognises)(std::string_view bytes);
  /// `bytes` outlive what is made of them; errors call them `file`.
  loaded_model (*parse)(std::string_view bytes, const std::string& file);
  std::vector<std::string_view> networks_as = {}; ///< extensions of files as which bundled networks are written
  void (*write_network)(std::ostream& out, std::string_view extension, const placed_input& p) = nullptr;
};

/// The formats that this program was built with.
const std::vector<file_format>& file_formats();

} // namespace tool
