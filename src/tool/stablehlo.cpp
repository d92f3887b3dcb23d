// SPDX-License-Identifier: BSL-1.0
#include "foreign_models.hpp"

#include "weft/core/error.hpp"
#include "weft/interop/stablehlo.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <system_error>

namespace tool {

foreign_reader stablehlo_reader(const model_options& o) {
  weft::stablehlo::reader reader{.batch = o.batch, .unknown_trips = trips_of_all_loops(o)};
  std::size_t count = 0;
  const auto& text = o.parameters;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (!text.empty() && failed == std::errc{} && end == text.data() + text.size()) {
    reader.leading_parameters = count;
  } else {
    reader.parameter_names = text;
  }
  return foreign_reader{reader};
}

} // namespace tool
