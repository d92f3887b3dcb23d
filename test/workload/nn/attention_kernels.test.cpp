// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/nn/attention_kernels.hpp"

#include "weft/workload/nn/attention.hpp"
#include "weft/workload/nn/gradients.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace workload_nn_attention_kernels_test {

using namespace weft;
using namespace weft::nn;

const network_options framework{.bookkeeping = false, .kernels = kernel_set::framework};
const network_options fused{
  .bookkeeping = false, .kernels = kernel_set::compiled, .attention = attention_kernels::fused};

/// An attention of two sequences of five tokens to themselves, with four heads, two of keys.
struct small_attention {
  nn::network net;
  nn::tensor x, y;

  small_attention(const network_options& lowering, attention_options o)
      : net{lowering}, x{net.make_variable("x", {10, 8})} {
    o.heads = 4;
    o.kv_heads = 2;
    o.head_size = 6;
    y = attention("attention", x, x, 2, o);
  }
  std::vector<std::string> types() const {
    std::vector<std::string> all;
    for (const op_id v : ids(net.num_ops())) {
      if (const auto& type = net[v].op.type; type != "VariableV2" && type != "Identity" && type != "Reshape") {
        all.push_back(type);
      }
    }
    return all;
  }
  const op_spec& op(const std::string& type) const {
    for (const op_id v : ids(net.num_ops())) {
      if (net[v].op.type == type) {
        return net[v].op;
      }
    }
    throw value_error("test", "no " + type);
  }
  /// Of all variables and x; throws if a shape is wrong.
  std::vector<nn::tensor> differentiate() {
    std::vector<nn::tensor> all;
    for (const auto& v : net.variables()) {
      all.push_back(v.value);
    }
    return nn::gradients(net, reduce_mean(y), all);
  }
};

using names = std::vector<std::string>;
constexpr double N = 2, S = 5, H = 8, A = 4, K = 2, D = 6, scores = N * A * S * S;

TEST_CASE("attention kernels: an op each for the heads, their scores, softmax, dropout and results") {
  small_attention n{framework, {.dropout = true}};
  CHECK(n.types() == names{"ProjectHeads", "Einsum", "MaskedSoftmax", "NativeDropout", "Einsum", "Gemm"});
  CHECK(n.y.dims() == n.x.dims());
  const auto& heads = n.op("ProjectHeads");
  REQUIRE(heads.outputs.size() == 3);
  CHECK(heads.outputs[0].dims == extents{2, 5, 2, 2, 6});
  CHECK(heads.outputs[1].dims == extents{2, 5, 2, 1, 6});
  CHECK(heads.inputs[1].dims() == extents{8, 2, 4, 6});
  CHECK(heads.work == 2 * N * S * H * (A + 2 * K) * D + N * S * (A + 2 * K) * D);
  CHECK(n.op("Einsum").work == 2 * scores * D);
  CHECK(n.op("MaskedSoftmax").work == 7 * scores);
  CHECK(n.net.num_parameters() == 80 + 8 * 48 + 48 + 24 * 8 + 8);
  const auto forward = n.types().size();
  const auto g = n.differentiate();
  CHECK(std::all_of(g.begin(), g.end(), [](const nn::tensor& t) { return bool{t}; }));
  CHECK(n.op("ProjectHeadsGrad").work == 2 * N * S * H * (A + 2 * K) * D);
  CHECK(n.op("BiasAddGrad").outputs[0].dims == extents{8});
  CHECK(n.op("SoftmaxGrad").work == 5 * scores);
  CHECK(n.types().size() > forward);
}

