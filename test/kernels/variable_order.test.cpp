// SPDX-License-Identifier: BSL-1.0
#include "kernels/variable_order.hpp"

#include "kernels/networks.hpp"

#include "trial.hpp"

namespace kernels_variable_order_test {

using namespace test;

/// A network of two dense layers: the gradient by the hidden layer reads the weights that an update overwrites.
weft::nn::tensor two_layers(weft::nn::network& net) {
  const auto fed = net.input_pipeline({{{4, 6}}, {{4, 3}}});
  const auto hidden = tanh(weft::nn::dense("hidden", fed[0], 5));
  return reduce_mean(softmax_cross_entropy(weft::nn::dense("out", hidden, 3), fed[1]));
}

TEST_CASE("variable order: gradients that read weights are not ordered with their update until told to") {
  weft::nn::network net{{.bookkeeping = false}};
  const weft::training_objective objectives[] = {{two_layers(net)}};
  const auto step = weft::training_step_with_origins(net, objectives, {.rule = weft::optimizer::sgd});
  const auto missing = kernels::missing_orders(net, step);
  REQUIRE(missing.size() == 1);
  const auto& reader = net[step.origin[missing[0].before]].op;
  CHECK(reader.type == "MatMul");
  CHECK(net[step.origin[missing[0].after]].op.name == "GradientDescent/update_out/weights/ApplyGradientDescent");
  CHECK_THROWS_AS((kernels::bound_step{net, step}), weft::error);

  const auto ordered = kernels::with_ordered_updates(net, step);
  CHECK(ordered.origin == step.origin);
  CHECK(kernels::missing_orders(net, ordered).empty());
  CHECK_NOTHROW((kernels::bound_step{net, ordered}));
}

TEST_CASE("variable order: two updates of one variable come one after the other, and after both reads") {
  weft::nn::network net{{.bookkeeping = false}};
  const auto x = net.add_variable("x", {4});
  std::vector<weft::op_id> updates;
  for (int i = 0; i < 2; ++i) {
    const auto change = x.value * net.data("Const", "rate", {});
    updates.push_back(net.add({.type = "AssignSub", .inputs = {x.ref, change}, .outputs = {{{2}, 4}}}));
  }
  const auto step = kernels::with_ordered_updates(net, net.build_with_origins(updates));
  CHECK(kernels::missing_orders(net, step).empty());
  const auto last = static_cast<weft::op_id>(step.graph.num_ops() - 1);
  const auto before = kernels::detail::ancestors(step.graph, last);
  CHECK(std::count(before.begin(), before.end(), true) == static_cast<std::ptrdiff_t>(step.graph.num_ops()));
}

} // namespace kernels_variable_order_test
