// SPDX-License-Identifier: BSL-1.0
#include "weft/concurrency/corun.hpp"

#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace concurrency_corun_test {

using namespace weft;
using namespace weft::concurrency;

static_assert(corun_policy<one_at_a_time> && corun_policy<executors> && corun_policy<equal_split> &&
              corun_policy<fill_idle> && corun_policy<with_hyper_threads<>>);
static_assert(!corun_policy<int>);

/// Op v takes `seconds[v][p - 1]` with p threads, and was given the team `chosen[v]`. All are ready that do not run.
struct scene {
  std::vector<std::vector<double>> seconds;
  std::vector<team> chosen;
  std::vector<op_id> ready;
  std::vector<running_op> running = {};
  std::vector<op_id> apart = {}; ///< ops that may not join
  time_table times = {};
  run_view view = {};

  scene(std::vector<std::vector<double>> s, std::vector<team> c, std::vector<op_id> r, std::uint32_t cores)
      : seconds{std::move(s)}, chosen{std::move(c)}, ready{std::move(r)} {
    workload_builder b;
    for (std::size_t v = 0; v < seconds.size(); ++v) {
      b.add_op({.work = static_cast<double>(v + 1)});
    }
    times = {op_classes{std::move(b).build()}, static_cast<std::uint32_t>(seconds.front().size()),
             [this](class_id v, team t) { return seconds[v][t.threads - 1]; }};
    view.cores = cores;
    view.idle_cores = cores;
  }
  scene(const scene&) = delete;

  scene& run(op_id v, std::uint32_t threads, double until) {
    running.push_back({{v, {threads}}, 0, until});
    view.idle_cores -= threads;
    view.idle_second += threads;
    return *this;
  }

  template <class Policy>
  std::optional<launch> ask(const Policy& policy) {
    view.times = &times;
    view.teams = chosen;
    view.ready = ready;
    view.running = running;
    view.context = this;
    view.joins = [](const void* self, op_id v) {
      const auto& not_these = static_cast<const scene*>(self)->apart;
      return std::find(not_these.begin(), not_these.end(), v) == not_these.end();
    };
    return policy(view);
  }
};

using decision = std::optional<launch>;
const decision wait_for_it{};

/// Perfect scaling from one second per unit, with up to four threads.
std::vector<double> ideal(double one) {
  return {one, one / 2, one / 3, one / 4};
}

TEST_CASE("one_at_a_time: the most urgent op, alone") {
  scene s{{ideal(4), ideal(4)}, {{3}, {2}}, {1, 0}, 4};
  CHECK(s.ask(one_at_a_time{}) == launch{1, {2}});
  s.run(1, 2, 2);
  CHECK(s.ask(one_at_a_time{}) == wait_for_it);
}

TEST_CASE("executors: as many as there are, each with its share of the cores") {
  scene s{{ideal(4), ideal(4), ideal(4)}, {{4}, {1}, {4}}, {0, 1, 2}, 4};
  CHECK(s.ask(executors{1}) == launch{0, {4}});
  CHECK(s.ask(executors{2}) == launch{0, {2}});
  CHECK(s.ask(executors{3}) == launch{0, {1}});
  CHECK(s.ask(executors{99}) == launch{0, {1}}); // no more than cores
  CHECK(s.ask(executors{0}) == launch{0, {4}});  // at least one
  s.run(0, 2, 9);
  s.ready = {1, 2};
  CHECK(s.ask(executors{2}) == launch{1, {1}}); // its own team is smaller
  CHECK(s.ask(executors{1}) == wait_for_it);
  s.run(1, 1, 9);
  s.ready = {2};
  CHECK(s.ask(executors{2}) == wait_for_it);
  CHECK(s.ask(executors{3}) == launch{2, {1}});
}

TEST_CASE("equal_split: idle cores divided by ready ops") {
  scene s{{ideal(4), ideal(4), ideal(4)}, {{4}, {4}, {4}}, {0, 1, 2}, 4};
  CHECK(s.ask(equal_split{}) == launch{0, {1}});
  s.ready = {0, 1};
  CHECK(s.ask(equal_split{}) == launch{0, {2}});
  s.ready = {0};
  CHECK(s.ask(equal_split{}) == launch{0, {4}});
  s.view.cores = s.view.idle_cores = 8;
  CHECK(s.ask(equal_split{}) == launch{0, {4}}); // nobody knows times with 8
  s.view.idle_cores = 0;
  CHECK(s.ask(equal_split{}) == wait_for_it);
}

TEST_CASE("fill_idle: when nothing runs, the most urgent op with its own team") {
  scene s{{ideal(4), ideal(4)}, {{3}, {2}}, {1, 0}, 4};
  CHECK(s.ask(fill_idle{}) == launch{1, {2}});
  s.apart = {1};
  CHECK(s.ask(fill_idle{}) == launch{1, {2}}); // nothing there to be kept apart from
}

