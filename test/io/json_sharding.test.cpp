// SPDX-License-Identifier: BSL-1.0
#include "weft/io/json_sharding.hpp"

#include "json_samples.hpp"
#include "support.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace io_json_sharding_test {

namespace io = weft::io;
using nlohmann::json;

json written(const weft::parallel::sharding& s) {
  const io::sharding_names names{.model = "m", .platform = "p", .devices = {"cpu", "a", "b", "c", "d"}};
  return json::parse(weft_test::text_of([&](std::ostream& out) { io::write_sharding_json(out, s, names); }));
}

TEST_CASE("partition_spec and dtensor_placements: by dimension, and by axis of the mesh") {
  const auto s = weft_test::sample_sharding();
  const auto& x = s.parameters;
  CHECK(io::partition_spec(x[0], s.mesh) == "PartitionSpec(None, 'tensor')");
  CHECK(io::dtensor_placements(x[0], s.mesh) == "[Replicate(), Shard(1)]");
  CHECK(io::partition_spec(x[1], s.mesh) == "PartitionSpec('tensor', 'data')");
  CHECK(io::dtensor_placements(x[1], s.mesh) == "[Shard(1), Shard(0)]");
  CHECK(io::partition_spec(x[2], s.mesh) == "PartitionSpec()"); // of unknown shape
  CHECK(io::dtensor_placements(x[2], s.mesh) == "[Replicate(), Replicate()]");
}

TEST_CASE("write_sharding_json: a step that trains") {
  const auto doc = written(weft_test::sample_sharding());
  CHECK(doc["mesh"] == json::parse(R"({"axes": [{"name": "data", "size": 2}, {"name": "tensor", "size": 2}],
                                       "devices": ["a", "b", "c", "d"]})"));
  CHECK(doc["parameters"][0] == json::parse(R"({"name": "kernel", "shape": [4, 6], "bytes": 96,
                                                "spec": [null, "tensor"]})"));
  CHECK(doc["parameters"][2] == json::parse(R"({"name": "a \"name\"", "shape": null, "bytes": 8, "spec": []})"));
  CHECK(doc["jax"]["partition_specs"]["kernel"] == "PartitionSpec(None, 'tensor')");
  CHECK(doc["pytorch"]["device_mesh"]["mesh_shape"] == json::parse("[2, 2]"));
  CHECK(doc["megatron"]["arguments"] == "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 1 "
                                        "--micro-batch-size 4 --global-batch-size 8 --use-distributed-optimizer");
  CHECK(doc["deepspeed"] == json::parse(R"({"train_batch_size": 8, "train_micro_batch_size_per_gpu": 4,
                                            "zero_optimization": {"stage": 2}, "tensor_parallel": {"autotp_size": 2}})"));
  CHECK(!doc.contains("vllm"));
}

TEST_CASE("write_sharding_json: experts, which one replica has, are in no words of JAX and PyTorch") {
  auto s = weft_test::sample_sharding();
  s.parameters[0].owner = 1;
  auto doc = written(s);
  CHECK(doc["parameters"][0]["owner"] == 1);
  CHECK(!doc["parameters"][1].contains("owner"));
  CHECK(doc["jax"]["partition_specs"].size() == 2);
  CHECK(!doc["pytorch"]["placements"].contains("kernel"));
  const std::string megatron = doc["megatron"]["arguments"];
  CHECK(megatron.find(" --expert-model-parallel-size 2") != std::string::npos);
  s.trains = false;
  doc = written(s);
  CHECK(doc["vllm"]["arguments"] == "--tensor-parallel-size 2 --data-parallel-size 2 --enable-expert-parallel");
}

TEST_CASE("write_sharding_json: parts that are not equal are in no words of runtimes, but for vocabularies") {
  auto s = weft_test::sample_sharding();
  s.mesh = {{{"tensor", 3}}, {1, 2, 3}};
  s.parameters = {{.name = "heads", .shape = {{4, 32}}, .bytes = 512, .spec = {weft::none, 0}, .part = {11, 32}},
                  {.name = "columns", .shape = {{4, 6}}, .bytes = 96, .spec = {weft::none, 0}}};
  CHECK(weft::parallel::shard_bytes(s.parameters[0], s.mesh) == 176);
  auto doc = written(s);
  CHECK(doc["unequal_parts"] == true);
  CHECK(doc["parameters"][0]["parts"] == json::parse("[11, 11, 10]"));
  CHECK(!doc["parameters"][1].contains("parts"));
  CHECK(doc["jax"]["partition_specs"].size() == 1);
  CHECK(doc["pytorch"]["placements"].contains("columns"));
  CHECK(!doc.contains("megatron"));
  CHECK(!doc.contains("vllm"));
  s.parameters[0].is_padded = true;
  doc = written(s);
  CHECK(!doc.contains("unequal_parts"));
  CHECK(doc["parameters"][0]["parts"].size() == 3);
  CHECK(doc["jax"]["partition_specs"].size() == 1);
  CHECK(doc.contains("megatron"));
}

TEST_CASE("write_sharding_json: inference, and a step without parameters") {
  auto s = weft_test::sample_sharding();
  s.trains = false;
  s.zero_stage = 0;
  s.parameters.clear();
  const auto doc = written(s);
  CHECK(doc["vllm"]["arguments"] == "--tensor-parallel-size 2 --data-parallel-size 2");
  CHECK(!doc.contains("megatron"));
  CHECK(!doc.contains("deepspeed"));
  CHECK(doc["parameters"].empty());
  CHECK(doc["jax"]["partition_specs"].is_object());
}

TEST_CASE("write_sharding_json: parameters in parts of replicas, and micro-batches") {
  auto s = weft_test::sample_sharding();
  s.mesh.axes = {{"data", 2}, {"data_shard", 2}};
  s.zero_stage = 3;
  s.micro_batches = 2;
  const auto doc = written(s);
  CHECK(doc["megatron"]["arguments"] == "--tensor-model-parallel-size 1 --pipeline-model-parallel-size 1 "
                                        "--micro-batch-size 1 --global-batch-size 8 --use-distributed-optimizer "
                                        "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params "
                                        "--num-distributed-optimizer-instances 2 --outer-dp-sharding-strategy "
                                        "no_shard");
  CHECK(doc["deepspeed"] == json::parse(R"({"train_batch_size": 8, "train_micro_batch_size_per_gpu": 1,
                                            "gradient_accumulation_steps": 2,
                                            "zero_optimization": {"stage": 3, "mics_shard_size": 2}})"));
}

TEST_CASE("write_sharding_json: sequences in parts") {
  auto s = weft_test::sample_sharding();
  s.mesh.axes.back().name = "context";
  const std::string megatron = written(s)["megatron"]["arguments"];
  CHECK(megatron.find("--tensor-model-parallel-size 1 ") != std::string::npos);
  CHECK(megatron.find(" --context-parallel-size 2") != std::string::npos);
  CHECK(written(s)["deepspeed"]["sequence_parallel_size"] == 2);
  s.trains = false;
  CHECK(written(s)["vllm"]["arguments"] ==
        "--tensor-parallel-size 1 --data-parallel-size 2 --prefill-context-parallel-size 2");
}

TEST_CASE("write_sharding_json: an empty mesh is no sharding") {
  auto s = weft_test::sample_sharding();
  s.mesh.axes.clear();
  CHECK_THROWS_AS(written(s), weft::value_error);
  CHECK_THROWS_AS(written({}), weft::value_error);
}

} // namespace io_json_sharding_test
