// SPDX-License-Identifier: BSL-1.0
/// Thread teams for kernels: the seam to OpenMP, oneTBB and pinning.
#pragma once

#include "weft/platform/machine.hpp"

#include <concepts>
#include <cstdint>
#include <span>
#include <utility>

namespace weft {
namespace execute {

/// The thread, team and cores with which an op is about to run.
struct seat {
  /// Which of the executor's threads calls the kernel; 0 is the thread that started the run, and one more than the last
  /// stands for all threads that run the ops by themselves because the executor is taken.
  std::uint32_t runner = 0;
  weft::team team = {};
  std::span<const std::uint32_t> cores = {}; ///< that the op has, by the machine's numbers; may be empty
};

/// Leaves threads to the kernel, which is told its team.
struct kernel_threads {
  template <class Call>
  void operator()(const seat&, Call&& call) {
    std::forward<Call>(call)();
  }
};

} // namespace execute

/// `t(seat, call)` calls `call()` once, on this thread or one that it waits for, so that parallel regions inside have
/// `seat.team.threads` threads, and leaves the thread as it found it. Called from several threads at the same time.
/// interop/openmp.hpp and interop/onetbb.hpp have the usual ones.
template <class T>
concept team_runner = std::movable<T> && requires(T& t, const execute::seat& s, void (*call)()) { t(s, call); };

} // namespace weft