TEST_CASE("attention kernels: a single op keeps the scores, and its gradient makes them again") {
  for (const bool causal : {false, true}) {
    CAPTURE(causal);
    small_attention n{fused, {.dropout = false, .causal = causal}};
    CHECK(n.types() == names{"ProjectHeads", "FusedAttention", "Gemm"});
    const double seen = causal ? N * A * S * (S + 1) / 2 : scores;
    const auto& forward = n.op("FusedAttention");
    CHECK(forward.work == 4 * seen * D + 5 * seen);
    CHECK(forward.outputs[0].dims == extents{10, 24});
    CHECK(forward.outputs[1].dims == extents{2, 2, 2, 5}); // a number per query
    CHECK(forward.attributes.causal == causal);
    CHECK(forward.attributes.scale == doctest::Approx(1 / std::sqrt(D)));
    (void)n.differentiate();
    const auto& gradient = n.op("FusedAttentionGrad");
    CHECK(gradient.work == 10 * seen * D + 8 * seen);
    CHECK(gradient.inputs.size() == 6);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(gradient.outputs[i].dims == gradient.inputs[1 + i].dims());
    }
    CHECK(gradient.attributes.causal == causal);
    CHECK(gradient.attributes.scale == forward.attributes.scale);
  }
}

TEST_CASE("attention kernels: softmax and its gradient know scale, mask and causality") {
  for (const bool scales : {false, true}) {
    small_attention n{framework, {.scale = scales, .dropout = false, .causal = true}};
    (void)n.differentiate();
    for (const char* type : {"MaskedSoftmax", "SoftmaxGrad"}) {
      CHECK(n.op(type).attributes.scale == doctest::Approx(scales ? 1 / std::sqrt(D) : 1));
    }
    CHECK(n.op("MaskedSoftmax").attributes.causal);
  }
}

TEST_CASE("attention kernels: a mask per head is added apart, after the scale") {
  for (const auto& lowering : {framework, fused}) {
    nn::network net{lowering};
    const auto x = net.make_variable("x", {10, 8});
    const auto mask = net.make_variable("mask", {1, 4, 5, 5});
    const auto y = attention("attention", x, x, 2, {.heads = 4, .head_size = 6, .dropout = false, .mask = mask});
    names types;
    for (const op_id v : ids(net.num_ops())) {
      if (const auto& type = net[v].op.type; type == "Mul" || type == "Add" || type == "MaskedSoftmax") {
        types.push_back(type);
        CHECK(net[v].op.attributes.scale == 1);
      }
    }
    CHECK(types == names{"Mul", "Add", "MaskedSoftmax"});
    CHECK(nn::gradients(net, reduce_mean(y), std::vector{mask})[0].dims() == mask.dims());
  }
}

TEST_CASE("attention kernels: memory has its own product, and masks have four extents") {
  nn::network net{fused};
  const auto x = net.make_variable("x", {10, 8}), memory = net.make_variable("memory", {6, 9});
  const auto y = attention("attention", x, memory, 2, {.heads = 4, .head_size = 6, .dropout = false});
  CHECK(y.dims() == x.dims());
  CHECK(net.num_parameters() == 80 + 54 + 8 * 24 + 24 + 9 * 48 + 48 + 24 * 8 + 8);
  const auto g = nn::gradients(net, reduce_mean(y), std::vector{x, memory});
  CHECK(g[0].dims() == x.dims());
  CHECK(g[1].dims() == memory.dims());
  CHECK_THROWS_AS(attention("other", x, memory, 4, {}), value_error);
  const auto flat = net.data("Const", "flat", {{5, 5}});
  CHECK_THROWS_WITH_AS(attention("masked", x, x, 2, {.heads = 4, .head_size = 6, .mask = flat}),
                       "attention: a mask has four extents", value_error);
}

TEST_CASE("attention kernels: nothing is dropped without training") {
  auto lowering = fused;
  lowering.training = false;
  const small_attention n{lowering, {.dropout = true}};
  CHECK(!n.op("FusedAttention").attributes.drops);
  const small_attention trained{fused, {.dropout = true}};
  CHECK(trained.op("FusedAttention").attributes.drops);
}

} // namespace workload_nn_attention_kernels_test
