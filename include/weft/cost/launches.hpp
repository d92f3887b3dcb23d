// SPDX-License-Identifier: BSL-1.0
/// The ways in which ops get to accelerators, and what they take of those who launch them.
#pragma once

#include "weft/core/config.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::cost {

/// The way in which ops get to an accelerator.
enum class launches : std::uint8_t {
  single, ///< each by itself, by a runtime
  graph,  ///< all of a step at once, as a graph that was captured before, such as a CUDA graph
  eager,  ///< each by itself, by a framework in Python that records gradients and drives micro-batches
};

/// The time that each op or copy of a captured graph takes beside its work: 80 kernels that took 260 µs one by one took
/// 70 µs as a graph. Source: documentation of CUDA.jl, *Graphs*.
inline constexpr double graph_launch = 1e-6;

/// The time until the first message of a collective between accelerators is under way: the call, the launch of its
/// one kernel, and its wait for the other ranks. With 5 µs for each message, it puts all-reduces of 1 to 16 MiB by NCCL
/// on 2, 4 and 8 A100 within 30 % of measured ones. Source: Bang et al., *vTrain: A Simulation Framework for Evaluating
/// Cost-Effective and Compute-Optimal Large Language Model Training*, MICRO 2024, published measurements.
inline constexpr double collective_launch = 20e-6;

/// The time that the host takes to launch an op. A framework in Python: from the same measurements, in which layers of
/// small micro-batches take as long on one GPU as on four that share their work.
constexpr double launch_seconds(launches how) {
  switch (how) {
  case launches::single: return 5e-6;
  case launches::eager: return 56e-6;
  case launches::graph: break;
  }
  return 0;
}

/// The time that it takes to launch a collective among so many ranks. Those of a framework in Python wait for the
/// slowest of them each time: from the same measurements, of 2 to 8 ranks that split small layers.
constexpr double collective_launch_seconds(launches how, std::size_t ranks) {
  return how == launches::eager ? 24e-6 * static_cast<double>(ranks - 1) : launch_seconds(how);
}

/// The time beside its ops that a host takes for a pass of a micro-batch through a stage of a pipeline, to receive from
/// the stage before and send to the next one: from the same measurements, of 2 and 4 stages of small layers.
constexpr double pass_launch_seconds(launches how) {
  return how == launches::eager ? 2.5e-3 : 0;
}

/// The conditions that typical efficiencies depend on beside the type of an op.
struct typical_of {
  launches how = launches::single;
  double tensor_bits = 32;     ///< of the numbers that ops compute with
  bool expands_weights = false; ///< products read weights that are integers of 8 bits or fewer
  bool counts_launches = true;  ///< false: the host's time is not in that of ops (see `parallel::pass_run`)
};

} // namespace weft::cost
