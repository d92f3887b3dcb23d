// SPDX-License-Identifier: BSL-1.0
/// Reads workloads and platforms from files of any format that is known, recognised by content.
#pragma once

#include "weft/io/critical_path_csv.hpp"
#include "weft/io/dnn_partitioning.hpp"
#include "weft/io/json_platform.hpp"
#include "weft/io/json_workload.hpp"
#include "weft/io/stg.hpp"

#include <string>
#include <string_view>

namespace weft::io {

namespace detail {

enum class file_format { json, partitioning_json, graph_csv, device_csv, stg, unknown };

/// Looks at the first lines of a text, and in JSON for the names of settings.
inline file_format recognise(std::string_view text) {
  line_reader lines{text, ""};
  auto line = lines.next();
  if (line && line->front() == '{') {
    return is_dnn_partitioning(text) ? file_format::partitioning_json : file_format::json;
  }
  auto number = line;
  while (number && number->front() == '#') { // a comment
    number = lines.next();
  }
  if (number && number->find_first_not_of("0123456789") == std::string_view::npos) {
    return file_format::stg;
  }
  if (line && split(*line, ',').front() == "Meta") {
    line = lines.next();
  }
  const auto columns = line ? split(*line, ',') : std::vector<std::string_view>{};
  if (columns.size() < 2 || lower(columns[0]) != "id") {
    return file_format::unknown;
  }
  return lower(columns[1]) == "ram" ? file_format::device_csv : file_format::graph_csv;
}

[[noreturn]] inline void refuse_format(const std::string& file, const char* what, const char* format, const char* csv,
                                       const char* more, file_format found) {
  const char* instead = found == file_format::graph_csv           ? "it is a CSV of a graph"
                        : found == file_format::device_csv        ? "it is a CSV of devices"
                        : found == file_format::stg               ? "it is a standard task graph"
                        : found == file_format::partitioning_json ? "it is a problem of the device-placement study"
                                                                  : "its format is not known";
  throw parse_error(file, 1,
                    std::string{"not a "} + what + ": " + instead + "; understood are JSON with \"format\": \"" +
                      format + "\", the critical-path paper's CSV, which starts with '" + csv + "'" + more);
}

} // namespace detail

/// Reads a workload from native JSON, the critical-path paper's CSV, or a file of the Standard Task Graph Set; the
/// content decides, not the name. A problem of the device-placement study is more than a workload and is refused: read
/// it with `read_dnn_partitioning`.
/// Throws `error` if the file cannot be opened, `parse_error` for everything that is wrong in it.
inline workload read_workload(const std::filesystem::path& path) {
  auto in = open_for_reading(path);
  std::string text = read_all(in, path.string());
  switch (const auto format = detail::recognise(text)) {
  case detail::file_format::json: return detail::workload_from_json({std::move(text), path.string()});
  case detail::file_format::graph_csv: return detail::workload_from_csv(text, path.string());
  case detail::file_format::stg: return detail::workload_from_stg(text, path.string());
  default:
    detail::refuse_format(path.string(), "workload", "weft.workload", "Id,(Outgoing) node,...",
                          ", and standard task graphs, which start with a number", format);
  }
}

/// Whether a file holds a problem of the device-placement study (io/dnn_partitioning.hpp), see
/// `is_dnn_partitioning`. Throws `error` if it cannot be opened.
inline bool holds_dnn_partitioning(const std::filesystem::path& path) {
  auto in = open_for_reading(path);
  return detail::recognise(read_all(in, path.string())) == detail::file_format::partitioning_json;
}

/// Reads a platform from native JSON, or from the critical-path paper's CSV; the content decides, not the name.
/// Throws `error` if the file cannot be opened, `parse_error` for everything that is wrong in it.
inline platform<> read_platform(const std::filesystem::path& path) {
  auto in = open_for_reading(path);
  std::string text = read_all(in, path.string());
  switch (const auto format = detail::recognise(text)) {
  case detail::file_format::json: return detail::platform_from_json({std::move(text), path.string()});
  case detail::file_format::device_csv: return detail::platform_from_csv(text, path.string());
  default: detail::refuse_format(path.string(), "platform", "weft.platform", "Id,RAM,...", "", format);
  }
}

} // namespace weft::io
