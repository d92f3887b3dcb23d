// SPDX-License-Identifier: BSL-1.0
#include "foreign_models.hpp"

#include "weft/interop/onnx.hpp"

#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace tool {

foreign_reader onnx_reader(const model_options& o) {
  return foreign_reader{weft::onnx::reader{.batch = o.batch, .dimensions = o.dimensions}};
}

void write_onnx(std::ostream& out, const input& in, const weft::placement& where, const weft::platform<>& devices) {
  const weft::placement own(where.begin(), where.begin() + static_cast<std::ptrdiff_t>(in.num_own_ops));
  std::vector<std::string> names;
  for (const weft::device_id d : weft::ids(devices.num_devices())) {
    names.emplace_back(devices.name(d).empty() ? "device" + std::to_string(d) : devices.name(d));
  }
  if (in.from == input::source::onnx) {
    weft::onnx::write_placed(out, in.bytes, own, names, in.spec);
  } else {
    std::ostringstream model;
    weft::onnx::write_network(model, *in.net, in.origin);
    weft::onnx::write_placed(out, std::move(model).str(), own, names, in.spec);
  }
}

} // namespace tool
