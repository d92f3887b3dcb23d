// SPDX-License-Identifier: BSL-1.0
/// Collectives as ops and tensors of a workload.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/parallel/collective.hpp"
#include "weft/workload/builder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::parallel {

/// One output of an op that is being built.
struct op_output {
  op_id op = none;
  std::uint32_t output = 0;
};

/// The types of the ops that collectives are made of.
struct collective_types {
  static constexpr const char* start = "StartCollective"; ///< a tensor cut into chunks that are sent from there
  static constexpr const char* pack = "PackBucket";       ///< … of copies of tensors, one after the other
  static constexpr const char* add = "AddChunk";          ///< the sum of two chunks
  static constexpr const char* pass = "PassChunk";        ///< a chunk that goes on to another rank
  static constexpr const char* unpack = "UnpackBucket";   ///< the tensors in the chunks, without a copy
  static constexpr const char* join = "JoinPieces";       ///< … with a copy

  static constexpr bool has(std::string_view type) {
    return type == start || type == pack || type == add || type == pass || type == unpack || type == join;
  }
};

/// Throws `value_error` for a message between ranks, or of a chunk, that the collective does not have.
inline void check_messages(const collective& c, const char* where) {
  for (const auto& m : c.messages) {
    if (m.from >= c.ranks || m.to >= c.ranks || m.chunk >= c.chunks) {
      throw value_error(where, "a message of the all-reduce goes from rank " + std::to_string(m.from) + " to " +
                                 std::to_string(m.to) + " with chunk " + std::to_string(m.chunk) + "; there are " +
                                 std::to_string(c.ranks) + " ranks and " + std::to_string(c.chunks) + " chunks");
    }
  }
}

/// The bytes of chunks of whole numbers of elements that add up, but for what is left of an element in the last one.
inline std::vector<byte_count> chunk_sizes(byte_count bytes, byte_count chunks, double element_bytes) {
  const auto element = std::max<byte_count>(1, static_cast<byte_count>(element_bytes));
  const byte_count elements = bytes / element;
  std::vector<byte_count> sizes;
  for (byte_count k = 0; k < chunks; ++k) {
    sizes.push_back((elements / chunks + (k < elements % chunks ? 1 : 0)) * element);
  }
  sizes.back() += bytes % element;
  return sizes;
}

/// Adds the messages of a collective to a workload: a message that adds is an op of its receiver, which reads its own
/// chunk and the sender's; one that is sent on, an op that hands it over; any other one is a tensor of its sender which
/// the receiver reads. `have` says what ranks have of the chunks, rank by rank, `chunks` each, and is what they have
/// then. `placed(rank, op)` is called for each op. Additions count a FLOP for `element_bytes`.
/// Complexity: linear in messages.
template <class Placed>
void add_collective(workload_builder& b, const collective& c, std::span<const byte_count> chunk_bytes,
                    std::vector<op_output>& have, const std::string& name, double element_bytes, Placed placed) {
  const auto at = [&](std::uint32_t rank, std::uint32_t chunk) { return std::size_t{rank} * c.chunks + chunk; };
  const auto first = have;
  buffer<std::size_t> last_sent(std::size_t{c.ranks} * c.chunks, 0); // 1 + the last message that sends it
  for (std::size_t i = 0; i < c.messages.size(); ++i) {
    if (c.messages[i].of_first) {
      continue;
    }
    last_sent[at(c.messages[i].from, c.messages[i].chunk)] = i + 1;
  }
  for (std::size_t i = 0; i < c.messages.size(); ++i) {
    const auto& m = c.messages[i];
    const auto from = (m.of_first ? first : have)[at(m.from, m.chunk)];
    auto& to = have[at(m.to, m.chunk)];
    if (!m.adds && last_sent[at(m.to, m.chunk)] <= i + 1) {
      to = from;
      continue;
    }
    const auto bytes = chunk_bytes[m.chunk];
    const op_id v = b.add_op({.work = m.adds ? static_cast<double>(bytes) / element_bytes : 0,
                              .bytes = bytes,
                              .name = name + "/chunk_" + std::to_string(m.chunk) + (m.adds ? "/add_" : "/pass_") +
                                      std::to_string(m.to),
                              .type = m.adds ? collective_types::add : collective_types::pass});
    b.add_edge(from.op, v, from.output);
    if (m.adds) {
      b.add_edge(to.op, v, to.output);
    }
    placed(m.to, v);
    to = {v, 0};
  }
}

} // namespace weft::parallel
