// SPDX-License-Identifier: BSL-1.0
#include "weft/partition/layers.hpp"

#include "weft/platform/identical.hpp"
#include "weft/problem.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/graph_training_step.hpp"
#include "weft/workload/stored_as.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace partition_layers_test {

using namespace weft;
using partition::find_layers;

platform<uniform_links> machine() {
  return {std::vector<device>(2, {.kind = device_kind::gpu}), {}};
}

/// Ops in a row, each with some work and parameters.
workload chain(const std::vector<std::string>& names) {
  workload_builder b;
  op_id last = none;
  for (const auto& name : names) {
    const op_id v = b.add_op({.work = 1, .bytes = 4, .resident_bytes = 8, .name = name});
    if (last != none) {
      b.add_edge(last, v);
    }
    last = v;
  }
  return std::move(b).build();
}

std::vector<std::string> scopes_in(const std::vector<std::string>& names) {
  const auto w = chain(names);
  const auto q = machine();
  return find_layers(problem{w, q}).scopes;
}

/// Forward tensors never lead back to an earlier part.
template <class P>
void check_order(const P& p, const partition::model_layers& l) {
  REQUIRE(l.part.size() == p.num_components());
  for (const auto part : l.part) {
    REQUIRE(part < l.num_parts());
  }
  for (const tensor_id t : ids(p.num_tensors())) {
    const op_id u = p.workload().producer(t);
    for (const op_id v : p.workload().consumers(t)) {
      if (l.part[p.component(u)] > l.part[p.component(v)]) {
        FAIL_CHECK(p.workload().name(u), " is in a later part than ", p.workload().name(v));
      }
    }
  }
}

TEST_CASE("find_layers: names as exporters and frameworks write them") {
  using list = std::vector<std::string>;
  // torch.onnx of a causal language model
  CHECK(scopes_in({"/model/embed_tokens/Gather", "/model/layers.0/self_attn/q_proj/MatMul",
                   "/model/layers.0/mlp/down_proj/MatMul", "/model/layers.1/self_attn/q_proj/MatMul",
                   "/model/layers.1/mlp/experts.0/MatMul", "/model/layers.1/mlp/experts.1/MatMul", "/model/norm/Mul",
                   "/lm_head/MatMul"}) == list{"/model/layers.0", "/model/layers.1"});
  CHECK(scopes_in({"transformer/h_3/attn/x", "transformer/h_10/attn/x"}) ==
        list{"transformer/h_3", "transformer/h_10"});
  CHECK(scopes_in({"encoder.layer.3.attention.self", "encoder.layer.4.attention.self"}) ==
        list{"encoder.layer.3", "encoder.layer.4"});
  CHECK(scopes_in({"token_embd", "blk.0.attn_q", "blk.1.attn_q", "output"}) == list{"blk.0", "blk.1"});
  CHECK(scopes_in({"gpu_0/net_1/layer1/attention/x", "gpu_0/net_1/layer2/attention/x"}) ==
        list{"gpu_0/net_1/layer1", "gpu_0/net_1/layer2"});
  CHECK(scopes_in({"mixed_5b/conv/x", "mixed_5c/conv/x"}) == list{"mixed_5b", "mixed_5c"});
  CHECK(scopes_in({"dense/MatMul", "dense_1/MatMul"}) == list{"dense", "dense_1"});
  CHECK(scopes_in({"MatMul_1", "MatMul_2"}).empty()); // numbers of ops
  // stages of blocks: torchvision's residual networks by torch.onnx
  list residual{"/conv1/Conv"};
  const list blocks{"/layer1/layer1.0", "/layer1/layer1.1", "/layer2/layer2.0", "/layer2/layer2.1", "/layer2/layer2.2"};
  for (const auto& block : blocks) {
    residual.insert(residual.end(), {block + "/conv1/Conv", block + "/conv2/Conv", block + "/relu/Relu"});
  }
  residual.emplace_back("/fc/Gemm");
  CHECK(scopes_in(residual) == blocks);
  // parts of T5's blocks are not layers
  CHECK(scopes_in({"block.0/layer.0/SelfAttention/x", "block.0/layer.1/Dense/x", "block.1/layer.0/SelfAttention/x",
                   "block.1/layer.1/Dense/x"}) == list{"block.0", "block.1"});
}

