// SPDX-License-Identifier: BSL-1.0
#include "weft/evaluate/slack.hpp"

#include "weft/core/random.hpp"
#include "weft/cost/compose.hpp"
#include "weft/evaluate/run_path.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/contention.hpp"
#include "weft/simulate/plan_of.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/generate/layered.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace plan_slack_test {

using namespace weft;

template <class Policy, class Network = simulate::no_contention, class Problem>
trace run_of(const Problem& p, const plan& x) {
  trace run;
  simulator<Problem, Policy, Network>{p}.run(x, simulate::recorder{run});
  return run;
}

/// 0 -> 1 -> 3, 0 -> 2 -> 3, and 4 alone; lengths 1, 2, 5, 1, 3; no transfers cost anything.
struct fork {
  fork() {
    workload_builder b;
    for (const double length : {1.0, 2.0, 5.0, 1.0, 3.0}) {
      b.add_op({.work = length, .bytes = 1});
    }
    for (const auto& [u, v] : {std::pair{0u, 1u}, {0u, 2u}, {1u, 3u}, {2u, 3u}}) {
      b.add_edge(u, v);
    }
    w = std::move(b).build();
  }
  workload w;
  platform<uniform_links> q{std::vector<device>(3), uniform_links{}};
};

TEST_CASE("slack_of_run: by hand") {
  const fork f;
  const problem p{f.w, f.q};
  SUBCASE("data and devices") {
    // Device 0: 0 in [0, 1), 2 in [1, 6), 3 in [6, 7). Device 1: 4 in [0, 3), 1 in [3, 5).
    const auto run = run_of<schedule::static_order>(
      p, {{0, 1, 0, 0, 1}, {step::run(0), step::run(4), step::run(1), step::run(2), step::run(3)}});
    CHECK(run.makespan == 7);
    CHECK(slack_of_run(p, run) == std::vector<double>{0, 1, 0, 0, 1});
    CHECK(on_longest_paths(p, run) == std::vector<std::uint8_t>{1, 0, 1, 1, 0});
  }
  SUBCASE("all chains that end together") {
    // 0 in [0, 1), 1 in [1, 3), 2 in [1, 6), 3 in [6, 7), 4 in [0, 3).
    auto run = run_of<schedule::static_order>(p, {{0, 1, 0, 0, 2}});
    CHECK(slack_of_run(p, run) == std::vector<double>{0, 3, 0, 0, 4});
    run.ops[4] = {2, 4, 7}; // as a measured run may have it: it ends with 3
    CHECK(on_longest_paths(p, run) == std::vector<std::uint8_t>{1, 0, 1, 1, 1});
    run.ops[1] = {1, 4, 6}; // now 3 has waited for both, and 1 for 0, though not without a pause
    for (auto& x : run.transfers) {
      if (x.tensor == 1) {
        x.send_start = x.send_finish = x.start = x.arrival = 6;
      }
    }
    CHECK(on_longest_paths(p, run) == std::vector<std::uint8_t>{1, 1, 1, 1, 1});
  }
  SUBCASE("ops that did not run") {
    trace run{std::vector<op_record>(5), {}, 0};
    CHECK(slack_of_run(p, run) == std::vector<double>(5, std::numeric_limits<double>::infinity()));
    CHECK(on_longest_paths(p, run) == std::vector<std::uint8_t>(5, 0));
  }
}

TEST_CASE("slack_of_run: ops on slots of one device") {
  workload_builder b;
  for (const double length : {4.0, 1.0, 2.0, 2.0}) {
    b.add_op({.work = length});
  }
  const auto w = std::move(b).build();
  const platform q{std::vector<device>{{.slots = 2}}, uniform_links{}};
  const problem p{w, q};
  // One slot: 0 in [0, 4). The other: 1 in [0, 1), 2 in [1, 3), 3 in [3, 5).
  const auto run = run_of<schedule::static_order>(
    p, {{0, 0, 0, 0}, {step::run(0), step::run(1), step::run(2), step::run(3)}});
  CHECK(run.makespan == 5);
  CHECK(slack_of_run(p, run) == std::vector<double>{1, 0, 0, 0});
  CHECK(on_longest_paths(p, run) == std::vector<std::uint8_t>{0, 1, 1, 1});
}

/// Times of ops, one of which takes longer.
struct delayed : cost::linear {
  op_id late = none;
  double by = 0;
  template <class W, class P>
  double compute_time(const W& w, op_id v, const P& p, device_id d) const {
    return cost::linear::compute_time(w, v, p, d) + (v == late ? by : 0);
  }
};

