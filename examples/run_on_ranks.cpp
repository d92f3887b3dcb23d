// SPDX-License-Identifier: BSL-1.0
// A plan that runs on the ranks of an MPI program, each with its part of the tensors: mpirun -n 2 run_on_ranks
// [program]
#include <weft/all.hpp>
#include <weft/execute.hpp>
#include <weft/interop/mpi.hpp>

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <utility>

int main(int argc, char** argv) {
  const weft::mpi::session mpi{argc, argv}; // MPI_Init_thread and MPI_Finalize
  const weft::mpi::communicator world;      // a copy of MPI_COMM_WORLD

  weft::workload_builder net; // a source, eight ops that read it, and one that reads these
  const auto source = net.add_op({.work = 1, .bytes = 1});
  const auto sum = net.add_op({.work = 1, .bytes = 1});
  for (int i = 0; i < 8; ++i) {
    const auto middle = net.add_op({.work = 10, .bytes = 1});
    net.add_edge(source, middle);
    net.add_edge(middle, sum);
  }
  const weft::workload workload = std::move(net).build();
  const auto platform = weft::presets::identical(static_cast<std::uint32_t>(world.size())); // a device for each rank
  const auto solve = weft::pipeline(weft::partition::heft{}, weft::schedule::static_order{});
  const weft::plan plan = solve(weft::problem{workload, platform}).plan; // the same on every rank

  const auto kernel = [](weft::op_id, const weft::execute::op_buffers& b) { // 1 + all inputs
    auto result = 1u;
    for (const auto& in : b.inputs) {
      result += std::to_integer<unsigned>(in[0]);
    }
    b.outputs[0][0] = static_cast<std::byte>(result);
  };
  const weft::tensor_id last = workload.outputs(sum).front();
  const weft::execute::program program{workload, plan, {.keep = {last}}};
  weft::mpi::executor run{world, program};                  // device d is rank d
  weft::execute::memory memory{program, run.devices()};     // of this rank
  const auto report = run(kernel, memory, {.seconds = 60}); // every rank calls it
  report.rethrow();                                         // if an op threw, on this rank or another
  if (memory.has(plan.placement[sum])) {
    std::cout << report.num_finished << " ops on " << program.num_devices() << " ranks; the sum is "
              << std::to_integer<int>(memory.tensor(last)[0]) << '\n';
  }
}
// [program]
