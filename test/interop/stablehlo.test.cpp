// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/stablehlo.hpp"
#include "interop/reading.hpp"
#include "parallel/built_net.hpp"
#include "weft/parallel/split_graph.hpp"
#include "weft/parallel/tensor_parallel.hpp"
#include "weft/workload/nn/attention.hpp"
#include "weft/workload/nn/conv.hpp"
#include "weft/workload/nn/layers.hpp"
#include "weft/workload/training_step.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stablehlo_test {

using namespace weft;
using test::total_work;
using weft_test::forward_of;
using weft_test::noted;
using weft_test::op_called;

model read(std::string_view text, const stablehlo::reader& options = {}) {
  CHECK(options.recognises(text));
  return options.read(text, "f.mlir");
}

std::string refusal(std::string_view text, const stablehlo::reader& options = {}) {
  return weft_test::refusal_of([&] { return options.read(text, "f.mlir"); });
}

/// The text with `tensor<8x64xf32>` for each `<8x64>`.
std::string in_full(std::string_view text) {
  std::string all;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char before = i == 0 ? ' ' : text[i - 1];
    const auto end = text.find_first_not_of("0123456789x", i + 1);
    if (text[i] != '<' || (before != ' ' && before != '(') || end == text.npos || text[end] != '>') {
      all += text[i];
      continue;
    }
    all += "tensor<" + std::string{text.substr(i + 1, end - i - 1)} + (end > i + 1 ? "xf32>" : "f32>");
    i = end;
  }
  return all;
}

/// FLOP of one operation of `(operands) -> result`, in a function that does nothing else.
double flop_of(const std::string& op, const std::string& arguments) {
  const auto m = read(in_full("func.func @main(" + arguments + ") {\n  " + op + "\n  return\n}\n"));
  REQUIRE(m.ops.num_ops() == 1);
  return m.ops.work(0);
}

/// The index expression of the one operation of `(operands) -> result`.
std::string axes_of(const std::string& op, const std::string& arguments) {
  const auto m = read(in_full("func.func @main(" + arguments + ") {\n  " + op + "\n  return\n}\n"));
  REQUIRE(m.graph != nullptr);
  const auto& texts = (*m.graph)[0].texts;
  const auto at = texts.find("axes");
  return at == texts.end() ? "" : at->second;
}

TEST_CASE("StableHLO: operations know their axes, by their attributes") {
  CHECK(axes_of("%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (<8x64>, <64x32>) -> <8x32>",
                "%a: <8x64>, %b: <64x32>") == "ab,bB->aB");
  CHECK(axes_of("%0 = stablehlo.dot_general %a, %b, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : "
                "(<2x16x8x64>, <2x8x16x16>) -> <2x8x64x16>", "%a: <2x16x8x64>, %b: <2x8x16x16>") ==
        "abcd,acCb->acdC");
  CHECK(axes_of("%0 = \"stablehlo.dot_general\"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<"
                "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], "
                "rhs_contracting_dimensions = [1]>}> : (<5x8x64>, <5x64x32>) -> <5x8x32>",
                "%a: <5x8x64>, %b: <5x64x32>") == "abc,acC->abC");
  CHECK(axes_of("%0 = stablehlo.transpose %a, dims = [2, 0, 1] : (<2x3x4>) -> <4x2x3>", "%a: <2x3x4>") == "abc->cab");
  CHECK(axes_of("%0 = \"stablehlo.transpose\"(%a) <{permutation = array<i64: 1, 0>}> : (<2x3>) -> <3x2>",
                "%a: <2x3>") == "ab->ba");
  CHECK(axes_of("%0 = stablehlo.broadcast_in_dim %a, dims = [1] : (<4>) -> <3x4>", "%a: <4>") == "b->ab");
  CHECK(axes_of("%0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (<1x4>) -> <3x4>", "%a: <1x4>") == ".b->ab");
  CHECK(axes_of("%0 = stablehlo.reduce(%a init: %f) applies stablehlo.add across dimensions = [1] : (<3x4x5>, <>) -> "
                "<3x5>", "%a: <3x4x5>, %f: <>") == "abc,+->ac");
  CHECK(axes_of("%0 = stablehlo.reduce(%a init: %f) applies stablehlo.maximum across dimensions = [1] : (<3x4x5>, <>) "
                "-> <3x5>", "%a: <3x4x5>, %f: <>") == "a.c,->ac");
  CHECK(axes_of("%0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = "
                "{pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
                "(<8x9x9x3>, <3x3x3x16>) -> <8x9x9x16>", "%x: <8x9x9x3>, %k: <3x3x3x16>") == "n..c,..cf->n..f");
  CHECK(axes_of("%0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = "
                "{pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : "
                "(<8x9x9x3>, <3x3x1x3>) -> <8x9x9x3>", "%x: <8x9x9x3>, %k: <3x3x1x3>") == "->");
  const std::string_view rows = "#stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = "
                                "[0], index_vector_dim = 2>";
  CHECK(axes_of("%0 = \"stablehlo.gather\"(%t, %i) <{dimension_numbers = " + std::string{rows} +
                  ", slice_sizes = array<i64: 1, 64>}> : (<100x64>, tensor<2x7x1xi32>) -> <2x7x64>",
                "%t: <100x64>, %i: tensor<2x7x1xi32>") == "ab,AB.->ABb");
  CHECK(axes_of("%0 = \"stablehlo.gather\"(%t, %i) <{dimension_numbers = " + std::string{rows} +
                  ", slice_sizes = array<i64: 1, 32>}> : (<100x64>, tensor<2x7x1xi32>) -> <2x7x32>",
                "%t: <100x64>, %i: tensor<2x7x1xi32>") == "->");
  CHECK(axes_of("%0 = \"stablehlo.scatter\"(%a, %i, %u) <{scatter_dimension_numbers = "
                "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
                "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
                "  ^bb0(%p: <>, %q: <>):\n"
                "    %1 = stablehlo.add %p, %q : <>\n"
                "    stablehlo.return %1 : <>\n"
                "  }) : (<1000x64>, tensor<32x1xi32>, <32x64>) -> <1000x64>",
                "%a: <1000x64>, %i: tensor<32x1xi32>, %u: <32x64>") == "+ab,A.,Ab->ab");
}

