// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/nn/ops.hpp"

#include "weft/workload/training_step.hpp"
#include "workload/summary.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace workload_nn_ops_test {

using namespace weft;
using namespace weft::nn;

double work_of(const nn::tensor& t) {
  return t.net()[t.op()].op.work;
}
const std::string& name_of(const nn::tensor& t) {
  return t.net()[t.op()].op.name;
}

/// The gradients of the mean of y, whose shapes `gradients` checks against those of x.
std::vector<nn::tensor> differentiate(const nn::tensor& y, const std::vector<nn::tensor>& x) {
  return nn::gradients(y.net(), reduce_mean(y), x);
}

TEST_CASE("nn ops: matrix products cost 2 m n k, for every transposition, forward and backward") {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      nn::network net;
      const auto a = net.make_variable("a", ta ? extents{4, 3} : extents{3, 4});
      const auto b = net.make_variable("b", tb ? extents{5, 4} : extents{4, 5});
      const auto y = matmul(a, b, ta, tb);
      CHECK(y.dims() == extents{3, 5});
      CHECK(work_of(y) == 2 * 3 * 4 * 5);
      const auto before = net.num_ops();
      CHECK(differentiate(y, {a, b}).size() == 2); // throws if a shape is wrong
      double backward = 0;
      for (op_id v = static_cast<op_id>(before); v < net.num_ops(); ++v) {
        backward += net[v].op.type == "MatMul" ? net[v].op.work : 0;
      }
      CHECK(backward == 2 * 2 * 3 * 4 * 5);
    }
  }
}

TEST_CASE("nn ops: operands broadcast, and their gradients are summed back to their shapes") {
  nn::network net;
  const auto matrix = net.make_variable("matrix", {6, 4});
  const auto row = net.make_variable("row", {4});
  const auto column = net.make_variable("column", {6, 1});
  const auto scalar = net.make_variable("scalar", {});
  const auto y = (matrix + row) * column / scalar - row;
  CHECK(y.dims() == extents{6, 4});
  CHECK(work_of(y) == 24);
  const auto g = differentiate(y, {matrix, row, column, scalar});
  CHECK(g[0].dims() == extents{6, 4});
  CHECK(g[1].dims() == extents{4});
  CHECK(g[2].dims() == extents{6, 1});
  CHECK(g[3].dims() == extents{});
  CHECK_THROWS_WITH_AS(matrix + net.make_variable("other", {5}), "elementwise op: cannot broadcast [6, 4] with [5]",
                       value_error);
}

TEST_CASE("nn ops: elementwise ops cost 1 FLOP per element") {
  nn::network net;
  const auto x = net.make_variable("x", {7, 3});
  for (const auto& y : {relu(x), leaky_relu(x), sigmoid(x), tanh(x), exp(x), log1p(x), negate(x), x + x, x - x, x * x,
                        x / x, reduce_mean(x)}) {
    CAPTURE(name_of(y));
    CHECK(work_of(y) == 21);
  }
  CHECK(work_of(bias_add(x, net.make_variable("b", {3}))) == 21);
}

TEST_CASE("nn ops: the gradients of leaky ReLU, exp and log1p have the shape of their input") {
  nn::network net{{.bookkeeping = false}};
  const auto x = net.make_variable("x", {7, 3});
  const auto g = differentiate(log1p(exp(leaky_relu(x))), {x})[0];
  CHECK(g.dims() == x.dims());
  CHECK(net[g.op()].op.type == "LeakyReluGrad");
  CHECK(net[g.op()].op.inputs[1] == x); // TensorFlow's reads features, not activations
}

TEST_CASE("nn ops: names are made unique by numbers, per scope") {
  nn::network net;
  const auto x = net.make_variable("x", {2});
  CHECK(name_of(x) == "x/read");
  CHECK(name_of(x + x) == "add");
  CHECK(name_of(x + x) == "add_1");
  CHECK(name_of(net.data("Const", "add_2", {})) == "add_2");
  CHECK(name_of(x + x) == "add_3");
  {
    const auto outer = net.scope("outer");
    CHECK(name_of(x + x) == "outer/add");
    const auto inner = net.scope("inner");
    CHECK(name_of(net.make_variable("v", {1})) == "outer/inner/v/read");
  }
  CHECK(name_of(x + x) == "add_4");
}

TEST_CASE("nn ops: select takes masks of bool, and zeroes the gradient where it took the other") {
  nn::network net;
  const auto a = net.make_variable("a", {3, 2});
  const auto b = net.make_variable("b", {3, 2});
  const auto mask = greater_equal(net.data("Const", "time", {}), net.data("Const", "length", {{3}}));
  CHECK(mask.bytes() == 3);
  const auto g = differentiate(select(mask, a, b), {a, b});
  CHECK(g[0].dims() == extents{3, 2});
  CHECK(g[1].dims() == extents{3, 2});
}

TEST_CASE("nn ops: reshape, transpose, concat, split, stack, unstack and gather move without arithmetic") {
  nn::network net;
  const auto x = net.make_variable("x", {2, 6, 4});
  const auto t = transpose(x, {2, 0, 1});
  CHECK(t.dims() == extents{4, 2, 6});
  CHECK(reshape(x, {12, 4}).dims() == extents{12, 4});
  const auto parts = split(x, 3, 1);
  REQUIRE(parts.size() == 3);
  CHECK(parts[2].dims() == extents{2, 2, 4});
  CHECK(concat({parts[0], x}, 1).dims() == extents{2, 8, 4});
  const auto rows = unstack(x, 1);
  REQUIRE(rows.size() == 6);
  CHECK(rows[0].dims() == extents{2, 4});
  CHECK(stack({rows[0], rows[5]}, 1).dims() == extents{2, 2, 4});
  const auto picked = gather(x, net.data("Const", "indices", {{9}}));
  CHECK(picked.dims() == extents{9, 6, 4});
  for (const auto& y : {t, parts[0], rows[0], picked}) {
    CHECK(work_of(y) == 0);
  }
  // One path through all of them; some outputs of split and unstack have no gradient of their own.
  const auto some = concat({parts[0], parts[2]}, 1);
  const auto path =
    gather(stack({unstack(transpose(some, {1, 0, 2}), 0)[1], rows[3]}), net.data("Const", "pick", {{3}}));
  CHECK(differentiate(reshape(path, {24}), {x})[0].dims() == extents{2, 6, 4});
  CHECK_THROWS_AS(reshape(x, {47}), value_error);
  CHECK_THROWS_AS(split(x, 4, 1), value_error);
  CHECK_THROWS_AS(concat({x, t}, 0), value_error);
  CHECK_THROWS_AS(stack({x, t}), value_error);
  CHECK_THROWS_AS(unstack(x, 3), value_error);
}

TEST_CASE("nn ops: wrong shapes are errors") {
  nn::network net;
  const auto a = net.make_variable("a", {2, 3});
  CHECK_THROWS_WITH_AS(matmul(a, a), "MatMul: inner extents differ: [2, 3] and [2, 3]", value_error);
  CHECK_THROWS_AS(matmul(a, net.make_variable("v", {3})), value_error);
  CHECK_THROWS_AS(bias_add(a, net.make_variable("b", {2})), value_error);
  CHECK_THROWS_AS(softmax_cross_entropy(a, net.make_variable("labels", {2, 4})), value_error);
  CHECK_THROWS_AS(net.make_variable("empty", {2, 0}), value_error);
  CHECK_THROWS_AS(net.make_variable("huge", {1u << 31, 1u << 31}), value_error);
}

} // namespace workload_nn_ops_test
