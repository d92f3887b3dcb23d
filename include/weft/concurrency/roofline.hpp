// SPDX-License-Identifier: BSL-1.0
/// The thread-aware roofline: arithmetic that scales with cores, bandwidth that saturates, and the overhead of threads.
#pragma once

#include "weft/concurrency/concepts.hpp"
#include "weft/core/rounding.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace weft::concurrency {

/// The use that ops of one type make of a processor.
struct op_traits {
  std::string_view type = {};
  double efficiency = 1;   ///< of the machine's core speed, as long as there is enough work per thread
  bool reduces = false;    ///< threads that share a block of the output make private copies, added up in the end
};

/// T(p) = dispatch + fork + join · p + max(work / (cores' speed · efficiency · parallel cores), traffic /
/// bandwidth(p)).
///
/// - Work is split into grains that are not divided further; p threads do ⌈grains / p⌉ rounds, so that threads beyond
///   the number of grains add nothing but their barrier.
/// - Bandwidth grows with cores until the tiles', then the fullest socket's limits are reached; packed threads fill
///   tiles and sockets one by one, spread ones draw from all tiles.
/// - Ops that reduce (gradients of convolution kernels and biases) divide blocks of their output among threads; threads
///   beyond the number of blocks share one, and write and read one more copy of it.
/// - With one thread there is no team: no fork, no join.
///
/// Sources: Williams, Waterman, Patterson, *Roofline*, CACM 52(4), 2009; for the saturation of bandwidth Treibig,
/// Hager, *Introducing a Performance Model for Bandwidth-Limited Loop Kernels*, 2009. docs/concurrency.md says where
/// each number comes from and what the curves were checked against.
struct thread_roofline {
  double grain_flop = 65536;  ///< the least arithmetic that is worth a thread
  double grain_bytes = 16384; ///< the least memory traffic that is worth a thread
  double reduced_block_bytes = 9216; ///< of an output that is summed over threads: 16 × 16 kernels of 3 × 3
  double element_efficiency = 0.1; ///< of core speed, for ops without an entry below: no reuse in registers

  /// Fractions of the machine's core speed that large ops reach.
  static constexpr std::array<op_traits, 10> known{{
    {"MatMul", 0.85},
    {"BatchMatMul", 0.85},
    {"Conv2D", 0.7},
    {"Conv2DBackpropInput", 0.65},
    {"Conv2DBackpropFilter", 0.5, true},
    {"LSTMBlockCell", 0.7},
    {"LSTMBlockCellGrad", 0.7},
    {"BiasAddGrad", 0.1, true},
    {"FusedBatchNorm", 0.1},
    {"FusedBatchNormGrad", 0.1},
  }};

  template <dataflow_workload W>
  double seconds(const W& w, op_id v, const machine& m, team t) const {
    const auto p = static_cast<double>(t.threads);
    const double flop = w.work(v);
    const op_traits traits = traits_of(w, v);
    double bytes = memory_traffic(w, v, m, t);
    const double grains = std::max(1.0, std::floor(std::max(flop / grain_flop, bytes / grain_bytes)));
    if (traits.reduces && t.threads > 1) {
      const double blocks = std::max(1.0, std::floor(output_bytes(w, v) / reduced_block_bytes));
      bytes += rounded(2 * (std::ceil(std::min(p, grains) / blocks) - 1) * output_bytes(w, v));
    }
    const double rounds = std::ceil(grains / p);
    const double compute = flop / grains * rounds / (m.core_speed * traits.efficiency);
    const double busy = std::min(p, grains);
    const double memory = bytes / bandwidth(m, {static_cast<std::uint32_t>(busy), t.affinity});
    const double team_cost = t.threads > 1 ? m.fork_seconds + rounded(m.join_seconds * p) : 0;
    return m.dispatch_seconds + team_cost + std::max(compute, memory);
  }

  /// Inputs, outputs and resident bytes, each once.
  template <dataflow_workload W>
  double memory_traffic(const W& w, op_id v, const machine&, team) const {
    auto bytes = static_cast<double>(w.resident_bytes(v)) + output_bytes(w, v);
    for (const tensor_id t : w.inputs(v)) {
      bytes += static_cast<double>(w.bytes(t));
    }
    return w.work(v) > 0 ? bytes : 0; // ops without arithmetic hand over references
  }

  /// Bytes per second that a team can draw.
  static double bandwidth(const machine& m, team t) {
    const double by_cores = t.threads * m.core_bandwidth;
    const auto tiles = t.affinity == affinity::packed ? (t.threads + m.cores_per_tile - 1) / m.cores_per_tile
                                                      : std::min(t.threads, m.tiles());
    const double by_tiles = tiles * m.tile_bandwidth;
    const auto fullest = t.affinity == affinity::packed ? std::min(t.threads, m.cores_per_socket)
                                                        : (t.threads + m.sockets - 1) / m.sockets;
    const double by_sockets = m.socket_bandwidth * t.threads / fullest; // threads have equal parts of the work
    return std::min({by_cores, by_tiles, by_sockets});
  }

private:
  template <class W>
  static double output_bytes(const W& w, op_id v) {
    double bytes = 0;
    for (const tensor_id t : w.outputs(v)) {
      bytes += static_cast<double>(w.bytes(t));
    }
    return bytes;
  }

  template <class W>
  op_traits traits_of(const W& w, op_id v) const {
    if constexpr (requires { std::string_view{w.type(v)}; }) {
      const std::string_view type = w.type(v);
      const auto found =
        std::find_if(known.begin(), known.end(), [type](const op_traits& k) { return k.type == type; });
      if (found != known.end()) {
        return *found;
      }
    }
    return {.efficiency = element_efficiency};
  }
};

} // namespace weft::concurrency
