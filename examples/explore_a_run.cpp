// SPDX-License-Identifier: BSL-1.0
// Questions about a plan and its run, answered by views that compose: with adaptors of range-v3 and of the standard
// library alike.
#include <weft/all.hpp>
#include <weft/networks.hpp>
#include <weft/views.hpp>

#include <range/v3/algorithm/max.hpp>
#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/transform.hpp>

#include <cstdio>
#include <ranges>

int main() {
  const auto workload = weft::zoo::make("inception_v3@8");
  const auto platform = weft::presets::make("workstation_2gpu");
  const weft::problem problem{workload, platform};
  const auto result = weft::pipeline(weft::partition::heft{}, weft::schedule::static_order{})(problem);
  weft::trace run;
  weft::simulator<decltype(problem), weft::schedule::static_order>{problem}.run(result.plan,
                                                                               weft::simulate::recorder{run});

  // [views]
  using namespace ranges;
  const weft::views::timeline line{run};
  const auto bytes = [&](const auto& x) { return workload.bytes(x.tensor); };
  const auto in_all = [](auto&& amounts) { return accumulate(amounts, weft::byte_count{0}); };

  // Which edges does the plan cut, and what do they carry?
  auto cut = weft::views::cut_edges(workload, result.plan.placement);
  std::printf("%td of %zu edges are cut\n", distance(cut), weft::views::edges(workload).size());

  for (const weft::device_id d : weft::ids(platform.num_devices())) {
    // How much does each device do, and how long does it wait at most?
    const auto waits = line.idle(d) | views::transform(&weft::views::interval::length);
    std::printf("%-6s %4zu ops, idle %4.1f %%, at most %.3f ms at once", platform.name(d).data(), line.ops(d).size(),
                100 * accumulate(waits, 0.0) / run.makespan, waits.empty() ? 0 : 1e3 * max(waits));
    // What does it send, and where to?
    for (const weft::device_id to : weft::ids(platform.num_devices())) {
      if (const auto sent = line.transfers(d, to); !sent.empty()) {
        std::printf("; %.1f MB to %s", 1e-6 * static_cast<double>(in_all(sent | views::transform(bytes))),
                    platform.name(to).data());
      }
    }
    std::printf("\n");
  }

  // What lies in memory half-way?
  auto alive = weft::views::alive_at(weft::views::stays(workload, run), run.makespan / 2);
  std::printf("half-way %td tensors are alive, %.1f MB in all\n", distance(alive),
              1e-6 * static_cast<double>(in_all(alive | views::transform(bytes))));

  // What of the critical path is waiting for links?
  auto moves = weft::views::critical_path(problem, run) | std::views::filter([](const weft::path_step& s) {
                 return s.what == weft::path_step::kind::transfer;
               });
  std::printf("the critical path has %td transfers\n", std::ranges::distance(moves));
  // [views]
}
