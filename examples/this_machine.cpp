// SPDX-License-Identifier: BSL-1.0
// What weft sees of the machine that it runs on, what a short measurement says that it reaches, and what its
// concurrency strategies would do with a training step here.
#include "weft/concurrency/moldable.hpp"
#include "weft/execute/calibrate.hpp"
#include "weft/interop/hwloc.hpp"
#include "weft/simulate/manycore.hpp"
#include "weft/workload/zoo.hpp"

#include <iostream>

int main() {
  const auto machine = weft::execute::calibrate(weft::local_topology{}.describe());
  std::cout << machine.name << ": " << machine.sockets << " socket(s), " << machine.cores() << " core(s), "
            << machine.threads_per_core << " hardware thread(s) each\n"
            << "one core reaches " << machine.core_speed / 1e9 << " GFLOP/s as this program was compiled, and "
            << machine.core_bandwidth / 1e9 << " GB/s; a socket " << machine.socket_bandwidth / 1e9 << " GB/s\n"
            << "a team of all cores takes " << (machine.fork_seconds + machine.join_seconds * machine.cores()) * 1e6
            << " us to start and join\n";

  const auto workload = weft::zoo::make("ptb_lstm", {.bookkeeping = false});
  const auto here = weft::single(machine);
  const weft::problem problem{workload, here, weft::concurrency::moldable<>{}};
  const weft::plan plan{weft::placement(workload.num_ops(), 0)};
  const auto step = [&](const auto& strategy) {
    return weft::manycore_simulator{problem, strategy}.run(plan).makespan;
  };
  std::cout << "a training step of zoo:ptb_lstm would take " << step(weft::concurrency::recommended) * 1e3
            << " ms as frameworks recommend, " << step(weft::concurrency::s1_s2_s3) * 1e3 << " ms with S1 to S3, and "
            << step(weft::concurrency::symmetric(machine.cores(), 1)) * 1e3 << " ms with one thread per op\n";
}
