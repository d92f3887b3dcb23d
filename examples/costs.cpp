// SPDX-License-Identifier: BSL-1.0
// From peak rates to measured times: how much the cost model changes what is predicted.
#include <weft/all.hpp>
#include <weft/models.hpp>
#include <weft/networks.hpp>

#include <cstdio>
#include <limits>

namespace {

template <class Cost>
void show(const char* name, const weft::workload& workload, const weft::platform<>& platform, const Cost& cost) {
  const weft::problem problem{workload, platform, cost};
  const auto r = weft::pipeline(weft::partition::heft{}, weft::schedule::path_completion_time{})(problem);
  std::printf("%-13s %7.1f ms\n", name, r.makespan * 1e3);
}

} // namespace

int main() {
  const auto workload = weft::zoo::make("resnet50@64");
  const auto platform = weft::presets::make("hgx_a100_4gpu");

  show("linear", workload, platform, weft::cost::linear{});
  show("roofline", workload, platform, weft::cost::roofline{});

  // [efficiencies]
  auto table = weft::cost::typical_efficiencies();
  table.set("Conv2D", {.compute = 0.5, .overhead = 5e-6}, weft::device_kind::gpu); // what you know better
  weft::cost::roofline typical;
  typical.efficiencies = &table;
  const weft::cost::cached estimated{typical, workload, platform}; // each time is looked up once
  // [efficiencies]
  show("efficiencies", workload, platform, estimated);

  // [measured]
  std::vector<double> seconds(workload.num_ops(), std::numeric_limits<double>::quiet_NaN());
  seconds[100] = 180e-6; // one op was measured on a GPU, all others are estimated
  weft::cost::measured measured{estimated, platform};
  measured.add(weft::device_kind::gpu, seconds);
  // [measured]
  show("measured", workload, platform, weft::cost::cached{measured, workload, platform});
}
