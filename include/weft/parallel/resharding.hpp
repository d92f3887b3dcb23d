// SPDX-License-Identifier: BSL-1.0
/// Layouts of tensors over ranks, and what brings them from one to another.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/parallel/axis_part.hpp"
#include "weft/parallel/collective.hpp"

#include <cstdint>
#include <functional>
#include <string_view>

namespace weft::parallel {

/// The layout of a tensor over ranks.
struct layout {
  enum kind : std::uint8_t { whole, split, partial } what = whole; ///< partial: terms of a sum
  std::uint32_t dimension = 0;                                    ///< that is split
  axis_part part = {};                                            ///< … into such parts
  friend bool operator==(const layout&, const layout&) = default;
  friend auto operator<=>(const layout&, const layout&) = default;
};

/// The collective that brings a tensor from one layout to another one.
enum class resharding : std::uint8_t { nothing, all_gather, all_to_all, all_reduce, reduce_scatter, impossible };

/// As in `8 all-reduces`.
constexpr std::string_view to_string(resharding r) {
  switch (r) {
  case resharding::all_gather: return "all-gather";
  case resharding::all_to_all: return "all-to-all";
  case resharding::all_reduce: return "all-reduce";
  case resharding::reduce_scatter: return "reduce-scatter";
  case resharding::nothing: return "part";
  case resharding::impossible: break;
  }
  return "impossible";
}

/// A tensor of a model that was brought into another layout.
struct resharded_tensor {
  tensor_id tensor = 0;
  resharding what = resharding::nothing;
};

/// From what is there to what is needed. The part of something whole is there already; nobody makes terms of a sum of
/// what is no sum; other parts of the same dimension are sent as those of another one are.
constexpr resharding between(const layout& have, const layout& need) {
  if (have == need || (have.what == layout::whole && need.what == layout::split)) {
    return resharding::nothing;
  }
  if (need.what == layout::partial) {
    return resharding::impossible;
  }
  if (have.what == layout::partial) {
    return need.what == layout::whole ? resharding::all_reduce : resharding::reduce_scatter;
  }
  return need.what == layout::whole ? resharding::all_gather : resharding::all_to_all;
}

/// The messages of an all-gather, an all-reduce or a reduce-scatter of so many bytes: rank r has, or gets, chunk r + 1.
using resharding_messages = std::function<collective(resharding what, byte_count bytes)>;

/// Those of a ring of p ranks.
inline collective ring(resharding what, std::uint32_t p) {
  return what == resharding::all_gather       ? ring_all_gather(p)
         : what == resharding::reduce_scatter ? ring_reduce_scatter(p)
                                              : ring_all_reduce(p);
}

} // namespace weft::parallel
