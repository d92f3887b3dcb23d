// SPDX-License-Identifier: BSL-1.0
// Each format is read back by a reader of its own, which follows what the runtime does with it.
#include "weft/io/runtime_placement.hpp"

#include "support/rounds.hpp"
#include "weft/core/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <regex>
#include <string>
#include <vector>

namespace io_runtime_placement_test {

using namespace weft;

/// Runs of parts of a model with `layers` layers on GPUs; part 0 is the embedding, the last one the head. Device 0 is a
/// CPU, and GPU k is device k + 1.
io::layer_placement placed(const std::vector<device_id>& parts, const std::string& stack = "/model/layers.") {
  io::layer_placement where;
  where.devices.push_back({"cpu0", device_kind::cpu});
  for (int k = 0; k < 4; ++k) {
    where.devices.push_back({"gpu" + std::to_string(k), device_kind::gpu});
  }
  where.embedding = parts.front();
  where.head = parts.back();
  for (std::size_t i = 1; i + 1 < parts.size(); ++i) {
    where.layers.push_back({stack + std::to_string(i - 1), parts[i]});
  }
  where.outside = {{"/model/embed_tokens", parts.front()}, {"/model/norm", parts.back()}, {"/lm_head", parts.back()}};
  return where;
}

/// Parts on the devices of a random order of GPUs, with a CPU before or after them if asked for.
std::vector<device_id> drawn(rng& random, bool ends_with_layers, bool cpu) {
  std::vector<device_id> order{1, 2, 3, 4};
  for (std::size_t i = order.size(); i-- > 1;) {
    std::swap(order[i], order[random.below(i + 1)]);
  }
  order.resize(1 + random.below(4));
  if (cpu) {
    const auto at = random.below(3);
    if (at < 2) {
      order.insert(at == 0 ? order.begin() : order.end(), 0);
    }
  }
  std::vector<device_id> parts;
  for (const device_id d : order) {
    parts.insert(parts.end(), 1 + random.below(9), d);
  }
  if (ends_with_layers) {
    parts.insert(parts.begin(), parts.front());
    parts.insert(parts.end(), parts.back());
  }
  while (parts.size() < 4) {
    parts.push_back(parts.back());
  }
  return parts;
}

std::string word_after(const std::string& text, const std::string& option) {
  const auto at = text.find(option);
  if (at == text.npos) {
    return {};
  }
  auto begin = at + option.size();
  begin += text[begin] == ' ' ? 1u : 0u;
  const bool quoted = text[begin] == '\'';
  return quoted ? text.substr(begin + 1, text.find('\'', begin + 1) - begin - 1)
                : text.substr(begin, text.find_first_of(" \n", begin) - begin);
}

std::vector<std::uint32_t> numbers(const std::string& text) {
  std::vector<std::uint32_t> found;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    found.push_back(static_cast<std::uint32_t>(std::stoul(text.substr(begin, end - begin))));
    begin = end + 1;
  }
  return found;
}

/// Device k + 1 for GPU k of those that the command makes visible.
std::vector<device_id> visible(const std::string& text, std::size_t stages) {
  std::vector<device_id> devices;
  for (const auto k : numbers(word_after(text, "CUDA_VISIBLE_DEVICES="))) {
    devices.push_back(k + 1);
  }
  for (device_id k = 0; devices.size() < stages && word_after(text, "CUDA_VISIBLE_DEVICES=").empty(); ++k) {
    devices.push_back(k + 1);
  }
  return devices;
}

TEST_CASE("runtime_placement: paths of modules") {
  CHECK(io::module_path("/model/layers.3") == "model.layers.3");
  CHECK(io::module_path("/model/model/layers.3") == "model.model.layers.3");
  CHECK(io::module_path("/layer1/layer1.0") == "layer1.0");
  CHECK(io::module_path("/layer1/layer1.0/conv1") == "layer1.0.conv1");
  CHECK(io::module_path("/blocks.3/mlp/mlp.2") == "blocks.3.mlp.2");
  CHECK(io::module_path("encoder/layer_3") == "encoder.layer_3");
  CHECK(io::module_path("transformer.h.3") == "transformer.h.3");
  CHECK(io::module_path("") == "");
}

