// SPDX-License-Identifier: BSL-1.0
#include "platforms.hpp"

#include "files.hpp"

#include "weft/platform/identical.hpp"
#include "weft/platform/presets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace tool {
namespace {

constexpr std::string_view preset_prefix = "preset:";
constexpr std::string_view identical_prefix = "identical:";

weft::platform<> identical(const std::string& spec) {
  std::uint32_t count = 0;
  const char* const end = spec.data() + spec.size();
  const auto [rest, failed] = std::from_chars(spec.data() + identical_prefix.size(), end, count);
  if (failed != std::errc{} || rest != end || count == 0) {
    throw weft::error(fmt::format("'{}' is no platform: write the number of devices, as in identical:4", spec));
  }
  return weft::presets::identical(count);
}

} // namespace

weft::platform<> load_platform(const std::string& spec) {
  if (spec.starts_with(identical_prefix)) {
    return identical(spec);
  }
  const auto name = spec.starts_with(preset_prefix) ? spec.substr(preset_prefix.size()) : spec;
  const bool is_name = std::any_of(weft::presets::entries.begin(), weft::presets::entries.end(),
                                   [&](const auto& e) { return e.name == name; });
  const bool is_file = std::filesystem::exists(spec) || spec.find_first_of("./") != spec.npos;
  return is_file && !is_name && !spec.starts_with(preset_prefix) ? read_platform(spec) : weft::presets::make(name);
}

} // namespace tool
