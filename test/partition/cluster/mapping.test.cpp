// SPDX-License-Identifier: BSL-1.0
// From clusters to devices, and the schedulers made of both.
#include "partition/cluster/costs_of.hpp"
#include "partition/place.hpp"
#include "partition/published_example.hpp"

#include "weft/graph/adjacency.hpp"
#include "weft/partition/clustered.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/annotated_graph.hpp"

#include <doctest/doctest.h>

#include <type_traits>
#include <vector>

namespace partition_cluster_mapping_test {

using namespace weft;
namespace cluster = partition::cluster;
using cluster::clustering;

/// Chains of two ops each.
workload pairs(const std::vector<double>& work) {
  std::vector<double> each;
  std::vector<test::timed_edge> edges;
  for (const double w : work) {
    each.push_back(w / 2);
    each.push_back(w / 2);
    edges.push_back({static_cast<op_id>(each.size() - 2), static_cast<op_id>(each.size() - 1), 50});
  }
  return test::timed_graph(each, edges);
}

clustering as_pairs(std::size_t count) {
  clustering k{.cluster = {}, .num_clusters = count, .parallel_time = 0};
  for (std::uint32_t i = 0; i < 2 * count; ++i) {
    k.cluster.push_back(i / 2);
  }
  return k;
}

template <class Problem>
double run_in_order(const Problem& p, const plan& decided) {
  const auto wrong = validate(p, decided);
  CHECK_MESSAGE(wrong.empty(), (wrong.empty() ? "" : to_string(wrong.front())));
  simulator<Problem, schedule::static_order> sim{p};
  const auto result = sim.run(decided);
  CHECK(result.complete);
  return result.makespan;
}

TEST_CASE("load_balancing: longest first, to who is done first") {
  const auto w = pairs({4, 10, 6, 6, 2});
  const auto q = test::unit_devices(2);
  const problem p{w, q};
  // 10 -> 0; 6 -> 1; 6 -> 1 (12 < 16); 4 -> 0 (14); 2 -> 0 or 1: 16 or 14 -> 1
  const auto where = cluster::load_balancing{}(cluster::mean_costs{p}, as_pairs(5));
  REQUIRE(where);
  CHECK(*where == placement{0, 0, 0, 0, 1, 1, 1, 1, 1, 1});

  const platform<uniform_links> fast{{{.speed = 1}, {.speed = 3}}, {{.bandwidth = 1}}};
  const problem unequal{w, fast};
  // 10 -> 1 (10/3); 6 -> 1 (16/3 < 6); 6 -> 0 (6 < 22/3); 4 -> 1 (20/3 < 10); 2 -> 1 (22/3 < 8)
  const auto faster = cluster::load_balancing{}(cluster::mean_costs{unequal}, as_pairs(5));
  REQUIRE(faster);
  CHECK(*faster == placement{1, 1, 1, 1, 1, 1, 0, 0, 1, 1});

  const platform<uniform_links> wide{{{.slots = 3}, {}}, {{.bandwidth = 1}}};
  const problem slots{w, wide};
  // 10 -> 0 (10/3); 6 -> 0 (16/3 < 6); 6 -> 1 (6 < 22/3); 4 -> 0 (20/3); 2 -> 0 (22/3 < 8)
  CHECK(*cluster::load_balancing{}(cluster::mean_costs{slots}, as_pairs(5)) ==
        placement{0, 0, 0, 0, 0, 0, 1, 1, 0, 0});
}

TEST_CASE("mappers: a cluster that fits nowhere as a whole is parted, one that is too large at all is named") {
  workload_builder b;
  for (int i = 0; i < 4; ++i) {
    b.add_op({.work = 1, .resident_bytes = 10});
  }
  const workload w = std::move(b).build();
  const clustering all{.cluster = {0, 0, 0, 0}, .num_clusters = 1, .parallel_time = 0};
  const auto check = [&](const auto& mapper) {
    const platform<uniform_links> tight{{{.memory_capacity = 25}, {.memory_capacity = 25}}, {}};
    const problem p{w, tight};
    const auto where = mapper(cluster::mean_costs{p}, all);
    REQUIRE(where);
    CHECK(*where == placement{0, 1, 0, 1});
    const platform<uniform_links> tighter{{{.memory_capacity = 25}, {.memory_capacity = 15}}, {}};
    const problem infeasible{w, tighter};
    const auto none_left = mapper(cluster::mean_costs{infeasible}, all);
    REQUIRE_FALSE(none_left);
    CHECK(none_left.error().cause == infeasibility::kind::out_of_memory);
    CHECK(none_left.error().op == 3);
    CHECK(none_left.error().largest_free == 5);
  };
  check(cluster::load_balancing{});
  check(cluster::earliest_finish{});
}

TEST_CASE("earliest_finish: work that is still to come counts by its weight") {
  // Cluster 0 is op 0 and, much later, the long op 2; cluster 1 is op 1, whose rank is below op 0's.
  const auto w = test::timed_graph({1, 5, 20}, {{0, 2, 20}, {1, 2, 1}});
  const platform<uniform_links> q{{{.speed = 1}, {.speed = 0.5}}, {{.bandwidth = 1}}};
  const problem p{w, q};
  const clustering k{.cluster = {0, 1, 0}, .num_clusters = 2, .parallel_time = 0};
  // Without weight op 1 takes device 0 after op 0 (finish 6 < 10); with it, 20 seconds wait there.
  CHECK(*cluster::earliest_finish{.cluster_weight = 0}(cluster::mean_costs{p}, k) == placement{0, 0, 0});
  CHECK(*cluster::earliest_finish{.cluster_weight = 1}(cluster::mean_costs{p}, k) == placement{0, 1, 0});
}

TEST_CASE("clustering schedulers: the survey's graph, the last clusters merged") {
  const auto w = test::survey_graph();
  const auto q = test::unit_devices(4);
  const problem p{w, q};
  const auto check = [&](const auto& s, double makespan) {
    const auto decided = test::decide(s, p);
    REQUIRE(decided);
    CHECK(decided->plan.order.size() == 9);
    CHECK(run_in_order(p, decided->plan) == makespan);
  };
  check(partition::edge_zeroing{}, 18);
  check(partition::linear_clustering{}, 17); // 19 without merging
  check(partition::dsc{}, 17);
}

TEST_CASE("clustering schedulers: the published example of HEFT's paper") {
  const test::published_example s;
  const auto check = [&](const auto& scheduler) {
    const auto decided = test::decide(scheduler, s.p);
    REQUIRE(decided);
    const double makespan = run_in_order(s.p, decided->plan);
    CHECK(makespan >= 73); // the optimum
    CHECK(makespan <= 127); // all on the best device
  };
  check(partition::edge_zeroing{});
  check(partition::linear_clustering{});
  check(partition::dsc{});
  check(partition::clustered<cluster::dominant_sequence, cluster::load_balancing>{});
}

TEST_CASE("clustering schedulers: no op, and no device of a kind") {
  const auto check = [](const auto& scheduler) {
    const workload nothing;
    const auto q = test::unit_devices(2);
    const problem empty{nothing, q};
    REQUIRE(test::decide(scheduler, empty));
    CHECK(test::place(scheduler, empty).empty());
    workload_builder b;
    b.add_op({.work = 1});
    b.add_op({.work = 1, .kinds = device_kind::tpu});
    const workload w = std::move(b).build();
    const problem p{w, q};
    const auto decided = test::decide(scheduler, p);
    REQUIRE_FALSE(decided);
    CHECK(decided.error().cause == infeasibility::kind::no_device_of_kind);
    CHECK(decided.error().op == 1);
  };
  check(partition::edge_zeroing{});
  check(partition::linear_clustering{});
  check(partition::dsc{});
}

// [own_clusterer]
/// A cluster per op: what the mapper makes of the graph by itself.
struct one_op_each {
  template <class Problem>
  cluster::clustering operator()(const cluster::mean_costs<Problem>& costs) const {
    return cluster::cluster_sets{costs.problem()}.take(); // nothing united
  }
};
using list_scheduling = partition::clustered<one_op_each, cluster::earliest_finish>;
using balanced_paths = partition::clustered<cluster::linear, cluster::load_balancing>;
// [own_clusterer]

TEST_CASE("clustered: takes other clusterers and mappers") {
  const test::published_example s;
  const auto decided = test::decide(list_scheduling{}, s.p);
  REQUIRE(decided);
  CHECK(run_in_order(s.p, decided->plan) <= 100);
  REQUIRE(test::decide(balanced_paths{}, s.p));
  static_assert(cluster::clusterer_for<one_op_each, std::remove_cvref_t<decltype(s.p)>>);
  static_assert(!cluster::clusterer_for<int, std::remove_cvref_t<decltype(s.p)>>);
}

constexpr double solved_by_the_compiler() {
  const std::vector<std::vector<int>> successors{{1, 2}, {3}, {3}, {}};
  const std::vector<double> work{1, 4, 3, 1};
  const annotated_graph g{successors, {.work = work}};
  const platform<uniform_links> q{std::vector<device>(2), {}};
  const auto solve = pipeline(partition::dsc{}, schedule::static_order{});
  return solve(problem{g, q}).makespan;
}
static_assert(solved_by_the_compiler() == 6);

} // namespace partition_cluster_mapping_test
