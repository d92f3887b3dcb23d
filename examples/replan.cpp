// SPDX-License-Identifier: BSL-1.0
// Moving on: in the middle of a run a GPU turns out to be three times slower than its data sheet; what has not begun is
// planned again, and the run goes on by that.
#include <weft/all.hpp>
#include <weft/networks.hpp>

#include <cstdio>

namespace {

template <class Problem>
weft::trace follow(const Problem& p, const weft::plan& plan) {
  weft::trace trace;
  weft::simulator{p, weft::schedule::static_order{}}.run(plan, weft::simulate::recorder{trace});
  return trace;
}

} // namespace

int main() {
  const auto workload = weft::zoo::make("resnet50");
  const auto platform = weft::presets::make("hgx_a100_4gpu"); // a CPU and four GPUs
  const weft::problem expected{workload, platform};
  const weft::plan plan = weft::solve::best(expected, {.moves = 20'000}).plan;
  const double planned = follow(expected, plan).makespan;

  auto devices = platform.devices();
  devices[1].speed /= 3;
  const weft::platform slower{devices, platform.links()};
  const weft::problem measured{workload, slower};
  const weft::trace trace = follow(measured, plan); // what happens; of a real run, the trace of its report

  // [replan]
  const weft::run_state state = weft::state_at(trace, 0.3 * planned); // what has begun by then; no device is gone
  const auto soon = weft::solve::replan(measured, state, plan,
                                        weft::pipeline(weft::partition::heft{}, weft::schedule::static_order{}));
  const auto best = weft::solve::replan(measured, state, plan, {.moves = 20'000});
  // best.plan, best.run and best.makespan are of the whole run; best.carried_on is what the old plan would take
  // [replan]
  const auto lost = weft::state_at(trace, 0.3 * planned, {1}); // the same moment, if the GPU fails instead
  const auto without = weft::solve::replan(measured, lost, plan, {.moves = 20'000});

  const double on = best.carried_on;
  std::printf("planned              %6.2f ms\n", planned * 1e3);
  std::printf("carried on           %6.2f ms\n", on * 1e3);
  std::printf("again by HEFT        %6.2f ms, %.2f times as fast\n", soon.makespan * 1e3, on / soon.makespan);
  std::printf("again by solve::best %6.2f ms, %.2f times as fast\n", best.makespan * 1e3, on / best.makespan);
  std::printf("without the GPU      %6.2f ms, %zu ops run again\n", without.makespan * 1e3, without.again.size());
  const bool possible = validate(measured, state, best.run).empty() && validate(measured, lost, without.run).empty();
  return possible && best.makespan < on ? 0 : 1;
}
