// SPDX-License-Identifier: BSL-1.0
#include "platforms.hpp"

#include "random_graphs.hpp"

#include "weft/io/read.hpp"
#include "weft/platform/identical.hpp"
#include "weft/platform/presets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <ranges>
#include <string_view>
#include <system_error>
#include <utility>

namespace tool {
namespace {

constexpr std::string_view preset_prefix = "preset:";
constexpr std::string_view identical_prefix = "identical:";

weft::platform<> identical(const std::string& spec) {
  std::uint32_t count = 0;
  const char* const end = spec.data() + spec.size();
  const auto [rest, failed] = std::from_chars(spec.data() + identical_prefix.size(), end, count);
  if (failed != std::errc{} || rest != end || count == 0) {
    throw weft::error(fmt::format("'{}' is not a platform: write the number of devices, as in identical:4", spec));
  }
  return weft::presets::identical(count);
}

/// The platform, with a note if some of its devices have a bandwidth of their memory and others do not.
weft::platform<> noted(weft::platform<> p) {
  const auto all = weft::ids(p.num_devices());
  const auto unlimited = [&](weft::device_id d) { return std::isinf(p.memory_bandwidth(d)); };
  const auto count = std::count_if(all.begin(), all.end(), unlimited);
  if (count > 0 && count < std::ssize(p.devices())) {
    const auto first = *std::find_if(all.begin(), all.end(), unlimited);
    const auto name = p.name(first).empty() ? fmt::format("device {}", first) : std::string{p.name(first)};
    auto notes = p.notes();
    const auto who = count == 1 ? name : fmt::format("each of {} devices, such as {},", count, name);
    notes.push_back(who + " has no memory_bandwidth, unlike others, and so reads its memory in no time; add it");
    p.set_notes(std::move(notes));
  }
  return p;
}

} // namespace

target load_platform(const std::string& spec) {
  if (spec.starts_with(identical_prefix)) {
    return {.name = spec, .devices = identical(spec)};
  }
  if (spec.starts_with(random_prefix)) {
    return {.name = random_platform_name(spec), .devices = make_random_platform(spec)};
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
    throw weft::error(fmt::format("there is no platform '{}'; choose a file, identical:P for P equal devices, "
                                  "random:FAMILY for drawn ones, or one of {}",
                                  name, fmt::join(names, ", ")));
  }
  return {.name = spec, .devices = noted(weft::io::read_platform(spec)), .is_file = true};
}

} // namespace tool
