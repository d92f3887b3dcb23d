// SPDX-License-Identifier: BSL-1.0
#include "weft/model/graph_of_network.hpp"
#include "weft/parallel/split_graph.hpp"
#include "weft/workload/nn/kernels.hpp"
#include "weft/workload/training_step.hpp"
#include "weft/workload/zoo/bert.hpp"
#include "weft/workload/zoo/gpt2.hpp"
#include "weft/workload/zoo/llama.hpp"
#include "weft/workload/zoo/resnet50.hpp"
#include "weft/workload/zoo/switch_transformer.hpp"
#include "weft/workload/zoo/vit.hpp"

#include "workload/summary.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace workload_zoo_kernel_sets_test {

using namespace weft;
using nn::attention_kernels;
using nn::kernel_set;
using nn::network_options;

struct lowering {
  const char* name;
  network_options options;
};

std::vector<lowering> lowerings(bool training) {
  constexpr auto fused = attention_kernels::fused;
  return {{"separate", {.bookkeeping = false, .training = training}},
          {"framework", {.training = training, .kernels = kernel_set::framework}},
          {"framework, fused", {.training = training, .kernels = kernel_set::framework, .attention = fused}},
          {"compiled", {.training = training, .kernels = kernel_set::compiled}},
          {"compiled, fused", {.training = training, .kernels = kernel_set::compiled, .attention = fused}}};
}

struct bundled {
  const char* name;
  std::function<training_task(nn::network&)> task;
};

const std::vector<bundled> networks{
  {"gpt2",
   [](nn::network& net) {
     return zoo::gpt2_task(net, 2, {.layers = 2, .hidden = 32, .heads = 4, .length = 8, .vocabulary = 64});
   }},
  {"bert",
   [](nn::network& net) {
     return zoo::bert_task(net, 2, {.layers = 2, .hidden = 32, .heads = 4, .length = 8, .vocabulary = 64});
   }},
  {"llama",
   [](nn::network& net) {
     return zoo::llama_task(
       net, 2, {.layers = 2, .hidden = 32, .heads = 4, .kv_heads = 2, .ffn = 48, .vocabulary = 64, .length = 8});
   }},
  {"resnet50", [](nn::network& net) { return zoo::resnet50_task(net, 2, {.image_size = 32, .classes = 10}); }},
  {"vit",
   [](nn::network& net) {
     return zoo::vit_task(net, 2, {.layers = 2, .hidden = 32, .heads = 4, .image_size = 32, .classes = 10});
   }},
  {"switch", [](nn::network& net) {
     return zoo::switch_task(net, 2,
                             {.layers = 2,
                              .hidden = 32,
                              .heads = 4,
                              .head_size = 8,
                              .ffn = 64,
                              .experts = 4,
                              .length = 8,
                              .target_length = 4,
                              .vocabulary = 64});
   }}};

/// A network of the zoo whose layers became ops in one way, and its training step or what it infers.
struct built {
  nn::network net;
  nn::built_workload step;

  built(const bundled& b, const lowering& how) : net{how.options} {
    const auto task = b.task(net);
    std::vector<op_id> outputs;
    for (const auto& t : net.outputs()) {
      outputs.push_back(t.op());
    }
    step = how.options.training ? training_step_with_origins(net, task.objectives, task.options)
                                : net.build_with_origins(outputs);
  }
  std::set<std::string> types() const {
    std::set<std::string> all;
    for (const op_id v : ids(step.graph.num_ops())) {
      all.insert(std::string{step.graph.type(v)});
    }
    return all;
  }
};

TEST_CASE("kernel sets: parameters are the same whatever the kernels, and the more are joined the fewer ops") {
  for (const bool training : {true, false}) {
    for (const auto& b : networks) {
      std::uint64_t parameters = 0;
      std::size_t num_ops = 0;
      for (const auto& how : lowerings(training)) {
        CAPTURE(b.name);
        CAPTURE(how.name);
        const built n{b, how};
        CHECK((parameters == 0 || n.net.num_parameters() == parameters));
        CHECK((num_ops == 0 || n.step.graph.num_ops() < num_ops));
        parameters = n.net.num_parameters();
        num_ops = num_ops == 0 ? n.step.graph.num_ops() : num_ops; // of separate ones
      }
    }
  }
}