TEST_CASE("runtime_placement: a device_map says where each module is, once") {
  rng random{1};
  for (int round = 0; round < 100; ++round) {
    const auto parts = drawn(random, false, true);
    const auto map = nlohmann::json::parse(io::device_map(placed(parts)).text);
    const auto device = [&](const std::string& parameter) { // as accelerate looks it up
      int found = 0;
      device_id d = none;
      for (const auto& [module, where] : map.items()) {
        if (parameter == module || parameter.starts_with(module + ".")) {
          ++found;
          d = where.is_string() ? 0 : where.get<device_id>() + 1;
          CHECK((where.is_number() || where == "cpu"));
        }
      }
      CHECK(found == 1);
      return d;
    };
    CHECK(device("model.embed_tokens.weight") == parts.front());
    for (std::size_t i = 1; i + 1 < parts.size(); ++i) {
      CHECK(device("model.layers." + std::to_string(i - 1) + ".self_attn.q_proj.weight") == parts[i]);
    }
    CHECK(device("model.norm.weight") == parts.back());
    CHECK(device("lm_head.weight") == parts.back());
  }
  auto where = placed({1, 1, 0, 0});
  where.devices[0].name = "disk";
  CHECK(nlohmann::json::parse(io::device_map(where).text)["model.layers.1"] == "disk");
  CHECK(io::device_map(where).notes.size() == 2);
  CHECK(io::device_map(placed({1, 1, 1, 1}, "layer_")).notes.size() == 3);
}

TEST_CASE("runtime_placement: vLLM's counts and GPUs are those of the stages") {
  rng random{2};
  for (int round = 0; round < 200; ++round) {
    const auto parts = drawn(random, true, false);
    const auto text = io::vllm_partition(placed(parts)).text;
    CAPTURE(text);
    const auto counts = numbers(word_after(text, "VLLM_PP_LAYER_PARTITION="));
    const auto size = std::stoul(word_after(text, "--pipeline-parallel-size"));
    REQUIRE(counts.size() == size); // as get_pp_indices checks
    REQUIRE(std::accumulate(counts.begin(), counts.end(), 0u) == parts.size() - 2);
    const auto devices = visible(text, counts.size());
    REQUIRE(devices.size() == counts.size());
    std::vector<device_id> read{devices.front()};
    for (std::size_t s = 0; s < counts.size(); ++s) {
      CHECK(counts[s] > 0);
      read.insert(read.end(), counts[s], devices[s]);
    }
    read.push_back(devices.back());
    CHECK(read == parts);
  }
  CHECK_THROWS_WITH_AS(
    io::vllm_partition(placed({0, 1, 1, 1})),
    "vLLM cannot have this placement: part of the model is on 'cpu0', and its stages are accelerators; "
    "name accelerators that suffice, or lower what the model needs",
    error);
  CHECK_THROWS_WITH_AS(
    io::vllm_partition(placed({1, 1, 1, 2})),
    "vLLM cannot have this placement: what is after the layers is on a device of its own; it has to go "
    "with the last one",
    error);
  auto two = placed({1, 1, 1, 1});
  two.layers[1].scope = "/decoder/layers.0";
  CHECK_THROWS_WITH_AS(
    io::vllm_partition(two),
    "vLLM cannot have this placement: it has one stack of layers, and the model has 'model.layers.' and "
    "'decoder.layers.'",
    error);
  CHECK_THROWS_AS(io::vllm_partition(placed({1, 1, 2, 1, 1})), error);
}

/// Where llama.cpp puts a tensor: `src/llama-model.cpp` and `src/llama-model-loader.cpp`.
struct llama_cpp {
  int n_layer;
  int n_gpu_layers;
  std::vector<float> splits = {};
  std::vector<device_id> devices = {};
  std::vector<std::pair<std::regex, device_id>> overrides = {};

  llama_cpp(int layers, const std::string& options)
      : n_layer{layers}, n_gpu_layers{std::stoi(word_after(options, "--n-gpu-layers"))} {
    float sum = 0;
    for (const auto share : numbers(word_after(options, "--tensor-split"))) {
      splits.push_back(sum += static_cast<float>(share));
    }
    for (auto& s : splits) {
      s /= sum;
    }
    const auto names = word_after(options, "--device");
    for (std::size_t at = names.find("CUDA"); at != names.npos; at = names.find("CUDA", at + 4)) {
      devices.push_back(static_cast<device_id>(std::stoul(names.substr(at + 4))) + 1);
    }
    for (device_id k = 0; names.empty() && k < 4; ++k) {
      devices.push_back(k + 1);
    }
    const auto all = word_after(options, "--override-tensor");
    for (std::size_t begin = 0; begin < all.size();) {
      const auto end = std::min(all.find(',', begin), all.size());
      const auto one = all.substr(begin, end - begin);
      REQUIRE(one.substr(one.find('=') + 1) == "CPU");
      overrides.emplace_back(std::regex{one.substr(0, one.find('='))}, 0);
      begin = end + 1;
    }
  }

