// SPDX-License-Identifier: BSL-1.0
/// Profiles as JSON, `"format": "weft.profile"`; see docs/formats.md and docs/schema/.
#pragma once

#include "weft/concurrency/profile.hpp"
#include "weft/io/detail/json_document.hpp"
#include "weft/io/files.hpp"

#include <istream>
#include <ostream>
#include <string>

namespace weft::io {

/// Reads a profile. `file` is what errors call the input. Throws `parse_error` with file, line and the path of the
/// value. Whether it is of this machine is for `profile::warning_for` to say.
inline concurrency::profile read_profile_json(std::istream& in, const std::string& file = "<stream>") {
  const std::string text = read_all(in, file);
  const detail::json_document document{text, file};
  const detail::json_value root{document};
  detail::check_format(root, "weft.profile");
  root.object({"$schema", "format", "version", "description", "entries"});
  concurrency::profile result;
  const auto entries = root.at("entries");
  entries.array("a list of measured ops");
  for (const detail::json_value& e : entries) {
    e.object({"machine", "op", "threads", "affinity", "seconds"});
    concurrency::profile::key k;
    k.machine = e.at("machine").text();
    k.op = e.at("op").text();
    k.threads = static_cast<std::uint32_t>(e.at("threads").whole(1, 1u << 20));
    const auto a = e.at("affinity");
    if (a.text() != "packed" && a.text() != "spread") {
      a.fail("must be \"packed\" or \"spread\"");
    }
    k.affinity = a.text() == "packed" ? affinity::packed : affinity::spread;
    const auto seconds = e.at("seconds");
    seconds.array("a list of measured times");
    for (const detail::json_value& s : seconds) {
      result.record(k, s.number(true));
    }
  }
  return result;
}
/// The same from a file. Throws `error` if it cannot be opened.
inline concurrency::profile read_profile_json(const std::filesystem::path& path) {
  auto in = open_for_reading(path);
  return read_profile_json(in, path.string());
}

/// Writes a profile. Reading it back gives an equal profile.
inline void write_profile_json(std::ostream& out, const concurrency::profile& p) {
  out << "{\n  \"format\": \"weft.profile\",\n  \"version\": 1,\n  \"entries\": [";
  bool first = true;
  for (const auto& [k, runs] : p.entries()) {
    nlohmann::ordered_json seconds = nlohmann::ordered_json::array();
    for (const double s : runs) {
      seconds.push_back(detail::json_number(s));
    }
    out << (first ? "\n    " : ",\n    ")
        << detail::one_line(nlohmann::ordered_json{{"machine", k.machine},
                                                   {"op", k.op},
                                                   {"threads", k.threads},
                                                   {"affinity", std::string{to_string(k.affinity)}},
                                                   {"seconds", std::move(seconds)}});
    first = false;
  }
  out << "\n  ]\n}\n";
}

} // namespace weft::io
