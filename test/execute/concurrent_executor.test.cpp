// SPDX-License-Identifier: BSL-1.0
#include "weft/execute/concurrent_executor.hpp"

#include "weft/concurrency/scaling_laws.hpp"

#include "support/held_stop.hpp"
#include "support/small_problem.hpp"

#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <optional>

#include <memory>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace execute_concurrent_executor_test {

using namespace weft;
using concurrency::time_table;
using execute::run_status;

/// a = 0, b = 1, c = 2, d = 3; a -> {b, c} -> d.
const workload diamond = test::diamond();

/// `count` ops, each the input of the next if `chained`.
workload row(std::size_t count, bool chained) {
  workload_builder b;
  for (std::size_t i = 0; i < count; ++i) {
    b.add_op({.work = 1, .bytes = 1});
  }
  for (op_id v = 1; chained && v < count; ++v) {
    b.add_edge(v - 1, v);
  }
  return std::move(b).build();
}

machine cores(std::uint32_t count) {
  return {.cores_per_socket = count};
}

/// Every op takes a second on one thread and scales without loss.
time_table ideal(const workload& w, std::uint32_t max_threads) {
  return {concurrency::op_classes{w}, max_threads, [](auto, team t) { return concurrency::amdahl{}(t); }};
}

template <class Strategy, class Teams = execute::kernel_threads>
concurrent_executor<Strategy, Teams> executor(const workload& w, std::uint32_t count, const Strategy& s,
                                              Teams teams = {}) {
  return {w, ideal(w, count), cores(count), s, std::move(teams)};
}

/// Notes which cores have an op, and how often one had two.
struct core_users {
  std::array<std::atomic<int>, 16>* users;
  std::atomic<int>* clashes;
  std::atomic<int>* wrong_sizes;
  template <class Call>
  void operator()(const execute::seat& s, Call&& call) {
    *wrong_sizes += s.cores.size() != s.team.threads;
    for (const auto core : s.cores) {
      *clashes += (*users)[core].fetch_add(1) != 0;
    }
    call();
    for (const auto core : s.cores) {
      (*users)[core].fetch_sub(1);
    }
  }
};

/// Cannot get the threads.
struct broken {
  template <class Call>
  void operator()(const execute::seat&, Call&&) {
    throw std::runtime_error("no threads left");
  }
};

TEST_CASE("concurrent_executor: each op once, after its inputs") {
  auto run = executor(diamond, 2, concurrency::s1_s2_s3);
  CHECK(run.num_ops() == 4);
  CHECK(run.num_runners() == 2);
  for (int step = 1; step <= 100; ++step) {
    std::array<int, 4> value{};
    const auto report = run([&](op_id v) {
      constexpr std::array<int, 4> own{1, 10, 100, 1000};
      value[v] = own[v] + (v == 0 ? step : v == 3 ? value[1] + value[2] : value[0]);
    });
    CHECK(report.status == run_status::finished);
    CHECK(report.num_finished == 4);
    CHECK(report.failed == none);
    CHECK(report.trace.ops.empty());
    CHECK(value[3] == 1000 + (10 + 1 + step) + (100 + 1 + step));
  }
}

TEST_CASE("concurrent_executor: nothing to do, and one op") {
  const workload nothing = row(0, false);
  auto idle = executor(nothing, 2, concurrency::s1);
  std::stop_source stop;
  stop.request_stop();
  for (const auto& options : {execute::run_options{}, execute::run_options{.seconds = 0},
                              execute::run_options{.stop = stop.get_token(), .record = true}}) {
    const auto report = idle([](op_id) { FAIL("there is no op"); }, options);
    CHECK(report.status == run_status::finished); // all that there was
    CHECK(report.num_finished == 0);
  }
  auto run = executor(row(1, false), 2, concurrency::s1);
  CHECK(run.num_runners() == 1);
  const auto caller = std::this_thread::get_id();
  const auto report = run([&](op_id) { CHECK(std::this_thread::get_id() == caller); }, {.record = true});
  REQUIRE(report.trace.ops.size() == 1);
  CHECK(report.trace.ops[0].device == 0);
}

