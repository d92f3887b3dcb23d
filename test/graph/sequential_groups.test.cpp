// SPDX-License-Identifier: BSL-1.0
#include "weft/core/random.hpp"
#include "weft/graph/adjacency.hpp"
#include "weft/graph/sequential_groups.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <vector>

namespace graph_sequential_groups_test {

using weft::op_id;
using graph = std::vector<std::vector<op_id>>;
using labels = std::vector<std::uint32_t>;

/// Every op in one group, groups of one label, predecessors in the same group, before it, or in an earlier one.
void check(const graph& g, const labels& of, const std::vector<std::vector<op_id>>& groups) {
  std::vector<std::size_t> at(g.size(), 0);
  std::size_t next = 0;
  for (const auto& group : groups) {
    REQUIRE(!group.empty());
    for (const op_id v : group) {
      REQUIRE(at[v] == 0);
      at[v] = ++next;
      REQUIRE(of[v] == of[group.front()]);
    }
  }
  REQUIRE(next == g.size());
  for (op_id v = 0; v < g.size(); ++v) {
    for (const op_id c : g[v]) {
      REQUIRE(at[v] < at[c]);
    }
  }
}

/// The least number of groups, by the sets of ops that can be done.
std::size_t least_groups(const graph& g, const labels& of, std::uint32_t done, std::uint32_t last,
                         std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>& known) {
  if (done + 1 == std::uint32_t{1} << g.size()) {
    return 0;
  }
  if (const auto found = known.find({done, last}); found != known.end()) {
    return found->second;
  }
  std::uint32_t blocked = 0;
  for (op_id v = 0; v < g.size(); ++v) {
    for (const op_id c : g[v]) {
      blocked |= (done >> v & 1) != 0 ? 0 : std::uint32_t{1} << c;
    }
  }
  std::size_t least = g.size() + 1;
  for (op_id v = 0; v < g.size(); ++v) {
    if (((done | blocked) >> v & 1) == 0) {
      least =
        std::min(least, (of[v] == last ? 0 : 1) + least_groups(g, of, done | std::uint32_t{1} << v, of[v], known));
    }
  }
  return known[{done, last}] = least;
}

graph random_graph(weft::rng& random, op_id n, std::uint32_t one_in) {
  graph g(n);
  for (op_id v = 0; v < n; ++v) {
    for (op_id c = v + 1; c < n; ++c) {
      if (random.below(one_in) == 0) {
        g[v].push_back(c);
      }
    }
  }
  return g;
}

TEST_CASE("sequential_groups: a chain is cut where the label changes, parallel chains share groups") {
  CHECK(weft::graph::sequential_groups(graph{}, labels{}).empty());
  CHECK(weft::graph::sequential_groups(graph{{1}, {2}, {3}, {}}, labels{7, 7, 3, 7}) ==
        std::vector<std::vector<op_id>>{{0, 1}, {2}, {3}});
  // a b a beside b a: who begins with b, which is ready in the second chain, needs b a b a
  const graph two{{1}, {2}, {}, {4}, {}};
  CHECK(weft::graph::sequential_groups(two, labels{0, 1, 0, 1, 0}).size() == 3);
}

TEST_CASE("sequential_groups: two labels have the least number of groups, more come close") {
  weft::rng random{5};
  std::size_t found = 0;
  std::size_t least = 0;
  for (int i = 0; i < 400; ++i) {
    const auto n = 1 + random.below(11);
    const auto g = random_graph(random, n, 2 + random.below(6));
    const auto k = 2 + random.below(3);
    labels of;
    for (op_id v = 0; v < n; ++v) {
      of.push_back(10 * random.below(k));
    }
    const auto groups = weft::graph::sequential_groups(g, of);
    check(g, of, groups);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> known;
    const auto best = least_groups(g, of, 0, weft::none, known);
    if (k == 2) {
      REQUIRE(groups.size() == best);
    }
    REQUIRE(groups.size() >= best);
    found += groups.size();
    least += best;
  }
  MESSAGE("groups: " << found << ", at least " << least);
  CHECK(static_cast<double>(found) <= 1.05 * static_cast<double>(least));
}

TEST_CASE("sequential_groups: large graphs, and more labels than are tried first") {
  weft::rng random{6};
  const auto g = random_graph(random, 400, 40);
  for (const std::uint32_t k : {1u, 3u, 8u, 9u, 300u}) {
    labels of;
    for (op_id v = 0; v < g.size(); ++v) {
      of.push_back(random.below(k));
    }
    check(g, of, weft::graph::sequential_groups(g, of));
  }
}

TEST_CASE("sequential_groups: a cycle is named") {
  CHECK_THROWS_AS(weft::graph::sequential_groups(graph{{1}, {0}}, labels{0, 1}), weft::cycle_error);
}

} // namespace graph_sequential_groups_test
