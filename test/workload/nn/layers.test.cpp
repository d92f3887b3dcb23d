// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/nn/layers.hpp"

#include "weft/workload/nn/gradients.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace workload_nn_layers_test {

using namespace weft;
using nn::kernel_set;

std::size_t count_type(const nn::network& net, const std::string& type) {
  std::size_t count = 0;
  for (const op_id v : ids(net.num_ops())) {
    count += net[v].op.type == type;
  }
  return count;
}

TEST_CASE("layers: a transposed convolution layer has a kernel from its input's channels and a bias") {
  nn::network net;
  const auto x = net.make_variable("x", {2, 4, 4, 6}, false);
  const auto y = nn::conv_transpose_layer(
    "up", x, 7, 8, {.filters = 3, .kernel_height = 5, .kernel_width = 5, .slide = {.stride = 2}});
  CHECK(y.dims() == nn::extents{2, 7, 8, 3});
  CHECK(net.num_parameters() == 5 * 5 * 3 * 6 + 3);
  CHECK(net.variables()[1].value.dims() == nn::extents{5, 5, 3, 6});
  CHECK_THROWS_AS(nn::conv_transpose_layer("wrong", x, 9, 8, {.filters = 3, .slide = {.stride = 2}}), value_error);
}

TEST_CASE("layers: a normalised convolution has no bias, but scale and offset") {
  nn::network net;
  const auto x = net.make_variable("x", {2, 8, 8, 3}, false);
  const auto y = nn::conv_norm("block", x, {.filters = 16, .slide = {.stride = 2}});
  CHECK(y.dims() == nn::extents{2, 4, 4, 16});
  CHECK(net.num_parameters() == 3 * 3 * 3 * 16 + 2 * 16);
  CHECK(net.updates().size() == 2); // moving mean and variance
}

TEST_CASE("layers: dense and convolution layers count their parameters") {
  nn::network net;
  const auto x = net.make_variable("x", {2, 6}, false);
  CHECK(nn::dense("dense", x, 5).dims() == nn::extents{2, 5});
  CHECK(net.num_parameters() == 35);
  const auto image = nn::reshape(x, {2, 2, 1, 3});
  CHECK(nn::conv_layer("conv", image, {.filters = 4, .kernel_width = 1}).dims() == nn::extents{2, 2, 1, 4});
  CHECK(net.num_parameters() == 35 + 3 * 1 * 3 * 4 + 4);
  CHECK(nn::dropout("dropout", x).dims() == x.dims());
}

TEST_CASE("layers: a dense layer with its bias is one op unless kernels are separate") {
  for (const auto kernels : {kernel_set::separate, kernel_set::framework, kernel_set::compiled}) {
    nn::network net{{.bookkeeping = false, .kernels = kernels}};
    const auto x = net.make_variable("x", {2, 6});
    const auto y = nn::dense("dense", x, 5);
    CHECK(y.dims() == nn::extents{2, 5});
    CHECK(net.num_parameters() == 12 + 35);
    CHECK(count_type(net, "Gemm") == (kernels == kernel_set::separate ? 0 : 1));
    CHECK(count_type(net, "MatMul") == (kernels == kernel_set::separate ? 1 : 0));
    if (kernels != kernel_set::separate) {
      CHECK(net[y.op()].op.work == 2 * 2 * 6 * 5 + 10);
    }
    const auto weights = net.variables()[1].value, biases = net.variables()[2].value;
    const auto g = nn::gradients(net, reduce_mean(y), std::vector{x, weights, biases});
    CHECK(g[0].dims() == x.dims());
    CHECK(g[1].dims() == weights.dims());
    CHECK(g[2].dims() == biases.dims());
  }
  nn::network net;
  const auto a = net.make_variable("a", {2, 6}), b = net.make_variable("b", {6, 5});
  CHECK_THROWS_AS(nn::gemm(a, b, net.make_variable("row", {2})), value_error);
  CHECK_THROWS_AS(nn::gemm(b, a, net.make_variable("column", {6})), value_error);
}