TEST_CASE("concurrent_executor: the strategy decides the teams") {
  const workload w = row(6, false);
  const auto teams_of = [&w](const auto& s) {
    std::vector<std::uint32_t> told(w.num_ops(), 0);
    auto run = executor(w, 4, s);
    const auto report = run([&](op_id v, team t) { told[v] = t.threads; }, {.record = true});
    for (const op_id v : ids(w.num_ops())) {
      CHECK(report.trace.ops[v].threads == told[v]);
    }
    return told;
  };
  CHECK(teams_of(concurrency::s1) == std::vector<std::uint32_t>(6, 4));
  CHECK(teams_of(concurrency::uniform(2, 2)) == std::vector<std::uint32_t>(6, 2));
  CHECK(teams_of(concurrency::uniform(4, 3)) == std::vector<std::uint32_t>(6, 1)); // no more than a share of the cores
}

TEST_CASE("concurrent_executor: one at a time runs in order of urgency, one after the other") {
  auto run = executor(row(20, false), 3, concurrency::recommended);
  std::vector<op_id> ran; // not protected: ops must not overlap
  const auto report = run([&](op_id v) { ran.push_back(v); }, {.record = true});
  CHECK(report.num_finished == 20);
  CHECK(ran.size() == 20);
  CHECK(std::is_sorted(ran.begin(), ran.end()));
  for (op_id v = 1; v < 20; ++v) {
    CHECK(report.trace.ops[v].start >= report.trace.ops[v - 1].finish);
  }
}

TEST_CASE("concurrent_executor: cores are handed to one op at a time, as many as it has threads") {
  std::array<std::atomic<int>, 16> users{};
  std::atomic<int> clashes{0};
  std::atomic<int> wrong_sizes{0};
  const auto check = [&](const auto& s) {
    auto run = executor(row(200, false), 4, s, core_users{&users, &clashes, &wrong_sizes});
    CHECK(run([](op_id) {}).num_finished == 200);
  };
  check(concurrency::s1_s2_s3);
  check(concurrency::uniform(2, 2));
  check(concurrency::uniform(4, 1));
  check(concurrency::equally_split);
  CHECK(clashes == 0);
  CHECK(wrong_sizes == 0);
}

TEST_CASE("concurrent_executor: ops that wait for each other run at the same time") {
  // Hangs, and so fails, unless both run at once.
  auto run = executor(row(2, false), 2, concurrency::uniform(2, 1));
  std::atomic<int> there{0};
  const auto report = run([&](op_id) {
    there.fetch_add(1);
    while (there.load() < 2) {
      std::this_thread::yield();
    }
  });
  CHECK(report.num_finished == 2);
}

TEST_CASE("concurrent_executor: an exception ends the run and is handed out") {
  auto run = executor(diamond, 2, concurrency::uniform(2, 1));
  std::array<bool, 4> ran{};
  auto report = run(
    [&](op_id v) {
      ran[v] = true;
      if (v == 1) {
        throw std::out_of_range("b is broken");
      }
    },
    {.record = true});
  CHECK(report.status == run_status::failed);
  CHECK(report.failed == 1);
  CHECK_FALSE(ran[3]);
  CHECK(report.num_finished == (ran[2] ? 2 : 1));
  CHECK(report.trace.ops[1].device == 0);
  CHECK(report.trace.ops[1].finish >= report.trace.ops[1].start);
  CHECK(report.trace.ops[3].device == none);
  CHECK_THROWS_WITH_AS(report.rethrow(), "b is broken", std::out_of_range);
  report = run([](op_id) {});
  CHECK(report.status == run_status::finished);
  CHECK(report.num_finished == 4);
}

