// SPDX-License-Identifier: BSL-1.0
// Runs a plan on all ranks until one of them is killed in the middle of a kernel; lost_rank.py looks at what the others
// make of it.
//
//   mpirun -n 4 lost_rank RANK
#include "weft/interop/mpi/executor.hpp"

#include "weft/workload/builder.hpp"

#include <csignal>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
  try {
    weft::mpi::session mpi{argc, argv};
    const weft::mpi::communicator world;
    const int victim = std::atoi(argv[1]);
    const auto devices = static_cast<weft::device_id>(world.size());
    weft::workload_builder b;
    weft::plan p;
    for (weft::op_id v = 0; v < 10 * devices; ++v) {
      b.add_op({.work = 1, .bytes = 100'000});
      p.placement.push_back(v % devices);
      if (v > 0) {
        b.add_edge(v - 1, v);
      }
    }
    const auto w = std::move(b).build();
    const weft::execute::program program{w, p};
    weft::mpi::executor run{world, program};
    weft::execute::memory memory{program, run.devices()};
    try {
      for (int i = 0; i < 5; ++i) {
        run(
          [&](weft::op_id v, const weft::execute::op_buffers&) {
            if (i == 3 && v == 4 * devices + static_cast<weft::op_id>(victim)) {
              std::raise(SIGKILL);
            }
          },
          memory);
      }
    } catch (const weft::mpi::lost_rank_error& e) {
      std::fputs((std::string{e.what()} + "\n").c_str(), stderr);
      throw;
    }
  } catch (const weft::mpi::lost_rank_error&) {
    return 1; // not reached: an exception that leaves the session ends all ranks
  }
}