TEST_CASE("find_layers: what is around the layers") {
  const auto w = chain({"/model/embed_tokens/Gather", "/model/Cast", "/model/layers.0/mlp/MatMul", "/model/Add",
                        "/model/layers.1/mlp/MatMul", "/model/norm/Mul", "/lm_head/MatMul"});
  const auto q = machine();
  const problem p{w, q};
  const auto l = find_layers(p);
  const std::vector<std::uint32_t> parts{0, 0, 1, 1, 2, 3, 3};
  for (const op_id v : ids(w.num_ops())) {
    CAPTURE(w.name(v));
    CHECK(l.part[p.component(v)] == parts[v]);
  }
  using outer = partition::model_layers::outer_scope;
  CHECK(l.outside == std::vector<outer>{{"/model/embed_tokens", 0}, {"/model/norm", 3}, {"/lm_head", 3}});
}

TEST_CASE("find_layers: networks of the zoo") {
  const auto q = machine();
  const std::pair<const char*, std::uint32_t> expected[] = {
    {"bert_base", 12},   {"gpt2_medium", 24},  {"resnet50", 16},  {"gnmt", 16},
    {"switch_base", 24}, {"inception_v3", 16}, {"mnist_conv", 4}, {"ptb_lstm", 2}};
  for (const auto& [name, layers] : expected) {
    CAPTURE(name);
    const auto forward = zoo::make_inference(name);
    const problem p{forward, q};
    const auto l = find_layers(p);
    CHECK(l.named);
    CHECK(l.num_layers == layers);
    CHECK(l.scopes.size() == layers);
    check_order(p, l);
    if (std::string{name} != "inception_v3") { // whose training has a second head
      const auto step = zoo::make(name);
      const problem training{step, q};
      const auto both = find_layers(training);
      CHECK(both.scopes == l.scopes);
      for (const op_id v : ids(step.num_ops())) { // gradients and updates are in the layer that their names tell
        for (std::size_t i = 0; i < both.scopes.size(); ++i) {
          if (step.name(v).find("gradients/" + both.scopes[i] + "/") == 0) {
            CHECK(both.part[training.component(v)] == i + 1);
          }
        }
      }
    }
  }
  const auto w = zoo::make_inference("gnmt");
  const auto l = find_layers(problem{w, q});
  CHECK(l.scopes[7] == "encoder/layer_7");
  CHECK(l.scopes[8] == "decoder/layer_0");
}

TEST_CASE("find_layers: without names, cuts where one tensor leads on; steps that share parameters are no layers") {
  const auto q = machine();
  workload_builder b;
  op_id last = b.add_op({.work = 1, .bytes = 4});
  std::vector<op_id> joins;
  for (int k = 0; k < 5; ++k) { // blocks with a shortcut
    const op_id weight = b.add_op({.work = 0, .bytes = 4, .resident_bytes = 4});
    const op_id left = b.add_op({.work = 4, .bytes = 4});
    const op_id join = b.add_op({.work = 1, .bytes = 4});
    b.add_edge(last, left);
    b.add_edge(weight, left);
    b.add_edge(last, join);
    b.add_edge(left, join);
    joins.push_back(last = join);
  }
  const auto w = std::move(b).build();
  const problem p{w, q};
  const auto l = find_layers(p);
  CHECK_FALSE(l.named);
  CHECK(l.num_layers >= 5);
  check_order(p, l);
  for (std::size_t k = 1; k < joins.size(); ++k) {
    CHECK(l.part[p.component(joins[k - 1])] < l.part[p.component(joins[k])]);
    CHECK(l.part[p.component(joins[k])] == l.part[p.component(joins[k] - 1)]); // with its left branch
    CHECK(l.part[p.component(joins[k])] == l.part[p.component(joins[k] - 2)]); // and the weight
  }
  const auto steps = zoo::make_inference("lstm");
  CHECK_FALSE(find_layers(problem{steps, q}).named);
  const workload nothing;
  CHECK(find_layers(problem{nothing, q}).part.empty());
}

TEST_CASE("find_layers: names of great depth and length are read in little time") {
  std::string deep;
  for (int i = 0; i < 20'000; ++i) {
    deep += "a1/b.2/";
  }
  const auto q = machine();
  const auto w = chain({deep + "x", deep + "y", "a1/x", "////", "...", "1/", "/1/x"});
  check_order(problem{w, q}, find_layers(problem{w, q}));
}

