// SPDX-License-Identifier: BSL-1.0
// What a program does that wants to know how the devices of a machine share a step: planner::best.
#include <weft/planner.hpp>
#include <weft/platform/presets.hpp>

#include <cstdio>

int main() {
  const weft::planner::step_source net = [](std::uint64_t batch, auto) {
    return weft::planner::model_step{.batch = batch};
  };
  const auto step = net(256, {});
  const auto machine = weft::presets::dgx_a100();
  const auto best = weft::planner::best(net, step, machine, weft::planner::typical_costs());
  std::printf("%zu ways\n", best.ways.ways.size());
}
