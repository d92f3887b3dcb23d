// SPDX-License-Identifier: BSL-1.0
/// A placement by layers in the words of runtimes: Hugging Face, vLLM, llama.cpp, DeepSpeed, Megatron and TensorFlow.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/ids.hpp"
#include "weft/io/text.hpp"
#include "weft/platform/kinds.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace weft::io {

/// On which device each layer of a model is, and what is around the layers.
struct layer_placement {
  /// A scope as in names of ops, such as `/model/layers.3`.
  struct placed_scope {
    std::string scope;
    device_id device = 0;
  };
  struct target {
    std::string name;
    device_kind kind = device_kind::gpu;
  };

  std::vector<placed_scope> layers = {};  ///< in their order; without scopes if the model's names do not tell them
  std::vector<placed_scope> outside = {}; ///< scopes that are in no layer
  device_id embedding = 0;                ///< of what comes before the layers
  device_id head = 0;                     ///< of what follows them
  std::vector<target> devices = {};       ///< of the platform
  std::uint32_t replicas = 1;             ///< that share the batch, each with devices of its own for its stages
  std::uint32_t tensor_ranks = 1;         ///< devices that share the ops of a stage
  std::uint64_t micro_batch = 0;          ///< samples that a stage takes at a time; 0: not known
  std::uint64_t batch = 0;                ///< samples of a step
};

/// A configuration that a runtime reads, and notes on it, a line each.
struct runtime_placement {
  std::string text;
  std::vector<std::string> notes = {};
};

/// The path of the module that a scope stands for: `model.layers.3` for `/model/layers.3`, and `layer1.0` for
/// `/layer1/layer1.0`, as torch.onnx repeats a container's name in its children's.
inline std::string module_path(std::string_view scope) {
  std::string path;
  std::string_view last;
  for (std::size_t begin = 0; begin <= scope.size();) {
    const auto end = std::min(scope.find('/', begin), scope.size());
    const auto part = scope.substr(begin, end - begin);
    if (!part.empty()) {
      if (!last.empty() && part.size() > last.size() && part.starts_with(last) && part[last.size()] == '.') {
        path.resize(path.size() - last.size());
      } else if (!path.empty()) {
        path += '.';
      }
      path += part;
      last = part;
    }
    begin = end + 1;
  }
  return path;
}

namespace detail {

inline std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const auto& word : words) {
    text += (text.empty() ? "" : std::string{between}) + word;
  }
  return text;
}

/// Consecutive parts of a model on one device.
struct pipeline_stage {
  device_id device = 0;
  std::uint32_t layers = 0;
  bool embedding = false;
  bool head = false;
};

/// A placement as pipelines see it.
class layer_pipeline {
public:
  layer_pipeline(const layer_placement& where, std::string_view runtime) : where_{where}, runtime_{runtime} {
    if (where.layers.empty() || where.layers.front().scope.empty()) {
      fail("the names of the model's ops do not tell its layers; a placement by cuts in the graph means nothing to it");
    }
    at(where.embedding).embedding = true;
    for (const auto& l : where.layers) {
      ++at(l.device).layers;
    }
    at(where.head).head = true;
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw error(runtime_ + " cannot have this placement: " + why);
  }

  const std::vector<pipeline_stage>& stages() const { return stages_; }

  /// Throws unless all layers are of one stack with consecutive numbers.
  void require_one_stack() const {
    std::string stack;
    for (std::uint32_t i = 0; i < where_.layers.size(); ++i) {
      const auto path = module_path(where_.layers[i].scope);
      const auto digit = path.find_last_of("0123456789");
      const auto before = digit == path.npos ? path.npos : path.find_last_not_of("0123456789", digit);
      const auto first = before == path.npos ? 0 : before + 1;
      const auto name = path.substr(0, digit == path.npos ? path.size() : first);
      if (i > 0 && name != stack) {
        fail("it has one stack of layers, and the model has " + in_quotes(stack) + " and " + in_quotes(name));
      }
      stack = name;
    }
  }

