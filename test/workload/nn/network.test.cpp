// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/nn/network.hpp"

#include "weft/workload/training_step.hpp"
#include "workload/summary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace workload_nn_network_test {

using namespace weft;

TEST_CASE("network: a built workload knows the network's op that each of its ops came from") {
  nn::network net;
  const auto fed = net.input_pipeline({{{4, 6}}, {{4, 3}}});
  (void)relu(fed[0]); // not fetched, so ids shift
  const auto hidden = relu(nn::dense("hidden", fed[0], 8));
  (void)tanh(hidden);
  const auto loss = reduce_mean(softmax_cross_entropy(nn::dense("out", hidden, 3), fed[1]));
  const op_id roots[] = {loss.op()};
  const auto built = net.build_with_origins(roots);
  CHECK(test::fingerprint(built.graph) == test::fingerprint(net.build(roots)));
  REQUIRE(built.origin.size() == built.graph.num_ops());
  CHECK(built.origin.size() < net.num_ops());
  CHECK(std::is_sorted(built.origin.begin(), built.origin.end()));
  for (const op_id v : ids(built.graph.num_ops())) {
    const auto& op = net[built.origin[v]].op;
    CHECK(built.graph.name(v) == op.name);
    CHECK(built.graph.type(v) == op.type);
    CHECK(built.graph.work(v) == op.work);
  }
}

TEST_CASE("network: nothing is built from no roots") {
  nn::network net;
  (void)net.make_variable("x", {2});
  const auto built = net.build_with_origins({});
  CHECK(built.graph.num_ops() == 0);
  CHECK(built.origin.empty());
}

TEST_CASE("network: a layer that is applied again under reuse_variables shares its parameters") {
  nn::network net;
  const auto fed = net.input_pipeline({{{4, 6}}, {{4, 6}}, {{4, 7}}});
  const auto apply = [](const nn::tensor& x) {
    const auto scope = x.net().scope("shared");
    return nn::batch_norm("norm", nn::reshape(nn::dense("dense", x, 5), {4, 1, 1, 5}));
  };
  const auto first = apply(fed[0]);
  const auto count = net.variables().size();
  const auto parameters = net.num_parameters();
  const auto second = [&] {
    const auto sharing = net.reuse_variables();
    return apply(fed[1]);
  }();
  CHECK(net.variables().size() == count);
  CHECK(net.num_parameters() == parameters);
  CHECK(net.updates().size() == 4); // both applications track mean and variance
  const auto w = training_step(net, reduce_mean(first + second), {.rule = optimizer::sgd});
  const op_id weights = test::find_op(w, "shared/dense/weights/read");
  REQUIRE(weights != none);
  CHECK(test::count_type(w, "ApplyGradientDescent") == 4);
  CHECK(test::count_type(w, "AssignSub") == 4);

  const auto sharing = net.reuse_variables();
  CHECK_THROWS_WITH_AS(apply(fed[2]), doctest::Contains("variable 'shared/dense/weights': cannot be reused"),
                       value_error); // other extents
  CHECK_THROWS_AS(net.make_variable("unknown", {2}), value_error);
}

TEST_CASE("network: fresh names are taken in their scope only") {
  nn::network net;
  CHECK(net.fresh_name("a") == "a");
  CHECK(net.fresh_name("a") == "a_1");
  const auto scope = net.scope("s");
  CHECK(net.fresh_name("a") == "a");
}

} // namespace workload_nn_network_test
