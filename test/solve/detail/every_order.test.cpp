// SPDX-License-Identifier: BSL-1.0
#include "weft/solve/detail/every_order.hpp"

#include "simulate/random_problem.hpp"
#include "support/rounds.hpp"

#include "weft/schedule/static_order.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace solve_detail_every_order_test {

using namespace weft;
using test::drawn_problem;
using every_order = solve::detail::every_order<drawn_problem>;

/// The placement, and what each device runs and sends, in its order.
std::string described(const drawn_problem& p, const plan& x) {
  std::string text;
  for (const device_id d : ids(p.num_devices())) {
    for (const step& s : x.order) {
      if (x.placement[s.op] == d) {
        const auto sent = s.is_send() ? std::to_string(s.tensor) + " to " + std::to_string(s.to) : "";
        text += std::to_string(s.op) + "(" + sent + ") ";
      }
    }
    text += "| ";
  }
  return text;
}

/// All sequences of the ops of a problem without sends that follow the edges, for one placement.
void each_sequence(const drawn_problem& p, plan& x, std::set<std::string>& all) {
  if (x.order.size() == p.num_ops()) {
    all.insert(described(p, x));
    return;
  }
  std::vector<bool> done(p.num_ops(), false);
  for (const step& s : x.order) {
    done[s.op] = true;
  }
  for (const op_id v : ids(p.num_ops())) {
    bool ready = !done[v];
    for (const tensor_id t : p.workload().inputs(v)) {
      ready = ready && done[p.workload().producer(t)];
    }
    if (ready) {
      x.order.push_back(step::run(v));
      each_sequence(p, x, all);
      x.order.pop_back();
    }
  }
}
void each_placement(const drawn_problem& p, component_id c, plan& x, std::set<std::string>& all) {
  if (c == p.num_components()) {
    each_sequence(p, x, all);
    return;
  }
  for (const device_id d : ids(p.num_devices())) {
    if (p.kinds(c).contains(p.platform().kind(d))) {
      for (const op_id v : p.members(c)) {
        x.placement[v] = d;
      }
      each_placement(p, c + 1, x, all);
    }
  }
}

TEST_CASE("every order: each plan once") {
  rng random{4};
  for (int round = 0; round < test::rounds(100); ++round) {
    CAPTURE(round);
    const test::drawn s{random, {.max_ops = 5, .max_devices = 3, .sends = false}};
    std::set<std::string> wanted, met;
    plan x{placement(s.p.num_ops(), none), {}};
    each_placement(s.p, 0, x, wanted);
    const auto answer = every_order{s.p}(std::numeric_limits<std::uint64_t>::max(), [&](const plan& made) {
      CHECK(met.insert(described(s.p, made)).second);
      return false;
    });
    CHECK(answer == every_order::answer::none_left);
    CHECK(met == wanted);
  }
}

TEST_CASE("every order: with sends, plans run to their end") {
  rng random{6};
  std::uint64_t count = 0;
  for (int round = 0; round < test::rounds(400); ++round) {
    CAPTURE(round);
    const test::drawn s{random, {.max_ops = 4, .max_devices = 2}};
    simulator<drawn_problem, schedule::static_order> sim{s.p};
    std::set<std::string> met;
    every_order{s.p}(500, [&](const plan& made) {
      ++count;
      CHECK(met.insert(described(s.p, made)).second);
      CHECK(sim.run(made).complete);
      return false;
    });
  }
  CHECK((count > 2000 || !test::are_all_rounds));
}

TEST_CASE("every order: ends with the plan that is taken, or after so many") {
  workload_builder b;
  for (int v = 0; v < 4; ++v) {
    b.add_op({.work = 1});
  }
  const workload w = std::move(b).build();
  const platform<> q{std::vector<device>(1), link_matrix{1}};
  const drawn_problem p{w, q};
  const auto ask = [&](std::uint64_t most, std::uint64_t taken) {
    std::uint64_t count = 0;
    const auto answer = every_order{p}(most, [&](const plan&) { return ++count == taken; });
    return std::pair{answer, count};
  };
  using answer = every_order::answer;
  CHECK(ask(100, 100) == std::pair{answer::none_left, std::uint64_t{24}});
  CHECK(ask(100, 3) == std::pair{answer::taken, std::uint64_t{3}});
  CHECK(ask(5, 100) == std::pair{answer::unfinished, std::uint64_t{5}});
}

} // namespace solve_detail_every_order_test
