// SPDX-License-Identifier: BSL-1.0
#include "kernels/contraction.hpp"

#include "trial.hpp"

#include "weft/workload/nn/attention.hpp"

namespace kernels_contraction_test {

using namespace test;

TEST_CASE("contraction: products of batches of matrices, either transposed, and their gradients") {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      for (const unsigned threads : {1u, 2u}) {
        trial t;
        const auto a = t.feed(ta ? extents{3, 4, 2} : extents{3, 2, 4});
        const auto b = t.feed(tb ? extents{3, 5, 4} : extents{3, 4, 5});
        const auto y = weft::nn::batch_matmul(a, b, ta, tb);
        CHECK(t.slope_error(y, {a, b}, threads) < 5e-3);
        t.run(y, threads);
        const auto u = t(a), v = t(b);
        const auto expected = table(3 * 2 * 5, [&](std::size_t at) {
          const std::size_t n = at / 10, i = at / 5 % 2, j = at % 5;
          float sum = 0;
          for (std::size_t k = 0; k < 4; ++k) {
            sum += u[n * 8 + (ta ? k * 2 + i : i * 4 + k)] * v[n * 20 + (tb ? j * 4 + k : k * 5 + j)];
          }
          return sum;
        });
        CHECK(difference(t(y), expected) < rounding);
      }
    }
  }
}

TEST_CASE("contraction: axes that only one factor has, or no product") {
  trial t;
  const auto a = t.feed({2, 3, 4}), b = t.feed({3, 1, 5});
  const auto y = weft::nn::einsum({"abc", "bxd", "dac"}, a, b); // summed over b and x
  CHECK(y.dims() == extents{5, 2, 4});
  CHECK(t.slope_error(y, {a, b}) < 5e-3);
  t.run(y);
  const auto u = t(a), v = t(b);
  CHECK(difference(t(y), table(40, [&](std::size_t at) {
          const std::size_t d = at / 8, i = at % 8;
          return u[i / 4 * 12 + i % 4] * v[d] + u[i / 4 * 12 + 4 + i % 4] * v[5 + d] +
                 u[i / 4 * 12 + 8 + i % 4] * v[10 + d];
        })) < rounding);
}

TEST_CASE("contraction: an op without an index expression is refused") {
  trial t;
  const auto a = t.feed({2, 3}), b = t.feed({3, 2});
  const auto y = t.net.add_tensor({.type = "Einsum", .inputs = {a, b}, .outputs = {{{2, 2}}}});
  CHECK_THROWS_AS(t.run(y), kernels::unsupported_op);
}

} // namespace kernels_contraction_test
