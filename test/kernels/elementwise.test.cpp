// SPDX-License-Identifier: BSL-1.0
#include "kernels/elementwise.hpp"

#include "kernels/binary.hpp"

#include "trial.hpp"

#include "weft/workload/nn/attention.hpp"

#include <functional>

namespace kernels_elementwise_test {

using namespace test;

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

struct activation_case {
  const char* type;
  std::function<tensor(const tensor&)> make;
  std::function<double(double)> function;
  std::function<double(double)> derivative;
};

const std::vector<activation_case> activations{
  {"Relu", weft::nn::relu, [](double x) { return std::max(x, 0.0); }, [](double x) { return x > 0 ? 1.0 : 0.0; }},
  {"Sigmoid", weft::nn::sigmoid, logistic, [](double x) { return logistic(x) * (1 - logistic(x)); }},
  {"Tanh", weft::nn::tanh, [](double x) { return std::tanh(x); },
   [](double x) { return 1 - std::tanh(x) * std::tanh(x); }},
  {"Gelu", weft::nn::gelu, [](double x) { return x * (1 + std::erf(x / std::sqrt(2))) / 2; },
   [](double x) {
     return (1 + std::erf(x / std::sqrt(2))) / 2 + x * std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0));
   }},
  {"LeakyRelu", weft::nn::leaky_relu, [](double x) { return x > 0 ? x : 0.2 * x; },
   [](double x) { return x > 0 ? 1.0 : 0.2; }}};

/// The element of an operand with extents `dims` that a broadcast puts at element `i` of `to`.
std::size_t repeated(std::size_t i, const extents& dims, const extents& to) {
  std::size_t at = 0, step = 1;
  for (std::size_t d = 1; d <= to.size(); ++d) {
    const auto place = i % to[to.size() - d];
    i /= to[to.size() - d];
    if (d <= dims.size()) {
      at += dims[dims.size() - d] == 1 ? 0 : place * step;
      step *= dims[dims.size() - d];
    }
  }
  return at;
}

struct binary_case {
  std::function<tensor(const tensor&, const tensor&)> make;
  std::function<double(double, double)> function;
};

const std::vector<binary_case> binaries{
  {[](const tensor& a, const tensor& b) { return a + b; }, std::plus<double>{}},
  {[](const tensor& a, const tensor& b) { return a - b; }, std::minus<double>{}},
  {[](const tensor& a, const tensor& b) { return a * b; }, std::multiplies<double>{}},
  {[](const tensor& a, const tensor& b) { return a / b; }, std::divides<double>{}},
  {[](const tensor& a, const tensor& b) { return weft::nn::greater_equal(a, b); },
   [](double a, double b) { return a >= b ? 1.0 : 0.0; }}};

const std::vector<std::pair<extents, extents>> operand_shapes{
  {{4, 6}, {4, 6}}, {{2, 3, 4, 16}, {16}}, {{16}, {3, 16}},
  {{4, 6}, {}},     {{}, {4, 6}},          {{5, 1}, {5, 7}},
  {{5, 7}, {5, 1}}, {{2, 1, 3}, {4, 1}},   {{3, 1, 1, 5}, {3, 2, 2, 5}}};

TEST_CASE("elementwise: activations and their gradients are those of the functions") {
  for (const auto& a : activations) {
    for (const unsigned threads : {1u, 2u}) {
      CAPTURE(a.type);
      trial t;
      const auto x = t.feed({7, 33});
      const auto y = a.make(x);
      const auto dx = t.gradients(y, {x})[0];
      t.run(dx, threads);
      const auto from = t(x), dy = t(t.input(std::string{a.type} + "Grad", 0));
      CHECK(difference(t(y), table(from.size(), [&](auto i) { return a.function(from[i]); })) < rounding);
      CHECK(difference(t(dx), table(from.size(), [&](auto i) { return dy[i] * a.derivative(from[i]); })) < rounding);
    }
  }
}

