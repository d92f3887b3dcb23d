// SPDX-License-Identifier: BSL-1.0
#include "kernels/pooling.hpp"

#include "trial.hpp"

#include <algorithm>

namespace kernels_pooling_test {

using namespace test;

struct shape {
  extents image;
  std::size_t window;
  weft::nn::sliding slide;
};
const std::vector<shape> shapes{{{2, 6, 6, 3}, 2, {.stride = 2}},
                                {{1, 7, 5, 16}, 3, {}},
                                {{2, 9, 9, 4}, 3, {.stride = 2, .pad = weft::nn::padding::valid}},
                                {{2, 5, 5, 8}, 5, {.pad = weft::nn::padding::valid}}};

/// Per element of the result, the image elements in its window (padding left out).
std::vector<std::vector<std::size_t>> windows(const shape& s, const extents& result) {
  const bool same = s.slide.pad == weft::nn::padding::same;
  const auto margin = [&](std::size_t axis) {
    const auto covered = (result[axis] - 1) * s.slide.stride + s.window;
    return same && covered > s.image[axis] ? (covered - s.image[axis]) / 2 : 0;
  };
  std::vector<std::vector<std::size_t>> all(weft::nn::element_count(result));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto c = i % result[3], x = i / result[3] % result[2], y = i / result[3] / result[2] % result[1];
    const auto n = i / result[3] / result[2] / result[1];
    for (std::size_t j = 0; j < s.window * s.window; ++j) {
      const auto row = y * s.slide.stride + j / s.window - margin(1); // wraps round to huge numbers in the padding
      const auto column = x * s.slide.stride + j % s.window - margin(2);
      if (row < s.image[1] && column < s.image[2]) {
        all[i].push_back(((n * s.image[1] + row) * s.image[2] + column) * s.image[3] + c);
      }
    }
  }
  return all;
}

TEST_CASE("pooling: the largest of each window, which gets the gradient") {
  for (const auto& s : shapes) {
    for (const unsigned threads : {1u, 2u}) {
      CAPTURE(weft::nn::detail::text(s.image));
      trial t;
      const auto x = t.feed(s.image);
      const auto y = weft::nn::max_pool(x, s.window, s.slide);
      const auto dx = t.gradients(y, {x})[0];
      t.run(dx, threads);
      const auto image = t(x), dy = t(t.input("MaxPoolGrad", 0));
      numbers result, gradient(image.size());
      for (const auto& window : windows(s, y.dims())) {
        const auto largest =
          *std::max_element(window.begin(), window.end(), [&](auto a, auto b) { return image[a] < image[b]; });
        gradient[largest] += dy[result.size()];
        result.push_back(image[largest]);
      }
      CHECK(difference(t(y), result) == 0);
      CHECK(difference(t(dx), gradient) < rounding);
    }
  }
}

TEST_CASE("pooling: the mean of each window without the padding, and its gradient") {
  for (const auto& s : shapes) {
    for (const unsigned threads : {1u, 2u}) {
      CAPTURE(weft::nn::detail::text(s.image));
      trial t;
      const auto x = t.feed(s.image);
      const auto y = weft::nn::avg_pool(x, s.window, s.slide);
      const auto dx = t.gradients(y, {x})[0];
      t.run(dx, threads);
      const auto image = t(x), dy = t(t.input("AvgPoolGrad", 0));
      numbers result, gradient(image.size());
      for (const auto& window : windows(s, y.dims())) {
        const auto count = static_cast<float>(window.size());
        float sum = 0;
        for (const auto i : window) {
          sum += image[i];
          gradient[i] += dy[result.size()] / count;
        }
        result.push_back(sum / count);
      }
      CHECK(difference(t(y), result) < rounding);
      CHECK(difference(t(dx), gradient) < rounding);
    }
  }
}

} // namespace kernels_pooling_test
