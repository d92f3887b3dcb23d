// SPDX-License-Identifier: BSL-1.0
/// Measures what a machine reaches: arithmetic of a core, memory bandwidth of one core and of all, and the cost of a
/// team.
#pragma once

#include "weft/core/budget.hpp"
#include "weft/execute/crew.hpp"
#include "weft/platform/machine.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace weft::execute {

namespace detail {

/// FLOP/s of one core in fused multiply-adds on registers, as the compiler vectorises them.
inline double measure_core_speed() {
  constexpr std::size_t lanes = 128, rounds = 20'000;
  std::array<float, lanes> x{};
  x.fill(1.0f);
  double least = std::numeric_limits<double>::infinity();
  volatile float factor = 0.999f; // unknown to the compiler
  for (int repeat = 0; repeat < 5; ++repeat) {
    const float a = factor;
    const stopwatch watch;
    for (std::size_t r = 0; r < rounds; ++r) {
      for (float& v : x) {
        v = v * a + 0.001f;
      }
    }
    volatile float used = x[0] + x[lanes - 1];
    (void)used;
    least = std::min(least, watch.seconds());
  }
  return 2.0 * lanes * rounds / least;
}

/// Bytes/s that some threads read and write together, each in a buffer of its own that no cache holds.
inline double measure_bandwidth(std::uint32_t threads, std::size_t bytes_per_thread) {
  std::vector<std::vector<double>> buffers(threads);
  std::vector<double> rate(threads, 0);
  const auto work = [&](std::uint32_t i) {
    auto& b = buffers[i];
    b.assign(bytes_per_thread / sizeof(double), 1.0);
    double least = std::numeric_limits<double>::infinity();
    for (int repeat = 0; repeat < 4; ++repeat) {
      const stopwatch watch;
      for (double& v : b) {
        v = v * 0.5 + 1;
      }
      least = std::min(least, watch.seconds());
    }
    rate[i] = 2.0 * static_cast<double>(b.size() * sizeof(double)) / least;
  };
  std::vector<std::thread> others;
  for (std::uint32_t i = 1; i < threads; ++i) {
    others.emplace_back(work, i);
  }
  work(0);
  for (auto& t : others) {
    t.join();
  }
  double sum = 0;
  for (const double r : rate) {
    sum += r;
  }
  return sum;
}

} // namespace detail

/// Fills in the speeds and bandwidths of a machine that is this one; takes about half a second and two hundred
/// megabytes. `region(p)` runs an empty parallel region of p threads in the runtime that the kernels use, for the cost
/// of a team (make sure that the compiler does not drop it). Speeds are those of code compiled like this header.
/// Measurements vary with what else runs: do it on an idle machine, and keep the smallest times. The number of threads
/// that share the bandwidth is at most 16, which saturates a socket or nearly so.
template <class Region>
machine calibrate(machine m, Region region) {
  m.core_speed = detail::measure_core_speed();
  constexpr std::size_t buffer = std::size_t{1} << 26;
  m.core_bandwidth = detail::measure_bandwidth(1, buffer);
  const std::uint32_t threads = std::min(m.cores_per_socket, 16u);
  m.socket_bandwidth =
    std::max(m.core_bandwidth, detail::measure_bandwidth(threads, std::max(buffer / threads, buffer / 8)));
  m.tile_bandwidth = std::numeric_limits<double>::infinity();
  const auto time_of = [&](std::uint32_t p) {
    region(p); // the pool grows
    double least = std::numeric_limits<double>::infinity();
    for (int repeat = 0; repeat < 200; ++repeat) {
      const stopwatch watch;
      region(p);
      least = std::min(least, watch.seconds());
    }
    return least;
  };
  if (m.cores() > 1) {
    const double two = time_of(2);
    const double all = time_of(m.cores());
    m.join_seconds = m.cores() > 2 ? std::max((all - two) / (m.cores() - 2), 0.0) : two / 4;
    m.fork_seconds = std::max(two - 2 * m.join_seconds, 0.0);
  }
  m.dispatch_seconds = 1e-6; // a decision of the concurrent executor
  return m;
}

/// The same, with the executors' own threads for the cost of a team.
inline machine calibrate(machine m) {
  crew threads{m.cores() - 1};
  auto nothing = [](std::uint32_t) {};
  return calibrate(std::move(m), [&](std::uint32_t team) { threads.run(team - 1, nothing); });
}

} // namespace weft::execute
