// SPDX-License-Identifier: BSL-1.0
#include "interop/onnx_models.hpp"
#include "weft/interop/onnx.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace interop_onnx_op_costs_test {

using namespace weft;
using weft_test::onnx_model;
using weft_test::total_work;
using extents = weft::ops::call::extents;

double flop(const weft::ops::call& o) {
  const auto found = weft::onnx::flop_of(o);
  REQUIRE(found);
  return *found;
}

TEST_CASE("onnx op costs: a name that formats use differently means what it does in ONNX") {
  CHECK(flop({.type = "Sum", .inputs = {extents{5}, extents{5}, extents{5}}, .outputs = {extents{5}}}) == 10);
  CHECK(flop({.type = "Max", .inputs = {extents{5}, extents{}}, .outputs = {extents{5}}}) == 5);
  CHECK(flop({.type = "com.microsoft.Gelu", .inputs = {extents{5}}, .outputs = {extents{5}}}) == 25);
  CHECK_FALSE(weft::onnx::flop_of({.type = "NoSuchOp"}));
  CHECK_FALSE(weft::onnx::flop_of({.type = "com.example.Gelu"}));
}

TEST_CASE("onnx op costs: products") {
  CHECK(flop({.type = "MatMul", .inputs = {extents{5, 7}, extents{7, 3}}, .outputs = {extents{5, 3}}}) ==
        2 * 5 * 7 * 3);
  CHECK(flop({.type = "MatMul", .inputs = {extents{2, 4, 5, 7}, extents{7, 3}}, .outputs = {extents{2, 4, 5, 3}}}) ==
        2 * 8 * 5 * 7 * 3);
  CHECK(flop({.type = "MatMul", .inputs = {extents{7}, extents{7}}, .outputs = {extents{}}}) == 14);
  CHECK(flop({.type = "Gemm",
              .inputs = {extents{7, 5}, extents{7, 3}, extents{3}},
              .outputs = {extents{5, 3}},
              .numbers = {{"transA", {1}}}}) == 2 * 5 * 7 * 3 + 15);
  CHECK(flop({.type = "QLinearMatMul",
              .inputs = {extents{5, 7}, extents{}, extents{}, extents{7, 3}},
              .outputs = {extents{5, 3}}}) == 2 * 5 * 7 * 3);
  CHECK(flop({.type = "Einsum",
              .inputs = {extents{2, 3, 4}, extents{2, 4, 5}},
              .outputs = {extents{2, 3, 5}},
              .texts = {{"equation", "bij, bjk -> bik"}}}) == 2 * 2 * 3 * 4 * 5);
  CHECK(flop({.type = "Einsum",
              .inputs = {extents{6, 2, 3, 4}, extents{6, 2, 4, 5}},
              .outputs = {extents{6, 2, 3, 5}},
              .texts = {{"equation", "...ij,...jk->...ik"}}}) == 2 * 12 * 3 * 4 * 5);
}

TEST_CASE("onnx op costs: convolutions and pools") {
  // 8 filters of 4 channels (two groups of 8) and 3 × 3.
  CHECK(flop({.type = "Conv",
              .inputs = {extents{2, 8, 10, 10}, extents{8, 4, 3, 3}, extents{8}},
              .outputs = {extents{2, 8, 8, 8}}}) == 2 * 8 * 64 * (2 * 4 * 9 + 1));
  CHECK(flop({.type = "QLinearConv",
              .inputs = {extents{1, 8, 10, 10}, extents{}, extents{}, extents{8, 8, 3, 3}},
              .outputs = {extents{1, 8, 8, 8}}}) == 8 * 64 * 2 * 8 * 9);
  CHECK(flop({.type = "ConvTranspose",
              .inputs = {extents{1, 6, 5, 5}, extents{6, 4, 2, 2}},
              .outputs = {extents{1, 4, 10, 10}}}) == 2 * 6 * 25 * 4 * 4);
  CHECK(flop({.type = "MaxPool",
              .inputs = {extents{1, 2, 8, 8}},
              .outputs = {extents{1, 2, 4, 4}},
              .numbers = {{"kernel_shape", {3, 3}}}}) == 32 * 9);
  CHECK(flop({.type = "GlobalAveragePool", .inputs = {extents{1, 2, 8, 8}}, .outputs = {extents{1, 2, 1, 1}}}) == 128);
}