  /// Throws if something is on a CPU, or if a device has two runs of layers.
  void require_accelerators() const {
    std::vector<device_id> seen;
    for (const auto& s : stages_) {
      if (where_.devices[s.device].kind == device_kind::cpu) {
        fail("part of the model is on " + in_quotes(where_.devices[s.device].name) +
             ", and its stages are accelerators; name accelerators that suffice, or lower what the model needs");
      }
      if (std::find(seen.begin(), seen.end(), s.device) != seen.end()) {
        fail("device " + in_quotes(where_.devices[s.device].name) + " has two runs of layers");
      }
      seen.push_back(s.device);
    }
  }

  /// Throws if a stage has no layer.
  void require_layers() const {
    for (const auto& s : stages_) {
      if (s.layers == 0) {
        fail("what is " + std::string{s.embedding ? "before" : "after"} +
             " the layers is on a device of its own; it has to go with the " + (s.embedding ? "first" : "last") +
             " one");
      }
    }
  }

  /// Throws if the model is on several nodes.
  void require_one_node() const {
    const auto one = node_of(where_, where_.embedding);
    const auto check = [&](device_id d) {
      if (node_of(where_, d) != one) {
        fail("it is one process, which has the devices of one node, and the model is on " +
             in_quotes(where_.devices[where_.embedding].name) + " and " + in_quotes(where_.devices[d].name) +
             "; name devices of one node");
      }
    };
    for (const auto& s : stages_) {
      check(s.device);
    }
    for (const auto& s : where_.outside) {
      check(s.device);
    }
  }

  /// `CUDA_VISIBLE_DEVICES=1,0 ` where stages are not on the accelerators of their numbers; nothing if they are on
  /// several nodes, which `about_devices` tells then.
  std::string visible_devices() const {
    const auto nodes = stages_by_node();
    if (nodes.size() > 1) {
      return "";
    }
    std::vector<std::string> in_order;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      in_order.push_back(std::to_string(i));
    }
    return nodes.front().numbers == in_order ? "" : "CUDA_VISIBLE_DEVICES=" + joined(nodes.front().numbers, ",") + " ";
  }

  /// What the numbers of devices mean, and on which nodes the stages are if the platform has several.
  std::vector<std::string> about_devices() const {
    const auto other = std::find_if(where_.devices.begin(), where_.devices.end(), [&](const auto& d) {
      return node_of(d.name) != node_of(where_.devices.front().name);
    });
    if (other == where_.devices.end()) {
      return {"the numbers of GPUs are those of the platform's accelerators, in its order"};
    }
    std::vector<std::string> notes{
      "the numbers of GPUs are those of the accelerators of each node, in the platform's order"};
    const auto nodes = stages_by_node();
    if (nodes.size() == 1) {
      notes.push_back("all of it is on node " + in_quotes(nodes.front().name) + ": run it there");
      return notes;
    }
    std::vector<std::string> list;
    for (const auto& n : nodes) {
      list.push_back(in_quotes(n.name) + " with CUDA_VISIBLE_DEVICES=" + joined(n.numbers, ","));
    }
    notes.push_back("the stages are on several nodes: give ranks to them in this order, " + joined(list, ", then "));
    return notes;
  }

  /// The number of an accelerator among those of its node, or of a CPU among the CPUs there.
  static std::uint32_t number_of(const layer_placement& where, device_id d) {
    const bool cpu = where.devices[d].kind == device_kind::cpu;
    return static_cast<std::uint32_t>(
      std::count_if(where.devices.begin(), where.devices.begin() + d, [&](const auto& x) {
        return (x.kind == device_kind::cpu) == cpu && node_of(x.name) == node_of(where, d);
      }));
  }

  /// What a device's name has before its last `/`; empty for a machine of one node.
  static std::string_view node_of(std::string_view name) {
    const auto slash = name.rfind('/');
    return name.substr(0, slash == name.npos ? 0 : slash);
  }
  static std::string_view node_of(const layer_placement& where, device_id d) { return node_of(where.devices[d].name); }

