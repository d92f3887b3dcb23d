// SPDX-License-Identifier: BSL-1.0
#include "weft/allocate/on_devices.hpp"

#include "support/offsets.hpp"
#include "weft/core/random.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/partition/heft.hpp"
#include "weft/partition/hash.hpp"
#include "weft/partition/heft.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/memory.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace allocate_on_devices_test {

using namespace weft;
using allocate::device_layout;

/// Whether any two things that are there at one time overlap, or one ends above the layout's height.
void check(const workload& w, const device_layout& m, byte_count alignment) {
  struct block {
    double begin, end;
    byte_count low, high;
  };
  std::vector<block> all;
  for (const auto& x : m.residents) {
    CHECK(x.bytes == w.resident_bytes(x.op));
    all.push_back({-1, 1e300, x.offset, x.offset + x.bytes});
  }
  REQUIRE(m.offsets.size() == m.stays.size());
  for (std::size_t i = 0; i < m.stays.size(); ++i) {
    const auto& s = m.stays[i];
    all.push_back({s.begin, s.end, m.offsets[i], m.offsets[i] + w.bytes(s.tensor)});
  }
  byte_count top = 0;
  bool disjoint = true, aligned = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    top = std::max(top, all[i].high);
    aligned = aligned && all[i].low % alignment == 0;
    for (std::size_t j = 0; j < i; ++j) {
      disjoint = disjoint && (all[i].end <= all[j].begin || all[j].end <= all[i].begin || all[i].high <= all[j].low ||
                              all[j].high <= all[i].low);
    }
  }
  for (std::size_t i = 0; i < m.stays.size(); ++i) {
    for (std::size_t j = 0; j < m.stays.size() && is_overwritten(w, m.stays[i].tensor); ++j) {
      const op_id v = w.consumers(m.stays[i].tensor)[0];
      const bool takes_place =
        !m.stays[j].received && m.stays[j].tensor == *w.outputs(v).begin() && m.stays[i].end == m.stays[j].begin;
      CHECK((!takes_place || m.offsets[i] == m.offsets[j]));
    }
  }
  CHECK(disjoint);
  CHECK(aligned);
  CHECK(top == m.bytes);
  CHECK(m.bound <= m.bytes);
}

TEST_CASE("on devices: a chain over two devices") {
  workload_builder b;
  b.add_op({.work = 1, .bytes = 100, .resident_bytes = 7});
  b.add_op({.work = 1, .bytes = 50, .resident_bytes = 5});
  b.add_op({.work = 1, .bytes = 100});
  b.add_edge(0, 1);
  b.add_edge(1, 2);
  const workload w = std::move(b).build();
  const platform<uniform_links> machine{std::vector<device>(2, {.speed = 1, .memory_capacity = 160}), {}};
  const problem task{w, machine, cost::linear{}};
  trace t;
  simulator{task, schedule::static_order{}}.run(plan{{0, 0, 0}, {}}, simulate::recorder{t});
  const auto made = allocate::on_devices(task, {0, 0, 0}, t);
  REQUIRE(made.size() == 2);
  CHECK(made[0].bytes == 12 + 150);
  CHECK(made[0].is_least());
  CHECK(!made[0].fits());
  CHECK(made[0].residents[1].offset == 7);
  check(w, made[0], 1);
  CHECK(made[1].bytes == 0);
  CHECK(made[1].fits());
  const auto at_lines = allocate::on_devices(task, {0, 0, 0}, t, {.alignment = 64});
  CHECK(at_lines[0].residents[1].offset == 64);
  check(w, at_lines[0], 64);
}

TEST_CASE("on devices: the bound is the peak that the memory model counts") {
  for (const char* net : {"mnist_conv", "dcgan", "lstm", "ptb_lstm_fused"}) {
    const workload w = zoo::make(net);
    for (const std::size_t devices : {1u, 2u, 3u}) {
      CAPTURE(net);
      CAPTURE(devices);
      const platform<uniform_links> machine{std::vector<device>(devices, {.speed = 1e13, .memory_bandwidth = 5e11}),
                                            {{.latency = 1e-5, .bandwidth = 1e10}}};
      const problem task{w, machine, cost::roofline{}};
      rng random;
      workspace scratch;
      for (const bool scattered : {false, true}) {
        const plan p = scattered ? plan{*partition::hash{}(task, random, scratch), {}}
                                 : partition::run(partition::heft{}, task, random, scratch)->plan;
        trace t;
        REQUIRE(simulator{task, schedule::static_order{}}.run(p, simulate::recorder{t}).complete);
        const auto peaks = peak_memory_of(task, p.placement, t);
        simulate::memory_tracker tracker{task};
        tracker.follow(p.placement, t);
        CHECK(tracker.peaks() == peaks);
        const auto made = allocate::on_devices(task, p.placement, t, {.spend = {.moves = 0}});
        for (const device_id d : ids(devices)) {
          CHECK(made[d].bound == peaks[d]);
          CHECK(made[d].bytes <= peaks[d] + peaks[d] / 4);
          check(w, made[d], 1);
        }
      }
    }
  }
}

} // namespace allocate_on_devices_test
