// SPDX-License-Identifier: BSL-1.0
#include "weft/execute/static_executor.hpp"

#include "support/held_stop.hpp"
#include "support/small_problem.hpp"

#include <doctest/doctest.h>

#include <array>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace execute_static_executor_test {

using namespace weft;
using execute::run_status;

/// a = 0, b = 1, c = 2, d = 3; a -> {b, c} -> d.
const workload diamond = test::diamond();

/// `count` ops, each the input of the next.
workload chain(std::size_t count) {
  workload_builder b;
  for (std::size_t i = 0; i < count; ++i) {
    b.add_op({.work = 1, .bytes = 1});
  }
  for (op_id v = 1; v < count; ++v) {
    b.add_edge(v - 1, v);
  }
  return std::move(b).build();
}

order in_order(std::initializer_list<op_id> ops) {
  order o;
  for (const op_id v : ops) {
    o.push_back(step::run(v));
  }
  return o;
}

TEST_CASE("static_executor: each op once, after its inputs") {
  static_executor run{diamond, {{0, 1, 0, 1}}};
  CHECK(run.num_ops() == 4);
  CHECK(run.num_workers() == 2);
  std::array<int, 4> value{};
  for (int step = 1; step <= 100; ++step) {
    value = {};
    const auto report = run([&](op_id v) {
      constexpr std::array<int, 4> own{1, 10, 100, 1000};
      value[v] = own[v] + (v == 0 ? step : v == 3 ? value[1] + value[2] : value[0]);
    });
    CHECK(report.status == run_status::finished);
    CHECK(report.num_finished == 4);
    CHECK(report.failed == none);
    CHECK(report.exception == nullptr);
    CHECK(report.trace.ops.empty()); // nobody asked for it
    CHECK(value[3] == 1000 + (10 + 1 + step) + (100 + 1 + step));
    CHECK_NOTHROW(report.rethrow());
  }
}

TEST_CASE("static_executor: nothing to do, and one op") {
  const workload nothing = workload_builder{}.build();
  static_executor idle{nothing, {}};
  CHECK(idle.num_workers() == 0);
  const auto none_ran = idle([](op_id) { FAIL("there is no op"); }, {.record = true});
  CHECK(none_ran.status == run_status::finished);
  CHECK(none_ran.num_finished == 0);
  CHECK(none_ran.trace.makespan == 0);

  const workload one = chain(1);
  static_executor run{one, {{3}}};
  CHECK(run.num_workers() == 1);
  const auto caller = std::this_thread::get_id();
  const auto report = run([&](op_id) { CHECK(std::this_thread::get_id() == caller); }, {.record = true});
  CHECK(report.num_finished == 1);
  REQUIRE(report.trace.ops.size() == 1);
  CHECK(report.trace.ops[0].device == 3); // devices keep their numbers, whether others have ops or not
  CHECK(report.trace.ops[0].threads == 1);
}

TEST_CASE("static_executor: a worker keeps to the plan's order, and each to one thread") {
  workload_builder b;
  for (int i = 0; i < 40; ++i) {
    b.add_op({.work = 1});
  }
  const workload w = std::move(b).build();
  plan p{placement(40), {}};
  for (op_id v = 0; v < 40; ++v) {
    p.placement[v] = v % 2;
    p.order.push_back(step::run(39 - v));
  }
  static_executor run{w, p};
  std::array<std::vector<op_id>, 2> ran;
  std::array<std::thread::id, 40> thread;
  const auto report = run([&](op_id v) {
    ran[v % 2].push_back(v);
    thread[v] = std::this_thread::get_id();
  });
  CHECK(report.num_finished == 40);
  CHECK(ran[0].size() == 20);
  CHECK(ran[1].size() == 20);
  for (const auto& mine : ran) {
    CHECK(std::is_sorted(mine.rbegin(), mine.rend()));
    for (const op_id v : mine) {
      CHECK(thread[v] == thread[mine.front()]);
    }
  }
  CHECK(thread[0] == std::this_thread::get_id());
  CHECK(thread[1] != thread[0]);
}

TEST_CASE("static_executor: sends of a plan are skipped") {
  plan p{{0, 1, 0, 1}, {}};
  p.order = {step::run(0), step::send(0, 0, 1), step::run(2), step::run(1), step::send(2, 3, 1), step::run(3)};
  static_executor run{diamond, p};
  CHECK(run([](op_id) {}).num_finished == 4);
}

TEST_CASE("static_executor: what a kernel may be") {
  static_executor run{chain(2), {{0, 0}}};
  int calls = 0;
  run([&calls](op_id, team t) mutable { calls += t == team{} ? 1 : 100; });
  CHECK(calls == 2);
  const auto constant = [&calls](op_id v) { return calls += static_cast<int>(v); };
  run(constant);
  CHECK(calls == 3);
  run([&calls](auto... given) { calls += static_cast<int>(sizeof...(given)); }); // either: it is told the team
  CHECK(calls == 7);
  static_assert(op_kernel<void (*)(op_id)> && op_kernel<void (*)(op_id, team)>);
  static_assert(!op_kernel<void (*)()> && !op_kernel<void (*)(std::string)> && !op_kernel<int>);
}

