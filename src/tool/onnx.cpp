// SPDX-License-Identifier: BSL-1.0
#include "foreign_models.hpp"

#include "weft/core/error.hpp"
#include "weft/interop/onnx.hpp"
#include "weft/io/files.hpp"
#include "weft/io/sha256.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace tool {
namespace {

weft::onnx::reader reader_of(const model_options& o) { return {.batch = o.batch, .dimensions = o.dimensions}; }

/// Of the nodes of the file.
weft::placement own_part(const input& in, const weft::placement& where) {
  return {where.begin(), where.begin() + static_cast<std::ptrdiff_t>(in.num_own_ops)};
}

std::vector<std::string> names_of(const weft::platform<>& devices) {
  std::vector<std::string> names;
  for (const weft::device_id d : weft::ids(devices.num_devices())) {
    names.emplace_back(devices.name(d).empty() ? "device" + std::to_string(d) : devices.name(d));
  }
  return names;
}

} // namespace

foreign_reader onnx_reader(const model_options& o) { return foreign_reader{reader_of(o)}; }

void write_onnx(std::ostream& out, const input& in, const weft::placement& where, const weft::platform<>& devices) {
  const auto own = own_part(in, where);
  const auto names = names_of(devices);
  if (in.from == input::source::onnx) {
    weft::onnx::write_placed(out, in.bytes, own, names, in.spec);
  } else {
    std::ostringstream model;
    weft::onnx::write_network(model, *in.net, in.origin);
    weft::onnx::write_placed(out, std::move(model).str(), own, names, in.spec);
  }
}

std::string way_to_data(const std::string& folder, const input& in) {
  namespace fs = std::filesystem;
  if (!weft::onnx::has_external_data(in.bytes)) {
    return {};
  }
  const auto model = fs::absolute(in.spec).parent_path();
  const auto way = fs::weakly_canonical(model).lexically_relative(fs::weakly_canonical(folder));
  if (way.empty() || *way.begin() == "..") {
    throw weft::error(
      fmt::format("--split {}: '{}' has weights in other files, and ONNX lets a model name files of its own "
                  "folder only: split into {} or a folder around it",
                  folder, in.spec, model.string()));
  }
  return way == "." ? std::string{} : way.generic_string() + '/';
}

std::vector<std::string> write_onnx_split(const std::string& folder, const input& in, const model_options& o,
                                          const weft::placement& where, const weft::platform<>& devices,
                                          const weft::trace& run) {
  const auto names = names_of(devices);
  const auto prefix = way_to_data(folder, in);
  const weft::onnx::split_model cut{in.bytes, own_part(in, where), reader_of(o), in.spec};
  const auto digits = std::max<std::size_t>(2, std::to_string(cut.stages().size() - 1).size());
  std::vector<std::string> files;
  for (const std::uint32_t k : weft::ids(cut.stages().size())) {
    files.push_back(fmt::format("stage_{:0{}}.onnx", k, digits));
    const auto piece = cut.piece(k, names, prefix);
    weft::io::write_file(std::filesystem::path{folder} / files.back(), [&](std::ostream& out) {
      out.write(piece.data(), static_cast<std::streamsize>(piece.size()));
    });
  }
  weft::io::write_file(std::filesystem::path{folder} / "manifest.json", [&](std::ostream& out) {
    weft::onnx::write_manifest(out, cut, {.model = in.name,
                                          .sha256 = weft::io::sha256(in.bytes),
                                          .devices = names,
                                          .files = files,
                                          .run = &run});
  });
  return files;
}

} // namespace tool
