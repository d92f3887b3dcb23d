// SPDX-License-Identifier: BSL-1.0
// The models of the concurrency concepts that docs/concepts/ shows, each between two lines with its name.
#include "weft/all.hpp"
#include "weft/concurrency.hpp"
#include "weft/execute.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace docs_concurrency_test {

// [moldable_cost]
/// A part of every op is done by one thread; the others wait for it, and each costs a microsecond.
struct mostly_parallel {
  double parallel = 0.95;

  template <class Workload>
  double seconds(const Workload& w, weft::op_id v, const weft::machine& m, weft::team t) const {
    const weft::concurrency::amdahl curve{w.work(v) / m.core_speed, parallel};
    return curve(t) + 1e-6 * t.threads;
  }
};
static_assert(weft::moldable_cost_for<mostly_parallel, weft::workload>);
// [moldable_cost]

// [thread_policy]
/// What another policy says, but never more than some threads.
template <weft::thread_policy Base>
struct at_most {
  Base base = {};
  std::uint32_t threads = 8;

  std::vector<weft::team> operator()(const weft::concurrency::time_table& times, const weft::machine& m) const {
    auto teams = base(times, m);
    for (weft::team& t : teams) {
      t.threads = std::min(t.threads, threads);
    }
    return teams;
  }
};
static_assert(weft::thread_policy<at_most<weft::concurrency::best_threads>>);
// [thread_policy]

// [corun_policy]
/// Starts the most urgent op as soon as its team fits, and nothing before it.
struct in_order {
  std::optional<weft::concurrency::launch> operator()(const weft::concurrency::run_view& view) const {
    const weft::op_id v = view.ready.front();
    const weft::team t = view.chosen(v);
    if (t.threads > view.idle_cores) {
      return {};
    }
    return weft::concurrency::launch{v, t};
  }
};
static_assert(weft::corun_policy<in_order>);
// [corun_policy]

// [team_runner]
/// A runtime of one's own that wants to know the number of threads before a kernel is called.
struct own_runtime {
  static inline thread_local std::uint32_t threads = 1; // what its parallel loops look at

  template <class Call>
  void operator()(const weft::execute::seat& s, Call&& call) {
    threads = s.team.threads;
    std::forward<Call>(call)();
  }
};
static_assert(weft::team_runner<own_runtime>);
// [team_runner]

/// Six equal ops between a first and a last one.
weft::workload fork_and_join() {
  weft::workload_builder b;
  const auto first = b.add_op({.work = 1e6, .bytes = 8, .type = "Small"});
  const auto last = b.add_op({.work = 1e6, .type = "Small"});
  for (int i = 0; i < 6; ++i) {
    const auto v = b.add_op({.work = 1e8, .bytes = 8, .type = "Large"});
    b.add_edge(first, v);
    b.add_edge(v, last);
  }
  return std::move(b).build();
}

TEST_CASE("docs: a moldable cost, a thread policy and a co-run policy of your own") {
  const auto workload = fork_and_join();
  const auto one = weft::single(weft::machines::xeon_phi_7250());
  // [simulate]
  using namespace weft::concurrency;
  const weft::problem p{workload, one, moldable<mostly_parallel>{}};
  const weft::plan here{weft::placement(workload.num_ops(), 0), {}};

  const strategy mine{at_most<best_threads>{.threads = 8}, in_order{}};
  weft::manycore_simulator simulator{p, mine};
  const double seconds = simulator.run(here).makespan;
  // [simulate]
  weft::manycore_simulator usual{p, recommended};
  CHECK(seconds < usual.run(here).makespan);
}

TEST_CASE("docs: a kernel and a team runner of your own") {
  const auto workload = fork_and_join();
  const weft::machine m{.cores_per_socket = 4};
  // [execute]
  const weft::concurrency::op_classes classes{workload};
  const auto times = tabulate(workload, classes, m, mostly_parallel{});
  weft::concurrent_executor run{workload, times, m, weft::concurrency::s1_s2_s3, own_runtime{}};

  std::atomic<int> calls = 0;
  const auto report = run(
    [&](weft::op_id, weft::team t) {
      calls += own_runtime::threads == t.threads; // computes the op
    },
    {.seconds = 60, .record = true});
  report.rethrow(); // if an op threw
  // [execute]
  CHECK(report.status == weft::execute::run_status::finished);
  CHECK(calls == static_cast<int>(workload.num_ops()));
  CHECK(report.trace.ops.size() == workload.num_ops());
}

TEST_CASE("docs: a plan on threads") {
  const auto workload = fork_and_join();
  const weft::platform platform{std::vector<weft::device>(2), weft::uniform_links{}};
  const weft::problem problem{workload, platform};
  const auto kernel = [](weft::op_id) {};
  // [static_executor]
  const auto solve = weft::pipeline(weft::partition::heft{}, weft::schedule::static_order{});
  const auto result = solve(problem);
  weft::static_executor run{workload, result.plan};
  const auto report = run(kernel);
  // [static_executor]
  CHECK(report.num_finished == workload.num_ops());
}

TEST_CASE("docs: a plan of teams") {
  const auto workload = fork_and_join();
  const weft::machine machine{.name = "here", .cores_per_socket = 2};
  const weft::concurrency::op_classes classes{workload};
  const auto times = weft::concurrency::tabulate(workload, classes, machine, mostly_parallel{});
  const auto kernel = [](weft::op_id, weft::team) {};
  // [team_plan]
  const weft::concurrency::op_graph graph{workload};
  const auto plan = weft::concurrency::plan_teams(graph, times, machine, {.alone = true});
  weft::phased_executor run{graph, plan}; // or weft::phased_executor<weft::execute::openmp_crew>
  const auto report = run(kernel);
  // [team_plan]
  CHECK(report.num_finished == workload.num_ops());
}

} // namespace docs_concurrency_test
