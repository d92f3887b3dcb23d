// SPDX-License-Identifier: BSL-1.0
// What things cost is yours to say: a struct with compute_time and transfer_time, or just a function.
#include <weft/all.hpp>
#include <weft/networks.hpp>

#include <cstdio>

namespace {

// [own_cost_model]
/// Work over speed, but no op takes less than the launch of a kernel; transfers are copied in whole pages.
struct measured_gpu {
  double launch = 5e-6; // seconds

  template <class Workload, class Platform>
  constexpr double compute_time(const Workload& w, weft::op_id v, const Platform& p, weft::device_id d) const {
    return launch + w.work(v) / p.speed(d);
  }
  template <class Workload, class Platform>
  constexpr double transfer_time(const Workload& w, weft::tensor_id t, const Platform& p, weft::device_id from,
                                 weft::device_id to) const {
    const auto pages = (w.bytes(t) + 4095) / 4096;
    return p.latency(from, to) + static_cast<double>(pages * 4096) / p.bandwidth(from, to);
  }
};
// [own_cost_model]
static_assert(weft::cost_model_for<measured_gpu, weft::workload, weft::platform<>>);

template <class Problem>
void solve(const char* model, const Problem& p) {
  const auto result = weft::pipeline(weft::partition::heft{}, weft::schedule::path_completion_time{})(p);
  std::size_t on_cpu = 0;
  for (const weft::device_id d : result.plan.placement) {
    on_cpu += d == 0;
  }
  std::printf("%-14s %8.3f ms, %4zu of %zu ops on the CPU\n", model, result.makespan * 1e3, on_cpu, p.num_ops());
}

} // namespace

int main() {
  const auto workload = weft::zoo::make("lstm");
  const auto platform = weft::presets::make("workstation_2gpu");

  solve("linear", weft::problem{workload, platform}); // work over speed, the default
  solve("measured_gpu", weft::problem{workload, platform, measured_gpu{}});

  // [from_function]
  const auto seconds = [&](weft::op_id v, weft::device_id d) {
    const double launch = platform.kind(d) == weft::device_kind::gpu ? 5e-6 : 5e-7;
    return launch + workload.work(v) / (0.3 * platform.speed(d)); // nothing reaches more than 30 % of its peak
  };
  const weft::problem problem{workload, platform, weft::cost::from_function{seconds}};
  // [from_function]
  solve("from_function", problem);
}
