// SPDX-License-Identifier: BSL-1.0
#include "formats.hpp"

#include "weft/interop/stablehlo.hpp"

#include <charconv>
#include <system_error>

namespace tool {
namespace {

weft::stablehlo::reader stablehlo_reader(const model_options& o) {
  weft::stablehlo::reader reader{.batch = o.batch, .unknown_trips = trips_of_all_loops(o)};
  std::size_t count = 0;
  const auto& text = o.parameters;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (!text.empty() && failed == std::errc{} && end == text.data() + text.size()) {
    reader.leading_parameters = count;
  } else {
    reader.parameter_names = text;
  }
  return reader;
}

} // namespace

file_format stablehlo_format() {
  return {
    .component = "stablehlo",
    .kinds = {{.format = "StableHLO", .models = "StableHLO programs", .takes = {"--batch", "--parameters", "--trips"}}},
    .recognises = [](std::string_view bytes) { return weft::stablehlo::reader{}.recognises(bytes); },
    .parse = [](std::string_view bytes, const std::string& file) -> loaded_model {
      return {.read = [bytes, file](const model_options& o) { return stablehlo_reader(o).read(bytes, file); }};
    }};
}

} // namespace tool
