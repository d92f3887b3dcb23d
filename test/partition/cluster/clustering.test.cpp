// SPDX-License-Identifier: BSL-1.0
// The clusterers, on enough identical devices.
#include "partition/cluster/costs_of.hpp"

#include "weft/core/random.hpp"
#include "weft/partition/cluster/dominant_sequence.hpp"
#include "weft/partition/cluster/edge_zeroing.hpp"
#include "weft/partition/cluster/linear.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace partition_cluster_clustering_test {

using namespace weft;
using namespace weft::partition::cluster;
using ids_of = std::vector<cluster_id>;

template <class Clusterer>
clustering on_units(const Clusterer& s, const workload& w, std::size_t devices = 4) {
  const auto q = test::unit_devices(devices);
  const problem p{w, q};
  return s(mean_costs{p});
}

/// The least parallel time of a fork from op 0, over all choices of who shares its device; a join is a fork that runs
/// backwards.
double best_star(double root, const std::vector<double>& work, const std::vector<byte_count>& seconds) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t local = 0; local < (std::size_t{1} << work.size()); ++local) {
    double together = root, alone = 0;
    for (std::size_t i = 0; i < work.size(); ++i) {
      if ((local >> i & 1) != 0) {
        together += work[i];
      } else {
        alone = std::max(alone, root + static_cast<double>(seconds[i]) + work[i]);
      }
    }
    least = std::min(least, std::max(together, alone));
  }
  return least;
}

TEST_CASE("mean_costs: the published bottom levels of the survey's graph") {
  const auto w = test::survey_graph();
  const auto q = test::unit_devices(3);
  const problem p{w, q};
  const mean_costs costs{p};
  std::vector<double> levels;
  for (const op_id v : ids(9)) {
    levels.push_back(costs.bottom_level(v));
  }
  CHECK(levels == std::vector<double>{23, 15, 14, 15, 5, 10, 11, 10, 1});
  CHECK(costs.by_bottom_level() == std::vector<op_id>{0, 1, 3, 2, 6, 5, 7, 4, 8});
}

TEST_CASE("mean_costs: means over devices and pairs, nothing within a component") {
  workload_builder b;
  const op_id u = b.add_op({.work = 12, .bytes = 8});
  const op_id v = b.add_op({.work = 6, .kinds = device_kind::gpu});
  const op_id x = b.add_op({.work = 1});
  b.add_edge(u, v);
  b.add_edge(u, x);
  b.colocate(u, x);
  const workload w = std::move(b).build();
  link_matrix links{2};
  links.set(0, 1, {.latency = 1, .bandwidth = 8});
  links.set(1, 0, {.latency = 3, .bandwidth = 4});
  const platform<> q{{{.speed = 2}, {.kind = device_kind::gpu, .speed = 4}}, links, 2};
  const problem p{w, q};
  const mean_costs costs{p};
  CHECK(costs.compute(u) == 4.5);
  CHECK(costs.compute(v) == 1.5); // on the GPU only
  CHECK(costs.transfer(0, v) == (1 + 1 + 1 + 3 + 2 + 0.5) / 2);
  CHECK(costs.transfer(0, x) == 0);
  CHECK(costs.bottom_level(u) == 4.5 + 4.25 + 1.5);
}

TEST_CASE("edge_zeroing: the survey's graph step by step") {
  // Parallel times: 23 without clusters; then, edge by edge, the most expensive first: 0-6 (10 seconds): 21; 6-8 (6):
  // 20; 5-8 (5): 19; 7-8 (5): 23, not united; 0-1 (4): 18, the order is 0 1 6 5 8 and 7's tensor comes at 17; of those
  // of a second 0-2: 19, no; 0-3: 20, no; 0-4: 19, no; 2-7: 18; 3-7: 20, no.
  const auto found = on_units(edge_zeroing{}, test::survey_graph());
  CHECK(found.parallel_time == 18);
  CHECK(found.cluster == ids_of{0, 0, 1, 2, 3, 0, 0, 1, 0});
  CHECK(found.num_clusters == 4);
}

TEST_CASE("linear: the survey's graph path by path") {
  // 0 -10-> 6 -6-> 8 (23); then, of the rest, 3 -1-> 7 (9) before 1 -1-> 5 (8); 2 and 4 stay alone.
  // 0 [0, 2), 1 [6, 9), 6 [10, 14), 5 [9, 13), 7 [7, 11), 8 at max(14, 13 + 5, 11 + 5) = 18
  const auto found = on_units(linear{}, test::survey_graph());
  CHECK(found.cluster == ids_of{0, 1, 2, 3, 4, 1, 0, 3, 0});
  CHECK(found.parallel_time == 19);
}

