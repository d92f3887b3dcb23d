// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/mpi/executor.hpp"

#include "interop/mpi/watchdog.hpp"
#include "support/counting_allocator.hpp"

#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <stop_token>
#include <utility>
#include <vector>

namespace interop_mpi_executor_allocation_test {

using namespace weft;

TEST_CASE("mpi::executor: after one run, running again allocates nothing") {
  const test::watchdog limit;
  const mpi::communicator all;
  workload_builder b;
  plan p;
  for (op_id v = 0; v < 100; ++v) {
    b.add_op({.work = 1, .bytes = 1000});
    p.placement.push_back(v % static_cast<device_id>(all.size()));
    if (v > 0) {
      b.add_edge(v - 1, v);
    }
  }
  const workload w = std::move(b).build();
  const execute::program program{w, p};
  for (const bool several : {false, true}) {
    mpi::executor run{all, program, several ? std::vector<int>(program.num_devices(), 1) : std::vector<int>{}};
    execute::memory memory{program, run.devices()};
    const auto kernel = [](op_id, const execute::op_buffers&) {};
    const std::stop_source source;
    const execute::run_options options{.stop = source.get_token(), .seconds = 1e6};
    run(kernel, memory, options);
    const test::allocation_counter counter; // of operator new; MPI has its own ways
    const auto report = run(kernel, memory, options);
    CHECK(counter.count() == 0);
    CHECK(report.num_finished == 100);
  }
}

} // namespace interop_mpi_executor_allocation_test
