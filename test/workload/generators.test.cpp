// SPDX-License-Identifier: BSL-1.0
// The generators of structured and random workloads, and what is known about their graphs.
#include "summary.hpp"

#include "weft/graph/longest_path.hpp"
#include "weft/graph/topological_order.hpp"
#include "weft/problem.hpp"
#include "weft/workload/generate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace workload_generators_test {

using namespace weft;

/// Ops on the longest path.
std::size_t depth(const workload& w) {
  const auto order = graph::topological_order(w);
  const auto depths = graph::depths(w, order);
  return depths.empty() ? 0 : *std::ranges::max_element(depths) + std::size_t{1};
}

/// Whether repeated removal of ops with one input and one output, and of parallel edges, leaves one edge.
bool is_series_parallel(const workload& w) {
  std::set<std::pair<op_id, op_id>> edges;
  std::map<op_id, std::set<op_id>> in, out;
  const auto add = [&](op_id u, op_id v) {
    edges.insert({u, v});
    out[u].insert(v);
    in[v].insert(u);
  };
  for (const op_id v : ids(w.num_ops())) {
    for (const auto& e : w.out_edges(v)) {
      add(v, e.target);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const op_id v : ids(w.num_ops())) {
      if (in[v].size() == 1 && out[v].size() == 1) {
        const op_id a = *in[v].begin(), b = *out[v].begin();
        edges.erase({a, v});
        edges.erase({v, b});
        out[a].erase(v);
        in[b].erase(v);
        in[v].clear();
        out[v].clear();
        add(a, b);
        changed = true;
      }
    }
  }
  return edges.size() == 1;
}

TEST_CASE("fft: ops, edges, depth, work") {
  for (const std::uint32_t points : {2u, 4u, 16u, 64u}) {
    CAPTURE(points);
    const auto w = generate::fft({.points = points, .block = 8});
    std::size_t log = 0;
    while ((1u << log) < points) {
      ++log;
    }
    CHECK(w.num_ops() == 2 * points - 1 + points * log);
    CHECK(w.num_edges() == 2 * points - 2 + 2 * points * log);
    CHECK(depth(w) == 2 * log + 1);
    CHECK(test::count_type(w, "butterfly") == points * log);
    // each level of splits moves all numbers once
    CHECK(test::work_of_types(w, {"split"}) == static_cast<double>(8 * points * (log + 1)));
    CHECK(test::work_of_types(w, {"butterfly"}) == static_cast<double>(64 * points * log));
  }
  // every part of the output depends on every part of the input
  const auto w = generate::fft({.points = 8});
  for (op_id last = static_cast<op_id>(w.num_ops()) - 8; last < w.num_ops(); ++last) {
    std::set<op_id> reached{last};
    for (op_id v = last + 1; v-- > 0;) {
      if (reached.contains(v)) {
        for (const auto& e : w.in_edges(v)) {
          reached.insert(e.source);
        }
      }
    }
    CHECK(std::ranges::count_if(ids(15), [&](op_id v) { return reached.contains(v); }) == 15);
  }
  CHECK_THROWS_AS(generate::fft({.points = 12}), value_error);
  CHECK_THROWS_AS(generate::fft({.points = 1}), value_error);
  CHECK_THROWS_AS(generate::fft({.points = 4, .block = 0}), value_error);
}

TEST_CASE("gaussian_elimination: ops, edges, depth, work") {
  for (const std::uint32_t n : {2u, 3u, 5u, 20u}) {
    CAPTURE(n);
    const auto w = generate::gaussian_elimination({.columns = n, .rows_per_column = 3});
    CHECK(w.num_ops() == (n * n + n - 2) / 2);
    CHECK(w.num_edges() == n * n - n - 1);
    CHECK(depth(w) == 2 * (n - 1));
    CHECK(test::count_type(w, "pivot") == n - 1);
    double flop = 0;
    for (std::uint32_t k = 1; k < n; ++k) {
      flop += 6.0 * (n - k) * (1 + n - k);
    }
    CHECK(test::total_work(w) == flop);
  }
  CHECK_THROWS_AS(generate::gaussian_elimination({.columns = 1}), value_error);
  CHECK_THROWS_AS(generate::gaussian_elimination({.columns = 3, .rows_per_column = 0}), value_error);
}