private:
  struct node_stages {
    std::string_view name;
    std::vector<std::string> numbers = {}; ///< of the accelerators, a stage each
  };

  /// The stages of each node. Throws if those of a node do not follow each other, as ranks do.
  std::vector<node_stages> stages_by_node() const {
    std::vector<node_stages> nodes;
    for (const auto& s : stages_) {
      const auto node = node_of(where_, s.device);
      if (nodes.empty() || nodes.back().name != node) {
        if (std::any_of(nodes.begin(), nodes.end(), [&](const auto& n) { return n.name == node; })) {
          fail("the stages of node " + in_quotes(node) + " do not follow each other; name devices node by node");
        }
        nodes.push_back({.name = node});
      }
      nodes.back().numbers.push_back(std::to_string(number_of(where_, s.device)));
    }
    return nodes;
  }

  pipeline_stage& at(device_id d) {
    if (stages_.empty() || stages_.back().device != d) {
      stages_.push_back({.device = d});
    }
    return stages_.back();
  }

  const layer_placement& where_;
  std::string runtime_;
  std::vector<pipeline_stage> stages_;
};

} // namespace detail

/// `device_map` of Hugging Face's transformers and accelerate, as JSON: a module's path and the number of its GPU,
/// "cpu", or "disk" for a device of that name. Throws `error` if the model's names tell no layers or it is on several
/// nodes.
/// Source: accelerate 1.14, `dispatch_model`: a module's submodules go with it, and all parameters must be in some
/// module.
inline runtime_placement device_map(const layer_placement& where) {
  const detail::layer_pipeline pipeline{where, "a device_map"};
  pipeline.require_one_node();
  nlohmann::ordered_json map = nlohmann::ordered_json::object();
  bool of_modules = true;
  const auto add = [&](const layer_placement::placed_scope& s) {
    const auto& d = where.devices[s.device];
    auto& entry = map[module_path(s.scope)];
    if (d.kind == device_kind::cpu) {
      entry = d.name == "disk" ? "disk" : "cpu";
    } else {
      entry = detail::layer_pipeline::number_of(where, s.device);
    }
    of_modules = of_modules && s.scope.starts_with('/');
  };
  std::for_each(where.outside.begin(), where.outside.end(), add);
  std::for_each(where.layers.begin(), where.layers.end(), add);
  runtime_placement r{map.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n",
                      pipeline.about_devices()};
  if (!of_modules) {
    r.notes.emplace_back("the keys are the scopes of the model's ops; compare them with model.named_modules(), which "
                         "they are in exports of torch.onnx");
  }
  r.notes.emplace_back(
    "modules without an op in the graph, such as one whose weights are tied to another's, are not in "
    "the map: accelerate names those that are missing");
  return r;
}

/// A command that starts vLLM with `VLLM_PP_LAYER_PARTITION`: the layers of each pipeline stage. Throws `error` unless
/// there is one stack of layers and each stage is an accelerator with a layer.
/// Source: vLLM, vllm/distributed/utils.py, `get_pp_indices`: as many numbers as stages, and their sum the layers.
inline runtime_placement vllm_partition(const layer_placement& where) {
  const detail::layer_pipeline pipeline{where, "vLLM"};
  pipeline.require_one_stack();
  pipeline.require_accelerators();
  pipeline.require_layers();
  std::vector<std::string> counts;
  for (const auto& s : pipeline.stages()) {
    counts.push_back(std::to_string(s.layers));
  }
  runtime_placement r{
    pipeline.visible_devices() + "VLLM_PP_LAYER_PARTITION=" + detail::joined(counts, ",") +
      " vllm serve \"$MODEL\" --tensor-parallel-size " + std::to_string(where.tensor_ranks) +
      " --pipeline-parallel-size " + std::to_string(counts.size()) +
      (where.replicas > 1 ? " --data-parallel-size " + std::to_string(where.replicas) : "") + "\n",
    {"vLLM has the embedding on the first stage and the head on the last",
     "vLLM reserves memory for its key-value cache on all stages alike; the placement does not know that cache"}};
  std::ranges::copy(pipeline.about_devices(), std::back_inserter(r.notes));
  return r;
}