TEST_CASE("concurrent_executor: what the team runner throws ends the run, too") {
  auto run = executor(diamond, 2, concurrency::s1, broken{});
  const auto report = run([](op_id) { FAIL("nobody calls it"); });
  CHECK(report.status == run_status::failed);
  CHECK(report.failed == 0);
  CHECK_THROWS_WITH_AS(report.rethrow(), "no threads left", std::runtime_error);
}

TEST_CASE("concurrent_executor: cancelled from inside, and before") {
  auto run = executor(row(10, true), 2, concurrency::s1_s2_s3);
  std::stop_source stop;
  int calls = 0;
  auto report = run(
    [&](op_id v) {
      ++calls;
      if (v == 4) {
        stop.request_stop();
      }
    },
    {.stop = stop.get_token()});
  CHECK(report.status == run_status::cancelled);
  CHECK(report.num_finished == 5);
  CHECK(calls == 5);
  report = run([&](op_id) { ++calls; }, {.stop = stop.get_token()}); // it was requested long ago
  CHECK(report.status == run_status::cancelled);
  CHECK(report.num_finished == 0);
  CHECK(calls == 5);
}

TEST_CASE("concurrent_executor: a stop that another thread is still requesting counts from the start of its request") {
  const workload w = row(10, true);
  for (const double seconds : {1.0, 0.0}) { // ops that take no time are run on the spot
    concurrent_executor run{w, time_table{concurrency::op_classes{w}, 2, [&](auto, team) { return seconds; }}, cores(2),
                            concurrency::s1_s2_s3};
    for (const bool throws : {false, true}) {
      std::stop_source stop;
      std::optional<test::held_stop> other;
      int calls = 0;
      const auto kernel = [&](op_id v) {
        ++calls;
        if (v == 4) {
          other.emplace(stop);
          CHECK(!stop.request_stop()); // somebody else is at it
          throws ? throw std::runtime_error("after the stop") : (void)0;
        }
      };
      const auto check = [&](const execute::run_report& report) {
        CHECK(report.status == run_status::cancelled);
        CHECK(report.num_finished == (throws ? 4 : 5));
        CHECK(calls == 5);
        CHECK(report.failed == (throws ? 4 : none));
        other.reset();
        stop = {};
        calls = 0;
      };
      check(run(kernel, {.stop = stop.get_token()}));
      run([&](op_id v) { // nested: one thread runs all
        if (v == 0) {
          check(run(kernel, {.stop = stop.get_token()}));
        }
      });
    }
  }
}

TEST_CASE("concurrent_executor: a cancel or a deadline during the last op comes too late") {
  auto run = executor(row(3, true), 2, concurrency::s1_s2_s3);
  std::stop_source stop;
  auto report = run([&](op_id v) { v == 2 ? (void)stop.request_stop() : (void)0; }, {.stop = stop.get_token()});
  CHECK(report.status == run_status::finished);
  CHECK(report.num_finished == 3);
  constexpr double seconds = 0.02;
  report = run(
    [&](op_id v) {
      if (v == 2) {
        std::this_thread::sleep_for(std::chrono::duration<double>(2 * seconds));
      }
    },
    {.seconds = seconds});
  CHECK((report.status == run_status::finished) == (report.num_finished == 3));
}

TEST_CASE("concurrent_executor: no op starts after the deadline") {
  auto run = executor(row(3, true), 2, concurrency::s1_s2_s3);
  auto report = run([](op_id) { FAIL("none may start"); }, {.seconds = 0});
  CHECK(report.status == run_status::timed_out);
  CHECK(report.num_finished == 0);
  constexpr double seconds = 0.01;
  int calls = 0;
  report = run(
    [&](op_id v) {
      ++calls;
      if (v == 1) {
        std::this_thread::sleep_for(std::chrono::duration<double>(2 * seconds));
      }
    },
    {.seconds = seconds});
  CHECK(report.status == run_status::timed_out);
  CHECK(calls <= 2); // fewer on a machine that is very busy
  CHECK(report.num_finished == static_cast<std::size_t>(calls));
}

