// SPDX-License-Identifier: BSL-1.0
#include "weft/throughput/in_flight.hpp"

#include "simulate/random_problem.hpp"

#include "weft/schedule/path_completion_time.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace throughput_in_flight_test {

using namespace weft;

/// `stages` forward ops of 1 s and backward ops of 2 s, each stage on a device of its own; a backward op reads 10 bytes
/// that its stage made.
struct pipeline {
  explicit pipeline(std::uint32_t stages) {
    workload_builder b;
    for (std::uint32_t i = 0; i < stages; ++i) {
      b.add_op({.work = 1, .bytes = 10, .resident_bytes = 100});
      if (i > 0) {
        b.add_control_edge(i - 1, i);
      }
      where.push_back(i);
    }
    for (std::uint32_t i = 0; i < stages; ++i) {
      const op_id v = b.add_op({.work = 2});
      const auto stage = stages - 1 - i;
      b.add_edge(stage, v);
      if (i > 0) {
        b.add_control_edge(v - 1, v);
      }
      where.push_back(stage);
    }
    ops = std::move(b).build();
    devices = {std::vector<device>(stages, {.kind = device_kind::gpu}), {}};
  }
  workload ops;
  platform<uniform_links> devices;
  placement where;
};

template <class P>
trace run_of(const P& p, const placement& where) {
  trace run;
  simulator{p, schedule::path_completion_time{}}.run(plan{where}, simulate::recorder{run});
  return run;
}

TEST_CASE("peaks in flight: the first of S equal stages holds what S steps keep, the last one that of one step") {
  for (const std::uint32_t stages : {1u, 2u, 4u, 7u}) {
    const pipeline x{stages};
    const problem p{x.ops, x.devices};
    const auto peaks = throughput::peaks_in_flight(p, x.where, run_of(p, x.where), 3);
    for (std::uint32_t i = 0; i < stages; ++i) {
      CHECK(peaks[i] == 100 + 10 * (stages - i));
    }
    const auto slow = throughput::peaks_in_flight(p, x.where, run_of(p, x.where), 3.0 * stages);
    CHECK(slow == std::vector<byte_count>(stages, 110));
  }
}

TEST_CASE("peaks in flight: as many steps drawn over each other, and without a period those of one step") {
  rng random{3};
  for (int round = 0; round < 40; ++round) {
    CAPTURE(round);
    const test::drawn x{random};
    const auto& p = x.p;
    const auto where = test::random_placement(random, p);
    const auto run = run_of(p, where);
    simulate::memory_tracker memory{p};
    memory.follow(where, run);
    CHECK(throughput::peaks_in_flight(p, where, run, std::numeric_limits<double>::infinity()) == memory.peaks());
    CHECK(throughput::peaks_in_flight(p, where, run, 0) == memory.peaks());
    const double period = run.makespan / static_cast<double>(1 + random.below(5)) + 0.125;
    const std::size_t k = p.num_devices();
    const auto stays = live_ranges(x.w, k, where, run);
    std::vector<double> moments;
    for (const auto& s : stays) {
      moments.push_back(s.begin);
    }
    const auto peaks = throughput::peaks_in_flight(p, where, run, period);
    std::vector<double> most(k, 0.0);
    std::vector<double> resident(k, 0.0);
    for (const op_id v : ids(p.num_ops())) {
      resident[where[v]] += static_cast<double>(x.w.resident_bytes(v));
    }
    for (const double t : moments) { // long after the first step began, and long before the last one does
      std::vector<double> held = resident;
      for (int step = -10; step <= 10; ++step) {
        for (const auto& s : stays) {
          const double at = t + step * period;
          held[s.device] += s.begin - 1e-9 <= at && at < s.end - 1e-9 ? static_cast<double>(x.w.bytes(s.tensor)) : 0;
        }
      }
      for (device_id d = 0; d < k; ++d) {
        most[d] = std::max({most[d], held[d], resident[d]});
      }
    }
    for (device_id d = 0; d < k; ++d) {
      CHECK(static_cast<double>(peaks[d]) == std::max(most[d], resident[d]));
    }
  }
}

} // namespace throughput_in_flight_test
