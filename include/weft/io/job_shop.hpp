// SPDX-License-Identifier: BSL-1.0
/// Reads job shops, as the benchmark sets of production scheduling have them, as text and as JSON.
#pragma once

#include "weft/cost/alternatives.hpp"
#include "weft/io/detail/job_shop_json.hpp"
#include "weft/io/detail/job_shop_text.hpp"
#include "weft/io/files.hpp"
#include "weft/io/reader.hpp"
#include "weft/platform/identical.hpp"
#include "weft/problem.hpp"
#include "weft/workload/builder.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::io {

/// Jobs whose operations follow each other, each on one of the machines that can do it. **Times are in the file's
/// unit**, and so is every result.
struct flexible_job_shop {
  using problem_type = weft::problem<workload, platform<>, cost::alternatives>;

  workload ops;       ///< job by job; a chain of control edges each
  platform<> devices; ///< the machines, between which nothing takes time
  weft::cost::alternatives cost;
  std::vector<std::string> notes = {}; ///< one line each: what was assumed or left out

  /// The problem to solve; refers to this object, which must outlive it and stay where it is.
  problem_type problem() const { return {ops, devices, cost}; }
};

namespace detail {

inline flexible_job_shop shop_of(shop_parts parts) {
  flexible_job_shop shop{.ops = std::move(parts.ops).build(),
                         .devices = presets::identical(parts.machines),
                         .cost = std::move(parts.times).build(),
                         .notes = std::move(parts.notes)};
  if (!parts.machine_names.empty()) {
    shop.devices.set_names(parts.machine_names);
  }
  return shop;
}

} // namespace detail

/// Reads a job shop, flexible or not. Op "2.3" is the third operation of the second job; its work is the shortest of
/// its times.
///
/// As text: the numbers of jobs and machines on the first line, perhaps with the mean number of alternatives, and
/// then a line per job. In flexible shops that is `operations`, and for each operation `count` and so often `machine
/// time`; in plain ones `machine time` for each operation. Machines are numbered from 0 or from 1, whichever fits all
/// lines. Or, as Taillard has them, a matrix of times below the title `Times` and one of machines below `Machines`.
/// Lines of text before and behind the numbers are skipped, and so is what follows a `#`; several instances in one
/// file are refused.
///
/// As JSON: `jobs`, a list of lists of operations, or of objects with `operations`, each `{"machine": …, "duration":
/// …}`, `[machine, duration]`, or `alternatives` of these; or `machines_matrix` and `duration_matrix`. Machines have
/// numbers or names. A note tells keys that are not read.
///
/// Throws `parse_error` with file and line. Complexity: linear. `file` is what errors call the input.
/// Source: Brandimarte, Routing and scheduling in a flexible job shop by tabu search, Annals of Operations Research 41,
/// 1993; Beasley, OR-Library, Journal of the Operational Research Society 41, 1990; Taillard, Benchmarks for basic
/// scheduling problems, European Journal of Operational Research 64, 1993, whose formats other sets have taken over.
inline flexible_job_shop read_job_shop(std::string_view bytes, const std::string& file) {
  if (detail::job_shop_json::recognises(bytes)) {
    const detail::json_document document{bytes, file};
    return detail::shop_of(detail::job_shop_json{document}.read());
  }
  return detail::shop_of(detail::job_shop_text{bytes, file}.read());
}
/// The same from a file. Throws `error` if it cannot be opened.
inline flexible_job_shop read_job_shop(const std::filesystem::path& path) {
  return read_job_shop(read_file(path), path.string());
}

/// Reads the operations of such a file for `read_model`. Which machines can do them, and how long that takes each, is
/// in the file, but not in a workload.
struct job_shop_reader {
  static constexpr std::string_view format() { return "job shop"; }
  /// Two or three numbers, and then a job of operations on so many machines; or JSON with lists of jobs.
  static bool recognises(std::string_view bytes) {
    return detail::job_shop_json::recognises(bytes) || detail::job_shop_text::recognises(bytes);
  }
  static model read(std::string_view bytes, const std::string& file) {
    auto shop = read_job_shop(bytes, file);
    model m;
    m.ops = std::move(shop.ops);
    m.format = format();
    m.unit = work_unit::own;
    m.notes.push_back(
      "work is the shortest time of an operation, in the file's unit; which machines can do it, and how "
      "long that takes each, is left out");
    m.notes.insert(m.notes.end(), shop.notes.begin(), shop.notes.end());
    return m;
  }
};

} // namespace weft::io
