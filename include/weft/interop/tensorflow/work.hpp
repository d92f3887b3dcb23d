// SPDX-License-Identifier: BSL-1.0
/// The FLOP of an op, and the types of its outputs.
#pragma once

#include "weft/interop/tensorflow/ops.hpp"
#include "weft/interop/tensorflow/shape_table.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace weft::tensorflow::detail {

/// Whether an op makes texts, of whatever it reads, and whatever its attribute `T` tells of that.
/// Source: tensorflow/core/ops/{string, image, io, parsing, data_flow}_ops.cc.
constexpr bool makes_text(std::string_view op, std::uint32_t port) {
  constexpr std::string_view names[] = {
    "AsString",     "Substr",     "ReduceJoin",      "UnicodeEncode",   "ReadFile",     "MatchingFiles",
    "StringLower",  "StringUpper", "StringStrip",    "StringJoin",      "StringFormat", "RegexReplace",
    "StringNGrams", "EncodeJpeg", "ShardedFilename", "EncodePng",       "EncodeWav",    "SerializeTensor",
    "EncodeBase64", "DecodeBase64", "StringSplit",   "StringSplitV2",   "StaticRegexReplace",
    "UnicodeTranscode", "DecodeCompressed"};
  const bool values_second = op.starts_with("StringSplit"); // between indices and a shape
  return std::ranges::find(names, op) != std::end(names) && (values_second ? port == 1 : port == 0);
}

/// The data type of what else an op makes of texts, where no attribute tells it.
constexpr data_type type_from_text(std::string_view op) {
  return op == "DecodeWav"                ? dt::float32
         : op.starts_with("Decode")       ? dt::uint8 // images
         : op.ends_with("RegexFullMatch") ? dt::boolean
         : op == "StringLength"           ? dt::int32
                                          : dt::int64; // hashes, indices
}

/// The data type of outputs of some ops.
struct output_type {
  std::string_view types;          ///< of ops, separated by blanks
  std::string_view attribute = {}; ///< the one that tells it, if any does
  std::optional<data_type> otherwise = {}; ///< if none does; nothing for that of the first input
  std::uint32_t first_port = 0;    ///< the outputs before have the type of the first input
};
inline constexpr output_type output_types[] = {
  {"ApproximateEqual Equal NotEqual Greater GreaterEqual Less LessEqual All Any InTopK InTopKV2 LogicalAnd LogicalNot "
   "LogicalOr IsFinite IsInf IsNan", "", dt::boolean},
  {"ArgMax ArgMin", "output_type", dt::int64},
  {"BroadcastGradientArgs ConcatOffset", "T", dt::int32},
  {"Cast", "DstT"},
  {"CropAndResize", "", dt::float32},
  {"Dequantize", "dtype", dt::float32},
  {"EmptyTensorList TensorListFromTensor TensorListReserve TensorListSetItem", "", dt::variant},
  {"Gather GatherNd GatherV2", "Tparams"},
  {"IRFFT IRFFT2D IRFFT3D", "Treal", dt::float32},
  {"Lu", "output_idx_type", dt::int32, 1},
  {"MaxPoolWithArgmax", "Targmax", dt::int64, 1},
  {"Merge RefMerge", "", dt::int32, 1},
  {"ParameterizedTruncatedNormal RandomStandardNormal RandomUniform StatelessRandomNormal StatelessRandomNormalV2 "
   "StatelessRandomUniform StatelessRandomUniformV2 StatelessTruncatedNormal TruncatedNormal", "dtype"},
  {"RandomUniformInt", "Tout"},
  {"Range", "Tidx", dt::int32},
  {"Rank", "", dt::int32},
  {"RFFT RFFT2D RFFT3D", "Tcomplex", dt::complex64},
  {"Shape ShapeN Size", "out_type", dt::int32},
  {"TensorListGetItem TensorListStack", "element_dtype", dt::float32},
  {"TopK TopKV2", "index_type", dt::int32, 1},
  {"Unique", "out_idx", dt::int32, 1},
  {"Where", "", dt::int64},
};

/// The data type of output `port`: fixed by the op, told by an attribute, that of the shape's source (`otherwise`), or
/// that of the first input. `rule` is null for ops that are not known.
inline data_type type_of_output(const node& n, const shape_rule* rule, std::uint32_t port,
                                std::span<const tensor_info* const> inputs, data_type otherwise) {
  const auto told = [&](std::initializer_list<std::string_view> keys, data_type default_type) {
    for (const auto key : keys) {
      if (const auto type = type_attribute(n, key, port)) {
        return *type;
      }
    }
    return default_type;
  };
  const auto op = n.op;
  if (makes_text(op, port)) {
    return dt::string;
  }
  const auto read = inputs.empty() ? otherwise : value_type(inputs[0]->type);
  const auto first = read == dt::string && rule == nullptr ? type_from_text(op) : read;
  if (gives_ranges(op)) {
    return port > 0 || op.starts_with("RequantizationRange") ? dt::float32
                                                             : told({"Toutput", "out_type", "Tout", "T"}, first);
  }
  switch (rule != nullptr ? rule->source : shape_source::nothing) {
  case shape_source::constant: return told({"dtype"}, otherwise);
  case shape_source::argument: return told({"T"}, otherwise);
  case shape_source::call: return told({"Tout"}, otherwise);
  case shape_source::variable:
  case shape_source::handle: return dt::reference + value_type(told({"dtype"}, dt::float32));
  default: break;
  }
  if (op == "ReadVariableOp") {
    return value_type(told({"dtype"}, first));
  }
  if (op == "Fill") {
    return told({"T"}, inputs.size() > 1 ? inputs[1]->type : dt::float32);
  }
  if (rule != nullptr && updates_variable(op)) {
    return dt::reference + value_type(told({"T"}, first));
  }
  static const auto by_op = ops::rows_by_type<output_type>({output_types});
  if (const auto* const row = ops::find_row(by_op, op); row != nullptr && port >= row->first_port) {
    const auto otherwise_type = row->otherwise.value_or(first);
    return row->attribute.empty() ? otherwise_type : told({row->attribute}, otherwise_type);
  }
  return told({"T", "dtype", "output_types", "component_types", "Tout", "tensor_type", "out_type", "type"}, first);
}

/// FLOP of an op with these outputs, by the catalogue; for ops that are not known 1 per element of the first output,
/// and none for those that run on CPUs only. A tensor that an update changes through a reference is no operand of it.
inline double work_of(ops::call&& call, const ops::facts* facts, std::span<const tensor_info* const> in,
                      std::span<const tensor_info> out) {
  if (facts == nullptr) {
    return only_on_cpu(call.type) || out.empty() || is_reference(out[0].type) ? 0 : elements(out[0].dims);
  }
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (updates_variable(call.type) && is_reference(in[i]->type)) {
      call.inputs[i].reset();
    }
  }
  for (const auto& t : out) {
    call.outputs.push_back(extents_of(t));
  }
  return facts->flop(call);
}

} // namespace weft::tensorflow::detail