TEST_CASE("cholesky: ops per kernel, edges, depth, work") {
  for (const std::uint32_t t : {1u, 2u, 3u, 7u}) {
    CAPTURE(t);
    const auto w = generate::cholesky({.tiles = t, .size = 6});
    CHECK(w.num_ops() == t * (t + 1) * (t + 2) / 6);
    CHECK(w.num_edges() == (t * t * t - t) / 2);
    CHECK(depth(w) == 3 * t - 2);
    CHECK(test::count_type(w, "POTRF") == t);
    CHECK(test::count_type(w, "TRSM") == t * (t - 1) / 2);
    CHECK(test::count_type(w, "SYRK") == t * (t - 1) / 2);
    CHECK(test::count_type(w, "GEMM") == t * (t - 1) * (t - 2) / 6);
    // the leading term of a factorisation of order n = 6 t is n³/3
    const double n = 6.0 * t;
    CHECK(test::total_work(w) == doctest::Approx(n * n * n / 3));
    CHECK(test::total_tensor_bytes(w) == w.num_ops() * 8 * 36);
  }
  CHECK_THROWS_AS(generate::cholesky({.tiles = 0}), value_error);
  CHECK_THROWS_AS(generate::cholesky({.tiles = 2, .size = 0}), value_error);
}

TEST_CASE("lu: ops per kernel, edges, depth, work") {
  for (const std::uint32_t t : {1u, 2u, 3u, 6u}) {
    CAPTURE(t);
    const auto w = generate::lu({.tiles = t, .size = 6});
    CHECK(w.num_ops() == t * (t + 1) * (2 * t + 1) / 6);
    CHECK(w.num_edges() == t * (t - 1) * (2 * t + 1) / 2);
    CHECK(depth(w) == 3 * t - 2);
    CHECK(test::count_type(w, "GETRF") == t);
    CHECK(test::count_type(w, "TRSM") == t * (t - 1));
    const double n = 6.0 * t;
    CHECK(test::total_work(w) == doctest::Approx(2 * n * n * n / 3));
  }
}

TEST_CASE("stencils: ops, edges, depth, what is exchanged") {
  for (const std::uint32_t width : {1u, 2u, 9u}) {
    CAPTURE(width);
    const auto w = generate::stencil_1d({.width = width, .steps = 4, .block = 16});
    CHECK(w.num_ops() == width * 4);
    CHECK(w.num_edges() == 3 * (3 * width - 2));
    CHECK(depth(w) == 4);
    CHECK(test::total_work(w) == 5.0 * 16 * 4 * width);
  }
  const auto grid = generate::stencil_2d({.width = 3, .height = 4, .steps = 3, .block = 5});
  CHECK(grid.num_ops() == 36);
  CHECK(grid.num_edges() == 2 * (5 * 12 - 2 * 3 - 2 * 4));
  CHECK(depth(grid) == 3);
  const op_id inner = 12 + 4; // of the second step, block (1, 1)
  std::vector<op_id> sources;
  byte_count received = 0;
  for (const auto& e : grid.in_edges(inner)) {
    sources.push_back(e.source);
    received += grid.bytes(e.tensor);
    CHECK(grid.consumers(e.tensor).size() == 1); // each edge of a block is for one neighbour
  }
  CHECK(sources == std::vector<op_id>{1, 3, 4, 5, 7});
  CHECK(received == 8 * 25 + 4 * 8 * 5);
  CHECK_THROWS_AS(generate::stencil_1d({.width = 0}), value_error);
  CHECK_THROWS_AS(generate::stencil_2d({.steps = 0}), value_error);
}

