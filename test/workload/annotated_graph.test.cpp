// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/annotated_graph.hpp"

#include "support/graphs.hpp"

#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace workload_annotated_graph_test {

using namespace weft;

#define GRAPH_TYPES csr_graph, test::int_lists, test::id_lists

static_assert(dataflow_workload<annotated_graph<csr_graph>>);
static_assert(dataflow_workload<annotated_graph<test::int_lists>>);
static_assert(bidirectional_dataflow_graph<annotated_graph<csr_graph>>);
static_assert(dataflow_graph<annotated_graph<test::int_lists>> &&
              !bidirectional_dataflow_graph<annotated_graph<test::int_lists>>);

using id_list = std::vector<std::uint32_t>;

template <class Range>
id_list sorted(const Range& range) {
  id_list result;
  for (const auto id : range) {
    result.push_back(id);
  }
  std::ranges::sort(result);
  return result;
}

const std::vector<double> three_works{1, 2, 3};

constexpr std::size_t at_compile_time() {
  const test::int_lists g{{1, 2}, {2}, {}};
  const double work[] = {1, 2, 3};
  const annotated_graph w{g, {.work = work}};
  std::size_t sum = w.consumers(0).size() * 100 + w.inputs(2).size() * 10;
  for (const op_id c : w.consumers(1)) {
    sum += c;
  }
  return sum;
}
static_assert(at_compile_time() == 222);

