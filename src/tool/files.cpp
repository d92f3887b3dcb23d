// SPDX-License-Identifier: BSL-1.0
#include "files.hpp"

#include "weft/io/files.hpp"
#include "weft/report/chrome_trace.hpp"

namespace tool {

void write_trace(const std::filesystem::path& path, const weft::trace& run, const weft::workload& w,
                 const weft::platform<>& q) {
  weft::io::write_file(path, [&](std::ostream& out) { weft::report::write_chrome_trace(out, run, w, q, {}); });
}

} // namespace tool
