// SPDX-License-Identifier: BSL-1.0
#include "weft/execute/team_executor.hpp"

#include "support/graphs.hpp"
#include "weft/core/random.hpp"
#include "weft/execute/phased_executor.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace execute_team_executor_test {

using namespace weft;
using concurrency::op_graph;
using concurrency::team_plan;
using execute::run_status;

/// Executors of team plans, and the plans that they take.
struct any_plan {
  using type = team_executor;
  static constexpr bool alone = false;
};
struct in_phases {
  using type = phased_executor<>;
  static constexpr bool alone = true;
};

op_graph random_graph(std::size_t n, rng& random) {
  workload_builder b;
  for (std::size_t i = 0; i < n; ++i) {
    b.add_op({.bytes = 0});
  }
  for (const auto& [u, v] : test::random_dag(n, random.uniform(0, 0.3), random)) {
    b.add_edge(u, v);
  }
  return op_graph{std::move(b).build()};
}

/// A plan with random times, so that ops have teams of all sizes.
team_plan random_plan(const op_graph& g, std::uint32_t cores, bool alone, rng& random) {
  workload_builder b;
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < g.num_ops(); ++i) {
    b.add_op({});
    keys.push_back(std::to_string(random.below(8)));
  }
  const concurrency::op_classes classes{std::move(b).build(), keys};
  const concurrency::time_table times{classes, cores, [&](auto, team) { return random.uniform(0, 1); }};
  return concurrency::plan_teams(g, times, {.cores_per_socket = cores}, {.alone = alone, .min_efficiency = 0.1});
}

TEST_CASE_TEMPLATE("team plans: ops run once, after their inputs, on cores of their own, on 300 random plans", Kind,
                   any_plan, in_phases) {
  rng random{11};
  for (int i = 0; i < 300; ++i) {
    const auto g = random_graph(1 + random.below(40), random);
    const std::uint32_t cores = 1 + random.below(4);
    const auto p = random_plan(g, cores, Kind::alone, random);
    typename Kind::type run{g, p};
    CHECK(run.num_ops() == g.num_ops());
    for (const bool record : {false, true}) {
      std::vector<std::atomic<std::uint32_t>> arrived(g.num_ops());
      std::array<std::atomic<int>, 4> users{};
      std::atomic<int> wrong{0};
      const auto report = run(
        [&](op_id v, team t) {
          wrong += arrived[v].load() != g.num_inputs()[v] || t != p.teams[v];
          for (std::uint32_t core = p.first_core[v]; core < p.first_core[v] + t.threads; ++core) {
            wrong += users[core].fetch_add(1) != 0;
          }
          for (const op_id w : g.consumers(v)) {
            arrived[w].fetch_add(1);
          }
          for (std::uint32_t core = p.first_core[v]; core < p.first_core[v] + t.threads; ++core) {
            users[core].fetch_sub(1);
          }
        },
        {.record = record});
      CHECK(report.status == run_status::finished);
      CHECK(report.num_finished == g.num_ops());
      CHECK(wrong == 0);
      REQUIRE(report.trace.ops.size() == (record ? g.num_ops() : 0));
      for (const op_id v : ids(report.trace.ops.size())) {
        CHECK(report.trace.ops[v].threads == p.teams[v].threads);
        CHECK(report.trace.ops[v].device == 0);
        CHECK(report.trace.ops[v].finish >= report.trace.ops[v].start);
      }
    }
  }
}

TEST_CASE_TEMPLATE("team plans: an op that throws, a stop and a deadline end a run, and the next one is whole", Kind,
                   any_plan, in_phases) {
  rng random{2};
  const auto g = random_graph(30, random);
  const auto p = random_plan(g, 3, Kind::alone, random);
  typename Kind::type run{g, p};
  const op_id bad = p.order[10];
  const auto failed = run([&](op_id v) {
    if (v == bad) {
      throw std::runtime_error("no memory left");
    }
  });
  CHECK(failed.status == run_status::failed);
  CHECK(failed.failed == bad);
  CHECK(failed.num_finished < g.num_ops());
  CHECK_THROWS_WITH(failed.rethrow(), "no memory left");

  std::stop_source stop;
  const auto stopped = run([&](op_id v) {
    if (v == bad) {
      stop.request_stop();
    }
  }, {.stop = stop.get_token()});
  CHECK(stopped.status == run_status::cancelled);
  CHECK(stopped.num_finished < g.num_ops());
  CHECK(run([](op_id) {}, {.seconds = 0}).status == run_status::timed_out);
  CHECK(run([](op_id) {}).num_finished == g.num_ops());
}

TEST_CASE_TEMPLATE("team plans: one of another graph is refused", Kind, any_plan, in_phases) {
  rng random{4};
  const auto g = random_graph(5, random), other = random_graph(6, random);
  const auto p = random_plan(other, 2, true, random);
  CHECK_THROWS_AS((typename Kind::type{g, p}), value_error);
}

TEST_CASE("phased_executor: ops with one thread between wide ones are a phase") {
  workload_builder b; // two side by side, a wide one, two side by side, one alone
  for (int i = 0; i < 6; ++i) {
    b.add_op({.bytes = 0});
  }
  for (const auto& [u, v] : {std::pair{0u, 2u}, {1u, 2u}, {2u, 3u}, {2u, 4u}, {3u, 5u}, {4u, 5u}}) {
    b.add_edge(u, v);
  }
  const op_graph g{std::move(b).build()};
  team_plan p{{{1}, {1}, {2}, {1}, {1}, {1}}, {0, 1, 0, 0, 1, 0}, {0, 1, 2, 3, 4, 5}, {}};
  phased_executor<> run{g, p};
  CHECK(run.num_phases() == 3);
  CHECK(run([](op_id) {}).num_finished == 6);
}

TEST_CASE("phased_executor: without ops there is nothing to do") {
  phased_executor<> run{op_graph{}, {}};
  CHECK(run([](op_id) {}).status == run_status::finished);
}

} // namespace execute_team_executor_test
