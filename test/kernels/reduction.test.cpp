// SPDX-License-Identifier: BSL-1.0
#include "kernels/reduction.hpp"

#include "trial.hpp"

namespace kernels_reduction_test {

using namespace test;

/// Sums x over the axes that are marked; `x` has extents `dims`.
numbers summed(const numbers& x, const extents& dims, const std::vector<bool>& over) {
  std::size_t size = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    size *= over[d] ? 1 : dims[d];
  }
  numbers sums(size);
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::size_t to = 0, step = 1;
    for (std::size_t d = dims.size(), rest = i; d-- > 0; rest /= dims[d]) {
      if (!over[d]) {
        to += rest % dims[d] * step;
        step *= dims[d];
      }
    }
    sums[to] += x[i];
  }
  return sums;
}

struct reduction_case {
  extents dims;
  std::vector<std::size_t> axes;
};

const std::vector<reduction_case> reductions{
  {{3, 4, 5, 6}, {1, 2}}, {{4, 4, 4, 4}, {1, 2}}, {{40, 8}, {0}}, {{7, 9}, {1}},
  {{4, 5, 6}, {}},        {{2, 3, 4}, {0, 2}},    {{5}, {}}};

TEST_CASE("reduction: sums and means over axes, and their gradients") {
  for (const auto& r : reductions) {
    for (const unsigned threads : {1u, 2u}) {
      CAPTURE(weft::nn::detail::text(r.dims));
      trial t;
      const auto x = t.feed(r.dims);
      const auto sum = weft::nn::reduce_sum(x, r.axes), mean = weft::nn::reduce_mean(x, r.axes);
      const auto dx = t.gradients(mean, {x})[0];
      t.run({sum, mean, dx}, threads);

      std::vector<bool> over(r.dims.size(), r.axes.empty());
      for (const auto axis : r.axes) {
        over[axis] = true;
      }
      const auto expected = summed(t(x), r.dims, over);
      const auto each = static_cast<float>(x.elements() / expected.size());
      CHECK(difference(t(sum), expected) < rounding);
      CHECK(difference(t(mean), table(expected.size(), [&](auto i) { return expected[i] / each; })) < rounding);
      // What the gradient spreads over x comes together again in a sum.
      const auto tiled = t.net[dx.op()].op.inputs[0];
      const auto spread = t.net[tiled.op()].op.inputs[0];
      const auto collected = summed(t(dx), r.dims, over), whole = t(spread);
      CHECK(difference(collected, whole) < rounding);
      CHECK(difference(t(tiled), table(x.elements(), [&, dxs = t(dx)](auto i) { return dxs[i] * each; })) < rounding);
    }
  }
}

TEST_CASE("reduction: shapes that do not tell the axes are refused") {
  trial t;
  const auto sum = weft::nn::reduce_sum(t.feed({5, 5}), {0});
  CHECK_THROWS_AS(t.run(sum), kernels::unsupported_op);
}

TEST_CASE("reduction: the gradient of a bias is the sum per channel") {
  for (const unsigned threads : {1u, 2u, 3u}) {
    trial t;
    const auto x = t.feed({2, 5, 5, 12}), bias = t.feed({12});
    const auto y = weft::nn::bias_add(x, bias);
    const auto d_bias = t.gradients(y, {bias})[0];
    t.run(d_bias, threads);
    CHECK(difference(t(d_bias), summed(t(t.input("BiasAddGrad", 0)), y.dims(), {true, true, true, false})) < rounding);
  }
}

TEST_CASE("reduction: half the sum of squares") {
  for (const unsigned threads : {1u, 2u}) {
    trial t;
    const auto x = t.feed({37, 5});
    const auto y = weft::nn::l2_loss(x);
    t.run(y, threads);
    double squares = 0;
    for (const auto value : t(x)) {
      squares += value * value;
    }
    CHECK(t(y)[0] == doctest::Approx(squares / 2));
  }
}

} // namespace kernels_reduction_test
