// SPDX-License-Identifier: BSL-1.0
/// The FLOP of an op, and the types of its outputs.
#pragma once

#include "weft/interop/tensorflow/ops.hpp"
#include "weft/interop/tensorflow/translation.hpp"

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

/// The data type of output `port`: fixed by the op, told by an attribute, that of the shape's source (`otherwise`), or
/// that of the first input.
inline data_type type_of_output(const node& n, const op_facts* family, std::uint32_t port,
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
  const auto first = read == dt::string && family == nullptr ? type_from_text(op) : read;
  if (gives_ranges(op)) {
    return port > 0 || op.starts_with("RequantizationRange") ? dt::float32
                                                             : told({"Toutput", "out_type", "Tout", "T"}, first);
  }
  if (family != nullptr) {
    switch (family->shape) {
    case shape_rule::shape:
    case shape_rule::shape_n:
    case shape_rule::size: return told({"out_type"}, dt::int32);
    case shape_rule::rank: return dt::int32;
    case shape_rule::arg_reduce: return told({"output_type"}, dt::int64);
    case shape_rule::top_k: return port == 1 ? told({"index_type"}, dt::int32) : told({"T"}, first);
    case shape_rule::merge: return port == 1 ? dt::int32 : told({"T"}, first);
    case shape_rule::concat_offset:
    case shape_rule::broadcast_args: return told({"T"}, dt::int32);
    case shape_rule::range: return told({"Tidx"}, dt::int32);
    case shape_rule::fill: return told({"T"}, inputs.size() > 1 ? inputs[1]->type : dt::float32);
    case shape_rule::gather:
    case shape_rule::gather_nd: return told({"Tparams"}, first);
    case shape_rule::like_second: return dt::boolean;
    case shape_rule::from_values: return told({"dtype", "T"}, first);
    case shape_rule::constant: return told({"dtype"}, otherwise);
    case shape_rule::argument: return told({"T"}, otherwise);
    case shape_rule::variable:
    case shape_rule::handle: return dt::reference + value_type(told({"dtype"}, dt::float32));
    case shape_rule::reference: return dt::reference + value_type(told({"T"}, first));
    case shape_rule::read_variable: return value_type(told({"dtype"}, first));
    case shape_rule::call: return told({"Tout"}, otherwise);
    case shape_rule::where: return dt::int64;
    case shape_rule::pool: return port > 0 ? told({"Targmax"}, dt::int64) : told({"T"}, first);
    case shape_rule::real_spectrum:
      return op.starts_with("I") ? told({"Treal"}, dt::float32) : told({"Tcomplex"}, dt::complex64);
    case shape_rule::unique: return port == 0 ? told({"T"}, first) : told({"out_idx"}, dt::int32);
    case shape_rule::lu: return port == 1 ? told({"output_idx_type"}, dt::int32) : told({"T"}, first);
    case shape_rule::list_item:
    case shape_rule::list_stack: return told({"element_dtype"}, dt::float32);
    case shape_rule::list_from_tensor:
    case shape_rule::list_reserve: return dt::variant;
    case shape_rule::crop_and_resize: return dt::float32;
    default: break;
    }
  }
  constexpr std::string_view predicates[] = {"Equal",      "NotEqual", "Greater", "GreaterEqual", "Less",
                                             "LessEqual",  "All",      "Any",     "LogicalAnd",   "LogicalOr",
                                             "LogicalNot", "IsFinite", "IsInf",   "IsNan",        "ApproximateEqual"};
  if (std::ranges::find(predicates, op) != std::end(predicates)) {
    return dt::boolean;
  }
  if (op == "Cast") {
    return told({"DstT"}, first);
  }
  if (op == "Dequantize") {
    return told({"dtype"}, dt::float32);
  }
  return told({"T", "dtype", "output_types", "component_types", "Tout", "tensor_type", "out_type", "type"}, first);
}

/// FLOP of an op with these outputs, by the catalogue; for ops that are not known 1 per element of the first output,
/// and none for those that run on CPUs only. A tensor that an update changes through a reference is no operand of it.
inline double work_of(op_call&& call, const op_facts* facts, std::span<const tensor_info* const> in,
                      std::span<const tensor_info> out) {
  if (facts == nullptr) {
    return only_on_cpu(call.type) || out.empty() || is_reference(out[0].type) ? 0 : elements(out[0].dims);
  }
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (facts->shape == shape_rule::reference && is_reference(in[i]->type)) {
      call.inputs[i].reset();
    }
  }
  for (const auto& t : out) {
    call.outputs.push_back(extents_of(t));
  }
  return facts->flop(call);
}

} // namespace weft::tensorflow::detail
