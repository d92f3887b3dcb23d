// SPDX-License-Identifier: BSL-1.0
#include "weft/views/edges.hpp"

#include "support/small_problem.hpp"
#include "weft/graph/adjacency.hpp"
#include "weft/graph/csr.hpp"
#include "weft/workload/annotated_graph.hpp"
#include "weft/workload/generate/layered.hpp"

#include <doctest/doctest.h>
#include <range/v3/algorithm/count_if.hpp>
#include <range/v3/algorithm/equal.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/group_by.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <ranges>
#include <vector>

namespace views_edges_test {

using namespace weft;
using of_workload = views::edges_view<workload>;
using of_graph = views::edges_view<csr_graph>;
using of_lists = views::edges_view<std::vector<std::vector<int>>>;

static_assert(ranges::forward_range<of_workload> && ranges::sized_range<of_workload> && ranges::view_<of_workload>);
static_assert(std::ranges::forward_range<of_workload> && std::ranges::sized_range<of_workload>);
static_assert(std::ranges::view<of_workload> && std::ranges::common_range<of_workload>);
static_assert(ranges::forward_range<of_graph> && ranges::sized_range<of_graph>);
static_assert(ranges::forward_range<of_lists> && !ranges::sized_range<of_lists>);
template <class G>
concept has_edges = requires(G&& g) { views::edges(static_cast<G&&>(g)); };
static_assert(has_edges<workload&> && has_edges<const workload&> && !has_edges<workload>);

TEST_CASE("edges of a workload: a consumer of a tensor each, tensor by tensor") {
  const workload w = test::diamond();
  const std::vector<flow_edge> expected{{0, 1, 0}, {0, 2, 0}, {1, 3, 1}, {1, 3, 2}, {2, 3, 3}};
  CHECK(ranges::equal(views::edges(w), expected));
  CHECK(views::edges(w).size() == 5);
  CHECK(std::ranges::equal(views::edges(w), expected)); // and again: it can be walked more than once
}

TEST_CASE("edges of a graph: op by op, ops without edges skipped") {
  const std::vector<graph::arc> arcs{{1, 3}, {1, 4}, {4, 6}};
  const csr_graph g{8, arcs};
  CHECK(ranges::equal(views::edges(g), arcs));
  CHECK(views::edges(g).size() == 3);
  const std::vector<std::vector<int>> lists{{}, {3, 4}, {}, {}, {6}, {}, {}};
  CHECK(ranges::equal(views::edges(lists) | ranges::views::transform([&](const auto& e) { return target(lists, e); }),
                      std::vector<op_id>{3, 4, 6}));
}

/// Op v feeds v + 1 and v + 2; lists them in a container of its own.
struct ladder {
  std::size_t num_ops() const { return 4; }
  std::vector<int> out_edges(op_id v) const {
    return v >= 3 ? std::vector<int>{} : v == 2 ? std::vector<int>{3} : std::vector<int>{int(v) + 1, int(v) + 2};
  }
  int target(int e) const { return e; }
};
static_assert(ranges::forward_range<views::edges_view<ladder>> && dataflow_graph<ladder>);

TEST_CASE("edges of a graph that makes a container for each op") {
  const ladder g;
  CHECK(ranges::equal(views::edges(g), std::vector<int>{1, 2, 2, 3, 3}));
  auto at = views::edges(g).begin();
  const auto copy = at++;
  CHECK(*copy == 1);
  CHECK(*at == 2);
  CHECK(views::edges(g).begin() == copy);
}

TEST_CASE("edges of a graph with columns are those of a workload") {
  const std::vector<std::vector<int>> lists{{1, 2}, {3}, {3}, {}};
  const std::vector<double> work(4, 1.0);
  const annotated_graph over_lists{lists, {.work = work}};
  CHECK(ranges::equal(views::edges(over_lists), std::vector<flow_edge>{{0, 1, 0}, {0, 2, 0}, {1, 3, 1}, {2, 3, 2}}));
  const ladder g;
  const annotated_graph over_containers{g, {.work = work}};
  CHECK(ranges::equal(views::edges(over_containers),
                      std::vector<flow_edge>{{0, 1, 0}, {0, 2, 0}, {1, 2, 1}, {1, 3, 1}, {2, 3, 2}}));
}

TEST_CASE("edges of nothing") {
  const workload nothing;
  CHECK(views::edges(nothing).empty());
  const csr_graph no_edges{3, {}};
  CHECK(views::edges(no_edges).empty());
}

TEST_CASE("edges are the same as two loops make, on random workloads") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const workload w = generate::layered_sized(1 + 7 * seed, static_cast<std::uint32_t>(1 + seed % 5), 2, seed);
    std::vector<flow_edge> expected;
    for (const tensor_id t : ids(w.num_tensors())) {
      for (const op_id c : w.consumers(t)) {
        expected.push_back({w.producer(t), c, t});
      }
    }
    CHECK(ranges::equal(views::edges(w), expected));
    CHECK(views::edges(w).size() == expected.size());
  }
}

TEST_CASE("edges in pipes of range-v3 and of the standard library") {
  const workload w = test::diamond();
  const auto large = [&](const flow_edge& e) { return w.bytes(e.tensor) >= 200; };
  const auto target_of = [](const flow_edge& e) { return e.target; };
  CHECK(ranges::equal(views::edges(w) | ranges::views::filter(large) | ranges::views::transform(target_of),
                      std::vector<op_id>{3, 3}));
  CHECK(std::ranges::equal(views::edges(w) | std::views::filter(large) | std::views::transform(target_of),
                           std::vector<op_id>{3, 3}));
  auto from_std = views::edges(w) | std::views::take(2);
  CHECK(std::ranges::distance(from_std) == 2);
  CHECK(ranges::count_if(views::edges(w), large) == 2);
}

} // namespace views_edges_test
