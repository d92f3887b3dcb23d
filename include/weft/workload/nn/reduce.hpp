// SPDX-License-Identifier: BSL-1.0
/// Sums and means over axes, and the sum of several tensors.
///
/// FLOP: reductions 1 per input element; the sum of k tensors k - 1 per element.
#pragma once

#include "weft/workload/nn/ops.hpp"

namespace weft::nn {

/// The elementwise sum of tensors of one shape.
inline tensor add_n(const std::vector<tensor>& terms) {
  for (const auto& t : terms) {
    detail::require(t.dims() == terms.front().dims(), "AddN", "all terms need the same shape");
  }
  const auto gradient = [n = terms.size()](const gradient_call& call) {
    return std::vector<tensor>(n, call.dy[0]);
  };
  return terms.front().net().add_tensor(
    {.type = "AddN",
     .inputs = terms,
     .outputs = {terms.front().type()},
     .work = detail::flop(terms.size() - 1) * detail::flop(terms.front().elements()),
     .gradient = gradient});
}

namespace detail {
/// Sum or Mean over some axes, all if none is named. The gradient is repeated along them, and divided for a mean.
inline tensor reduce(const char* type, const tensor& x, const std::vector<std::size_t>& axes, bool divide) {
  extents kept = x.dims();
  for (const auto axis : axes) {
    require(axis < kept.size(), type, text(kept) + " has no axis " + std::to_string(axis));
  }
  extents dims;
  std::string from, to; // the index expression
  for (std::size_t i = 0; i < kept.size(); ++i) {
    from += static_cast<char>('a' + i);
    if (axes.empty() || std::find(axes.begin(), axes.end(), i) != axes.end()) {
      kept[i] = 1;
    } else {
      dims.push_back(kept[i]);
      to += from.back();
    }
  }
  const auto rank = std::max<std::uint64_t>(1, kept.size());
  const auto gradient = [kept, rank, divide](const gradient_call& call) -> std::vector<tensor> {
    auto g = data_op("Reshape", {call.dy[0], call.net.constant("Reshape/shape", {rank})}, kept);
    g = data_op("Tile", {g, call.net.constant("Tile/multiples", {rank})}, call.input().dims());
    return {divide ? g / call.net.data("Const", "Const", {}) : g};
  };
  const auto named = x.net().constant("Const", {axes.empty() ? rank : axes.size()});
  return x.net().add_tensor({.type = type,
                             .inputs = {x, named},
                             .outputs = {{dims}},
                             .work = flop(x.elements()),
                             .gradient = gradient,
                             .axes = from + "->" + to});
}
} // namespace detail

/// The mean over some axes, which the result lacks; over all elements if none is named.
/// Throws `value_error` for an axis that x does not have.
inline tensor reduce_mean(const tensor& x, const std::vector<std::size_t>& axes = {}) {
  return detail::reduce("Mean", x, axes, true);
}

/// The sum over some axes, likewise.
inline tensor reduce_sum(const tensor& x, const std::vector<std::size_t>& axes = {}) {
  return detail::reduce("Sum", x, axes, false);
}

} // namespace weft::nn
