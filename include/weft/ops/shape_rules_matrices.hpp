// SPDX-License-Identifier: BSL-1.0
/// Shapes of decompositions and diagonals of matrices, of spectra, and of blocks that become examples or channels.
///
/// Source: the shape functions in tensorflow/core/ops/{array, linalg, spectral}_ops.cc.
#pragma once

#include "weft/ops/shape_rules_layers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <utility>

namespace weft::ops::shape_rules {

/// A quotient of extents that may be open.
inline std::int64_t over(std::int64_t a, std::int64_t b) { return b > 0 ? a / b : -1; }
/// An extent with something added or cut off.
inline std::int64_t moved(std::int64_t extent, std::int64_t by) {
  constexpr std::int64_t large = std::int64_t{1} << 60;
  return std::clamp(extent, -large, large) + std::clamp(by, -large, large);
}

/// Blocks of each padded extent become examples, or examples blocks, whose edges are cut off: sizes of blocks in input
/// 1, edges before and after in input 2.
template <bool ToBatch>
void batch_of_blocks(shape_call& c) {
  const numbers *x = c.dims(0), *blocks = c.list("block_shape", 1), *edges = c.integers(2);
  if (x == nullptr || blocks == nullptr || x->size() <= blocks->size()) {
    return;
  }
  auto dims = *x;
  for (std::size_t i = 0; i < blocks->size(); ++i) {
    const auto b = (*blocks)[i];
    const bool known = edges != nullptr && edges->size() == 2 * blocks->size();
    const auto edge = known ? moved((*edges)[2 * i], (*edges)[2 * i + 1]) : 0;
    auto& extent = dims[i + 1];
    dims[0] = ToBatch ? times(dims[0], b) : over(dims[0], b);
    extent = !known ? -1 : ToBatch ? over(moved(extent, edge), b) : moved(times(extent, b), -edge);
  }
  c.set(0, dims);
}
/// Blocks of height and width become channels, or the other way round.
template <bool ToChannels>
void channels_of_blocks(shape_call& c) {
  const numbers* x = c.dims(0);
  const auto b = c.o.number("block_size", 1);
  if (x == nullptr || x->size() < 4 || b < 1) {
    return;
  }
  auto dims = *x;
  const bool last = c.o.number("channels_last", 0) != 0;
  const auto all = times(b, b);
  auto& channels = dims[last ? 3 : 1];
  channels = ToChannels ? times(channels, all) : over(channels, all);
  for (const std::size_t i : {last ? 1u : 2u, last ? 2u : 3u}) {
    dims[i] = ToChannels ? over(dims[i], b) : times(dims[i], b);
  }
  c.set(0, dims);
}

/// Lowest and highest diagonal: the numbers in input 1, or the main one if there is no such input.
inline std::optional<std::pair<std::int64_t, std::int64_t>> diagonals_of(const shape_call& c) {
  constexpr std::int64_t most = 1 << 30;
  const numbers* k = c.integers(1);
  if (!c.has(1)) {
    return std::pair<std::int64_t, std::int64_t>{0, 0};
  }
  return k == nullptr || k->empty()
           ? std::nullopt
           : std::optional{std::pair{std::clamp(k->front(), -most, most), std::clamp(k->back(), -most, most)}};
}
/// Matrices with these diagonals, of as many rows and columns as inputs 2 and 3 say. Source: MatrixDiagV2Shape.
inline void matrix_of_diagonals(shape_call& c) {
  const numbers* x = c.dims(0);
  const auto band = diagonals_of(c);
  if (x == nullptr || x->empty() || !band) {
    return;
  }
  const auto [low, high] = *band;
  numbers dims(x->begin(), x->end() - (low != high && x->size() > 1 ? 2 : 1));
  auto rows = moved(x->back(), -std::min<std::int64_t>(high, 0));
  auto columns = moved(x->back(), std::max<std::int64_t>(low, 0));
  const auto wanted_rows = c.o.value(2).value_or(-1), wanted_columns = c.o.value(3).value_or(-1);
  if (wanted_rows < 0 && wanted_columns < 0) {
    rows = columns = std::max(rows, columns);
  }
  dims.push_back(wanted_rows < 0 ? rows : wanted_rows);
  dims.push_back(wanted_columns < 0 ? columns : wanted_columns);
  c.set(0, dims);
}
/// The diagonals of matrices. Source: MatrixDiagPartV2Shape.
inline void diagonals_of_matrix(shape_call& c) {
  const numbers* x = c.dims(0);
  const auto band = diagonals_of(c);
  if (x == nullptr || x->size() < 2 || !band) {
    return;
  }
  const auto [low, high] = *band;
  numbers dims(x->begin(), x->end() - 2);
  if (low != high) {
    dims.push_back(high - low + 1);
  }
  dims.push_back(std::min(moved((*x)[x->size() - 2], std::min<std::int64_t>(high, 0)),
                          moved(x->back(), std::min<std::int64_t>(-low, 0))));
  c.set(0, dims);
}
/// A tensor with another one on its diagonal, or that diagonal.
template <bool Part>
void diagonal(shape_call& c) {
  if (const numbers* x = c.dims(0)) {
    numbers dims(x->begin(), x->begin() + std::ssize(*x) / (Part ? 2 : 1));
    Part ? void() : void(dims.insert(dims.end(), x->begin(), x->end()));
    c.set(0, dims);
  }
}

/// Matrices of the first input, a stack of them.
struct stacked_matrices {
  numbers stack;
  std::int64_t rows, columns;

