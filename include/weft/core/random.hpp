// SPDX-License-Identifier: BSL-1.0
/// A small random generator with its own distributions, so that a seed gives the same numbers everywhere
/// (the standard distributions differ between standard libraries).
#pragma once

#include "weft/core/config.hpp"
#include "weft/core/rounding.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace weft {

/// xoshiro256** by Blackman and Vigna (2018), seeded by splitmix64. Models `uniform_random_bit_generator`.
class rng {
public:
  using result_type = std::uint64_t;

  constexpr explicit rng(std::uint64_t seed = 0) {
    for (auto& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      word = mix(seed);
    }
  }

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  constexpr result_type operator()() {
    const auto result = rotate(state_[1] * 5, 7) * 9;
    const auto shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  /// An integer in `[0, bound)`, without bias (Lemire's method on 32-bit draws). Precondition: `0 < bound < 2^32`.
  constexpr std::uint32_t below(std::size_t bound) {
    WEFT_ASSERT(bound > 0 && bound <= 0xffff'ffffu);
    const auto limit = static_cast<std::uint32_t>(bound);
    std::uint64_t product = ((*this)() >> 32) * limit;
    if (static_cast<std::uint32_t>(product) < limit) {
      const std::uint32_t threshold = (0u - limit) % limit;
      while (static_cast<std::uint32_t>(product) < threshold) {
        product = ((*this)() >> 32) * limit;
      }
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

  /// A real number in `[0, 1)` with 53 random bits.
  constexpr double uniform() { return rounded(static_cast<double>((*this)() >> 11) * 0x1.0p-53); }

  /// A real number in `[low, high)`.
  constexpr double uniform(double low, double high) { return low + rounded((high - low) * uniform()); }

  /// An integer in `[low, high]`.
  constexpr std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + below(static_cast<std::size_t>(high - low) + 1);
  }

  /// Fisher–Yates shuffle of a random-access range.
  template <class Range>
  constexpr void shuffle(Range& range) {
    for (std::size_t i = range.size(); i > 1; --i) {
      std::swap(range[i - 1], range[below(i)]);
    }
  }

  /// The finaliser of splitmix64: turns any integer into well-mixed bits, for seeds derived from seeds.
  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

private:
  static constexpr std::uint64_t rotate(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  std::uint64_t state_[4]{};
};

} // namespace weft
