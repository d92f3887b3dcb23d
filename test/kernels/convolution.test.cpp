// SPDX-License-Identifier: BSL-1.0
#include "kernels/convolution.hpp"

#include "trial.hpp"

namespace kernels_convolution_test {

using namespace test;

/// A convolution as loops: calls `visit(image element, kernel element, result element)` for each product in it.
struct naive_convolution {
  extents image, kernel, result;
  std::size_t stride;
  bool same;

  std::ptrdiff_t padding(std::size_t axis) const {
    const auto covered = (result[1 + axis] - 1) * stride + kernel[axis];
    return same && covered > image[1 + axis] ? static_cast<std::ptrdiff_t>(covered - image[1 + axis]) / 2 : 0;
  }

  template <class Visit>
  void operator()(Visit visit) const {
    for (std::size_t n = 0; n < result[0]; ++n) {
      for (std::size_t y = 0; y < result[1]; ++y) {
        for (std::size_t x = 0; x < result[2]; ++x) {
          visit_window(n, y, x, visit);
        }
      }
    }
  }

private:
  template <class Visit>
  void visit_window(std::size_t n, std::size_t y, std::size_t x, Visit visit) const {
    for (std::size_t i = 0; i < kernel[0]; ++i) {
      for (std::size_t j = 0; j < kernel[1]; ++j) {
        const auto row = static_cast<std::ptrdiff_t>(y * stride + i) - padding(0);
        const auto column = static_cast<std::ptrdiff_t>(x * stride + j) - padding(1);
        if (row < 0 || column < 0 || row >= static_cast<std::ptrdiff_t>(image[1]) ||
            column >= static_cast<std::ptrdiff_t>(image[2])) {
          continue;
        }
        const auto from =
          ((n * image[1] + static_cast<std::size_t>(row)) * image[2] + static_cast<std::size_t>(column)) * image[3];
        const auto to = ((n * result[1] + y) * result[2] + x) * result[3];
        for (std::size_t c = 0; c < image[3]; ++c) {
          for (std::size_t k = 0; k < result[3]; ++k) {
            visit(from + c, ((i * kernel[1] + j) * kernel[2] + c) * kernel[3] + k, to + k);
          }
        }
      }
    }
  }
};

struct shape {
  extents image, kernel;
  weft::nn::sliding slide;
};

const std::vector<shape> shapes{{{2, 5, 5, 3}, {3, 3, 3, 4}, {}},
                                {{1, 8, 6, 16}, {3, 3, 16, 32}, {.stride = 2}},
                                {{2, 7, 7, 5}, {1, 1, 5, 7}, {.stride = 2}},
                                {{2, 8, 8, 3}, {1, 1, 3, 8}, {.stride = 2}},
                                {{1, 8, 6, 24}, {1, 1, 24, 8}, {.stride = 2}},
                                {{1, 9, 6, 16}, {1, 1, 16, 40}, {.stride = 3, .pad = weft::nn::padding::valid}},
                                {{2, 8, 8, 16}, {1, 1, 16, 32}, {.stride = 2}},
                                {{2, 9, 9, 2}, {3, 3, 2, 3}, {.stride = 2, .pad = weft::nn::padding::valid}},
                                {{1, 6, 9, 4}, {1, 7, 4, 2}, {}},
                                {{3, 12, 12, 1}, {5, 5, 1, 6}, {.pad = weft::nn::padding::valid}}};

TEST_CASE("convolution: forward and both gradients are those of the loops") {
  for (const auto& s : shapes) {
    for (const unsigned threads : {1u, 2u}) {
      CAPTURE(weft::nn::detail::text(s.image));
      CAPTURE(threads);
      trial t;
      const auto x = t.feed(s.image), k = t.feed(s.kernel);
      const auto y = weft::nn::conv2d(x, k, s.slide);
      const auto gradients = t.gradients(y, {x, k});
      t.run({gradients[0], gradients[1]}, threads);
      const naive_convolution loops{s.image, s.kernel, y.dims(), s.slide.stride,
                                    s.slide.pad == weft::nn::padding::same};

      const auto image = t(x), kernel = t(k), dy = t(t.input("Conv2DBackpropFilter", 1));
      numbers result(y.elements()), d_image(image.size()), d_kernel(kernel.size());
      loops([&](auto from, auto by, auto to) {
        result[to] += image[from] * kernel[by];
        d_image[from] += dy[to] * kernel[by];
        d_kernel[by] += dy[to] * image[from];
      });
      CHECK(difference(t(y), result) < rounding);
      CHECK(difference(t(gradients[0]), d_image) < rounding);
      CHECK(difference(t(gradients[1]), d_kernel) < rounding);
    }
  }
}

TEST_CASE("convolution: transposed, forward and both gradients are those of the loops") {
  const extents small{2, 4, 4, 6}, large{2, 8, 8, 3}, filter{5, 5, 3, 6};
  trial t;
  const auto x = t.feed(small), k = t.feed(filter);
  const auto y = weft::nn::conv2d_transpose(x, k, large, {.stride = 2});
  const auto gradients = t.gradients(y, {x, k});
  t.run({gradients[0], gradients[1]});
  const naive_convolution loops{large, filter, small, 2, true};

  const auto source = t(x), kernel = t(k), dy = t(t.input("Conv2DBackpropFilter", 0));
  numbers result(y.elements()), d_source(source.size()), d_kernel(kernel.size());
  loops([&](auto image, auto by, auto at) {
    result[image] += source[at] * kernel[by];
    d_source[at] += dy[image] * kernel[by];
    d_kernel[by] += dy[image] * source[at];
  });
  CHECK(difference(t(y), result) < rounding);
  CHECK(difference(t(gradients[0]), d_source) < rounding);
  CHECK(difference(t(gradients[1]), d_kernel) < rounding);
}

TEST_CASE("convolution: a window that fits no stride is refused") {
  kernels::op_call call;
  trial t;
  call.net = &t.net;
  call.op = t.feed({1}).op();
  CHECK_THROWS_AS((void)kernels::find_window(call, {1, 8, 8, 1}, {1, 7, 3, 1}, {3, 3}), kernels::unsupported_op);
}

} // namespace kernels_convolution_test
