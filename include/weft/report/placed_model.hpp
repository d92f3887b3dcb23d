// SPDX-License-Identifier: BSL-1.0
/// The facts about one placed model for reports: its speed, its bottlenecks, and its memory.
#pragma once

#include "weft/bound/lower_bound.hpp"
#include "weft/core/sort.hpp"
#include "weft/evaluate/makespan_distribution.hpp"
#include "weft/evaluate/run_path.hpp"
#include "weft/evaluate/slack.hpp"
#include "weft/objective/energy.hpp"
#include "weft/plan/contention.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/plan/plan.hpp"
#include "weft/problem.hpp"
#include "weft/report/comparison.hpp"
#include "weft/report/gantt.hpp"
#include "weft/report/names.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/validate/validate.hpp"
#include "weft/views/edges.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace weft::report {

/// Another plan to compare with: of a baseline such as one device, or of a strategy that was tried.
struct alternative {
  std::string name;
  double step_seconds = absent;     ///< `absent` if it found no plan
  double peak_memory = absent;      ///< bytes on the device that needs most
  double planning_seconds = absent; ///< wall time
  std::string status = {};          ///< what is wrong with it, such as why it does not fit; empty if nothing is
};

/// The step time and the energy of another plan.
struct trade_off {
  double step_seconds = 0;
  double joules = 0;
};

/// A way to run a step of the same batch, such as on several devices at once, each with a part of it.
struct way {
  std::string name;
  double step_seconds = absent;
  double samples_per_second = absent;
  double peak_memory = absent; ///< bytes on the device that needs most
  double bytes_sent = absent;  ///< from device to device
  std::string status = {};     ///< what is wrong with it; empty if nothing is
  std::string remark = {};     ///< what else there is to say of it
};

/// The parameters of layers that are alike, and what is sent in each of them.
struct layer_sharding {
  std::string layers = {};             ///< such as `layer_0 to layer_47`
  std::vector<std::string> split = {}; ///< such as `mlp/kernel [1600, 6400/8]`
  std::size_t whole = 0;               ///< parameters that all devices have
  byte_count whole_bytes = 0;
  std::size_t small = 0; ///< other parameters, each below 1 % of the layer's bytes
  std::string sent = {}; ///< such as `2 all-reduces`
  friend bool operator==(const layer_sharding&, const layer_sharding&) = default;
};

/// A sharding as reports tell it; make it with report/sharding_summary.hpp.
struct sharding_summary {
  std::string mesh = {}; ///< in one line; empty if no work is shared
  std::vector<layer_sharding> layers = {};
  std::string unsplit = {}; ///< the ops that nobody knows how to split, in one line; empty if there are none
};

/// Facts that the caller knows beside the run.
struct placed_model_options {
  std::string model = "model";              ///< its name
  std::string platform = "platform";        ///< its name
  std::string strategy = {};                ///< what made the plan
  std::string command = {};                 ///< the command line that made the report
  std::string assuming = {};                ///< sizes that nobody gave, told with the step time
  std::string result = {};                  ///< what was made small, if not the step time: one line, told first
  lower_bound bound = {};                   ///< on the makespan; none if it is 0
  std::vector<alternative> baselines = {};  ///< what the speed-ups are over, such as everything on one device
  std::vector<alternative> strategies = {}; ///< what was tried
  std::vector<way> ways = {};               ///< to share the work of a step, if they were compared
  sharding_summary sharding = {};           ///< of the way that was taken
  std::vector<trade_off> front = {};        ///< by step time; none is better than another in both
  double least_joules = 0;                  ///< no plan takes less
  bool front_is_exact = false;              ///< no plan is better in both than one of them
  std::vector<std::string> notes = {};      ///< assumptions, one line each
  std::vector<std::string> guesses = {};    ///< at figures of the platform, one line each, told first
  contention_model contention = contention_model::none; ///< what the run was made with
  memory_rule memory = memory_rule::over_time;          ///< what the plan has to keep to
  std::size_t largest = 10;                             ///< how many of the largest ops and transfers to list
  makespan_distribution spread = {}; ///< of the plan when times are uncertain; empty if that was not asked for
  std::string uncertainty = {};      ///< what is uncertain, and how much, in one line
};

