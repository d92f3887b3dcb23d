// SPDX-License-Identifier: BSL-1.0
/// Says in JSON how the stages of a model that was cut belong together, `"format": "weft.split"`.
#pragma once

#include "weft/interop/onnx/split.hpp"
#include "weft/plan/trace.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace weft::onnx {

/// Options of a manifest: its content beside the cut itself.
struct manifest_options {
  std::string model = "model.onnx";          ///< name of the file
  std::string sha256 = {};                   ///< of its bytes, if they were digested
  std::span<const std::string> devices = {}; ///< names, by number
  std::span<const std::string> files = {};   ///< of the stages, relative to the manifest
  const trace* run = nullptr;                ///< of the plan, for the expected times; null: none are told
};

/// Writes the manifest: the stages in the order in which they can run, what each reads and who makes it, what it makes
/// and who reads that, and which parameters several of them hold. Inputs with a
/// default, which need not be given, are not told. docs/split.md describes it, and a schema is in
/// docs/schema. Preconditions: a name for each device that is used, and a file for each stage; the run has a record for
/// each node. Complexity: O(size of the output).
inline void write_manifest(std::ostream& out, const split_model& cut, const manifest_options& about) {
  using json = nlohmann::ordered_json;
  const auto& tensors = cut.tensors();
  const auto listed = [](const auto& list, const auto& text) {
    json all = json::array();
    for (const auto& x : list) {
      if (auto entry = text(x); !entry.is_null()) {
        all.push_back(std::move(entry));
      }
    }
    return all;
  };
  const auto maker = [](std::uint32_t stage) { return stage == none ? json(nullptr) : json(stage); };
  json root{{"format", "weft.split"}, {"version", 1}, {"model", {{"name", about.model}}}};
  if (!about.sha256.empty()) {
    root["model"]["sha256"] = about.sha256;
  }
  root["inputs"] = listed(tensors, [](const split_tensor& t) {
    return t.from == none && !t.has_default ? json{{"name", t.name}, {"bytes", t.bytes}} : json(nullptr);
  });
  root["outputs"] = listed(cut.outputs(), [&](std::uint32_t t) {
    return json{{"name", tensors[t].name}, {"stage", maker(tensors[t].from)}};
  });
  json stages = json::array();
  for (std::size_t k = 0; k < cut.stages().size(); ++k) {
    const auto& s = cut.stages()[k];
    json stage{{"file", about.files[k]},
               {"device", about.devices[s.device]},
               {"nodes", s.ops.size()},
               {"copied_nodes", s.copies.size()},
               {"parameter_bytes", s.parameter_bytes}};
    if (about.run != nullptr && !s.ops.empty()) {
      double busy = 0;
      double start = std::numeric_limits<double>::infinity();
      double finish = 0;
      for (const op_id v : s.ops) {
        const auto& r = about.run->ops[v];
        busy += r.finish - r.start;
        start = std::min(start, r.start);
        finish = std::max(finish, r.finish);
      }
      stage["seconds"] = busy;
      stage["start"] = start;
      stage["finish"] = finish;
    }
    stage["inputs"] = listed(s.inputs, [&](std::uint32_t i) {
      const auto& t = tensors[i];
      return t.has_default ? json(nullptr) : json{{"name", t.name}, {"from", maker(t.from)}, {"bytes", t.bytes}};
    });
    std::set<std::uint32_t> fed;
    stage["outputs"] = listed(s.outputs, [&](std::uint32_t i) {
      const auto& t = tensors[i];
      fed.insert(t.to.begin(), t.to.end());
      return json{{"name", t.name}, {"to", t.to}, {"bytes", t.bytes}};
    });
    stage["feeds"] = fed;
    stages.push_back(std::move(stage));
  }
  root["stages"] = std::move(stages);
  root["shared_parameters"] = listed(cut.shared(), [](const shared_parameter& x) {
    return json{{"name", x.name}, {"bytes", x.bytes}, {"stages", x.stages}};
  });
  root["notes"] = cut.notes();
  out << root.dump(1, ' ', false, json::error_handler_t::replace) << '\n';
}

} // namespace weft::onnx
