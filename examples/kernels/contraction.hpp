// SPDX-License-Identifier: BSL-1.0
/// Products of two tensors along the axes of an index expression.
#pragma once

#include "kernels/team.hpp"

#include <array>
#include <string_view>
#include <vector>

namespace kernels {

namespace detail {

/// The axes of an expression such as `bmk,bkn->bmn`, and how far apart an operand's elements are along each: 0 if it
/// lacks the axis.
struct contracted_axes {
  std::vector<std::size_t> extent;
  std::array<std::vector<std::size_t>, 3> strides; ///< of both factors and of the result

  /// Where an operand has the element of that number, counted along axes `[first, last)`.
  std::size_t offset(std::size_t operand, std::size_t number, std::size_t first, std::size_t last) const {
    std::size_t at = 0;
    for (std::size_t d = last; d-- > first; number /= extent[d]) {
      at += number % extent[d] * strides[operand][d];
    }
    return at;
  }
};

/// The axes of the result first, then those that are summed up.
inline contracted_axes axes_of_contraction(const op_call& call) {
  const std::string_view text = (*call.net)[call.op].op.axes;
  const auto comma = text.find(','), arrow = text.find("->");
  if (comma == text.npos || arrow == text.npos) {
    throw unsupported_op(call, "it has no index expression");
  }
  const std::array of{text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1), text.substr(arrow + 2)};
  const std::array<const operand*, 3> operands{&call.in[0], &call.in[1], &call.out[0]};
  contracted_axes all;
  std::string letters;
  for (const std::size_t i : {2u, 0u, 1u}) {
    for (std::size_t d = 0; d < of[i].size(); ++d) {
      if (letters.find(of[i][d]) == letters.npos) {
        letters += of[i][d];
        all.extent.push_back(operands[i]->dims[d]);
      }
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    all.strides[i].resize(letters.size(), 0);
    for (std::size_t d = of[i].size(), step = 1; d-- > 0; step *= operands[i]->dims[d]) {
      all.strides[i][letters.find(of[i][d])] = step;
    }
  }
  return all;
}

} // namespace detail

/// Einsum(a, b), BatchMatMulV2(a, b) -> their product, summed over the axes that it lacks.
inline std::function<void()> contraction(const op_call& call, unsigned team) {
  const auto axes = detail::axes_of_contraction(call);
  const std::size_t kept = call.out[0].dims.size(), rank = axes.extent.size();
  std::vector<std::array<std::size_t, 2>> terms{{0, 0}}; // where the factors have the terms of a sum
  for (std::size_t d = kept; d < rank; ++d) {
    std::vector<std::array<std::size_t, 2>> more;
    for (const auto& [a, b] : terms) {
      for (std::size_t i = 0; i < axes.extent[d]; ++i) {
        more.push_back({a + i * axes.strides[0][d], b + i * axes.strides[1][d]});
      }
    }
    terms = std::move(more);
  }
  return [=, a = call.in[0].data, b = call.in[1].data, y = call.out[0].data, n = call.out[0].size()] {
    share(team, n, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        const float *u = a + axes.offset(0, i, 0, kept), *v = b + axes.offset(1, i, 0, kept);
        float sum = 0;
        for (const auto& [at_u, at_v] : terms) {
          sum += u[at_u] * v[at_v];
        }
        y[i] = sum;
      }
    });
  };
}

} // namespace kernels
