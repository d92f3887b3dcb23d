// SPDX-License-Identifier: BSL-1.0
/// Reading and writing files, compiled once for all tools.
#pragma once

#include "weft/plan/trace.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/model.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

/// A reader of another library's format, which is compiled elsewhere: see `weft::io::model_reader`.
struct foreign_reader {
  template <class Reader>
  explicit foreign_reader(const Reader& r)
      : format{r.format()}, recognises{[r](std::string_view bytes) { return r.recognises(bytes); }},
        read{[r](std::string_view bytes, const std::string& file) { return r.read(bytes, file); }} {}

  std::string format;
  std::function<bool(std::string_view)> recognises;
  std::function<weft::model(std::string_view, const std::string&)> read;
};

/// `weft::io::model_from`, which asks the given readers first.
weft::model model_from(std::string_view bytes, const std::string& file, const std::vector<foreign_reader>& readers);

/// A file that `weft::report::write_chrome_trace` writes.
void write_trace(const std::filesystem::path& path, const weft::trace& run, const weft::workload& w,
                 const weft::platform<>& q);

} // namespace tool