TEST_CASE("concurrent_executor: a kernel may run the executor that runs it, or one of its own") {
  auto run = executor(diamond, 4, concurrency::s1_s2_s3);
  std::array<int, 4> inner{};
  const auto report = run([&](op_id v) {
    const auto here = std::this_thread::get_id();
    std::vector<op_id> ran;
    const auto nested = run(
      [&](op_id u, team t) {
        CHECK(std::this_thread::get_id() == here);
        CHECK(t == team{});
        ran.push_back(u);
      },
      {.record = true});
    CHECK(nested.status == run_status::finished);
    CHECK(nested.trace.ops[3].start >= nested.trace.ops[2].finish);
    CHECK(ran.size() == 4);
    CHECK(ran.front() == 0);
    CHECK(ran.back() == 3);
    std::atomic<int> count{0};
    auto own = executor(diamond, 2, concurrency::s1_s2_s3);
    own([&](op_id) { ++count; });
    inner[v] = count;
  });
  CHECK(report.status == run_status::finished);
  CHECK(inner == std::array{4, 4, 4, 4});
}

TEST_CASE("concurrent_executor: a nested run ends early by itself") {
  auto run = executor(row(3, true), 2, concurrency::s1);
  std::stop_source stop;
  const auto report = run([&](op_id v) {
    if (v != 0) {
      return;
    }
    const auto failed = run([](op_id u) { u == 1 ? throw 42 : (void)0; }, {.record = true});
    CHECK(failed.status == run_status::failed);
    CHECK(failed.failed == 1);
    CHECK(failed.num_finished == 1);
    CHECK_THROWS_AS(failed.rethrow(), int);
    CHECK(failed.trace.ops[2].device == none);
    const auto cancelled =
      run([&](op_id u) { u == 1 ? (void)stop.request_stop() : (void)0; }, {.stop = stop.get_token()});
    CHECK(cancelled.status == run_status::cancelled);
    CHECK(cancelled.num_finished == 2);
    const auto late = run([](op_id) {}, {.seconds = 0});
    CHECK(late.status == run_status::timed_out);
    CHECK(late.num_finished == 0);
  });
  CHECK(report.status == run_status::finished); // nothing of that is the outer run's business
  CHECK(report.num_finished == 3);
}

TEST_CASE("concurrent_executor: teams are never larger than the table that predicts them") {
  const workload w = row(4, false);
  std::vector<std::uint32_t> told(4, 0);
  concurrent_executor run{w, ideal(w, 2), cores(4), concurrency::equally_split};
  const auto only_op = row(1, false);
  concurrent_executor run_one{only_op, ideal(only_op, 2), cores(4), concurrency::equally_split};
  run([&](op_id v, team t) { told[v] = t.threads; });
  CHECK(*std::max_element(told.begin(), told.end()) <= 2);
  run_one([&](op_id, team t) { CHECK(t.threads == 2); });
}

TEST_CASE("concurrent_executor: ops that take no time obey a cancel, a deadline and an exception as all others do") {
  const workload w = row(10, true);
  const time_table nothing{concurrency::op_classes{w}, 2, [](auto, team) { return 0.0; }};
  concurrent_executor run{w, nothing, cores(2), concurrency::s1_s2_s3};
  const auto all = run([](op_id) {}, {.record = true});
  CHECK(all.status == run_status::finished);
  CHECK(all.num_finished == 10);
  for (op_id v = 1; v < 10; ++v) {
    CHECK(all.trace.ops[v].start >= all.trace.ops[v - 1].finish);
  }
  std::stop_source stop;
  int calls = 0;
  auto report = run(
    [&](op_id v) {
      ++calls;
      if (v == 4) {
        stop.request_stop();
      }
    },
    {.stop = stop.get_token()});
  CHECK(report.status == run_status::cancelled);
  CHECK(report.num_finished == 5);
  CHECK(calls == 5);
  report = run([&](op_id) { ++calls; }, {.stop = stop.get_token()});
  CHECK(report.status == run_status::cancelled);
  CHECK(report.num_finished == 0);
  report = run([&](op_id) { ++calls; }, {.seconds = 0});
  CHECK(report.status == run_status::timed_out);
  CHECK(report.num_finished == 0);
  report = run([&](op_id v) { v == 3 ? throw 42 : (void)0; });
  CHECK(report.status == run_status::failed);
  CHECK(report.failed == 3);
  CHECK(report.num_finished == 3);
  CHECK(calls == 5);
}

