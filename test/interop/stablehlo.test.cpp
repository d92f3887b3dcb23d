// SPDX-License-Identifier: BSL-1.0
#include "weft/interop/stablehlo.hpp"
#include "weft/workload/nn/attention.hpp"
#include "weft/workload/nn/conv.hpp"
#include "weft/workload/nn/layers.hpp"
#include "weft/workload/training_step.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace stablehlo_test {

using namespace weft;

model read(std::string_view text, const stablehlo::reader& options = {}) {
  CHECK(options.recognises(text));
  return options.read(text, "f.mlir");
}

std::string refusal(std::string_view text, const stablehlo::reader& options = {}) {
  try {
    static_cast<void>(options.read(text, "f.mlir"));
  } catch (const parse_error& e) {
    return e.what();
  }
  return "";
}

op_id find(const workload& w, std::string_view name) {
  for (const op_id v : ids(w.num_ops())) {
    if (w.name(v) == name) {
      return v;
    }
  }
  FAIL("no op " << name);
  return none;
}

double total(const workload& w) {
  double sum = 0;
  for (const op_id v : ids(w.num_ops())) {
    sum += w.work(v);
  }
  return sum;
}

bool has_note(const model& m, std::string_view part) {
  return std::ranges::any_of(m.notes, [&](const std::string& n) { return n.find(part) != n.npos; });
}

/// FLOP of one operation of `(operands) -> result`, in a function that does nothing else.
double flop_of(const std::string& op, const std::string& arguments) {
  const auto m = read("func.func @main(" + arguments + ") {\n  " + op + "\n  return\n}\n");
  REQUIRE(m.ops.num_ops() == 1);
  return m.ops.work(0);
}

// What jax.jit(f).lower(params, x).as_text() gives for two dense layers, one with a ReLU that is jitted by itself.
constexpr std::string_view mlp = R"(module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
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

TEST_CASE("StableHLO: two dense layers cost what they cost in nn") {
  nn::network net{{.bookkeeping = false}};
  const auto x = net.input_pipeline({{{32, 784}}});
  const auto out = nn::dense("b", relu(nn::dense("a", x[0], 128)), 10);
  static_cast<void>(out);
  double forward = 0;
  for (std::uint32_t i = 0; i < net.num_ops(); ++i) {
    forward += net[i].op.work;
  }

  const auto m = read(mlp, {.leading_parameters = 4});
  CHECK(m.format == "StableHLO");
  CHECK(total(m.ops) == doctest::Approx(forward).epsilon(0.001));
  CHECK(total(m.ops) == 2.0 * 32 * 784 * 128 + 2 * 32 * 128 + 2.0 * 32 * 128 * 10 + 32 * 10);

  CHECK(m.ops.num_ops() == 9); // of four broadcasts of parameters each is a view; that of the constant is none
  const auto product = find(m.ops, "0");
  const auto add = find(m.ops, "3");
  const auto relu_op = find(m.ops, "relu/1");
  CHECK(m.ops.type(product) == "stablehlo.dot_general");
  CHECK(m.ops.resident_bytes(product) == 784 * 128 * 4);
  CHECK(m.ops.resident_bytes(add) == 128 * 4);
  CHECK(m.ops.resident_bytes(relu_op) == 0);
  CHECK(m.ops.work(relu_op) == 32 * 128);
  CHECK(m.ops.bytes(m.ops.outputs(relu_op).front()) == 32 * 128 * 4);
  CHECK(m.ops.inputs(relu_op).size() == 1);
  const auto view = find(m.ops, "2");
  CHECK(m.ops.work(view) == 0);
  CHECK(m.ops.bytes(m.ops.outputs(view).front()) == 0);
  CHECK(m.ops.group(view) == m.ops.group(add));
  CHECK(has_note(m, "4 of 5 arguments are parameters (407080 bytes), the others inputs (100352 bytes)"));

  const auto inputs = read(mlp); // without saying what is a parameter
  CHECK(total(inputs.ops) == total(m.ops));
  CHECK(inputs.ops.resident_bytes(find(inputs.ops, "0")) == 0);
  CHECK(has_note(inputs, "0 of 5 arguments are parameters"));
}

} // namespace stablehlo_test
