// SPDX-License-Identifier: BSL-1.0
/// Writes a run as a Chrome trace, which Perfetto (ui.perfetto.dev) and chrome://tracing open.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/plan/trace.hpp"
#include "weft/report/detail/lanes.hpp"
#include "weft/report/detail/text.hpp"
#include "weft/report/names.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::report {

/// Options of `write_chrome_trace`.
struct chrome_trace_options {
  bool transfers = true; ///< a second group of tracks with what arrives at each device
  bool flows = true;     ///< arrows from where a tensor is made to its transfer and to where it is first used
};

namespace detail {

using nanoseconds = std::int64_t;

/// Rounds seconds to nanoseconds. Runs of more than 10⁶ s, which abstract cost units easily give, are divided by a
/// power of ten, because readers keep nanoseconds in 64 bits and we compute them in doubles.
struct trace_clock {
  explicit trace_clock(double makespan) {
    for (; makespan > 1e6 && makespan <= std::numeric_limits<double>::max(); makespan /= 10) {
      per_second /= 10;
      ++exponent;
    }
  }
  nanoseconds operator()(double seconds) const { return std::llround(seconds * per_second); }
  /// The scaling of the times, for the name of a process.
  std::string note() const { return exponent == 0 ? "" : " (times divided by 1e" + std::to_string(exponent) + ")"; }

  double per_second = 1e9;
  int exponent = 0;
};

/// Nanoseconds as microseconds. Readers multiply by 1000 and cut off what follows the point, so the number is never
/// below the exact value: neighbours on a track would overlap by a nanosecond, and Perfetto drops such slices.
inline std::string microseconds(nanoseconds t) {
  double us = static_cast<double>(t) / 1e3;
  while (static_cast<nanoseconds>(us * 1e3) < t) {
    us = std::nextafter(us, std::numeric_limits<double>::infinity());
  }
  return shortest(us);
}

/// One slice on a track; flows are drawn from slice to slice.
struct trace_slice {
  std::uint32_t device = none;
  nanoseconds start = 0;
  nanoseconds finish = 0;
  std::string head = {}; // the event's fields without times and track
  std::size_t lane = 0;
};

/// Collects slices per device and turns lanes into tracks (thread ids).
class trace_group {
public:
  trace_group(int pid, std::string name, std::size_t num_devices)
      : pid_{pid}, name_{std::move(name)}, of_device_(num_devices) {}

  std::size_t add(trace_slice s) {
    of_device_[s.device].push_back(slices_.size());
    slices_.push_back(std::move(s));
    return slices_.size() - 1;
  }

  /// Deals lanes and numbers the tracks 1, 2, … by device, then lane.
  void arrange() {
    std::uint32_t tid = 1;
    for (const auto& members : of_device_) {
      std::vector<std::pair<nanoseconds, nanoseconds>> intervals;
      for (const std::size_t i : members) {
        intervals.emplace_back(slices_[i].start, slices_[i].finish);
      }
      const auto [lane, count] = assign_lanes(intervals);
      for (std::size_t k = 0; k < members.size(); ++k) {
        slices_[members[k]].lane = tid + lane[k];
      }
      first_track_.push_back(tid);
      tid += static_cast<std::uint32_t>(std::max<std::size_t>(count, 1)); // an idle device has its track too
    }
    first_track_.push_back(tid);
  }

  /// Calls `event(text)` for the metadata that names the group and its tracks.
  template <class Event>
  void describe(const std::vector<std::string>& devices, Event event) const {
    const std::string at = ",\"pid\":" + std::to_string(pid_);
    const auto metadata = [&](const char* name, const std::string& track, const std::string& args) {
      event("{\"name\":\"" + std::string{name} + "\",\"ph\":\"M\"" + at + track + ",\"args\":{" + args + "}}");
    };
    metadata("process_name", "", "\"name\":" + quote_json(name_));
    metadata("process_sort_index", "", "\"sort_index\":" + std::to_string(pid_));
    for (std::size_t d = 0; d < devices.size(); ++d) {
      const std::uint32_t lanes = first_track_[d + 1] - first_track_[d];
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        const std::string tid = std::to_string(first_track_[d] + lane);
        const std::string name = devices[d] + (lanes > 1 ? " · lane " + std::to_string(lane + 1) : "");
        metadata("thread_name", ",\"tid\":" + tid, "\"name\":" + quote_json(name));
        metadata("thread_sort_index", ",\"tid\":" + tid, "\"sort_index\":" + tid);
      }
    }
  }

  const std::vector<trace_slice>& slices() const { return slices_; }
  int pid() const { return pid_; }

private:
  int pid_;
  std::string name_;
  std::vector<trace_slice> slices_;
  std::vector<std::vector<std::size_t>> of_device_;
  std::vector<std::uint32_t> first_track_;
};