/// One device in one run.
struct placed_device {
  std::string name;
  std::string kind;
  device_load load = {};
  byte_count resident_bytes = 0; ///< of the ops placed there
  byte_count peak_bytes = 0;     ///< at the worst moment of the memory that it works in
  byte_count capacity = 0;       ///< of that memory
  std::string memory = {};       ///< the devices that share it, such as "cpu and gpu0"; empty: it is the device's alone
  bool limited() const { return capacity < unlimited; } ///< whether its memory ends
  /// Of its capacity at the worst moment; `absent` without a limit.
  double share() const {
    return limited() && capacity > 0 ? static_cast<double>(peak_bytes) / static_cast<double>(capacity) : absent;
  }
  static constexpr byte_count unlimited = byte_count{1} << 62;
};

/// The names of those that share each memory that several of the first `most` devices share, in their order.
inline std::vector<std::string> shared_memories(const std::vector<placed_device>& devices,
                                                std::size_t most = std::numeric_limits<std::size_t>::max()) {
  std::vector<std::string> found;
  for (std::size_t d = 0; d < std::min(devices.size(), most); ++d) {
    const std::string& names = devices[d].memory;
    if (!names.empty() && std::find(found.begin(), found.end(), names) == found.end()) {
      found.push_back(names);
    }
  }
  return found;
}

/// The memory that a device holds over time: from `time[i]` on, `bytes[i]`.
struct memory_curve {
  std::vector<double> time = {};
  std::vector<byte_count> bytes = {};
};

/// The traffic from one device to another.
struct traffic_cell {
  std::size_t transfers = 0;
  byte_count bytes = 0;
};

/// Seconds of the critical path by what happens there; they add up to its end.
struct path_shares {
  double ops = 0;
  double sends = 0;
  double transfers = 0;
  double idle = 0;
};

/// A run with its analysis; make it with `make_placed_model`. Times in seconds, sizes in bytes.
struct placed_model {
  placed_model_options about = {};
  gantt_run run = {};
  std::vector<placed_device> devices = {};
  std::vector<memory_curve> memory = {};  ///< by device; thinned, see `thin`
  std::vector<path_step> path = {};       ///< the critical path of the run
  path_shares shares = {};                ///< of that path
  std::vector<op_id> largest_ops = {};    ///< of that path, longest first
  std::vector<double> slack = {};         ///< by op: how much longer it may take; see `slack_of_run`
  std::vector<op_id> most_critical = {};  ///< when times are uncertain: most often critical first, none never
  std::vector<std::uint32_t> largest_transfers = {}; ///< in the trace, most bytes first
  std::vector<traffic_cell> traffic = {};            ///< from row, to column, devices × devices
  std::vector<flow_edge> edges = {};                 ///< tensor by tensor
  energy_use energy = {};                            ///< of no devices if the platform tells no power
  std::vector<std::string> violations = {};          ///< of the execution model, one line each

  double step_seconds() const { return run.trace.makespan; }
  bool knows_energy() const { return !energy.devices.empty(); }
  double gap() const { return relative_gap(step_seconds(), run.lower_bound); }
  /// The speed-up over another plan; `absent` where that has no time, or something is wrong with it: to beat a
  /// plan that cannot be run is no gain.
  double speed_up(const alternative& other) const {
    return step_seconds() > 0 && other.status.empty() ? other.step_seconds / step_seconds() : absent;
  }
  /// The device that needs the most bytes, which are the peak memory of the plan; `none` where memory is not known.
  device_id largest_device() const {
    return largest([&](device_id d) { return devices[d].peak_bytes; });
  }
  /// The device that needs the largest part of its memory (of those without a limit, the most bytes); `none` where
  /// memory is not known.
  device_id fullest_device() const {
    return largest([&](device_id d) {
      const double share = devices[d].share();
      return std::pair{std::isfinite(share) ? share : 0, devices[d].peak_bytes};
    });
  }

private:
  template <class Value>
  device_id largest(Value value) const {
    device_id found = none;
    for (const device_id d : ids(memory.size())) {
      found = found == none || value(found) < value(d) ? d : found;
    }
    return found;
  }
};

