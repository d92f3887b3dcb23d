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

/// True for groups of replicas that hold all parameters together.
inline bool has_groups(const parallel::sharding& s) {
  return s.zero_stage == 3 && s.size_of("data") > 1 && s.size_of("data_shard") > 1;
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
  text += s.zero_stage == 3 ? " --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params" : "";
  return text + (has_groups(s) ? " --num-distributed-optimizer-instances " + std::to_string(s.size_of("data")) +
                                   " --outer-dp-sharding-strategy no_shard"
                               : "");
}

/// A configuration of DeepSpeed.
/// Source: DeepSpeed, docs/_pages/config-json.md, docs/_tutorials/autotp-training.md and deepspeed/runtime/config.py;
/// for groups, MiCS: deepspeed/runtime/zero/config.py.
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
  if (has_groups(s)) {
    config["zero_optimization"]["mics_shard_size"] = s.size_of("data_shard");
  }
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

/// Writes the file, key by key.
class sharding_writer {
public:
  using json = nlohmann::ordered_json;

  sharding_writer(std::ostream& out, const parallel::sharding& s, const sharding_names& names)
      : out_{out}, s_{s}, names_{names} {
    for (const auto& a : s.mesh.axes) {
      axis_names_.push_back(a.name);
      shape_.push_back(a.size);
    }
  }

  void write() {
    out_ << "{\n  \"format\": \"weft.sharding\",\n  \"version\": 1";
    write_facts();
    write_parameters();
    write_words();
    if (s_.examples.empty() && !s_.has_unequal_parts()) { // runtimes give all as many, and parts of one size
      write_options();
    }
    out_ << "\n}\n";
  }

private:
  void write(const char* key, const json& value) { out_ << ",\n  \"" << key << "\": " << one_line(value); }

  void write_facts() {
    write("model", names_.model);
    write("platform", names_.platform);
    if (s_.batch != 0) {
      write("batch", s_.batch);
    }
    if (!s_.examples.empty()) {
      write("examples", s_.examples);
    }
    if (s_.has_unequal_parts()) { // of more than a vocabulary
      write("unequal_parts", true);
    }
    write("zero_stage", s_.zero_stage);
    json axes = json::array(), devices = json::array();
    for (const auto& a : s_.mesh.axes) {
      axes.push_back({{"name", a.name}, {"size", a.size}});
    }
    for (const device_id d : s_.mesh.devices) {
      devices.push_back(d < names_.devices.size() ? names_.devices[d] : std::to_string(d));
    }
    write("mesh", {{"axes", axes}, {"devices", devices}});
  }

  void write_parameters() {
    out_ << ",\n  \"parameters\": [";
    const char* separator = "\n    ";
    for (const auto& x : s_.parameters) {
      json spec = json::array();
      for (const auto axis : x.spec) {
        spec.push_back(axis == none ? json(nullptr) : json(s_.mesh.axes[axis].name));
      }
      json entry{{"name", x.name},
                 {"shape", x.shape ? json(*x.shape) : json(nullptr)},
                 {"bytes", x.bytes},
                 {"spec", std::move(spec)}};
      if (x.owner != none) {
        entry["owner"] = x.owner;
      }
      if (x.has_unequal_parts()) {
        entry["parts"] = extents_of_parts(x, s_.mesh);
      }
      out_ << separator << one_line(entry);
      separator = ",\n    ";
    }
    out_ << "\n  ]";
  }

  /// The same in the words of JAX and PyTorch.
  void write_words() {
    out_ << ",\n  \"jax\": {\n    \"mesh\": " << one_line({{"axis_shapes", shape_}, {"axis_names", axis_names_}})
         << ",\n    \"partition_specs\": {";
    write_texts(partition_spec);
    out_ << ",\n  \"pytorch\": {\n    \"device_mesh\": "
         << one_line({{"mesh_shape", shape_}, {"mesh_dim_names", axis_names_}}) << ",\n    \"placements\": {";
    write_texts(dtensor_placements);
  }

  template <class TextOf>
  void write_texts(const TextOf& text_of) {
    const char* separator = "\n      ";
    for (const auto& x : s_.parameters) {
      if (x.owner == none && !x.has_unequal_parts()) {
        out_ << separator << one_line(json(x.name)) << ": " << one_line(json(text_of(x, s_.mesh)));
        separator = ",\n      ";
      }
    }
    out_ << "\n    }\n  }";
  }

  void write_options() {
    if (s_.trains) {
      write("megatron", {{"world_size", s_.mesh.devices.size()}, {"arguments", megatron_options(s_)}});
      write("deepspeed", deepspeed_config(s_));
    } else {
      write("vllm", {{"arguments", vllm_options(s_)}});
    }
  }

  std::ostream& out_;
  const parallel::sharding& s_;
  const sharding_names& names_;
  json axis_names_ = json::array(), shape_ = json::array();
};

} // namespace detail

/// Writes a sharding: the mesh, the parameters, and the same for JAX and PyTorch; options for Megatron-LM and DeepSpeed
/// if the model is trained, for vLLM if it is not, unless replicas differ in their examples or parts in their sizes.
/// JAX and PyTorch have no words for a parameter that one device has, nor for parts that are not equal. Throws
/// `value_error` for a mesh without axes or devices: that is no sharding. Complexity: linear in dimensions of
/// parameters.
inline void write_sharding_json(std::ostream& out, const parallel::sharding& s, const sharding_names& names) {
  if (s.mesh.axes.empty() || s.mesh.devices.empty()) {
    throw value_error("write_sharding_json", "the mesh is empty: there are no devices that share tensors");
  }
  detail::sharding_writer{out, s, names}.write();
}

} // namespace weft::io
