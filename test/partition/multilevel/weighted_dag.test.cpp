// SPDX-License-Identifier: BSL-1.0
#include "weft/partition/multilevel/weighted_dag.hpp"

#include "weft/graph/archetype.hpp"
#include "weft/graph/csr.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/workload.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace multilevel_weighted_dag_test {

using namespace weft;
using namespace weft::partition::multilevel;

TEST_CASE("number: ids that are topological stay, others are numbered anew, weights go with them") {
  const auto same = number(csr_graph{3, std::vector<graph::arc>{{0, 1}, {0, 2}, {1, 2}}});
  CHECK(same.op.empty());
  CHECK(same.op_of(2) == 2);
  CHECK(same.dag.weight.empty());
  CHECK(same.dag.out.weight.empty());
  CHECK(same.dag.in.to == std::vector<op_id>{0, 0, 1});
  CHECK(same.dag.total_weight() == 3);

  const csr_graph backwards{3, std::vector<graph::arc>{{2, 1}, {2, 0}, {1, 0}}};
  const auto anew = number(
    backwards, [](op_id v) { return 10.0 + v; }, [](const graph::arc& e) { return 10 * e.source + e.target; });
  CHECK(anew.op == std::vector<op_id>{2, 1, 0});
  CHECK(anew.dag.weight == std::vector<double>{12, 11, 10});
  CHECK(anew.dag.out.to == std::vector<op_id>{2, 1, 2}); // 2 -> 0, 2 -> 1, 1 -> 0
  CHECK(anew.dag.out.weight == std::vector<double>{20, 21, 10});
  CHECK(anew.dag.in.to == std::vector<op_id>{0, 0, 1});
  CHECK(anew.dag.in.weight == std::vector<double>{21, 20, 10});
  CHECK(anew.dag.out.row_weight(0) == 41);
  CHECK(anew.dag.in.row_weight(2) == 30);
}

TEST_CASE("number: graphs that list edges one way, workloads, and graphs without ops are the same to it") {
  const std::vector<std::vector<op_id>> lists{{}, {0}, {1, 0}};
  const auto one_way = number(lists);
  const auto both = number(csr_graph{3, std::vector<graph::arc>{{1, 0}, {2, 1}, {2, 0}}});
  CHECK(one_way.op == both.op);
  CHECK(one_way.dag.in.to == both.dag.in.to);
  CHECK(one_way.dag.in.first == both.dag.in.first);

  workload_builder b;
  const op_id u = b.add_op({.work = 3, .bytes = 7}), v = b.add_op({.work = 4});
  b.add_edge(u, v);
  const workload w = std::move(b).build();
  const auto weighed = number(
    w, [&](op_id x) { return w.work(x); }, [&](const flow_edge& e) { return static_cast<double>(w.bytes(e.tensor)); });
  CHECK(weighed.dag.weight == std::vector<double>{3, 4});
  CHECK(weighed.dag.in.weight == std::vector<double>{7});

  CHECK(number(graph::archetype{}).dag.size() == 0);
  CHECK(number(graph::bidirectional_archetype{}).dag.num_edges() == 0);
}

} // namespace multilevel_weighted_dag_test
