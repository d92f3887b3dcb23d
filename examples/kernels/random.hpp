// SPDX-License-Identifier: BSL-1.0
/// Random numbers, and what dropout makes of them.
#pragma once

#include "kernels/team.hpp"

#include "weft/core/random.hpp"

namespace kernels {

/// RandomUniform() -> numbers in [0, 1). Each run draws the same ones, so that a step can be repeated.
inline std::function<void()> random_uniform(const op_call& call, unsigned) {
  return [y = call.out[0].values(), seed = call.op] {
    weft::rng random{seed};
    for (auto& value : y) {
      value = static_cast<float>(random() >> 40) * 0x1.0p-24f;
    }
  };
}

inline constexpr float keep_share = 0.75f; ///< of what dropout drops from

namespace detail {

/// The factors of a tensor that is dropped from: one over the share that is kept, or zero. Each run draws the same
/// ones, and so does a gradient with the forward op as the seed. All are 1 if nothing is dropped.
class dropout_factors {
public:
  dropout_factors(weft::op_id seed, bool drops) : seed_{weft::rng::mix(seed + 1)}, drops_{drops} {}
  float operator()(std::size_t i) const {
    const auto drawn = static_cast<float>(weft::rng::mix(seed_ ^ i) >> 40) * 0x1.0p-24f;
    return !drops_ ? 1 : drawn < keep_share ? 1 / keep_share : 0;
  }

private:
  std::uint64_t seed_;
  bool drops_;
};

/// Those of an op, or of the one whose gradient it is.
inline dropout_factors dropout_factors_of(const op_call& call) {
  const bool is_gradient = call.type().ends_with("Grad");
  return {is_gradient ? call.forward : call.op, (*call.net)[call.op].op.attributes.drops};
}

} // namespace detail

/// NativeDropout(x) -> y, and if it has a second output which elements are kept.
inline std::function<void()> native_dropout(const op_call& call, unsigned team) {
  return [=, factor = detail::dropout_factors{call.op, true}, x = call.in[0].data, y = call.out[0].values(),
          mask = call.out.size() > 1 ? call.out[1].data : nullptr] {
    share_floats(team, y.size(), [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        const float by = factor(i);
        y[i] = x[i] * by;
        if (mask != nullptr) {
          mask[i] = by != 0;
        }
      }
    });
  };
}

/// NativeDropoutGrad(dy), or with which elements are kept -> dx
inline std::function<void()> native_dropout_grad(const op_call& call, unsigned team) {
  return [=, factor = detail::dropout_factors{call.forward, true}, dy = call.in[0].data, dx = call.out[0].values(),
          mask = call.in.size() > 1 ? call.in[1].data : nullptr] {
    share_floats(team, dx.size(), [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        dx[i] = dy[i] * (mask != nullptr ? mask[i] / keep_share : factor(i));
      }
    });
  };
}

} // namespace kernels