TEST_CASE("elementwise: two operands of any shapes that fit") {
  for (const auto& b : binaries) {
    for (const auto& [left, right] : operand_shapes) {
      for (const unsigned threads : {1u, 2u}) {
        CAPTURE(weft::nn::detail::text(left));
        CAPTURE(weft::nn::detail::text(right));
        trial t;
        const auto u = t.feed(left), v = t.feed(right);
        const auto y = b.make(u, v);
        t.run(y, threads);
        const auto us = t(u), vs = t(v);
        const auto expected = table(y.elements(), [&](auto i) {
          return b.function(us[repeated(i, left, y.dims())], vs[repeated(i, right, y.dims())]);
        });
        CHECK(difference(t(y), expected) < rounding);
      }
    }
  }
}

TEST_CASE("elementwise: gradients of broadcasts are summed to the shapes of the operands") {
  for (const auto& [left, right] : operand_shapes) {
    CAPTURE(weft::nn::detail::text(left));
    CAPTURE(weft::nn::detail::text(right));
    trial t;
    const auto u = t.feed(left), v = t.feed(right);
    const auto y = u * v;
    const auto gradients = t.gradients(y, {u, v});
    auto product = gradients[0].op(); // dy · v, before the sum over what was repeated
    product = t.net[product].op.type == "Sum" ? t.net[product].op.inputs[0].op() : product;
    t.run(gradients, 2);
    const auto us = t(u), vs = t(v), dy = t(t.net[product].op.inputs[0]);
    numbers du(us.size()), dv(vs.size());
    for (std::size_t i = 0; i < dy.size(); ++i) {
      const auto from_u = repeated(i, left, y.dims()), from_v = repeated(i, right, y.dims());
      du[from_u] += dy[i] * vs[from_v];
      dv[from_v] += dy[i] * us[from_u];
    }
    CHECK(difference(t(gradients[0]), du) < rounding);
    CHECK(difference(t(gradients[1]), dv) < rounding);
  }
}

TEST_CASE("elementwise: small functions") {
  trial t;
  const auto x = t.feed({5, 9}), y = t.feed({5, 9}), z = t.feed({5, 9});
  const auto rows = t.feed({5}, {0, 1, 1, 0, 1}), each = weft::nn::greater_equal(x, y);
  const auto sum = weft::nn::add_n({x, y, z}), negative = weft::nn::negate(x), power = weft::nn::exp(x);
  const auto logarithm = weft::nn::log1p(power);
  const auto by_row = weft::nn::select(rows, x, y), by_element = weft::nn::select(each, x, y);
  const auto floor = weft::nn::detail::elementwise("Floor", {x}, x.dims());
  const auto reciprocal = weft::nn::detail::elementwise("Reciprocal", {x}, x.dims());
  const auto root = weft::nn::detail::elementwise("Sqrt", {power}, x.dims());
  const auto least = weft::nn::detail::elementwise("Minimum", {x, y}, x.dims());
  t.run({sum, negative, logarithm, by_row, by_element, floor, reciprocal, root, least}, 2);
  const auto a = t(x), b = t(y), c = t(z), condition = t(rows);
  const auto check = [&](const tensor& result, auto f) { CHECK(difference(t(result), table(a.size(), f)) < rounding); };
  check(sum, [&](auto i) { return a[i] + b[i] + c[i]; });
  check(negative, [&](auto i) { return -a[i]; });
  check(power, [&](auto i) { return std::exp(a[i]); });
  check(logarithm, [&](auto i) { return std::log(1 + std::exp(a[i])); });
  check(by_row, [&](auto i) { return condition[i / 9] != 0 ? a[i] : b[i]; });
  check(by_element, [&](auto i) { return std::max(a[i], b[i]); });
  check(floor, [&](auto i) { return std::floor(a[i]); });
  check(reciprocal, [&](auto i) { return 1 / a[i]; });
  check(root, [&](auto i) { return std::exp(a[i] / 2); });
  check(least, [&](auto i) { return std::min(a[i], b[i]); });
}

TEST_CASE("elementwise: gated units, and the slope of both of a pair") {
  for (const unsigned threads : {1u, 2u}) {
    trial t;
    const auto x = t.feed({5, 7, 2});
    const auto y = weft::nn::swiglu(x);
    CHECK(t.slope_error(y, {x}, threads) < 5e-3);
    t.run(y, threads);
    const auto pairs = t(x);
    const auto expected = table(35, [&](auto i) { return pairs[2 * i] * logistic(pairs[2 * i]) * pairs[2 * i + 1]; });
    CHECK(difference(t(y), expected) < rounding);
  }
}

} // namespace kernels_elementwise_test
