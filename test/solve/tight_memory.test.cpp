// SPDX-License-Identifier: BSL-1.0
// solve::best where memory over time is as tight as it can be: it has a plan exactly when there is one.
#include "weft/solve/best.hpp"

#include "simulate/random_problem.hpp"
#include "solve/every_run.hpp"
#include "support/array_programs.hpp"
#include "support/rounds.hpp"

#include "weft/evaluate/evaluation.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/under.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace solve_tight_memory_test {

using namespace weft;
using test::drawn;
using test::drawn_problem;

/// Random draws of a kind, each of which makes two problems: WEFT_TIGHT_CASES, or so many. With 1750 of them there are
/// more than 10,000 problems without contention.
int num_draws(int many) {
  const char* value = std::getenv("WEFT_TIGHT_CASES");
  return value == nullptr ? test::rounds(many) : std::atoi(value);
}

solve::best_result planned(const drawn_problem& p, contention_model network, const solve::best_options& options) {
  return network == contention_model::none
           ? solve::best(p, options)
           : solve::best(p, simulate::under{schedule::static_order{}, simulate::any_network{network}}, options);
}

/// Counts of problems with a plan, and of what was found.
struct counts {
  int feasible = 0, missed = 0, infeasible = 0, proven = 0;
};

/// Problems whose devices hold a byte less than any plan needs, and as much or little more.
void compare(counts& n, std::uint64_t seed, int draws, const test::draw_options& drawn_as, contention_model network,
             std::uint64_t moves) {
  rng random{seed};
  for (int draw = 0; draw < draws; ++draw) {
    CAPTURE(draw);
    const drawn s{random, drawn_as};
    std::vector<byte_count> base;
    for (std::size_t d = 0; d < s.p.num_devices(); ++d) {
      base.push_back(random.below(2) == 0 ? 0 : random.below(12));
    }
    const std::int64_t more = random.below(2) == 0 ? 0 : random.below(4);
    const test::every_run all{s.p, network, base};
    if (all.num_runs() == 0) {
      continue; // some op is allowed nowhere
    }
    for (const std::int64_t room : {all.least() - 1, all.least() + more}) {
      if (std::ranges::any_of(base, [&](byte_count b) { return static_cast<std::int64_t>(b) + room < 0; })) {
        continue; // no device may hold less than nothing
      }
      std::vector<byte_count> capacity;
      for (const byte_count b : base) {
        capacity.push_back(b + static_cast<byte_count>(room));
      }
      const auto p = s.p.with_capacities(capacity);
      const auto r = planned(p, network, {.moves = moves, .memory = memory_rule::over_time});
      if (room < all.least()) {
        ++n.infeasible;
        n.proven += r.status == status::infeasible;
        CHECK_FALSE(r.has_plan());
      } else {
        ++n.feasible;
        n.missed += !r.has_plan();
        CHECK(r.status != status::infeasible);
      }
      if (r.has_plan()) {
        const validate_options rules{.contention = network, .check_memory = true, .memory = memory_rule::over_time};
        CHECK(validate(p, r.plan.placement, r.record, rules).empty());
        CHECK(peak_memory_of(p, r.plan.placement, r.record) == r.peaks);
      } else {
        REQUIRE(r.reason);
        CHECK((r.status == status::infeasible) == (r.reason->cause != infeasibility::kind::not_found));
      }
    }
  }
  MESSAGE(n.missed << " of " << n.feasible << " plans missed, " << n.proven << " of " << n.infeasible
                   << " problems without a plan proven to be that");
}

TEST_CASE("tight memory: a plan is found exactly when there is one") {
  counts n;
  compare(n, 0, num_draws(350), {.max_ops = 8, .max_devices = 3, .sends = false, .slots = 0}, contention_model::none,
          20'000);
  compare(n, 1, num_draws(350), {.max_ops = 6, .max_devices = 3}, contention_model::none, 20'000);
  compare(n, 2, num_draws(350), {.max_ops = 8, .max_devices = 3, .sends = false, .groups = false, .kinds = false},
          contention_model::none, 20'000);
  CHECK(n.missed == 0);
  CHECK((100 * n.proven >= 99 * n.infeasible || !test::are_all_rounds));
}

TEST_CASE("tight memory: on networks, too") {
  for (const auto network : {contention_model::port, contention_model::fair}) {
    counts n;
    compare(n, 0, num_draws(350) / 5, {.max_ops = 8, .max_devices = 3, .sends = false, .slots = 0}, network, 2'000);
    compare(n, 1, num_draws(350) / 5, {.max_ops = 6, .max_devices = 3}, network, 2'000);
    CHECK(n.missed == 0);
    CHECK((100 * n.proven >= 98 * n.infeasible || !test::are_all_rounds));
  }
}

TEST_CASE("tight memory: an order on one device, in the least memory that there is") {
  for (const auto& program : {test::anomaly(), test::crossed()}) {
    const workload w = test::workload_of(program, 1000);
    for (const std::size_t others : {0u, 1u}) { // devices, without memory
      CAPTURE(others);
      std::vector<device> devices(1 + others, {.memory_capacity = 0});
      devices[0].memory_capacity = 1000 * program.least;
      const platform<> q{std::move(devices), link_matrix{1 + others}};
      const problem p{w, q};
      CAPTURE(program.least);
      const auto r = solve::best(p, {.moves = 2'000, .memory = memory_rule::over_time});
      REQUIRE(r.has_plan());
      CHECK(r.makespan == static_cast<double>(p.num_ops()));
      CHECK(r.peaks[0] <= 1000 * program.least);
    }
    const platform<> less{std::vector<device>(1, {.memory_capacity = 1000 * program.least - 1}), link_matrix{1}};
    const problem tighter{w, less};
    const auto r = solve::best(tighter, {.moves = 20'000, .memory = memory_rule::over_time});
    CHECK_FALSE(r.has_plan());
    CHECK(r.status == status::infeasible);
  }
}

TEST_CASE("every run: the least memory of problems of which it is known") {
  // Two chains, each of which keeps 10 bytes: on one device one after the other, 20 while an op reads and makes.
  workload_builder b;
  for (int chain = 0; chain < 2; ++chain) {
    const op_id first = b.add_op({.work = 1, .bytes = 10});
    const op_id second = b.add_op({.work = 1, .bytes = 10});
    b.add_edge(first, second);
  }
  const workload w = std::move(b).build();
  const platform<> one{std::vector<device>(1), link_matrix{1}};
  CHECK(test::every_run{problem{w, one}, contention_model::none, {0}}.least() == 20);
  CHECK(test::every_run{problem{w, one}, contention_model::none, {3}}.least() == 17);
  const platform<> two{std::vector<device>(2), link_matrix{2}};
  CHECK(test::every_run{problem{w, two}, contention_model::port, {0, 0}}.least() == 20);
  CHECK(test::every_run{problem{w, two}, contention_model::none, {20, 0}}.least() == 0);
}

} // namespace solve_tight_memory_test
