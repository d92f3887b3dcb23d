// SPDX-License-Identifier: BSL-1.0
// From an ONNX model to the way in which the GPUs of a machine train it: data, tensor or pipeline parallelism.
#include <weft/cost/link_share.hpp>
#include <weft/interop/onnx.hpp>
#include <weft/io/files.hpp>
#include <weft/planner.hpp>
#include <weft/platform/presets.hpp>
#include <weft/report/ways.hpp>

#include <iostream>

// [auto_parallel]
int main(int argc, char** argv) try {
  const std::string file = argc > 1 ? argv[1] : "net.onnx";
  const auto bytes = weft::io::read_file(file);
  const weft::onnx::parsed_model model{bytes, file};
  const auto net = weft::planner::steps_of([&](std::uint64_t batch) { return model.read({.batch = batch}); },
                                           {.train = weft::optimizer::adam});
  const auto step = net(256, {}); // 256 samples
  const auto machine = weft::cost::with_typical_links(weft::presets::dgx_a100());
  const auto best = weft::planner::best(net, step, machine, weft::planner::typical_costs());
  for (const auto& x : best.ways.ways) {
    const auto row = weft::report::way_of(x, step.batch, machine);
    std::cout << row.name << ": " << (row.status.empty() ? weft::report::duration(x.seconds) : row.status) << '\n';
  }
  std::cout << weft::report::strategy_of(best, step.batch, machine) << '\n';
  return best ? 0 : 1;
} catch (const weft::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
// [auto_parallel]
