// SPDX-License-Identifier: BSL-1.0
/// A run with all that a Gantt chart shows: names, types, devices and how busy they were.
#pragma once

#include "weft/plan/trace.hpp"
#include "weft/platform/machine.hpp"
#include "weft/report/comparison.hpp"
#include "weft/report/names.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::report {

/// One of the runs in an `overlay`.
struct gantt_part {
  std::string title = {};
  std::size_t num_devices = 0; ///< which follow those of the parts before it
  double makespan = 0;         ///< seconds
  double lower_bound = absent; ///< seconds
};

/// One run to draw. A column may be empty, and then ops and devices go by their numbers.
struct gantt_run {
  std::string title;
  weft::trace trace = {};
  std::vector<std::string> op_names = {};       ///< by op
  std::vector<std::string> op_types = {};       ///< by op
  std::vector<std::string> device_names = {};   ///< by device
  std::vector<std::uint32_t> device_slots = {}; ///< by device; 1 where it is missing
  std::vector<op_id> producers = {};            ///< by tensor
  std::vector<byte_count> tensor_bytes = {};    ///< by tensor
  double lower_bound = absent;                  ///< seconds
  std::string lower_bound_name = {};
  std::vector<gantt_part> overlaid = {};        ///< empty where it is no overlay

  /// As many as are named, or used.
  std::size_t num_devices() const {
    std::size_t count = device_names.size();
    for (const auto& r : trace.ops) {
      count = r.device == none ? count : std::max(count, std::size_t{r.device} + 1);
    }
    for (const auto& r : trace.transfers) {
      count = std::max({count, std::size_t{r.from} + 1, std::size_t{r.to} + 1});
    }
    return count;
  }
  /// The runs in it: itself, or what was overlaid.
  std::vector<gantt_part> parts() const {
    return overlaid.empty() ? std::vector{gantt_part{title, num_devices(), trace.makespan, lower_bound}} : overlaid;
  }
};

/// The load of one device.
struct device_load {
  std::size_t ops = 0;
  std::size_t sends = 0;    ///< transfers that left
  std::size_t arrivals = 0; ///< transfers that came
  double busy_seconds = 0;  ///< in ops, times their threads, and sends, over all slots
  double utilisation = 0;   ///< busy / (makespan · slots), from 0 to 1; in an overlay by the makespan of its own run
};

/// The load of every device. Complexity: O(ops + transfers + devices).
inline std::vector<device_load> device_loads(const gantt_run& run) {
  std::vector<device_load> loads(run.num_devices());
  for (const auto& r : run.trace.ops) {
    if (r.device != none) {
      ++loads[r.device].ops;
      loads[r.device].busy_seconds += (r.finish - r.start) * std::max(r.threads, 1u);
    }
  }
  for (const auto& r : run.trace.transfers) {
    ++loads[r.from].sends;
    ++loads[r.to].arrivals;
    loads[r.from].busy_seconds += r.send_finish - r.send_start;
  }
  std::size_t d = 0;
  for (const gantt_part& part : run.parts()) {
    for (const std::size_t end = std::min(d + part.num_devices, loads.size()); d < end; ++d) {
      const double slots = d < run.device_slots.size() ? run.device_slots[d] : 1;
      loads[d].utilisation = part.makespan > 0 ? loads[d].busy_seconds / (part.makespan * slots) : 0;
    }
  }
  return loads;
}

/// Copies names, types and sizes out of a workload and a platform. Complexity: O(ops + tensors + devices).
template <dataflow_workload W, device_platform P>
gantt_run make_gantt_run(std::string title, weft::trace t, const W& w, const P& p, double lower_bound = absent,
                         std::string lower_bound_name = {}) {
  gantt_run run{.title = std::move(title), .trace = std::move(t)};
  run.lower_bound = lower_bound;
  run.lower_bound_name = std::move(lower_bound_name);
  bool typed = false;
  for (const op_id v : ids(static_cast<std::size_t>(w.num_ops()))) {
    run.op_names.push_back(op_name(w, v));
    if (v < run.trace.ops.size() && run.trace.ops[v].threads > 1) {
      run.op_names.back() += " (" + std::to_string(run.trace.ops[v].threads) + " threads)";
    }
    run.op_types.push_back(op_type(w, v));
    typed = typed || !run.op_types.back().empty();
  }
  if (!typed) {
    run.op_types.clear();
  }
  for (const device_id d : ids(static_cast<std::size_t>(p.num_devices()))) {
    run.device_names.push_back(device_name(p, d));
    if constexpr (platform_parts::has_machines<P>) {
      run.device_slots.push_back(p.machine(d).cores());
    } else {
      run.device_slots.push_back(static_cast<std::uint32_t>(p.slots(d)));
    }
  }
  for (const tensor_id x : ids(static_cast<std::size_t>(w.num_tensors()))) {
    run.producers.push_back(static_cast<op_id>(w.producer(x)));
    run.tensor_bytes.push_back(static_cast<byte_count>(w.bytes(x)));
  }
  return run;
}

/// Puts runs below each other in one chart with one time axis, such as a predicted and a measured run: device d of a
/// run becomes a device of its own, called after the run's title and itself. Complexity: O(ops + tensors) of all runs.
inline gantt_run overlay(std::string title, const std::vector<gantt_run>& runs) {
  gantt_run all{.title = std::move(title)};
  for (const auto& run : runs) {
    const auto first_op = static_cast<op_id>(all.trace.ops.size());
    const auto first_tensor = static_cast<tensor_id>(all.producers.size());
    const auto first_device = static_cast<device_id>(all.device_names.size());
    const auto in_all = [first_device](device_id d) { return d == none ? d : first_device + d; };
    for (std::size_t v = 0; v < run.trace.ops.size(); ++v) {
      all.trace.ops.push_back(run.trace.ops[v]);
      all.trace.ops.back().device = in_all(run.trace.ops[v].device);
      all.op_names.push_back(v < run.op_names.size() ? run.op_names[v] : "op " + std::to_string(v));
      all.op_types.push_back(v < run.op_types.size() ? run.op_types[v] : "");
    }
    std::size_t num_tensors = run.producers.size();
    for (auto moved : run.trace.transfers) {
      num_tensors = std::max(num_tensors, std::size_t{moved.tensor} + 1);
      moved.tensor += first_tensor;
      moved.from = in_all(moved.from);
      moved.to = in_all(moved.to);
      all.trace.transfers.push_back(moved);
    }
    for (std::size_t x = 0; x < num_tensors; ++x) {
      all.producers.push_back(x < run.producers.size() ? first_op + run.producers[x] : none);
      all.tensor_bytes.push_back(x < run.tensor_bytes.size() ? run.tensor_bytes[x] : 0);
    }
    for (std::size_t d = 0; d < run.num_devices(); ++d) {
      const auto own = d < run.device_names.size() ? run.device_names[d] : std::to_string(d);
      all.device_names.push_back(run.num_devices() == 1 ? run.title : run.title + ", " + own);
      all.device_slots.push_back(d < run.device_slots.size() ? run.device_slots[d] : 1);
    }
    for (gantt_part part : run.parts()) {
      part.title = run.overlaid.empty() ? run.title : run.title + ", " + part.title;
      all.overlaid.push_back(std::move(part));
    }
    all.trace.makespan = std::max(all.trace.makespan, run.trace.makespan);
  }
  return all;
}

} // namespace weft::report
