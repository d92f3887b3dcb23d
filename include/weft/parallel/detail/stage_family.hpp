// SPDX-License-Identifier: BSL-1.0
/// Downsets between which stages lie, with what their layers need at least.
#pragma once

#include "weft/graph/downsets.hpp"
#include "weft/parallel/stages.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace weft::parallel::detail {

/// The layers of the last stages: downsets of the graph with its edges turned round, from the empty one to that of all
/// layers. A stage has the layers of one that are not in another one.
class stage_family {
public:
  stage_family() = default;
  stage_family(const stage_problem& p, std::span<const std::uint32_t> degrees, const graph::downsets& family)
      : memory_bytes_{p.memory_bytes}, degrees_{degrees.begin(), degrees.end()}, words_{p.layers.size() / 64 + 1} {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    sets_.assign(family.size() * words_, 0);
    work_.assign(family.size(), 0.0);
    least_.assign(family.size() * degrees_.size(), {});
    for (std::uint32_t i = 0; i < family.size(); ++i) {
      for (const auto& step : family.from(i)) {
        const auto v = family.added[step.first];
        std::copy_n(sets_.data() + i * words_, words_, sets_.data() + step.to * words_);
        sets_[step.to * words_ + v / 64] |= std::uint64_t{1} << (v % 64);
        double work = infinite;
        for (std::size_t j = 0; j < degrees_.size(); ++j) {
          least_sums least{infinite, infinite};
          for (const auto& x : p.layers[v].variants) {
            if (x.tensor_degree == degrees_[j]) {
              least.seconds = std::min(least.seconds, x.seconds);
              least.bytes = std::min(least.bytes, x.bytes_per_micro_batch + x.fixed_bytes);
            }
          }
          const auto& before = least_[i * degrees_.size() + j];
          least_[step.to * degrees_.size() + j] = {before.seconds + least.seconds, before.bytes + least.bytes};
          work = std::min(work, degrees_[j] * least.seconds);
        }
        work_[step.to] = work_[i] + work;
      }
    }
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(work_.size()); }
  /// Device-seconds per micro-batch that the layers of a downset, or those that are not in it, take at least. Infinite
  /// if a layer has no variants.
  double work(std::uint32_t i) const { return work_[i]; }
  double work_before(std::uint32_t i) const { return work_.back() - work_[i]; }

  bool is_subset(std::uint32_t a, std::uint32_t b) const {
    for (std::size_t i = 0; i < words_; ++i) {
      if ((sets_[a * words_ + i] & ~sets_[b * words_ + i]) != 0) {
        return false;
      }
    }
    return true;
  }

  /// The layers of `to` that are not in `from`, ascending.
  std::vector<std::uint32_t> layers_between(std::uint32_t from, std::uint32_t to) const {
    std::vector<std::uint32_t> layers;
    for (std::size_t i = 0; i < words_; ++i) {
      for (auto left = sets_[to * words_ + i] & ~sets_[from * words_ + i]; left != 0; left &= left - 1) {
        layers.push_back(static_cast<std::uint32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(left))));
      }
    }
    return layers;
  }

  /// False if the layers between two downsets are too slow or too large on `most` devices, in whatever variants of that
  /// degree; with a margin for rounding.
  bool may_fit(std::uint32_t from, std::uint32_t to, std::size_t degree, std::uint32_t most, double limit) const {
    const auto& a = least_[from * degrees_.size() + degree];
    const auto& b = least_[to * degrees_.size() + degree];
    return !((b.seconds - a.seconds) * (1 - 1e-9) > limit * (most / degrees_[degree]) ||
             (b.bytes - a.bytes) * (1 - 1e-9) > memory_bytes_);
  }

private:
  /// Least sums over layers, of one tensor degree; infinite where a layer has no such variant.
  struct least_sums {
    double seconds = 0, bytes = 0;
  };

  double memory_bytes_ = 0;
  std::vector<std::uint32_t> degrees_;
  std::size_t words_ = 1;
  std::vector<std::uint64_t> sets_; // bits, so many words each
  std::vector<double> work_;
  std::vector<least_sums> least_;   // by downset and tensor degree
};

} // namespace weft::parallel::detail