  device_id device(const std::string& tensor, int layer) const {
    for (const auto& [pattern, d] : overrides) {
      if (std::regex_search(tensor, pattern)) {
        return d;
      }
    }
    const int start = std::max(n_layer + 1 - n_gpu_layers, 0);
    const int active = std::min(n_gpu_layers, n_layer + 1);
    if (layer < start || layer - start >= active) {
      return 0;
    }
    const auto at = std::upper_bound(splits.begin(), splits.end(),
                                     static_cast<float>(layer - start) / static_cast<float>(active));
    return devices.at(static_cast<std::size_t>(at - splits.begin()));
  }
};

TEST_CASE("runtime_placement: llama.cpp puts each tensor where it is to be") {
  rng random{3};
  for (int round = 0; round < test::rounds(300); ++round) {
    const auto parts = drawn(random, false, true);
    const auto text = io::llama_cpp_options(placed(parts)).text;
    CAPTURE(text);
    const int layers = static_cast<int>(parts.size()) - 2;
    const llama_cpp runtime{layers, text};
    for (int i = 0; i < layers; ++i) {
      for (const char* what : {"attn_q", "attn_norm", "ffn_down"}) {
        CHECK(runtime.device("blk." + std::to_string(i) + "." + what + ".weight", i) ==
              parts[static_cast<std::size_t>(i) + 1]);
      }
    }
    CHECK(runtime.device("output.weight", layers) == parts.back());
    CHECK(runtime.device("output_norm.weight", layers) == parts.back());
  }
  for (int layers = 1; layers <= test::rounds(200); ++layers) { // the float arithmetic of all splits in two
    for (int first = 1; first <= layers; ++first) {
      std::vector<device_id> parts(static_cast<std::size_t>(layers) + 2, 2);
      std::fill_n(parts.begin(), first + 1, 1);
      const llama_cpp runtime{layers, io::llama_cpp_options(placed(parts)).text};
      CHECK(runtime.device("x", first - 1) == 1);
      CHECK(runtime.device("x", first) == 2);
    }
  }
  CHECK(io::llama_cpp_options(placed({0, 0, 0, 0})).text == "--n-gpu-layers 0\n");
  CHECK_THROWS_AS(io::llama_cpp_options(placed({1, 1, 2, 1, 1})), error);
}

TEST_CASE("runtime_placement: DeepSpeed's parts cover all layers in order") {
  rng random{4};
  for (int round = 0; round < 100; ++round) {
    const auto parts = drawn(random, false, false);
    const auto r = io::deepspeed_module(placed(parts));
    const auto list = r.text.substr(r.text.find("PARTS = [") + 9);
    const auto borders = numbers(list.substr(0, list.find(']')));
    REQUIRE(borders.front() == 0);
    REQUIRE(borders.back() == parts.size());
    CHECK(std::is_sorted(borders.begin(), borders.end()));
    std::string notes;
    for (const auto& n : r.notes) {
      notes += n + "\n";
    }
    const auto devices = visible(notes, borders.size() - 1);
    for (std::size_t s = 0; s + 1 < borders.size(); ++s) {
      for (auto i = borders[s]; i < borders[s + 1]; ++i) {
        CHECK(parts[i] == devices[s]);
      }
    }
    CHECK(r.text.find("num_stages=" + std::to_string(borders.size() - 1) + " ") != r.text.npos);
  }
  CHECK_THROWS_AS(io::deepspeed_module(placed({1, 1, 0, 0})), error);
}

TEST_CASE("runtime_placement: Megatron's layout has each layer once") {
  rng random{5};
  for (int round = 0; round < 200; ++round) {
    const auto parts = drawn(random, false, false);
    const auto r = io::megatron_options(placed(parts));
    CAPTURE(r.text);
    auto layout = word_after(r.text, "--pipeline-model-parallel-layout");
    const auto stages = std::stoul(word_after(r.text, "--pipeline-model-parallel-size"));
    CHECK(std::stoul(word_after(r.text, "--num-layers")) == parts.size() - 2);
    if (stages == 1) {
      CHECK(layout.empty());
      continue;
    }
    std::string flat; // x*n written out
    for (std::size_t i = 0; i < layout.size(); ++i) {
      if (layout[i] == '*') {
        std::size_t digits = 0;
        const auto n = std::stoul(layout.substr(i + 1), &digits);
        flat.append(n - 1, layout[i - 1]);
        i += digits;
      } else {
        flat += layout[i];
      }
    }
    CHECK(std::count(flat.begin(), flat.end(), '|') + 1 == static_cast<std::ptrdiff_t>(stages));
    CHECK(flat.front() == 'E');
    CHECK(flat.back() == 'L');
    std::string notes;
    for (const auto& n : r.notes) {
      notes += n + "\n";
    }
    const auto devices = visible(notes, stages);
    std::vector<device_id> read;
    std::size_t s = 0;
    for (const char c : flat) {
      s += c == '|' ? 1 : 0;
      if (c != '|') {
        read.push_back(devices[s]);
      }
    }
    CHECK(read == parts);
  }
  const auto even = io::megatron_options(placed({1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4}));
  CHECK(even.text == "--num-layers 9 --pipeline-model-parallel-size 4 --pipeline-model-parallel-layout "
                     "'Et*2|t*3|t*3|tL'\n");
  CHECK(even.notes.back() ==
        "versions without --pipeline-model-parallel-layout take --decoder-first-pipeline-num-layers 2 "
        "--decoder-last-pipeline-num-layers 1 instead");
  CHECK_THROWS_AS(io::megatron_options(placed({0, 1, 1, 1})), error);
}

