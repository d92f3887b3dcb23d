// SPDX-License-Identifier: BSL-1.0
#include "weft/concurrency/team_plan.hpp"

#include "support/graphs.hpp"
#include "weft/concurrency/scaling_laws.hpp"
#include "weft/core/random.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace concurrency_team_plan_test {

using namespace weft;
using concurrency::op_classes;
using concurrency::op_graph;
using concurrency::plan_teams;
using concurrency::team_plan;
using concurrency::time_table;

workload random_workload(std::size_t n, double density, rng& random) {
  workload_builder b;
  for (std::size_t i = 0; i < n; ++i) {
    b.add_op({.bytes = 0});
  }
  for (const auto& [u, v] : test::random_dag(n, density, random)) {
    b.add_edge(u, v);
  }
  return std::move(b).build();
}

op_classes each_of_its_own(const workload& w) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < w.num_ops(); ++i) {
    keys.push_back(std::to_string(i));
  }
  return {w, keys};
}

/// Ops from nothing to ten seconds; some scale well, some not, and one in ten needs several threads to be fast.
time_table random_times(const workload& w, std::uint32_t cores, rng& random) {
  struct law {
    double seconds, parallel, alone;
  };
  std::vector<law> laws;
  for (std::size_t i = 0; i < w.num_ops(); ++i) {
    laws.push_back({random.below(10) == 0 ? 0 : random.uniform(0, 10), random.uniform(),
                    random.below(10) == 0 ? random.uniform(1, 8) : 1});
  }
  return {each_of_its_own(w), cores, [&](concurrency::class_id c, team t) {
            const law& l = laws[c];
            return l.seconds * concurrency::amdahl{1, l.parallel}(t) * (t.threads == 1 ? l.alone : 1);
          }};
}

machine cores(std::uint32_t count) { return {.cores_per_socket = count}; }

/// The first rule that a plan breaks, or nothing.
std::string broken(const op_graph& g, const time_table& times, std::uint32_t count, const team_plan& p,
                   const concurrency::team_planning& o) {
  const auto& ops = p.predicted.ops;
  auto sorted = p.order;
  std::ranges::sort(sorted);
  for (op_id v = 0; v < g.num_ops(); ++v) {
    const double seconds = times.seconds(v, p.teams[v]);
    if (sorted.size() != g.num_ops() || sorted[v] != v) {
      return "an op is not in the order once";
    }
    if (p.teams[v].threads + p.first_core[v] > count || ops[v].threads != p.teams[v].threads) {
      return "a team does not fit";
    }
    if (std::abs(ops[v].finish - ops[v].start - seconds) > 1e-9) {
      return "an op takes another time";
    }
    for (const op_id w : g.consumers(v)) {
      if (ops[w].start < ops[v].finish) {
        return "an op starts before its input is there";
      }
    }
  }
  std::vector<double> free_from(count, 0);
  double all_free = 0;
  double last = 0;
  for (const op_id v : p.order) {
    const bool is_wide = p.teams[v].threads > 1;
    if (o.alone && (ops[v].start < all_free || (is_wide && ops[v].start < last))) {
      return "a wide op is not alone";
    }
    all_free = is_wide ? ops[v].finish : all_free;
    last = std::max(last, ops[v].finish);
    for (std::uint32_t c = p.first_core[v]; c < p.first_core[v] + p.teams[v].threads; ++c) {
      if (ops[v].start < free_from[c]) {
        return "two ops share a core";
      }
      free_from[c] = ops[v].finish;
    }
  }
  return last == p.predicted.makespan ? "" : "the makespan is not that of the ops";
}

TEST_CASE("plan_teams: plans keep to graph and cores, and none beats the bounds, on 3000 random problems") {
  rng random{5};
  for (int i = 0; i < 3000; ++i) {
    const auto w = random_workload(1 + random.below(30), random.uniform(0, 0.4), random);
    const std::uint32_t count = 1 + random.below(9);
    const auto times = random_times(w, count, random);
    const op_graph g{w};
    concurrency::team_planning o;
    o.threads = random.below(3) == 0 ? 1 + random.below(count) : 0;
    o.alone = random.below(2) == 0;
    o.min_efficiency = random.uniform();
    o.handover_seconds = random.uniform(0, 0.1);
    o.release_seconds = random.uniform(0, 0.1);
    const auto p = plan_teams(g, times, cores(count), o);
    CHECK(broken(g, times, count, p, o) == "");

    double work = 0;
    const auto least = [&](op_id v, auto cost) {
      double best = std::numeric_limits<double>::infinity();
      for (std::uint32_t threads = 1; threads <= count; ++threads) {
        best = std::min(best, cost(times.seconds(v, {threads}), threads));
      }
      return best;
    };
    for (const op_id v : ids(w.num_ops())) {
      work += least(v, [](double s, std::uint32_t threads) { return s * threads; });
    }
    const auto longest = graph::longest_to_sink(g, g.topological_order(), [&](op_id v) {
      return least(v, [](double s, std::uint32_t) { return s; });
    });
    CHECK(p.predicted.makespan * (1 + 1e-12) >= std::max(work / count, std::ranges::max(longest)));
    if (count == 1) {
      CHECK(p.predicted.makespan == doctest::Approx(work));
    }
  }
}

