// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/nn/reduce.hpp"

#include "weft/workload/training_step.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace workload_nn_reduce_test {

using namespace weft;
using namespace weft::nn;

double work_of(const nn::tensor& t) {
  return t.net()[t.op()].op.work;
}
std::vector<nn::tensor> differentiate(const nn::tensor& y, const std::vector<nn::tensor>& x) {
  return nn::gradients(y.net(), reduce_mean(y), x);
}

TEST_CASE("reduce: reductions drop the axes that they are over, and cost 1 FLOP per input element") {
  nn::network net;
  const auto x = net.make_variable("x", {2, 3, 4, 5});
  CHECK(reduce_mean(x).dims() == extents{});
  CHECK(reduce_mean(x, {1, 2}).dims() == extents{2, 5});
  CHECK(reduce_sum(x, {3}).dims() == extents{2, 3, 4});
  CHECK(work_of(reduce_mean(x, {1, 2})) == 120);
  CHECK(work_of(reduce_sum(x)) == 120);
  const auto mean = differentiate(reduce_mean(x, {1, 2}), {x})[0];
  CHECK(mean.dims() == x.dims());
  CHECK(net[mean.op()].op.type == "RealDiv");
  const auto sum = differentiate(reduce_sum(x, {0}), {x})[0];
  CHECK(sum.dims() == x.dims());
  CHECK(net[sum.op()].op.type == "Tile");
  CHECK_THROWS_WITH_AS(reduce_sum(x, {4}), "Sum: [2, 3, 4, 5] has no axis 4", value_error);
}

TEST_CASE("reduce: a sum of tensors costs an addition per further term, and its gradient is everyone's") {
  nn::network net{{.bookkeeping = false}};
  const auto x = net.make_variable("x", {7, 3});
  const auto y = net.make_variable("y", {7, 3});
  const auto sum = add_n({x, y, x});
  CHECK(work_of(sum) == 2 * 21);
  const auto g = differentiate(sum, {x, y});
  CHECK(net[g[0].op()].op.type == "AddN"); // x is there twice
  CHECK(net[g[1].op()].op.type == "RealDiv");
  CHECK_THROWS_AS(add_n({x, net.make_variable("z", {3, 7})}), value_error);
}

} // namespace workload_nn_reduce_test
