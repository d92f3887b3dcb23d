// SPDX-License-Identifier: BSL-1.0
#include "weft/graph/polyhedral.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace graph_polyhedral_test {

using namespace weft;

struct counts {
  std::size_t ops, edges, sources, sinks, max_out;
  friend bool operator==(const counts&, const counts&) = default;
};

counts count(const csr_graph& g) {
  counts c{g.num_ops(), g.num_edges(), 0, 0, 0};
  bool forward = true;
  for (const op_id v : ids(g.num_ops())) {
    c.sources += g.predecessors(v).empty();
    c.sinks += g.successors(v).empty();
    c.max_out = std::max(c.max_out, g.successors(v).size());
    for (const op_id w : g.successors(v)) {
      forward = forward && v < w;
    }
  }
  CHECK(forward);
  return c;
}

TEST_CASE("polyhedral: the instances of the papers on acyclic partitioning have their published counts") {
  CHECK(count(generate::two_matrix_products()) == counts{36'500, 62'200, 2'100, 400, 40});
  CHECK(count(generate::three_matrix_products()) == counts{111'900, 214'600, 3'900, 400, 40});
  CHECK(count(generate::gemm()) == counts{1'026'800, 1'684'200, 14'600, 4'200, 70});
}

TEST_CASE("polyhedral: a product of numbers is alpha a, times b, plus what was there times beta") {
  const csr_graph g = generate::gemm({.ni = 1, .nj = 1, .nk = 1});
  // 0: a, 1: b, 2: c, 3: beta c, 4: alpha a, 5: alpha a b, 6: the sum
  CHECK(g.num_ops() == 7);
  CHECK(std::ranges::equal(g.predecessors(3), std::vector<op_id>{2}));
  CHECK(std::ranges::equal(g.predecessors(4), std::vector<op_id>{0}));
  CHECK(std::ranges::equal(g.predecessors(5), std::vector<op_id>{1, 4}));
  CHECK(std::ranges::equal(g.predecessors(6), std::vector<op_id>{3, 5}));
}

TEST_CASE("polyhedral: the first sum of a product that starts at 0 has one input") {
  const csr_graph g = generate::two_matrix_products({.ni = 1, .nj = 1, .nk = 2, .nl = 1});
  // inputs a0 a1 b0 b1 c d; then alpha a0, times b0, 0 + that; alpha a1, times b1, their sum; beta d, times c, the sum
  CHECK(g.num_ops() == 15);
  CHECK(g.predecessors(8).size() == 1);
  CHECK(g.predecessors(11).size() == 2);
  CHECK(std::ranges::equal(g.predecessors(14), std::vector<op_id>{12, 13}));
}

} // namespace graph_polyhedral_test
