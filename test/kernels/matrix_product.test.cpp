// SPDX-License-Identifier: BSL-1.0
#include "kernels/matrix_product.hpp"

#include "trial.hpp"

namespace kernels_matrix_product_test {

using namespace test;

/// a · b, either stored transposed; `rows`, `inner` and `columns` of the product.
numbers product(const numbers& a, bool transpose_a, const numbers& b, bool transpose_b, std::size_t rows,
                std::size_t inner, std::size_t columns) {
  return table(rows * columns, [&](std::size_t at) {
    const std::size_t i = at / columns, j = at % columns;
    double sum = 0;
    for (std::size_t k = 0; k < inner; ++k) {
      sum += a[transpose_a ? k * rows + i : i * inner + k] * b[transpose_b ? j * inner + k : k * columns + j];
    }
    return sum;
  });
}

struct shape {
  std::size_t m, k, n;
};

TEST_CASE("matrix product: the product and both gradients, square matrices too") {
  for (const auto s : {shape{3, 5, 4}, shape{20, 40, 64}, shape{6, 6, 6}, shape{1, 7, 1}, shape{8, 8, 3}}) {
    for (const unsigned threads : {1u, 2u}) {
      CAPTURE(s.m);
      trial t;
      const auto a = t.feed({s.m, s.k}), b = t.feed({s.k, s.n});
      const auto c = weft::nn::matmul(a, b);
      const auto gradients = t.gradients(c, {a, b});
      t.run(gradients, threads);
      const auto dc = t(t.net[gradients[0].op()].op.inputs[0]);
      CHECK(difference(t(c), product(t(a), false, t(b), false, s.m, s.k, s.n)) < rounding);
      CHECK(difference(t(gradients[0]), product(dc, false, t(b), true, s.m, s.n, s.k)) < rounding);
      CHECK(difference(t(gradients[1]), product(t(a), true, dc, false, s.k, s.m, s.n)) < rounding);
    }
  }
}

TEST_CASE("matrix product: factors that are stored transposed") {
  trial t;
  const auto a = t.feed({5, 3}), b = t.feed({4, 5});
  const auto c = weft::nn::matmul(a, b, true, true);
  t.run(c);
  CHECK(difference(t(c), product(t(a), true, t(b), true, 3, 5, 4)) < rounding);
}

TEST_CASE("matrix product: square factors that are stored transposed") {
  trial t;
  const auto a = t.feed({5, 5}), b = t.feed({5, 5});
  const auto c = weft::nn::matmul(a, b, false, true);
  const auto gradients = t.gradients(c, {a, b});
  t.run(gradients);
  const auto dc = t(t.net[gradients[0].op()].op.inputs[0]);
  CHECK(difference(t(c), product(t(a), false, t(b), true, 5, 5, 5)) < rounding);
  CHECK(difference(t(gradients[0]), product(dc, false, t(b), false, 5, 5, 5)) < rounding);
  CHECK(difference(t(gradients[1]), product(dc, true, t(a), false, 5, 5, 5)) < rounding);
}

TEST_CASE("matrix product: a bias in the same op, and its gradients") {
  for (const unsigned threads : {1u, 2u}) {
    trial t;
    const auto a = t.feed({6, 5}), b = t.feed({5, 4}), bias = t.feed({4});
    const auto c = weft::nn::gemm(a, b, bias);
    CHECK(t.slope_error(c, {a, b, bias}, threads) < 5e-3);
    t.run(c, threads);
    const auto without = product(t(a), false, t(b), false, 6, 5, 4), v = t(bias);
    CHECK(difference(t(c), table(24, [&](auto i) { return without[i] + v[i % 4]; })) < rounding);
  }
}

} // namespace kernels_matrix_product_test