/// A curve with at most `3 · bins` samples: within each of `bins` equal parts of its time, the lowest, the highest and
/// the last level stay, so that no peak is lost and none moves by more than a part. A curve that is short enough stays
/// as it is. Complexity: O(samples).
inline memory_curve thin(const memory_curve& curve, std::size_t bins) {
  if (bins == 0 || curve.time.size() <= 3 * bins || !(curve.time.back() > 0)) {
    return curve;
  }
  memory_curve few;
  const double per_bin = curve.time.back() / static_cast<double>(bins);
  const auto bin = [&](std::size_t i) { return std::min(bins - 1, static_cast<std::size_t>(curve.time[i] / per_bin)); };
  for (std::size_t first = 0; first < curve.time.size();) {
    std::size_t low = first, high = first, last = first;
    for (std::size_t i = first; i < curve.time.size() && bin(i) == bin(first); ++i) {
      low = curve.bytes[i] < curve.bytes[low] ? i : low;
      high = curve.bytes[i] > curve.bytes[high] ? i : high;
      last = i;
    }
    std::array<std::size_t, 3> kept{low, high, last};
    weft::sort(kept);
    for (const std::size_t i : kept) {
      if (few.time.empty() || few.time.back() < curve.time[i]) { // the same sample may be two of them
        few.time.push_back(curve.time[i]);
        few.bytes.push_back(curve.bytes[i]);
      }
    }
    first = last + 1;
  }
  return few;
}

namespace detail {

/// Takes out of a run what names things that do not exist. Returns whether the rest can be analysed: nothing was taken
/// out, and every op ran where it is placed.
template <class Problem>
bool drop_what_does_not_exist(const Problem& p, const placement& where, trace& run) {
  const auto exists = [&](device_id d) { return d < p.num_devices(); };
  bool whole = where.size() == p.num_ops() && run.ops.size() == p.num_ops();
  run.ops.resize(p.num_ops());
  for (const op_id v : ids(p.num_ops())) {
    op_record& r = run.ops[v];
    const bool sound = exists(r.device) && std::isfinite(r.start) && std::isfinite(r.finish);
    whole = whole && sound && r.device == where[v];
    r = sound ? r : op_record{};
  }
  return std::erase_if(run.transfers,
                       [&](const transfer_record& x) {
                         return x.tensor >= p.num_tensors() || !exists(x.from) || !exists(x.to) ||
                                !std::isfinite(x.send_start) || !std::isfinite(x.send_finish) ||
                                !std::isfinite(x.start) || !std::isfinite(x.arrival);
                       }) == 0 &&
         whole;
}

/// The first `count` of the indices below `size`, by the largest value; of equal ones, the smaller index.
template <class Value>
std::vector<std::uint32_t> largest_of(std::vector<std::uint32_t> indices, std::size_t count, Value value) {
  count = std::min(count, indices.size());
  std::partial_sort(indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(count), indices.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      return value(a) != value(b) ? value(a) > value(b) : a < b;
                    });
  indices.resize(count);
  return indices;
}

template <class Problem>
void follow_memory(placed_model& m, const Problem& p, const placement& where, const trace& run) {
  constexpr std::size_t bins = 2048; // more than a screen has columns
  simulate::memory_tracker<Problem> tracker{p};
  tracker.follow(where, run);
  std::vector<memory_curve> curves(p.num_devices());
  for (const auto& s : tracker.samples(where)) {
    curves[s.device].time.push_back(s.time);
    curves[s.device].bytes.push_back(s.bytes);
  }
  for (const device_id d : ids(p.num_devices())) {
    m.memory.push_back(thin(curves[p.memory_of(d)], bins));
    m.devices[d].peak_bytes = tracker.peaks()[p.memory_of(d)];
    m.devices[d].memory = names_sharing_memory(p.platform(), d);
  }
}

