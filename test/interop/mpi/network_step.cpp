// SPDX-License-Identifier: BSL-1.0
// A training step of a network on as many simulated machines as SMPI has ranks, run by the MPI executor: the same
// source and the same messages as on a real cluster, but kernels and transfers only take simulated time. Prints how
// long weft's simulator says that it takes, and how long it took.
//
//   smpirun -np N ... network_step NETWORK heft|spread|data LATENCY BANDWIDTH
//
// With `data`, each machine has a replica of the network, and gradients are all-reduced in a ring. All machines are on
// one switch, with a cable of that latency and bandwidth each.
#include "support/random_plans.hpp"

#include "weft/cost/linear.hpp"
#include "weft/execute/memory.hpp"
#include "weft/interop/mpi.hpp"
#include "weft/parallel/collective.hpp"
#include "weft/parallel/data_parallel.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/interconnect.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/fair_sharing.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/zoo.hpp"

#include <smpi/smpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <memory_resource>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace weft;

using cluster = platform<link_matrix>;
constexpr double speed = 1e12; // FLOP/s of a machine

cluster make_cluster(std::size_t machines, weft::link cable) {
  interconnect_builder b{machines};
  const auto all = b.add_switch("switch");
  for (device_id d = 0; d < machines; ++d) {
    b.join(d, all, cable);
  }
  return {std::vector<device>(machines, {.kind = device_kind::cpu, .speed = speed}), link_matrix{std::move(b).build()}};
}

/// Lends everybody the same block: what tensors hold does not matter here, and the memory of 256 machines is not there.
class one_block : public std::pmr::memory_resource {
public:
  explicit one_block(std::size_t bytes) : block_(bytes + 64) {}

private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* data = block_.data();
    auto size = block_.size();
    return std::align(alignment, bytes, data, size) != nullptr ? data : throw std::bad_alloc{};
  }
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::vector<std::byte> block_;
};

/// What every rank knows. Made once: SMPI's ranks are threads of one process.
struct known {
  workload ops;
  cluster machines;
  problem<workload, cluster, cost::linear> task;
  plan decided;
  trace predicted;
  execute::program program;
  std::unique_ptr<std::pmr::memory_resource> block;

  /// The network's step, or a replica of it for each machine.
  static workload make_ops(const char* network, std::string_view way, std::size_t size) {
    auto step = zoo::make(network);
    return way == "data" ? replicas_of(step, size).graph : step;
  }
  static parallel::replicated_workload replicas_of(const workload& step, std::size_t size) {
    std::vector<placement> where;
    for (device_id d = 0; d < size; ++d) {
      where.emplace_back(step.num_ops(), d);
    }
    return parallel::data_parallel(step, where, parallel::ring_all_reduce(static_cast<std::uint32_t>(size)));
  }

  known(const char* network, std::string_view way, std::size_t size, weft::link cable)
      : ops{make_ops(network, way, size)}, machines{make_cluster(size, cable)}, task{ops, machines, cost::linear{}} {
    rng random{1};
    if (way == "data") {
      decided.placement = replicas_of(zoo::make(network), size).where;
    } else if (way == "spread") { // groups anywhere: much more traffic than any sensible plan has
      decided.placement = test::random_placement(ops, size, random);
    } else {
      decided.placement = pipeline(partition::heft{}, schedule::static_order{})(task).plan.placement;
    }
    simulator{task, schedule::fifo{}, simulate::fair_sharing{}}.run(decided, simulate::recorder{predicted});
    program = {ops, decided, predicted};
    byte_count most = 0;
    for (const device_id d : ids(program.num_devices())) {
      most = std::max(most, program.peak_bytes(d));
    }
    block = std::make_unique<one_block>(2 * most + (byte_count{1} << 20)); // with what lies between buffers
  }
};

} // namespace

int main(int argc, char** argv) {
  mpi::session session{argc, argv, mpi::threads::single};
  const mpi::communicator world;
  static std::unique_ptr<const known> shared;
  if (argc != 5) {
    std::fprintf(stderr, "usage: network_step NETWORK heft|spread|data LATENCY BANDWIDTH\n");
    return 2;
  }
  if (!shared) {
    shared = std::make_unique<const known>(argv[1], argv[2], static_cast<std::size_t>(world.size()),
                                           weft::link{std::atof(argv[3]), std::atof(argv[4])});
  }
  const known& k = *shared;
  mpi::executor run{world, k.program, {}, mpi::waiting::in_mpi};
  execute::memory memory{k.program, run.devices(), {.resource = k.block.get()}};
  double last = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  run(
    [&](op_id v, const execute::op_buffers&) {
      smpi_execute(k.ops.work(v) / speed);
      last = MPI_Wtime();
    },
    memory);
  double times[2] = {last, -begin}, all[2] = {0, 0};
  MPI_Allreduce(times, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (world.rank() == 0) {
    std::printf("%s %s %d ranks: %zu ops, %zu messages, simulated %.9g s, SMPI %.9g s, ratio %.6f\n", argv[1], argv[2],
                world.size(), k.ops.num_ops(), k.program.messages().size(), k.predicted.makespan, all[0] + all[1],
                (all[0] + all[1]) / k.predicted.makespan);
  }
  return 0;
}
