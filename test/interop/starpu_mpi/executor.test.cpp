// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/starpu_mpi.hpp"

#include "interop/starpu/random_step.hpp"
#include "interop/starpu_mpi/ranks.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

namespace interop_starpu_mpi_executor_test {

using namespace weft;
using namespace interop_starpu_test;
using execute::run_status;
using interop_starpu_mpi_test::ranks;

/// Devices of which every rank has as many as StarPU has workers.
std::uint32_t num_devices() {
  const auto workers = ranks().local().cpu_workers().size();
  return static_cast<std::uint32_t>(workers) * static_cast<std::uint32_t>(ranks().size());
}

/// Fewer on more ranks, whose workers all spin: there may be more of them than cores.
std::uint64_t num_steps(std::uint64_t on_one) {
  const auto size = static_cast<std::uint64_t>(ranks().size());
  return on_one / (size * size) + 1;
}

/// Each device on any rank, but none on a rank that has no worker left.
starpu::distributed_options any_ranks(const execute::program& p, std::uint64_t seed) {
  rng random{seed};
  std::vector<std::size_t> left(static_cast<std::size_t>(ranks().size()), ranks().local().cpu_workers().size());
  starpu::distributed_options made;
  while (made.ranks.size() < p.num_devices()) {
    const auto r = random.below(left.size());
    if (left[r] > 0) {
      --left[r];
      made.ranks.push_back(static_cast<int>(r));
    }
  }
  return made;
}

TEST_CASE("starpu_mpi: random plans compute on all ranks what one device computes, each worker in the plan's order") {
  for (std::uint64_t seed = 0; seed < num_steps(120); ++seed) {
    CAPTURE(seed);
    const auto drawn = draw_step(seed, num_devices());
    const auto program = drawn.program();
    const auto options = seed % 3 == 0 ? starpu::distributed_options{} : any_ranks(program, seed);
    starpu::distributed_executor run{ranks(), program, options};
    const execute::memory memory{program, run.devices()};
    const auto planned = ops_by_device(drawn);
    for (int step = 1; step <= 2; ++step) {
      std::vector<std::vector<op_id>> ran(16);
      for (auto& of_device : ran) {
        of_device.reserve(program.num_ops());
      }
      std::vector<int> worker_of(16, -1);
      for (std::size_t i = 0; i < run.devices().size(); ++i) {
        worker_of[run.devices()[i]] = run.workers()[i];
      }
      std::atomic<int> strangers{0};
      const auto report = run([&](op_id v, const execute::op_buffers& b) {
        const device_id d = drawn.plan.placement[v];
        strangers += starpu_worker_get_id() != worker_of[d] ? 1 : 0;
        ran[d].push_back(v);
        test::hashing_kernel{}(v, b);
      }, memory);
      REQUIRE(report.status == run_status::finished);
      REQUIRE(report.num_finished == program.num_ops());
      REQUIRE(strangers == 0);
      REQUIRE(holds_results(drawn, memory, step));
      for (const device_id d : run.devices()) {
        REQUIRE(ran[d] == planned[d]);
      }
    }
  }
}

TEST_CASE("starpu_mpi: an op that throws ends the run on all ranks, which say where") {
  for (std::uint64_t seed = 0; seed < num_steps(60); ++seed) {
    CAPTURE(seed);
    const auto drawn = draw_step(seed, num_devices());
    const auto program = drawn.program();
    if (program.num_ops() == 0) {
      continue;
    }
    starpu::distributed_executor run{ranks(), program};
    const execute::memory memory{program, run.devices()};
    const op_id bad = rng{seed}.below(program.num_ops());
    const int where = run.rank_of(drawn.plan.placement[bad]);
    std::vector<std::uint8_t> ran(program.num_ops(), 0);
    const auto report = run([&](op_id v, const execute::op_buffers&) {
      if (v == bad) {
        throw std::runtime_error("no");
      }
      ran[v] = 1;
    }, memory);
    REQUIRE(report.status == run_status::failed);
    REQUIRE(report.failed == bad);
    REQUIRE(report.num_finished < program.num_ops());
    const auto text = "rank " + std::to_string(where) + ": op " + std::to_string(bad) + ": no";
    REQUIRE_THROWS_WITH(report.rethrow(), where == ranks().rank() ? "no" : text.c_str());
    for (const tensor_id t : drawn.workload.outputs(bad)) {
      for (const op_id u : drawn.workload.consumers(t)) {
        REQUIRE_FALSE(ran[u]);
      }
    }
    REQUIRE(run(test::hashing_kernel{}, memory).status == run_status::finished);
  }
}

TEST_CASE("starpu_mpi: a program has one executor on all ranks") {
  auto& starpu = ranks();
  const auto drawn = draw_step(7, num_devices());
  const auto program = drawn.program();
  const test::hashing_kernel kernel;
  // [run]
  weft::starpu::distributed_executor run{starpu, program};
  const weft::execute::memory memory{program, run.devices()}; // of this rank
  const auto report = run(kernel, memory);                    // on all ranks
  // [run]
  CHECK(report.num_finished == program.num_ops());
  CHECK(holds_results(drawn, memory, 1));
}

TEST_CASE("starpu_mpi: a cancel and a deadline on one rank end the run on all") {
  const auto drawn = draw_step(7, num_devices());
  const auto program = drawn.program();
  starpu::distributed_executor run{ranks(), program};
  const execute::memory memory{program, run.devices()};
  std::stop_source stop;
  if (ranks().rank() == 0) {
    stop.request_stop();
  }
  const auto nothing = [](op_id, const execute::op_buffers&) {};
  auto report = run(nothing, memory, {.stop = stop.get_token()});
  CHECK(report.status == run_status::cancelled);
  CHECK(report.num_finished < program.num_ops());
  report = ranks().rank() == 0 ? run(nothing, memory, {.seconds = 0}) : run(nothing, memory);
  CHECK(report.status == run_status::timed_out);
  CHECK(report.num_finished < program.num_ops());
}

TEST_CASE("starpu_mpi: what cannot be run is told in one line, on every rank") {
  const auto drawn = draw_step(7, 1);
  const auto program = drawn.program();
  CHECK_THROWS_WITH_AS((starpu::distributed_executor{ranks(), program, {.ranks = {99}}}),
                       ("distributed_options.ranks: names rank 99 of " + std::to_string(ranks().size())).c_str(),
                       value_error);
  starpu::distributed_executor run{ranks(), program};
  const auto other = draw_step(8, 1).program();
  const execute::memory wrong{other, std::vector<device_id>{}};
  CHECK_THROWS_WITH_AS(run(test::hashing_kernel{}, wrong),
                       "the memory: was made for another program than the executor", value_error);
}

} // namespace interop_starpu_mpi_executor_test