TEST_CASE("slack_of_run: an op may be so much later, and no more, when the order is kept") {
  std::size_t without = 0, with = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto w = generate::layered_sized(40, 6, 2, seed);
    const platform q{std::vector<device>(3, device{.speed = 1}), link_matrix{3, {0.5, 5}}, seed % 2 == 0 ? 0.0 : 20.0};
    const problem p{w, q};
    rng random{seed};
    placement where(p.num_ops());
    for (auto& d : where) {
      d = random.below(3);
    }
    const auto x = simulate::plan_of(p, run_of<schedule::path_completion_time>(p, {where}));
    const auto run = run_of<schedule::static_order>(p, x);
    const auto slack = slack_of_run(p, run);
    const auto critical = on_longest_paths(p, run);
    const double some = 0.01 * run.makespan;
    for (const op_id v : ids(p.num_ops())) {
      const auto makespan = [&](double by) {
        const auto later = p.with_costs(delayed{{}, v, by});
        return simulator{later, schedule::static_order{}}.run(x).makespan;
      };
      REQUIRE(slack[v] >= 0);
      CHECK((slack[v] == 0) == (critical[v] != 0));
      CHECK(makespan(slack[v]) == doctest::Approx(run.makespan).epsilon(1e-12));
      CHECK(makespan(slack[v] + some) == doctest::Approx(run.makespan + some).epsilon(1e-12));
      ++(slack[v] == 0 ? without : with);
    }
  }
  CHECK(without > 100);
  CHECK(with > 100);
}

TEST_CASE("slack_of_run: on several slots, an op that is late holds up those after it in the order") {
  workload_builder b;
  b.add_op({.work = 7, .bytes = 1});
  b.add_op({.work = 1});
  b.add_op({.work = 10});
  b.add_edge(0, 1);
  const auto w = std::move(b).build();
  const platform q{std::vector<device>{{.slots = 2}, {}}, uniform_links{}};
  const problem p{w, q};
  const plan x{{1, 0, 0}, {step::run(0), step::run(1), step::run(2)}};
  const auto run = run_of<schedule::static_order>(p, x);
  // Device 1: 0 in [0, 7). Device 0: 1 in [7, 8), and 2, which had waited for the start of 1, in [7, 17).
  CHECK(run.makespan == 17);
  CHECK(slack_of_run(p, run) == std::vector<double>{0, 9, 0});
  CHECK(on_longest_paths(p, run) == std::vector<std::uint8_t>{1, 0, 1});
  CHECK(run_of<schedule::static_order>(p.with_costs(delayed{{}, 0, 1}), x).makespan == 18);
  CHECK(run_of<schedule::static_order>(p.with_costs(delayed{{}, 1, 9}), x).makespan == 17);
}

TEST_CASE("slack_of_run: on several slots, no op that is later by less delays the end") {
  std::size_t without = 0, with = 0, late = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto w = generate::layered_sized(40, 6, 2, seed);
    const platform q{std::vector<device>(3, device{.speed = 1, .slots = 2 + static_cast<std::uint32_t>(seed % 3)}),
                     link_matrix{3, {0.5, 5}}, seed % 2 == 0 ? 0.0 : 20.0};
    const problem p{w, q};
    rng random{seed};
    plan x{placement(p.num_ops()), {}};
    for (auto& d : x.placement) {
      d = random.below(3);
    }
    for (const op_id v : p.topological_order()) { // so that much waits for what is not ready
      x.order.push_back(step::run(v));
    }
    const auto run = run_of<schedule::static_order>(p, x);
    const auto slack = slack_of_run(p, run);
    const auto critical = on_longest_paths(p, run);
    for (const op_id v : ids(p.num_ops())) {
      const auto makespan = [&](double by) {
        return run_of<schedule::static_order>(p.with_costs(delayed{{}, v, by}), x).makespan;
      };
      CHECK((slack[v] == 0 || critical[v] == 0));
      CHECK(makespan(slack[v]) == doctest::Approx(run.makespan).epsilon(1e-12));
      late += makespan(slack[v] + 0.01 * run.makespan) > run.makespan * (1 + 1e-9);
      ++(slack[v] == 0 ? without : with);
    }
  }
  CHECK(without > 100);
  CHECK(with > 100);
  CHECK(late > 1000); // not all: an op may take the slot that another has left
}

