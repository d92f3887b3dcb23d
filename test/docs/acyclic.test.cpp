// SPDX-License-Identifier: BSL-1.0
// The snippets of docs/acyclic_partitioning.md.
#include "weft/graph/polyhedral.hpp"
#include "weft/partition/acyclic.hpp"
#include "weft/workload/generate.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace docs_acyclic_test {

using namespace weft;

TEST_CASE("docs: acyclic parts of a graph") {
  // [edges]
  const auto g = generate::two_matrix_products();
  const auto cut = partition::acyclic(g, {.parts = 8, .imbalance = 0.03});
  // cut.part[v]: no edge leads to a lower part; cut.cut, cut.volume, cut.imbalance, cut.weight[part]
  // [edges]
  CHECK(cut.cut < 7'147);
  CHECK(cut.part.size() == 36'500);
}

TEST_CASE("docs: acyclic parts of a workload, by work and bytes") {
  // [volume]
  const workload w = generate::stencil_2d({.width = 20, .height = 20, .steps = 10});
  const auto parts = partition::acyclic(
    w, {.parts = 4, .minimise = partition::cut::volume, .effort = 8, .threads = 2},
    [&](op_id v) { return w.work(v); },
    [&](const flow_edge& e) { return static_cast<double>(w.bytes(e.tensor)); });
  // [volume]
  CHECK(parts.imbalance <= 0.03 + 1e-9);
  CHECK(parts.volume <= parts.cut);
}

TEST_CASE("docs: coarsen, decide on few vertices, refine on the way back") {
  const auto g = generate::two_matrix_products();
  const std::vector<double> limit(4, 36'500 / 4 * 1.03);
  const auto decide = [&](const auto& few) {
    return partition::multilevel::cut_at_narrow_places(few, partition::multilevel::depth_first_order<true>(few), limit);
  };
  // [coarsen]
  namespace ml = partition::multilevel;
  const ml::numbered_dag fine = ml::number(g); // ids in topological order; fine.op_of(v) is the op
  ml::hierarchy h;
  ml::coarsen(h, fine.dag, {.vertices = 500, .heaviest = 400});

  std::vector<std::uint32_t> part = decide(h.coarsest(fine.dag));
  for (std::size_t i = h.steps.size(); i-- > 0;) {
    part = h.steps[i].spread(part); // what each cluster has, for its vertices
    ml::refiner<ml::edge_gains>{i > 0 ? h.graphs[i - 1] : fine.dag, part, limit}({.passes = 4});
  }
  // [coarsen]
  CHECK(part.size() == 36'500);
  CHECK(ml::cut_weight(fine.dag, part) < 20'000);
}

} // namespace docs_acyclic_test