TEST_CASE("onnx op costs: recurrent layers") {
  struct kind {
    const char* type;
    std::int64_t gates;
    double per_element;
  };
  const std::int64_t steps = 7, batch = 3, inputs = 5, hidden = 4;
  for (const auto& [type, gates, per_element] : {kind{"LSTM", 4, 14}, kind{"GRU", 3, 13}, kind{"RNN", 1, 4}}) {
    for (const std::string direction : {"forward", "reverse", "bidirectional"}) {
      CAPTURE(type);
      CAPTURE(direction);
      const std::int64_t d = direction == "bidirectional" ? 2 : 1;
      const auto per_step = static_cast<double>(d) *
                            static_cast<double>(2 * gates * hidden * (inputs + hidden)) +
                            static_cast<double>(d * hidden) * per_element;
      weft::ops::call o{.type = type,
                            .inputs = {extents{steps, batch, inputs}, extents{d, gates * hidden, inputs},
                                       extents{d, gates * hidden, hidden}},
                            .numbers = {{"hidden_size", {hidden}}},
                            .texts = {{"direction", direction}}};
      CHECK(flop(o) == steps * batch * per_step);
      o.inputs[1].reset(); // made by ops that nobody knows
      o.inputs[2].reset();
      CHECK(flop(o) == steps * batch * per_step);
      o.inputs[0] = extents{batch, steps, inputs};
      o.numbers["layout"] = {1};
      CHECK(flop(o) == steps * batch * per_step);
      o.inputs.resize(5);
      o.inputs[4] = extents{batch};
      CHECK(flop(o) == steps * batch * per_step);
      o.values = {{}, {}, {}, {}, extents{7, 2, 1}};
      CHECK(flop(o) == 10 * per_step);
    }
  }
}

TEST_CASE("onnx op costs: elementwise ops with broadcasting, sums, reductions, resizing, moving") {
  CHECK(flop({.type = "Add", .inputs = {extents{4, 1}, extents{3}}, .outputs = {extents{4, 3}}}) == 12);
  CHECK(flop({.type = "Sum", .inputs = {extents{4}, extents{4}, extents{4}}, .outputs = {extents{4}}}) == 8);
  CHECK(flop({.type = "ReduceMean", .inputs = {extents{4, 5}}, .outputs = {extents{4}}}) == 20);
  CHECK(flop({.type = "Softmax", .inputs = {extents{4, 5}}, .outputs = {extents{4, 5}}}) == 100);
  CHECK(flop({.type = "LayerNormalization", .inputs = {extents{4, 5}}, .outputs = {extents{4, 5}}}) == 160);
  CHECK(flop({.type = "Resize", .inputs = {extents{1, 2, 4, 4}}, .outputs = {extents{1, 2, 8, 8}}}) == 0);
  CHECK(flop({.type = "Resize",
              .inputs = {extents{1, 2, 4, 4}},
              .outputs = {extents{1, 2, 8, 8}},
              .texts = {{"mode", "linear"}}}) == 2 * 4 * 128);
  CHECK(flop({.type = "Transpose", .inputs = {extents{4, 5}}, .outputs = {extents{5, 4}}}) == 0);
}

