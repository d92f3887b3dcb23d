// SPDX-License-Identifier: BSL-1.0
/// ONNX models: reads them as workloads, writes placements into them, cuts them into stages, and writes networks as
/// ONNX. Component `weft::onnx`.
#pragma once

#include "weft/interop/onnx/network.hpp"  // IWYU pragma: export
#include "weft/interop/onnx/op_costs.hpp" // IWYU pragma: export
#include "weft/interop/onnx/placed.hpp"   // IWYU pragma: export
#include "weft/interop/onnx/reader.hpp"   // IWYU pragma: export
#include "weft/interop/onnx/split.hpp"    // IWYU pragma: export
#include "weft/interop/onnx/split_manifest.hpp" // IWYU pragma: export