TEST_CASE("concurrent_executor: what it is made of must fit") {
  const workload w = row(3, false);
  using executor_type = concurrent_executor<std::remove_const_t<decltype(concurrency::s1)>>;
  CHECK_THROWS_AS(executor_type(w, ideal(diamond, 2), cores(2), concurrency::s1), value_error);
  CHECK_THROWS_AS(executor_type(w, ideal(w, 2), cores(0), concurrency::s1), value_error);
}

struct strategy_failure {};

/// Gives up when the third op is to start.
struct gives_up {
  std::shared_ptr<int> asked = std::make_shared<int>(0);
  std::optional<weft::concurrency::launch> operator()(const weft::concurrency::run_view& view) const {
    if (++*asked == 3) {
      throw strategy_failure{};
    }
    return weft::concurrency::launch{view.ready.front(), {1}};
  }
};

struct team_watch {
  std::shared_ptr<std::vector<std::uint32_t>> sizes;
  template <class Call>
  void operator()(const weft::execute::seat& s, Call&& call) {
    sizes->push_back(s.team.threads);
    std::forward<Call>(call)();
  }
};

TEST_CASE("concurrent_executor: a strategy that throws ends the run") {
  weft::workload_builder b;
  for (int i = 0; i < 6; ++i) {
    b.add_op({.work = 1, .bytes = 1});
    if (i > 0) {
      b.add_edge(static_cast<weft::op_id>(i - 1), static_cast<weft::op_id>(i));
    }
  }
  const auto w = std::move(b).build();
  const weft::machine m{.cores_per_socket = 2};
  const weft::concurrency::time_table times{weft::concurrency::op_classes{w}, 2, [](auto, auto) { return 1e-6; }};
  weft::concurrent_executor run{w, times, m,
                                weft::concurrency::strategy{weft::concurrency::uniform_threads{1}, gives_up{}}};
  const auto report = run([](weft::op_id) {});
  CHECK(report.status == weft::execute::run_status::failed);
  CHECK(report.failed == weft::none);
  CHECK(report.num_finished < 6);
  CHECK_THROWS_AS(report.rethrow(), strategy_failure);
  CHECK(run([](weft::op_id) {}).num_finished == 6); // the next run is as good as new
}

TEST_CASE("concurrent_executor: a run beside another one has teams of one thread, too") {
  weft::workload_builder b;
  b.add_op({.work = 1});
  const auto w = std::move(b).build();
  const weft::machine m{.cores_per_socket = 2};
  const weft::concurrency::time_table times{weft::concurrency::op_classes{w}, 2, [](auto, auto) { return 1e-6; }};
  const auto sizes = std::make_shared<std::vector<std::uint32_t>>();
  team_watch teams{sizes};
  weft::concurrent_executor run{w, times, m, weft::concurrency::recommended, teams};
  bool nested = false;
  const auto report = run([&](weft::op_id) {
    if (!nested) {
      nested = true;
      CHECK(run([](weft::op_id) {}).num_finished == 1);
    }
  });
  CHECK(report.num_finished == 1);
  CHECK(*sizes == std::vector<std::uint32_t>{2, 1});
}

} // namespace execute_concurrent_executor_test