TEST_CASE("fork_join: the structure of graph/generate.hpp, with random amounts") {
  const auto w = generate::fork_join(
    generate::fork_join_options{.width = 5, .length = 2, .stages = 3, .amounts = {.min_work = 7, .max_work = 9}}, 4);
  CHECK(w.num_ops() == 3 * 11 + 1);
  CHECK(w.num_edges() == 3 * 5 * 3);
  CHECK(depth(w) == 3 * 3 + 1);
  for (const op_id v : ids(w.num_ops())) {
    CHECK(w.work(v) >= 7);
    CHECK(w.work(v) <= 9);
  }
  CHECK_THROWS_AS(generate::fork_join(generate::fork_join_options{.width = 0}), value_error);
  CHECK_THROWS_AS(generate::fork_join(generate::fork_join_options{.amounts = {.min_work = 9, .max_work = 2}}),
                  value_error);
}

TEST_CASE("series_parallel: reduces to one edge, whatever the seed and the share") {
  for (const double share : {0.0, 0.3, 0.7, 1.0}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const auto w = generate::series_parallel({.ops = 40, .parallel_share = share}, seed);
      CHECK(w.num_ops() == 40);
      CHECK(is_series_parallel(w));
      CHECK(w.out_edges(39).begin() == w.out_edges(39).end());
      for (const op_id v : ids(w.num_ops())) {
        for (const auto& e : w.out_edges(v)) {
          CHECK(e.target > v);
        }
      }
    }
  }
  CHECK(depth(generate::series_parallel({.ops = 40, .parallel_share = 0})) == 40); // a chain
  CHECK(generate::series_parallel({.ops = 40, .parallel_share = 1}).num_edges() == 1 + 2 * 38);
  CHECK(generate::series_parallel({.ops = 2}).num_edges() == 1);
  CHECK_THROWS_AS(generate::series_parallel({.ops = 1}), value_error);
}

TEST_CASE("is_series_parallel finds graphs that are not") {
  workload_builder b; // the smallest one: a crossing edge in a diamond
  for (int i = 0; i < 4; ++i) {
    b.add_op({.bytes = 1});
  }
  for (const auto& [u, v] : {std::pair{0u, 1u}, {0u, 2u}, {1u, 2u}, {1u, 3u}, {2u, 3u}}) {
    b.add_edge(u, v);
  }
  CHECK_FALSE(is_series_parallel(std::move(b).build()));
}

TEST_CASE("random_dag: the degree asked for") {
  double edges = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    edges += static_cast<double>(generate::random_dag({.ops = 300, .degree = 4}, seed).num_edges()) / 20;
  }
  CHECK(edges == doctest::Approx(1200).epsilon(0.03));
  CHECK(generate::random_dag({.ops = 0}).num_ops() == 0);
  CHECK(generate::random_dag({.ops = 1}).num_edges() == 0);
  CHECK(generate::random_dag({.ops = 5, .degree = 100}).num_edges() == 10); // complete
  CHECK_THROWS_AS(generate::random_dag({.degree = -1}), value_error);
}

TEST_CASE("generators: a seed decides the workload, on every platform") {
  CHECK(test::fingerprint(generate::random_dag({}, 7)) == test::fingerprint(generate::random_dag({}, 7)));
  CHECK(test::fingerprint(generate::random_dag({}, 7)) != test::fingerprint(generate::random_dag({}, 8)));
  CHECK(test::fingerprint(generate::random_dag({}, 7)) == 7'604'557'870'479'511'996u);
  CHECK(test::fingerprint(generate::series_parallel({}, 7)) == 4'991'397'001'337'032'556u);
  CHECK(test::fingerprint(generate::fork_join(generate::fork_join_options{}, 7)) ==
        14'953'326'231'375'207'083u);
}

} // namespace workload_generators_test
