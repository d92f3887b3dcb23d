// SPDX-License-Identifier: BSL-1.0
/// Writes a comparison as JSON: every run, and the summary of the runs.
#pragma once

#include "weft/report/comparison.hpp"
#include "weft/report/detail/text.hpp"
#include "weft/report/quality.hpp"

#include <ostream>
#include <string>
#include <string_view>

namespace weft::report {
namespace detail {

inline std::string json_order(order_origin o) {
  return o == order_origin::unknown ? "null" : quote_json(to_string(o));
}

inline void write_json_run(std::ostream& out, const run_record& r) {
  out << "{\"workload\":" << quote_json(r.workload) << ",\"platform\":" << quote_json(r.platform)
      << ",\"partition\":" << quote_json(r.partition) << ",\"schedule\":" << quote_json(r.schedule)
      << ",\"repeat\":" << std::to_string(r.repeat) << ",\"seed\":" << std::to_string(r.seed)
      << ",\"status\":" << quote_json(r.status) << ",\"makespan\":" << json_number(r.makespan)
      << ",\"lower_bound\":" << json_number(r.lower_bound) << ",\"gap\":" << json_number(r.gap)
      << ",\"transfer_bytes\":" << (r.solved() && r.transfer_bytes ? std::to_string(*r.transfer_bytes) : "null")
      << ",\"peak_memory\":" << (r.solved() && r.peak_memory ? std::to_string(*r.peak_memory) : "null")
      << ",\"partition_seconds\":" << json_number(r.partition_seconds)
      << ",\"schedule_seconds\":" << json_number(r.schedule_seconds)
      << ",\"simulate_seconds\":" << json_number(r.simulate_seconds) << ",\"refine\":" << quote_json(r.refine)
      << ",\"objective\":" << quote_json(r.objective)
      << ",\"bound\":" << (r.lower_bound_name.empty() ? "null" : quote_json(r.lower_bound_name))
      << ",\"refine_seconds\":" << json_number(r.refine_seconds) << ",\"order\":" << json_order(r.order)
      << ",\"reason\":" << (r.reason.empty() ? "null" : quote_json(r.reason)) << '}';
}

inline void write_json_combination(std::ostream& out, const combination& c) {
  out << "{\"partition\":" << quote_json(c.partition) << ",\"refine\":" << quote_json(c.refine)
      << ",\"schedule\":" << quote_json(c.schedule) << ",\"best\":" << (c.best ? "true" : "false")
      << ",\"runs\":" << std::to_string(c.runs) << ",\"solved\":" << std::to_string(c.solved)
      << ",\"makespan_mean\":" << json_number(c.makespan_mean) << ",\"makespan_low\":" << json_number(c.makespan_low)
      << ",\"makespan_high\":" << json_number(c.makespan_high) << ",\"makespan_min\":" << json_number(c.makespan_min)
      << ",\"makespan_max\":" << json_number(c.makespan_max) << ",\"speed_up\":" << json_number(c.speed_up)
      << ",\"gap\":" << json_number(c.gap) << ",\"transfer_bytes_mean\":" << json_number(c.transfer_bytes)
      << ",\"peak_memory_mean\":" << json_number(c.peak_memory)
      << ",\"planning_seconds_mean\":" << json_number(c.planning_seconds) << ",\"order\":" << json_order(c.order)
      << ",\"status\":" << quote_json(c.status)
      << ",\"reason\":" << (c.reason.empty() ? "null" : quote_json(c.reason)) << '}';
}

/// `,"ratio":1.2,"ratio_low":1.1,"ratio_high":1.3`
inline void write_json_interval(std::ostream& out, std::string_view name, const interval& x) {
  out << ",\"" << name << "\":" << json_number(x.mean) << ",\"" << name << "_low\":" << json_number(x.low) << ",\""
      << name << "_high\":" << json_number(x.high);
}

inline void write_json_strategy(std::ostream& out, const strategy_quality& s, bool compared) {
  out << "{\"partition\":" << quote_json(s.partition) << ",\"refine\":" << quote_json(s.refine)
      << ",\"schedule\":" << quote_json(s.schedule) << ",\"problems\":" << std::to_string(s.problems)
      << ",\"solved\":" << std::to_string(s.solved) << ",\"best\":" << std::to_string(s.best);
  write_json_interval(out, "makespan", s.makespan);
  write_json_interval(out, "ratio", s.ratio);
  write_json_interval(out, "to_baseline", s.to_baseline);
  out << ",\"wins\":" << (compared ? std::to_string(s.wins) : "null")
      << ",\"losses\":" << (compared ? std::to_string(s.losses) : "null");
  write_json_interval(out, "gap", s.gap);
  out << '}';
}

} // namespace detail

/// Writes `{"runs": […], "sections": […], "baseline": …, "strategies": […]}`. A run has the columns of the CSV file and
/// a `reason`; a section has `workload`, `platform`, `objective`, `unit`, `unit_seconds`, `lower_bound`,
/// `lower_bound_name`, `notes` and its `combinations`, best first, as `comparison::sections` gives them; `strategies`
/// are those of `quality_of`, compared with `baseline` if there is one, which then stands before them; `_low` and
/// `_high` are the limits of 95 % confidence intervals. Seconds, bytes and shares of one; makespan and bound are in the
/// section's `unit`, seconds as multiples of `unit_seconds`; `null` for what does not exist.
/// Complexity: O(r log r) for r runs.
inline void write_json(std::ostream& out, const comparison& c, std::string_view baseline = {}) {
  out << "{\"runs\":[";
  const char* separator = "\n";
  for (const auto& r : c.runs) {
    out << separator;
    detail::write_json_run(out, r);
    separator = ",\n";
  }
  out << "\n],\"sections\":[";
  separator = "\n";
  const auto sections = c.sections();
  for (const auto& s : sections) {
    out << separator << "{\"workload\":" << detail::quote_json(s.workload)
        << ",\"platform\":" << detail::quote_json(s.platform) << ",\"objective\":" << detail::quote_json(s.objective)
        << ",\"unit\":" << detail::quote_json(s.unit)
        << ",\"unit_seconds\":" << detail::json_number(s.unit_seconds)
        << ",\"lower_bound\":" << detail::json_number(s.lower_bound)
        << ",\"lower_bound_name\":" << (s.lower_bound_name.empty() ? "null" : detail::quote_json(s.lower_bound_name))
        << ",\"notes\":[";
    const char* comma = "";
    for (const auto& note : s.notes) {
      out << comma << detail::quote_json(note);
      comma = ",";
    }
    out << "],\"combinations\":[";
    comma = "\n";
    for (const auto& combination : s.combinations) {
      out << comma;
      detail::write_json_combination(out, combination);
      comma = ",\n";
    }
    out << "\n]}";
    separator = ",\n";
  }
  out << "\n],\"baseline\":" << (baseline.empty() ? "null" : detail::quote_json(baseline)) << ",\"strategies\":[";
  separator = "\n";
  for (const auto& s : quality_of(sections, baseline).strategies) {
    out << separator;
    detail::write_json_strategy(out, s, !baseline.empty());
    separator = ",\n";
  }
  out << "\n]}\n";
}

} // namespace weft::report