inline void follow_path(placed_model& m) {
  std::vector<op_id> ops;
  for (const auto& s : m.path) {
    const double length = s.finish - s.start;
    m.shares.idle += s.idle;
    switch (s.what) {
    case path_step::kind::op:
      m.shares.ops += length;
      ops.push_back(s.index);
      break;
    case path_step::kind::send: m.shares.sends += length; break;
    case path_step::kind::transfer: m.shares.transfers += length; break;
    }
  }
  const auto& records = m.run.trace.ops;
  m.largest_ops = largest_of(std::move(ops), m.about.largest,
                             [&](op_id v) { return records[v].finish - records[v].start; });
}

} // namespace detail

/// Analyses a run of a placement. A run that breaks the rules of the execution model has `violations`; where it names
/// what does not exist or misses ops, memory, path and traffic stay empty.
/// Complexity: O((n + m) log(n + m) + devices²).
template <class Problem>
placed_model make_placed_model(const Problem& p, const placement& where, trace run, placed_model_options about = {}) {
  placed_model m{.about = std::move(about)};
  const auto& w = p.workload();
  for (const violation& v :
       validate(p, where, run, {.contention = m.about.contention, .check_memory = true, .memory = m.about.memory})) {
    m.violations.push_back(to_string(v) +
                           (v.op < p.num_ops() ? "; op " + std::to_string(v.op) + " is " + op_name(w, v.op) : ""));
  }
  const bool whole = detail::drop_what_does_not_exist(p, where, run);
  m.run = make_gantt_run(m.about.model, std::move(run), w, p.platform(),
                         m.about.bound.value > 0 ? m.about.bound.value : absent,
                         m.about.bound.value > 0 ? std::string{weft::to_string(m.about.bound.which)} : "");
  const auto loads = device_loads(m.run);
  for (const device_id d : ids(p.num_devices())) {
    m.devices.push_back({.name = m.run.device_names[d],
                         .kind = weft::to_string(hardware_kind(p.platform(), d)),
                         .load = loads[d],
                         .capacity = p.capacity(d)});
  }
  for (const op_id v : ids(std::min(where.size(), p.num_ops()))) {
    if (where[v] < p.num_devices()) {
      m.devices[where[v]].resident_bytes += w.resident_bytes(v);
    }
  }
  for (const flow_edge& e : views::edges(w)) {
    m.edges.push_back(e);
  }
  if (!whole) {
    return m;
  }
  const trace& t = m.run.trace;
  detail::follow_memory(m, p, where, t);
  m.path = path_of_run(p, t);
  if constexpr (platform_parts::has_power<typename Problem::platform_type>) {
    if (const objective::energy joules; joules.draws_power(p)) {
      m.energy = energy_of(p, t, joules);
    }
  }
  detail::follow_path(m);
  m.slack = slack_of_run(p, t, m.about.contention);
  if (m.about.spread.criticality.size() == p.num_ops()) {
    std::vector<op_id> ops(p.num_ops());
    std::iota(ops.begin(), ops.end(), op_id{0});
    std::erase_if(ops, [&](op_id v) { return m.about.spread.criticality[v] == 0; });
    m.most_critical = detail::largest_of(std::move(ops), m.about.largest, [&](op_id v) {
      return std::pair{m.about.spread.criticality[v], t.ops[v].finish - t.ops[v].start};
    });
  }
  m.traffic.assign(p.num_devices() * p.num_devices(), {});
  for (const auto& x : t.transfers) {
    auto& cell = m.traffic[x.from * p.num_devices() + x.to];
    ++cell.transfers;
    cell.bytes += w.bytes(x.tensor);
  }
  std::vector<std::uint32_t> all(t.transfers.size());
  std::iota(all.begin(), all.end(), 0u);
  m.largest_transfers = detail::largest_of(std::move(all), m.about.largest,
                                           [&](std::uint32_t k) { return w.bytes(t.transfers[k].tensor); });
  return m;
}

} // namespace weft::report
