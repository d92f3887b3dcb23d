// SPDX-License-Identifier: BSL-1.0
#include "kernels/lstm_cell.hpp"

#include "trial.hpp"

namespace kernels_lstm_cell_test {

using namespace test;

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

TEST_CASE("lstm cell: all outputs of the fused step are those of the formulas") {
  const std::size_t batch = 3, inputs = 5, hidden = 7;
  for (const unsigned threads : {1u, 2u}) {
    trial t;
    const auto x = t.feed({batch, inputs}), c = t.feed({batch, hidden}), h = t.feed({batch, hidden});
    const auto kernel = t.feed({inputs + hidden, 4 * hidden}), bias = t.feed({4 * hidden});
    const auto block = weft::nn::lstm_block_cell(x, {c, h}, kernel, bias);
    t.run(block.h, threads);
    const auto xs = t(x), hs = t(h), cs = t(c), ks = t(kernel), bs = t(bias);
    const auto gate = [&](std::size_t quarter, std::size_t i) { // before its activation
      const std::size_t row = i / hidden, column = quarter * hidden + i % hidden;
      double sum = bs[column];
      for (std::size_t k = 0; k < inputs + hidden; ++k) {
        sum += (k < inputs ? xs[row * inputs + k] : hs[row * hidden + k - inputs]) * ks[k * 4 * hidden + column];
      }
      return sum;
    };
    const auto check = [&](const tensor& result, auto f) {
      CHECK(difference(t(result), table(batch * hidden, f)) < rounding);
    };
    const auto i = [&](auto e) { return logistic(gate(0, e)); };
    const auto ci = [&](auto e) { return std::tanh(gate(1, e)); };
    const auto f = [&](auto e) { return logistic(gate(2, e) + 1); };
    const auto o = [&](auto e) { return logistic(gate(3, e)); };
    const auto state = [&](auto e) { return ci(e) * i(e) + cs[e] * f(e); };
    check(block.i, i);
    check(block.ci, ci);
    check(block.f, f);
    check(block.o, o);
    check(block.cs, state);
    check(block.co, [&](auto e) { return std::tanh(state(e)); });
    check(block.h, [&](auto e) { return std::tanh(state(e)) * o(e); });
  }
}

TEST_CASE("lstm cell: two fused steps have the results and gradients of two basic steps") {
  for (const unsigned threads : {1u, 2u}) {
    trial t;
    const std::size_t batch = 4, hidden = 6;
    const auto x = t.feed({batch, hidden}), c = t.feed({batch, hidden}), h = t.feed({batch, hidden});
    const auto kernel = t.feed({2 * hidden, 4 * hidden}), bias = t.feed({4 * hidden});
    const auto weights = t.feed({batch, hidden});
    std::vector<std::vector<tensor>> results;
    for (const auto arithmetic : {weft::nn::basic_lstm_step, weft::nn::fused_lstm_step}) {
      auto state = arithmetic(x, {c, h}, kernel, bias);
      state = arithmetic(x, state, kernel, bias);
      const auto loss = reduce_mean((state.h + state.c) * weights);
      results.push_back(weft::nn::gradients(t.net, loss, std::vector{x, c, h, kernel, bias}));
      results.back().insert(results.back().end(), {state.c, state.h, loss});
    }
    auto roots = results[0];
    roots.insert(roots.end(), results[1].begin(), results[1].end());
    t.run(roots, threads);
    for (std::size_t i = 0; i < results[0].size(); ++i) {
      CAPTURE(i);
      CHECK(difference(t(results[0][i]), t(results[1][i])) < rounding);
    }
  }
}

} // namespace kernels_lstm_cell_test
