// SPDX-License-Identifier: BSL-1.0
#include "parallel/built_net.hpp"
#include "weft/interop/tensorflow.hpp"
#include "weft/parallel/split_graph.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace tensorflow_graph_test {

using namespace weft;

/// The axes by the order in which operands have them: the two may find them in another one.
parallel::split_axes in_order(const parallel::split_axes& a) {
  parallel::split_axes made{.terms = a.terms};
  std::vector<std::uint32_t> number(a.extents.size(), none);
  for (const auto& [from, to] : {std::pair{&a.inputs, &made.inputs}, std::pair{&a.outputs, &made.outputs}}) {
    for (const auto& dims : *from) {
      auto& renumbered = to->emplace_back();
      for (const auto axis : dims) {
        if (axis != none && number[axis] == none) {
          number[axis] = static_cast<std::uint32_t>(made.extents.size());
          made.extents.push_back(a.extents[axis]);
        }
        renumbered.push_back(axis == none ? std::uint32_t{none} : number[axis]);
      }
      if (std::count(renumbered.begin(), renumbered.end(), none) == std::ssize(renumbered)) {
        renumbered.clear(); // as a whole
      }
    }
  }
  return made;
}

TEST_CASE("tensorflow: ops of a network that was written are split like those of the network") {
  for (const std::string name : {"gpt2_small@2x16", "resnet50@2", "bert_base@2x16", "switch_base@2x16"}) {
    for (const bool training : {true, false}) {
      CAPTURE(name);
      CAPTURE(training);
      const test::built_net n{(training ? name : name + ":inference").c_str()};
      const auto& built = n.built;
      std::ostringstream file;
      tensorflow::write_network(file, *n.net, built);
      const auto m = tensorflow::reader{.fetch = {"*"}}.read(file.str(), "network.pb");
      REQUIRE(m.graph);
      REQUIRE(m.graph->num_ops() == built.graph.num_ops());
      std::vector<op_id> all(m.ops.num_ops());
      std::iota(all.begin(), all.end(), op_id{0});
      const auto own = n.model();
      const auto read = parallel::make_split_model(*m.graph, m.ops, all);
      CHECK(read.is_state == own.is_state);
      for (const op_id v : ids(built.graph.num_ops())) {
        CAPTURE(built.graph.name(v));
        CAPTURE(built.graph.type(v));
        const auto a = in_order(own.axes[v]), b = in_order(read.axes[v]);
        CHECK(own.is_parameter[v] == read.is_parameter[v]);
        CHECK(a.extents == b.extents);
        CHECK(a.inputs == b.inputs);
        CHECK(a.outputs == b.outputs);
        CHECK(a.terms == b.terms);
      }
    }
  }
}

} // namespace tensorflow_graph_test
