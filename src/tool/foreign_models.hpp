// SPDX-License-Identifier: BSL-1.0
/// Models of other libraries, read by onnx.cpp, stablehlo.cpp and so on, which are built where these libraries are.
#pragma once

#include "files.hpp"
#include "model_file.hpp"
#include "model_options.hpp"

#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/platform/platform.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace tool {

/// A reader with the options of the command line.
foreign_reader onnx_reader(const model_options& o);
foreign_reader pytorch_reader(const model_options& o);
foreign_reader stablehlo_reader(const model_options& o);
foreign_reader tensorflow_reader(const model_options& o);

/// Writes the model that was read, or the bundled network, with the devices of its own ops; `where` may have more.
void write_onnx(std::ostream& out, const input& in, const weft::placement& where, const weft::platform<>& devices);
/// See `check_split` and `write_split` in model_file.hpp.
std::string way_to_data(const std::string& folder, const input& in);
std::vector<std::string> write_onnx_split(const std::string& folder, const input& in, const model_options& o,
                                          const weft::placement& where, const weft::platform<>& devices,
                                          const weft::trace& run);
/// A bundled network as text or binary. Returns notes on what could not be written.
std::vector<std::string> write_tensorflow(std::ostream& out, bool text, const input& in, const weft::placement& where,
                                          const weft::platform<>& devices);

} // namespace tool
