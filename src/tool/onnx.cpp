// SPDX-License-Identifier: BSL-1.0
#include "formats.hpp"

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
#include <utility>

namespace tool {
namespace {

weft::onnx::reader onnx_reader(const model_options& o) {
  return {.batch = o.batch, .dimensions = o.dimensions, .trips = o.trips};
}

/// Of the nodes of the file.
weft::placement own_part(const placed_input& p) {
  return {p.where.begin(), p.where.begin() + static_cast<std::ptrdiff_t>(p.in.num_own_ops)};
}

std::vector<std::string> names_of(const weft::platform<>& devices) {
  std::vector<std::string> names;
  for (const weft::device_id d : weft::ids(devices.num_devices())) {
    names.emplace_back(devices.name(d).empty() ? "device" + std::to_string(d) : devices.name(d));
  }
  return names;
}

/// The path from a folder to the weights that are not in the file; empty if there are none or it is their folder.
std::string way_to_data(const std::string& folder, const weft::onnx::parsed_model& m) {
  namespace fs = std::filesystem;
  if (!weft::onnx::has_external_data(m.bytes())) {
    return {};
  }
  const auto model = fs::absolute(m.file()).parent_path();
  const auto way = fs::weakly_canonical(model).lexically_relative(fs::weakly_canonical(folder));
  if (way.empty() || *way.begin() == "..") {
    throw weft::error(
      fmt::format("--split {}: '{}' has weights in other files, and ONNX lets a model name files of its own "
                  "folder only: split into {} or a folder around it",
                  folder, m.file(), model.string()));
  }
  return way == "." ? std::string{} : way.generic_string() + '/';
}

std::vector<std::string> write_split(const std::string& folder, const weft::onnx::parsed_model& m,
                                     const placed_input& p, const weft::trace& run) {
  const auto names = names_of(p.devices);
  const auto prefix = way_to_data(folder, m);
  const weft::onnx::split_model cut{m, own_part(p), onnx_reader(p.options)};
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
    weft::onnx::write_manifest(out, cut, {.model = p.in.name,
                                          .sha256 = weft::io::sha256(m.bytes()),
                                          .devices = names,
                                          .files = files,
                                          .run = &run});
  });
  return files;
}

loaded_model parse_onnx(std::string_view bytes, const std::string& file) {
  const auto m = std::make_shared<const weft::onnx::parsed_model>(bytes, file);
  return {.read = [m](const model_options& o) { return m->read(onnx_reader(o)); },
          .write_placed =
            [m](std::ostream& out, const placed_input& p) {
              weft::onnx::write_placed(out, m->bytes(), own_part(p), names_of(p.devices), m->file());
              return std::vector<std::string>{};
            },
          .check_split = [m](const std::string& folder) { (void)way_to_data(folder, *m); },
          .write_split = [m](const std::string& folder, const placed_input& p,
                             const weft::trace& run) { return write_split(folder, *m, p, run); }};
}

void write_onnx(std::ostream& out, std::string_view, const placed_input& p) {
  std::ostringstream model;
  weft::onnx::write_network(model, *p.in.net, p.in.origin);
  weft::onnx::write_placed(out, std::move(model).str(), own_part(p), names_of(p.devices), p.in.spec);
}

} // namespace

file_format onnx_format() {
  return {.component = "onnx",
          .kinds = {{"ONNX", "ONNX models", {"--batch", "--dim", "--trips", "--trips NAME=N"}, {".onnx"}}},
          .recognises = [](std::string_view bytes) { return weft::onnx::reader{}.recognises(bytes); },
          .parse = parse_onnx,
          .networks_as = {".onnx"},
          .write_network = write_onnx};
}

} // namespace tool
