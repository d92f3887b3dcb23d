// SPDX-License-Identifier: BSL-1.0
#include "weft/concurrency/op_graph.hpp"
#include "weft/concurrency/controller.hpp"

#include "support/cyclic.hpp"
#include "support/small_problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <vector>

namespace concurrency_op_graph_test {

using namespace weft;
using namespace weft::concurrency;

using numbers = std::vector<std::uint32_t>;

numbers list(std::span<const std::uint32_t> x) {
  return {x.begin(), x.end()};
}

TEST_CASE("op_graph: who waits for how many tensors of whom") {
  const workload w = test::diamond(); // a -> {b, c} -> d, and b hands d a second tensor
  const op_graph g{w};
  CHECK(g.num_ops() == 4);
  CHECK(list(g.consumers(0)) == numbers{1, 2});
  CHECK(list(g.consumers(1)) == numbers{3, 3});
  CHECK(list(g.consumers(2)) == numbers{3});
  CHECK(g.consumers(3).empty());
  CHECK(list(g.num_inputs()) == numbers{0, 1, 1, 3});
  CHECK(list(g.topological_order()) == numbers{0, 1, 2, 3});
}

TEST_CASE("op_graph: nothing, and a cycle") {
  CHECK(op_graph{workload_builder{}.build()}.num_ops() == 0);
  CHECK(op_graph{}.num_ops() == 0);
  try {
    const op_graph g{test::with_cycle{}};
    FAIL("accepted a cycle");
  } catch (const cycle_error& e) {
    CHECK(e.ops == numbers{1, 2});
  }
}

TEST_CASE("upward_rank: seconds to the end of the graph, by the chosen teams") {
  workload_builder b;
  for (const double work : {1.0, 2.0, 4.0, 8.0}) {
    b.add_op({.work = work, .bytes = 1});
  }
  b.add_edge(0, 1);
  b.add_edge(0, 2);
  b.add_edge(1, 3);
  b.add_edge(2, 3);
  const workload w = std::move(b).build();
  const time_table times{op_classes{w}, 2, [&](auto c, team t) { return w.work(c) / t.threads; }};
  const op_graph g{w};
  CHECK(upward_rank(g, times, std::vector<team>(4)) == std::vector<double>{13, 10, 12, 8});
  CHECK(upward_rank(g, times, std::vector<team>{{1}, {1}, {1}, {2}}) == std::vector<double>{9, 6, 8, 4});
}

} // namespace concurrency_op_graph_test
