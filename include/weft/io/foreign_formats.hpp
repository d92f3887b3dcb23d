// SPDX-License-Identifier: BSL-1.0
/// Formats that are known by sight, so that a file that no reader takes is refused with a way out.
#pragma once

#include "weft/io/detail/assembly_shop.hpp"
#include "weft/io/detail/json_text.hpp"
#include "weft/io/text.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

namespace weft::io {

namespace detail {

/// A model in the binary format of ONNX: a protocol buffer that begins with a small version number, then a producer,
/// the graph, or the versions of its operators.
inline bool looks_like_onnx(std::string_view bytes) {
  return bytes.size() > 4 && bytes[0] == '\x08' && bytes[1] >= 2 && bytes[1] < 64 &&
         std::string_view{"\x12\x1a\x22\x28\x32\x3a\x42"}.find(bytes[2]) != std::string_view::npos;
}

/// A GraphDef in the binary format of TensorFlow: a node, which begins with its name.
inline bool looks_like_graph_def(std::string_view bytes) {
  std::size_t at = 1;
  for (std::size_t k = 0; k < 5 && at < bytes.size() && static_cast<unsigned char>(bytes[at]) >= 128; ++k) {
    ++at; // the length of the node
  }
  if (bytes.size() < at + 4 || bytes[0] != '\n' || bytes[at + 1] != '\n') {
    return false;
  }
  const auto length = static_cast<unsigned char>(bytes[at + 2]);
  const auto name = bytes.substr(at + 3, length);
  return length > 0 && length < 128 && name.size() == length &&
         name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-^:") == name.npos;
}

/// A GraphDef or CostGraphDef as text: the first line that is no comment opens a node or a library.
inline bool looks_like_graph_def_text(std::string_view bytes) {
  line_reader lines{bytes, ""};
  auto line = lines.next();
  while (line && line->front() == '#') {
    line = lines.next();
  }
  if (!line || line->find('{') == line->npos) {
    return false;
  }
  const auto word = line->substr(0, line->find_first_of(" :{"));
  return word == "node" || word == "library" || word == "versions";
}

/// A module of MLIR, as text or bytecode; of its dialects, those with StableHLO are models.
inline bool looks_like_stablehlo(std::string_view bytes) {
  return bytes.starts_with("module @") || bytes.starts_with("module {") || bytes.starts_with("module attributes") ||
         bytes.starts_with("#loc") || bytes.starts_with("func.func") || bytes.starts_with("ML\xefR");
}

/// A file of tensors as safetensors has it: the length of a JSON object, in eight bytes, and the object.
inline bool looks_like_safetensors(std::string_view bytes) {
  return bytes.size() > 9 && bytes[8] == '{' && bytes.substr(5, 3) == std::string_view{"\0\0\0", 3};
}

/// A matrix in the format of the Matrix Market. A hyperdag also begins with lines of comments and three numbers.
inline bool looks_like_matrix(std::string_view bytes) { return bytes.starts_with("%%MatrixMarket"); }

struct known_format {
  bool (*recognises)(std::string_view bytes);
  std::string_view what;
  std::string_view component = {}; ///< of weft, which reads it
};

template <char... Begin>
constexpr bool begins_with(std::string_view bytes) {
  constexpr char magic[]{Begin...};
  return bytes.starts_with(std::string_view{magic, sizeof magic});
}

/// The first that fits counts.
inline constexpr known_format known_formats[]{
  {[](std::string_view b) { return b.find_first_not_of(" \t\r\n") == b.npos; }, "it is empty"},
  {[](std::string_view b) { return b.starts_with("version https://git-lfs.github.com/spec/v1"); },
   "it is a Git LFS pointer, not the file that it stands for; fetch that with git lfs pull"},
  {looks_like_matrix, "it is a Matrix Market matrix, not a graph of ops; convert it to a hyperdag"},
  {begins_with<'G', 'G', 'U', 'F'>, "it is a GGUF file, which holds weights but no graph; export the model to ONNX"},
  {looks_like_safetensors,
   "it is a safetensors file, which holds weights but no graph; export the model to ONNX"},
  {looks_like_onnx, "it is an ONNX model", "onnx"},
  {looks_like_graph_def, "it is a TensorFlow graph", "tensorflow"},
  {looks_like_graph_def_text, "it is a TensorFlow graph as text", "tensorflow"},
  {[](std::string_view b) { return b.starts_with(std::string_view{"\x08\x01\x12", 3}); },
   "it is a TensorFlow SavedModel", "tensorflow"},
  {[](std::string_view b) { return b.size() >= 8 && b.substr(4, 4) == "TFL3"; },
   "it is a TensorFlow Lite model; convert it to ONNX"},
  {begins_with<'\x89', 'H', 'D', 'F'>, "it is an HDF5 file, perhaps from Keras; convert it to ONNX"},
  {begins_with<'P', 'K', '\x03', '\x04'>,
   "it is a zip archive, from PyTorch or perhaps from Keras", "pytorch"},
  {[](std::string_view b) { return outermost_value(b, "graph_module").has_value(); }, "it is a PyTorch program",
   "pytorch"},
  {looks_like_stablehlo, "it is a program in StableHLO", "stablehlo"},
  {begins_with<'\x1f', '\x8b'>, "it is compressed with gzip; decompress it first"},
  {[](std::string_view b) { return has_json_format(b, "weft.plan"); }, "it is a plan"},
  {[](std::string_view b) { return has_json_format(b, "weft.trace"); }, "it is a trace"},
  {[](std::string_view b) { return has_json_format(b, "weft.schedule"); }, "it is a schedule"},
  {[](std::string_view b) { return has_json_format(b, "weft.profile"); }, "it is a profile"},
  {[](std::string_view b) { return outermost_value(b, "operations") && outermost_value(b, "precedences"); },
   "it is a flexible assembly job shop (FAJSP) in JSON, as ScheduleOpt has it; of job shops, those are read whose "
   "operations follow each other: give the text file of the same instance that has a line per job"},
  {looks_like_assembly_shop,
   "it is a flexible assembly job shop (FAJSP), a list of precedences and one of operations; of job shops, those are "
   "read whose operations follow each other: give the text file of the same instance that has a line per job"},
  {[](std::string_view b) { return outermost_value(b, "data") && outermost_value(b, "machines"); },
   "it is a job shop in JSON, as ScheduleOpt has it, with its operations in \"data\"; give the text file of the same "
   "instance, or JSON whose \"jobs\" are lists of {\"machine\": …, \"duration\": …}"},
  {[](std::string_view b) { return outermost_value(b, "format").has_value(); },
   "it is JSON, but its \"format\" is not one that is known here"},
  {[](std::string_view b) { return outermost_value(b, "fpgas") && outermost_value(b, "cpus"); },
   "it is a placement of the device-placement study, not a problem"},
  {[](std::string_view b) { return json_tokens{b}.next().kind == '{'; },
   "it is JSON, but without a \"format\", such as \"weft.workload\" or \"weft.platform\", or the keys of another one"},
  {[](std::string_view b) { return b.starts_with('[') && b.substr(0, 1000).find("\"path\"") != b.npos; },
   "it is a list of files, as collections of instances have it; give one of the files"},
  {[](std::string_view b) { return ("\n" + std::string{b.substr(0, 1000)}).find("\npegasus:") != std::string::npos; },
   "it is a workflow of Pegasus 5 in YAML; of Pegasus, DAX is read, its XML"},
  {[](std::string_view b) { return b.find('\0') != b.npos; }, "it is not text, and its format is not known"},
};

inline const known_format* known_format_of(std::string_view bytes) {
  const auto* const found = std::ranges::find_if(known_formats, [&](const auto& f) { return f.recognises(bytes); });
  return found == std::end(known_formats) ? nullptr : found;
}

} // namespace detail

/// The component of weft that reads the format which bytes seem to have; empty if none is known.
inline std::string_view component_for(std::string_view bytes) {
  const auto* known = detail::known_format_of(bytes);
  return known == nullptr ? std::string_view{} : known->component;
}

/// A few words on what bytes are that no reader takes, with what to do about it if that is known.
inline std::string what_it_looks_like(std::string_view bytes) {
  if (const auto* known = detail::known_format_of(bytes)) {
    return std::string{known->what} +
           (known->component.empty() ? "" : ", for which weft needs its component " + std::string{known->component});
  }
  const auto line = line_reader{bytes, ""}.next();
  return "its format is not known; it begins with " + in_quotes(line.value_or(""));
}

} // namespace weft::io
