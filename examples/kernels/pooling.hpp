// SPDX-License-Identifier: BSL-1.0
/// Largest and mean values of sliding windows, and their gradients.
#pragma once

#include "kernels/onednn.hpp"
#include "kernels/sliding_window.hpp"

#include <cmath>

namespace kernels {

namespace detail {

/// Pooling of `image` to `result`. The window is square; its size follows from the op's work, 1 FLOP per element.
struct pooling {
  dnnl::algorithm algorithm;
  extents image, result;
  std::size_t extent;
  sliding_window window;

  pooling(const op_call& call, dnnl::algorithm a, const extents& from, const extents& to)
      : algorithm{a}, image{from}, result{to}, extent{window_extent(call, to)} {
    window = find_window(call, from, to, {extent, extent});
  }

  static std::size_t window_extent(const op_call& call, const extents& result) {
    return static_cast<std::size_t>(
      std::lround(std::sqrt(call.work() / static_cast<double>(weft::nn::element_count(result)))));
  }
  template <class Desc, class... Head>
  Desc describe(Head... head) const {
    const auto side = static_cast<std::int64_t>(extent);
    return Desc{head...,        algorithm,    onednn::image(image), onednn::image(result),
                window.strides, {side, side}, window.before,        window.after};
  }
  auto forward() const {
    using primitive = dnnl::pooling_forward;
    return primitive::primitive_desc{describe<primitive::desc>(dnnl::prop_kind::forward_training),
                                     onednn::user_scratchpad(), onednn::engine()};
  }
  auto backward() const {
    using primitive = dnnl::pooling_backward;
    return primitive::primitive_desc{describe<primitive::desc>(), onednn::user_scratchpad(), onednn::engine(),
                                     forward()};
  }
};

/// Room to remember which element of each window was the largest.
inline float* largest_of_windows(const op_call& call, const onednn::memory_desc& desc) {
  if (call.kept->size() * sizeof(float) < desc.get_size()) {
    throw unsupported_op(call, "oneDNN wants to remember more than one number per window");
  }
  return call.kept->data();
}

/// Appends the pooling of x to y; with `chosen`, which remembers the largest elements.
inline void add_pooling(onednn::program& p, const dnnl::pooling_forward::primitive_desc& desc, float* x, float* y,
                        float* chosen) {
  std::vector<onednn::argument> arguments{{DNNL_ARG_SRC, desc.src_desc(), x}, {DNNL_ARG_DST, desc.dst_desc(), y}};
  if (chosen != nullptr) {
    arguments.push_back({DNNL_ARG_WORKSPACE, desc.workspace_desc(), chosen});
  }
  p.add<dnnl::pooling_forward>(desc, std::move(arguments));
}

inline std::function<void()> pool(const op_call& call, dnnl::algorithm algorithm) {
  const auto &x = call.in[0], &y = call.out[0];
  const auto desc = pooling{call, algorithm, x.dims, y.dims}.forward();
  const auto chosen = desc.workspace_desc();
  onednn::program p;
  add_pooling(p, desc, x.data, y.data, chosen.get_size() > 0 ? largest_of_windows(call, chosen) : nullptr);
  return onednn::body_of(std::move(p));
}

inline std::function<void()> pool_gradient(const op_call& call, dnnl::algorithm algorithm) {
  const auto &dy = call.in[0], &dx = call.out[0];
  const pooling described{call, algorithm, dx.dims, dy.dims};
  const auto desc = described.backward();
  std::vector<onednn::argument> arguments{{DNNL_ARG_DIFF_DST, desc.diff_dst_desc(), dy.data},
                                          {DNNL_ARG_DIFF_SRC, desc.diff_src_desc(), dx.data}};
  onednn::program p;
  if (const auto chosen = desc.workspace_desc(); chosen.get_size() > 0) {
    float* largest = nullptr;
    if (call.kept != nullptr) {
      largest = largest_of_windows(call, chosen);
    } else { // the image was pooled elsewhere: once more here
      const auto forward = described.forward();
      largest = p.allocate(chosen);
      add_pooling(p, forward, call.in[1].data, p.allocate(forward.dst_desc()), largest);
    }
    arguments.push_back({DNNL_ARG_WORKSPACE, chosen, largest});
  }
  p.add<dnnl::pooling_backward>(desc, std::move(arguments));
  return onednn::body_of(std::move(p));
}

} // namespace detail

/// MaxPool(image) -> result.
inline std::function<void()> max_pool(const op_call& call, unsigned) {
  return detail::pool(call, dnnl::algorithm::pooling_max);
}
/// MaxPoolGrad(gradient of the result, image, result) -> gradient of the image.
inline std::function<void()> max_pool_grad(const op_call& call, unsigned) {
  return detail::pool_gradient(call, dnnl::algorithm::pooling_max);
}
/// AvgPool(image) -> result. Padding does not count.
inline std::function<void()> avg_pool(const op_call& call, unsigned) {
  return detail::pool(call, dnnl::algorithm::pooling_avg_exclude_padding);
}
/// AvgPoolGrad(gradient of the result) -> gradient of the image.
inline std::function<void()> avg_pool_grad(const op_call& call, unsigned) {
  return detail::pool_gradient(call, dnnl::algorithm::pooling_avg_exclude_padding);
}

} // namespace kernels