TEST_CASE("find_layers: what is computed again for the backward pass is in the layer that it is of") {
  const auto forward = zoo::make_inference("gpt2_small@1x64");
  const auto q = machine();
  const auto layers = find_layers(problem{forward, q});
  step_options how{.rule = optimizer::adam};
  how.recompute = recomputed_ops(forward, recomputation::blocks, [&](op_id v) {
    for (std::uint32_t i = 0; i < layers.num_layers; ++i) {
      if (forward.name(v).starts_with(layers.scopes[i] + "/")) {
        return op_id{i};
      }
    }
    return none;
  });
  REQUIRE(!how.recompute.empty());
  const auto step = training_step(forward, how);
  const problem p{step, q};
  const auto l = find_layers(p);
  CHECK(l.scopes == layers.scopes);
  std::size_t copies = 0;
  for (const op_id v : ids(step.num_ops())) {
    for (std::uint32_t i = 0; i < l.num_layers; ++i) {
      if (step.name(v).starts_with("recompute/" + l.scopes[i] + "/")) {
        ++copies;
        CHECK(l.part[p.component(v)] == i + 1);
      }
    }
  }
  CHECK(copies > how.recompute.size() / 2); // what no gradient reads is not made again
}

TEST_CASE("find_layers: a layer comes after those that it reads, however long its way to the end") {
  workload_builder b;
  const auto add = [&](const char* name, std::initializer_list<op_id> inputs) {
    const op_id v = b.add_op({.work = 1, .bytes = 4, .resident_bytes = 8, .name = name});
    for (const op_id u : inputs) {
      b.add_edge(u, v);
    }
    return v;
  };
  const op_id first = add("layer_0/x", {});
  const op_id side = add("layer_1/x", {first});
  const op_id join = add("between", {side}); // of no layer
  const op_id start = add("layer_2/x", {first});
  const op_id middle = add("layer_2/y", {add("layer_2/w", {start})});
  const op_id end = add("layer_2/z", {middle, join});
  add("layer_3/x", {end});
  const auto w = std::move(b).build();
  const auto q = machine();
  const problem p{w, q};
  const auto l = find_layers(p);
  CHECK(l.scopes == std::vector<std::string>{"layer_0", "layer_1", "layer_2", "layer_3"});
  check_order(p, l);
  CHECK(scopes_in({"layer_0/x", "layer_1/x", "layer_0/y", "layer_1/y"}) ==
        std::vector<std::string>{"layer_0", "layer_1"}); // which read each other
}

TEST_CASE("find_layers: gradients are in the layer of their forward op, whatever they are called") {
  for (const bool has_names : {false, true}) {
    for (const char* type : {"", "Tanh"}) {
      workload_builder b;
      op_id last = b.add_op({.bytes = 4, .name = has_names ? "input" : ""});
      for (int k = 0; k < 6; ++k) { // gradients of parameters read what is made in the layer before
        const op_id v = b.add_op({.work = 1, .bytes = 4, .resident_bytes = 40,
                                  .name = has_names ? "AddN_" + std::to_string(k) : "", .type = type});
        b.add_edge(last, v);
        last = v;
      }
      const auto made = training_step_with_origins(std::move(b).build(), {.rule = optimizer::sgd});
      const auto q = machine();
      const problem p{made.graph, q};
      const auto l = find_layers(p);
      for (const op_id v : ids(made.graph.num_ops())) {
        if (made.graph.name(v).starts_with("gradients/") && !made.graph.name(v).starts_with("gradients/loss/")) {
          CAPTURE(made.graph.name(v));
          CHECK(l.part[p.component(v)] == l.part[p.component(made.from.op[v])]);
        }
      }
    }
  }
}

TEST_CASE("find_layers: a sum of TensorFlow's is no gradient of the forward op that has its name") {
  workload_builder b;
  op_id last = none;
  for (const std::string name : {"AddN", "layer_0/x", "layer_1/x", "layer_2/x", "gradients/layer_2/x_grad/mul",
                                 "gradients/AddN", "gradients/layer_1/x_grad/mul"}) {
    const char* type = name.ends_with("AddN") ? "AddN" : "Mul";
    const op_id v = b.add_op({.work = 1, .bytes = 4, .resident_bytes = 8, .name = name, .type = type});
    if (last != none) {
      b.add_edge(last, v);
    }
    last = v;
  }
  const auto w = std::move(b).build();
  const auto q = machine();
  const problem p{w, q};
  const auto l = find_layers(p);
  CHECK(l.part[p.component(5)] == l.part[p.component(4)]); // where its input comes from
  CHECK(l.part[p.component(0)] == 0);
}

} // namespace partition_layers_test
