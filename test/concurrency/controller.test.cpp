// SPDX-License-Identifier: BSL-1.0
#include "weft/concurrency/controller.hpp"

#include "weft/core/random.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace concurrency_controller_test {

using namespace weft;
using namespace weft::concurrency;

machine tiles(std::uint32_t cores, std::uint32_t per_tile) {
  return {.cores_per_socket = cores, .cores_per_tile = per_tile};
}

std::vector<std::uint32_t> taken(core_set& set, team t) {
  std::vector<std::uint32_t> got;
  set.take(t, got);
  return got;
}

using numbers = std::vector<std::uint32_t>;

/// Ops without inputs, of these types.
workload ops_of(const std::vector<std::string>& types) {
  workload_builder b;
  for (const auto& t : types) {
    b.add_op({.work = 1, .type = t});
  }
  return std::move(b).build();
}

/// Everything takes a second, whatever the team.
time_table second_each(const workload& w, std::uint32_t max_threads) {
  return {op_classes{w}, max_threads, [](auto, team) { return 1.0; }};
}

/// Starts all that is ready, in order, with one thread each, up to the number of cores.
constexpr strategy all_at_once{uniform_threads{1}, equal_split{}, urgency::fifo};

/// The first op on all first threads, the others on second ones.
struct seconds_beside_the_first {
  std::optional<launch> operator()(const run_view& view) const {
    if (view.running.empty()) {
      return launch{view.ready.front(), {view.idle_cores}};
    }
    return view.idle_second > 0 ? std::optional{launch{view.ready.front(), {1}, true}} : std::nullopt;
  }
};

/// Each op with the number of threads of its id plus one.
struct by_id {
  std::optional<launch> operator()(const run_view& view) const {
    const op_id v = view.ready.front();
    return v + 1 <= view.idle_cores ? std::optional{launch{v, {v + 1}}} : std::nullopt;
  }
};

TEST_CASE("core_set: packed teams take neighbours, spread ones a tile each as long as there are tiles") {
  core_set set{tiles(6, 2)};
  CHECK(set.idle() == 6);
  CHECK(taken(set, {3, affinity::packed}) == numbers{0, 1, 2});
  CHECK(taken(set, {2, affinity::packed}) == numbers{3, 4});
  CHECK(set.idle() == 1);
  set.reset();
  CHECK(set.idle() == 6);
  CHECK(taken(set, {3, affinity::spread}) == numbers{0, 2, 4});
  CHECK(taken(set, {2, affinity::spread}) == numbers{1, 3});
  set.reset();
  CHECK(taken(set, {5, affinity::spread}) == numbers{0, 2, 4, 1, 3});
  set.reset();
  CHECK(taken(set, {1, affinity::packed}) == numbers{0});
  CHECK(taken(set, {3, affinity::spread}) == numbers{2, 4, 1}); // the first tile has only its second core
}

TEST_CASE("core_set: the last tile may have fewer cores than the others") {
  core_set set{tiles(5, 3)};
  CHECK(taken(set, {5, affinity::spread}) == numbers{0, 3, 1, 4, 2});
  set.reset();
  CHECK(taken(set, {4, affinity::spread}) == numbers{0, 3, 1, 4});
  CHECK(set.idle() == 1);
}

TEST_CASE("core_set: second threads go to cores with one user") {
  core_set set{tiles(4, 1)};
  const auto first = taken(set, {2});
  CHECK(set.single() == 2);
  numbers second;
  set.take_second(2, second);
  CHECK(second == numbers{0, 1});
  CHECK(set.single() == 0);
  CHECK(set.idle() == 2);
  CHECK(set.users(0) == 2);
  set.release(first); // the second threads go on
  CHECK(set.idle() == 2);
  CHECK(set.single() == 2);
  CHECK(taken(set, {2}) == numbers{2, 3});
  set.release(second);
  CHECK(set.idle() == 2);
  CHECK(set.users(0) == 0);
}