TEST_CASE("dominant_sequence: the survey's graph op by op") {
  // 0 alone. 1 has priority 21, but 6 lacks it still, has 23, and could start sooner with 0: 1 stays alone [6, 9).
  // 6 joins 0: [10, 14). 5 joins 1: [9, 13). 3 [3, 7) and 2 [3, 6) cannot join 0 sooner than 3; 7 joins 3: [7, 11).
  // 8 waits for 6 + 6 = 20, for 5 + 5 = 18, for 7 + 5 = 16: joins 6 at 18.
  const auto found = on_units(dominant_sequence{}, test::survey_graph());
  CHECK(found.parallel_time == 19);
  CHECK(found.cluster == ids_of{0, 1, 2, 3, 4, 1, 0, 3, 0});
}

TEST_CASE("dominant_sequence: a cluster is left to an op on a longer path that lacks a producer") {
  // 2 lacks 1; from 0 comes 2 + 10. But for 2's claim 1 would join 0 at 2. So it stays alone, until 2 takes 0's
  // cluster; 1 cannot come along, since it feeds 3, too. 1 [6, 9), 2 [10, 19).
  const auto claimed = test::timed_graph({2, 3, 9, 0}, {{0, 1, 4}, {0, 2, 10}, {1, 2, 1}, {1, 3, 0}});
  CHECK(on_units(dominant_sequence{}, claimed).parallel_time == 19);
  // Without 3 it comes along: 1 [2, 5), 2 [5, 14).
  const auto together = test::timed_graph({2, 3, 9}, {{0, 1, 4}, {0, 2, 10}, {1, 2, 1}});
  CHECK(on_units(dominant_sequence{}, together).parallel_time == 14);
  // a shorter path through 2: 1 has the higher priority and joins
  const auto unclaimed = test::timed_graph({2, 3, 9}, {{0, 1, 4}, {0, 2, 3}, {1, 2, 1}});
  const auto found = on_units(dominant_sequence{}, unclaimed);
  CHECK(found.parallel_time == 14);
  CHECK(found.num_clusters == 1);
}

TEST_CASE("dominant_sequence: optimal for forks and joins, as the paper proves") {
  rng random{7};
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const std::size_t n = 1 + random.below(8);
    const double root = 1.0 + random.below(5);
    std::vector<double> work;
    std::vector<byte_count> seconds;
    std::vector<test::timed_edge> fork, join;
    for (op_id i = 1; i <= n; ++i) {
      work.push_back(1.0 + random.below(9));
      seconds.push_back(1 + random.below(12));
      fork.push_back({0, i, seconds.back()});
      join.push_back({i, 0, seconds.back()});
    }
    std::vector<double> all{root};
    all.insert(all.end(), work.begin(), work.end());
    const double least = best_star(root, work, seconds);
    CHECK(on_units(dominant_sequence{}, test::timed_graph(all, fork)).parallel_time == least);
    CHECK(on_units(dominant_sequence{}, test::timed_graph(all, join)).parallel_time == least);
  }
}

TEST_CASE("edge_zeroing: never longer than no clusters, never shorter than the path without transfers") {
  rng random{8};
  int shorter = 0;
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    std::vector<double> work;
    std::vector<test::timed_edge> edges;
    for (op_id v = 0; v < 12; ++v) {
      work.push_back(random.below(8));
      for (op_id u = 0; u < v; ++u) {
        if (random.below(5) == 0) {
          edges.push_back({u, v, random.below(15)});
        }
      }
    }
    const auto w = test::timed_graph(work, edges);
    const auto q = test::unit_devices(3);
    const problem p{w, q};
    const mean_costs costs{p};
    unbounded_schedule schedule{costs, costs.by_bottom_level()};
    const double alone = schedule.parallel_time([](op_id v) { return v; });
    CHECK(alone == [&] {
      double longest = 0;
      for (const op_id v : ids(12)) {
        longest = std::max(longest, costs.bottom_level(v));
      }
      return longest;
    }());
    const auto ez = edge_zeroing{}(costs);
    CHECK(ez.parallel_time <= alone);
    CHECK(ez.parallel_time == schedule.parallel_time([&](op_id v) { return ez.cluster[v]; }));
    shorter += ez.parallel_time < alone;
    const auto lc = linear{}(costs);
    CHECK(lc.parallel_time == schedule.parallel_time([&](op_id v) { return lc.cluster[v]; }));
    const double serial = schedule.parallel_time([](op_id) { return 0u; });
    const auto dsc = dominant_sequence{}(costs);
    for (const double time : {ez.parallel_time, lc.parallel_time, dsc.parallel_time}) {
      CHECK(time <= alone + serial);
    }
    CHECK(schedule.parallel_time([&](op_id v) { return ez.cluster[v]; }, ez.parallel_time - 0.5) ==
          std::numeric_limits<double>::infinity());
  }
  CHECK(shorter > 150);
}

