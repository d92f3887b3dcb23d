// SPDX-License-Identifier: BSL-1.0
#include "foreign_models.hpp"

#include "weft/interop/pytorch.hpp"

namespace tool {

foreign_reader pytorch_reader(const model_options& o) {
  return foreign_reader{
    weft::pytorch::reader{.batch = o.batch, .dimensions = o.dimensions, .unknown_trips = trips_of_all_loops(o)}};
}

} // namespace tool
