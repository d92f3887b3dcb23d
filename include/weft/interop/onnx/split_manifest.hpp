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
  const auto maker = [](std::uint32_t stage) { return stage == none ? json(nullptr) : json(stage); };
  json root{{"format", "weft.split"}, {"version", 1}, {"model", {{"name", about.model}}}};
  if (!about.sha256.empty()) {
    root["model"]["sha256"] = about.sha256;
  }
  json inputs = json::array();
  for (const auto& t : tensors) {
    if (t.from == none && !t.has_default) {
      inputs.push_back({{"name", t.name}, {"bytes", t.bytes}});
    }
  }
  root["inputs"] = std::move(inputs);
  json outputs = json::array();
  for (const std::uint32_t t : cut.outputs()) {
    outputs.push_back({{"name", tensors[t].name}, {"stage", maker(tensors[t].from)}});
  }
  root["outputs"] = std::move(outputs);
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
    json reads = json::array();
    for (const std::uint32_t t : s.inputs) {
      if (!tensors[t].has_default) {
        reads.push_back({{"name", tensors[t].name}, {"from", maker(tensors[t].from)}, {"bytes", tensors[t].bytes}});
      }
    }
    stage["inputs"] = std::move(reads);
    json makes = json::array();
    std::set<std::uint32_t> fed;
    for (const std::uint32_t t : s.outputs) {
      makes.push_back({{"name", tensors[t].name}, {"to", tensors[t].to}, {"bytes", tensors[t].bytes}});
      fed.insert(tensors[t].to.begin(), tensors[t].to.end());
    }
    stage["outputs"] = std::move(makes);
    stage["feeds"] = fed;
    stages.push_back(std::move(stage));
  }
  root["stages"] = std::move(stages);
  json shared = json::array();
  for (const auto& x : cut.shared()) {
    shared.push_back({{"name", x.name}, {"bytes", x.bytes}, {"stages", x.stages}});
  }
  root["shared_parameters"] = std::move(shared);
  root["notes"] = cut.notes();
  out << root.dump(1, ' ', false, json::error_handler_t::replace) << '\n';
}

} // namespace weft::onnx
