// SPDX-License-Identifier: BSL-1.0
#include "kernels/softmax.hpp"

#include "trial.hpp"

#include "weft/workload/nn/attention.hpp"

namespace kernels_softmax_test {

using namespace test;

TEST_CASE("softmax: rows sum up to 1, and gradients are slopes") {
  for (const unsigned threads : {1u, 2u}) {
    trial t;
    const auto x = t.feed({6, 9});
    const auto y = weft::nn::softmax(x);
    CHECK(t.slope_error(y, {x}, threads) < 5e-3);
    t.run(y, threads);
    const auto from = t(x), to = t(y);
    for (std::size_t row = 0; row < to.size(); row += 9) {
      double sum = 0;
      for (std::size_t i = row; i < row + 9; ++i) {
        sum += static_cast<double>(to[i]);
        CHECK(to[i] / to[row] == doctest::Approx(std::exp(from[i] - from[row])));
      }
      CHECK(sum == doctest::Approx(1));
    }
  }
}

TEST_CASE("softmax: scores are scaled, then masked; later keys of a causal one count nothing") {
  trial t;
  const auto x = t.feed({2, 1, 2, 3, 3}), mask = t.feed({2, 1, 1, 3}, {0, -1, 0, -1e9f, 0, 0});
  const weft::nn::op_attributes attributes{.scale = 0.25, .causal = true};
  const auto y = weft::nn::detail::masked_softmax(x, mask, attributes);
  CHECK(t.slope_error(y, {x}) < 5e-3);
  t.run(y);
  const auto from = t(x), to = t(y), added = t(mask);
  for (std::size_t row = 0; row < 12; ++row) {
    const std::size_t query = row % 3, sequence = row / 6;
    if (query == 0) { // sees one key, masked or not
      CHECK(to[row * 3] == 1);
      continue;
    }
    std::vector<double> weights(3, 0);
    for (std::size_t i = 0; i <= query; ++i) {
      weights[i] = std::exp(static_cast<double>(from[row * 3 + i] / 4 + added[sequence * 3 + i]));
    }
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(to[row * 3 + i] == doctest::Approx(weights[i] / (weights[0] + weights[1] + weights[2])));
    }
  }
}

} // namespace kernels_softmax_test
