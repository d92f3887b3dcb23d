// SPDX-License-Identifier: BSL-1.0
/// Baselines found by trying settings: the best that a user could set by hand.
#pragma once

#include "weft/concurrency/strategy.hpp"

#include <algorithm>
#include <concepts>
#include <limits>

namespace weft::concurrency {

/// A setting of a framework: how many ops at a time, how many threads each, and the step time in seconds with it.
struct uniform_setting {
  std::uint32_t inter = 1;
  std::uint32_t intra = 1;
  double seconds = std::numeric_limits<double>::infinity();
};

/// The best of all settings in which `inter` ops with `intra` threads each fit on the cores, all tried:
/// `evaluate(strategy)` returns the step time in seconds, simulated or measured. Ties: fewer ops at a time, then fewer
/// threads. Complexity: O(cores · log cores) evaluations.
template <class Evaluate>
uniform_setting manual_optimum(const machine& m, Evaluate evaluate) {
  uniform_setting best;
  for (std::uint32_t inter = 1; inter <= m.cores(); ++inter) {
    for (std::uint32_t intra = 1; inter * intra <= m.cores(); ++intra) {
      if (const double seconds = evaluate(uniform(inter, intra)); seconds < best.seconds) {
        best = {inter, intra, seconds};
      }
    }
  }
  return best;
}

/// The best number of symmetric executors, each with an equal share of the cores, that take ops in critical-path order.
/// Numbers of executors that give the same share are tried once. Source: Tang et al., arXiv 1807.09667, §4 (profiler).
/// Complexity: O(√cores) evaluations.
template <class Evaluate>
uniform_setting best_symmetric(const machine& m, Evaluate evaluate) {
  uniform_setting best;
  std::uint32_t last = 0;
  for (std::uint32_t inter = 1; inter <= m.cores(); ++inter) {
    const std::uint32_t intra = m.cores() / inter;
    const std::uint32_t most = m.cores() / intra; // executors of that size that fit
    if (intra == last) {
      continue;
    }
    last = intra;
    if (const double seconds = evaluate(symmetric(most, intra)); seconds < best.seconds) {
      best = {most, intra, seconds};
    }
  }
  return best;
}

} // namespace weft::concurrency
