// SPDX-License-Identifier: BSL-1.0
/// The fast Fourier transform as a workload.
#pragma once

#include "weft/workload/generate/amounts.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::generate {

/// A recursive FFT over `points` parts of an input of complex numbers.
struct fft_options {
  std::uint32_t points = 16; ///< a power of two, at least 2
  std::uint32_t block = 1024; ///< complex numbers of 16 bytes per part
};

/// The recursive one-dimensional FFT: a tree of `2 points − 1` ops that split the input into its even and odd parts,
/// then log₂ points levels of `points` butterflies, each of which reads its own part and the one that lies across.
/// `2 points − 1 + points log₂ points` ops, `2 points − 2 + 2 points log₂ points` edges; every path from the input has
/// `2 log₂ points + 1` ops.
///
/// Work in FLOP: a split counts 1 per complex number that it moves, a butterfly 8 (a complex product and sum). A split
/// has an output per half, a butterfly one. Types: `split`, `butterfly`. Throws `value_error` for options that are out
/// of range. Complexity: O(n). Source: the FFT graph of Chung and Ranka (SC 1992), as Topcuoglu, Hariri and Wu 2002, §5
/// use it.
inline workload fft(const fft_options& o = {}) {
  detail::require(o.points >= 2 && (o.points & (o.points - 1)) == 0 && o.points <= (1u << 24), "points",
                  "must be a power of two from 2 to 2^24");
  detail::require(o.block > 0, "block", "must be at least 1");
  const byte_count number = 16;
  workload_builder b;
  // The tree, as in a heap: node i has the children 2 i + 1 (even part) and 2 i + 2 (odd part).
  std::uint64_t parts = o.points;
  for (op_id i = 0; i < 2 * o.points - 1; ++i) {
    if (i + 1 == 2 * (o.points / parts)) { // the first of the next level
      parts /= 2;
    }
    const std::uint64_t numbers = parts * o.block;
    b.add_op({.work = static_cast<double>(numbers), .name = "split" + std::to_string(i), .type = "split"});
    if (parts == 1) {
      b.add_output(i, numbers * number);
    } else {
      b.add_output(i, numbers / 2 * number);
      b.add_output(i, numbers / 2 * number);
    }
    if (i > 0) {
      b.add_edge((i - 1) / 2, i, (i - 1) % 2);
    }
  }
  op_id before = o.points - 1; // the first of the previous level
  for (std::uint32_t stride = 1; stride < o.points; stride *= 2) {
    const auto first = static_cast<op_id>(b.num_ops());
    for (std::uint32_t i = 0; i < o.points; ++i) {
      const op_id v = b.add_op({.work = 8.0 * o.block,
                                .bytes = o.block * number,
                                .name = "butterfly" + std::to_string(stride) + "," + std::to_string(i),
                                .type = "butterfly"});
      b.add_edge(before + i, v);
      b.add_edge(before + (i ^ stride), v);
    }
    before = first;
  }
  return std::move(b).build();
}

} // namespace weft::generate
