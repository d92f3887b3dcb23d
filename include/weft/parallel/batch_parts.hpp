// SPDX-License-Identifier: BSL-1.0
/// The parts of a batch among devices that differ, by their speeds and by what their memory holds.
#pragma once

#include "weft/core/config.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace weft::parallel {

/// The samples that each device takes of a batch.
struct batch_parts {
  std::vector<std::uint64_t> samples = {};
  std::uint64_t left = 0;                 ///< samples that no device has room for
  std::vector<std::uint64_t> limits = {}; ///< how many fit on each device; empty if nobody had to find out
};

/// The parts with which all devices are done at the same time, nearly: sample by sample to the device that would be
/// done with it first, of equals the first, and no more than `most` to each, if given. `seconds` are those of a sample
/// on each device, not negative. Complexity: O(devices²).
inline batch_parts parts_by_speed(std::uint64_t batch, std::span<const double> seconds,
                                  std::span<const std::uint64_t> most = {}) {
  const auto n = seconds.size();
  constexpr double least = 1e-150; // a device without work is as fast as can be
  const auto of_sample = [&](std::size_t i) { return std::max(seconds[i], least); };
  batch_parts parts{.samples = std::vector<std::uint64_t>(n, 0), .left = batch};
  const auto room = [&](std::size_t i) { return most.empty() ? parts.left : most[i] - parts.samples[i]; };
  const auto take = [&](std::size_t i, std::uint64_t count) {
    const auto taken = std::min({count, parts.left, room(i)});
    parts.samples[i] += taken;
    parts.left -= taken;
    return taken;
  };
  while (parts.left > 0) {
    double rate = 0, shared = static_cast<double>(parts.left);
    std::size_t first = n;
    const auto next = [&](std::size_t i) { return static_cast<double>(parts.samples[i] + 1) * of_sample(i); };
    for (std::size_t i = 0; i < n; ++i) {
      if (room(i) > 0) {
        rate += 1 / of_sample(i);
        shared += static_cast<double>(parts.samples[i]);
        first = first == n || next(i) < next(first) ? i : first;
      }
    }
    if (first == n) {
      break;
    }
    std::uint64_t taken = 0; // of what all devices with room do until the last of them would be done
    for (std::size_t i = 0; i < n; ++i) {
      const double until = std::floor(shared / rate / of_sample(i) * (1 - 1e-12));
      if (room(i) > 0 && until > static_cast<double>(parts.samples[i])) {
        taken += take(i, static_cast<std::uint64_t>(until) - parts.samples[i]);
      }
    }
    if (taken == 0) {
      take(first, 1);
    }
  }
  return parts;
}

/// The same with no more on any device than its memory holds. `full(samples)` returns the numbers of the devices that
/// lack memory if each takes so many samples, or `std::nullopt` to stop; what a device holds must not depend on the
/// parts of the others. Devices that work in one memory break that: if each of them that has samples is said to lack
/// memory where they lack it together, parts are found that fit, though others may be larger. It is asked of the parts
/// by speed and, if these do not fit, of others from which bisection finds what each device holds, all at once. `left`
/// is what does not fit on all of them together; what was not found out before the end does not fit. Complexity: O(log
/// batch) calls.
template <class Full>
batch_parts parts_within_memory(std::uint64_t batch, std::span<const double> seconds, Full full) {
  const auto n = seconds.size();
  std::vector<std::uint64_t> holds(n, 0), fails(n, batch + 1);
  enum class answer { fits, lacks, stop };
  const auto ask = [&](const std::vector<std::uint64_t>& samples) {
    const std::optional<std::vector<std::size_t>> lacking = full(samples);
    if (!lacking) {
      return answer::stop;
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (std::find(lacking->begin(), lacking->end(), i) == lacking->end()) {
        holds[i] = std::max(holds[i], samples[i]);
      } else {
        fails[i] = std::min(fails[i], samples[i]);
        holds[i] = std::min(holds[i], fails[i] == 0 ? 0 : fails[i] - 1);
      }
    }
    return lacking->empty() ? answer::fits : answer::lacks;
  };
  auto parts = parts_by_speed(batch, seconds);
  auto last = ask(parts.samples);
  if (last == answer::fits) {
    return parts;
  }
  while (last != answer::stop) {
    auto probe = holds;
    bool open = false;
    for (std::size_t i = 0; i < n; ++i) {
      if (holds[i] + 1 < fails[i]) {
        probe[i] += (fails[i] - holds[i]) / 2;
        open = true;
      }
    }
    if (!open) {
      break;
    }
    last = ask(probe);
  }
  parts = parts_by_speed(batch, seconds, holds);
  parts.limits = std::move(holds);
  return parts;
}

} // namespace weft::parallel