TEST_CASE("controller: runs by lot hand out each core once and take all back") {
  rng random{5};
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t num_cores = 1 + random.below(9);
    machine m = tiles(num_cores, 1 + random.below(3));
    const workload w = ops_of(std::vector<std::string>(40, "t"));
    const time_table times{op_classes{w}, num_cores, [&](auto, team) { return random.uniform(); }};
    const strategy s{
      uniform_threads{1 + random.below(num_cores), random.below(2) == 0 ? affinity::packed : affinity::spread},
      fill_idle{}, urgency::fifo};
    controller control{times, m, s, op_graph{w}};
    op_id next = 0;
    std::size_t finished = 0;
    double now = 0;
    while (finished < 40) {
      for (auto count = random.below(4); count > 0 && next < 40; --count) {
        control.on_ready(next++);
      }
      while (control.start_next(now)) {
      }
      std::set<std::uint32_t> used;
      std::size_t threads = 0;
      for (std::size_t i = 0; i < control.num_active(); ++i) {
        const auto& a = control.active(i);
        CHECK(a.what.op == control.running(i).launch.op);
        CHECK(a.cores.size() == a.what.team.threads);
        used.insert(a.cores.begin(), a.cores.end());
        threads += a.cores.size();
      }
      REQUIRE(used.size() == threads); // disjoint
      REQUIRE((used.empty() || *used.rbegin() < num_cores));
      REQUIRE(control.cores().idle() == num_cores - threads);
      now += random.uniform();
      if (control.num_active() > 0) {
        control.on_finish(random.below(control.num_active()), now);
        ++finished;
      }
    }
    CHECK(control.num_ready() == 0);
    CHECK(control.cores().idle() == num_cores);
    CHECK(control.cores().single() == 0);
  }
}

TEST_CASE("controller: the most urgent op first, and of equals the first that came") {
  workload_builder b;
  for (const double work : {1.0, 5.0, 3.0, 5.0, 1.0}) {
    b.add_op({.work = work});
  }
  const workload w = std::move(b).build();
  const time_table times{op_classes{w}, 2, [](auto c, team) { return c == 0 ? 1.0 : c == 1 ? 5.0 : 3.0; }};
  controller control{times, tiles(2, 1), s1, op_graph{w}};
  for (const op_id v : {4u, 3u, 2u, 1u, 0u}) {
    control.on_ready(v);
  }
  std::vector<op_id> ran;
  while (const auto i = control.start_next(0)) {
    ran.push_back(control.active(*i).what.op);
    control.on_finish(*i, 1);
  }
  CHECK(ran == std::vector<op_id>{3, 1, 2, 4, 0});
}

TEST_CASE("controller: reset forgets the run") {
  const workload w = ops_of({"a", "b", "c"});
  const time_table times = second_each(w, 2);
  controller control{times, tiles(2, 1), all_at_once, op_graph{w}};
  for (const op_id v : {0u, 1u, 2u}) {
    control.on_ready(v);
  }
  CHECK(control.start_next(0));
  control.reset();
  CHECK(control.num_active() == 0);
  CHECK(control.num_ready() == 0);
  CHECK(control.cores().idle() == 2);
}

TEST_CASE("controller: teams fit the machine and the table, whatever the thread policy says") {
  const workload w = ops_of({"a"});
  const auto too_many = [](const time_table&, const machine&) { return std::vector<team>{team{99}}; };
  const time_table times = second_each(w, 3);
  CHECK(controller{times, tiles(8, 1), strategy{too_many, one_at_a_time{}}, op_graph{w}}.teams()[0].threads == 3);
  CHECK(controller{times, tiles(2, 1), strategy{too_many, one_at_a_time{}}, op_graph{w}}.teams()[0].threads == 2);
  const auto no_thread = [](const time_table&, const machine&) { return std::vector<team>{team{0}}; };
  CHECK(controller{times, tiles(2, 1), strategy{no_thread, one_at_a_time{}}, op_graph{w}}.teams()[0].threads == 1);
}

TEST_CASE("controller: one slow op does not part its type from another, however many of these ran beside it") {
  const workload w = ops_of({"a", "b", "b", "b", "b"});
  const time_table times = second_each(w, 8);
  controller control{times, tiles(8, 1), strategy{uniform_threads{1}, executors{8}, urgency::fifo},
                     op_graph{w}};
  for (int run = 0; run < 3; ++run) {
    control.reset();
    for (const op_id v : ids(w.num_ops())) {
      control.on_ready(v);
    }
    while (control.start_next(0)) {
    }
    REQUIRE(control.num_active() == 5);
    CHECK(control.interference().num_parted() == 0);
    const auto finish = [&](op_id v, double now) {
      std::size_t i = 0;
      while (control.running(i).launch.op != v) {
        ++i;
      }
      control.on_finish(i, now);
    };
    finish(0, 100); // a spike of a
  }
  CHECK(control.interference().num_parted() == 1); // three of them are enough
  CHECK(control.interference().parted(0, 1));
}

