// SPDX-License-Identifier: BSL-1.0
/// Writing of runs, compiled once for all tools.
#pragma once

#include "weft/plan/trace.hpp"
#include "weft/platform/platform.hpp"
#include "weft/workload/workload.hpp"

#include <filesystem>

namespace tool {

/// A file that `weft::report::write_chrome_trace` writes.
void write_trace(const std::filesystem::path& path, const weft::trace& run, const weft::workload& w,
                 const weft::platform<>& q);

} // namespace tool
