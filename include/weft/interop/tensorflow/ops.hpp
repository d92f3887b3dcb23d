// SPDX-License-Identifier: BSL-1.0
/// Facts about TensorFlow's ops: where they run, and which of them the catalogue of ops has under other names. Source
/// of names, inputs and shape rules: tensorflow/core/ops/{array, math, nn, training, state, data_flow}_ops.cc.
#pragma once

#include "weft/core/config.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace weft::tensorflow::detail {

/// Whether an op updates a variable through its handle. It is known by the name of the op that does so through a
/// reference, but has no output.
constexpr bool updates_resource(std::string_view op) {
  return op.starts_with("ResourceApply") || op.starts_with("ResourceSparseApply") ||
         op.starts_with("ResourceScatter") || (op.starts_with("Assign") && op.ends_with("VariableOp"));
}

/// The type that the catalogue has for ops of that type.
constexpr std::string_view known_type_of(std::string_view op) {
  return !updates_resource(op)       ? op
         : op.starts_with("Assign") ? op.substr(0, op.size() - std::string_view{"VariableOp"}.size())
                                     : op.substr(std::string_view{"Resource"}.size());
}

/// Whether TensorFlow has a kernel for CPUs only: input pipelines, queues and readers, images and records on their way
/// in, texts, tables, summaries, saving and restoring, printing and Python functions.
/// Source: tensorflow/core/kernels, the ops that are registered for DEVICE_CPU only.
constexpr bool only_on_cpu(std::string_view op) {
  constexpr std::string_view parts[] = {"Dataset",  "Iterator", "Queue",   "Summary", "Decode", "Encode",
                                        "String",   "PyFunc",   "Reader",  "Table",   "Regex",  "ParseExample",
                                        "ParseSingleExample",   "Restore", "Audio",   "Unicode"};
  constexpr std::string_view names[] = {"Save",
                                        "SaveV2",
                                        "SaveSlices",
                                        "Print",
                                        "PrintV2",
                                        "ReadFile",
                                        "WriteFile",
                                        "AsString",
                                        "MatchingFiles",
                                        "MergeV2Checkpoints",
                                        "ShardedFilename",
                                        "ParseTensor",
                                        "SerializeTensor",
                                        "Unique",
                                        "UniqueV2",
                                        "LoopCond",
                                        "Barrier",
                                        "Substr",
                                        "Base64",
                                        "InTopK"};
  return std::ranges::any_of(parts, [op](std::string_view part) { return op.find(part) != op.npos; }) ||
         std::ranges::find(names, op) != std::end(names);
}

/// True if an op changes the variable that its first input refers to.
constexpr bool updates_variable(std::string_view op) {
  return updates_resource(op) || op.starts_with("Assign") || op.starts_with("Apply") ||
         op.starts_with("SparseApply") ||
         (op.starts_with("Scatter") && op != "ScatterNd" && op != "ScatterNdNonAliasingAdd");
}

/// Whether an op needs the variable itself that its first input refers to, so that it runs where that variable is.
/// Source: tensorflow/core/common_runtime/colocation_graph.cc (references and resource handles).
constexpr bool runs_with_its_variable(std::string_view op) {
  return updates_variable(op) || op.starts_with("Ref") || op == "ReadVariableOp" || op == "ResourceGather";
}

/// Whether an op needs the variable of its first input, which `first` gives: whatever the op, if that is a handle.
constexpr bool runs_with_its_variable(std::string_view op, std::string_view first) {
  return runs_with_its_variable(op) || first == "VarHandleOp";
}

/// Whether an op gives numbers with the range that they stand for: all outputs but the first are ends of ranges.
constexpr bool gives_ranges(std::string_view op) {
  return op.starts_with("Quantized") || op.starts_with("QuantizeV2") || op.starts_with("QuantizeDown") ||
         op.starts_with("Requanti");
}

/// Whether an op holds state that it gives a reference or handle to.
constexpr bool is_variable(std::string_view op) {
  return op == "Variable" || op == "VariableV2" || op == "VarHandleOp";
}

} // namespace weft::tensorflow::detail
