// SPDX-License-Identifier: BSL-1.0
#include "weft/simulate/incremental_memory.hpp"

#include "weft/partition/heft.hpp"
#include "weft/platform/generate.hpp"
#include "weft/refine/incremental_schedule.hpp"
#include "weft/refine/neighbourhood.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/memory.hpp"
#include "weft/workload/generate.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace simulate_incremental_memory_test {

using namespace weft;
using problem_type = problem<workload, platform<>>;
using schedule_type = refine::incremental_schedule<problem_type>;
using memory_type = simulate::incremental_memory<problem_type>;

std::vector<byte_count> peaks_of(const memory_type& m, const problem_type& p) {
  std::vector<byte_count> peaks;
  for (const device_id d : ids(p.num_devices())) {
    peaks.push_back(m.peak(d));
  }
  return peaks;
}

/// As the simulator follows them, and as the validator counts them.
void check_peaks(const memory_type& m, const schedule_type& s, simulate::memory_tracker<problem_type>& tracker) {
  trace run;
  s.record(run);
  placement where;
  for (const auto& x : run.ops) {
    where.push_back(x.device);
  }
  tracker.follow(where, run);
  REQUIRE(peaks_of(m, s.problem()) == tracker.peaks());
  REQUIRE(peaks_of(m, s.problem()) == peak_memory_of(s.problem(), where, run));
}

TEST_CASE("incremental_memory: after thousands of changes, made or taken back, peaks are those of the schedule") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const generate::level_options shape{.min_width = 6, .max_width = 10, .num_ops = 20 + 20 * seed, .in_degree = 3};
    const auto w = generate::layered({.shape = shape, .cpu_only_probability = 0, .gpu_only_probability = 0}, seed);
    const auto alike = generate::heterogeneous({.devices = 4, .send_work = seed % 2 == 0 ? 0.0 : 10.0}, seed);
    auto devices = alike.devices();
    for (auto& x : devices) {
      x.slots = seed % 4 == 3 ? 2 : 1;
    }
    const platform<> q{devices, alike.links(), seed % 2 == 0 ? 0.0 : 10.0};
    const problem_type p{w, q};
    rng random{seed};
    workspace scratch;
    const auto start = partition::run(partition::heft{}, p, random, scratch);
    REQUIRE(start);
    trace run;
    simulator<problem_type, schedule::static_order>{p}.run(start->plan, simulate::recorder{run});
    schedule_type s{p};
    s.assign(run);
    memory_type m{p};
    m.assign(s.items());
    simulate::memory_tracker<problem_type> tracker{p};
    check_peaks(m, s, tracker);
    CHECK(m.excess() == 0);
    refine::neighbourhood moves{p};
    schedule_type::snapshot saved;
    s.save(saved);
    int committed = 0;
    int taken_back = 0;
    for (int k = 0; k < 1'000; ++k) {
      const auto before = peaks_of(m, p);
      if (moves.change(s, refine::near_critical(s, random, 2), random) &&
          s.evaluate(s.value() * (1 + random.uniform() / 5)) < s.infinity) {
        m.follow(s.items());
        check_peaks(m, s, tracker);
        if (random.below(3) > 0) {
          s.commit();
          m.commit();
          ++committed;
          continue;
        }
        m.rollback();
        ++taken_back;
      }
      s.rollback();
      REQUIRE(peaks_of(m, p) == before);
    }
    CHECK(committed > 100);
    CHECK(taken_back > 50);
    s.restore(saved);
    m.assign(s.items());
    check_peaks(m, s, tracker);
  }
}

TEST_CASE("incremental_memory: excess is what devices lack, in their limits") {
  workload_builder b;
  b.add_op({.work = 1});
  b.add_op({.work = 1});
  b.add_op({.work = 1, .resident_bytes = 30});
  b.add_output(0, 100);
  b.add_edge(0, 1);
  const auto w = std::move(b).build();
  const platform<> q{{{.memory_capacity = 50}, {.memory_capacity = 80}}, link_matrix{2, {.latency = 1}}};
  const problem_type p{w, q};
  schedule_type s{p};
  s.assign({{{0, 0, 1}, {1, 2, 3}, {1, 0, 1}}, {{0, 0, 1, 1, 1, 1, 2}}, 3});
  memory_type m{p};
  m.assign(s.items());
  CHECK(m.peak(0) == 100);
  CHECK(m.peak(1) == 130);
  CHECK(m.excess() == 50.0 / 50 + 50.0 / 80);
  const auto less = p.with_memory_share(0.5);
  memory_type half{less};
  half.assign(s.items());
  CHECK(half.excess() == 75.0 / 25 + 90.0 / 40);
}

} // namespace simulate_incremental_memory_test
