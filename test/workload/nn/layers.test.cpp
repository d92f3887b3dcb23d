// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/nn/layers.hpp"

#include <doctest/doctest.h>

namespace workload_nn_layers_test {

using namespace weft;

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

} // namespace workload_nn_layers_test