TEST_CASE("plan_teams: what scales gets the cores, what does not runs side by side") {
  rng random{1};
  const auto w = random_workload(2, 0, random);
  const op_graph g{w};
  const auto with = [&](double parallel) {
    return time_table{each_of_its_own(w), 4, [=](auto, team t) { return concurrency::amdahl{8, parallel}(t); }};
  };
  CHECK(plan_teams(g, with(1), cores(4)).predicted.makespan == 4);
  const auto apart = plan_teams(g, with(0), cores(4));
  CHECK(apart.teams == std::vector<team>(2));
  CHECK(apart.predicted.makespan == 8);
  CHECK(apart.first_core[0] != apart.first_core[1]);
  CHECK(plan_teams(g, with(1), cores(4), {.threads = 2}).teams == std::vector<team>(2, {2}));
}

TEST_CASE("plan_teams: an op with one thread goes into the gap before a wide one") {
  workload_builder b; // long -> wide, and short beside
  for (int i = 0; i < 3; ++i) {
    b.add_op({.bytes = 0});
  }
  b.add_edge(0, 1);
  const auto w = std::move(b).build();
  const time_table times{each_of_its_own(w), 2, [](concurrency::class_id c, team t) {
                           const double seconds[]{5, 10, 1};
                           return c == 1 ? seconds[c] / t.threads : seconds[c];
                         }};
  const auto p = plan_teams(op_graph{w}, times, cores(2), {.alone = true});
  CHECK(p.teams[1].threads == 2);
  CHECK(p.predicted.ops[2].finish <= p.predicted.ops[1].start);
  CHECK(p.predicted.makespan == doctest::Approx(10).epsilon(1e-4));
}

/// The shortest that any order of ops and any teams reach on two cores where a wide op takes both.
double optimum(const op_graph& g, const time_table& times) {
  std::vector<op_id> order(g.num_ops());
  std::iota(order.begin(), order.end(), op_id{0});
  double best = std::numeric_limits<double>::infinity();
  do {
    for (std::uint32_t wide = 0; wide < 1u << order.size(); ++wide) {
      double free_from[2]{0, 0};
      std::vector<double> ready(order.size(), 0);
      std::vector<bool> done(order.size(), false);
      bool fits = true;
      for (const op_id v : order) {
        const bool both = (wide >> v & 1) != 0;
        const std::size_t core = free_from[0] <= free_from[1] ? 0 : 1;
        const double start = std::max(both ? std::max(free_from[0], free_from[1]) : free_from[core], ready[v]);
        const double finish = start + times.seconds(v, {both ? 2u : 1u});
        for (const std::size_t c : {std::size_t{0}, std::size_t{1}}) {
          free_from[c] = both || c == core ? finish : free_from[c];
        }
        for (const op_id u : g.consumers(v)) {
          fits = fits && !done[u];
          ready[u] = std::max(ready[u], finish);
        }
        done[v] = true;
      }
      best = fits ? std::min(best, std::max(free_from[0], free_from[1])) : best;
    }
  } while (std::ranges::next_permutation(order).found);
  return best;
}

TEST_CASE("plan_teams: close to the best of all plans of small problems") {
  rng random{9};
  double sum = 0;
  constexpr int count = 200;
  for (int i = 0; i < count; ++i) {
    const auto w = random_workload(2 + random.below(4), random.uniform(0, 0.6), random);
    const auto times = random_times(w, 2, random);
    const op_graph g{w};
    double found = std::numeric_limits<double>::infinity();
    for (const double efficiency : {0.3, 0.6, 0.75, 0.9}) { // as tuning tries them
      found = std::min(found, plan_teams(g, times, cores(2), {.min_efficiency = efficiency, .handover_seconds = 0,
                                                              .release_seconds = 0}).predicted.makespan);
    }
    const double best = optimum(g, times);
    CHECK(found >= best * (1 - 1e-12));
    CHECK(found <= best * 2);
    sum += best > 0 ? found / best : 1;
  }
  CHECK(sum / count < 1.1);
}

TEST_CASE("one_after_the_other: the order of the graph, on one core after the other's end") {
  rng random{3};
  const auto w = random_workload(10, 0.3, random);
  const auto times = random_times(w, 4, random);
  const op_graph g{w};
  const auto p = concurrency::one_after_the_other(g, times, std::vector<team>(10, {4}));
  CHECK(broken(g, times, 4, p, {.alone = true}) == "");
  double sum = 0;
  for (const op_id v : ids(w.num_ops())) {
    sum += times.seconds(v, {4});
  }
  CHECK(p.predicted.makespan == doctest::Approx(sum));
}

} // namespace concurrency_team_plan_test
