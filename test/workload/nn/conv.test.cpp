// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/nn/conv.hpp"

#include "weft/workload/training_step.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace workload_nn_conv_test {

using namespace weft;
using namespace weft::nn;

double work_of(const nn::tensor& t) {
  return t.net()[t.op()].op.work;
}
std::vector<nn::tensor> differentiate(const nn::tensor& y, const std::vector<nn::tensor>& x) {
  return nn::gradients(y.net(), reduce_mean(y), x);
}

TEST_CASE("conv: convolutions and pools have the extents and FLOP of their arithmetic") {
  nn::network net;
  const auto x = net.make_variable("x", {2, 9, 7, 3});
  const auto kernel = net.make_variable("kernel", {3, 5, 3, 8});
  const auto same = conv2d(x, kernel, {.stride = 2});
  CHECK(same.dims() == extents{2, 5, 4, 8});
  CHECK(work_of(same) == 2.0 * 2 * 5 * 4 * 8 * 3 * 5 * 3);
  const auto valid = conv2d(x, kernel, {.stride = 2, .pad = nn::padding::valid});
  CHECK(valid.dims() == extents{2, 4, 2, 8});
  const auto pooled = max_pool(same, 3, {.stride = 2});
  CHECK(pooled.dims() == extents{2, 3, 2, 8});
  CHECK(work_of(pooled) == 9.0 * 2 * 3 * 2 * 8);
  const auto g = differentiate(pooled, {x, kernel});
  CHECK(g[0].dims() == x.dims());
  CHECK(g[1].dims() == kernel.dims());
  CHECK_THROWS_AS(conv2d(x, net.make_variable("wrong", {3, 3, 4, 8})), value_error);
  CHECK_THROWS_AS(max_pool(x, 10, {.pad = nn::padding::valid}), value_error);
  CHECK_THROWS_AS(conv2d_transpose(same, kernel, {2, 9, 7, 4}), value_error);
}

TEST_CASE("conv: a transposed convolution undoes the extents of a convolution, and costs the same") {
  nn::network net;
  const auto x = net.make_variable("x", {2, 8, 8, 3});
  const auto kernel = net.make_variable("kernel", {5, 5, 3, 6});
  const auto small = conv2d(x, kernel, {.stride = 2});
  const auto back = conv2d_transpose(small, kernel, x.dims(), {.stride = 2});
  CHECK(back.dims() == x.dims());
  CHECK(work_of(back) == work_of(small));
  CHECK(differentiate(back, {kernel, x})[0].dims() == kernel.dims());
}

TEST_CASE("conv: the gradients of a transposed convolution are a convolution and a filter gradient of the same cost") {
  nn::network net{{.bookkeeping = false}};
  const auto x = net.make_variable("x", {2, 4, 4, 6});
  const auto kernel = net.make_variable("kernel", {5, 5, 3, 6});
  const auto y = conv2d_transpose(x, kernel, {2, 7, 7, 3}, {.stride = 2}); // 7 halves to 4
  CHECK(net[y.op()].op.type == "Conv2DBackpropInput");
  CHECK(work_of(y) == 2.0 * (2 * 4 * 4) * (5 * 5 * 3 * 6));
  const auto g = differentiate(y, {x, kernel});
  CHECK(net[g[0].op()].op.type == "Conv2D");
  CHECK(net[g[1].op()].op.type == "Conv2DBackpropFilter");
  CHECK(g[0].dims() == x.dims());
  CHECK(g[1].dims() == kernel.dims());
  CHECK(work_of(g[0]) == work_of(y));
  CHECK(work_of(g[1]) == work_of(y));
}

TEST_CASE("conv: a global average pool keeps batch and channels") {
  nn::network net;
  const auto x = net.make_variable("x", {2, 7, 5, 16});
  const auto y = global_avg_pool(x);
  CHECK(y.dims() == extents{2, 16});
  CHECK(work_of(y) == 2 * 7 * 5 * 16);
  CHECK(differentiate(y, {x})[0].dims() == x.dims());
  CHECK_THROWS_AS(global_avg_pool(y), value_error);
}

} // namespace workload_nn_conv_test
