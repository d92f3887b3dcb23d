// SPDX-License-Identifier: BSL-1.0
/// Activations and their gradients, sums of tensors, and small elementwise ops.
#pragma once

#include "kernels/onednn.hpp"
#include "kernels/team.hpp"

#include <cmath>

namespace kernels {

namespace detail {

inline auto activation_forward(dnnl::algorithm f, const onednn::memory_desc& data, float slope) {
  const dnnl::eltwise_forward::desc desc{dnnl::prop_kind::forward_training, f, data, slope};
  return dnnl::eltwise_forward::primitive_desc{desc, onednn::user_scratchpad(), onednn::engine()};
}

/// The gradient of an activation from dy and from what its argument `role` is, its input or its output.
inline std::function<void()> activation_gradient(const op_call& call, dnnl::algorithm f, int role, float slope) {
  const auto data = onednn::flat(call.in[0]);
  const dnnl::eltwise_backward::desc gradient{f, data, data, slope};
  const dnnl::eltwise_backward::primitive_desc desc{gradient, onednn::user_scratchpad(), onednn::engine(),
                                                    activation_forward(f, data, slope)};
  onednn::program p;
  p.add<dnnl::eltwise_backward>(desc, {{DNNL_ARG_DIFF_DST, data, call.in[0].data},
                                       {role, data, call.in[1].data},
                                       {DNNL_ARG_DIFF_SRC, data, call.out[0].data}});
  return onednn::body_of(std::move(p));
}

inline constexpr float leak = 0.2f; ///< the slope of LeakyRelu below zero, TensorFlow's default

} // namespace detail

/// Relu, Sigmoid, Tanh, Exp, Sqrt, LeakyRelu: x -> y. Only the last one has a slope.
template <dnnl::algorithm Function, bool Leaky = false>
std::function<void()> activation(const op_call& call, unsigned) {
  const auto data = onednn::flat(call.in[0]);
  onednn::program p;
  p.add<dnnl::eltwise_forward>(detail::activation_forward(Function, data, Leaky ? detail::leak : 0.0f),
                               {{DNNL_ARG_SRC, data, call.in[0].data}, {DNNL_ARG_DST, data, call.out[0].data}});
  return onednn::body_of(std::move(p));
}

/// ReluGrad, SigmoidGrad, TanhGrad: dy, y -> dx.
template <dnnl::algorithm FunctionByResult>
std::function<void()> activation_grad(const op_call& call, unsigned) {
  return detail::activation_gradient(call, FunctionByResult, DNNL_ARG_DST, 0.0f);
}

/// LeakyReluGrad(dy, x) -> dx
inline std::function<void()> leaky_relu_grad(const op_call& call, unsigned) {
  return detail::activation_gradient(call, dnnl::algorithm::eltwise_relu, DNNL_ARG_SRC, detail::leak);
}

/// AddN: the sum of tensors of one shape.
inline std::function<void()> add_n(const op_call& call, unsigned) {
  const auto data = onednn::flat(call.out[0]);
  const dnnl::sum::primitive_desc desc{data, std::vector<float>(call.in.size(), 1.0f),
                                       std::vector<onednn::memory_desc>(call.in.size(), data), onednn::engine(),
                                       onednn::user_scratchpad()};
  std::vector<onednn::argument> arguments{{DNNL_ARG_DST, data, call.out[0].data}};
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    arguments.push_back({DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), data, call.in[i].data});
  }
  onednn::program p;
  p.add<dnnl::sum>(desc, std::move(arguments));
  return onednn::body_of(std::move(p));
}

namespace detail {

/// y[i] = f(x[i])
template <class Function>
std::function<void()> map(const op_call& call, unsigned team, Function f) {
  return [x = call.in[0].data, y = call.out[0].data, n = call.out[0].size(), team, f] {
    share_floats(team, n, [=](std::size_t first, std::size_t last) {
#pragma omp simd
      for (std::size_t i = first; i < last; ++i) {
        y[i] = f(x[i]);
      }
    });
  };
}

/// The share of normal random numbers below x.
inline float normal_share(float x) {
  return (1 + std::erf(x * 0.7071067812f)) / 2;
}

} // namespace detail

/// Neg: x -> -x.
inline std::function<void()> negate(const op_call& call, unsigned team) {
  return detail::map(call, team, [](float x) { return -x; });
}
/// Floor: x -> the largest integer that is not above x.
inline std::function<void()> floor(const op_call& call, unsigned team) {
  return detail::map(call, team, [](float x) { return std::floor(x); });
}

/// Gelu: x -> x times the share of normal random numbers below it.
inline std::function<void()> gelu(const op_call& call, unsigned team) {
  return detail::map(call, team, [](float x) { return x * detail::normal_share(x); });
}

/// GeluGrad(dy, x) -> dx
inline std::function<void()> gelu_grad(const op_call& call, unsigned team) {
  return [=, dy = call.in[0].data, x = call.in[1].data, dx = call.out[0].data, n = call.out[0].size()] {
    share_floats(team, n, [=](std::size_t first, std::size_t last) {
      constexpr float density = 0.3989422804f; // of a normal number at 0
      for (std::size_t i = first; i < last; ++i) {
        dx[i] = dy[i] * (detail::normal_share(x[i]) + x[i] * density * std::exp(-x[i] * x[i] / 2));
      }
    });
  };
}

/// SwiGLU(pairs) -> the first of each pair times its sigmoid and the second.
inline std::function<void()> swiglu(const op_call& call, unsigned team) {
  return [=, x = call.in[0].data, y = call.out[0].data, n = call.out[0].size()] {
    share_floats(team, n, [=](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        y[i] = x[2 * i] / (1 + std::exp(-x[2 * i])) * x[2 * i + 1];
      }
    });
  };
}

/// SwiGLUGrad(pairs, dy) -> gradients of the pairs.
inline std::function<void()> swiglu_grad(const op_call& call, unsigned team) {
  return [=, x = call.in[0].data, dy = call.in[1].data, dx = call.out[0].data, n = call.in[1].size()] {
    share_floats(team, n, [=](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        const float a = x[2 * i], b = x[2 * i + 1], sigmoid = 1 / (1 + std::exp(-a));
        dx[2 * i] = dy[i] * b * sigmoid * (1 + a * (1 - sigmoid));
        dx[2 * i + 1] = dy[i] * a * sigmoid;
      }
    });
  };
}

/// Reciprocal: x -> 1 / x.
inline std::function<void()> reciprocal(const op_call& call, unsigned team) {
  return detail::map(call, team, [](float x) { return 1 / x; });
}
/// Log1p: x -> log(1 + x).
inline std::function<void()> log1p(const op_call& call, unsigned team) {
  return detail::map(call, team, [](float x) { return std::log1p(x); });
}

/// Select(condition, a, b): a where the condition holds, else b. The condition is given per element or per row.
inline std::function<void()> select(const op_call& call, unsigned team) {
  const std::size_t n = call.out[0].size(), elements_per_condition = n / call.in[0].size();
  return [=, condition = call.in[0].data, a = call.in[1].data, b = call.in[2].data, y = call.out[0].data] {
    share_floats(team, n, [=](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        y[i] = condition[i / elements_per_condition] != 0 ? a[i] : b[i];
      }
    });
  };
}

} // namespace kernels
