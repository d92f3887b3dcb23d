// SPDX-License-Identifier: BSL-1.0
/// Products of two tensors along axes that are named by letters.
#pragma once

#include "weft/workload/nn/ops.hpp"

#include <array>
#include <string>
#include <utility>

namespace weft::nn {

/// The axes of two factors and of their product, a letter per dimension, such as `bshd`, `bthd` and `bhst`.
struct product_axes {
  std::string a;
  std::string b;
  std::string product;
};

namespace detail {

inline tensor einsum_of_shape(const product_axes& axes, const tensor& a, const tensor& b, const extents& dims) {
  std::array<std::uint64_t, 128> extent{};
  double terms = 1;
  const auto take = [&](const std::string& letters, const extents& of) {
    require(letters.size() == of.size(), "Einsum", "'" + letters + "' does not fit " + text(of));
    for (std::size_t d = 0; d < of.size(); ++d) {
      auto& known = extent[static_cast<unsigned char>(letters[d]) % extent.size()];
      require(known == 0 || known == of[d], "Einsum", std::string{"extents of '"} + letters[d] + "' differ");
      terms *= known == 0 ? flop(of[d]) : 1;
      known = of[d];
    }
  };
  take(axes.a, a.dims());
  take(axes.b, b.dims());
  take(axes.product, dims);
  const auto gradient = [axes](const gradient_call& call) -> std::vector<tensor> {
    const auto &x = call.input(0), &y = call.input(1), &g = call.dy[0];
    tensor dx, dy;
    if (call.wanted[0]) {
      dx = einsum_of_shape({axes.product, axes.b, axes.a}, g, y, x.dims());
    }
    if (call.wanted[1]) {
      dy = einsum_of_shape({axes.a, axes.product, axes.b}, x, g, y.dims());
    }
    return {dx, dy};
  };
  return a.net().add_tensor({.type = "Einsum",
                             .inputs = {a, b},
                             .outputs = {{dims}},
                             .work = 2 * terms,
                             .gradient = gradient,
                             .axes = axes.a + "," + axes.b + "->" + axes.product});
}

} // namespace detail

/// The product of two tensors, summed over the axes that it lacks. FLOP: 2 for each combination of all axes. Throws
/// `value_error` for letters that do not fit the dimensions, or that no factor has. Source: Einstein summation, as in
/// `torch.einsum`.
inline tensor einsum(const product_axes& axes, const tensor& a, const tensor& b) {
  extents dims;
  for (const char c : axes.product) {
    const auto in_a = axes.a.find(c), in_b = axes.b.find(c);
    const bool fits = in_a < a.dims().size() || in_b < b.dims().size();
    detail::require(fits, "Einsum", std::string{"no factor has the axis '"} + c + "'");
    dims.push_back(in_a < a.dims().size() ? a.dims()[in_a] : b.dims()[in_b]);
  }
  return detail::einsum_of_shape(axes, a, b, dims);
}

} // namespace weft::nn
