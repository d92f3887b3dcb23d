// SPDX-License-Identifier: BSL-1.0
#include "foreign_models.hpp"

#include "weft/interop/tensorflow.hpp"

#include <span>
#include <string>
#include <vector>

namespace tool {

using namespace weft;

foreign_reader tensorflow_reader(const model_options& o) {
  return foreign_reader{tensorflow::reader{
    .batch = o.batch,
    .shapes = {o.shapes.begin(), o.shapes.end()},
    .costs = o.times.empty() ? tensorflow::measured_costs{} : tensorflow::read_costs(o.times),
    .fetch = o.fetch,
    .signature = o.signature,
    .tags = o.tags,
    .trips = {o.trips.begin(), o.trips.end()},
    .keep_functions = o.keep_functions}};
}

std::vector<std::string> write_tensorflow(std::ostream& out, bool text, const input& in, const placement& where,
                                          const platform<>& devices) {
  const auto names = tensorflow::device_names(devices);
  if (in.from == input::source::tensorflow) {
    return tensorflow::write_placed(out, in.bytes, in.model.ops, where, names, in.spec, in.tags);
  }
  const auto own = std::span{where}.first(in.num_own_ops);
  tensorflow::write_network(out, *in.net, in.origin, {.text = text, .placement = own, .names = names});
  return {};
}

} // namespace tool
