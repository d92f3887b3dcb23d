// SPDX-License-Identifier: BSL-1.0
// Random graphs with random plans on random maps of devices to ranks: results are equal bit for bit to those of one
// device alone, and random faults end on all ranks and leave nothing behind.
#include "weft/interop/mpi/executor.hpp"

#include "interop/mpi/watchdog.hpp"
#include "support/random_plans.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

namespace interop_mpi_executor_random_test {

using namespace weft;
using execute::run_status;

/// The same on every rank.
struct problem {
  problem(std::uint64_t seed, int ranks) : random{seed} {
    const auto size = random.below(16); // what MPI sends at once, and what it does not
    graph = test::random_graph(random, size == 0 ? 12 : 40, size == 0 ? 100'000 : size < 4 ? 5000 : 64);
    where = test::random_plan(graph, random, 6);
    for ([[maybe_unused]] const tensor_id t : ids(graph.num_tensors())) {
      options.keep.push_back(t);
    }
    for (int d = 0; d < 6; ++d) {
      rank_of.push_back(static_cast<int>(random.below(static_cast<std::uint32_t>(ranks))));
    }
  }
  rng random;
  workload graph;
  plan where;
  execute::program_options options;
  std::vector<int> rank_of;
};

/// Whether this rank's tensors are what they should be after some runs.
bool is_right(const problem& p, const execute::program& program, const execute::memory& memory, int runs) {
  const auto alone = test::tensors_after(p.graph, runs, test::hashing_kernel{});
  for (const tensor_id t : ids(p.graph.num_tensors())) {
    if (memory.has(program.buffers()[t].device) && !std::ranges::equal(memory.tensor(t), alone[t])) {
      return false;
    }
  }
  return true;
}

/// WEFT_MPI_CASES, or so many for one rank; 4 ranks on fewer cores take their time.
std::uint64_t num_cases(std::uint64_t of_one_rank, int ranks) {
  const char* value = std::getenv("WEFT_MPI_CASES");
  return value == nullptr ? of_one_rank / static_cast<std::uint64_t>(ranks) : std::strtoull(value, nullptr, 10);
}

TEST_CASE("mpi::executor: random graphs with random plans") {
  const mpi::communicator all;
  const auto cases = num_cases(2000, all.size());
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    const test::watchdog limit;
    CAPTURE(seed);
    problem p{seed, all.size()};
    const execute::program program{p.graph, p.where, p.options};
    mpi::executor run{all, program, p.rank_of};
    execute::memory memory{program, run.devices()};
    const int runs = 1 + static_cast<int>(p.random.below(2));
    for (int i = 0; i < runs; ++i) {
      REQUIRE(run(test::hashing_kernel{}, memory, {.record = p.random.below(100) == 0}).status == run_status::finished);
    }
    REQUIRE(is_right(p, program, memory, runs));
  }
}


TEST_CASE("mpi::executor: random faults, each of which ends on all ranks, and after which the next run is right") {
  const mpi::communicator all;
  std::size_t count[4] = {};
  const auto cases = num_cases(1000, all.size());
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    const test::watchdog limit;
    CAPTURE(seed);
    problem p{1'000'000 + seed, all.size()};
    if (p.graph.num_ops() == 0) {
      continue;
    }
    const auto num_ops = static_cast<std::uint32_t>(p.graph.num_ops());
    const op_id v = p.random.below(num_ops), u = p.random.below(num_ops);
    const int who = static_cast<int>(p.random.below(static_cast<std::uint32_t>(all.size())));
    const bool with_both = p.random.below(3) == 0; // something else happens in another op, perhaps elsewhere
    const auto fault = p.random.below(6);
    if (fault == 0) { // one rank has another plan, by one op
      plan other = p.where;
      if (all.rank() == who) {
        other.placement[v] = other.placement[v] == 0 ? 1 : 0;
        other.order.clear();
      }
      const execute::program program{p.graph, other, p.options};
      REQUIRE_THROWS_AS((mpi::executor{all, program, p.rank_of}), value_error);
    }
    const execute::program program{p.graph, p.where, p.options};
    mpi::executor run{all, program, p.rank_of};
    for (int again = 0; again < 2 && fault > 0; ++again) { // a fault right after a fault
      execute::memory memory{program, run.devices()};
      std::stop_source stop;
      execute::run_options options{.record = p.random.below(50) == 0};
      const bool cancels = fault == 1 || (with_both && fault > 2);
      if (cancels) {
        options.stop = stop.get_token(); // this rank's own; of the ranks, only the one that runs the op triggers it
      }
      if (fault == 2 && all.rank() == who) {
        options.seconds = p.random.below(2) == 0 ? 0 : 2e-5;
      }
      const auto kernel = [&](op_id x, const execute::op_buffers& b) {
        if (x == v && fault > 2) {
          throw std::runtime_error("fault of op " + std::to_string(x));
        }
        if (cancels && x == (fault == 1 ? v : u)) {
          stop.request_stop();
        } else if (with_both && fault > 3 && x == u) {
          throw std::runtime_error("fault of op " + std::to_string(x));
        }
        test::hashing_kernel{}(x, b);
      };
      const auto report = run(kernel, memory, options);
      const auto told = all.all_gather(std::string{to_string(report.status)} + " " +
                                       std::to_string(report.num_finished) + " " + std::to_string(report.failed) +
                                       " " + std::to_string(report.rank) + " " + report.message);
      REQUIRE(static_cast<std::ptrdiff_t>(told.size()) == std::count(told.begin(), told.end(), told.front()));
      INFO(told.front());
      ++count[static_cast<int>(report.status)];
      if (report.status == run_status::failed) {
        REQUIRE(fault > 2);
        REQUIRE((report.failed == v || (with_both && report.failed == u)));
        REQUIRE(report.rank == run.rank_of(program.device(report.failed)));
        REQUIRE(report.message == "op " + std::to_string(report.failed) + " on rank " + std::to_string(report.rank) +
                                    ": fault of op " + std::to_string(report.failed));
        REQUIRE(report.exception != nullptr);
      } else if (report.status == run_status::cancelled) {
        REQUIRE(cancels);
        REQUIRE(report.rank == run.rank_of(program.device(fault == 1 ? v : u)));
      } else if (report.status == run_status::timed_out) {
        REQUIRE(fault == 2);
        REQUIRE(report.rank == who);
      } else {
        REQUIRE(fault <= 2);
        REQUIRE(report.num_finished == p.graph.num_ops());
      }
      REQUIRE((report.num_finished < p.graph.num_ops()) == (report.status != run_status::finished));
    }
    execute::memory memory{program, run.devices()};
    REQUIRE(run(test::hashing_kernel{}, memory).status == run_status::finished);
    REQUIRE(is_right(p, program, memory, 1));
  }
  for (const auto status : {run_status::failed, run_status::cancelled, run_status::timed_out}) {
    CHECK(count[static_cast<int>(status)] > cases / 100); // all of these happened
  }
}

} // namespace interop_mpi_executor_random_test
