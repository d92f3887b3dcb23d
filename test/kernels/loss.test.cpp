// SPDX-License-Identifier: BSL-1.0
#include "kernels/loss.hpp"

#include "trial.hpp"

namespace kernels_loss_test {

using namespace test;

/// The probabilities of each row of logits.
std::vector<double> softmax(const numbers& logits, std::size_t classes) {
  std::vector<double> p(logits.size());
  for (std::size_t row = 0; row < logits.size(); row += classes) {
    double sum = 0;
    for (std::size_t i = row; i < row + classes; ++i) {
      sum += std::exp(logits[i]);
    }
    for (std::size_t i = row; i < row + classes; ++i) {
      p[i] = std::exp(logits[i]) / sum;
    }
  }
  return p;
}

TEST_CASE("loss: softmax cross entropy against distributions and against classes") {
  const std::size_t batch = 6, classes = 5;
  for (const unsigned threads : {1u, 2u}) {
    trial t;
    const auto logits = t.feed({batch, classes});
    const auto labels =
      t.feed({batch, classes}, table(batch * classes, [](auto i) { return i % 5 == i / 5 % 5 ? 0.6 : 0.1; }));
    const auto sparse = t.feed({batch}, {0, 1, 2, 3, 4, 0});
    const auto loss = weft::nn::softmax_cross_entropy(logits, labels);
    const auto sparse_loss = weft::nn::sparse_softmax_cross_entropy(logits, sparse);
    t.run({loss, sparse_loss}, threads);

    const auto p = softmax(t(logits), classes);
    const auto q = t(labels), k = t(sparse);
    CHECK(difference(t(loss), table(batch, [&](auto row) {
                       double sum = 0;
                       for (std::size_t i = row * classes; i < (row + 1) * classes; ++i) {
                         sum -= q[i] * std::log(p[i]);
                       }
                       return sum;
                     })) < rounding);
    CHECK(difference(t({t.net, loss.op(), 1}), table(p.size(), [&](auto i) { return p[i] - q[i]; })) < rounding);
    CHECK(difference(t(sparse_loss), table(batch, [&](auto row) {
                       return -std::log(p[row * classes + static_cast<std::size_t>(k[row])]);
                     })) < rounding);
    CHECK(difference(t({t.net, sparse_loss.op(), 1}), table(p.size(), [&](auto i) {
                       return p[i] - (static_cast<std::size_t>(k[i / classes]) == i % classes ? 1 : 0);
                     })) < rounding);
  }
}

TEST_CASE("loss: kernels that keep logarithms have the losses and the gradients of the others") {
  using weft::nn::kernel_set;
  const std::size_t batch = 6, classes = 5;
  const auto distributions = table(batch * classes, [](auto i) { return i % 5 == i / 5 % 5 ? 0.6 : 0.1; });
  for (const bool sparse : {false, true}) {
    std::vector<numbers> expected;
    for (const auto kernels : {kernel_set::separate, kernel_set::framework, kernel_set::compiled}) {
      for (const unsigned threads : {1u, 2u}) {
        trial t{{.kernels = kernels}};
        const auto logits = t.feed({batch, classes});
        const auto labels =
          sparse ? t.feed({batch}, {0, 1, 2, 3, 4, 0}) : t.feed({batch, classes}, distributions);
        const auto loss = sparse ? weft::nn::sparse_softmax_cross_entropy(logits, labels)
                                 : weft::nn::softmax_cross_entropy(logits, labels);
        const auto gradient = t.gradients(loss, {logits})[0];
        t.run(gradient, threads);
        const std::vector<numbers> found{t(loss), t(gradient)};
        expected = expected.empty() ? found : expected;
        CHECK(difference(found[0], expected[0]) < rounding);
        CHECK(difference(found[1], expected[1]) < rounding);
      }
    }
  }
}

TEST_CASE("loss: a class of no probability costs much but not infinitely much") {
  trial t;
  const auto logits = t.feed({1, 2}, {200, -200}), labels = t.feed({1, 2}, {0, 1});
  const auto loss = weft::nn::softmax_cross_entropy(logits, labels);
  t.run(loss);
  CHECK(std::isfinite(t(loss)[0]));
  CHECK(t(loss)[0] > 50);
}

} // namespace kernels_loss_test
