// SPDX-License-Identifier: BSL-1.0
// Watching a run: what happens when, how busy each device is, and how much memory it needs.
#include <weft/all.hpp>
#include <weft/views.hpp>

#include <cstdio>

namespace {

// [observer]
/// Any subset of the on_… members of weft/simulate/observer.hpp; what is not there costs nothing.
struct narrator {
  const weft::workload& w;

  void on_op_start(weft::op_id v, weft::device_id d, double now) const {
    std::printf("%5.1f  device %u  %s starts\n", now, d, w.name(v).data());
  }
  void on_op_finish(weft::op_id v, weft::device_id d, double now) const {
    std::printf("%5.1f  device %u  %s is done\n", now, d, w.name(v).data());
  }
  void on_arrival(std::uint32_t, const weft::transfer& x, double now) const {
    std::printf("%5.1f  device %u  tensor of %s arrives\n", now, x.to, w.name(w.producer(x.tensor)).data());
  }
};
// [observer]

} // namespace

int main() {
  weft::workload_builder b;
  b.add_op({.work = 2, .bytes = 8, .name = "a"});
  b.add_op({.work = 4, .bytes = 4, .resident_bytes = 10, .name = "b"});
  b.add_op({.work = 6, .bytes = 2, .name = "c"});
  b.add_op({.work = 2, .name = "d"});
  for (const auto& [from, to] : {std::pair{0u, 1u}, {0u, 2u}, {1u, 3u}, {2u, 3u}}) {
    b.add_edge(from, to);
  }
  const weft::workload workload = std::move(b).build();
  const weft::platform platform{std::vector<weft::device>{{.speed = 1}, {.speed = 2}},
                                weft::uniform_links{{.latency = 1, .bandwidth = 4}}};
  const weft::problem problem{workload, platform};

  // [run]
  const weft::plan plan{.placement = {0, 1, 0, 1}}; // or what a solver returned
  weft::simulator<decltype(problem), weft::schedule::fifo> simulator{problem};
  simulator.run(plan, narrator{workload});

  weft::trace trace; // the same run again, recorded
  simulator.run(plan, weft::simulate::recorder{trace});
  weft::simulate::memory_tracker memory{problem};
  memory.follow(plan.placement, trace);
  // [run]
  for (const weft::device_id d : weft::ids(platform.num_devices())) {
    std::printf("device %u needs %zu bytes at its peak", d, static_cast<std::size_t>(memory.peaks()[d]));
    for (const auto& [start, finish] : weft::views::timeline{trace}.idle(d)) {
      std::printf(", waits from %g to %g", start, finish);
    }
    std::printf("\n");
  }
  std::printf("the validator finds %zu broken rules\n", weft::validate(problem, plan.placement, trace).size());
}
