// SPDX-License-Identifier: BSL-1.0
/// The data of the HTML report's charts as compact JSON: flat arrays in place of objects.
#pragma once

#include "weft/report/comparison.hpp"
#include "weft/report/detail/lanes.hpp"
#include "weft/report/detail/text.hpp"
#include "weft/report/gantt.hpp"
#include "weft/report/quality.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::report::detail {

/// Ten digits: more than a screen can show, less than a double has.
inline std::string compact(double x) {
  return std::isfinite(x) ? significant(x, 10) : "null";
}

/// Writes `[a,b,…]`, each item by `write(item)`.
template <class Range, class Write>
void write_array(std::ostream& out, const Range& items, Write write) {
  out << '[';
  const char* separator = "";
  for (const auto& item : items) {
    out << separator;
    write(item);
    separator = ",";
  }
  out << ']';
}

inline void write_strings(std::ostream& out, const std::vector<std::string>& strings) {
  write_array(out, strings, [&](const std::string& s) { out << quote_json(s); });
}

/// Where each op and send of a run is drawn: lanes within its device.
struct gantt_lanes {
  std::vector<std::uint32_t> op;   // by op
  std::vector<std::uint32_t> send; // by transfer
  std::vector<std::size_t> count;  // by device

  explicit gantt_lanes(const gantt_run& run)
      : op(run.trace.ops.size(), 0), send(run.trace.transfers.size(), 0), count(run.num_devices(), 1) {
    std::vector<std::vector<std::pair<double, double>>> intervals(count.size());
    std::vector<std::vector<std::uint32_t*>> lanes(count.size());
    const auto add = [&](device_id d, double start, double finish, std::uint32_t& lane) {
      intervals[d].emplace_back(start, finish);
      lanes[d].push_back(&lane);
    };
    for (std::size_t v = 0; v < op.size(); ++v) {
      if (const auto& r = run.trace.ops[v]; r.device != none) {
        add(r.device, r.start, r.finish, op[v]);
      }
    }
    for (std::size_t i = 0; i < send.size(); ++i) {
      if (const auto& r = run.trace.transfers[i]; r.send_finish > r.send_start) {
        add(r.from, r.send_start, r.send_finish, send[i]);
      }
    }
    for (std::size_t d = 0; d < count.size(); ++d) {
      const auto [lane, number] = assign_lanes(intervals[d]);
      for (std::size_t k = 0; k < lane.size(); ++k) {
        *lanes[d][k] = lane[k];
      }
      count[d] = std::max<std::size_t>(number, 1);
    }
  }
};

/// `types`: the type names; `type`: one index per op.
inline void write_types(std::ostream& out, const std::vector<std::string>& types) {
  std::map<std::string_view, std::size_t> index;
  for (const auto& t : types) {
    index.emplace(t, 0);
  }
  std::vector<std::string> names;
  for (auto& [name, i] : index) {
    i = names.size();
    names.emplace_back(name);
  }
  out << ",\"types\":";
  write_strings(out, names);
  out << ",\"type\":";
  write_array(out, types, [&](const std::string& t) { out << std::to_string(index.at(t)); });
}

