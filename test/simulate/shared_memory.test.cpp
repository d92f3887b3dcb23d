// SPDX-License-Identifier: BSL-1.0
// Devices that work in one memory: what is counted where, against a count of our own at every moment of random runs.
#include "weft/platform/platform.hpp"

#include "simulate/random_problem.hpp"
#include "support/rounds.hpp"

#include "weft/allocate/on_devices.hpp"
#include "weft/core/error.hpp"
#include "weft/partition/heft.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/memory_shortage.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace simulate_shared_memory_test {

using namespace weft;
using test::drawn;
using test::drawn_problem;

/// The bytes in device m's memory at a moment at which nothing begins or ends.
byte_count held_at(const drawn_problem& p, const placement& where, const trace& run, device_id m, double time) {
  const auto& w = p.workload();
  const auto is_in = [&](device_id d) { return p.platform().memory_of(d) == m; };
  byte_count bytes = 0;
  for (const op_id v : ids(p.num_ops())) {
    bytes += is_in(where[v]) ? w.resident_bytes(v) : 0;
  }
  for (const tensor_id t : ids(p.num_tensors())) {
    const op_id u = w.producer(t);
    const auto is_needed_on = [&](device_id d) { // by an op there that has not ended, or started to write over it
      return std::ranges::any_of(w.consumers(t), [&](op_id c) {
        return where[c] == d && time < (is_overwritten(w, t) ? run.ops[c].start : run.ops[c].finish);
      });
    };
    const bool is_made = run.ops[u].start < time;
    bool is_here = is_made && is_in(where[u]) && (is_needed_on(where[u]) || time < run.ops[u].finish);
    for (const auto& x : run.transfers) {
      if (x.tensor != t) {
        continue;
      }
      if (is_in(where[u])) { // its send holds it, and so does who reads it in the same memory
        is_here = is_here || (is_made && (time < x.send_finish || (is_in(x.to) && is_needed_on(x.to))));
      } else if (is_in(x.to) && x.start < time && is_needed_on(x.to)) {
        bytes += w.bytes(t);
      }
    }
    const bool ends_early = is_overwritten(w, t) && run.ops[*w.consumers(t).begin()].start <= time;
    bytes += is_here && !is_resident(w, t) && !ends_early ? w.bytes(t) : 0;
  }
  return bytes;
}

std::vector<byte_count> peaks_by_hand(const drawn_problem& p, const placement& where, const trace& run) {
  std::set<double> times{0};
  for (const auto& x : run.ops) {
    times.insert({x.start, x.finish});
  }
  for (const auto& x : run.transfers) {
    times.insert({x.start, x.arrival, x.send_start, x.send_finish});
  }
  times.insert(*times.rbegin() + 2);
  std::vector<byte_count> peaks(p.num_devices(), 0);
  for (auto next = std::next(times.begin()); next != times.end(); ++next) {
    const double middle = (*std::prev(next) + *next) / 2;
    for (const device_id m : ids(p.num_devices())) {
      peaks[m] = std::max(peaks[m], held_at(p, where, run, m, middle));
    }
  }
  return peaks;
}

