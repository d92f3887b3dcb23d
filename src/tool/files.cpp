// SPDX-License-Identifier: BSL-1.0
#include "files.hpp"

#include "weft/io/files.hpp"
#include "weft/io/read.hpp"
#include "weft/report/chrome_trace.hpp"

#include <algorithm>

namespace tool {
namespace {

/// Several readers as one.
struct first_of {
  const std::vector<foreign_reader>* readers;
  std::string formats = {};

  explicit first_of(const std::vector<foreign_reader>& of) : readers{&of} {
    for (const auto& r : of) {
      formats += (formats.empty() ? "" : ", ") + r.format;
    }
  }
  std::string_view format() const { return formats; }
  const foreign_reader* find(std::string_view bytes) const {
    const auto found =
      std::find_if(readers->begin(), readers->end(), [&](const auto& r) { return r.recognises(bytes); });
    return found == readers->end() ? nullptr : &*found;
  }
  bool recognises(std::string_view bytes) const { return find(bytes) != nullptr; }
  weft::model read(std::string_view bytes, const std::string& file) const { return find(bytes)->read(bytes, file); }
};

} // namespace

weft::model model_from(std::string_view bytes, const std::string& file, const std::vector<foreign_reader>& readers) {
  return readers.empty() ? weft::io::model_from(bytes, file) : weft::io::model_from(bytes, file, first_of{readers});
}

void write_trace(const std::filesystem::path& path, const weft::trace& run, const weft::workload& w,
                 const weft::platform<>& q) {
  weft::io::write_file(path, [&](std::ostream& out) { weft::report::write_chrome_trace(out, run, w, q, {}); });
}

} // namespace tool