  numbers with(std::initializer_list<std::int64_t> extents) const {
    auto dims = stack;
    dims.insert(dims.end(), extents);
    return dims;
  }
  std::int64_t least() const { return std::min(rows, columns); }
};
inline std::optional<stacked_matrices> matrices_of(const shape_call& c) {
  const numbers* x = c.dims(0);
  return x == nullptr || x->size() < 2
           ? std::nullopt
           : std::optional{stacked_matrices{{x->begin(), x->end() - 2}, (*x)[x->size() - 2], x->back()}};
}
inline void determinant(shape_call& c) {
  if (const auto m = matrices_of(c)) {
    c.set_all(m->stack);
  }
}
inline void lu(shape_call& c) {
  if (const auto m = matrices_of(c)) {
    c.like(0, 0);
    c.set(1, m->with({m->rows}));
  }
}
inline void qr(shape_call& c) {
  const bool full = c.o.number("full_matrices", 0) != 0;
  if (const auto m = matrices_of(c)) {
    c.set(0, m->with({m->rows, full ? m->rows : m->least()}));
    c.set(1, m->with({full ? m->rows : m->least(), m->columns}));
  }
}
inline void eigen(shape_call& c) {
  if (const auto m = matrices_of(c)) {
    c.set(0, m->with({m->rows}));
    c.set(1, c.o.number("compute_v", 1) != 0 ? m->with({m->rows, m->rows}) : numbers{0});
  }
}
inline void svd(shape_call& c) {
  const bool full = c.o.number("full_matrices", 0) != 0;
  const bool vectors = c.o.number("compute_uv", 1) != 0;
  if (const auto m = matrices_of(c)) {
    c.set(0, m->with({m->least()}));
    c.set(1, vectors ? m->with({m->rows, full ? m->rows : m->least()}) : numbers{0});
    c.set(2, vectors ? m->with({m->columns, full ? m->columns : m->least()}) : numbers{0});
  }
}

/// A real signal's spectrum has half as many numbers, and one more. Input 1 says how long signals are along the last
/// axes; with `inverse` it is the signal that comes out.
inline void real_spectrum(shape_call& c) {
  const numbers *x = c.dims(0), *lengths = c.integers(1);
  if (x == nullptr || lengths == nullptr || lengths->size() > x->size() || lengths->empty()) {
    return;
  }
  auto dims = *x;
  std::copy(lengths->begin(), lengths->end(), dims.end() - std::ssize(*lengths));
  dims.back() = c.o.number("inverse", 0) != 0 ? dims.back() : dims.back() / 2 + 1;
  c.set(0, dims);
}

} // namespace weft::ops::shape_rules