TEST_CASE("kernel sets: parameters of published sizes are those of their sources") {
  for (const auto& how : lowerings(true)) {
    CAPTURE(how.name);
    nn::network gpt2{how.options}, llama{how.options}, resnet{how.options};
    (void)zoo::gpt2_loss(gpt2, 1);
    CHECK(gpt2.num_parameters() == 124'439'808);
    (void)zoo::llama_loss(llama, 1, zoo::llama3_8b_sizes);
    CHECK(llama.num_parameters() == 8'030'261'248);
    (void)zoo::resnet50_loss(resnet, 1);
    CHECK(resnet.num_parameters() == 25'557'032);
  }
}

TEST_CASE("kernel sets: the ops of a decoder's step") {
  const std::set<std::string> always{"AddN", "ApplyAdam", "Assign", "BiasAddGrad", "Const", "Fill", "Gather", "Gelu",
                                     "GeluGrad", "Gemm", "Identity", "IteratorGetNext", "MatMul", "Mean", "Mul",
                                     "NativeDropout", "NativeDropoutGrad", "NoOp", "ProjectHeads", "ProjectHeadsGrad",
                                     "RealDiv", "Reshape",
                                     "SparseSoftmaxCrossEntropyWithLogits", "Sum", "Tile", "UnsortedSegmentSum",
                                     "VariableV2", "Add", "LayerNorm", "LayerNormGrad"};
  for (const auto& how : lowerings(true)) {
    if (how.options.kernels == kernel_set::separate) {
      continue;
    }
    CAPTURE(how.name);
    auto expected = always;
    if (how.options.attention == attention_kernels::fused) {
      expected.insert({"FusedAttention", "FusedAttentionGrad"});
    } else {
      expected.insert({"Einsum", "MaskedSoftmax", "SoftmaxGrad"});
    }
    if (how.options.kernels == kernel_set::compiled) {
      expected.insert({"AddLayerNorm", "AddLayerNormGrad", "SoftmaxCrossEntropyGrad"});
    } else {
      expected.insert("CrossEntropyGrad");
    }
    CHECK(built{networks[0], how}.types() == expected);
  }
}

TEST_CASE("kernel sets: products have the same FLOP whatever the kernels, but for scores that are made again") {
  const auto products = [](const built& n) {
    double sum = 0;
    for (const op_id v : ids(n.step.graph.num_ops())) {
      const auto& op = n.net[n.step.origin[v]].op;
      const std::set<std::string> of{"MatMul", "BatchMatMulV2", "Gemm", "Einsum", "ProjectHeads", "ProjectHeadsGrad"};
      sum += of.contains(op.type) ? op.work : 0;
      if (op.type == "Gemm") { // less the bias
        sum -= static_cast<double>(weft::nn::element_count(op.outputs[0].dims));
      } else if (op.type == "ProjectHeads" && op.inputs.size() > 2) {
        sum -= static_cast<double>(op.inputs[0].dims()[0] * op.inputs[2].elements());
      }
    }
    return sum;
  };
  for (const auto& b : networks) {
    const auto all = lowerings(true);
    const double expected = products({b, all[0]});
    CAPTURE(b.name);
    CHECK(products({b, all[1]}) == doctest::Approx(expected).epsilon(1e-12));
    CHECK(products({b, all[3]}) == doctest::Approx(expected).epsilon(1e-12));
  }
}

TEST_CASE("kernel sets: joined ops can be split along the batch, or along heads") {
  const std::set<std::string> joined{
    "Gemm", "ProjectHeads", "ProjectHeadsGrad", "Einsum", "MaskedSoftmax", "FusedAttention", "FusedAttentionGrad",
    "AddLayerNorm", "AddLayerNormGrad", "AddRMSNorm", "AddRMSNormGrad", "BatchNormRelu", "BatchNormReluGrad",
    "NativeDropout", "NativeDropoutGrad", "CrossEntropyGrad", "SoftmaxCrossEntropyGrad",
    "SparseSoftmaxCrossEntropyWithLogits",
    "RotaryEmbedding", "BatchNormInference"};
  std::set<std::string> seen;
  for (const bool training : {true, false}) {
    for (const auto& b : networks) {
      for (const auto& how : lowerings(training)) {
        CAPTURE(b.name);
        CAPTURE(how.name);
        const built n{b, how};
        const auto m = parallel::make_split_model(graph_of(n.net), n.step.graph, n.step.origin);
        for (const op_id v : ids(n.step.graph.num_ops())) {
          const std::string type{n.step.graph.type(v)};
          if (joined.contains(type)) {
            CAPTURE(n.step.graph.name(v));
            CHECK(m.is_splittable(v));
            seen.insert(type);
          }
        }
      }
    }
  }
  CHECK(seen == joined);
}

} // namespace workload_zoo_kernel_sets_test
