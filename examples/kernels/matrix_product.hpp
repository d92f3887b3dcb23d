// SPDX-License-Identifier: BSL-1.0
/// Matrix products, either factor transposed, with and without a bias.
#pragma once

#include "kernels/onednn.hpp"

namespace kernels {

namespace detail {

/// A matrix as a factor or a result: its layout and its elements.
struct matrix {
  onednn::memory_desc desc;
  float* data;
};

/// Elements that are stored row by row, as a matrix of that many columns.
inline matrix matrix_of(float* data, std::uint64_t rows, std::uint64_t columns, bool transposed = false) {
  return {transposed ? onednn::strided({columns, rows}, {1, static_cast<std::int64_t>(columns)})
                     : onednn::plain({rows, columns}),
          data};
}
inline matrix matrix_of(const operand& x, bool transposed = false) {
  return matrix_of(x.data, x.dims[0], x.dims[1], transposed);
}

/// a · b, plus a vector along the rows if `bias` is not null.
inline std::function<void()> multiplication(const matrix& a, const matrix& b, const matrix& c, float* bias = nullptr) {
  const auto vector = onednn::plain({1, static_cast<std::uint64_t>(c.desc.dims()[1])});
  const auto op = bias != nullptr ? dnnl::matmul::desc{a.desc, b.desc, vector, c.desc}
                                  : dnnl::matmul::desc{a.desc, b.desc, c.desc};
  const dnnl::matmul::primitive_desc desc{op, onednn::user_scratchpad(), onednn::engine()};
  std::vector<onednn::argument> arguments{
    {DNNL_ARG_SRC, a.desc, a.data}, {DNNL_ARG_WEIGHTS, b.desc, b.data}, {DNNL_ARG_DST, c.desc, c.data}};
  if (bias != nullptr) {
    arguments.push_back({DNNL_ARG_BIAS, vector, bias});
  }
  onednn::program p;
  p.add<dnnl::matmul>(desc, std::move(arguments));
  return onednn::body_of(std::move(p));
}

} // namespace detail

/// MatMul(a, b) -> a · b. The index expression tells which factors are transposed.
inline std::function<void()> matrix_product(const op_call& call, unsigned) {
  const std::string_view axes = (*call.net)[call.op].op.axes;
  const bool transpose_a = axes.starts_with("km"), transpose_b = axes.find(",nk") != axes.npos;
  return detail::multiplication(detail::matrix_of(call.in[0], transpose_a), detail::matrix_of(call.in[1], transpose_b),
                                detail::matrix_of(call.out[0]));
}

/// Gemm(a, b, bias) -> a · b + bias.
inline std::function<void()> matrix_product_and_bias(const op_call& call, unsigned) {
  return detail::multiplication(detail::matrix_of(call.in[0]), detail::matrix_of(call.in[1]),
                                detail::matrix_of(call.out[0]), call.in[2].data);
}

} // namespace kernels
