// SPDX-License-Identifier: BSL-1.0
#include "platforms.hpp"

#include "weft/io/read.hpp"
#include "weft/platform/identical.hpp"
#include "weft/platform/presets.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <ranges>
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

target load_platform(const std::string& spec) {
  if (spec.starts_with(identical_prefix)) {
    return {.name = spec, .devices = identical(spec)};
  }
  const auto name = spec.starts_with(preset_prefix) ? spec.substr(preset_prefix.size()) : spec;
  for (const auto& e : weft::presets::entries) {
    if (e.name == name) {
      return {.name = spec, .devices = e.make(), .flops = true};
    }
  }
  const bool is_file = std::filesystem::exists(spec) || spec.find_first_of("./") != spec.npos;
  if (!is_file || spec.starts_with(preset_prefix)) {
    const auto names = weft::presets::entries | std::views::transform(&weft::presets::entry::name);
    throw weft::error(fmt::format(
      "there is no platform '{}'; choose a file, identical:P for P equal devices, or one of {}", name,
      fmt::join(names, ", ")));
  }
  return {.name = spec, .devices = weft::io::read_platform(spec)};
}

} // namespace tool
