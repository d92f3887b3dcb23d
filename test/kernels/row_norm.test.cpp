// SPDX-License-Identifier: BSL-1.0
#include "kernels/row_norm.hpp"

#include "trial.hpp"

#include "weft/workload/nn/row_norm.hpp"

namespace kernels_row_norm_test {

using namespace test;
using weft::nn::kernel_set;

/// Variables of a network that is small enough to vary all of them.
std::vector<tensor> with_variables(const trial& t, std::vector<tensor> by) {
  for (const auto& v : t.net.variables()) {
    by.push_back(v.value);
  }
  return by;
}

TEST_CASE("row norm: rows have mean 0, or not, and mean square 1; gradients are slopes") {
  for (const bool centred : {false, true}) {
    for (const unsigned threads : {1u, 2u}) {
      CAPTURE(centred);
      trial t;
      const auto x = t.feed({7, 12});
      const auto y = centred ? weft::nn::layer_norm("norm", x) : weft::nn::rms_norm("norm", x);
      CHECK(t.slope_error(y, with_variables(t, {x}), threads) < 5e-3);
      t.run(y, threads);
      const auto values = t(y);
      for (std::size_t row = 0; row < values.size(); row += 12) {
        double sum = 0, squares = 0;
        for (std::size_t i = row; i < row + 12; ++i) {
          sum += static_cast<double>(values[i]);
          squares += static_cast<double>(values[i] * values[i]);
        }
        CHECK(squares / 12 == doctest::Approx(1).epsilon(1e-3));
        CHECK((std::abs(sum) < 1e-4) == centred);
      }
    }
  }
}

/// Two sums and their normalisations, of which the second reads the sum of the first.
std::vector<tensor> stack_sums(trial& t, bool centred, bool drops) {
  const auto x = t.feed({7, 12}), y = t.feed({7, 12});
  weft::nn::residual_sum sum{x};
  const auto normalised = [&](const char* name) { return centred ? sum.layer_norm(name) : sum.rms_norm(name); };
  sum.add(y, drops);
  const auto first = normalised("first");
  sum.add(first * first, drops);
  return {normalised("second"), x, y};
}

TEST_CASE("row norm: a sum and its normalisation in one op are the same as in two") {
  for (const bool centred : {false, true}) {
    numbers expected;
    for (const auto kernels : {kernel_set::separate, kernel_set::compiled}) {
      trial t{{.kernels = kernels}};
      const auto y = stack_sums(t, centred, false);
      const auto gradients = t.gradients(y[0], {y[1], y[2]});
      t.run(gradients, 2);
      auto all = t(y[0]);
      for (const auto& g : gradients) {
        const auto values = t(g);
        all.insert(all.end(), values.begin(), values.end());
      }
      CHECK(difference(all, expected.empty() ? all : expected) < rounding);
      expected = all;
    }
  }
}

TEST_CASE("row norm: gradients of a normalised sum are slopes, also of what a part is dropped from") {
  for (const bool centred : {false, true}) {
    for (const bool drops : {false, true}) {
      CAPTURE(centred);
      CAPTURE(drops);
      trial t{{.kernels = kernel_set::compiled}};
      const auto y = stack_sums(t, centred, drops);
      CHECK(t.slope_error(y[0], with_variables(t, {y[1], y[2]})) < 5e-3);
    }
  }
}

} // namespace kernels_row_norm_test
