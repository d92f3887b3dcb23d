// SPDX-License-Identifier: BSL-1.0
/// Ops that move numbers: concatenate, cut, stack, transpose, repeat, gather.
#pragma once

#include "kernels/broadcast.hpp"
#include "kernels/onednn.hpp"

namespace kernels {

namespace detail {

/// `rows` runs of `length` floats that lie in regular distances.
struct block_copy {
  const float* from;
  float* to;
  std::size_t rows, length, from_stride, to_stride;
};

/// Copies that have the same number of rows.
inline std::function<void()> copy_blocks(std::vector<block_copy> copies, unsigned team) {
  return [copies = std::move(copies), team] {
    share(team, copies.size() * copies.front().rows, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        const auto& c = copies[i % copies.size()];
        const std::size_t row = i / copies.size();
        std::copy_n(c.from + row * c.from_stride, c.length, c.to + row * c.to_stride);
      }
    });
  };
}

inline std::size_t product(const extents& dims, std::size_t first, std::size_t last) {
  std::size_t n = 1;
  for (std::size_t i = first; i < last; ++i) {
    n *= dims[i];
  }
  return n;
}

/// The axis along which a part is shorter than the whole.
inline std::size_t shorter_axis(const extents& part, const extents& whole) {
  const auto differs = std::mismatch(part.begin(), part.end(), whole.begin());
  return differs.first == part.end() ? 0 : static_cast<std::size_t>(differs.first - part.begin());
}

/// Joins parts along an axis (`cut` is false), or cuts them out of the whole, from `offset` (in that axis) on.
inline std::function<void()> join_or_cut(const operand& whole, std::span<const operand> parts, std::size_t axis,
                                         std::size_t offset, bool cut, unsigned team) {
  const std::size_t rows = product(whole.dims, 0, axis), inner = product(whole.dims, axis + 1, whole.dims.size());
  const std::size_t stride = whole.dims[axis] * inner;
  std::vector<block_copy> copies;
  float* at = whole.data + offset * inner;
  for (const auto& part : parts) {
    const std::size_t length = part.size() / rows;
    copies.push_back(cut ? block_copy{at, part.data, rows, length, stride, length}
                         : block_copy{part.data, at, rows, length, length, stride});
    at += length;
  }
  return copy_blocks(std::move(copies), team);
}

/// The first axis of `whole` without which it has the shape of `part`.
inline std::size_t stacked_axis(const op_call& call, const extents& part, const extents& whole) {
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    auto rest = whole;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
    if (rest == part) {
      return axis;
    }
  }
  throw unsupported_op(call, "no axis to stack along");
}

} // namespace detail

/// ConcatV2(parts) -> the parts joined along the axis in which they are shorter than the result.
inline std::function<void()> concat(const op_call& call, unsigned team) {
  const auto& whole = call.out[0];
  const auto axis = detail::shorter_axis(call.in[0].dims, whole.dims);
  return detail::join_or_cut(whole, call.in, axis, 0, false, team);
}

/// Split(x) -> equal parts.
inline std::function<void()> split(const op_call& call, unsigned team) {
  const auto axis = detail::shorter_axis(call.out[0].dims, call.in[0].dims);
  return detail::join_or_cut(call.in[0], call.out, axis, 0, true, team);
}

/// Pack(parts) -> the parts along a new axis.
inline std::function<void()> pack(const op_call& call, unsigned team) {
  const auto axis = detail::stacked_axis(call, call.in[0].dims, call.out[0].dims);
  return detail::join_or_cut(call.out[0], call.in, axis, 0, false, team);
}

/// Unpack(x) -> its slices along an axis, without that axis.
inline std::function<void()> unpack(const op_call& call, unsigned team) {
  const auto axis = detail::stacked_axis(call, call.out[0].dims, call.in[0].dims);
  return detail::join_or_cut(call.in[0], call.out, axis, 0, true, team);
}

/// Transpose(x). The index expression tells the permutation.
inline std::function<void()> transpose(const op_call& call, unsigned) {
  const auto &x = call.in[0], &y = call.out[0];
  const std::string_view axes = (*call.net)[call.op].op.axes;
  const auto rank = x.dims.size();
  dnnl::memory::dims strides;
  for (const char axis : axes.substr(rank + 2)) {
    strides.push_back(static_cast<std::int64_t>(detail::product(x.dims, axes.find(axis) + 1, rank)));
  }
  onednn::program p;
  p.copy(onednn::strided(y.dims, strides), x.data, onednn::plain(y.dims), y.data);
  return onednn::body_of(std::move(p));
}

/// Tile(x) -> x repeated along its extents of 1.
inline std::function<void()> tile(const op_call& call, unsigned team) {
  const auto &x = call.in[0], &y = call.out[0];
  return [=, from = x.data, to = y.data, rows = detail::rows_of{y.dims, x.dims}] {
    share(team, rows.count(), 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t row = first; row < last; ++row) {
        const float* source = from + rows.begin(row);
        float* target = to + row * rows.length();
        if (rows.step() == 0) {
          std::fill_n(target, rows.length(), *source);
        } else {
          std::copy_n(source, rows.length(), target);
        }
      }
    });
  };
}

/// Gather(x, indices) -> the rows that the indices name.
inline std::function<void()> gather(const op_call& call, unsigned team) {
  return [=, x = call.in[0].data, rows = call.in[1].values(), y = call.out[0].data,
          width = call.out[0].size() / call.in[1].size()] {
    share(team, rows.size(), 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        std::copy_n(x + static_cast<std::size_t>(rows[i]) * width, width, y + i * width);
      }
    });
  };
}

/// UnsortedSegmentSum(rows, indices) -> per index the sum of its rows.
inline std::function<void()> segment_sum(const op_call& call, unsigned) {
  return [x = call.in[0].data, to = call.in[1].values(), sums = call.out[0].values(),
          width = call.in[0].size() / call.in[1].size()] {
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (std::size_t i = 0; i < to.size(); ++i) {
      float* sum = sums.data() + static_cast<std::size_t>(to[i]) * width;
      for (std::size_t j = 0; j < width; ++j) {
        sum[j] += x[i * width + j];
      }
    }
  };
}

} // namespace kernels
