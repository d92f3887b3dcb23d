// SPDX-License-Identifier: BSL-1.0
/// Models of other libraries: what is in onnx.cpp and tensorflow.cpp, which are built where these libraries are.
#pragma once

#include "model_file.hpp"
#include "options.hpp"
#include "tool/files.hpp"

#include "weft/plan/plan.hpp"
#include "weft/platform/platform.hpp"

#include <ostream>

namespace place {

/// A reader with the options of the command line.
tool::foreign_reader onnx_reader(const options& o);
tool::foreign_reader tensorflow_reader(const options& o);

/// Writes the model that was read, or the bundled network, with the devices of its own ops.
void write_onnx(std::ostream& out, const options& o, const input& in, const weft::placement& own,
                const weft::platform<>& devices);
void write_tensorflow(std::ostream& out, const options& o, const input& in, const weft::placement& own,
                      const weft::platform<>& devices);

} // namespace place
