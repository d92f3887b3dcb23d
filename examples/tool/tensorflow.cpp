// SPDX-License-Identifier: BSL-1.0
#include "foreign_models.hpp"

#include "weft/interop/tensorflow.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace tool {

using namespace weft;

foreign_reader tensorflow_reader(const model_options& o) {
  return foreign_reader{tensorflow::reader{
    .batch = std::max(std::uint64_t{1}, o.batch),
    .shapes = {o.shapes.begin(), o.shapes.end()},
    .costs = o.times.empty() ? tensorflow::measured_costs{} : tensorflow::read_costs(o.times)}};
}

void write_tensorflow(std::ostream& out, bool text, const input& in, const placement& own, const platform<>& devices) {
  const auto names = tensorflow::device_names(devices);
  if (in.from == input::source::tensorflow) {
    tensorflow::write_placed(out, in.bytes, own, names, in.spec);
  } else {
    tensorflow::write_network(out, *in.net, in.origin, {.text = text, .placement = own, .names = names});
  }
}

} // namespace tool
