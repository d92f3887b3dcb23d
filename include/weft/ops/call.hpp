// SPDX-License-Identifier: BSL-1.0
/// A call of an op as the rules for FLOP and shapes see it: input shapes and attributes.
#pragma once

#include "weft/core/config.hpp"
#include "weft/core/ids.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::ops {

/// One op as rules see it. It knows no message classes, so that one can ask for costs without a model.
struct call {
  using extents = std::vector<std::int64_t>;
  std::string_view type = {};
  std::vector<std::optional<extents>> inputs = {};  ///< shapes; nothing where an input is absent or unknown
  std::vector<std::optional<extents>> outputs = {}; ///< likewise
  std::map<std::string, std::vector<std::int64_t>, std::less<>> numbers =
    {};                                                       ///< attributes, single ones as lists of one
  std::map<std::string, std::string, std::less<>> texts = {}; ///< attributes
  std::vector<std::optional<extents>> values = {};            ///< elements of inputs: few whole numbers that are known
  std::map<std::string, std::size_t, std::less<>> lengths = {}; ///< of attributes that are lists of numbers or texts
  std::int64_t version = 0;                                     ///< of the operator set; 0 if nobody says

  static double elements(const extents& dims) {
    double count = 1;
    for (const auto d : dims) {
      count *= static_cast<double>(std::max<std::int64_t>(d, 0));
    }
    return count;
  }
  bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i]; }
  bool has_output(std::size_t i = 0) const { return i < outputs.size() && outputs[i]; }
  /// The number of elements of an input; 0 if there is none.
  double in(std::size_t i) const { return has_input(i) ? elements(*inputs[i]) : 0; }
  double out(std::size_t i = 0) const { return has_output(i) ? elements(*outputs[i]) : 0; }
  /// An extent of an input, negative axes from the innermost; 1 if it is not known.
  double extent(std::size_t i, std::int64_t axis) const {
    if (!has_input(i)) {
      return 1;
    }
    const auto rank = static_cast<std::int64_t>(inputs[i]->size());
    axis += axis < 0 ? rank : 0;
    return axis < 0 || axis >= rank
             ? 1
             : static_cast<double>(std::max<std::int64_t>((*inputs[i])[static_cast<std::size_t>(axis)], 0));
  }
  /// The number in an input that holds one, if it is known.
  std::optional<std::int64_t> value(std::size_t i) const {
    return i < values.size() && values[i] && values[i]->size() == 1 ? std::optional{values[i]->front()} : std::nullopt;
  }
  std::size_t length(std::string_view name) const {
    const auto found = lengths.find(name);
    return found == lengths.end() ? 0 : found->second;
  }
  std::size_t rank(std::size_t i) const { return has_input(i) ? inputs[i]->size() : 0; }
  std::int64_t number(std::string_view name, std::int64_t otherwise) const {
    const auto found = numbers.find(name);
    return found == numbers.end() || found->second.empty() ? otherwise : found->second.front();
  }
  std::string_view text(std::string_view name, std::string_view otherwise) const {
    const auto found = texts.find(name);
    return found == texts.end() ? otherwise : std::string_view{found->second};
  }
};

/// Bytes of a tensor with these extents, none of them negative, and elements of so many bits; those of less than a byte
/// are packed. One more than `max_total_bytes` if it is larger than that.
template <class Extents>
byte_count tensor_bytes(const Extents& dims, std::uint32_t bits) {
  if (bits == 0 || std::find(dims.begin(), dims.end(), 0) != dims.end()) {
    return 0;
  }
  const byte_count most = max_total_bytes / bits * 8; // elements
  byte_count count = 1;
  for (const auto d : dims) {
    if (static_cast<byte_count>(d) > most / count) {
      return max_total_bytes + 1;
    }
    count *= static_cast<byte_count>(d);
  }
  return count / 8 * bits + (count % 8 * bits + 7) / 8;
}

} // namespace weft::ops