TEST_CASE("fill_idle: the most urgent op that ends in time joins") {
  scene s{{ideal(4), ideal(40), ideal(6), ideal(2)}, {{4}, {4}, {4}, {4}}, {1, 2, 3}, 4};
  s.run(0, 2, 3);
  CHECK(s.ask(fill_idle{}) == launch{2, {2}}); // 1 takes 20 s on two cores; 2 takes 3
  s.ready = {1, 3, 2};
  CHECK(s.ask(fill_idle{}) == launch{3, {2}});
  s.apart = {2, 3};
  CHECK(s.ask(fill_idle{}) == wait_for_it); // 1 would end at 20 s, by waiting at 3 + 10
  s.view.idle_cores = 0;
  CHECK(s.ask(fill_idle{}) == wait_for_it);
}

TEST_CASE("fill_idle: otherwise the most time-consuming op that ends sooner than by waiting") {
  // Op 0 runs until 4 on two of four cores. 1: 5 s on two or more; 2: 6 s on two, 5.5 on four; 3: 30 on two, 15 on
  // four.
  scene s{{ideal(1), {10, 5, 5, 5}, {9, 6, 6, 5.5}, {60, 30, 20, 15}}, {{2}, {4}, {4}, {4}}, {1, 2, 3}, 4};
  s.run(0, 2, 4);
  CHECK(s.ask(fill_idle{}) == launch{2, {2}});
  s.ready = {1, 3};
  CHECK(s.ask(fill_idle{}) == launch{1, {2}});
  s.ready = {3};
  CHECK(s.ask(fill_idle{}) == wait_for_it); // 30 > 4 + 15
}

TEST_CASE("fill_idle: of the thread counts that fit, the fastest of some candidates") {
  scene s{{ideal(1), {5, 8, 10, 1}}, {{1}, {4}}, {1}, 4};
  s.run(0, 1, 20);
  CHECK(s.ask(fill_idle{}) == launch{1, {1}});                  // of 3, 2, 1
  CHECK(s.ask(fill_idle{.candidates = 2}) == launch{1, {2}});   // of 3, 2
  CHECK(s.ask(fill_idle{.candidates = 1}) == launch{1, {3}});
}

TEST_CASE("fill_idle: looks no further than its window") {
  scene s{{ideal(1), ideal(40), ideal(1)}, {{1}, {4}, {4}}, {1, 2}, 4};
  s.run(0, 2, 2);
  CHECK(s.ask(fill_idle{}) == launch{2, {2}});
  CHECK(s.ask(fill_idle{.window = 1}) == wait_for_it);
}

TEST_CASE("with_hyper_threads: the smallest op goes onto a second thread of the only op that runs") {
  scene s{{ideal(40), ideal(3), ideal(2), ideal(8)}, {{4}, {4}, {4}, {4}}, {1, 2, 3}, 4};
  s.view.smt_gain = 1.25;
  s.run(0, 4, 10);
  CHECK(s.ask(with_hyper_threads<>{}) == launch{2, {1}, true});
  s.apart = {2};
  CHECK(s.ask(with_hyper_threads<>{}) == launch{1, {1}, true});
  s.apart = {1, 2};
  CHECK(s.ask(with_hyper_threads<>{}) == wait_for_it); // 3 would take 8 · 2 / 1.25 = 12.8 of the 10 s
  s.apart = {};
  s.view.smt_gain = 1.1; // 2 / 1.1 − 1 > 0.7
  CHECK(s.ask(with_hyper_threads<>{}) == wait_for_it);
  CHECK(s.ask(with_hyper_threads<>{{}, 0.9}) == launch{2, {1}, true});
}

TEST_CASE("with_hyper_threads: not beside two ops, not while cores are idle, not without second threads") {
  scene s{{ideal(40), ideal(1), ideal(2)}, {{4}, {4}, {4}}, {1}, 4};
  s.view.smt_gain = 1.5;
  s.run(0, 3, 10);
  CHECK(s.ask(with_hyper_threads{one_at_a_time{}}) == wait_for_it);
  CHECK(s.ask(with_hyper_threads<>{}) == launch{1, {1}}); // its base finds the idle core
  s.view.idle_cores = 0;
  CHECK(s.ask(with_hyper_threads{one_at_a_time{}}) == launch{1, {1}, true});
  s.view.idle_second = 0;
  CHECK(s.ask(with_hyper_threads{one_at_a_time{}}) == wait_for_it);
  s.view.idle_second = 3;
  s.running.push_back({{2, {1}}, 0, 10});
  CHECK(s.ask(with_hyper_threads{one_at_a_time{}}) == wait_for_it);
}

} // namespace concurrency_corun_test
