// SPDX-License-Identifier: BSL-1.0
/// Convolution and its gradients. Images stay in rows of channels; oneDNN gets the kernel in the layout it likes.
#pragma once

#include "kernels/onednn.hpp"
#include "kernels/sliding_window.hpp"

#include <algorithm>
#include <span>

namespace kernels {

namespace detail {

/// A convolution of `image` with `filter` to `result`, in whichever direction it is computed.
///
/// A kernel of one element sees only the pixels that the stride lands on. oneDNN computes on a copy of these, but where
/// channels do not fill its vectors, which have up to 16 floats, version 2.6 writes past its scratchpad (seen on AVX2).
/// There the copy is made here, by one thread.
struct convolution {
  extents whole; ///< the image of the op; `image` is that, or every `step`th of its pixels on both axes
  std::size_t step = 1;
  extents image, filter, result;
  sliding_window window;

  convolution(const op_call& call, const extents& from, const extents& kernel, const extents& to)
      : whole{from}, image{from}, filter{kernel}, result{to},
        window{find_window(call, from, to, {kernel[0], kernel[1]})} {
    if (kernel[0] == 1 && kernel[1] == 1 && window.strides[0] > 1 && (from[3] % 16 != 0 || to[3] % 16 != 0)) {
      step = static_cast<std::size_t>(window.strides[0]);
      image = {from[0], to[1], to[2], from[3]};
      window = valid_window(1);
    }
  }

  /// Where the image is: in the op's, or in memory of the program.
  float* image_data(const operand& x, onednn::program& p) const {
    return step == 1 ? x.data : p.allocate(onednn::image(image));
  }
  /// `visit(pixel in the op's image, pixel in the image)`, for each of the latter.
  template <class Visit>
  void visit_pixels(float* all, float* some, Visit visit) const {
    const std::size_t channels = whole[3];
    for (std::size_t n = 0; n < image[0]; ++n) {
      for (std::size_t y = 0; y < image[1]; ++y) {
        for (std::size_t x = 0; x < image[2]; ++x, some += channels) {
          visit(std::span{all + ((n * whole[1] + y * step) * whole[2] + x * step) * channels, channels},
                std::span{some, channels});
        }
      }
    }
  }
  /// The body of a kernel that reads the image, which lies at `some`.
  std::function<void()> reading(const operand& x, float* some, onednn::program p) const {
    auto body = onednn::body_of(std::move(p));
    if (step == 1) {
      return body;
    }
    return [*this, x, some, body] {
      visit_pixels(x.data, some, [](auto from, auto to) { std::copy(from.begin(), from.end(), to.begin()); });
      body();
    };
  }
  /// The same for one that writes it.
  std::function<void()> writing(const operand& x, float* some, onednn::program p) const {
    auto body = onednn::body_of(std::move(p));
    if (step == 1) {
      return body;
    }
    return [*this, x, some, body] {
      body();
      std::ranges::fill(x.values(), 0.0f);
      visit_pixels(x.data, some, [](auto to, auto from) { std::copy(from.begin(), from.end(), to.begin()); });
    };
  }

  template <class Desc, class... Head>
  Desc describe(Head... head) const {
    return Desc{head...,
                dnnl::algorithm::convolution_direct,
                onednn::image(image),
                onednn::any_filter(filter),
                onednn::image(result),
                window.strides,
                window.before,
                window.after};
  }
  auto forward() const {
    using primitive = dnnl::convolution_forward;
    return primitive::primitive_desc{describe<primitive::desc>(dnnl::prop_kind::forward_training),
                                     onednn::user_scratchpad(), onednn::engine()};
  }
  template <class Primitive>
  auto backward() const {
    return typename Primitive::primitive_desc{describe<typename Primitive::desc>(), onednn::user_scratchpad(),
                                              onednn::engine(), forward()};
  }
};

} // namespace detail

/// Conv2D(image, filter) -> result.
inline std::function<void()> conv2d(const op_call& call, unsigned) {
  const auto &x = call.in[0], &k = call.in[1], &y = call.out[0];
  const detail::convolution shape{call, x.dims, k.dims, y.dims};
  const auto desc = shape.forward();
  onednn::program p;
  float* filter = p.converted(onednn::filter(k.dims), k.data, desc.weights_desc());
  float* image = shape.image_data(x, p);
  p.add<dnnl::convolution_forward>(desc, {{DNNL_ARG_SRC, desc.src_desc(), image},
                                          {DNNL_ARG_WEIGHTS, desc.weights_desc(), filter},
                                          {DNNL_ARG_DST, desc.dst_desc(), y.data}});
  return shape.reading(x, image, std::move(p));
}

/// Conv2DBackpropInput(gradient of the result, filter) -> gradient of the image; the transposed convolution.
inline std::function<void()> conv2d_backprop_input(const op_call& call, unsigned) {
  const auto &dy = call.in[0], &k = call.in[1], &dx = call.out[0];
  const detail::convolution shape{call, dx.dims, k.dims, dy.dims};
  const auto desc = shape.backward<dnnl::convolution_backward_data>();
  onednn::program p;
  float* filter = p.converted(onednn::filter(k.dims), k.data, desc.weights_desc());
  float* gradient = shape.image_data(dx, p);
  p.add<dnnl::convolution_backward_data>(desc, {{DNNL_ARG_DIFF_DST, desc.diff_dst_desc(), dy.data},
                                                {DNNL_ARG_WEIGHTS, desc.weights_desc(), filter},
                                                {DNNL_ARG_DIFF_SRC, desc.diff_src_desc(), gradient}});
  return shape.writing(dx, gradient, std::move(p));
}

/// Conv2DBackpropFilter(image, gradient of the result) -> gradient of the filter.
inline std::function<void()> conv2d_backprop_filter(const op_call& call, unsigned) {
  const auto &x = call.in[0], &dy = call.in[1], &dk = call.out[0];
  const detail::convolution shape{call, x.dims, dk.dims, dy.dims};
  const auto desc = shape.backward<dnnl::convolution_backward_weights>();
  const auto wanted = onednn::filter(dk.dims);
  const auto computed = desc.diff_weights_desc();
  onednn::program p;
  float* gradient = computed == wanted ? dk.data : p.allocate(computed);
  float* image = shape.image_data(x, p);
  p.add<dnnl::convolution_backward_weights>(desc, {{DNNL_ARG_SRC, desc.src_desc(), image},
                                                   {DNNL_ARG_DIFF_DST, desc.diff_dst_desc(), dy.data},
                                                   {DNNL_ARG_DIFF_WEIGHTS, computed, gradient}});
  if (gradient != dk.data) {
    p.copy(computed, gradient, wanted, dk.data);
  }
  return shape.reading(x, image, std::move(p));
}

} // namespace kernels
