// SPDX-License-Identifier: BSL-1.0
// Strategies of your own: a lambda wherever the library has a struct.
#include <weft/all.hpp>
#include <weft/networks.hpp>

#include <cstdio>

namespace {

template <class Problem, class Partitioner, class Policy>
void show(const char* what, const Problem& p, const Partitioner& place, const Policy& policy) {
  const weft::result result = weft::pipeline(place, policy)(p);
  std::printf("%-34s %6.1f ms, %5.1f MB moved\n", what, result.makespan * 1e3,
              static_cast<double>(result.stats.transfer_bytes) / 1e6);
}

} // namespace

int main() {
  const auto workload = weft::zoo::make("lstm");
  const auto platform = weft::presets::make("paper_like_10");
  const weft::problem problem{workload, platform};

  // [partitioner]
  // Each component (a colocation group, or an op without one) goes to the device that would finish it first.
  const auto least_loaded = [](const auto& p) -> weft::outcome<weft::placement> {
    weft::partition::assignment a{p};
    for (const weft::component_id c : weft::ids(p.num_components())) {
      const auto done = [&](weft::device_id d) { return a.load(d) + p.component_time(c, d); };
      const weft::device_id d = a.best_fit(c, done);
      if (d == weft::none) {
        return a.why_unplaced(c); // a result, not an exception
      }
      a.place(c, d);
    }
    return std::move(a).take();
  };
  // [partitioner]

  // [ready_policy]
  // Sends go first, those that take long on the link before others, and then ops, short ones first.
  const auto sends_first = [](const auto& flow, weft::item_id i) {
    return flow.is_send(i) ? flow.transfers()[flow.transfer_of(i)].transfer_time : -flow.duration(i);
  };
  // [ready_policy]

  using namespace weft;
  show("hash + fifo", problem, partition::hash{}, schedule::fifo{});
  show("least_loaded + fifo", problem, least_loaded, schedule::fifo{});
  show("least_loaded + sends_first", problem, least_loaded, sends_first);
  show("critical_path + sends_first", problem, partition::critical_path{}, sends_first);
  show("critical_path + pct", problem, partition::critical_path{}, schedule::path_completion_time{});
  show("heft + pct", problem, partition::heft{}, schedule::path_completion_time{});
}