/// One encoder layer of a transformer, op by op: batch × length × hidden.
onnx_model encoder(std::int64_t batch, std::int64_t length, std::int64_t hidden, std::int64_t heads) {
  onnx_model m;
  m.input("x", {batch, length, hidden})
    .integers("split", {0, 0, heads, hidden / heads})
    .integers("join", {0, 0, hidden});
  m.weights("scale", {}).weights("gamma", {hidden}).weights("beta", {hidden});
  for (const char* name : {"q", "k", "v", "o"}) {
    const std::string s{name};
    m.weights("w" + s, {hidden, hidden}).weights("b" + s, {hidden});
  }
  m.weights("w1", {hidden, 4 * hidden})
    .weights("b1", {4 * hidden})
    .weights("w2", {4 * hidden, hidden})
    .weights("b2", {hidden});
  for (const std::string s : {"q", "k", "v"}) {
    m.node("MatMul", {"x", "w" + s}, {s + "0"});
    m.node("Add", {s + "0", "b" + s}, {s + "1"});
    m.node("Reshape", {s + "1", "split"}, {s + "2"});
    onnx_model::set(m.node("Transpose", {s + "2"}, {s + "3"}), "perm",
                    s == "k" ? onnx_model::dims{0, 2, 3, 1} : onnx_model::dims{0, 2, 1, 3});
  }
  m.node("MatMul", {"q3", "k3"}, {"scores"});
  m.node("Div", {"scores", "scale"}, {"scaled"});
  m.node("Softmax", {"scaled"}, {"shares"});
  m.node("MatMul", {"shares", "v3"}, {"heads"});
  onnx_model::set(m.node("Transpose", {"heads"}, {"back"}), "perm", onnx_model::dims{0, 2, 1, 3});
  m.node("Reshape", {"back", "join"}, {"joined"});
  m.node("MatMul", {"joined", "wo"}, {"o0"});
  m.node("Add", {"o0", "bo"}, {"o1"});
  m.node("Add", {"o1", "x"}, {"o2"});
  m.node("LayerNormalization", {"o2", "gamma", "beta"}, {"n"});
  m.node("MatMul", {"n", "w1"}, {"f0"});
  m.node("Add", {"f0", "b1"}, {"f1"});
  m.node("Erf", {"f1"}, {"f2"});
  m.node("MatMul", {"f2", "w2"}, {"f3"});
  m.node("Add", {"f3", "b2"}, {"y"});
  return m;
}

TEST_CASE("onnx op costs: a transformer's layer costs 24 b s h² + 4 b s² h in its products") {
  const auto r = encoder(2, 128, 768, 12).read();
  CHECK(r.notes.empty());
  double products = 0;
  byte_count parameters = 0;
  for (const op_id v : ids(r.ops.num_ops())) {
    products += r.ops.type(v) == "MatMul" ? r.ops.work(v) : 0;
    parameters += r.ops.resident_bytes(v);
  }
  // Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters, SC 2021, equation 3 (one layer,
  // forward).
  const double b = 2, s = 128, h = 768;
  CHECK(products == 24 * b * s * h * h + 4 * b * s * s * h);
  CHECK(total_work(r.ops) < 1.02 * products);
  CHECK(parameters >= 12 * 768 * 768 * 4);
  CHECK(total_work(encoder(1, 128, 768, 12).read({.batch = 2}).ops) == total_work(r.ops));
}

TEST_CASE("onnx op costs: fused attention costs what its parts cost") {
  onnx_model m;
  m.m.add_opset_import()->set_domain("com.microsoft");
  m.input("x", {2, 128, 768}).weights("w", {768, 3 * 768}).weights("b", {3 * 768}).weights("g", {768});
  onnx_model::set(m.node("Attention", {"x", "w", "b"}, {"a"}, "com.microsoft"), "num_heads", 12);
  m.node("SkipLayerNormalization", {"a", "x", "g"}, {"n"}, "com.microsoft");
  m.node("BiasGelu", {"n", "g"}, {"y"}, "com.microsoft");
  const auto r = m.read();
  CHECK(r.notes.empty());
  const double tokens = 2 * 128;
  CHECK(r.ops.work(0) == tokens * 3 * 768 * (2 * 768 + 1) + tokens * 128 * (4 * 768 + 5 * 12));
  CHECK(r.ops.work(1) == 9 * tokens * 768);
  CHECK(r.ops.bytes(2) == 2 * 128 * 768 * 4);
  CHECK(r.ops.type(0) == "com.microsoft.Attention");
}

} // namespace interop_onnx_op_costs_test