TEST_CASE("runtime_placement: TensorFlow's scopes") {
  const auto map = nlohmann::json::parse(io::tensorflow_scopes(placed({0, 1, 2, 2}, "bert/encoder/layer_")).text);
  CHECK(map[""] == "/device:CPU:0");
  CHECK(map["bert/encoder/layer_0"] == "/device:GPU:0");
  CHECK(map["bert/encoder/layer_1"] == "/device:GPU:1");
  CHECK(map["lm_head"] == "/device:GPU:1");
  CHECK(map.size() == 6);
}

/// Layers on these devices of two nodes, each with a CPU and two GPUs: 1, 2 and 4, 5.
io::layer_placement on_two_nodes(const std::vector<device_id>& parts) {
  auto where = placed(parts);
  where.devices.clear();
  for (const std::string node : {"node0/", "node1/"}) {
    where.devices.push_back({node + "cpu", device_kind::cpu});
    where.devices.push_back({node + "gpu0", device_kind::gpu});
    where.devices.push_back({node + "gpu1", device_kind::gpu});
  }
  return where;
}

bool has_note(const io::runtime_placement& r, const std::string& note) {
  return std::find(r.notes.begin(), r.notes.end(), note) != r.notes.end();
}

TEST_CASE("runtime_placement: numbers of GPUs are those of their nodes, and one process has one node") {
  const auto both = on_two_nodes({1, 1, 2, 4, 5, 5});
  for (const auto& f : io::runtime_formats) {
    CAPTURE(std::string{f.name});
    if (f.name == "device_map" || f.name == "llama.cpp" || f.name == "tensorflow") {
      CHECK_THROWS_WITH_AS(f.write(both),
                           doctest::Contains("it is one process, which has the devices of one node, and the "
                                             "model is on 'node0/gpu0' and 'node1/gpu0'"),
                           error);
    } else {
      const auto r = f.write(both);
      CHECK(r.text.find("CUDA_VISIBLE_DEVICES") == r.text.npos);
      CHECK(has_note(r, "the stages are on several nodes: give ranks to them in this order, 'node0' with "
                        "CUDA_VISIBLE_DEVICES=0,1, then 'node1' with CUDA_VISIBLE_DEVICES=0,1"));
      CHECK_THROWS_WITH_AS(f.write(on_two_nodes({1, 1, 4, 4, 2, 2})),
                           doctest::Contains("the stages of node 'node0' do not follow each other"), error);
    }
    CHECK(has_note(f.write(on_two_nodes({4, 4, 5, 5})), "all of it is on node 'node1': run it there"));
  }
  const auto second = on_two_nodes({5, 5, 4, 4});
  CHECK(io::vllm_partition(second).text.starts_with("CUDA_VISIBLE_DEVICES=1,0 "));
  CHECK(nlohmann::json::parse(io::device_map(second).text)["model.layers.0"] == 1);
  CHECK(nlohmann::json::parse(io::tensorflow_scopes(second).text)["lm_head"] == "/device:GPU:0");
  CHECK(word_after(io::llama_cpp_options(second).text, "--device") == "CUDA1,CUDA0");
  CHECK(io::device_map(on_two_nodes({3, 3, 4, 4})).notes.size() == 3);
}

TEST_CASE("runtime_placement: without names there is nothing to write, and odd names do no harm") {
  auto where = placed({1, 1, 1, 1});
  where.layers[0].scope = "/a\xff\n\"'`$(x).0";
  for (const auto& f : io::runtime_formats) {
    CAPTURE(std::string{f.name});
    try {
      const auto text = f.write(where).text;
      CHECK(text.find("$(x)\n") == text.npos);
      if (f.name == "device_map" || f.name == "tensorflow") {
        CHECK(nlohmann::json::parse(text).is_object());
      }
    } catch (const error&) { // two stacks
    }
  }
  for (auto& l : where.layers) {
    l.scope.clear();
  }
  for (const auto& f : io::runtime_formats) {
    CAPTURE(std::string{f.name});
    CHECK_THROWS_AS(f.write(where), error);
  }
}

} // namespace io_runtime_placement_test
