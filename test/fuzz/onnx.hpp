// SPDX-License-Identifier: BSL-1.0
/// Any bytes as an ONNX model: returns if they are read or refused as they should be, see readers.hpp.
#pragma once

#include "fuzz/expect.hpp"
#include "weft/interop/onnx.hpp"

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace weft::test::fuzz {

/// A model that is read has a placement that can be written into it and reads back as the same graph, and is cut by one
/// into models; one that is not read is refused in one line.
inline void onnx(std::string_view bytes) {
  const weft::onnx::reader read{.batch = 2};
  static_cast<void>(read.recognises(bytes));
  refused_in_one_line([&] {
    const auto m = checked(read.read(bytes, "<bytes>"));
    expect(read.recognises(bytes), "a model is read but not recognised");
    placement p(m.ops.num_ops());
    for (std::size_t v = 0; v < p.size(); ++v) {
      p[v] = v % 3 == 2 ? none : static_cast<device_id>(v % 2);
    }
    std::ostringstream out;
    weft::onnx::write_placed(out, bytes, p, std::vector<std::string>{"gpu0", "gpu1"});
    const auto copy = read.read(out.str(), "<copy>");
    expect(copy.ops.num_ops() == m.ops.num_ops() && copy.ops.num_edges() == m.ops.num_edges() && copy.notes == m.notes,
           "a placed model does not read back as the same graph");
    for (const op_id v : ids(m.ops.num_ops())) {
      expect(copy.ops.work(v) == m.ops.work(v) && copy.ops.resident_bytes(v) == m.ops.resident_bytes(v),
             "a placed model does not read back with the same costs");
    }
    for (std::size_t v = 0; v < p.size(); ++v) {
      p[v] = static_cast<device_id>(v % 2);
    }
    const weft::onnx::split_model cut{bytes, p};
    const std::vector<std::string> devices{"gpu0", "gpu1"};
    std::vector<std::string> files;
    std::size_t nodes = 0;
    for (const std::uint32_t k : ids(cut.stages().size())) {
      ::onnx::ModelProto piece;
      expect(piece.ParseFromString(cut.piece(k, devices, "a/")) && piece.ParseFromString(cut.piece(k, devices)),
             "a piece of a model is no model");
      nodes += cut.stages()[k].ops.size();
      expect(static_cast<std::size_t>(piece.graph().node_size()) ==
               cut.stages()[k].ops.size() + cut.stages()[k].copies.size(),
             "a piece has other nodes than its stage");
      files.push_back("stage");
    }
    expect(nodes <= p.size(), "a node is in two stages");
    std::ostringstream manifest;
    weft::onnx::write_manifest(manifest, cut, {.devices = devices, .files = files});
    expect(nlohmann::json::accept(manifest.str()), "a manifest is no JSON");
  });
}

} // namespace weft::test::fuzz