TEST_CASE("layers: dropout is one op with a mask, or with a seed where kernels are compiled") {
  for (const auto kernels : {kernel_set::framework, kernel_set::compiled}) {
    nn::network net{{.bookkeeping = false, .kernels = kernels}};
    const auto x = net.make_variable("x", {2, 6});
    const auto y = nn::dropout("dropout", x);
    const auto& forward = net[y.op()].op;
    CHECK(forward.type == "NativeDropout");
    CHECK(forward.work == 3 * 12);
    CHECK(forward.outputs.size() == (kernels == kernel_set::framework ? 2 : 1));
    const auto g = nn::gradients(net, reduce_mean(y), std::vector{x})[0];
    const auto& gradient = net[g.op()].op;
    CHECK(gradient.type == "NativeDropoutGrad");
    CHECK(gradient.inputs.size() == forward.outputs.size());
    CHECK(gradient.work == 12);
    if (kernels == kernel_set::framework) {
      CHECK(forward.outputs[1].element_bytes == 1);
      CHECK(gradient.inputs[1] == nn::tensor{net, y.op(), 1});
    }
  }
  nn::network net{{.training = false, .kernels = kernel_set::framework}};
  const auto x = net.make_variable("x", {2, 6});
  CHECK(nn::dropout("dropout", x) == x);
}

TEST_CASE("layers: all after a convolution is one op where kernels are compiled") {
  for (const bool adds : {false, true}) {
    for (const auto kernels : {kernel_set::separate, kernel_set::framework, kernel_set::compiled}) {
      CAPTURE(static_cast<int>(kernels));
      nn::network net{{.bookkeeping = false, .kernels = kernels}};
      const auto x = net.make_variable("x", {2, 4, 4, 3}), added = net.make_variable("added", {2, 4, 4, 8});
      const auto others = net.num_parameters();
      const auto y = nn::conv_norm_relu("conv", x, {.filters = 8}, adds ? added : nn::tensor{});
      CHECK(y.dims() == added.dims());
      CHECK(net.num_parameters() - others == 3 * 3 * 3 * 8 + 2 * 8);
      CHECK(net.variables().size() == 2 + 5); // with both averages
      const bool compiled = kernels == kernel_set::compiled;
      CHECK(count_type(net, "BatchNormRelu") == (compiled ? 1 : 0));
      CHECK(count_type(net, "FusedBatchNorm") == (compiled ? 0 : 1));
      CHECK(net.updates().size() == (kernels == kernel_set::separate ? 2 : 0)); // else the op updates the averages
      std::vector<nn::tensor> all{x, added};
      for (const auto& v : net.variables()) {
        if (v.trainable && v.value != x && v.value != added) {
          all.push_back(v.value);
        }
      }
      const auto g = nn::gradients(net, reduce_mean(y), all);
      for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(bool{g[i]} == (i != 1 || adds));
        CHECK((!g[i] || g[i].dims() == all[i].dims()));
      }
      if (compiled) {
        CHECK(net[y.op()].op.work == (adds ? 10 : 9) * 256);
        CHECK(net[g[3].op()].op.type == "BatchNormReluGrad");
        CHECK(net[g[3].op()].op.work == 12 * 256);
      }
    }
  }
}

TEST_CASE("layers: a normalisation with known statistics and a ReLU is one op where kernels are compiled") {
  for (const auto kernels : {kernel_set::separate, kernel_set::framework, kernel_set::compiled}) {
    nn::network net{{.training = false, .kernels = kernels}};
    const auto x = net.data("Const", "x", {{2, 4, 4, 3}});
    const auto y = nn::conv_norm_relu("conv", x, {.filters = 8});
    CHECK(net.num_parameters() == 3 * 3 * 3 * 8 + 2 * 8);
    CHECK(count_type(net, "BatchNormInference") == (kernels == kernel_set::separate ? 0 : 1));
    CHECK(count_type(net, "Relu") == (kernels == kernel_set::compiled ? 0 : 1));
    CHECK(net[y.op()].op.work == (kernels == kernel_set::compiled ? 3 : 1) * 256);
  }
}

} // namespace workload_nn_layers_test