/// Options of llama.cpp's programs: how many layers go to GPUs, and in which proportion. Layers on the CPU that do not
/// come before all GPUs are given by the names of their tensors. Throws `error` unless there is one stack of layers on
/// one node and no GPU has two runs of them.
/// Source: llama.cpp, src/llama-model.cpp, `load_tensors`: of L layers and the output, the last `--n-gpu-layers` are on
/// GPUs; of these, number i is on the first GPU whose sum of `--tensor-split` up to it, over the sum of all, is above
/// i / count; the input is on the CPU. src/llama-model-loader.cpp: the first regular expression of `--override-tensor`
/// that a tensor's name contains says its buffer. common/arg.cpp: overrides are separated by commas.
inline runtime_placement llama_cpp_options(const layer_placement& where) {
  const detail::layer_pipeline pipeline{where, "llama.cpp"};
  pipeline.require_one_node();
  pipeline.require_one_stack();
  std::vector<device_id> items; // the layers and the output
  for (const auto& l : where.layers) {
    items.push_back(l.device);
  }
  items.push_back(where.head);
  const auto on_cpu = [&](device_id d) { return where.devices[d].kind == device_kind::cpu; };
  const auto number = [&](device_id d) { return detail::layer_pipeline::number_of(where, d); };
  const auto first = std::find_if_not(items.begin(), items.end(), on_cpu);
  runtime_placement r;
  r.text = "--n-gpu-layers " + std::to_string(items.end() - first);
  std::vector<std::pair<device_id, std::uint32_t>> gpus; // with the layers of each
  std::vector<std::string> back; // layers on the CPU after some on a GPU
  for (auto i = first; i != items.end(); ++i) {
    if (!on_cpu(*i) && (gpus.empty() || gpus.back().first != *i)) {
      if (std::any_of(gpus.begin(), gpus.end(), [&](const auto& g) { return g.first == *i; })) {
        pipeline.fail("device " + in_quotes(where.devices[*i].name) + " has two runs of layers");
      }
      gpus.emplace_back(*i, 0);
    }
    ++gpus.back().second;
    if (on_cpu(*i) && i + 1 != items.end()) {
      back.push_back(std::to_string(i - items.begin()));
    }
  }
  if (!gpus.empty()) {
    const bool ascending = std::is_sorted(gpus.begin(), gpus.end(), [&](const auto& a, const auto& b) {
      return number(a.first) < number(b.first);
    });
    std::vector<std::string> shares;
    std::vector<std::string> names;
    for (const auto& [d, layers] : gpus) {
      if (ascending) {
        shares.resize(number(d), "0");
      }
      shares.push_back(std::to_string(layers));
      names.push_back("CUDA" + std::to_string(number(d)));
    }
    r.text += " --split-mode layer --tensor-split " + detail::joined(shares, ",");
    if (!ascending) {
      r.text += " --device " + detail::joined(names, ",");
      r.notes.emplace_back("--device has the names of the CUDA backend; --list-devices tells those of others");
    }
    std::vector<std::string> overrides;
    if (!back.empty()) {
      overrides.push_back("^blk\\.(" + detail::joined(back, "|") + ")\\.=CPU");
    }
    if (on_cpu(where.head)) {
      overrides.emplace_back("^output(_norm)?\\.=CPU");
    }
    if (!overrides.empty()) {
      r.text += " --override-tensor '" + detail::joined(overrides, ",") + "'";
      r.notes.emplace_back(
        "weights that are on the CPU after layers on a GPU are there by their names; their key-value "
        "cache stays on that GPU");
    }
    if (!on_cpu(where.embedding)) {
      r.notes.emplace_back("llama.cpp keeps the embedding on the CPU, wherever it is placed");
    }
  }
  r.text += "\n";
  r.notes.emplace_back("the split is by proportion: it is exact for a model with " +
                       std::to_string(where.layers.size()) + " layers, as this one has");
  std::ranges::copy(pipeline.about_devices(), std::back_inserter(r.notes));
  return r;
}

