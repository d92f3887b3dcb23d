// SPDX-License-Identifier: BSL-1.0
/// A multicore processor from the inside: cores, hardware threads, cache tiles, sockets, and the overhead of threads.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace weft {

/// The layout of an op's threads over cores.
enum class affinity : std::uint8_t {
  packed, ///< neighbouring cores, so that threads share caches
  spread, ///< one core per cache tile as long as there are tiles, so that each thread has a cache of its own
};

constexpr std::string_view to_string(affinity a) {
  return a == affinity::packed ? "packed" : "spread";
}

/// The threads that run one op.
struct team {
  std::uint32_t threads = 1;
  weft::affinity affinity = weft::affinity::packed;
  friend constexpr bool operator==(const team&, const team&) = default;
};

/// A processor as thread-aware cost models and the manycore simulator see it. Cores are numbered tile by tile and
/// socket by socket. Speeds are what code reaches at best, not what the data sheet multiplies out to, where both are
/// known. Presets are in platform/machines.hpp; interop/hwloc.hpp describes the machine that a program runs on.
struct machine {
  std::string name = {};
  std::uint32_t sockets = 1;
  std::uint32_t cores_per_socket = 1;
  std::uint32_t cores_per_tile = 1;   ///< cores that share a cache below the socket's
  std::uint32_t threads_per_core = 1; ///< hardware threads

  double core_speed = 1e9;        ///< FLOP/s that one core reaches
  double core_bandwidth = 1e10;   ///< bytes/s that one core can draw from memory
  double socket_bandwidth = 1e10; ///< bytes/s that all cores of a socket can draw together
  double tile_bandwidth = std::numeric_limits<double>::infinity(); ///< bytes/s that the cores of a tile can draw
  double smt_gain = 1;            ///< throughput of a core with two busy threads, relative to one

  double dispatch_seconds = 0; ///< per op: choosing it and calling it
  double fork_seconds = 0;     ///< per op with more than one thread: waking a team
  double join_seconds = 0;     ///< … and per thread: the barrier at the end
  double resize_seconds = 0;   ///< when a type's team changes its number of threads

  constexpr std::uint32_t cores() const { return sockets * cores_per_socket; }
  constexpr std::uint32_t tiles() const { return (cores() + cores_per_tile - 1) / cores_per_tile; }
  constexpr double bandwidth() const { return sockets * socket_bandwidth; }

  /// Throws `value_error` that names the first number that cannot be right.
  void check() const {
    const auto require = [this](bool holds, const char* column, const char* problem) {
      if (!holds) {
        throw value_error("machine '" + name + "': " + column, problem);
      }
    };
    const auto finite = [](double x) { return x >= 0 && x < std::numeric_limits<double>::infinity(); };
    require(sockets > 0 && cores_per_socket > 0 && cores_per_tile > 0 && threads_per_core > 0,
            "sockets, cores_per_socket, cores_per_tile, threads_per_core", "must be at least 1");
    require(std::uint64_t{sockets} * cores_per_socket <= 65536, "sockets × cores_per_socket", "must be at most 65536");
    require(core_speed > 0 && finite(core_speed), "core_speed", "must be a positive number of FLOP per second");
    require(core_bandwidth > 0 && socket_bandwidth > 0 && tile_bandwidth > 0,
            "core_bandwidth, socket_bandwidth, tile_bandwidth", "must be positive numbers of bytes per second");
    require(smt_gain >= 1 && smt_gain <= threads_per_core, "smt_gain", "must be from 1 to threads_per_core");
    require(finite(dispatch_seconds) && finite(fork_seconds) && finite(join_seconds) && finite(resize_seconds),
            "dispatch_seconds, fork_seconds, join_seconds, resize_seconds", "must be finite and not negative");
  }

  friend bool operator==(const machine&, const machine&) = default;
};

namespace platform_parts {

/// P tells what each device is like inside. An accelerator counts as one core.
template <class P>
concept has_machines = requires(const P& p, device_id d) {
  { p.machine(d) } -> std::convertible_to<const machine&>;
};

} // namespace platform_parts

} // namespace weft