TEST_CASE("controller: what a shared core or a new team cost is part of the prediction") {
  machine m = tiles(2, 1);
  m.threads_per_core = 2;
  m.smt_gain = 1.25;
  const workload w = ops_of({"a", "b", "b"});
  const time_table times{op_classes{w}, 2, [](auto c, team) { return c == 0 ? 10.0 : 1.0; }};
  controller control{times, m, strategy{uniform_threads{}, seconds_beside_the_first{}, urgency::fifo}, op_graph{w}};
  for (const op_id v : {0u, 1u, 2u}) {
    control.on_ready(v);
  }
  CHECK(control.start_next(0));
  CHECK(control.running(0).expected_finish == 10);
  CHECK(control.start_next(0));
  CHECK(control.running(1).expected_finish == doctest::Approx(1.6));      // at 1.25 / 2 of its speed …
  CHECK(control.running(0).expected_finish == doctest::Approx(10 + 0.6)); // … and the other loses as long
  const workload two = ops_of({"t", "t", "t", "t"});
  const time_table second = second_each(two, 4);
  machine costly = tiles(4, 1);
  costly.resize_seconds = 0.5;
  controller paying{second, costly, strategy{uniform_threads{}, by_id{}, urgency::fifo}, op_graph{two}};
  for (const op_id v : {1u, 2u}) {
    paying.on_ready(v);
    CHECK(paying.start_next(0));
    CHECK(paying.active(0).resized == (v == 2));
    CHECK(paying.running(0).expected_finish == (v == 2 ? 1.5 : 1));
    paying.on_finish(0, 1.5);
  }
}

TEST_CASE("controller: a type that was parted does not join") {
  const workload w = ops_of({"a", "b"});
  const time_table times = second_each(w, 2);
  const strategy pairs{uniform_threads{1}, fill_idle{}, urgency::fifo, interference_options{.strikes = 1}};
  controller control{times, tiles(2, 1), pairs, op_graph{w}};
  const auto both = [&] {
    control.reset();
    control.on_ready(0);
    control.on_ready(1);
    CHECK(control.start_next(0));
    return control.start_next(0).has_value();
  };
  CHECK(both());
  control.on_finish(1, 2); // b took two seconds instead of one
  CHECK(control.interference().num_parted() == 1);
  CHECK_FALSE(both());
  control.on_finish(0, 1);
  CHECK(control.start_next(1)); // alone it may
}

TEST_CASE("controller: ops that draw too much bandwidth together do not join, alone they may draw anything") {
  const workload w = ops_of({"a", "b", "c"});
  time_table times = second_each(w, 2);
  machine m = tiles(2, 1);
  m.socket_bandwidth = 100;
  const strategy pairs{uniform_threads{1}, fill_idle{}, urgency::fifo}; // up to 125 in all
  const auto joins = [&](double a, double b) {
    times.set_memory_traffic(0, a);
    times.set_memory_traffic(1, b);
    controller control{times, m, pairs, op_graph{w}};
    control.on_ready(0);
    control.on_ready(1);
    CHECK(control.start_next(0));
    return control.start_next(0).has_value();
  };
  CHECK(joins(60, 65));
  CHECK_FALSE(joins(60, 66));
  CHECK(joins(0, 500)); // the other draws nothing
}

TEST_CASE("controller: a send has a core for itself, and to the strategy it is something that runs") {
  machine m = tiles(2, 1);
  m.threads_per_core = 2;
  m.smt_gain = 1.5;
  const auto w = ops_of({"a", "b", "c"});
  const auto times = second_each(w, 2);
  controller c{times, m, all_at_once, op_graph{w}};
  for (op_id v = 0; v < 3; ++v) {
    c.on_ready(v);
  }
  const auto send = c.start_send(3, 0);
  REQUIRE(send);
  CHECK(c.active(*send).what.op == none);
  CHECK(c.running(*send).expected_finish == 3);
  CHECK(c.cores().idle() == 1);
  CHECK(c.cores().single() == 0); // nobody may join it
  const auto first = c.start_next(0);
  REQUIRE(first);
  CHECK(c.active(*first).what == launch{0, {1}});
  CHECK(c.active(*first).beside.empty()); // it is of no type, and harms nobody
  CHECK_FALSE(c.start_next(0));
  CHECK_FALSE(c.start_send(1, 0));
  c.on_finish(*send, 3);
  CHECK(c.num_active() == 1);
  CHECK(c.cores().idle() == 1);
  CHECK(c.active(*c.start_next(3)).cores == numbers{0});

  controller one{times, m, strategy{uniform_threads{2}, one_at_a_time{}, urgency::fifo}, op_graph{w}};
  one.on_ready(0);
  REQUIRE(one.start_send(3, 0));
  CHECK_FALSE(one.start_next(0));
  one.on_finish(0, 3);
  CHECK(one.start_next(3));
}

} // namespace concurrency_controller_test
