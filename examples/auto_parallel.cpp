// SPDX-License-Identifier: BSL-1.0
// From an ONNX model to the way in which the GPUs of a machine train it: data, tensor or pipeline parallelism.
// [auto_parallel]
#include <weft/interop/onnx.hpp>
#include <weft/planner.hpp>
#include <weft/platform/presets.hpp>
#include <weft/report/ways.hpp>

#include <iostream>

int main(int argc, char** argv) {
  const std::string file = argc > 1 ? argv[1] : "net.onnx";
  const auto net = weft::planner::steps_of(
    [&](std::uint64_t batch) { return weft::onnx::read_model(file, {.batch = batch}); },
    {.train = weft::optimizer::adam});
  const auto machine = weft::cost::with_typical_links(weft::presets::dgx_a100());
  const auto best = weft::planner::best(net, net(256, {}), machine, weft::planner::typical_costs());
  for (const auto& x : best.ways.ways) {
    const auto row = weft::report::way_of(x, 256, machine);
    std::cout << row.name << ": " << (row.status.empty() ? weft::report::duration(x.seconds) : row.status) << '\n';
  }
  std::cout << (best.ways.best ? weft::report::strategy_of(*best.taken(), 256, machine) : "one device is best") << '\n';
}
// [auto_parallel]
