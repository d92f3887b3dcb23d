// SPDX-License-Identifier: BSL-1.0
/// Slices as Python writes them: begin, end and step per entry, an ellipsis, new axes, and axes that vanish.
#pragma once

#include "weft/ops/known_tensor.hpp"
#include "weft/ops/call.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace weft::ops {

/// The places of such a slice along the axes of what is sliced, and the extents of the result.
struct strided_slice {
  known_tensor::extents starts = {}, ends = {}, axes = {}, steps = {};
  known_tensor::extents dims = {};
};

/// A slice of a tensor of these extents by an entry of `begin`, `end` and `step` each; bits of attributes say which
/// bounds are open (`begin_mask`, `end_mask`), which entries are an ellipsis (`ellipsis_mask`), stand for a new axis
/// (`new_axis_mask`), or for one element of an axis that vanishes (`shrink_axis_mask`). Nothing where the lists do not
/// fit. Source: tensorflow/core/util/strided_slice_op.cc.
inline std::optional<strided_slice> strided_slice_of(const call& o, const known_tensor::extents& x,
                                                     const known_tensor::extents& begin,
                                                     const known_tensor::extents& end,
                                                     const known_tensor::extents& step) {
  constexpr auto least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  if (begin.size() != end.size() || begin.size() > 60) {
    return std::nullopt;
  }
  const auto has = [&](const char* mask, std::size_t i) { return (o.number(mask, 0) >> i & 1) != 0; };
  std::size_t named = 0; // axes of x
  for (std::size_t i = 0; i < begin.size(); ++i) {
    named += has("ellipsis_mask", i) || has("new_axis_mask", i) ? 0u : 1u;
  }
  strided_slice s;
  known_tensor::extents layout; // per extent of the result its axis, -1 for a new one
  std::int64_t at = 0;
  const auto rank = static_cast<std::int64_t>(x.size());
  for (std::size_t i = 0; i < begin.size(); ++i) {
    if (has("ellipsis_mask", i)) {
      for (auto left = rank - static_cast<std::int64_t>(named); left > 0 && at < rank; --left) {
        layout.push_back(at++);
      }
    } else if (has("new_axis_mask", i)) {
      layout.push_back(-1);
    } else if (at < rank) {
      const bool single = has("shrink_axis_mask", i);
      const auto by = i < step.size() && step[i] != 0 && !single ? std::max(step[i], least / 2) : 1;
      s.starts.push_back(single || !has("begin_mask", i) ? begin[i] : by > 0 ? 0 : most);
      s.ends.push_back(single                   ? (begin[i] == -1 || begin[i] == most ? most : begin[i] + 1)
                       : !has("end_mask", i) ? end[i]
                       : by > 0              ? most
                                             : least);
      s.axes.push_back(at);
      s.steps.push_back(by);
      if (!single) {
        layout.push_back(at);
      }
      ++at;
    }
  }
  for (; at < rank; ++at) {
    layout.push_back(at);
  }
  const auto places = known::places_of_slice(x, s.starts, s.ends, s.axes, s.steps);
  if (!places) {
    return std::nullopt;
  }
  for (const auto axis : layout) {
    s.dims.push_back(axis < 0 ? 1 : places->dims[static_cast<std::size_t>(axis)]);
  }
  return s;
}

} // namespace weft::ops