/// `ops`: device, lane, start, finish per op (device −1 if it did not run); `transfers`: producer, from, to, lane of
/// the send, send start, send finish, start, arrival, bytes (−1 where unknown).
inline void write_gantt_data(std::ostream& out, const gantt_run& run, std::size_t names) {
  const gantt_lanes lanes{run};
  out << "{\"title\":" << quote_json(run.title) << ",\"makespan\":" << compact(run.trace.makespan)
      << ",\"bound\":" << compact(run.lower_bound) << ",\"boundName\":" << quote_json(run.lower_bound_name)
      << ",\"names\":" << std::to_string(names) << ",\"devices\":";
  auto devices = run.device_names;
  for (std::size_t d = devices.size(); d < run.num_devices(); ++d) {
    devices.push_back("device " + std::to_string(d));
  }
  write_strings(out, devices);
  out << ",\"lanes\":";
  write_array(out, lanes.count, [&](std::size_t n) { out << std::to_string(n); });
  out << ",\"load\":";
  write_array(out, device_loads(run), [&](const device_load& l) { out << fixed(l.utilisation, 4); });
  write_types(out, run.op_types);
  out << ",\"ops\":";
  write_array(out, ids(run.trace.ops.size()), [&](op_id v) {
    const auto& r = run.trace.ops[v];
    if (r.device == none) {
      out << "-1,0,0,0";
    } else {
      out << std::to_string(r.device) << ',' << std::to_string(lanes.op[v]) << ',' << compact(r.start) << ','
          << compact(r.finish);
    }
  });
  out << ",\"transfers\":";
  write_array(out, ids(run.trace.transfers.size()), [&](std::uint32_t i) {
    const auto& r = run.trace.transfers[i];
    out << (r.tensor < run.producers.size() ? std::to_string(run.producers[r.tensor]) : "-1") << ','
        << std::to_string(r.from) << ',' << std::to_string(r.to) << ',' << std::to_string(lanes.send[i]) << ','
        << compact(r.send_start) << ',' << compact(r.send_finish) << ',' << compact(r.start) << ','
        << compact(r.arrival) << ','
        << (r.tensor < run.tensor_bytes.size() ? std::to_string(run.tensor_bytes[r.tensor]) : "-1");
  });
  out << '}';
}

/// `partition` (and refiner), `schedule, mean, min, max, runs, solved, reason` per combination; times in seconds.
inline void write_section_data(std::ostream& out, const section& s) {
  const auto seconds = [&](double time) { return compact(time * s.unit_seconds); };
  out << "{\"title\":" << quote_json(s.title()) << ",\"objective\":" << quote_json(s.objective)
      << ",\"bound\":" << seconds(s.lower_bound) << ",\"boundName\":" << quote_json(s.lower_bound_name) << ",\"rows\":";
  write_array(out, s.combinations, [&](const combination& c) {
    out << '[' << quote_json(c.planner()) << ',' << quote_json(c.schedule) << ',' << seconds(c.makespan_mean) << ','
        << seconds(c.makespan_min) << ',' << seconds(c.makespan_max) << ',' << std::to_string(c.runs) << ','
        << std::to_string(c.solved) << ',' << quote_json(c.reason.empty() ? c.status : c.reason) << ']';
  });
  out << '}';
}

/// A performance profile per strategy, of the first `most`: name, then factors and the shares within them by turns.
inline void write_profile_data(std::ostream& out, const quality& q, std::size_t most = 10) {
  const std::size_t count = std::min(most, q.strategies.size());
  write_array(out, ids(count), [&](std::uint32_t k) {
    const auto& s = q.strategies[k];
    out << '[' << quote_json(s.name);
    for (std::size_t i = 0; i < s.ratios.size(); ++i) {
      if (i + 1 == s.ratios.size() || s.ratios[i + 1] > s.ratios[i] * (1 + 1e-9)) { // one step for equal ones
        out << ',' << compact(s.ratios[i]) << ',' << significant(s.share_within(s.ratios[i]), 5);
      }
    }
    out << ']';
  });
}

/// Everything that the charts show. Runs of one workload share one list of op names.
inline void write_chart_data(std::ostream& out, const std::vector<section>& sections, const quality& q,
                             const std::vector<gantt_run>& runs) {
  out << "{\"sections\":";
  write_array(out, sections, [&](const section& s) { write_section_data(out, s); });
  out << ",\"profile\":";
  write_profile_data(out, q);
  std::vector<const std::vector<std::string>*> names;
  std::vector<std::size_t> names_of;
  for (const auto& run : runs) {
    std::size_t i = 0;
    while (i < names.size() && *names[i] != run.op_names) {
      ++i;
    }
    if (i == names.size()) {
      names.push_back(&run.op_names);
    }
    names_of.push_back(i);
  }
  out << ",\"names\":";
  write_array(out, names, [&](const std::vector<std::string>* list) { write_strings(out, *list); });
  out << ",\"gantts\":";
  write_array(out, ids(runs.size()), [&](std::uint32_t i) { write_gantt_data(out, runs[i], names_of[i]); });
  out << '}';
}

} // namespace weft::report::detail
