// SPDX-License-Identifier: BSL-1.0
/// Convolution, transposed convolution, pooling and batch normalisation for images (batch, height, width, channels).
///
/// FLOP: convolution 2 N Ho Wo Co Kh Kw Ci, each of its two gradients the same; pooling 1 per element of each window,
/// the gradient the same; batch normalisation 8 per element (mean 1, variance 3, normalise and scale 4), its gradient
/// 11 (two reductions 1 + 4, the combination 6).
#pragma once

#include "weft/workload/nn/reduce.hpp"

namespace weft::nn {

/// `same` pads so that only the stride shrinks an image, `valid` does not pad.
enum class padding { same, valid };

/// The stride and padding of a window that slides over an image.
struct sliding {
  std::uint64_t stride = 1;
  padding pad = padding::same;
};

namespace detail {

inline std::uint64_t slid(std::uint64_t extent, std::uint64_t window, sliding s) {
  require(s.stride > 0 && (s.pad == padding::same || extent >= window), "window", "does not fit into the image");
  return s.pad == padding::same ? (extent + s.stride - 1) / s.stride : (extent - window) / s.stride + 1;
}

/// FLOP of a convolution with that kernel that touches `positions` (batch times pixels) windows.
inline double convolution_work(std::uint64_t positions, const extents& kernel) {
  return 2 * flop(positions) * flop(element_count(kernel));
}
inline std::uint64_t pixels(const tensor& x) {
  return x.dims()[0] * x.dims()[1] * x.dims()[2];
}

inline tensor filter_gradient(const tensor& x, const tensor& g, const tensor& kernel) {
  const auto sizes = shape_constant(x.net(), kernel, "Shape_1");
  return x.net().add_tensor({.type = "Conv2DBackpropFilter",
                             .inputs = {x, g, sizes},
                             .outputs = {{kernel.dims()}},
                             .work = convolution_work(pixels(g), kernel.dims())});
}

} // namespace detail

inline tensor conv2d(const tensor& x, const tensor& kernel, sliding s = {});

/// The gradient of a convolution as an op of its own ("deconvolution"): makes an image of extents `dims` from x, whose
/// channels are the kernel's last extent. Kernel: height, width, output channels, input channels.
inline tensor conv2d_transpose(const tensor& x, const tensor& kernel, extents dims, sliding s = {},
                               std::string name = "conv2d_transpose") {
  const auto& k = kernel.dims();
  detail::require(x.dims().size() == 4 && k.size() == 4 && dims.size() == 4 && k[3] == x.dims()[3] && k[2] == dims[3] &&
                    detail::slid(dims[1], k[0], s) == x.dims()[1] && detail::slid(dims[2], k[1], s) == x.dims()[2],
                  "Conv2DBackpropInput",
                  detail::text(x.dims()) + " with kernel " + detail::text(k) + " cannot give " + detail::text(dims));
  const auto gradient = [s](const gradient_call& call) -> std::vector<tensor> {
    tensor dx, dk;
    if (call.wanted[0]) {
      dx = conv2d(call.dy[0], call.input(1), s);
    }
    if (call.wanted[1]) {
      dk = detail::filter_gradient(call.dy[0], call.input(0), call.input(1));
    }
    return {dx, dk};
  };
  const auto sizes = detail::shape_constant(x.net(), x);
  return x.net().add_tensor({.type = "Conv2DBackpropInput",
                             .inputs = {x, kernel, sizes},
                             .outputs = {{std::move(dims)}},
                             .work = detail::convolution_work(detail::pixels(x), k),
                             .gradient = gradient,
                             .name = std::move(name)});
}

namespace detail {
/// The extents of what a convolution makes of an image.
inline extents convolved(const tensor& x, const tensor& kernel, sliding s) {
  const auto& k = kernel.dims();
  require(x.dims().size() == 4 && k.size() == 4 && k[2] == x.dims()[3], "Conv2D",
          "kernel " + text(k) + " does not fit image " + text(x.dims()));
  return {x.dims()[0], slid(x.dims()[1], k[0], s), slid(x.dims()[2], k[1], s), k[3]};
}
} // namespace detail

/// Convolves an image with a kernel of extents height, width, input channels, output channels.
inline tensor conv2d(const tensor& x, const tensor& kernel, sliding s) {
  const auto& k = kernel.dims();
  const auto dims = detail::convolved(x, kernel, s);
  const auto gradient = [s](const gradient_call& call) -> std::vector<tensor> {
    tensor dx, dk;
    if (call.wanted[0]) {
      dx = conv2d_transpose(call.dy[0], call.input(1), call.input(0).dims(), s, "Conv2DBackpropInput");
    }
    if (call.wanted[1]) {
      dk = detail::filter_gradient(call.input(0), call.dy[0], call.input(1));
    }
    return {dx, dk};
  };
  return x.net().add_tensor({.type = "Conv2D",
                             .inputs = {x, kernel},
                             .outputs = {{dims}},
                             .work = detail::convolution_work(dims[0] * dims[1] * dims[2], k),
                             .gradient = gradient});
}

namespace detail {
inline tensor pool(const char* type, const tensor& x, std::uint64_t window, sliding s, bool reads_forward) {
  const extents dims{x.dims().at(0), slid(x.dims().at(1), window, s), slid(x.dims().at(2), window, s), x.dims().at(3)};
  const double work = flop(element_count(dims)) * flop(window * window);
  const auto gradient = [type, work, reads_forward](const gradient_call& call) -> std::vector<tensor> {
    std::vector<tensor> inputs{call.dy[0]};
    if (reads_forward) {
      inputs.insert(inputs.end(), {call.input(), call.output()});
    }
    return {call.net.add_tensor({.type = std::string{type} + "Grad",
                                 .inputs = std::move(inputs),
                                 .outputs = {{call.input().dims()}},
                                 .work = work})};
  };
  return x.net().add_tensor({.type = type, .inputs = {x}, .outputs = {{dims}}, .work = work, .gradient = gradient});
}
} // namespace detail

/// The largest value of each square window.
inline tensor max_pool(const tensor& x, std::uint64_t window, sliding s) {
  return detail::pool("MaxPool", x, window, s, true);
}

/// The mean of each square window.
inline tensor avg_pool(const tensor& x, std::uint64_t window, sliding s) {
  return detail::pool("AvgPool", x, window, s, false);
}

/// The mean of each channel of an image: batch × channels. One Mean op, whose gradient repeats and divides.
/// Source: Lin, Chen, Yan, *Network In Network*, arXiv 1312.4400.
inline tensor global_avg_pool(const tensor& x) {
  detail::require(x.dims().size() == 4, "global_avg_pool", "takes batch, height, width and channels");
  return reduce_mean(x, {1, 2});
}

/// A normalised image and the statistics of the batch that it was normalised with.
struct normalised {
  tensor y;
  tensor mean;
  tensor variance;
};

/// Normalises each channel over the batch, then scales and shifts it.
/// Source: Ioffe, Szegedy, *Batch Normalization*, ICML 2015.
inline normalised fused_batch_norm(const tensor& x, const tensor& scale, const tensor& offset) {
  const extents channels{x.dims().back()};
  detail::require(scale.dims() == channels && offset.dims() == channels, "FusedBatchNorm",
                  "scale and offset have one number per channel");
  const auto gradient = [channels](const gradient_call& call) -> std::vector<tensor> {
    const op_id v = call.net.add({.type = "FusedBatchNormGrad",
                                  .inputs = {call.dy[0], call.input(0), call.input(1), call.output(3), call.output(4)},
                                  .outputs = {{call.input(0).dims()}, {channels}, {channels}},
                                  .work = 11 * detail::flop(call.input(0).elements())});
    return {tensor{call.net, v, 0}, tensor{call.net, v, 1}, tensor{call.net, v, 2}};
  };
  const op_id v = x.net().add({.type = "FusedBatchNorm",
                               .inputs = {x, scale, offset},
                               .outputs = {{x.dims()}, {channels}, {channels}, {channels}, {channels}},
                               .work = 8 * detail::flop(x.elements()),
                               .gradient = gradient});
  return {tensor{x.net(), v, 0}, tensor{x.net(), v, 1}, tensor{x.net(), v, 2}};
}

namespace detail {
/// The same with a mean and a variance that are known, which make one factor and one summand per channel: 2 FLOP per
/// element. Without a gradient, since nobody trains so.
inline tensor known_batch_norm(const tensor& x, const tensor& scale, const tensor& offset, const tensor& mean,
                               const tensor& variance) {
  const bool is_separate = x.net().kernels() == kernel_set::separate;
  return x.net().add_tensor({.type = is_separate ? "FusedBatchNorm" : "BatchNormInference",
                             .inputs = {x, scale, offset, mean, variance},
                             .outputs = {{x.dims()}},
                             .work = 2 * flop(x.elements())});
}
} // namespace detail

} // namespace weft::nn
