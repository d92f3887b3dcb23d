// SPDX-License-Identifier: BSL-1.0
#include "onnx_models.hpp"
#include "weft/interop/onnx.hpp"
#include "weft/model/graph_of_network.hpp"
#include "weft/parallel/split_graph.hpp"
#include "weft/workload/training_step.hpp"
#include "weft/workload/zoo.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace onnx_graph_test {

using namespace weft;

std::vector<op_id> all_of(const workload& w) {
  std::vector<op_id> all(w.num_ops());
  std::iota(all.begin(), all.end(), op_id{0});
  return all;
}

TEST_CASE("onnx: ops of a network that was written are split like those of the network") {
  for (const std::string name : {"gpt2_small@2x16", "resnet50@2", "bert_base@2x16", "switch_base@2x16"}) {
    for (const bool training : {true, false}) {
      CAPTURE(name);
      CAPTURE(training);
      nn::network net{{.training = training}};
      const auto task = zoo::define(net, training ? name : name + ":inference");
      std::vector<op_id> roots;
      for (const auto& t : net.outputs()) {
        roots.push_back(t.op());
      }
      const auto built = training ? training_step_with_origins(net, task.objectives, task.options)
                                  : net.build_with_origins(roots);
      std::ostringstream file;
      weft::onnx::write_network(file, net, built);
      const auto bytes = file.str();
      const auto m = weft::onnx::parsed_model{bytes}.read();
      REQUIRE(m.graph);
      REQUIRE(m.graph->num_ops() == built.graph.num_ops());
      const auto own = parallel::make_split_model(graph_of(net), built.graph, built.origin);
      const auto read = parallel::make_split_model(*m.graph, m.ops, all_of(m.ops));
      CHECK(read.is_state == own.is_state);
      for (const op_id v : ids(built.graph.num_ops())) {
        CAPTURE(built.graph.name(v));
        CAPTURE(built.graph.type(v));
        const auto& a = own.axes[v];
        const auto& b = read.axes[v];
        CHECK(own.is_parameter[v] == read.is_parameter[v]);
        CHECK(a.extents == b.extents);
        CHECK(a.inputs == b.inputs);
        CHECK(a.outputs == b.outputs);
        CHECK(a.terms == b.terms);
      }
    }
  }
}

} // namespace onnx_graph_test
