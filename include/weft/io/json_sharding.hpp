// SPDX-License-Identifier: BSL-1.0
/// Shardings as JSON, `"format": "weft.sharding"`, also in the words of runtimes; see docs/formats.md and docs/schema/.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/io/detail/json_document.hpp"
#include "weft/parallel/sharding.hpp"

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace weft::io {

/// The `PartitionSpec` of a parameter in JAX: per dimension the mesh axis that splits it, or `None`.
/// Source: JAX, jax.sharding.PartitionSpec.
inline std::string partition_spec(const parallel::sharded_parameter& x, const parallel::device_mesh& mesh) {
  std::string text;
  for (const auto axis : x.spec) {
    text += (text.empty() ? "" : ", ") + (axis == none ? "None" : "'" + mesh.axes[axis].name + "'");
  }
  return "PartitionSpec(" + text + ")";
}

/// The placements of a parameter as a DTensor of PyTorch: per axis of the mesh the dimension that it splits, or
/// `Replicate()`.
/// Source: PyTorch, torch.distributed.tensor.placement_types.
inline std::string dtensor_placements(const parallel::sharded_parameter& x, const parallel::device_mesh& mesh) {
  std::string text;
  for (std::uint32_t axis = 0; axis < mesh.axes.size(); ++axis) {
    const auto dimension = std::find(x.spec.begin(), x.spec.end(), axis);
    text += text.empty() ? "" : ", ";
    text += dimension == x.spec.end() ? "Replicate()" : "Shard(" + std::to_string(dimension - x.spec.begin()) + ")";
  }
  return "[" + text + "]";
}

/// Facts about a sharding that it does not have itself.
struct sharding_names {
  std::string model = {};
  std::string platform = {};
  std::vector<std::string> devices = {}; ///< of the platform
};

namespace detail {

/// Examples that a device does at once. Precondition: the batch is known.
inline std::uint64_t micro_batch_of(const parallel::sharding& s) {
  return s.batch / (s.replicas() * s.micro_batches);
}

/// Options of Megatron-LM; the size of data parallelism is what is left of the world.
/// Source: Megatron-LM, megatron/training/arguments.py; for parameters in parts, its guide to Megatron FSDP.
inline std::string megatron_options(const parallel::sharding& s) {
  std::string text = "--tensor-model-parallel-size " + std::to_string(s.size_of("tensor")) +
                     " --pipeline-model-parallel-size 1";
  if (s.batch != 0) {
    text += " --micro-batch-size " + std::to_string(micro_batch_of(s)) + " --global-batch-size " +
            std::to_string(s.batch);
  }
  if (s.size_of("context") > 1) {
    text += " --context-parallel-size " + std::to_string(s.size_of("context"));
  }
  if (s.has_owners()) {
    text += " --expert-model-parallel-size " + std::to_string(s.replicas());
  }
  text += s.zero_stage > 0 ? " --use-distributed-optimizer" : "";
  return text + (s.zero_stage == 3 ? " --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params" : "");
}

/// A configuration of DeepSpeed.
/// Source: DeepSpeed, docs/_pages/config-json.md, docs/_tutorials/autotp-training.md and deepspeed/runtime/config.py.
inline nlohmann::ordered_json deepspeed_config(const parallel::sharding& s) {
  nlohmann::ordered_json config = nlohmann::ordered_json::object();
  if (s.batch != 0) {
    config["train_batch_size"] = s.batch;
    config["train_micro_batch_size_per_gpu"] = micro_batch_of(s);
  }
  if (s.micro_batches > 1) {
    config["gradient_accumulation_steps"] = s.micro_batches;
  }
  config["zero_optimization"] = {{"stage", s.zero_stage}};
  if (const auto parts = s.size_of("tensor"); parts > 1) {
    config["tensor_parallel"] = {{"autotp_size", parts}};
  }
  if (const auto parts = s.size_of("context"); parts > 1) {
    config["sequence_parallel_size"] = parts;
  }
  return config;
}

/// The extents of a parameter's parts along the dimension that is split; bytes if its shape is not known.
inline std::vector<std::uint64_t> extents_of_parts(const parallel::sharded_parameter& x,
                                                   const parallel::device_mesh& mesh) {
  const auto at = std::find_if(x.spec.begin(), x.spec.end(), [](std::uint32_t a) { return a != none; });
  const auto dimension = static_cast<std::size_t>(at - x.spec.begin());
  std::vector<std::uint64_t> parts;
  for (std::uint32_t r = 0; at != x.spec.end() && r < mesh.axes[*at].size; ++r) {
    parts.push_back(x.part.of(x.shape ? (*x.shape)[dimension] : x.bytes, r));
  }
  return parts;
}

/// Options of `vllm serve`.
/// Source: vLLM, docs/serving/data_parallel_deployment.md and `vllm serve --help`.
inline std::string vllm_options(const parallel::sharding& s) {
  const auto replicas = s.replicas();
  return "--tensor-parallel-size " + std::to_string(s.size_of("tensor")) +
         (replicas > 1 ? " --data-parallel-size " + std::to_string(replicas) : "") +
         (s.size_of("context") > 1 ? " --prefill-context-parallel-size " + std::to_string(s.size_of("context")) : "") +
         (s.has_owners() ? " --enable-expert-parallel" : "");
}

} // namespace detail

/// Writes a sharding: the mesh, the parameters, and the same for JAX and PyTorch; options for Megatron-LM and DeepSpeed
/// if the model is trained, for vLLM if it is not, unless replicas differ in their examples or parts in their sizes.
/// JAX and PyTorch have no words for a parameter that one device has, nor for parts that are not equal. Throws
/// `value_error` for a mesh without axes or devices: that is no sharding. Complexity: linear in dimensions of
/// parameters.
inline void write_sharding_json(std::ostream& out, const parallel::sharding& s, const sharding_names& names) {
  using json = nlohmann::ordered_json;
  const auto& mesh = s.mesh;
  if (mesh.axes.empty() || mesh.devices.empty()) {
    throw value_error("write_sharding_json", "the mesh is empty: there are no devices that share tensors");
  }
  json axes = json::array(), axis_names = json::array(), shape = json::array(), devices = json::array();
  for (const auto& a : mesh.axes) {
    axes.push_back({{"name", a.name}, {"size", a.size}});
    axis_names.push_back(a.name);
    shape.push_back(a.size);
  }
  for (const device_id d : mesh.devices) {
    devices.push_back(d < names.devices.size() ? names.devices[d] : std::to_string(d));
  }
  const auto write = [&out](const char* key, const json& value) {
    out << ",\n  \"" << key << "\": " << detail::one_line(value);
  };
  const auto write_each = [&](const char* before, const char* after, bool all, const auto& text_of) {
    const char* separator = "\n";
    for (const auto& x : s.parameters) {
      if (all || (x.owner == none && !x.has_unequal_parts())) {
        out << separator << before << text_of(x);
        separator = ",\n";
      }
    }
    out << after;
  };
  out << "{\n  \"format\": \"weft.sharding\",\n  \"version\": 1";
  write("model", names.model);
  write("platform", names.platform);
  if (s.batch != 0) {
    write("batch", s.batch);
  }
  if (!s.examples.empty()) {
    write("examples", s.examples);
  }
  if (s.has_unequal_parts()) { // of more than a vocabulary
    write("unequal_parts", true);
  }
  write("zero_stage", s.zero_stage);
  write("mesh", {{"axes", axes}, {"devices", devices}});
  out << ",\n  \"parameters\": [";
  write_each("    ", "\n  ]", true, [&](const auto& x) {
    json spec = json::array();
    for (const auto axis : x.spec) {
      spec.push_back(axis == none ? json(nullptr) : json(mesh.axes[axis].name));
    }
    json entry{{"name", x.name},
               {"shape", x.shape ? json(*x.shape) : json(nullptr)},
               {"bytes", x.bytes},
               {"spec", std::move(spec)}};
    if (x.owner != none) {
      entry["owner"] = x.owner;
    }
    if (x.has_unequal_parts()) {
      entry["parts"] = detail::extents_of_parts(x, mesh);
    }
    return detail::one_line(entry);
  });
  const auto write_texts = [&](const auto& text_of) {
    write_each("      ", "\n    }\n  }", false, [&](const auto& x) {
      return detail::one_line(json(x.name)) + ": " + detail::one_line(json(text_of(x, mesh)));
    });
  };
  out << ",\n  \"jax\": {\n    \"mesh\": "
      << detail::one_line({{"axis_shapes", shape}, {"axis_names", axis_names}}) << ",\n    \"partition_specs\": {";
  write_texts(partition_spec);
  out << ",\n  \"pytorch\": {\n    \"device_mesh\": "
      << detail::one_line({{"mesh_shape", shape}, {"mesh_dim_names", axis_names}})
      << ",\n    \"placements\": {";
  write_texts(dtensor_placements);
  if (!s.examples.empty() || s.has_unequal_parts()) {
    out << "\n}\n"; // runtimes give all replicas as many, and all ranks parts of one size
    return;
  }
  if (s.trains) {
    write("megatron", {{"world_size", mesh.devices.size()}, {"arguments", detail::megatron_options(s)}});
    write("deepspeed", detail::deepspeed_config(s));
  } else {
    write("vllm", {{"arguments", detail::vllm_options(s)}});
  }
  out << "\n}\n";
}

} // namespace weft::io
