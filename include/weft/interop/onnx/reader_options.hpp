// SPDX-License-Identifier: BSL-1.0
/// The reader of ONNX models with its options; reader.hpp has the rest of it.
#pragma once

#include "weft/interop/onnx/wire.hpp"
#include "weft/io/reader.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace weft::onnx {

/// Reads ONNX models (a `io::model_reader`). One op per node of the main graph, in the order of the file, with the
/// node's name (that of its first output if it has none) and its op type, with the domain in front if it is not ONNX's.
/// Work is FLOP by the catalogue of ops, from shapes: those that the file declares, and those that follow from them and
/// from options. Initialisers and constants are resident bytes of the ops that read them and are not transferred: one
/// of up to 4 KiB is kept by each of its readers, a larger one by the first, with all of them in one colocation group.
/// Ops that read or make texts are for CPUs. Weights need not be in the file; external data is not opened. Assumptions
/// are in the notes. docs/onnx.md has the details.
///
/// Throws `parse_error`; for a cycle, or totals that overflow, the underlying error is nested in it.
/// Complexity: O(n + m log d) beside ONNX's shape inference. Memory: up to 20 times the size of the file.
struct reader {
  /// Extent 0 of the model's inputs, as far as they share the extent 0 of the first one; 0: what the model says, and 1
  /// where it leaves that open.
  std::uint64_t batch = 0;
  /// Extents of named dimensions, e.g. `seq_len`, or of all that ops of a type decide by data, e.g. `NonZero`.
  std::map<std::string, std::uint64_t, std::less<>> dimensions = {};
  std::uint64_t unknown_dimension = 1;                               ///< every other extent that is not known
  /// Rounds of a Loop, Scan or SequenceMap by the name of its op, of a Loop at most so many; `*`: of all others. Where
  /// the model does not tell them, one without that.
  std::map<std::string, std::uint64_t, std::less<>> trips = {};
  double unknown_flop_per_element = 1; ///< FLOP per output element of ops that the catalogue has no rule for

  std::string_view format() const { return "ONNX"; }
  bool recognises(std::string_view bytes) const { return wire::is_model(bytes); }
  model read(std::string_view bytes, const std::string& file) const;
};
static_assert(io::model_reader<reader>);

} // namespace weft::onnx