TEST_CASE_TEMPLATE("annotated graph: each op makes one tensor of its own number", G, GRAPH_TYPES) {
  const auto g = test::make_graph<G>(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  const std::vector<double> work{1, 2, 3, 4};
  const std::vector<byte_count> bytes{10, 20, 30, 40};
  const std::vector<byte_count> resident{5, 6, 7, 8};
  const std::vector<kind_set> kinds(4, device_kind::gpu);
  const std::vector<group_id> groups{none, 0, 1, 0};
  const annotated_graph w{g, {work, bytes, resident, kinds, groups}};
  CHECK(w.num_ops() == 4);
  CHECK(w.num_tensors() == 4);
  CHECK(w.num_groups() == 2);
  CHECK(sorted(w.outputs(2)) == id_list{2});
  CHECK(w.producer(3) == 3);
  CHECK(sorted(w.consumers(0)) == id_list{1, 2});
  CHECK(w.consumers(0).size() == 2);
  CHECK(sorted(w.consumers(3)).empty());
  CHECK(sorted(w.inputs(3)) == id_list{1, 2});
  CHECK(sorted(w.inputs(0)).empty());
  CHECK(w.work(3) == 4);
  CHECK(w.bytes(1) == 20);
  CHECK(w.resident_bytes(2) == 7);
  CHECK(w.kinds(0) == kind_set{device_kind::gpu});
  CHECK(w.group(0) == none);
  CHECK(w.group(3) == 0);
  CHECK(&w.graph() == &g);
  CHECK(graph::topological_order(w) == graph::topological_order(g));
}

TEST_CASE_TEMPLATE("annotated graph: only the work is required", G, GRAPH_TYPES) {
  const auto g = test::make_graph<G>(3, {{0, 1}});
  const annotated_graph w{g, {.work = three_works}};
  CHECK(w.bytes(0) == 0);
  CHECK(w.resident_bytes(0) == 0);
  CHECK(w.kinds(0).is_all());
  CHECK(w.group(0) == none);
  CHECK(w.num_groups() == 0);
}

TEST_CASE_TEMPLATE("annotated graph: inputs mirror consumers on random graphs", G, GRAPH_TYPES) {
  rng random{9};
  for (int round = 0; round < 30; ++round) {
    const std::size_t n = random.below(20) + 1u;
    const auto arcs = test::random_dag(n, 0.3, random);
    const auto g = test::make_graph<G>(n, arcs);
    const std::vector<double> work(n, 1);
    const annotated_graph w{g, {.work = work}};
    std::size_t edges = 0;
    for (const op_id v : ids(n)) {
      for (const op_id c : w.consumers(v)) {
        CHECK(std::ranges::find(arcs, graph::arc{v, c}) != arcs.end());
        const auto inputs = sorted(w.inputs(c));
        CHECK(std::ranges::binary_search(inputs, v));
      }
      edges += w.inputs(v).size();
    }
    CHECK(edges == arcs.size());
  }
}

TEST_CASE("annotated graph: columns of another length are refused and named") {
  const test::int_lists g{{1}, {2}, {}};
  const std::vector<double> two{1, 2};
  const std::vector<byte_count> bytes(4, 0);
  const std::vector<kind_set> kinds(2, kind_set::all());
  const std::vector<group_id> groups(1, none);
  CHECK_THROWS_WITH_AS((annotated_graph{g, {.work = two}}), "column 'work': has 2 entries for a graph of 3 ops",
                       value_error);
  CHECK_THROWS_WITH_AS((annotated_graph{g, op_columns{}}), "column 'work': has 0 entries for a graph of 3 ops",
                       value_error);
  CHECK_THROWS_WITH_AS((annotated_graph{g, {.work = three_works, .bytes = bytes}}),
                       "column 'bytes': has 4 entries for a graph of 3 ops", value_error);
  CHECK_THROWS_WITH_AS((annotated_graph{g, {.work = three_works, .resident_bytes = bytes}}),
                       "column 'resident_bytes': has 4 entries for a graph of 3 ops", value_error);
  CHECK_THROWS_WITH_AS((annotated_graph{g, {.work = three_works, .kinds = kinds}}),
                       "column 'kinds': has 2 entries for a graph of 3 ops", value_error);
  CHECK_THROWS_WITH_AS((annotated_graph{g, {.work = three_works, .groups = groups}}),
                       "column 'groups': has 1 entries for a graph of 3 ops", value_error);
}

TEST_CASE("annotated graph: work that makes no sense is refused and named") {
  const test::int_lists g{{1}, {2}, {}};
  for (const double bad : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    const std::vector<double> work{1, bad, 3};
    CHECK_THROWS_WITH_AS((annotated_graph{g, {.work = work}}), "op 1: work: must be finite and not negative",
                         value_error);
  }
}

TEST_CASE("annotated graph: groups that make no sense are refused and named") {
  const test::int_lists g{{1}, {2}, {}};
  const std::vector<group_id> far{none, 7, none};
  CHECK_THROWS_AS((annotated_graph{g, {.work = three_works, .groups = far}}), value_error);
  const std::vector<group_id> together{0, none, 0};
  const std::vector<kind_set> apart{device_kind::cpu, kind_set::all(), device_kind::gpu};
  CHECK_THROWS_WITH_AS((annotated_graph{g, {.work = three_works, .kinds = apart, .groups = together}}),
                       "op 2: no device kind is left that it and its group allow", constraint_error);
  const std::vector<kind_set> nowhere{kind_set::all(), kind_set{}, kind_set::all()};
  CHECK_THROWS_AS((annotated_graph{g, {.work = three_works, .kinds = nowhere}}), constraint_error);
}

TEST_CASE("annotated graph: graphs that make no sense are refused and named") {
  const auto refused = [](const test::int_lists& g) { return annotated_graph{g, {.work = three_works}}.num_ops(); };
  CHECK_THROWS_WITH_AS(refused({{1}, {2, 2}, {}}), "duplicate edge 1 -> 2: list each consumer of a tensor once",
                       duplicate_edge_error);
  CHECK_THROWS_WITH_AS(refused({{1}, {-1}, {}}), "edge 1 -> -1: the graph has only the ops 0 to 2",
                       dangling_id_error);
  CHECK_THROWS_WITH_AS(refused({{1}, {3}, {}}), "edge 1 -> 3: the graph has only the ops 0 to 2",
                       dangling_id_error);
  CHECK_THROWS_AS(refused({{1}, {2}, {0}}), cycle_error);
}

TEST_CASE("annotated graph: sizes that no sum can hold are refused by the problem") {
  const test::int_lists g{{2}, {2}, {}};
  const std::vector<byte_count> bytes{byte_count{1} << 63, byte_count{1} << 63, 0};
  const annotated_graph w{g, {.work = three_works, .bytes = bytes}};
  const platform<> q{std::vector<device>(1), link_matrix{1}};
  CHECK_THROWS_WITH_AS((problem{w, q}),
                       doctest::Contains("op 0: with its bytes, those of all ops and tensors together "), value_error);
}

/// Each op leads to nearly 2^32 others, says the graph.
struct dense {
  std::size_t num_ops() const { return 3; }
  id_range out_edges(op_id) const { return {0, none}; }
  op_id target(op_id e) const { return e; }
};

struct vast : dense {
  std::size_t num_ops() const { return std::size_t{1} << 32; }
};

TEST_CASE("annotated graph: more ops or edges than ids can number are refused before anything is allocated") {
  const dense g;
  CHECK_THROWS_WITH_AS((annotated_graph{g, {.work = three_works}}),
                       "graph: has 12884901885 edges; ids have 32 bits, so at most 4294967295 are possible",
                       value_error);
  const vast h;
  CHECK_THROWS_WITH_AS((annotated_graph{h, {.work = three_works}}),
                       "graph: has 4294967296 ops; ids have 32 bits, so at most 4294967295 are possible", value_error);
}

} // namespace workload_annotated_graph_test
