// SPDX-License-Identifier: BSL-1.0
/// The reader of exported PyTorch programs with its options; reader.hpp has the rest of it.
#pragma once

#include "weft/io/reader.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace weft::pytorch {

/// Reads what `torch.export.save` writes (an `io::model_reader`): the archive (.pt2) or the JSON in it. One op per
/// node, in the order of the file, with the name of its first result and the operator as type (`aten.addmm`); nodes
/// that only compute sizes are none. Work is FLOP by the catalogue of ops. Parameters, buffers and constants are
/// resident with the ops that read them. Weights are not read. Assumptions are in the notes; docs/pytorch.md has
/// the details.
///
/// Throws `parse_error` for what is no such program. Complexity: linear in the program. Memory: up to 20 times the
/// archive, or the JSON.
struct reader {
  /// Extent 0 of the inputs, where it is symbolic or others may be derived (`with_batch`); 0: what the file says.
  std::uint64_t batch = 0;
  std::map<std::string, std::uint64_t, std::less<>> dimensions = {}; ///< values of symbols, such as `s0`
  std::uint64_t unknown_dimension = 1; ///< every other symbolic size for which the file has no hint
  std::optional<double> unknown_trips = {}; ///< how often `while_loop` runs its body; 1 if nobody tells
  double unknown_flop_per_element = 1; ///< FLOP per element of the first result of operators without a rule

  std::string_view format() const { return "PyTorch"; }
  bool recognises(std::string_view bytes) const;
  model read(std::string_view bytes, const std::string& file) const;
};
static_assert(io::model_reader<reader>);

} // namespace weft::pytorch