TEST_CASE("static_executor: an exception ends the run and is handed out") {
  static_executor run{diamond, {{0, 1, 0, 0}}};
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
  CHECK(ran[1]);
  CHECK_FALSE(ran[3]);
  CHECK(report.num_finished == (ran[2] ? 2 : 1));
  CHECK(report.trace.ops[1].finish >= report.trace.ops[1].start);
  CHECK(report.trace.ops[1].device == 1);
  CHECK(report.trace.ops[3].device == none);
  CHECK_THROWS_WITH_AS(report.rethrow(), "b is broken", std::out_of_range);
  report = run([](op_id) {}); // the executor is as good as before
  CHECK(report.status == run_status::finished);
  CHECK(report.num_finished == 4);
}

TEST_CASE("static_executor: cancelled from inside, and before") {
  static_executor run{chain(10), {{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}}};
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
  CHECK(report.failed == none);
  report = run([&](op_id) { ++calls; }, {.stop = stop.get_token()}); // it was requested long ago
  CHECK(report.status == run_status::cancelled);
  CHECK(report.num_finished == 0);
  CHECK(calls == 5);
}

TEST_CASE("static_executor: a stop that another thread is still requesting counts from the start of its request") {
  static_executor run{chain(10), {{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}}};
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
    check(run(kernel, {.stop = stop.get_token(), .record = true}));
    run([&](op_id v) { // nested: one thread runs all
      if (v == 0) {
        check(run(kernel, {.stop = stop.get_token()}));
      }
    });
  }
}

TEST_CASE("static_executor: a cancel by the last op comes too late") {
  static_executor run{chain(3), {{0, 1, 0}}};
  std::stop_source stop;
  const auto report = run([&](op_id v) { v == 2 ? (void)stop.request_stop() : (void)0; }, {.stop = stop.get_token()});
  CHECK(report.status == run_status::finished);
  CHECK(report.num_finished == 3);
}

TEST_CASE("static_executor: no op starts after the deadline") {
  static_executor run{chain(3), {{0, 1, 0}}};
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

TEST_CASE("static_executor: a kernel may run the executor that runs it, or one of its own") {
  static_executor run{diamond, {{0, 1, 2, 3}}};
  std::array<int, 4> inner{};
  const auto report = run([&](op_id v) {
    const auto here = std::this_thread::get_id();
    std::vector<op_id> ran;
    const auto nested = run([&](op_id u) {
      CHECK(std::this_thread::get_id() == here);
      ran.push_back(u);
    });
    CHECK(nested.status == run_status::finished);
    CHECK(ran.size() == 4);
    CHECK(ran.front() == 0);
    CHECK(ran.back() == 3);
    std::atomic<int> count{0};
    static_executor own{diamond, {{0, 1, 0, 1}}};
    own([&](op_id) { ++count; });
    inner[v] = count;
  });
  CHECK(report.status == run_status::finished);
  CHECK(inner == std::array{4, 4, 4, 4});
}

TEST_CASE("static_executor: plans that do not fit") {
  CHECK_THROWS_AS(static_executor(diamond, plan{{0, 0, 0}}), value_error);
  CHECK_THROWS_AS(static_executor(diamond, plan{{0, 0, none, 0}}), value_error);
  CHECK_THROWS_AS(static_executor(diamond, plan{{0, 0, 0, 0}, in_order({0, 1, 2})}), value_error);
  CHECK_THROWS_AS(static_executor(diamond, plan{{0, 0, 0, 0}, in_order({0, 1, 2, 2})}), value_error);
  CHECK_THROWS_AS(static_executor(diamond, plan{{0, 0, 0, 0}, in_order({0, 1, 2, 4})}), value_error);
  CHECK_THROWS_WITH_AS(static_executor(diamond, plan{{0, 0, 0, 0}, in_order({0, 3, 1, 2})}),
                       "the plan's order contradicts the graph: op 3 on device 0 waits, through its device's order, "
                       "for itself",
                       constraint_error);
  CHECK_NOTHROW(static_executor(diamond, plan{{0, 1, 0, 1}, in_order({1, 3, 0, 2})})); // each worker's own is fine
}

TEST_CASE("static_executor: the op that is named does wait for itself") {
  // 0 -> 1, 2 -> 3, 1 -> 4. Devices 1 and 2 wait for each other; device 0 waits for them, but not for itself.
  workload_builder b;
  for (int i = 0; i < 5; ++i) {
    b.add_op({.work = 1, .bytes = 1});
  }
  b.add_edge(0, 1);
  b.add_edge(2, 3);
  b.add_edge(1, 4);
  const workload w = std::move(b).build();
  try {
    static_executor run{w, {{2, 1, 1, 2, 0}, in_order({1, 2, 3, 0, 4})}};
    FAIL("the order contradicts the graph");
  } catch (const constraint_error& e) {
    REQUIRE(e.ops.size() == 1);
    CHECK((e.ops[0] == 1 || e.ops[0] == 3));
  }
}

} // namespace execute_static_executor_test
