// SPDX-License-Identifier: BSL-1.0
/// Helpers of programs that run ops on this machine with threads of OpenMP.
#pragma once

#include "weft/core/error.hpp"
#include "weft/platform/machine.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace tool {

/// Says on a terminal what is going on; nothing ends it.
inline void progress(const std::string& what) {
  if (isatty(STDERR_FILENO) != 0) {
    fmt::print(stderr, "\r\x1b[K{}", what);
    std::fflush(stderr);
  }
}

/// As many cores of this machine as `--threads` says; 0: all. Throws `weft::error` if it has fewer.
inline weft::machine with_threads(weft::machine m, unsigned threads) {
  if (threads > m.cores()) {
    throw weft::error(fmt::format("--threads {}: this machine has {} cores", threads, m.cores()));
  }
  if (threads > 0 && threads < m.cores()) {
    m.sockets = 1;
    m.cores_per_socket = threads;
    m.cores_per_tile = 1;
    m.name += fmt::format(", {} used", threads);
  }
  m.dispatch_seconds = 1e-6; // a decision of the concurrent executor
  return m;
}

/// Starts the program again with a shorter spin of libgomp's idle threads, unless the environment says how long it is:
/// by default it is long, on cores that ops beside them want. The variable is read when the library is loaded.
inline void shorten_spins(char** argv) {
  if (std::getenv("GOMP_SPINCOUNT") == nullptr && std::getenv("OMP_WAIT_POLICY") == nullptr) {
    setenv("GOMP_SPINCOUNT", "20000", 1);
    execv("/proc/self/exe", argv);
  }
}

} // namespace tool