TEST_CASE("StableHLO: constants are read as they were before they were shown in another shape") {
  const auto m = read(in_full(R"(
func.func @main(%x: <8x64>, %y: <4x4>) -> <8x32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %row = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> <64x32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (<8x64>, <64x32>) -> <8x32>
  %2 = stablehlo.broadcast_in_dim %row, dims = [0] : (<4>) -> <4x4>
  %3 = stablehlo.add %y, %2 : tensor<4x4xf32>
  return %1 : <8x32>
}
)"));
  std::vector<op_id> all(m.ops.num_ops());
  std::iota(all.begin(), all.end(), op_id{0});
  const auto model = parallel::make_split_model(*m.graph, m.ops, all);
  CHECK((*m.graph)[0].texts.at("axes") == "ab,->aB");
  CHECK((*m.graph)[1].texts.at("axes") == "ab,.->ab"); // rows, not columns
  CHECK(stablehlo::detail::index_expressions::with_whole_operands({}, {}, "->", {std::nullopt, 1}) == ",.->");
  const auto turned = read(in_full(R"(
func.func @main(%x: <8x4>) -> <8x4> {
  %square = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = stablehlo.transpose %square, dims = [1, 0] : (<2x2>) -> <2x2>
  %1 = stablehlo.add %0, %0 : tensor<2x2xf32>
  return %1 : <2x2>
}
)"));
  CHECK((*turned.graph)[0].texts.at("axes") == "..,..->ab");
  CHECK(axes_of("%0 = stablehlo.transpose %a, dims = [1, 99999999999999999999] : (<2x3>) -> <3x2>", "%a: <2x3>") ==
        "->");
}

TEST_CASE("StableHLO: a training step is split as by Megatron: columns of the first weights, rows of the second") {
  constexpr std::uint32_t ranks = 4;
  const auto m = read(in_full(R"(
module @jit_step {
  func.func public @main(%a: <64x256> {tf.aliasing_output = 0 : i32} loc("params['a']"), %b: <256x64> {tf.aliasing_output = 1 : i32} loc("params['b']"), %x: <1x64> loc("x")) -> (<64x256>, <256x64>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %rate = stablehlo.constant dense<0.1> : tensor<f32>
    %0 = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0] : (<1x64>, <64x256>) -> <1x256>
    %1 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> <1x256>
    %2 = stablehlo.maximum %0, %1 : tensor<1x256xf32>
    %3 = stablehlo.dot_general %2, %b, contracting_dims = [1] x [0] : (<1x256>, <256x64>) -> <1x64>
    %4 = stablehlo.dot_general %2, %3, contracting_dims = [0] x [0] : (<1x256>, <1x64>) -> <256x64>
    %5 = stablehlo.dot_general %3, %b, contracting_dims = [1] x [1] : (<1x64>, <256x64>) -> <1x256>
    %6 = stablehlo.compare GT, %0, %1 : (<1x256>, <1x256>) -> tensor<1x256xi1>
    %7 = stablehlo.select %6, %5, %1 : tensor<1x256xi1>, tensor<1x256xf32>
    %8 = stablehlo.dot_general %x, %7, contracting_dims = [0] x [0] : (<1x64>, <1x256>) -> <64x256>
    %9 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> <64x256>
    %10 = stablehlo.multiply %8, %9 : tensor<64x256xf32>
    %11 = stablehlo.subtract %a, %10 : tensor<64x256xf32>
    %12 = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> <256x64>
    %13 = stablehlo.multiply %4, %12 : tensor<256x64xf32>
    %14 = stablehlo.subtract %b, %13 : tensor<256x64xf32>
    return %11, %14 : tensor<64x256xf32>, tensor<256x64xf32>
  }
}
)"));
  const auto& w = m.ops;
  std::vector<op_id> all(w.num_ops());
  std::iota(all.begin(), all.end(), op_id{0});
  const auto model = parallel::make_split_model(*m.graph, w, all);
  CHECK(model.uses.size() == 2 * 2 - 1 + 2); // %b twice more, %a once; both are replaced, too
  auto costs = test::costs_of(w, ranks, 1e9);
  costs.capacity = 4 * 64 * 256 * 2; // parameters, gradients and new parameters in parts only
  const auto chosen = parallel::choose_splits(model, ranks, costs, {.budget = {.moves = 2000}});
  REQUIRE(chosen.found);
  const auto made = parallel::tensor_parallel(model, chosen.axis, test::on_ranks(w, ranks));
  REQUIRE(made.resharded.size() == 1); // what the second product makes
  CHECK(made.resharded[0].what == parallel::resharding::all_reduce);
  CHECK(w.bytes(made.resharded[0].tensor) == 4 * 64);
}

// What jax.jit(f).lower(params, x).as_text() gives for two dense layers, one with a ReLU that is jitted by itself.
constexpr std::string_view mlp =
  R"(module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<128xf32> {mhlo.layout_mode = "default"}, %arg1: tensor<784x128xf32>, %arg2: tensor<10xf32>, %arg3: tensor<128x10xf32>, %arg4: tensor<32x784xf32>) -> (tensor<32x10xf32> {jax.result_info = "result", mhlo.layout_mode = "default"}) {
    %0 = stablehlo.dot_general %arg4, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x784xf32>, tensor<784x128xf32>) -> tensor<32x128xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<128xf32>) -> tensor<1x128xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<32x128xf32>
    %3 = stablehlo.add %0, %2 : tensor<32x128xf32>
    %4 = call @relu(%3) : (tensor<32x128xf32>) -> tensor<32x128xf32>
    %5 = stablehlo.dot_general %4, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x128xf32>, tensor<128x10xf32>) -> tensor<32x10xf32>
    %6 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<32x10xf32>
    %8 = stablehlo.add %5, %7 : tensor<32x10xf32>
    return %8 : tensor<32x10xf32>
  }
  func.func private @relu(%arg0: tensor<32x128xf32>) -> tensor<32x128xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<32x128xf32>
    return %1 : tensor<32x128xf32>
  }
}
)";

TEST_CASE("StableHLO: the layer that reads the arguments is trained like the others") {
  const auto m = read(mlp, {.leading_parameters = 4});
  const auto step = training_step(m.ops, {.rule = optimizer::sgd});
  const auto weights = op_called(step, "gradients/0/weights");
  CHECK(step.work(weights) == 2.0 * 32 * 784 * 128);
  CHECK(test::find_op(step, "gradients/0/input") == none);
  CHECK(step.work(op_called(step, "gradients/5/input")) == 2.0 * 32 * 128 * 10);
}

TEST_CASE("StableHLO: two dense layers cost what they cost in nn") {
  nn::network net{{.bookkeeping = false}};
  const auto x = net.input_pipeline({{{32, 784}}});
  static_cast<void>(nn::dense("b", relu(nn::dense("a", x[0], 128)), 10));

  const auto m = read(mlp, {.leading_parameters = 4});
  CHECK(m.format == "StableHLO");
  CHECK(m.returned == std::vector<op_id>{8});
  CHECK(total_work(m.ops) == doctest::Approx(forward_of(net)).epsilon(0.001));
  CHECK(total_work(m.ops) == 2.0 * 32 * 784 * 128 + 2 * 32 * 128 + 2.0 * 32 * 128 * 10 + 32 * 10);

  CHECK(m.ops.num_ops() == 9); // of four broadcasts of parameters each is a view; that of the constant is none
  const auto product = op_called(m.ops, "0");
  const auto add = op_called(m.ops, "3");
  const auto relu_op = op_called(m.ops, "relu/1");
  CHECK(m.ops.type(product) == "stablehlo.dot_general");
  CHECK(m.ops.resident_bytes(product) == 784 * 128 * 4);
  CHECK(m.ops.resident_bytes(add) == 128 * 4);
  CHECK(m.ops.resident_bytes(relu_op) == 0);
  CHECK(m.ops.work(relu_op) == 32 * 128);
  CHECK(m.ops.bytes(m.ops.outputs(relu_op).front()) == 32 * 128 * 4);
  CHECK(m.ops.inputs(relu_op).size() == 1);
  const auto view = op_called(m.ops, "2");
  CHECK(m.ops.work(view) == 0);
  CHECK(m.ops.bytes(m.ops.outputs(view).front()) == 0);
  CHECK(m.ops.group(view) == m.ops.group(add));
  CHECK(noted(m, "4 of 5 arguments are parameters (407080 bytes), the others inputs (100352 bytes)"));

  const auto by_use = read(mlp); // without saying what is a parameter
  CHECK(noted(by_use, "4 of 5 arguments are parameters (407080 bytes), the others inputs (100352 bytes), by their "));
  CHECK(by_use.ops.resident_bytes(op_called(by_use.ops, "0")) == 784 * 128 * 4);
  const auto inputs = read(mlp, {.leading_parameters = 0});
  CHECK(total_work(inputs.ops) == total_work(m.ops));
  CHECK(inputs.ops.resident_bytes(op_called(inputs.ops, "0")) == 0);
  CHECK(noted(inputs, "0 of 5 arguments are parameters"));
}

