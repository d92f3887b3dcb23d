// SPDX-License-Identifier: BSL-1.0
#include "kernels/normalisation.hpp"

#include "trial.hpp"

namespace kernels_normalisation_test {

using namespace test;

/// Batch normalisation of rows of channels, and its gradient, in double precision.
struct reference {
  std::size_t channels, rows;
  std::vector<double> mean, variance;
  numbers y, dx, d_scale, d_offset;

  reference(const numbers& x, const numbers& scale, const numbers& offset, const numbers& dy)
      : channels{scale.size()}, rows{x.size() / channels}, mean(channels), variance(channels), y(x.size()),
        dx(x.size()), d_scale(channels), d_offset(channels) {
    for (std::size_t c = 0; c < channels; ++c) {
      normalise(c, x, scale[c], offset[c], dy);
    }
  }

private:
  void normalise(std::size_t c, const numbers& x, double scale, double offset, const numbers& dy) {
    const auto n = static_cast<double>(rows);
    for (std::size_t i = c; i < x.size(); i += channels) {
      mean[c] += x[i] / n;
    }
    for (std::size_t i = c; i < x.size(); i += channels) {
      variance[c] += (x[i] - mean[c]) * (x[i] - mean[c]) / n;
    }
    const double deviation = std::sqrt(variance[c] + static_cast<double>(kernels::detail::batch_norm_epsilon));
    double sum = 0, product = 0;
    for (std::size_t i = c; i < x.size(); i += channels) {
      const double normal = (x[i] - mean[c]) / deviation;
      y[i] = static_cast<float>(normal * scale + offset);
      sum += dy[i];
      product += dy[i] * normal;
    }
    d_offset[c] = static_cast<float>(sum);
    d_scale[c] = static_cast<float>(product);
    for (std::size_t i = c; i < x.size(); i += channels) {
      const double normal = (x[i] - mean[c]) / deviation;
      dx[i] = static_cast<float>(scale / deviation * (dy[i] - sum / n - normal * product / n));
    }
  }
};

numbers rounded(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

TEST_CASE("normalisation: results, statistics and gradients are those of the formulas") {
  for (const extents& dims : {extents{4, 5, 5, 16}, extents{3, 4, 6, 5}, extents{24, 7}}) {
    for (const unsigned threads : {1u, 2u}) {
      CAPTURE(weft::nn::detail::text(dims));
      trial t;
      const auto x = t.feed(dims), scale = t.feed({dims.back()}), offset = t.feed({dims.back()});
      const auto out = weft::nn::fused_batch_norm(x, scale, offset);
      const auto gradients = t.gradients(out.y, {x, scale, offset});
      t.run(gradients, threads);
      const reference r{t(x), t(scale), t(offset), t(t.input("FusedBatchNormGrad", 0))};
      CHECK(difference(t(out.y), r.y) < rounding);
      CHECK(difference(t(out.mean), rounded(r.mean)) < rounding);
      CHECK(difference(t(out.variance), rounded(r.variance)) < rounding);
      CHECK(difference(t(gradients[0]), r.dx) < 5 * rounding);
      CHECK(difference(t(gradients[1]), r.d_scale) < 5 * rounding);
      CHECK(difference(t(gradients[2]), r.d_offset) < 5 * rounding);
    }
  }
}

TEST_CASE("normalisation: with what is added and a ReLU in one op it is the same as in three") {
  using weft::nn::kernel_set;
  for (const bool adds : {false, true}) {
    numbers expected;
    for (const auto kernels : {kernel_set::separate, kernel_set::compiled}) {
      for (const unsigned threads : {1u, 2u}) {
        trial t{{.kernels = kernels}};
        const auto x = t.feed({4, 5, 5, 8}), added = t.feed({4, 5, 5, 16});
        const auto y = weft::nn::conv_norm_relu("conv", x, {.filters = 16}, adds ? added : tensor{});
        std::vector<tensor> by{x};
        for (const auto& v : t.net.variables()) {
          if (v.trainable) {
            by.push_back(v.value);
          }
        }
        CHECK(by.size() == 4); // with kernel, scale and offset
        if (adds) {
          by.push_back(added);
        }
        const auto gradients = t.gradients(y, by);
        t.run(gradients, threads);
        auto all = t(y);
        for (const auto& g : gradients) {
          const auto values = t(g);
          all.insert(all.end(), values.begin(), values.end());
        }
        expected = expected.empty() ? all : expected;
        CHECK(difference(all, expected) < rounding);
      }
    }
  }
}

} // namespace kernels_normalisation_test