/// A Python module with a DeepSpeed `PipelineModule` whose stages are these. Its layers are to be a list of what is
/// before the layers, each layer, and what follows. Throws `error` unless each stage is an accelerator.
/// Source: DeepSpeed, deepspeed/runtime/pipe/module.py: `partition_method` knows uniform, parameters and type:…, and
/// no explicit list; `_partition_layers` sets `parts`, where stage s has layers parts[s] … parts[s + 1] - 1.
inline runtime_placement deepspeed_module(const layer_placement& where) {
  const detail::layer_pipeline pipeline{where, "DeepSpeed"};
  pipeline.require_accelerators();
  std::vector<std::string> parts{"0"};
  std::uint32_t end = 0;
  for (const auto& s : pipeline.stages()) {
    end += s.layers + (s.embedding ? 1 : 0) + (s.head ? 1 : 0);
    parts.push_back(std::to_string(end));
  }
  std::string names = "    # 0: what is before the layers\n";
  for (std::size_t i = 0; i < where.layers.size(); ++i) {
    names += "    # " + std::to_string(i + 1) + ": " + on_one_line(module_path(where.layers[i].scope)) + "\n";
  }
  names += "    # " + std::to_string(where.layers.size() + 1) + ": what follows the layers\n";
  const auto visible = pipeline.visible_devices();
  runtime_placement r{
    "from deepspeed.pipe import PipelineModule\n\n\n"
    "class PlacedPipelineModule(PipelineModule):\n"
    "    \"\"\"A pipeline with num_stages=" +
      std::to_string(pipeline.stages().size()) + " of " + std::to_string(end) + " layers.\"\"\"\n\n" + names +
      "    PARTS = [" + detail::joined(parts, ", ") +
      "]\n\n"
      "    def _partition_layers(self, method=\"uniform\"):\n"
      "        stages = self._topo.get_dim(\"pipe\")\n"
      "        if len(self._layer_specs) != self.PARTS[-1] or stages != len(self.PARTS) - 1:\n"
      "            raise ValueError(f\"{len(self._layer_specs)} layers in {stages} stages; the placement has \"\n"
      "                             f\"{self.PARTS[-1]} in {len(self.PARTS) - 1}\")\n"
      "        self.parts = list(self.PARTS)\n"
      "        stage = self._topo.get_coord(self.global_rank).pipe\n"
      "        self._set_bounds(start=self.parts[stage], stop=self.parts[stage + 1])\n",
    {"DeepSpeed takes no list of stages: the class in the file overrides a function of PipelineModule "
     "that is not part of its interface"}};
  std::ranges::copy(pipeline.about_devices(), std::back_inserter(r.notes));
  if (!visible.empty()) {
    r.notes.push_back("stages are not on GPUs of their numbers: start with " + visible);
  }
  if (where.micro_batch > 0) {
    r.notes.push_back("DeepSpeed's configuration: \"train_micro_batch_size_per_gpu\": " +
                      std::to_string(where.micro_batch) + ", \"gradient_accumulation_steps\": " +
                      std::to_string(where.batch / (where.micro_batch * where.replicas)));
  }
  return r;
}