TEST_CASE("StableHLO: a convolution block, and its generic form, cost what they cost in nn") {
  // Images in JAX's usual order, batch × height × width × channels; SAME padding, a bias, ReLU, max pool, mean.
  constexpr std::string_view text = R"(module @jit_block {
  func.func public @main(%arg0: tensor<3x3x16x32xf32>, %arg1: tensor<32xf32>, %arg2: tensor<8x28x28x16xf32>) -> tensor<8x32xf32> {
    %0 = stablehlo.convolution(%arg2, %arg0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8x28x28x16xf32>, tensor<3x3x16x32xf32>) -> tensor<8x28x28x32xf32>
    %1 = stablehlo.reshape %arg1 : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x1x1x32xf32>) -> tensor<8x28x28x32xf32>
    %3 = stablehlo.add %0, %2 : tensor<8x28x28x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<8x28x28x32xf32>
    %4 = stablehlo.maximum %3, %cst : tensor<8x28x28x32xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = "stablehlo.reduce_window"(%4, %cst_0) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %9 = stablehlo.maximum %arg3, %arg4 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<8x28x28x32xf32>, tensor<f32>) -> tensor<8x14x14x32xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_1) applies stablehlo.add across dimensions = [1, 2] : (tensor<8x14x14x32xf32>, tensor<f32>) -> tensor<8x32xf32>
    %cst_2 = stablehlo.constant dense<1.960000e+02> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %8 = stablehlo.divide %6, %7 : tensor<8x32xf32>
    return %8 : tensor<8x32xf32>
  }
})";
  nn::network net{{.bookkeeping = false}};
  const auto x = net.input_pipeline({{{8, 28, 28, 16}}});
  const auto y = nn::global_avg_pool(nn::max_pool(relu(nn::conv_layer("c", x[0], {.filters = 32})), 2, {.stride = 2}));
  static_cast<void>(y);
  const auto m = read(text, {.leading_parameters = 2});
  CHECK(total_work(m.ops) == doctest::Approx(forward_of(net)).epsilon(0.001));
  CHECK(m.ops.work(op_called(m.ops, "0")) == 2.0 * 8 * 28 * 28 * 32 * 9 * 16);
  CHECK(m.ops.work(op_called(m.ops, "5")) == 8 * 14 * 14 * 32 * 4);
  CHECK(m.ops.work(op_called(m.ops, "6")) == 8 * 14 * 14 * 32);
  CHECK(m.ops.num_ops() == 8);

  constexpr std::string_view generic = R"("builtin.module"() <{sym_name = "jit_block"}> ({
  "func.func"() <{function_type = (tensor<3x3x16x32xf32>, tensor<8x28x28x16xf32>) -> tensor<8x14x14x32xf32>, sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<3x3x16x32xf32>, %arg1: tensor<8x28x28x16xf32>):
    %0 = "stablehlo.convolution"(%arg1, %arg0) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, padding = dense<1> : tensor<2x2xi64>}> : (tensor<8x28x28x16xf32>, tensor<3x3x16x32xf32>) -> tensor<8x28x28x32xf32>
    %1 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %2 = "func.call"(%0, %1) <{callee = @pool}> : (tensor<8x28x28x32xf32>, tensor<f32>) -> tensor<8x14x14x32xf32>
    "func.return"(%2) : (tensor<8x14x14x32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<8x28x28x32xf32>, tensor<f32>) -> tensor<8x14x14x32xf32>, sym_name = "pool", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<8x28x28x32xf32>, %arg1: tensor<f32>):
    %0 = "stablehlo.reduce_window"(%arg0, %arg1) ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %1 = "stablehlo.maximum"(%arg2, %arg3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%1) : (tensor<f32>) -> ()
    }) {window_dimensions = dense<[1, 2, 2, 1]> : tensor<4xi64>, window_strides = dense<[1, 2, 2, 1]> : tensor<4xi64>} : (tensor<8x28x28x32xf32>, tensor<f32>) -> tensor<8x14x14x32xf32>
    "func.return"(%0) : (tensor<8x14x14x32xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
)";
  const auto g = read(generic);
  REQUIRE(g.ops.num_ops() == 2);
  CHECK(g.ops.work(0) == m.ops.work(op_called(m.ops, "0")));
  CHECK(g.ops.work(1) == m.ops.work(op_called(m.ops, "5")));
  CHECK(g.ops.name(1) == "pool/0");
}

