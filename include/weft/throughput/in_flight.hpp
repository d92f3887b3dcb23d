// SPDX-License-Identifier: BSL-1.0
/// Peak memory of devices in a pipelined run, with the tensors of all steps that are in flight at once.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/sort.hpp"
#include "weft/plan/live_ranges.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace weft::throughput {

/// Bytes that each device holds at its worst moment if a step like `run` begins every `period` seconds: resident bytes
/// once, and of each tensor as many copies as there are steps that have it at that moment. So the first of S stages
/// that take equally long holds what up to S steps keep for their backward passes, and the last one that of one step,
/// as with one forward and one backward pass in turns. Steps that wait for each other at a device hold their tensors
/// longer than this says. With an infinite period, or 0, these are the peaks of one step. Precondition: `run` is a
/// complete run of `where`. Complexity: O((n + m) log(n + m)).
/// Source of what stages hold: Narayanan et al., *PipeDream*, SOSP 2019, section 3.2.
template <class Problem>
std::vector<byte_count> peaks_in_flight(const Problem& p, const placement& where, const trace& run, double period) {
  struct change {
    device_id device;
    double time; // within a period
    double bytes;
  };
  const double every = period > 0 ? period : std::numeric_limits<double>::infinity();
  std::vector<double> level(p.num_devices(), 0.0); // as a period begins
  for (const op_id v : ids(p.num_ops())) {
    level[p.memory_of(where[v])] += static_cast<double>(p.workload().resident_bytes(v));
  }
  buffer<change> changes;
  live_ranges_of_runs<typename Problem::workload_type> find{p.workload(), p.platform()};
  find(where, run, [&](const live_range& s) {
    const auto bytes = static_cast<double>(p.workload().bytes(s.tensor));
    const double begin = std::fmod(s.begin, every); // exact, so that what was at one instant still is
    const double end = std::fmod(s.end, every);
    level[s.device] += std::round((s.end - s.begin - (end - begin)) / every) * bytes; // copies as a period begins
    if (begin != end) {
      changes.push_back({s.device, begin, bytes});
      changes.push_back({s.device, end, -bytes});
    }
  });
  weft::sort(changes, [](const change& a, const change& b) { // what ends at an instant is gone before others begin
    return a.device != b.device ? a.device < b.device : a.time != b.time ? a.time < b.time : a.bytes < b.bytes;
  });
  std::vector<byte_count> peaks(p.num_devices(), 0);
  const change* next = changes.begin();
  for (const device_id d : ids(p.num_devices())) {
    double held = level[d];
    double peak = held;
    for (; next != changes.end() && next->device == d; ++next) {
      held += next->bytes;
      peak = std::max(peak, held);
    }
    peaks[d] = static_cast<byte_count>(std::min(peak, static_cast<double>(max_total_bytes)));
  }
  return peaks;
}

} // namespace weft::throughput