/// Options of Megatron-LM that say which layers each pipeline stage has. Throws `error` unless there is one stack of
/// layers and each stage is an accelerator.
/// Source: Megatron-LM, megatron/core/transformer/pipeline_parallel_layer_layout.py: stages are separated by `|`; `E`
/// is the embedding, `t` a layer, `L` the loss, `t*3` three layers.
inline runtime_placement megatron_options(const layer_placement& where) {
  const detail::layer_pipeline pipeline{where, "Megatron"};
  pipeline.require_one_stack();
  pipeline.require_accelerators();
  const auto& stages = pipeline.stages();
  std::vector<std::string> layout;
  for (const auto& s : stages) {
    layout.push_back((s.embedding ? "E" : "") +
                     (s.layers > 1 ? "t*" + std::to_string(s.layers) : std::string(s.layers, 't')) +
                     (s.head ? "L" : ""));
  }
  runtime_placement r{"--num-layers " + std::to_string(where.layers.size()) + " --pipeline-model-parallel-size " +
                        std::to_string(stages.size()),
                      pipeline.about_devices()};
  if (stages.size() > 1) {
    r.text += " --pipeline-model-parallel-layout '" + detail::joined(layout, "|") + "'";
    const bool middle_alike = std::all_of(stages.begin() + 1, stages.end() - 1,
                                          [&](const auto& s) { return s.layers == stages[1].layers; });
    if (middle_alike && stages.front().layers > 0 && stages.back().layers > 0) {
      r.notes.push_back("versions without --pipeline-model-parallel-layout take --decoder-first-pipeline-num-layers " +
                        std::to_string(stages.front().layers) + " --decoder-last-pipeline-num-layers " +
                        std::to_string(stages.back().layers) + " instead");
    } else {
      r.notes.emplace_back(
        "versions without --pipeline-model-parallel-layout cannot have this placement: all stages but "
        "the first and the last have equally many layers there");
    }
  }
  if (where.tensor_ranks > 1) {
    r.text += " --tensor-model-parallel-size " + std::to_string(where.tensor_ranks);
  }
  if (where.micro_batch > 0) {
    r.text += " --micro-batch-size " + std::to_string(where.micro_batch) + " --global-batch-size " +
              std::to_string(where.batch);
  }
  r.text += "\n";
  if (const auto visible = pipeline.visible_devices(); !visible.empty()) {
    r.notes.push_back("stages are not on GPUs of their numbers: start with " + visible);
  }
  return r;
}

/// The device of each name scope of a TensorFlow graph, as JSON; under the empty name that of all other ops, which is
/// where the embedding is. Throws `error` if the model's names tell no layers or it is on several nodes.
/// Source: TensorFlow 2.16, `tf.compat.v1.device`, which takes a function of the op.
inline runtime_placement tensorflow_scopes(const layer_placement& where) {
  const detail::layer_pipeline pipeline{where, "a map of TensorFlow's scopes"};
  pipeline.require_one_node();
  const auto name_of = [&](device_id d) {
    const auto kind = where.devices[d].kind;
    const auto node = pipeline.node_of(where, d);
    const auto number = std::count_if(where.devices.begin(), where.devices.begin() + d, [&](const auto& x) {
      return x.kind == kind && pipeline.node_of(x.name) == node;
    });
    return "/device:" + upper(to_string(kind)) + ":" + std::to_string(number);
  };
  nlohmann::ordered_json map = nlohmann::ordered_json::object();
  const auto add = [&](const layer_placement::placed_scope& s) {
    map[s.scope.substr(std::min(s.scope.find_first_not_of('/'), s.scope.size()))] = name_of(s.device);
  };
  map[""] = name_of(where.embedding);
  std::for_each(where.outside.begin(), where.outside.end(), add);
  std::for_each(where.layers.begin(), where.layers.end(), add);
  runtime_placement r{
    map.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n",
    {"gradients are not in the map: make them with colocate_gradients_with_ops, or look their forward op's scope up"}};
  std::ranges::copy(pipeline.about_devices(), std::back_inserter(r.notes));
  return r;
}

/// A runtime that placements can be written for.
struct runtime_format {
  std::string_view name;
  std::string_view what;
  runtime_placement (*write)(const layer_placement&);
  bool ends_with_layers; ///< whether each stage must have a layer
};

inline constexpr std::array<runtime_format, 6> runtime_formats{{
  {"device_map", "JSON for Hugging Face's device_map", device_map, false},
  {"vllm", "a command with VLLM_PP_LAYER_PARTITION", vllm_partition, true},
  {"llama.cpp", "options of llama.cpp's programs", llama_cpp_options, false},
  {"deepspeed", "a Python module with a PipelineModule", deepspeed_module, false},
  {"megatron", "options of Megatron-LM", megatron_options, false},
  {"tensorflow", "JSON with the device of each scope", tensorflow_scopes, false},
}};

} // namespace weft::io