TEST_CASE("StableHLO: attention with a softmax costs 4 s² h and 5 per score") {
  constexpr std::string_view text = R"(#loc = loc(unknown)
#loc1 = loc("params['q']['kernel']")
#loc2 = loc("params['k']['kernel']")
#loc3 = loc("x")
module @jit_attend attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<512x8x64xbf16> loc("params['q']['kernel']"), %arg1: tensor<512x8x64xbf16> loc(#loc2), %arg2: tensor<2x128x512xbf16> loc("x")) -> (tensor<2x128x8x64xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x128x512xbf16>, tensor<512x8x64xbf16>) -> tensor<2x128x8x64xbf16> loc(#loc9)
    %1 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x128x512xbf16>, tensor<512x8x64xbf16>) -> tensor<2x128x8x64xbf16> loc(#loc9)
    %2 = stablehlo.dot_general %0, %1, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x128x8x64xbf16>, tensor<2x128x8x64xbf16>) -> tensor<2x8x128x128xbf16> loc(#loc9)
    %3 = call @softmax(%2) : (tensor<2x8x128x128xbf16>) -> tensor<2x8x128x128xbf16> loc(#loc9)
    %4 = stablehlo.dot_general %1, %3, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x128x8x64xbf16>, tensor<2x8x128x128xbf16>) -> tensor<2x8x64x128xbf16> loc(#loc9)
    %5 = stablehlo.transpose %4, dims = [0, 3, 1, 2] : (tensor<2x8x64x128xbf16>) -> tensor<2x128x8x64xbf16> loc(#loc9)
    return %5 : tensor<2x128x8x64xbf16> loc(#loc)
  } loc(#loc)
  func.func private @softmax(%arg0: tensor<2x8x128x128xbf16> loc("x")) -> tensor<2x8x128x128xbf16> {
    %cst = stablehlo.constant dense<0xFF80> : tensor<bf16> loc(#loc)
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<2x8x128x128xbf16>, tensor<bf16>) -> tensor<2x8x128xbf16> loc(#loc)
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<2x8x128xbf16>) -> tensor<2x8x128x128xbf16> loc(#loc)
    %2 = stablehlo.subtract %arg0, %1 : tensor<2x8x128x128xbf16> loc(#loc)
    %3 = stablehlo.exponential %2 : tensor<2x8x128x128xbf16> loc(#loc)
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<bf16> loc(#loc)
    %4 = stablehlo.reduce(%3 init: %cst_0) across dimensions = [3] : (tensor<2x8x128x128xbf16>, tensor<bf16>) -> tensor<2x8x128xbf16>
     reducer(%arg1: tensor<bf16> loc(unknown), %arg2: tensor<bf16> loc(unknown))  {
      %7 = stablehlo.add %arg1, %arg2 : tensor<bf16> loc(#loc)
      stablehlo.return %7 : tensor<bf16> loc(#loc)
    } loc(#loc)
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<2x8x128xbf16>) -> tensor<2x8x128x128xbf16> loc(#loc)
    %6 = stablehlo.divide %3, %5 : tensor<2x8x128x128xbf16> loc(#loc)
    return %6 : tensor<2x8x128x128xbf16> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc9 = loc("jit(attend)/jit(main)/dot_general"(#loc))
)";
  const auto m = read(text);
  const double scores = 2.0 * 8 * 128 * 128;
  CHECK(total_work(m.ops) == 2 * (2.0 * 2 * 128 * 512 * 512) + 2 * (2 * scores * 64) + 5 * scores);
  // Arguments called params are parameters without asking.
  CHECK(m.ops.resident_bytes(op_called(m.ops, "jit(attend)/jit(main)/dot_general.0")) == 512 * 512 * 2);
  CHECK(m.ops.resident_bytes(op_called(m.ops, "jit(attend)/jit(main)/dot_general.1")) == 512 * 512 * 2);
  CHECK(noted(m, "2 of 3 arguments are parameters"));
  REQUIRE(m.parameters.size() == 2);
  CHECK(m.parameters[0].name == "params['q']['kernel']");
  CHECK(m.parameters[0].op == op_called(m.ops, "jit(attend)/jit(main)/dot_general.0"));
  CHECK(number_bits(m) == 16);
  CHECK(read(text, {.parameter_names = "params['q']"}).ops.resident_bytes(1) == 0);
  CHECK(refusal(text, {.parameter_names = "weights"}).find("no argument of the program has a name that begins") !=
        std::string::npos);
}

TEST_CASE("StableHLO: arguments without names are parameters if they are used like weights or state") {
  const auto parameters = [](const std::string& arguments, const std::string& body, const std::string& rest = "") {
    const auto m = read(in_full("func.func @main(" + arguments + ") {\n" + body + "}\n" + rest));
    const auto& note = m.notes.front();
    return note.substr(0, note.find(" arguments"));
  };
  // A layer as torch_xla writes it: the weight is output features x input features.
  CHECK(parameters("%b: <10>, %w: <10x64>, %x: <8x64>",
                   "  %0 = stablehlo.transpose %w, dims = [1, 0] : (<10x64>) -> <64x10>\n"
                   "  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (<8x64>, <64x10>) -> <8x10>\n"
                   "  %2 = stablehlo.broadcast_in_dim %b, dims = [1] : (<10>) -> <8x10>\n"
                   "  %3 = stablehlo.add %1, %2 : <8x10>\n  return %3 : <8x10>\n") == "2 of 3");
  // A step of training with momentum: weight, bias, moment and its look-alike are state, images and labels are not.
  CHECK(parameters("%w: <64x64>, %b: <64>, %m: <64x64>, %x: <8x64>, %y: <8x64>",
                   "  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (<8x64>, <64x64>) -> <8x64>\n"
                   "  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (<64>) -> <8x64>\n"
                   "  %2 = stablehlo.add %0, %1 : <8x64>\n"
                   "  %3 = stablehlo.subtract %2, %y : <8x64>\n"
                   "  %4 = stablehlo.dot_general %3, %x, contracting_dims = [0] x [0] : (<8x64>, <8x64>) -> <64x64>\n"
                   "  %5 = stablehlo.transpose %4, dims = [1, 0] : (<64x64>) -> <64x64>\n"
                   "  %6 = stablehlo.add %m, %5 : <64x64>\n  %7 = stablehlo.subtract %w, %6 : <64x64>\n"
                   "  return %7, %6 : <64x64>, <64x64>\n") == "3 of 5");
  // Layers in a loop, from stacked weights; what the loop goes over in time is data.
  const auto scan = [&](const std::string& operands) {
    return parameters("%s: <5x64x64>, %x: <64x64>",
                      "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
                      "  %0:3 = stablehlo.while(%i = %z, %a = %s, %h = %x) : tensor<i32>, <5x64x64>, <64x64>\n"
                      "   cond {\n    %n = stablehlo.constant dense<5> : tensor<i32>\n"
                      "    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
                      "    stablehlo.return %c : tensor<i1>\n  } do {\n"
                      "    %1 = stablehlo.dynamic_slice %a, %i, %z, %z, sizes = [1, 64, 64] : (<5x64x64>, "
                      "tensor<i32>, tensor<i32>, tensor<i32>) -> <1x64x64>\n"
                      "    %w = stablehlo.reshape %1 : (<1x64x64>) -> <64x64>\n"
                      "    %2 = func.call @layer(" + operands + ") : (<64x64>, <64x64>) -> <64x64>\n"
                      "    %one = stablehlo.constant dense<1> : tensor<i32>\n"
                      "    %3 = stablehlo.add %i, %one : tensor<i32>\n"
                      "    stablehlo.return %3, %a, %2 : tensor<i32>, <5x64x64>, <64x64>\n  }\n"
                      "  return %0#2 : <64x64>\n",
                      "func.func private @layer(%x: <64x64>, %w: <64x64>) -> <64x64> {\n"
                      "  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (<64x64>, <64x64>) -> "
                      "<64x64>\n  return %0 : <64x64>\n}\n");
  };
  CHECK(scan("%h, %w") == "1 of 2");
  CHECK(noted(read(in_full("func.func @main(%x: <4>) {\n  %0 = stablehlo.tanh %x : <4>\n  return\n}\n")),
              "0 of 1 arguments are parameters (0 bytes), the others inputs (16 bytes), as far as names and uses tell; "
              "--parameters says"));
  // A table of words; a cache that comes back longer; queries against it; attributes of a SavedModel.
  CHECK(parameters("%t: <100x64>, %k: <2x9x64>, %i: tensor<2x1xi32>, %at: tensor<i32>",
                   "  %q = \"stablehlo.gather\"(%t, %i) <{slice_sizes = array<i64: 1, 64>}> : (<100x64>, "
                   "tensor<2x1xi32>) -> <2x1x64>\n"
                   "  %c = stablehlo.dynamic_update_slice %k, %q, %at, %at, %at : (<2x9x64>, <2x1x64>, tensor<i32>, "
                   "tensor<i32>, tensor<i32>) -> <2x9x64>\n"
                   "  %s = stablehlo.dot_general %q, %c, batching_dims = [0] x [0], contracting_dims = [2] x [2] : "
                   "(<2x1x64>, <2x9x64>) -> <2x1x9>\n"
                   "  return %s, %c : <2x1x9>, <2x9x64>\n") == "2 of 4");
  CHECK(parameters("%k: <2x9x64>, %q: <2x1x64>, %b: <2x1x1>",
                   "  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : "
                   "(<2x1x64>, <2x9x64>) -> <2x1x9>\n"
                   "  %m = stablehlo.broadcast_in_dim %b, dims = [0, 1, 2] : (<2x1x1>) -> <2x1x9>\n"
                   "  %r = stablehlo.add %s, %m : <2x1x9>\n  return %r : <2x1x9>\n") == "0 of 3");
  CHECK(parameters("%x: <8> {tf_saved_model.index_path = [\"x\"]}, %w: <8> {tf_saved_model.bound_input = @w}",
                   "  %0 = stablehlo.add %x, %w : <8>\n  return %0 : <8>\n") == "1 of 2");
  // Norms and convolutions; what only adds up is an input, also if a result has its type.
  CHECK(parameters("%x: <2x4x4x3>, %k: <1x1x3x3>, %s: <3>, %y: <2x4x4x3>",
                   "  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
                   "window = {} : (<2x4x4x3>, <1x1x3x3>) -> <2x4x4x3>\n"
                   "  %1 = \"stablehlo.batch_norm_inference\"(%0, %s, %s, %s, %s) : (<2x4x4x3>, <3>, <3>, <3>, <3>) "
                   "-> <2x4x4x3>\n"
                   "  %2 = stablehlo.add %1, %y : <2x4x4x3>\n  return %2 : <2x4x4x3>\n") ==
        "2 of 4");
}

TEST_CASE("StableHLO: loops count as often as constants say") {
  const auto loop = [](const std::string& start, const std::string& compare, const std::string& step) {
    return "func.func public @main(%arg0: tensor<4x8xf32>, %n: tensor<i32>) -> tensor<4x8xf32> {\n"
           "  %c = stablehlo.constant dense<" + start + "> : tensor<i32>\n"
           "  %c_1 = stablehlo.constant dense<10> : tensor<i32>\n"
           "  %0:3 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg0, %iterArg_1 = %c_1) : tensor<i32>, "
           "tensor<4x8xf32>, tensor<i32> attributes {mhlo.frontend_attributes = {}}\n"
           "    cond {\n"
           "    %c_2 = stablehlo.constant dense<7> : tensor<i32>\n"
           "    %1 = stablehlo.compare  " + compare + ",  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
           "    stablehlo.return %1 : tensor<i1>\n"
           "  } do {\n"
           "    %1 = func.call @next(%iterArg) : (tensor<i32>) -> tensor<i32>\n"
           "    %2 = stablehlo.multiply %iterArg_0, %iterArg_0 : tensor<4x8xf32>\n"
           "    stablehlo.return %1, %2, %iterArg_1 : tensor<i32>, tensor<4x8xf32>, tensor<i32>\n"
           "  }\n"
           "  return %0#1 : tensor<4x8xf32>\n"
           "}\n"
           "func.func private @next(%arg0: tensor<i32>) -> tensor<i32> {\n"
           "  %c = stablehlo.constant dense<" + step + "> : tensor<i32>\n"
           "  %0 = stablehlo.add %arg0, %c : tensor<i32>\n"
           "  return %0 : tensor<i32>\n"
           "}\n";
  };
  const auto rounds = [&](const std::string& start, const std::string& compare, const std::string& step) {
    const auto m = read(loop(start, compare, step));
    REQUIRE(m.ops.num_ops() == 1);
    CHECK(m.ops.type(0) == "stablehlo.while");
    CHECK_FALSE(noted(m, "loops"));
    return m.ops.work(0) / (4 * 8 + 1 + 1); // the body, its counter, the comparison
  };
  struct {
    std::string start, compare, step;
    double rounds;
  } const known[] = {{"0", "LT, %iterArg, %c_2", "1", 7},        {"0", "LT, %iterArg, %iterArg_1", "1", 10},
                     {"0", "LT, %iterArg, %iterArg_1", "3", 4},  {"0", "LE, %iterArg, %iterArg_1", "5", 3},
                     {"0", "LE, %iterArg, %iterArg_1", "3", 4},  {"0", "GT, %c_2, %iterArg", "2", 4},
                     {"0", "GE, %c_2, %iterArg", "7", 2},        {"9", "GE, %iterArg, %c_2", "-1", 3},
                     {"20", "GT, %iterArg, %c_2", "-5", 3},      {"20", "LT, %c_2, %iterArg", "-5", 3},
                     {"0", "NE, %iterArg, %iterArg_1", "1", 10}, {"0", "NE, %iterArg, %iterArg_1", "5", 2},
                     {"19", "NE, %c_2, %iterArg", "-4", 3},      {"7", "EQ, %iterArg, %c_2", "1", 1},
                     {"20", "LT, %iterArg, %iterArg_1", "1", 0}, {"0", "GT, %iterArg, %iterArg_1", "1", 0},
                     {"10", "NE, %iterArg, %iterArg_1", "1", 0}, {"0", "EQ, %iterArg, %c_2", "1", 0},
                     {"7", "LE, %iterArg, %c_2", "1", 1},        {"7", "LT, %iterArg, %c_2", "1", 0}};
  for (const auto& k : known) {
    CAPTURE(k.compare);
    CHECK(rounds(k.start, k.compare, k.step) == k.rounds);
  }

  // The limit is an argument, or the counter never gets there.
  const std::array<std::string, 3> unknown[] = {
    {"0", "LT, %iterArg, %n", "1"},   {"0", "LT, %iterArg, %c_2", "-1"},      {"9", "GE, %iterArg, %c_2", "1"},
    {"0", "NE, %iterArg, %c_2", "2"}, {"20", "NE, %iterArg, %iterArg_1", "1"}, {"7", "LE, %iterArg, %c_2", "0"},
    {"0", "NE, %iterArg, %c_2", "0"}};
  for (const auto& [start, compare, step] : unknown) {
    CAPTURE(compare);
    const auto text = loop(start, compare, step);
    const auto m = read(text);
    CHECK(m.ops.work(0) == 34);
    CHECK(m.assumed == std::vector<assumed_size>{{assumed_size::option::trips, "%0", "stablehlo.while"}});
    CHECK(read(text, {.unknown_trips = 50}).ops.work(0) == 50 * 34);
  }
  auto beyond = loop("0", "LT, %iterArg, %3", "1"); // a limit of 7 more than the largest integer
  const auto put = [&](const std::string& old, const std::string& by) {
    beyond.replace(beyond.find(old), old.size(), by);
  };
  put("dense<10>", "dense<9223372036854775807>");
  put("    %1 = stablehlo.compare",
      "    %3 = stablehlo.add %iterArg_1, %c_2 : tensor<i32>\n    %1 = stablehlo.compare");
  CHECK(read(beyond).assumed.size() == 1);
}

TEST_CASE("StableHLO: a loop in a loop takes its limit from around it, and both count") {
  const auto nested = [](const std::string& passed_on) {
    return "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
           "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
           "  %limit = stablehlo.constant dense<5> : tensor<i32>\n"
           "  %r:3 = stablehlo.while(%i = %zero, %n = %limit, %y = %x) : tensor<i32>, tensor<i32>, tensor<4xf32>\n"
           "   cond {\n"
           "    %three = stablehlo.constant dense<3> : tensor<i32>\n"
           "    %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
           "    stablehlo.return %c : tensor<i1>\n"
           "  } do {\n"
           "    %q:2 = stablehlo.while(%j = %n, %z = %y) : tensor<i32>, tensor<4xf32>\n"
           "     cond {\n"
           "      %c = stablehlo.compare NE, %j, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
           "      stablehlo.return %c : tensor<i1>\n"
           "    } do {\n"
           "      %one = stablehlo.constant dense<1> : tensor<i32>\n"
           "      %less = stablehlo.subtract %j, %one : tensor<i32>\n"
           "      %s = stablehlo.sine %z : tensor<4xf32>\n"
           "      stablehlo.return %less, %s : tensor<i32>, tensor<4xf32>\n"
           "    }\n"
           "    %one = stablehlo.constant dense<1> : tensor<i32>\n"
           "    %more = stablehlo.add %i, %one : tensor<i32>\n"
           "    stablehlo.return %more, " + passed_on + ", %q#1 : tensor<i32>, tensor<i32>, tensor<4xf32>\n"
           "  }\n"
           "  return %r#2 : tensor<4xf32>\n"
           "}\n";
  };
  CHECK(read(nested("%n")).ops.work(0) == 3 * (2 + 5 * (4 + 2)));
  CHECK(read(nested("%i")).assumed.size() == 1); // another limit each time
}

TEST_CASE("StableHLO: operations with regions count what is in them") {
  CHECK(flop_of("%0:2 = stablehlo.reduce(%a init: %f), (%i init: %g) across dimensions = [1] : (<18x12>, "
                "tensor<18x12xi32>, <>, tensor<i32>) -> (<18>, tensor<18xi32>)\n"
                "     reducer(%p: <>, %q: <>) (%r: tensor<i32>, %s: tensor<i32>)  {\n"
                "      %4 = stablehlo.compare  GT, %p, %q,  FLOAT : (<>, <>) -> tensor<i1>\n"
                "      %5 = stablehlo.select %4, %p, %q : tensor<i1>, <>\n"
                "      %6 = stablehlo.select %4, %r, %s : tensor<i1>, tensor<i32>\n"
                "      stablehlo.return %5, %6 : <>, tensor<i32>\n    }",
                "%a: <18x12>, %i: tensor<18x12xi32>, %f: <>, %g: tensor<i32>") == 3 * 18 * 12);
  CHECK(flop_of("%0 = \"stablehlo.sort\"(%a) <{dimension = 1 : i64, is_stable = true}> ({\n"
                "  ^bb0(%p: <>, %q: <>):\n"
                "    %1 = stablehlo.compare  LT, %p, %q,  TOTALORDER : (<>, <>) -> tensor<i1>\n"
                "    stablehlo.return %1 : tensor<i1>\n"
                "  }) : (<4x256>) -> <4x256>", "%a: <4x256>") == 4 * 256 * 8);
  CHECK(flop_of("%0 = \"stablehlo.scatter\"(%a, %i, %u) <{scatter_dimension_numbers = "
                "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
                "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
                "  ^bb0(%p: <>, %q: <>):\n"
                "    %1 = stablehlo.add %p, %q : <>\n"
                "    stablehlo.return %1 : <>\n"
                "  }) : (<1000x64>, tensor<32x1xi32>, <32x64>) -> <1000x64>",
                "%a: <1000x64>, %i: tensor<32x1xi32>, %u: <32x64>") == 32 * 64);
  CHECK(flop_of("%0 = \"stablehlo.case\"(%i) ({\n"
                "    stablehlo.return %a : <64>\n  }, {\n"
                "    %1 = stablehlo.tanh %a : <64>\n"
                "    %2 = stablehlo.add %1, %a : <64>\n"
                "    stablehlo.return %2 : <64>\n"
                "  }) : (tensor<i32>) -> <64>", "%i: tensor<i32>, %a: <64>") == 128);
  // A running sum is no window of 512 elements.
  CHECK(flop_of("%0 = \"stablehlo.reduce_window\"(%a, %z) <{padding = dense<[[0, 0], [511, 0]]> : tensor<2x2xi64>, "
                "window_dimensions = array<i64: 1, 512>}> ({\n"
                "  ^bb0(%p: <>, %q: <>):\n"
                "    %1 = stablehlo.add %p, %q : <>\n"
                "    stablehlo.return %1 : <>\n"
                "  }) : (<4x512>, <>) -> <4x512>", "%a: <4x512>, %z: <>") == 4 * 512);
}

TEST_CASE("StableHLO: products, transforms and solvers by their formulas") {
  CHECK(flop_of("%0 = \"stablehlo.dot_general\"(%a, %b) <{dot_dimension_numbers = "
                "#stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
                "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (<4x8x16>, <4x16x32>) -> "
                "<4x8x32>", "%a: <4x8x16>, %b: <4x16x32>") == 2 * 4 * 8 * 16 * 32);
  CHECK(flop_of("%0 = stablehlo.dot %a, %b : (<8x16>, <16>) -> <8>", "%a: <8x16>, %b: <16>") == 2 * 8 * 16);
  CHECK(flop_of("%0 = stablehlo.einsum %a, %b, config = \"ab,bc->ac\" : (<8x16>, <16x4>) -> "
                "<8x4>", "%a: <8x16>, %b: <16x4>") == 2 * 8 * 16 * 4);
  // An axis that no tensor has, and not the last one.
  const std::string no_axis = std::to_string(std::numeric_limits<std::uint64_t>::max());
  CHECK(flop_of("%0 = stablehlo.dot_general %a, %b, contracting_dims = [" + no_axis + "] x [0] : (<8x16>, <16x4>) -> "
                "<8x4>", "%a: <8x16>, %b: <16x4>") == 2 * 8 * 4);
  CHECK(flop_of("%0 = \"stablehlo.sort\"(%a) <{dimension = " + no_axis + " : i64}> ({\n"
                "  ^bb0(%p: <>, %q: <>):\n"
                "    %1 = stablehlo.compare  LT, %p, %q : (<>, <>) -> tensor<i1>\n"
                "    stablehlo.return %1 : tensor<i1>\n"
                "  }) : (<4x256>) -> <4x256>", "%a: <4x256>") == 4 * 256);
  CHECK(flop_of("%0 = \"stablehlo.convolution\"(%x, %w) <{dimension_numbers = #stablehlo.conv<raw "
                "input_batch_dimension = 0, input_feature_dimension = 1, input_spatial_dimensions = [2, 3], "
                "kernel_output_feature_dimension = " + no_axis + ", kernel_input_feature_dimension = 1>}> : "
                "(<8x2x9x9>, <4x2x3x3>) -> <8x4x7x7>",
                "%x: <8x2x9x9>, %w: <4x2x3x3>") == 2.0 * (8 * 4 * 7 * 7) * (4 * 2 * 3 * 3));
  // The gradient of a convolution with stride 2 for its input: as much as the convolution.
  CHECK(flop_of("%0 = stablehlo.convolution(%g, %w) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = "
                "{pad = [[1, 2], [1, 2]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64} : (<8x14x14x32>, "
                "<3x3x16x32>) -> <8x28x28x16>",
                "%g: <8x14x14x32>, %w: <3x3x16x32>") == 2.0 * 8 * 14 * 14 * 32 * 9 * 16);
  // Depthwise: each channel has its filter.
  CHECK(flop_of("%0 = stablehlo.convolution(%x, %w)\n      dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],\n"
                "      window = {stride = [1, 1], pad = [[1, 1], [1, 1]]}\n"
                "      {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (<8x16x28x28>, <16x1x3x3>) -> "
                "<8x16x28x28>", "%x: <8x16x28x28>, %w: <16x1x3x3>") == 2.0 * 8 * 16 * 28 * 28 * 9);
  CHECK(flop_of("%0 = stablehlo.fft %a, type = FFT, length = [16] : (tensor<3x16xcomplex<f32>>) -> "
                "tensor<3x16xcomplex<f32>>", "%a: tensor<3x16xcomplex<f32>>") == 5 * 48 * 4);
  CHECK(flop_of("%0 = stablehlo.cholesky %a, lower = true : <12x12>", "%a: <12x12>") == 576);
  CHECK(flop_of("%values, %indices = chlo.top_k(%a, k = 8) : <16x64> -> (<16x8>, tensor<16x8xi32>)", "%a: <16x64>") ==
                16 * 64 * 6);
  CHECK(flop_of("%0 = chlo.tan %a : <9> -> <9>", "%a: <9>") == 9);
  CHECK(flop_of("%0 = stablehlo.clamp %a, %a, %a : <9>", "%a: <9>") == 18);
  CHECK(flop_of("%0 = stablehlo.select %p, %a, %a : tensor<9xi1>, <9>", "%p: tensor<9xi1>, %a: <9>") == 9);
  CHECK(flop_of("%output_state, %output = stablehlo.rng_bit_generator %a, algorithm =  THREE_FRY : (tensor<2xui64>) "
                "-> (tensor<2xui64>, tensor<8x8xui32>)", "%a: tensor<2xui64>") >= 2);
  CHECK(flop_of("%0 = stablehlo.slice %a [1:3, 4:8:2] : (<3x8>) -> <2x2>", "%a: <3x8>") == 0);
  CHECK(flop_of("%0 = stablehlo.uniform_dequantize %a : (tensor<4x!quant.uniform<i8:f32, 3.4e+01:16>>) -> <4>",
            "%a: tensor<4x!quant.uniform<i8:f32, 3.4e+01:16>>") == 8);
}

TEST_CASE("StableHLO: types have the sizes that devices keep them in, wherever there may be blanks") {
  const auto type = [](std::string_view text) { return stablehlo::parse_type(text); };
  constexpr auto most = max_total_bytes + 1; // also for products that wrap around
  const std::pair<const char*, byte_count> sizes[] = {
    {"tensor<8x16xf32>", 512}, {"tensor<f64>", 8}, {"tensor<10xi1>", 10}, {"tensor<9xi4>", 5}, {"tensor<3xbf16>", 6},
    {"tensor<7xf8E4M3FN>", 7}, {"tensor<2x3xcomplex<f32>>", 48},
    {"tensor<4x!quant.uniform<u8:f32, 3.400000e+01:16>>", 4}, {"tensor<5xindex>", 40},
    {"tensor<4xf32, #stablehlo.bounds<?>>", 16}, {"!stablehlo.token", 0}, {"tuple<tensor<f32>>", 0},
    {"tensor<0x5xf32>", 0}, {"tensor<9000000000000000000x9000000000000000000x0xf32>", 0},
    {"tensor<4611686018427387896xi8>", 4611686018427387896u}, {"tensor<4611686018427387904xi8>", most},
    {"tensor<4294967296x4294967296xi8>", most}, {"tensor<4294967296x4294967296xi2>", most},
    {"tensor < 8x\n  16xf32 >", 512}, {"tensor<* x bf16>", 2}, {"tensor<9223372036854775807x0xf32>", 0},
    {"tensor<2xsi16>", 4}, {"tensor<2xf4E2M1FN>", 1}, {"tensor<2xf8E8M0FNU>", 2}, {"tensor<2xi128>", 32},
    {"tensor<2xcomplex< f64 >>", 32}, {"tensor<2x!quant.uniform<i4<-7:7>:f32:0, {1.0, 2.0}>>", 1},
    {"tensor<2x!their.own<1, 2>>", 0}, {"tensor<2xtuple<f32, i1>>", 0}, {"(tensor<4xf32>) -> f32", 0}};
  for (const auto& [text, bytes] : sizes) {
    CAPTURE(std::string{text});
    CHECK(type(text).bytes() == bytes);
  }
  CHECK(type("tensor<8 x 16 x f32>").dims == std::vector<std::int64_t>{8, 16});
  CHECK(type("tensor<*xf32>").dims.empty());
  CHECK(type("tensor<?x?xf32>").dims == std::vector<std::int64_t>(2, stablehlo::value_type::dynamic));
  CHECK(type("tensor<0x8xf32>").dims == std::vector<std::int64_t>{0, 8}); // no hexadecimal number
  CHECK(type("tensor<2xtf32>").is_float);
  CHECK(type("tensor<?x?x?xf32, #stablehlo.bounds<3, ?, 5>>").dims == std::vector<std::int64_t>{3, -1, 5});
  CHECK(type("tensor<?x2xf32, #stablehlo.type_extensions<bounds = [12345678901234567, -1]>>").dims ==
        std::vector<std::int64_t>{12345678901234567, 2});
  CHECK(type("tensor<?xf32, #their.bounds_check<\"3x\">>").dims.front() == -1);
}

TEST_CASE("StableHLO: a type that is written wrong is refused, with the line and what is wrong") {
  const auto refused = [](const std::string& type) {
    return refusal("func.func @main() {\n  %0 = a.b : " + type + "\n}\n");
  };
  CHECK(refused("tensor<1*xf32>") == "f.mlir:2: type 'tensor<1*xf32>': an extent is a whole number below 2^63, or ? "
                                     "where it is open, and an x follows it; here is '1*xf32'");
  CHECK(refused("tensor<4xfoo32>") == "f.mlir:2: type 'tensor<4xfoo32>': the elements of a tensor have a type, such as "
                                      "f32, and then nothing or a comma follows; here is 'foo32'");
  CHECK(refused("tensor<?xf32, #stablehlo.bounds<3x>>") == "f.mlir:2: type 'tensor<?xf32, #stablehlo.bounds<3x>>': "
                                                           "a bound is a whole number below 2^63, or ?; here is '3x'");
  for (const char* wrong :
       {"tensor<1?xf32>", "tensor<?1xf32>", "tensor<??xf32>", "tensor<*4xf32>", "tensor<**xf32>", "tensor<4x*xf32>",
        "tensor<*x4xf32>", "tensor<*x*xf32>", "tensor<1*>", "tensor<-1xf32>", "tensor<+1xf32>", "tensor<1.5xf32>",
        "tensor<1 2xf32>", "tensor<4f32>", "tensor<4,f32>", "tensor<3>", "tensor<2x3>", "tensor<>", "tensor<x>",
        "tensor<2x>", "tensor<9223372036854775808xi8>", "tensor<99999999999999999999999xi8>", "tensor<f32x2>",
        "tensor<2xf32x2>", "tensor<2xf>", "tensor<2xi>", "tensor<2xi0>", "tensor<2xi16777216>", "tensor<2xi8E4>",
        "tensor<2xu8>", "tensor<2xcomplex>", "tensor<2xcomplex<>>", "tensor<2xcomplex<foo>>", "tensor<2xF32>",
        "tensor<2xf32 f32>", "tensor<2xf-32>", "tensor<?xf32, #stablehlo.bounds<99999999999999999999>>",
        "tensor<?xf32, #stablehlo.type_extensions<bounds = [5?]>>"}) {
    CAPTURE(wrong);
    CHECK(refused(wrong).starts_with("f.mlir:2: type 'tensor<"));
    CHECK(refused(wrong).find('\n') == std::string::npos);
  }
  CHECK(refusal("func.func @main(%a: tensor<4x4xf32>) {\n  %0 = stablehlo.dot_general %a, %a, contracting_dims = "
                "[18446744073709551616] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>\n  return\n}\n")
          .find("a number of 2^64 or more") != std::string::npos);
}

TEST_CASE("StableHLO: what a text leaves open is set by options, or told") {
  constexpr std::string_view text = R"(module @jit_fun_flat_jax attributes {jax.uses_shape_polymorphism = true} {
  func.func public @main(%arg0: tensor<?x4xf32> {mhlo.sharding = ""}, %arg1: tensor<4x?xf32>) -> tensor<?xf32> {
    %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%arg0 init: %0) across dimensions = [1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?xf32>
     reducer(%arg2: tensor<f32>, %arg3: tensor<f32>)  {
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }
    %3 = stablehlo.tanh %arg1 : tensor<4x?xf32>
    return %1 : tensor<?xf32>
  }
})";
  const auto m = read(text, {.batch = 32, .unknown_dimension = 5});
  CHECK(m.ops.work(0) == 32 * 4);
  CHECK(m.ops.work(1) == 4 * 5);
  using option = assumed_size::option;
  CHECK(m.assumed == std::vector<assumed_size>{{option::nothing, "extents written ?", {}, 5}});
  CHECK(read(text).assumed == std::vector<assumed_size>{{option::batch}, {option::nothing, "extents written ?"}});
  CHECK(read(mlp).assumed.empty());
  const auto whole = read(mlp), part = read(mlp, {.batch = 4}); // of 32, as it says
  REQUIRE(part.ops.num_ops() == whole.ops.num_ops());
  for (const op_id v : ids(whole.ops.num_ops())) {
    CHECK(part.ops.work(v) == whole.ops.work(v) / 8);
    CHECK(part.ops.resident_bytes(v) == whole.ops.resident_bytes(v));
  }
  CHECK(flop_of("%0 = stablehlo.abs %a : tensor<?x?xf32, #stablehlo.bounds<3, ?>>",
                "%a: tensor<?x?xf32, #stablehlo.bounds<3, ?>>") == 3);
}

TEST_CASE("StableHLO: constants are with what reads them, and those that repeat a number take nothing") {
  constexpr std::string_view text = R"(module @jit_f {
  func.func public @main(%arg0: tensor<2x2048xf32>) -> tensor<2x2048xf32> {
    %cst = stablehlo.constant dense<"0x0000803F"> : tensor<2048xf32>
    %cst_0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %cst_1 = stablehlo.constant dense<1.0> : tensor<2x2048xf32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [1] : (tensor<2048xf32>) -> tensor<2x2048xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<2x2048xf32>
    %2 = stablehlo.multiply %1, %0 : tensor<2x2048xf32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [0] : (tensor<2xf32>) -> tensor<2x2048xf32>
    %4 = stablehlo.add %2, %3 : tensor<2x2048xf32>
    %5 = stablehlo.multiply %4, %3 : tensor<2x2048xf32>
    %6 = stablehlo.add %5, %cst_1 : tensor<2x2048xf32>
    return %6 : tensor<2x2048xf32>
  }
}
{-#
  dialect_resources: { builtin: { blob: "0x08000000" } }
#-}
)";
  const auto w = read(text).ops;
  REQUIRE(w.num_ops() == 5);
  CHECK(w.resident_bytes(0) == 8192); // over 4 KiB: with the first, and the second beside it
  CHECK(w.resident_bytes(1) == 0);
  CHECK(w.group(0) == w.group(1));
  CHECK(w.resident_bytes(2) == 8); // each has its own
  CHECK(w.resident_bytes(3) == 8);
  CHECK(w.group(2) == none);
  CHECK(w.resident_bytes(4) == 0);
}

TEST_CASE("StableHLO: a constant of a function is there once, however often the function is called") {
  std::string calls;
  for (int i = 0; i < 12; ++i) {
    calls += "  %" + std::to_string(i + 1) + " = call @f(%" + std::to_string(i) +
             ") : (tensor<2048xf32>) -> tensor<2048xf32>\n";
  }
  const std::string f = "func.func private @f(%x: tensor<2048xf32>) -> tensor<2048xf32> {\n"
                        "  %c = stablehlo.constant dense<\"0x0000803F\"> : tensor<2048xf32>\n"
                        "  %y = stablehlo.add %x, %c : tensor<2048xf32>\n  return %y : tensor<2048xf32>\n}\n";
  const auto w = read("func.func public @main(%0: tensor<2048xf32>) -> tensor<2048xf32> {\n" + calls +
                      "  return %12 : tensor<2048xf32>\n}\n" + f).ops;
  CHECK(w.num_ops() == 12);
  CHECK(test::total_resident_bytes(w) == 8192);
  CHECK(w.group(0) == w.group(11));

  // The same where regions call the function, also through several others, or beside calls from outside.
  const std::string g = "func.func private @g(%x: tensor<2048xf32>) -> tensor<2048xf32> {\n"
                        "  %y = call @f(%x) : (tensor<2048xf32>) -> tensor<2048xf32>\n"
                        "  return %y : tensor<2048xf32>\n}\n";
  const auto choice = [](const std::string& callee, const std::string& result) {
    const auto call = " = call @" + callee + "(%0) : (tensor<2048xf32>) -> tensor<2048xf32>\n";
    return "  %" + result + " = \"stablehlo.if\"(%p) ({\n    %a" + call + "    %b" + call +
           "    stablehlo.return %b : tensor<2048xf32>\n  }, {\n    %a = call @f(%0) : (tensor<2048xf32>) -> "
           "tensor<2048xf32>\n    stablehlo.return %a : tensor<2048xf32>\n  }) : (tensor<i1>) -> tensor<2048xf32>\n";
  };
  const std::string composite = "  %s = stablehlo.composite \"c\" %0 {decomposition = @f} : (tensor<2048xf32>) -> "
                                "tensor<2048xf32>\n";
  const std::string called = "  %s = call @g(%0) : (tensor<2048xf32>) -> tensor<2048xf32>\n";
  for (const auto& body : {choice("f", "r"), choice("g", "r"), choice("g", "q") + choice("f", "r"),
                           composite + choice("f", "r"), called + choice("g", "r"), choice("g", "r") + called}) {
    CAPTURE(body);
    const auto in_regions =
      read("func.func @main(%0: tensor<2048xf32>, %p: tensor<i1>) -> tensor<2048xf32> {\n" + body +
           "  return %r : tensor<2048xf32>\n}\n" + f + g).ops;
    CHECK(in_regions.num_ops() <= 2);
    CHECK(test::total_resident_bytes(in_regions) == 8192);
    CHECK(in_regions.group(0) == in_regions.group(static_cast<op_id>(in_regions.num_ops() - 1)));
  }
}

TEST_CASE("StableHLO: state that is given away stays where it is replaced") {
  constexpr std::string_view text = R"(module @jit_step {
  func.func public @main(%arg0: tensor<64x64xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<8x64xf32>, %arg2: tensor<8x64xf32>) -> (tensor<64x64xf32>, tensor<8x64xf32>) {
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
    %1 = stablehlo.dot_general %arg1, %arg2, contracting_dims = [0] x [0] : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<64x64xf32>
    %2 = stablehlo.add %1, %1 : tensor<64x64xf32>
    return %2, %0 : tensor<64x64xf32>, tensor<8x64xf32>
  }
})";
  const auto m = read(text);
  CHECK(noted(m, "1 of 3 arguments are parameters (16384 bytes)"));
  CHECK(m.ops.resident_bytes(0) == 16384);
  CHECK(m.ops.group(0) == m.ops.group(2));
  CHECK(m.ops.group(1) == none);
}

TEST_CASE("StableHLO: what only marks or groups is no op") {
  constexpr std::string_view text = R"(module @jit_f attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<16x4xf32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>}) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {?}]> : tensor<8x16xf32>
    %1 = stablehlo.custom_call @Sharding(%0) {backend_config = "", mhlo.sharding = "{devices=[2,1]<=[2]}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %2:2 = stablehlo.optimization_barrier %1, %arg1 : tensor<8x16xf32>, tensor<16x4xf32>
    %3 = sdy.manual_computation(%2#0, %2#1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg2: tensor<4x16xf32>, %arg3: tensor<16x4xf32>) {
      %5 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x4xf32>) -> tensor<4x4xf32>
      sdy.return %5 : tensor<4x4xf32>
    } : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %4 = stablehlo.composite "my.gelu" %3 {composite_attributes = {approximate = true}, decomposition = @gelu.impl} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %4 : tensor<8x4xf32>
  }
  func.func private @gelu.impl(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<8x4xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
})";
  const auto m = read(text);
  REQUIRE(m.ops.num_ops() == 2);
  CHECK(m.ops.work(0) == 2 * 4 * 16 * 4);
  CHECK(m.ops.type(1) == "stablehlo.composite:my.gelu");
  CHECK(m.ops.work(1) == 2 * 32);
  CHECK(noted(m, "1 region that each of several devices runs on its part: it counts for one device"));
}

TEST_CASE("StableHLO: types that nobody knows are noted and count per element") {
  constexpr std::string_view text = R"(func.func @main(%arg0: tensor<10xf32>) {
  %0 = mine.op %arg0, key = 3 {a = 1 : i32, "b" = [1, 2]} : tensor<10xf32>
  %1 = "their.op"(%0) : (tensor<10xf32>) -> tensor<10xf32>
  %2 = stablehlo.custom_call @lapack_sgetrf(%1) : (tensor<10xf32>) -> tensor<10xf32>
  their.effect
  return
}
)";
  const auto m = read(text, {.unknown_flop_per_element = 3});
  REQUIRE(m.ops.num_ops() == 4);
  CHECK(m.ops.work(0) == 30);
  CHECK(m.ops.work(3) == 0);
  CHECK(m.ops.name(3) == "effect");
  CHECK(noted(m, "3 ops of types without a rule here: 3 FLOP per element of the first result: "));
}

TEST_CASE("StableHLO: texts are recognised by how they begin") {
  const stablehlo::reader r;
  CHECK(r.recognises("module {}"));
  CHECK(r.recognises("  // a comment\n#loc = loc(unknown)\nmodule @f {"));
  CHECK(r.recognises("#loc1 = loc(\"x\")\n"));
  CHECK(r.recognises("\"builtin.module\"() ({"));
  CHECK(r.recognises("ML\xefR\x0dStableHLO"));
  CHECK_FALSE(r.recognises(""));
  CHECK_FALSE(r.recognises("digraph { a -> b }"));
  CHECK_FALSE(r.recognises("# a comment of a HyperDAG\n"));
  CHECK_FALSE(r.recognises("{\"module\": 1}"));
  CHECK_FALSE(r.recognises("module.exports = 1"));
  CHECK_FALSE(r.recognises("\"quoted\",csv"));
}

TEST_CASE("StableHLO: what is wrong is refused in one line that says where") {
  CHECK(refusal("ML\xefR\x0dStableHLO_v1.9").find("MLIR bytecode") != std::string::npos);
  CHECK(refusal("module {\n  func.func @main() {\n    return %7 : tensor<f32>\n  }\n}") ==
        "f.mlir:3: value %7 is used but not defined before");
  CHECK(refusal("module {\n") == "f.mlir:2: a region is not closed; the text is truncated");
  CHECK(refusal("module {\n}\n").find("no function with a body") != std::string::npos);
  CHECK(refusal("func.func @main() {\n  %0 = a.b\n}\n") == "f.mlir:2: results have no type");
  CHECK(refusal("func.func @main() {\n  %0 = a.b : tensor<99999999999999x99999999999999xf32>\n}\n")
          .find("a type has more than 2^62 bytes") != std::string::npos);
  CHECK(refusal("func.func @main() {\n  %0 = a.b : tensor<3000000000x1000000000xi8>\n}\n") == "");
  CHECK(refusal("func.func @main() {\n  %0 = a.b : tensor<3000000000x2000000000xi8>\n}\n")
          .find("a type has more than 2^62 bytes") != std::string::npos);
  CHECK(refusal("func.func @main() {\n  call @g() : () -> ()\n}\n").find("calls a function that the text does not") !=
        std::string::npos);
  CHECK(refusal("func.func @main() {\n  call @main() : () -> ()\n}\n").find("functions call themselves") !=
        std::string::npos);
  CHECK(refusal("func.func @f() {\n return\n}\nfunc.func @f() {\n return\n}\n") ==
        "f.mlir:4: there are two functions @f");
  CHECK(refusal(mlp, {.leading_parameters = 6}).find("has 5 arguments, fewer than the 6 parameters") !=
        std::string::npos);
  CHECK(refusal("func.func @main() {\n  %c = stablehlo.constant dense<\"0x00 : tensor<f32>\n}\n") ==
        "f.mlir:2: a quoted string has no end");
  std::string long_type = "func.func @main() {\n  %0 = a.b : tensor<";
  for (int i = 0; i < 300; ++i) {
    long_type += "1x";
  }
  CHECK(refusal(long_type + "f32>\n}\n") == "f.mlir:2: a type has more than 256 extents");
  std::string deep = "func.func @main() {\n";
  for (int i = 0; i < 5000; ++i) {
    deep += "\"a.b\"() ({\n";
  }
  CHECK(refusal(deep).find("nested more than 200 deep") != std::string::npos);

  // Functions that call the next one twice would be 2^60 operations.
  std::string many = "func.func @main() {\n  call @f0() : () -> ()\n  return\n}\n";
  for (int i = 0; i < 60; ++i) {
    const auto next = "  call @f" + std::to_string(i + 1) + "() : () -> ()\n";
    many += "func.func private @f" + std::to_string(i) + "() {\n" + next + next + "  return\n}\n";
  }
  many += "func.func private @f60() {\n  return\n}\n";
  CHECK(refusal(many).find("calls expand") != std::string::npos);
  // 2000 calls of an operation that reads 1000 values would be 2 million edges.
  std::string wide = "func.func @main(%x: tensor<f32>) {\n";
  for (int i = 0; i < 2000; ++i) {
    wide += "  call @g(%x) : (tensor<f32>) -> ()\n";
  }
  wide += "  return\n}\nfunc.func private @g(%x: tensor<f32>) {\n  \"a.b\"() ({\n    \"a.c\"(";
  std::string operands;
  std::string types;
  for (int i = 0; i < 1000; ++i) {
    operands += (i == 0 ? "%v#" : ", %v#") + std::to_string(i);
    types += i == 0 ? "i1" : ", i1";
  }
  wide.insert(wide.find("  \"a.b\""), "  %v:1000 = \"a.d\"() : () -> (" + types + ")\n");
  wide += operands + ") : (" + types + ") -> ()\n  }) : () -> ()\n  return\n}\n";
  CHECK(refusal(wide).find("calls expand") != std::string::npos);
}

} // namespace stablehlo_test