/// Events by time, so that readers need not sort.
class trace_events {
public:
  void add(const trace_group& group) {
    for (const auto& s : group.slices()) {
      events_.emplace_back(s.start, s.finish,
                           "{" + s.head + ",\"ph\":\"X\",\"ts\":" + microseconds(s.start) +
                             ",\"dur\":" + microseconds(s.finish - s.start) + track(group, s) + "}");
    }
  }
  /// One end of an arrow; `phase` is s (start), t (step) or f (end).
  void add_flow(char phase, std::size_t id, const trace_group& group, std::size_t slice) {
    const auto& s = group.slices()[slice];
    events_.emplace_back(s.start, s.finish,
                         std::string{"{\"name\":\"tensor\",\"cat\":\"flow\",\"ph\":\""} + phase +
                           "\",\"bp\":\"e\",\"id\":" + std::to_string(id) + ",\"ts\":" + microseconds(s.start) +
                           track(group, s) + "}");
  }
  template <class Event>
  void write(Event event) {
    weft::stable_sort(events_,
                     [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
    for (const auto& e : events_) {
      event(std::get<2>(e));
    }
  }

private:
  static std::string track(const trace_group& group, const trace_slice& s) {
    return ",\"pid\":" + std::to_string(group.pid()) + ",\"tid\":" + std::to_string(s.lane);
  }
  std::vector<std::tuple<nanoseconds, nanoseconds, std::string>> events_;
};

} // namespace detail

/// Writes the trace-event format in its JSON object form. Process 1, `compute`, has a track per device (more where ops
/// overlap) with a complete event per op (category `op`; its type is in `args`) and per send that takes time (category
/// `send`). Process 2, `transfers`, has tracks per receiving device with an event per transfer (category `transfer`).
/// Times are microseconds, exact to the nanosecond (runs of more than 10⁶ s are scaled down and say so); no two events
/// of a track overlap. `t` must belong to `w` and `p`; an op or a transfer whose device is `none` is left out.
/// Complexity: O(k log k + k · lanes) for k ops and transfers.
template <dataflow_workload W, device_platform P>
void write_chrome_trace(std::ostream& out, const trace& t, const W& w, const P& p, chrome_trace_options options = {}) {
  using namespace detail;
  const auto num_devices = static_cast<std::size_t>(p.num_devices());
  std::vector<std::string> devices;
  for (const device_id d : ids(num_devices)) {
    devices.push_back(device_name(p, d));
  }

  const trace_clock clock{t.makespan};
  trace_group compute{1, "compute" + clock.note(), num_devices};
  std::vector<std::size_t> slice_of(t.ops.size(), 0);
  for (const op_id v : ids(t.ops.size())) {
    if (const auto& r = t.ops[v]; r.device < num_devices) {
      const std::string type = op_type(w, v);
      slice_of[v] =
        compute.add({r.device, clock(r.start), clock(r.finish),
                     "\"name\":" + quote_json(op_name(w, v)) + ",\"cat\":\"op\",\"args\":{\"op\":" + std::to_string(v) +
                       (type.empty() ? "" : ",\"type\":" + quote_json(type)) +
                       (r.threads > 1 ? ",\"threads\":" + std::to_string(r.threads) : "") + "}"});
    }
  }
  trace_group arriving{2, "transfers" + clock.note(), num_devices};
  struct flow {
    std::size_t from;
    std::size_t over;
    std::size_t to;
    bool sent;
  };
  std::vector<flow> flows;
  for (const auto& r : t.transfers) {
    if (r.from >= num_devices || r.to >= num_devices) {
      continue;
    }
    const op_id producer = w.producer(r.tensor);
    const std::string args = "\"args\":{\"op\":" + std::to_string(producer) +
                             ",\"tensor\":" + std::to_string(r.tensor) +
                             ",\"bytes\":" + std::to_string(w.bytes(r.tensor)) +
                             ",\"from\":" + quote_json(devices[r.from]) + ",\"to\":" + quote_json(devices[r.to]) + "}";
    flow f{slice_of[producer], 0, 0, r.send_finish > r.send_start};
    if (f.sent) {
      f.from = compute.add({r.from, clock(r.send_start), clock(r.send_finish),
                            "\"name\":" + quote_json("send " + op_name(w, producer)) + ",\"cat\":\"send\"," + args});
    }
    if (!options.transfers) {
      continue;
    }
    f.over = arriving.add({r.to, clock(r.start), clock(r.arrival),
                           "\"name\":" + quote_json(op_name(w, producer)) + ",\"cat\":\"transfer\"," + args});
    op_id first = none;
    for (const op_id c : w.consumers(r.tensor)) {
      if (t.ops[c].device == r.to && (first == none || t.ops[c].start < t.ops[first].start)) {
        first = c;
      }
    }
    if (first != none && (f.sent || t.ops[producer].device < num_devices)) {
      f.to = slice_of[first];
      flows.push_back(f);
    }
  }
  compute.arrange();
  arriving.arrange();

  trace_events events;
  events.add(compute);
  events.add(arriving);
  for (std::size_t i = 0; options.flows && i < flows.size(); ++i) {
    events.add_flow('s', i, compute, flows[i].from);
    events.add_flow('t', i, arriving, flows[i].over);
    events.add_flow('f', i, compute, flows[i].to);
  }
  const char* separator = "\n";
  const auto write = [&](const std::string& event) {
    out << separator << event;
    separator = ",\n";
  };
  out << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  compute.describe(devices, write);
  if (options.transfers) {
    arriving.describe(devices, write);
  }
  events.write(write);
  out << "\n]}\n";
}

} // namespace weft::report
