// SPDX-License-Identifier: BSL-1.0
#include "formats.hpp"

#include "weft/interop/pytorch.hpp"

namespace tool {

file_format pytorch_format() {
  return {
    .component = "pytorch",
    .kinds = {{.format = "PyTorch", .models = "PyTorch programs", .takes = {"--batch", "--dim", "--trips"}}},
    .recognises = [](std::string_view bytes) { return weft::pytorch::reader{}.recognises(bytes); },
    .parse = [](std::string_view bytes, const std::string& file) -> loaded_model {
      const auto program = std::make_shared<const weft::pytorch::parsed_program>(bytes, file);
      return {.read = [program](const model_options& o) {
        return program->read(
          {.batch = o.batch, .dimensions = o.dimensions, .unknown_trips = trips_of_all_loops(o)});
      }};
    }};
}

} // namespace tool