TEST_CASE("slack_of_run: what waits for a port delays what comes after it there") {
  workload_builder b; // 0 and 1 hand a tensor each from device 0 to 2 and 3
  for (int i = 0; i < 4; ++i) {
    b.add_op({.work = i < 2 ? 1.0 : 0.5, .bytes = 100});
  }
  b.add_edge(0, 2);
  b.add_edge(1, 3);
  const auto w = std::move(b).build();
  const platform machine{std::vector<device>(3), link_matrix{3, {0, 10}}};
  const problem p{w, machine};
  const auto run = run_of<schedule::static_order, simulate::port_contention>(
    p, {{0, 0, 1, 2}, {step::run(0), step::run(1), step::run(2), step::run(3)}});
  // 0 in [0, 1), 1 in [1, 2), transfers in [1, 11) and [11, 21), 2 in [11, 11.5), 3 in [21, 21.5).
  CHECK(run.makespan == 21.5);
  CHECK(slack_of_run(p, run, contention_model::port) == std::vector<double>{0, 9, 10, 0});
  CHECK(slack_of_run(p, run) == std::vector<double>{9, 9, 10, 0}); // as if the second transfer had not waited for it
  CHECK(on_longest_paths(p, run, contention_model::port) == std::vector<std::uint8_t>{1, 0, 0, 1});
}

TEST_CASE("slack_of_run: what takes no time waits for a port, too") {
  workload_builder b; // 0 and 1 hand a tensor each from device 0 to 2 and 3, the second without bytes
  b.add_op({.work = 1, .bytes = 100});
  b.add_op({.work = 1, .bytes = 0});
  b.add_op({.work = 1});
  b.add_op({.work = 20});
  b.add_edge(0, 2);
  b.add_edge(1, 3);
  const auto w = std::move(b).build();
  const platform machine{std::vector<device>(3), link_matrix{3, {0, 10}}};
  const problem p{w, machine};
  const auto run = run_of<schedule::static_order, simulate::port_contention>(
    p, {{0, 0, 1, 2}, {step::run(0), step::run(1), step::run(2), step::run(3)}});
  // 0 in [0, 1), 1 in [1, 2), transfers in [1, 11) and at 11, 2 in [11, 12), 3 in [11, 31).
  CHECK(run.makespan == 31);
  CHECK(slack_of_run(p, run, contention_model::port) == std::vector<double>{0, 9, 19, 0});
  CHECK(on_longest_paths(p, run, contention_model::port) == std::vector<std::uint8_t>{1, 0, 0, 1});
}

TEST_CASE("on_longest_paths: a port that gets free at the moment when the transfer could begin") {
  workload_builder b; // 0 and 1, on devices of their own, hand a tensor each to 2 and 3 on the third
  b.add_op({.work = 1, .bytes = 100});
  b.add_op({.work = 11, .bytes = 100});
  b.add_op({.work = 1});
  b.add_op({.work = 1});
  b.add_edge(0, 2);
  b.add_edge(1, 3);
  const auto w = std::move(b).build();
  const platform machine{std::vector<device>(3), link_matrix{3, {0, 10}}};
  const problem p{w, machine};
  const auto run = run_of<schedule::static_order, simulate::port_contention>(
    p, {{0, 2, 1, 1}, {step::run(0), step::run(1), step::run(2), step::run(3)}});
  // 0 in [0, 1), 1 in [0, 11), transfers in [1, 11) and [11, 21), 2 in [11, 12), 3 in [21, 22).
  CHECK(run.makespan == 22);
  CHECK(slack_of_run(p, run, contention_model::port) == std::vector<double>{0, 0, 9, 0});
  CHECK(on_longest_paths(p, run, contention_model::port) == std::vector<std::uint8_t>{1, 1, 0, 1});
}

TEST_CASE("on_longest_paths: the path of the run is one of them") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const auto w = generate::layered_sized(200, 12, 2, seed);
    const platform q{std::vector<device>(4), link_matrix{4, {1, 5}}, seed % 2 == 0 ? 0.0 : 5.0};
    const problem p{w, q};
    rng random{seed};
    placement where(p.num_ops());
    for (auto& d : where) {
      d = random.below(4);
    }
    const auto check = [&](const trace& run, contention_model contention) {
      const auto critical = on_longest_paths(p, run, contention);
      for (const auto& s : path_of_run(p, run)) {
        CHECK((s.what != path_step::kind::op || critical[s.index] == 1));
      }
    };
    check(run_of<schedule::path_completion_time>(p, {where}), contention_model::none);
    check(run_of<schedule::path_completion_time, simulate::port_contention>(p, {where}), contention_model::port);
  }
}

} // namespace plan_slack_test
