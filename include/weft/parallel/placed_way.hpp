// SPDX-License-Identifier: BSL-1.0
/// A plan with a device for each op, as one of the ways to run a step.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/parallel/simplest_way.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/platform/concepts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::parallel {

/// What a tensor between a host and an accelerator costs a runtime beyond what a simulated run says of it, which has
/// the launch of the copy and its latency: the thread that launches for the accelerator waits until the tensor is
/// there, and what it launches after that goes into a queue that has run empty, so that launches no longer hide behind
/// kernels. Waking a thread that waits takes 10 µs and more, the first copy and kernel after that 5 µs each (sources:
/// docs/costs.md).
inline constexpr double hand_over_seconds = 20e-6;

/// How often a run hands a tensor over between a host and an accelerator though it need not: of an op, or to one, that
/// might run on the accelerator as well. Inputs that a host has to feed are handed over whatever one chooses.
/// Complexity: O(readers of the tensors that are transferred).
template <class Problem>
std::size_t count_hand_overs(const Problem& p, const trace& run) {
  const auto& devices = p.platform();
  const auto is_host = [&](device_id d) { return hardware_kind(devices, d) == device_kind::cpu; };
  const auto might_run_on = [&](device_id d, op_id v) { return p.kinds(p.component(v)).contains(devices.kind(d)); };
  return static_cast<std::size_t>(std::count_if(run.transfers.begin(), run.transfers.end(), [&](const auto& x) {
    if (is_host(x.from) == is_host(x.to)) {
      return false;
    }
    if (is_host(x.from)) {
      return might_run_on(x.to, p.workload().producer(x.tensor));
    }
    const auto readers = p.workload().consumers(x.tensor);
    return std::any_of(readers.begin(), readers.end(),
                       [&](op_id v) { return run.ops[v].device == x.to && might_run_on(x.from, v); });
  }));
}

/// A plan whose ops run where `where` has them: the devices that share the work are those with ops that might run where
/// most of the work is done, too; ops that have to be elsewhere are there whatever one chooses. Its time is that of the
/// run, and `hand_over_seconds` for each of its hand-overs. Complexity: O(n + devices + transfers).
template <class Problem>
timed_way placed_way(const Problem& p, const placement& where, const trace& run) {
  std::vector<double> busy(p.num_devices(), 0);
  for (const op_id v : ids(p.num_ops())) {
    busy[where[v]] += run.ops[v].finish - run.ops[v].start;
  }
  if (busy.empty()) {
    return {.seconds = run.makespan};
  }
  const auto main = static_cast<device_id>(std::max_element(busy.begin(), busy.end()) - busy.begin());
  const auto& devices = p.platform();
  std::vector<bool> shares(p.num_devices(), false);
  shares[main] = true;
  for (const op_id v : ids(p.num_ops())) {
    shares[where[v]] = shares[where[v]] || p.kinds(p.component(v)).contains(devices.kind(main));
  }
  configuration how{.devices = static_cast<std::uint32_t>(std::count(shares.begin(), shares.end(), true))};
  how.places_ops = how.devices > 1;
  for (const device_id d : ids(p.num_devices())) {
    how.on_unlike_devices =
      how.on_unlike_devices || (shares[d] && hardware_kind(devices, d) != hardware_kind(devices, main));
  }
  return {how, run.makespan + hand_over_seconds * static_cast<double>(count_hand_overs(p, run))};
}

} // namespace weft::parallel
