// SPDX-License-Identifier: BSL-1.0
#include "foreign_models.hpp"

#include "weft/interop/tensorflow.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>

namespace place {

using namespace weft;

tool::foreign_reader tensorflow_reader(const options& o) {
  return tool::foreign_reader{tensorflow::reader{
    .batch = std::max(std::uint64_t{1}, o.batch),
    .shapes = {o.shapes.begin(), o.shapes.end()},
    .costs = o.times.empty() ? tensorflow::measured_costs{} : tensorflow::read_costs(o.times)}};
}

void write_tensorflow(std::ostream& out, const options& o, const input& in, const placement& own,
                      const platform<>& devices) {
  const auto names = tensorflow::device_names(devices);
  if (in.from == input::source::tensorflow) {
    tensorflow::write_placed(out, in.bytes, own, names, o.model);
  } else {
    tensorflow::write_network(out, *in.net, in.origin,
                              {.text = std::filesystem::path{o.out}.extension() == ".pbtxt",
                               .placement = own,
                               .names = names});
  }
}

} // namespace place
