// SPDX-License-Identifier: BSL-1.0
/// Normalised rows, of a tensor and of a sum, and their gradients.
#pragma once

#include "kernels/random.hpp"

#include <cmath>

namespace kernels {

namespace detail {

inline constexpr double row_norm_epsilon = 1e-5;

/// The arithmetic of LayerNorm, RMSNorm, AddLayerNorm, AddRMSNorm, or their gradients.
struct row_norm_form {
  bool adds, centred;
  std::size_t statistics; ///< the inverse deviation, and before it the mean if rows are centred

  explicit row_norm_form(const op_call& call)
      : adds{call.type().starts_with("Add")}, centred{call.type().find("LayerNorm") != std::string_view::npos},
        statistics{centred ? 2u : 1u} {}
};

/// The mean, or 0 of a row that is not centred, and one over the deviation.
struct row_statistics {
  double mean = 0, inverse = 0;

  row_statistics() = default;
  row_statistics(std::span<const float> x, bool centred) {
    double squares = 0;
    for (const double value : x) {
      mean += centred ? value / static_cast<double>(x.size()) : 0;
    }
    for (const double value : x) {
      squares += (value - mean) * (value - mean);
    }
    inverse = 1 / std::sqrt(squares / static_cast<double>(x.size()) + row_norm_epsilon);
  }
};

} // namespace detail

/// LayerNorm(x, scale, offset), RMSNorm(x, scale) -> y, mean (of the former), inverse deviation. AddLayerNorm(x, added,
/// scale, offset), AddRMSNorm(x, added, scale) -> y, sum, and the same; what is added may lose a random part before.
inline std::function<void()> row_norm(const op_call& call, unsigned team) {
  const detail::row_norm_form form{call};
  const std::size_t width = call.in[0].dims.back(), rows = call.in[0].size() / width;
  return [=, in = call.in, out = call.out, factor = detail::dropout_factors_of(call)] {
    const std::size_t parameters = form.adds ? 2 : 1;
    share(team, rows, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t row = first; row < last; ++row) {
        float *x = in[0].data + row * width, *y = out[0].data + row * width;
        if (form.adds) {
          const float *a = x, *b = in[1].data + row * width;
          x = out[1].data + row * width;
          for (std::size_t i = 0; i < width; ++i) {
            x[i] = a[i] + b[i] * factor(row * width + i);
          }
        }
        const detail::row_statistics of_row{{x, width}, form.centred};
        const float *scale = in[parameters].data, *offset = form.centred ? in[parameters + 1].data : nullptr;
        for (std::size_t i = 0; i < width; ++i) {
          const double normal = (static_cast<double>(x[i]) - of_row.mean) * of_row.inverse;
          y[i] = static_cast<float>(normal) * scale[i] + (offset != nullptr ? offset[i] : 0);
        }
        if (out.size() > parameters) { // for a gradient
          out.back().data[row] = static_cast<float>(of_row.inverse);
          (form.centred ? out[parameters] : out.back()).data[row] =
            static_cast<float>(form.centred ? of_row.mean : of_row.inverse);
        }
      }
    });
  };
}

/// The gradient by x, then, if a part of what is added is lost, by that, by the scale, and by the offset if there is
/// one: of LayerNormGrad(dy, x, scale, mean, inverse deviation), RMSNormGrad(dy, x, scale, inverse deviation),
/// AddLayerNormGrad and AddRMSNormGrad(dy, gradient of the sum if there is one, sum, …).
inline std::function<void()> row_norm_grad(const op_call& call, unsigned) {
  const detail::row_norm_form form{call};
  const std::size_t width = call.in[0].dims.back(), rows = call.in[0].size() / width;
  return [=, in = call.in, out = call.out, factor = detail::dropout_factors_of(call)] {
    const std::size_t at_x = in.size() - form.statistics - 2;
    const float *scale = in[at_x + 1].data, *d_sum = at_x > 1 ? in[1].data : nullptr;
    float* d_scale = out[out.size() - form.statistics].data;
    std::fill_n(d_scale, width, 0.0f);
    std::fill_n(out.back().data, width, 0.0f); // of the offset, or the same
    float* d_added = out.size() - form.statistics > 1 ? out[1].data : nullptr;
    for (std::size_t row = 0; row < rows; ++row) {
      const float *dy = in[0].data + row * width, *x = in[at_x].data + row * width;
      const float mean = form.centred ? in[at_x + 2].data[row] : 0, inverse = in.back().data[row];
      double sum = 0, product = 0;
      for (std::size_t i = 0; i < width; ++i) {
        const float normal = (x[i] - mean) * inverse;
        sum += form.centred ? static_cast<double>(dy[i] * scale[i]) : 0;
        product += static_cast<double>(dy[i] * scale[i] * normal);
        d_scale[i] += dy[i] * normal;
        if (form.centred) {
          out.back().data[i] += dy[i];
        }
      }
      const auto mean_of_sum = static_cast<float>(sum / static_cast<double>(width));
      const auto mean_of_product = static_cast<float>(product / static_cast<double>(width));
      for (std::size_t i = 0, at = row * width; i < width; ++i, ++at) {
        const float normal = (x[i] - mean) * inverse;
        const float dx = inverse * (dy[i] * scale[i] - mean_of_sum - normal * mean_of_product);
        out[0].data[at] = dx + (d_sum != nullptr ? d_sum[at] : 0);
        if (d_added != nullptr) {
          d_added[at] = out[0].data[at] * factor(at);
        }
      }
    }
  };
}

} // namespace kernels
