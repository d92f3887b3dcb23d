// SPDX-License-Identifier: BSL-1.0
/// Named processors, with numbers from public data sheets and measurements.
///
/// Cores, tiles, sockets, clocks, FLOP per cycle and memory channels are those of data sheets; the bandwidth that one
/// core draws, the share of its nominal bandwidth that a socket reaches and the time to wake threads are published
/// measurements. Without a measurement, the number is an estimate and says so.
/// docs/concurrency.md lists every number with its source.
#pragma once

#include "weft/platform/machine.hpp"

#include <array>
#include <string>
#include <string_view>

namespace weft::machines {

/// Intel Xeon Phi 7250, "Knights Landing": 68 cores on 34 tiles of two with 1 MB of cache, 4 hardware threads each.
/// 64 FLOP (float32) per cycle at an AVX base clock of 1.2 GHz (estimate). MCDRAM as cache: 410 GB/s with all cores, 13
/// GB/s for one core, hardly more for the second of its tile. A cache line takes 80 to 100 ns from tile to tile, so a
/// barrier of 68 threads takes about 5 µs (estimate: six serial transfers of 90 ns, ten for fork and join).
inline machine xeon_phi_7250() {
  return {.name = "xeon_phi_7250",
          .sockets = 1,
          .cores_per_socket = 68,
          .cores_per_tile = 2,
          .threads_per_core = 4,
          .core_speed = 64 * 1.2e9,
          .core_bandwidth = 13e9,
          .socket_bandwidth = 410e9,
          .tile_bandwidth = 15e9,
          .smt_gain = 1.05,
          .dispatch_seconds = 2e-6,
          .fork_seconds = 1e-6,
          .join_seconds = 0.08e-6,
          .resize_seconds = 10e-6};
}

/// Two AMD EPYC 9654 ("Genoa"): 96 cores each at 2.4 GHz, 32 FLOP per cycle (estimate), eight cores per chiplet with 32
/// MB of cache, 12 channels of DDR5-4800 (460.8 GB/s, of which 80 % are assumed to be reached).
inline machine epyc_9654_2s() {
  return {.name = "epyc_9654_2s",
          .sockets = 2,
          .cores_per_socket = 96,
          .cores_per_tile = 8,
          .threads_per_core = 2,
          .core_speed = 32 * 2.4e9,
          .core_bandwidth = 23e9,
          .socket_bandwidth = 370e9,
          .tile_bandwidth = 50e9,
          .smt_gain = 1.2,
          .dispatch_seconds = 0.5e-6,
          .fork_seconds = 0.5e-6,
          .join_seconds = 0.06e-6,
          .resize_seconds = 10e-6};
}

/// Two Intel Xeon Platinum 8480+ ("Sapphire Rapids"): 56 cores each at 2.0 GHz, 64 FLOP per cycle, 8 channels of
/// DDR5-4800 (307.2 GB/s, of which about 80 % are reached: 247 GB/s on the 52 cores of an 8470).
inline machine xeon_8480_2s() {
  return {.name = "xeon_8480_2s",
          .sockets = 2,
          .cores_per_socket = 56,
          .cores_per_tile = 1,
          .threads_per_core = 2,
          .core_speed = 64 * 2.0e9,
          .core_bandwidth = 16e9,
          .socket_bandwidth = 247e9,
          .tile_bandwidth = 16e9,
          .smt_gain = 1.15,
          .dispatch_seconds = 0.5e-6,
          .fork_seconds = 0.5e-6,
          .join_seconds = 0.06e-6,
          .resize_seconds = 10e-6};
}

/// AWS Graviton4: 96 Neoverse V2 cores at 2.8 GHz, 32 FLOP per cycle, no SMT, 12 channels of DDR5-5600 (537.6 GB/s, of
/// which 80 % are assumed to be reached; the figure of one core is an estimate).
inline machine graviton4() {
  return {.name = "graviton4",
          .sockets = 1,
          .cores_per_socket = 96,
          .cores_per_tile = 1,
          .threads_per_core = 1,
          .core_speed = 32 * 2.8e9,
          .core_bandwidth = 25e9,
          .socket_bandwidth = 430e9,
          .tile_bandwidth = 25e9,
          .smt_gain = 1,
          .dispatch_seconds = 0.5e-6,
          .fork_seconds = 0.5e-6,
          .join_seconds = 0.06e-6,
          .resize_seconds = 10e-6};
}

/// A named machine.
struct entry {
  std::string_view name;
  std::string_view description; ///< one line
  machine (*make)();
};

/// All named machines, by name.
inline constexpr std::array<entry, 4> entries{{
  {"epyc_9654_2s", "two AMD EPYC 9654, 192 cores", epyc_9654_2s},
  {"graviton4", "AWS Graviton4, 96 cores", graviton4},
  {"xeon_8480_2s", "two Intel Xeon Platinum 8480+, 112 cores", xeon_8480_2s},
  {"xeon_phi_7250", "Intel Xeon Phi 7250, 68 cores with 4 hardware threads", xeon_phi_7250},
}};

/// The machine of that name. Throws `value_error` that lists the names if there is none.
inline machine make(std::string_view name) {
  std::string known;
  for (const auto& e : entries) {
    if (e.name == name) {
      return e.make();
    }
    known += (known.empty() ? "" : ", ") + std::string{e.name};
  }
  throw value_error("machines", "there is no machine '" + std::string{name} + "'; choose one of " + known);
}

} // namespace weft::machines
