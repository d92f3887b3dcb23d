// SPDX-License-Identifier: BSL-1.0
#include "weft/model/graph_of_network.hpp"
#include "weft/model/lower.hpp"
#include "weft/workload/training_step.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace model_graph_of_network_test {

using namespace weft;

/// The sources of what an op reads, as ops and numbers of outputs; for what it waits only, the op and no number.
std::set<std::pair<op_id, tensor_id>> sources(const workload& w, op_id v) {
  std::set<std::pair<op_id, tensor_id>> all;
  for (const tensor_id t : w.inputs(v)) {
    const op_id from = w.producer(t);
    all.emplace(from, w.bytes(t) > 0 ? t - *w.outputs(from).begin() : none);
  }
  return all;
}

TEST_CASE("graph of a network: lowered, it is the workload of the network") {
  for (const std::string name : {"resnet50@2", "bert_base@1x16", "gnmt@2", "switch_base@1x16", "dcgan@2"}) {
    CAPTURE(name);
    nn::network net;
    const auto task = zoo::define(net, name);
    (void)training_step_with_origins(net, task.objectives, task.options); // adds its ops
    std::vector<op_id> all(net.num_ops());
    std::iota(all.begin(), all.end(), op_id{0});
    const workload expected = net.build(all);
    const workload made = lower(graph_of(net)).graph;
    REQUIRE(made.num_ops() == expected.num_ops());
    REQUIRE(made.num_groups() == expected.num_groups());
    for (const op_id v : ids(made.num_ops())) {
      CAPTURE(expected.name(v));
      REQUIRE(made.name(v) == expected.name(v));
      REQUIRE(made.type(v) == expected.type(v));
      REQUIRE(made.work(v) == expected.work(v));
      REQUIRE(made.resident_bytes(v) == expected.resident_bytes(v));
      REQUIRE(made.kinds(v) == expected.kinds(v));
      REQUIRE(made.group(v) == expected.group(v));
      REQUIRE(sources(made, v) == sources(expected, v));
    }
  }
}

TEST_CASE("graph of a network: variables have the extents of what they hold") {
  nn::network net;
  const auto weights = net.add_variable("w", {3, 4});
  const auto x = net.input_pipeline({{{2, 3}}})[0];
  const auto y = matmul(x, weights.value);
  const auto g = graph_of(net);
  const tensor_id w = *g.outputs(weights.op).begin();
  CHECK(g.role(w) == tensor_role::parameter);
  CHECK(g.dims(w) == model_graph::extents{3, 4});
  CHECK(g.bytes(w) == 8); // a reference to it
  CHECK(g[weights.op].resident_bytes == 48);
  CHECK(g.role(*g.outputs(y.op()).begin()) == tensor_role::computed);
  CHECK(g[y.op()].texts.at("axes") == "mk,kn->mn");
}

} // namespace model_graph_of_network_test
