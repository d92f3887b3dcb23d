// SPDX-License-Identifier: BSL-1.0
/// Writes the runs of a comparison as CSV.
#pragma once

#include "weft/report/comparison.hpp"
#include "weft/report/detail/text.hpp"

#include <ostream>
#include <string>
#include <string_view>

namespace weft::report {

/// The header row of `write_csv`, without the line end. `makespan` is what `objective` says; `bound` is the name of the
/// rule that gave `lower_bound`.
inline constexpr std::string_view csv_header =
  "workload,platform,partition,schedule,repeat,seed,status,makespan,lower_bound,gap,transfer_bytes,peak_memory,"
  "partition_seconds,schedule_seconds,simulate_seconds,refine,objective,bound,refine_seconds,order";

namespace detail {

/// A field as RFC 4180 wants it: in quotes if it holds a comma, a quote or a line end.
inline std::string quote_csv(std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string{field};
  }
  std::string out = "\"";
  for (const char c : field) {
    out += c;
    if (c == '"') {
      out += c;
    }
  }
  return out += '"';
}

} // namespace detail

/// Writes one row and its line end (`\n`), so that a program can write runs as they come. Numbers are the shortest
/// that read back as the same value; a number that does not exist is an empty field.
inline void write_csv_row(std::ostream& out, const run_record& r) {
  using detail::quote_csv, detail::shortest;
  out << quote_csv(r.workload) << ',' << quote_csv(r.platform) << ',' << quote_csv(r.partition) << ','
      << quote_csv(r.schedule) << ',' << std::to_string(r.repeat) << ',' << std::to_string(r.seed) << ','
      << quote_csv(r.status) << ',' << shortest(r.makespan) << ',' << shortest(r.lower_bound) << ',' << shortest(r.gap)
      << ',' << (r.solved() && r.transfer_bytes ? std::to_string(*r.transfer_bytes) : "") << ','
      << (r.solved() && r.peak_memory ? std::to_string(*r.peak_memory) : "") << ',' << shortest(r.partition_seconds)
      << ',' << shortest(r.schedule_seconds) << ',' << shortest(r.simulate_seconds) << ',' << quote_csv(r.refine) << ','
      << quote_csv(r.objective) << ',' << quote_csv(r.lower_bound_name) << ',' << shortest(r.refine_seconds) << ','
      << (r.order == order_origin::unknown ? std::string_view{} : to_string(r.order)) << '\n';
}

/// Writes the header and one row per run, in their order. Complexity: O(runs).
inline void write_csv(std::ostream& out, const comparison& c) {
  out << csv_header << '\n';
  for (const auto& r : c.runs) {
    write_csv_row(out, r);
  }
}

} // namespace weft::report