TEST_CASE("linear: within (1 + 1/g) of the path without transfers for coarse grains") {
  // Work is at least as long as any transfer, so g >= 1 and nothing takes more than twice the longest path.
  rng random{9};
  for (int round = 0; round < 200; ++round) {
    std::vector<double> work;
    std::vector<test::timed_edge> edges;
    for (op_id v = 0; v < 14; ++v) {
      work.push_back(6.0 + random.below(9));
      for (op_id u = 0; u < v; ++u) {
        if (random.below(4) == 0) {
          edges.push_back({u, v, random.below(7)});
        }
      }
    }
    const auto w = test::timed_graph(work, edges);
    auto without = edges;
    for (auto& e : without) {
      e.seconds = 0;
    }
    const double path = on_units(linear{}, test::timed_graph(work, without)).parallel_time;
    const auto lc = on_units(linear{}, w);
    CHECK(lc.parallel_time <= 2 * path);
    CHECK(on_units(dominant_sequence{}, w).parallel_time <= 2 * path);
    for (cluster_id k = 0; k < lc.num_clusters; ++k) { // a path: each of a cluster's ops has an edge to the next
      std::vector<op_id> members;
      for (const op_id v : ids(14)) {
        if (lc.cluster[v] == k) {
          members.push_back(v);
        }
      }
      for (std::size_t i = 1; i < members.size(); ++i) {
        CHECK(std::ranges::any_of(edges, [&](const test::timed_edge& e) {
          return e.from == members[i - 1] && e.to == members[i];
        }));
      }
    }
  }
}

TEST_CASE("clusterers: components stay whole, kinds and memory limit what is united") {
  const auto check = [](const auto& clusterer) {
    workload_builder b; // a chain whose edges cost far more than all work
    for (op_id v = 0; v < 6; ++v) {
      b.add_op({.work = 1,
                .bytes = 100,
                .resident_bytes = 10,
                .kinds = v == 2 ? kind_set{device_kind::gpu} : v == 3 ? kind_set{device_kind::cpu} : kind_set::all()});
    }
    for (op_id v = 1; v < 6; ++v) {
      b.add_edge(v - 1, v);
    }
    b.colocate(0, 5);
    const workload w = std::move(b).build();
    const platform<uniform_links> roomy{{{}, {.kind = device_kind::gpu}}, {{.bandwidth = 1}}};
    const problem p{w, roomy};
    const auto free = clusterer(mean_costs{p});
    CHECK(free.cluster[0] == free.cluster[5]);
    CHECK(free.cluster[2] != free.cluster[3]);
    CHECK(free.num_clusters == 2); // everything else could go with either
    // Every component needs 110 to 320 bytes, so no two of them fit on one device.
    const platform<uniform_links> tight{{{.memory_capacity = 330}, {.kind = device_kind::gpu, .memory_capacity = 330}},
                                        {{.bandwidth = 1}}};
    const problem narrow{w, tight};
    const auto apart = clusterer(mean_costs{narrow});
    CHECK(apart.num_clusters == 5);
    CHECK(apart.cluster[0] == apart.cluster[5]);
  };
  check(edge_zeroing{});
  check(linear{});
  check(dominant_sequence{});
}

TEST_CASE("clusterers: no op, one op, no edge, ops without outputs, tensors without bytes") {
  const auto check = [](const auto& clusterer) {
    CHECK(on_units(clusterer, test::timed_graph({}, {})).num_clusters == 0);
    const auto one = on_units(clusterer, test::timed_graph({5}, {}), 1);
    CHECK(one.num_clusters == 1);
    CHECK(one.parallel_time == 5);
    const auto apart = on_units(clusterer, test::timed_graph({5, 7, 0}, {}));
    CHECK(apart.num_clusters == 3);
    CHECK(apart.parallel_time == 7);
    const auto free =
      on_units(clusterer, test::timed_graph({1, 2, 3, 4}, {{0, 1, 0}, {0, 2, 0}, {1, 3, 0}, {2, 3, 0}}));
    CHECK(free.parallel_time == 8);
    CHECK(on_units(clusterer, test::survey_graph(), 1).parallel_time <= 19); // one device: nothing is ever transferred
  };
  check(edge_zeroing{});
  check(linear{});
  check(dominant_sequence{});
}

} // namespace partition_cluster_clustering_test
