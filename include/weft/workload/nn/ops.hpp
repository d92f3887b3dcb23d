// SPDX-License-Identifier: BSL-1.0
/// Arithmetic ops of a network, each with its FLOP count and its gradient.
///
/// FLOP: matrix products 2 m n k; elementwise ops 1 per output element, transcendental ones too; bias gradients 1
/// per input element; copies, reshapes and constants 0.
#pragma once

#include "weft/workload/nn/network.hpp"

namespace weft::nn {

namespace detail {

inline double flop(std::uint64_t elements) {
  return static_cast<double>(elements);
}

inline std::string text(const extents& dims) {
  std::string s;
  for (const auto d : dims) {
    s += (s.empty() ? "[" : ", ") + std::to_string(d);
  }
  return s.empty() ? "[]" : s + "]";
}

/// An axis per dimension, for index expressions.
inline std::string letters(std::size_t rank) {
  std::string axes;
  for (std::size_t d = 0; d < rank; ++d) {
    axes += static_cast<char>('a' + d);
  }
  return axes;
}

inline void require(bool holds, const char* op, const std::string& problem) {
  if (!holds) {
    throw value_error(op, problem);
  }
}

/// The shape of a result whose operands are repeated along missing extents and extents of 1.
inline extents broadcast(const extents& a, const extents& b) {
  extents dims(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 1; i <= dims.size(); ++i) { // from the innermost
    const auto x = i <= a.size() ? a[a.size() - i] : 1;
    const auto y = i <= b.size() ? b[b.size() - i] : 1;
    require(x == y || x == 1 || y == 1, "elementwise op", "cannot broadcast " + text(a) + " with " + text(b));
    dims[dims.size() - i] = std::max(x, y);
  }
  return dims;
}

inline tensor elementwise(const std::string& type, std::vector<tensor> inputs, extents dims,
                          gradient_function gradient = {}, std::string name = {}) {
  auto& net = inputs.front().net();
  const double work = flop(element_count(dims));
  return net.add_tensor({.type = type,
                         .inputs = std::move(inputs),
                         .outputs = {{std::move(dims)}},
                         .work = work,
                         .gradient = std::move(gradient),
                         .name = std::move(name)});
}

/// An op that moves data without arithmetic.
inline tensor data_op(const std::string& type, std::vector<tensor> inputs, extents dims,
                      gradient_function gradient = {}, std::string name = {}) {
  auto& net = inputs.front().net();
  const auto bytes = inputs.front().type().element_bytes;
  return net.add_tensor({.type = type,
                         .inputs = std::move(inputs),
                         .outputs = {{std::move(dims), bytes}},
                         .gradient = std::move(gradient),
                         .name = std::move(name)});
}

/// The constant that holds a shape. TensorFlow's `Shape` op becomes one when the shape is known, as it is here.
inline tensor shape_constant(network& net, const tensor& of, const char* name = "Shape") {
  return net.constant(name, {std::max<std::uint64_t>(1, of.dims().size())});
}

/// Sums what was repeated by broadcasting, so that gradients have the shapes of the operands.
class unbroadcast {
public:
  explicit unbroadcast(const gradient_call& call) : call_{call} {
    if (call.net.bookkeeping()) {
      shapes_ = {shape_constant(call.net, call.input(0)), shape_constant(call.net, call.input(1))};
      const op_id v = call.net.add(
        {.type = "BroadcastGradientArgs", .inputs = {shapes_[0], shapes_[1]}, .outputs = {{{4}, 4}, {{4}, 4}}});
      axes_ = {tensor{call.net, v, 0}, tensor{call.net, v, 1}};
    }
  }
  tensor operator()(const tensor& gradient, std::size_t i) const {
    const auto& dims = call_.input(i).dims();
    const bool repeated = gradient.dims() != dims;
    if (!call_.net.bookkeeping() && !repeated) {
      return gradient;
    }
    const auto sum = call_.net.add_tensor({.type = "Sum",
                                           .inputs = {gradient, axes_[i]},
                                           .outputs = {{dims}},
                                           .work = repeated ? flop(gradient.elements()) : 0}); // else nothing to add
    return call_.net.bookkeeping() ? data_op("Reshape", {sum, shapes_[i]}, dims) : sum;
  }

private:
  const gradient_call& call_;
  std::vector<tensor> shapes_{2};
  std::vector<tensor> axes_{2};
};

} // namespace detail

/// a · b, either transposed first. Precondition: two matrices that fit; else `value_error`.
inline tensor matmul(const tensor& a, const tensor& b, bool transpose_a = false, bool transpose_b = false) {
  detail::require(a.dims().size() == 2 && b.dims().size() == 2, "MatMul", "takes two matrices");
  const auto m = a.dims()[transpose_a ? 1 : 0];
  const auto k = a.dims()[transpose_a ? 0 : 1];
  const auto n = b.dims()[transpose_b ? 0 : 1];
  detail::require(k == b.dims()[transpose_b ? 1 : 0], "MatMul",
                  "inner extents differ: " + detail::text(a.dims()) + " and " + detail::text(b.dims()));
  const auto gradient = [transpose_a, transpose_b](const gradient_call& call) -> std::vector<tensor> {
    const auto& x = call.input(0);
    const auto& y = call.input(1);
    const auto& g = call.dy[0];
    tensor dx, dy;
    if (call.wanted[0]) {
      dx = transpose_a ? matmul(y, g, transpose_b, true) : matmul(g, y, false, !transpose_b);
    }
    if (call.wanted[1]) {
      dy = transpose_b ? matmul(g, x, true, transpose_a) : matmul(x, g, !transpose_a, false);
    }
    return {dx, dy};
  };
  return a.net().add_tensor({.type = "MatMul",
                             .inputs = {a, b},
                             .outputs = {{{m, n}}},
                             .work = 2 * detail::flop(m) * detail::flop(n) * detail::flop(k),
                             .gradient = gradient,
                             .axes = std::string{transpose_a ? "km" : "mk"} + (transpose_b ? ",nk->mn" : ",kn->mn")});
}

inline tensor operator+(const tensor& a, const tensor& b) {
  const auto gradient = [](const gradient_call& call) -> std::vector<tensor> {
    const detail::unbroadcast reduce{call};
    return {call.wanted[0] ? reduce(call.dy[0], 0) : tensor{}, call.wanted[1] ? reduce(call.dy[0], 1) : tensor{}};
  };
  return detail::elementwise("Add", {a, b}, detail::broadcast(a.dims(), b.dims()), gradient, "add");
}

inline tensor negate(const tensor& x) {
  return detail::elementwise("Neg", {x}, x.dims(),
                             [](const gradient_call& call) -> std::vector<tensor> { return {negate(call.dy[0])}; });
}

inline tensor operator-(const tensor& a, const tensor& b) {
  const auto gradient = [](const gradient_call& call) -> std::vector<tensor> {
    const detail::unbroadcast reduce{call};
    return {call.wanted[0] ? reduce(call.dy[0], 0) : tensor{},
            call.wanted[1] ? negate(reduce(call.dy[0], 1)) : tensor{}};
  };
  return detail::elementwise("Sub", {a, b}, detail::broadcast(a.dims(), b.dims()), gradient, "sub");
}

inline tensor operator*(const tensor& a, const tensor& b) {
  const auto gradient = [](const gradient_call& call) -> std::vector<tensor> {
    const detail::unbroadcast reduce{call};
    return {call.wanted[0] ? reduce(call.dy[0] * call.input(1), 0) : tensor{},
            call.wanted[1] ? reduce(call.input(0) * call.dy[0], 1) : tensor{}};
  };
  return detail::elementwise("Mul", {a, b}, detail::broadcast(a.dims(), b.dims()), gradient, "mul");
}

inline tensor operator/(const tensor& a, const tensor& b) {
  const auto gradient = [](const gradient_call& call) -> std::vector<tensor> {
    const detail::unbroadcast reduce{call};
    tensor da, db;
    if (call.wanted[0]) {
      da = reduce(call.dy[0] / call.input(1), 0);
    }
    if (call.wanted[1]) {
      db = reduce(call.dy[0] * (negate(call.input(0)) / call.input(1) / call.input(1)), 1);
    }
    return {da, db};
  };
  return detail::elementwise("RealDiv", {a, b}, detail::broadcast(a.dims(), b.dims()), gradient, "truediv");
}

namespace detail {
/// The sum of a gradient over all but the innermost extent: that of a bias. 1 FLOP per element.
inline tensor bias_gradient(const tensor& dy, const extents& dims) {
  return dy.net().add_tensor(
    {.type = "BiasAddGrad", .inputs = {dy}, .outputs = {{dims}}, .work = flop(dy.elements())});
}
} // namespace detail

/// Adds a vector along the innermost extent.
inline tensor bias_add(const tensor& x, const tensor& bias) {
  detail::require(!x.dims().empty() && bias.dims() == extents{x.dims().back()}, "BiasAdd",
                  "a bias has one number per channel, not " + detail::text(bias.dims()));
  const auto gradient = [](const gradient_call& call) -> std::vector<tensor> {
    return {call.dy[0], call.wanted[1] ? detail::bias_gradient(call.dy[0], call.input(1).dims()) : tensor{}};
  };
  return detail::elementwise("BiasAdd", {x, bias}, x.dims(), gradient);
}

namespace detail {
/// An activation whose gradient is computed from its output.
inline tensor activation(const char* type, const tensor& x) {
  const auto gradient = [type](const gradient_call& call) -> std::vector<tensor> {
    return {elementwise(std::string{type} + "Grad", {call.dy[0], call.output()}, call.output().dims())};
  };
  return elementwise(type, {x}, x.dims(), gradient);
}
} // namespace detail

inline tensor relu(const tensor& x) {
  return detail::activation("Relu", x);
}
inline tensor sigmoid(const tensor& x) {
  return detail::activation("Sigmoid", x);
}
inline tensor tanh(const tensor& x) {
  return detail::activation("Tanh", x);
}

/// x where it is positive, else a small multiple of x. Its gradient reads x.
/// Source: Maas, Hannun, Ng, *Rectifier Nonlinearities Improve Neural Network Acoustic Models*, ICML 2013.
inline tensor leaky_relu(const tensor& x) {
  return detail::elementwise("LeakyRelu", {x}, x.dims(), [](const gradient_call& call) -> std::vector<tensor> {
    return {detail::elementwise("LeakyReluGrad", {call.dy[0], call.input()}, call.input().dims())};
  });
}

inline tensor exp(const tensor& x) {
  return detail::elementwise("Exp", {x}, x.dims(), [](const gradient_call& call) -> std::vector<tensor> {
    return {call.dy[0] * call.output()};
  });
}

/// log(1 + x)
inline tensor log1p(const tensor& x) {
  return detail::elementwise("Log1p", {x}, x.dims(), [](const gradient_call& call) -> std::vector<tensor> {
    const auto shifted = call.net.data("Const", "add/x", {}) + call.input();
    return {call.dy[0] * detail::elementwise("Reciprocal", {shifted}, shifted.dims())};
  });
}

/// Takes `a` where `condition` (a vector of bool over the outermost extent, or a tensor of a's shape) holds, else `b`.
inline tensor select(const tensor& condition, const tensor& a, const tensor& b) {
  detail::require(a.dims() == b.dims(), "Select", "both choices need the same shape");
  const auto gradient = [](const gradient_call& call) -> std::vector<tensor> {
    const auto zeros = call.net.data("Const", "zeros_like", {call.dy[0].dims()});
    return {tensor{}, call.wanted[1] ? select(call.input(0), call.dy[0], zeros) : tensor{},
            call.wanted[2] ? select(call.input(0), zeros, call.dy[0]) : tensor{}};
  };
  return detail::elementwise("Select", {condition, a, b}, a.dims(), gradient);
}

/// A tensor of bool: a >= b, elementwise.
inline tensor greater_equal(const tensor& a, const tensor& b) {
  const auto dims = detail::broadcast(a.dims(), b.dims());
  return a.net().add_tensor(
    {.type = "GreaterEqual", .inputs = {a, b}, .outputs = {{dims, 1}}, .work = detail::flop(element_count(dims))});
}

} // namespace weft::nn
