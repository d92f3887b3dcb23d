// SPDX-License-Identifier: BSL-1.0
#include "refine/search_checks.hpp"

#include "weft/cost/table.hpp"
#include "weft/platform/generate.hpp"
#include "weft/refine/windows.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace refine_windows_test {

using namespace weft;
using refine::windows;

windows with(budget b) {
  windows search;
  search.budget = b;
  search.window = 6;
  return search;
}
windows with_moves(std::uint64_t moves) { return with({.moves = moves}); }

TEST_CASE("windows: never worse, within the constraints, and the same for the same seed") {
  test::never_worse<schedule::static_order>(with_moves, 300, 1, 200);
  test::never_worse<schedule::path_completion_time>(with_moves, 100, 2, 100);
  test::never_worse<schedule::fifo>(with_moves, 100, 3, 100);
  const auto as_a_whole = [](std::uint64_t moves) { return windows{.budget = {.moves = moves}}; };
  test::never_worse<schedule::static_order>(as_a_whole, 100, 4, 200);
}

TEST_CASE("windows: small problems and constraints") {
  test::manages_small_problems(with_moves);
  test::manages_small_problems([](std::uint64_t moves) { return windows{.budget = {.moves = moves}}; });
}

TEST_CASE("windows: ends at its target or when it is asked to, and tells how far it is") {
  const schedule::static_order policy;
  const test::crowd four;
  rng random{0};
  for (const std::uint32_t window : {2u, 1000u}) {
    const auto refined = [&](budget b) {
      return test::on_plans(windows{.budget = b, .window = window})(four.p, four.start, policy, random);
    };
    CHECK(test::makespan_of(four.p, refined({.target = 2}), policy) <= 2);
    CHECK(refined({.target = 4}) == four.start);
    std::stop_source early;
    early.request_stop();
    const auto stopped = early.get_token();
    CHECK(refined({.stop = &stopped}) == four.start);
    CHECK(test::makespan_of(four.p, refined({.seconds = 0.01}), policy) <= 4);
  }
  // In the midst of windows: the second plan is that of the passes, or the first of windows.
  const auto w = generate::layered_sized(60, 6, 2, 1);
  const platform<uniform_links> q{{{}, {}, {}, {.kind = device_kind::gpu}}, {{.latency = 1}}};
  const problem p{w, q};
  const auto start = test::decide(partition::hash{}, p);
  REQUIRE(start.has_value());
  std::stop_source source;
  const auto token = source.get_token();
  int told = 0;
  const std::function<void(const progress&)> listen = [&](const progress&) {
    if (++told == 2) {
      source.request_stop();
    }
  };
  const auto found = test::on_plans(with({.stop = &token, .on_progress = &listen}))(p, start->plan, policy, random);
  CHECK(told == 2);
  CHECK(validate(p, found).empty());
}

/// Layered ops on devices that differ in speed, with sends.
struct with_sends {
  platform<> q;
  workload w;
  problem<workload, platform<>> p;
  explicit with_sends(std::uint64_t ops)
      : q{generate::heterogeneous({.devices = 6, .memory_times_speed = std::uint64_t{1} << 50}, 1)},
        w{generate::with_ccr(generate::layered_sized(ops, 20, 3, 1), q, 1)}, p{w, q} {}
  with_sends(const with_sends&) = delete;
};

TEST_CASE("windows: the same at any number of threads, and better than passes alone") {
  const with_sends s{600};
  const auto start = *test::decide(partition::heft{}, s.p);
  const auto refined = [&](std::uint32_t sweeps, unsigned threads) {
    rng random{5};
    const windows search{.budget = {.moves = 15'000}, .window = 60, .sweeps = sweeps, .threads = threads};
    return refine::improve(s.p, start.plan, search, schedule::static_order{}, random);
  };
  const auto alone = refined(2, 1);
  CHECK(refined(2, 2).plan == alone.plan);
  CHECK(refined(2, 5).plan == alone.plan);
  CHECK(validate(s.p, alone.plan).empty());
  const double heft = test::makespan_of(s.p, start.plan, schedule::static_order{});
  const auto passes = refined(0, 1);
  CHECK(passes.run.makespan < 0.92 * heft);
  CHECK(alone.run.makespan < passes.run.makespan);
}

TEST_CASE("windows: unrelated times") {
  const auto amounts = generate::layered_sized(800, 40, 4, 1);
  const auto q = generate::heterogeneous({.devices = 6, .min_speed = 1, .max_speed = 1, .send_work = 0}, 1);
  const auto seconds = generate::range_based_costs(amounts, 6, 1, 1);
  const cost::table times{seconds, amounts.num_ops(), 6};
  const auto w = generate::with_ccr(amounts, q, 1, times);
  const problem p{w, q, times};
  const auto start = *test::decide(partition::heft{}, p);
  rng random{5};
  const windows search{.budget = {.moves = 10'000}, .window = 200};
  const auto found = refine::improve(p, start.plan, search, schedule::static_order{}, random);
  CHECK(validate(p, found.plan).empty());
  CHECK(found.run.makespan < 0.92 * test::makespan_of(p, start.plan, schedule::static_order{}));
}

} // namespace refine_windows_test