TEST_CASE("shared memory: random runs, against a count of all that is there at every moment") {
  rng random{54};
  int shared = 0;
  for (int round = 0; round < test::rounds(10'000); ++round) {
    CAPTURE(round);
    const drawn s{random, {.max_ops = 10, .max_devices = 4, .share_memory = true}};
    const auto where = test::random_placement(random, s.p);
    trace run;
    simulator{s.p, schedule::fifo{}}.run(plan{where}, simulate::recorder{run});
    const auto peaks = peaks_by_hand(s.p, where, run);
    REQUIRE(peak_memory_of(s.p, where, run) == peaks);
    simulate::memory_tracker memory{s.p};
    memory.follow(where, run);
    REQUIRE(memory.peaks() == peaks);
    const auto p = s.p.with_capacities(std::vector<byte_count>(s.p.num_devices(), 0));
    const auto lacking = memory_shortages(p, where, run);
    for (const auto& x : lacking) {
      byte_count all = x.resident;
      for (const auto& t : x.alive) {
        all += t.bytes;
      }
      REQUIRE((x.peak == peaks[x.device] && all == x.peak));
    }
    REQUIRE(static_cast<std::ptrdiff_t>(lacking.size()) ==
            std::ranges::count_if(peaks, [](byte_count bytes) { return bytes > 0; }));
    shared += std::ranges::any_of(ids(s.p.num_devices()), [&](device_id d) {
      return s.q.memory_of(d) != d && std::ranges::count(where, d) > 0;
    });
    if (round % 10 == 0) {
      const auto layouts = allocate::on_devices(s.p, where, run);
      for (const device_id m : ids(layouts.size())) {
        REQUIRE(layouts[m].bound >= peaks[m]);
      }
    }
  }
  CHECK((shared > 2000 || !test::are_all_rounds));
}

TEST_CASE("shared memory: what is handed over within it is there once") {
  workload_builder b;
  const op_id u = b.add_op({.work = 1, .bytes = 100, .kinds = device_kind::cpu});
  const op_id v = b.add_op({.work = 1, .bytes = 10, .kinds = device_kind::gpu});
  b.add_edge(u, v);
  const auto w = std::move(b).build();
  const auto peaks_on = [&](device gpu) {
    const platform<> q{{{.kind = device_kind::cpu, .memory_capacity = 150}, gpu}, link_matrix{2}};
    const problem p{w, q};
    trace run;
    const plan x{{0, 1}};
    simulator{p, schedule::fifo{}}.run(x, simulate::recorder{run});
    CHECK(validate(p, x.placement, run, {.memory = memory_rule::over_time}).empty());
    return peak_memory_of(p, x.placement, run);
  };
  CHECK(peaks_on({.kind = device_kind::gpu}) == std::vector<byte_count>{100, 110});
  CHECK(peaks_on({.kind = device_kind::gpu, .memory_of = 0}) == std::vector<byte_count>{110, 0});
}

TEST_CASE("shared memory: devices fill it together") {
  workload_builder b;
  for (int i = 0; i < 4; ++i) {
    b.add_op({.work = 1, .resident_bytes = 40});
  }
  const auto w = std::move(b).build();
  const auto on = [](byte_count bytes) {
    return platform<>{{{.memory_capacity = bytes}, {.kind = device_kind::gpu, .memory_of = 0}}, link_matrix{2}};
  };
  const auto small = on(159), large = on(160);
  const problem p{w, small};
  CHECK(p.capacity(1) == 159);
  CHECK(p.memories().of(ids(2)) == std::vector<device_id>{0});
  rng random{1};
  workspace scratch;
  CHECK_FALSE(partition::heft{}(p, random, scratch));
  CHECK(partition::heft{}(problem{w, large}, random, scratch));
  const auto found = validate(p, placement{0, 1, 0, 1});
  REQUIRE(found.size() == 1);
  CHECK(found[0].what == violation::kind::capacity_exceeded);
  CHECK(found[0].actual == 160);
  CHECK(p.with_capacities({160, 1}).capacity(1) == 160);
}

TEST_CASE("shared memory: platforms say whose it is") {
  const auto made = [](std::vector<device> devices) {
    const std::size_t n = devices.size();
    return platform<>{std::move(devices), link_matrix{n}};
  };
  CHECK_THROWS_WITH_AS(made({{.memory_of = 1}}), doctest::Contains("memory_of"), value_error);
  CHECK_THROWS_AS(made({{}, {.memory_of = 0}, {.memory_of = 1}}), value_error);
  const auto q = made({{.memory_capacity = 7}, {.memory_of = 0}, {.memory_capacity = 9}, {.memory_of = 0}});
  CHECK(q.memory_capacity(3) == 7);
  CHECK(q.memory_of(2) == 2);
  // Of some of them: the first heir of a memory whose owner is left out has it.
  const auto some = chosen_devices(q.devices(), {2, 3, 1});
  CHECK(some[1].memory_of == none);
  CHECK(some[1].memory_capacity == 7);
  CHECK(some[2].memory_of == 1);
  CHECK(chosen_devices(q.devices(), {3, 0})[0].memory_of == 1);
}

} // namespace simulate_shared_memory_test
