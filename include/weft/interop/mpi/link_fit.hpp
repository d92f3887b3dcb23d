// SPDX-License-Identifier: BSL-1.0
/// A latency and a bandwidth that explain how long messages took.
#pragma once

#include "weft/platform/link.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace weft::mpi {

/// The transfer time of messages of one size.
struct message_time {
  double bytes = 0;
  double seconds = 0;
};

/// The misfit of a link to measurements: the mean of |predicted - measured| / measured.
inline double misfit(const link& l, std::span<const message_time> measured) {
  double sum = 0;
  for (const auto& [bytes, seconds] : measured) {
    sum += std::abs(l.latency + bytes / l.bandwidth - seconds) / seconds;
  }
  return measured.empty() ? 0 : sum / static_cast<double>(measured.size());
}

/// The link of the least `misfit`: latency + bytes / bandwidth, the relative errors of all sizes summed up without
/// squares, so that single bad measurements change little, and small messages count as much as large ones. Of all such
/// lines one passes two of the points, or one of them if the latency would be negative. Precondition: times are
/// positive, and there are two sizes. Complexity: O(n³).
inline link fit_link(std::span<const message_time> measured) {
  link best;
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](double latency, double per_byte) {
    if (latency >= 0 && per_byte > 0) {
      const link l{latency, 1 / per_byte};
      if (const double m = misfit(l, measured); m < least) {
        least = m;
        best = l;
      }
    }
  };
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const auto& [bytes, seconds] = measured[i];
    consider(0, bytes > 0 ? seconds / bytes : 0);
    for (std::size_t k = 0; k < i; ++k) {
      const double per_byte = (seconds - measured[k].seconds) / (bytes - measured[k].bytes);
      consider(seconds - per_byte * bytes, per_byte);
    }
  }
  return best;
}

} // namespace weft::mpi
