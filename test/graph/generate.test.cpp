// SPDX-License-Identifier: BSL-1.0
#include "weft/graph/generate.hpp"

#include "weft/graph/longest_path.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

namespace graph_generate_test {

using namespace weft;
using generate::level_options;

generate::layered_arcs make(const level_options& o, std::uint64_t seed = 1) {
  rng random{seed};
  return generate::layered_structure(o, random);
}

/// How many arcs lead how many levels ahead.
std::vector<double> arcs_by_distance(const generate::layered_arcs& g) {
  std::vector<double> counts(g.num_levels() + 1, 0);
  for (const auto& [u, v] : g.arcs) {
    counts[g.level(v) - g.level(u)] += 1;
  }
  return counts;
}

/// Whether a count of rare independent events is within five standard deviations of what is expected.
bool plausible(double count, double expected) {
  return std::abs(count - expected) < 5 * std::sqrt(expected) + 1;
}

TEST_CASE("generate: levels have the widths asked for") {
  const auto g = make({});
  CHECK(g.num_levels() == 100);
  std::set<std::size_t> widths;
  for (std::size_t l = 0; l < 100; ++l) {
    widths.insert(g.first_of_level[l + 1] - g.first_of_level[l]);
  }
  CHECK(*widths.begin() >= 1);
  CHECK(*widths.begin() <= 8);
  CHECK(*widths.rbegin() <= 80);
  CHECK(*widths.rbegin() >= 73);
  CHECK(std::abs(static_cast<double>(g.num_ops()) - 100 * 40.5) < 5 * 231); // deviation of one width is 23.1
  CHECK(g.level(0) == 0);
  CHECK(g.level(g.first_of_level[7]) == 7);
  CHECK(g.level(g.first_of_level[8] - 1) == 7);
  CHECK(make({.min_width = 7, .max_width = 7, .num_ops = 24}).first_of_level == std::vector<op_id>{0, 7, 14, 21, 24});
}

TEST_CASE("generate: arcs are sorted, unique, and lead to later levels within the limit") {
  const auto g = make({.edge_probability = 0.05, .long_range_share = 0});
  CHECK(std::ranges::is_sorted(g.arcs, [](const auto& a, const auto& b) {
    return a.target != b.target ? a.target < b.target : a.source < b.source;
  }));
  const auto counts = arcs_by_distance(g);
  CHECK(counts[0] == 0);
  CHECK(counts[4] > 0);
  CHECK(std::all_of(counts.begin() + 5, counts.end(), [](double c) { return c == 0; }));
  CHECK(graph::topological_order(generate::layered_graph({.edge_probability = 0.05}, 3)).size() > 0);
}

TEST_CASE("generate: the number of arcs follows the edge probability") {
  const level_options o{.min_width = 40, .max_width = 40, .edge_probability = 0.01, .long_range_share = 0};
  const double pairs = 1600.0 * (1 + 2 + 3 + 4 * 96);
  CHECK(plausible(static_cast<double>(make(o).arcs.size()), pairs * 0.01));
  auto all = o;
  all.edge_probability = 1;
  CHECK(static_cast<double>(make(all).arcs.size()) == pairs);
  auto nothing = o;
  nothing.edge_probability = 0;
  CHECK(make(nothing).arcs.empty());
  auto next_level = all;
  next_level.edge_level_limit = 2;
  CHECK(make(next_level).arcs.size() == 1600 * 99);
  next_level.edge_level_limit = 1;
  CHECK(make(next_level).arcs.empty());
}

TEST_CASE("generate: decay divides the probability once per level") {
  const level_options o{
    .min_width = 50, .max_width = 50, .edge_probability = 0.2, .edge_decay = 2, .long_range_share = 0};
  const auto counts = arcs_by_distance(make(o));
  for (std::size_t distance = 1; distance <= 8; ++distance) {
    CAPTURE(distance);
    const double pairs = 2500.0 * static_cast<double>(100 - distance);
    CHECK(plausible(counts[distance], pairs * 0.2 / std::pow(2, static_cast<double>(distance))));
  }
}

TEST_CASE("generate: long-range arcs come on top, as a share") {
  const level_options o{.min_width = 40, .max_width = 40, .edge_probability = 0.01, .long_range_share = 0};
  auto with = o;
  with.long_range_share = 0.5;
  const auto local = make(o);
  const auto both = make(with);
  const double added = static_cast<double>(both.arcs.size() - local.arcs.size());
  CHECK(plausible(added, 0.5 * static_cast<double>(local.arcs.size()) * 0.99)); // 1 % of pairs share a level
  CHECK(std::ranges::includes(both.arcs, local.arcs, [](const auto& a, const auto& b) {
    return a.target != b.target ? a.target < b.target : a.source < b.source;
  }));
  const auto counts = arcs_by_distance(both);
  CHECK(std::accumulate(counts.begin() + 50, counts.end(), 0.0) > 0);
}

TEST_CASE("generate: a number of ops and an in-degree can be asked for") {
  for (const double decay : {0.0, 1.5}) {
    CAPTURE(decay);
    const auto g = make({.min_width = 100, .max_width = 100, .edge_decay = decay, .num_ops = 20'000, .in_degree = 4});
    CHECK(g.num_ops() == 20'000);
    CHECK(plausible(static_cast<double>(g.arcs.size()), 4 * (20'000 - 100)));
  }
}

TEST_CASE("generate: a seed decides the graph, on every platform") {
  CHECK(make({}, 5).arcs == make({}, 5).arcs);
  CHECK(make({}, 5).arcs != make({}, 6).arcs);
  std::uint64_t hash = 0;
  for (const auto& [u, v] : make({.edge_decay = 1.2}, 5).arcs) {
    hash = rng::mix(hash * 31 + (std::uint64_t{u} << 32 | v));
  }
  CHECK(hash == 18'320'636'502'757'763'064u);
}

TEST_CASE("generate: gaps between rare events are geometric") {
  rng random{9};
  for (const double p : {0.5, 0.01, 1e-4}) {
    CAPTURE(p);
    const generate::detail::sparse_trials trials{p};
    double sum = 0, zeros = 0;
    constexpr int draws = 20'000;
    for (int i = 0; i < draws; ++i) {
      const auto gap = trials.gap(random);
      sum += static_cast<double>(gap);
      zeros += gap == 0 ? 1 : 0;
    }
    CHECK(sum / draws == doctest::Approx((1 - p) / p).epsilon(0.04));
    CHECK(plausible(zeros, draws * p));
  }
}

TEST_CASE("generate: chain, fork_join and random_dag") {
  const auto c = generate::chain(5);
  CHECK(c.num_ops() == 5);
  CHECK(c.num_edges() == 4);
  CHECK(generate::chain(0).num_ops() == 0);

  const auto f = generate::fork_join(3, 2, 2);
  CHECK(f.num_ops() == 2 * (1 + 6) + 1);
  CHECK(f.num_edges() == 2 * 3 * 3);
  const auto depth = graph::depths(f, graph::topological_order(f));
  CHECK(*std::ranges::max_element(depth) == 6);
  CHECK(f.predecessors(7).size() == 3);
  CHECK(generate::fork_join(0).num_edges() == 1);
  CHECK(generate::fork_join(4, 0).num_edges() == 1);

  CHECK(generate::random_dag(40, 1, 1).num_edges() == 40 * 39 / 2);
  CHECK(generate::random_dag(40, 0, 1).num_edges() == 0);
  const auto r = generate::random_dag(1000, 0.01, 7);
  CHECK(plausible(static_cast<double>(r.num_edges()), 0.01 * 1000 * 999 / 2));
  CHECK(graph::topological_order(r).size() == 1000);
}

TEST_CASE("generate: options that make no sense are errors") {
  CHECK_THROWS_AS(make({.min_width = 3, .max_width = 2}), value_error);
  CHECK_THROWS_AS(make({.min_width = 0, .max_width = 0}), value_error);
  CHECK_THROWS_AS(make({.edge_probability = 1.5}), value_error);
  CHECK_THROWS_AS(make({.edge_probability = std::nan("")}), value_error);
  CHECK_THROWS_AS(make({.edge_decay = 0.5}), value_error);
  CHECK_THROWS_AS(make({.long_range_share = -1}), value_error);
  CHECK_THROWS_AS(make({.in_degree = -1}), value_error);
  CHECK_THROWS_AS(make({.num_ops = 1ull << 32}), value_error);
  CHECK_THROWS_AS(generate::chain(std::size_t{1} << 32), value_error);
  CHECK_THROWS_AS(generate::fork_join(std::size_t{1} << 20, std::size_t{1} << 20, std::size_t{1} << 40), value_error);
  CHECK_THROWS_AS(generate::random_dag(std::size_t{1} << 32, 0, 1), value_error);
  CHECK_THROWS_WITH_AS(generate::random_dag(3, 2, 1), "generator option edge_probability: must be from 0 to 1",
                       value_error);
}

} // namespace graph_generate_test
