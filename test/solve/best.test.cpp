// SPDX-License-Identifier: BSL-1.0
#include "bound/small.hpp"
#include "partition/published_example.hpp"
#include "support/small_problem.hpp"

#include "weft/cost/compose.hpp"
#include "weft/cost/generate/suite.hpp"
#include "weft/io/stg.hpp"
#include "weft/platform/presets.hpp"
#include "weft/solve/best.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/generate.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <stop_token>
#include <thread>
#include <vector>

namespace solve_best_test {

using namespace weft;

template <class Problem>
void check_result(const Problem& p, const solve::best_result& r) {
  REQUIRE(r.has_plan());
  CHECK(validate(p, r.plan).empty());
  simulator<Problem, schedule::static_order> sim{p};
  const auto run = sim.run(r.plan);
  CHECK(run.complete);
  CHECK(run.makespan == r.makespan);
  CHECK(r.bound.value <= r.makespan * (1 + 1e-9));
  for (const auto& a : r.tried) {
    CHECK(r.score.value <= a.value);
  }
}

TEST_CASE("solve::best: the optimum of small problems, and the proof") {
  rng random{7};
  workspace scratch;
  int proven = 0;
  int solved = 0;
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const auto small = weft_test::random_problem(random);
    small.with([&](const auto& p) {
      const auto exact = partition::run(refine::branch_and_bound{}, p, random, scratch);
      const auto r = solve::best(p, {.moves = 4'000});
      REQUIRE(r.has_plan() == exact.has_value());
      if (exact) {
        check_result(p, r);
        ++solved;
        proven += r.status == status::optimal;
        CHECK(r.makespan >= exact->bound * (1 - 1e-9));
      } else {
        REQUIRE(r.reason.has_value());
        CHECK(r.status == (bound::proves_infeasible(p, *r.reason) ? status::infeasible : status::not_found));
      }
    });
  }
  CHECK(solved > 30);
  CHECK(proven == solved);
}

TEST_CASE("solve::best: 73 for the published example") {
  const test::published_example s;
  const auto r = solve::best(s.p);
  check_result(s.p, r);
  CHECK(r.makespan == 73);
  CHECK(r.status == status::optimal);
  CHECK(r.tried.front().name == "heft");
  CHECK(r.tried.front().value == 80);
}

TEST_CASE("solve::best: a budget in moves gives the same at any number of threads") {
  const auto w = generate::layered_sized(60, 10, 2, 5);
  const auto q = presets::make("paper_like_10");
  const problem p{w, q};
  const solve::best_options options{.moves = 2'000, .seed = 3};
  const auto one = solve::best(p, options);
  check_result(p, one);
  auto two_threads = options;
  two_threads.threads = 2;
  const auto two = solve::best(p, two_threads);
  CHECK(two.plan == one.plan);
  CHECK(two.makespan == one.makespan);
  const auto again = solve::best(p, options);
  CHECK(again.plan == one.plan);
  auto heuristics = options;
  heuristics.moves = 0;
  const auto unrefined = solve::best(p, heuristics);
  check_result(p, unrefined);
  CHECK(one.makespan < unrefined.makespan);
}

TEST_CASE("solve::best: devices that are alike are searched exactly") {
  const auto w = generate::fft();
  const auto q = presets::identical(3);
  const problem p{w, q};
  const auto r = solve::best(p);
  check_result(p, r);
  CHECK(r.tried.size() == 1);
  CHECK(r.tried.front().name == "identical_devices");
  CHECK(r.status == status::optimal);
}

TEST_CASE("solve::best: times that are infinite, or whose sum is") {
  workload_builder b;
  for (int v = 0; v < 3; ++v) {
    b.add_op({.work = 1e300, .bytes = 1});
  }
  b.add_edge(0, 1);
  b.add_edge(1, 2);
  const auto chain = std::move(b).build();
  const auto of_speed = [](double speed) {
    return platform<uniform_links>{std::vector<device>(3, device{.speed = speed}), {}};
  };
  const auto slow = of_speed(1e-8);
  CHECK_THROWS_WITH_AS(
    solve::best(problem{chain, slow}),
    "the problem: the least times of its ops add up to more seconds than a double can hold (1.8e308); "
    "give times in a larger unit",
    value_error);

  const auto devices = of_speed(1e300);
  const double never = std::numeric_limits<double>::infinity();
  const auto all_but_own = [&](op_id v, device_id d) { return v == d ? never : 1; };
  const problem p{chain, devices, cost::from_function{all_but_own}};
  const auto r = solve::best(p);
  check_result(p, r);
  CHECK(r.status == status::optimal);
  CHECK(r.makespan == 3);
  CHECK(r.bound.value == 3);
}

TEST_CASE("solve::best: nothing to do, nowhere to go, no time") {
  const auto q = presets::make("paper_like_10");
  workload_builder none_at_all;
  const auto empty = std::move(none_at_all).build();
  const problem nothing{empty, q};
  const auto r = solve::best(nothing);
  CHECK(r.status == status::optimal);
  CHECK(r.makespan == 0);

  workload_builder b;
  b.add_op({.work = 1, .kinds = device_kind::tpu});
  const auto tpu = std::move(b).build();
  const auto nowhere = solve::best(problem{tpu, q});
  CHECK(nowhere.status == status::infeasible);
  REQUIRE(nowhere.reason);
  CHECK(nowhere.reason->cause == infeasibility::kind::no_device_of_kind);

  const auto w = generate::layered_sized(200, 10, 2, 5);
  const problem p{w, q};
  const auto at_once = solve::best(p, {.seconds = 0});
  check_result(p, at_once); // HEFT always runs
  std::stop_source source;
  source.request_stop();
  const auto token = source.get_token();
  const auto stopped = solve::best(p, {.seconds = 1e6, .stop = &token});
  check_result(p, stopped);
}

TEST_CASE("solve::best: memory that only a search can fill") {
  int heuristics_failed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    rng random{seed};
    workload_builder b;
    std::vector<device> devices(4);
    for (auto& d : devices) { // ten ops each fill it but for three bytes
      byte_count sum = 0;
      for (int i = 0; i < 10; ++i) {
        const auto bytes = static_cast<byte_count>(random.between(5, 60));
        b.add_op({.work = 1, .resident_bytes = bytes});
        sum += bytes;
      }
      d.memory_capacity = sum + 3;
    }
    const auto w = std::move(b).build();
    const platform<uniform_links> q{devices, {}};
    const auto r = solve::best(problem{w, q}, {.moves = 100});
    REQUIRE(r.has_plan());
    heuristics_failed += r.tried.front().value == std::numeric_limits<double>::infinity();
  }
  CHECK(heuristics_failed > 5);
}

TEST_CASE("solve::best: no thread at all means one, and seconds are kept") {
  const auto w = generate::layered_sized(120, 10, 2, 6);
  const auto q = presets::make("paper_like_10");
  const problem p{w, q};
  const auto r = solve::best(p, {.seconds = 0.05, .threads = 0}); // that it ends is the test
  check_result(p, r);
}

TEST_CASE("solve::best: tells of every better plan") {
  const auto w = generate::layered_sized(120, 10, 2, 6);
  const auto q = presets::make("paper_like_10");
  const problem p{w, q};
  std::vector<double> seen;
  const auto r = solve::best(
    p, {.moves = 4'000, .threads = 2, .on_progress = [&](const progress& x) { seen.push_back(x.best); }});
  REQUIRE(seen.size() > 2);
  CHECK(std::is_sorted(seen.rbegin(), seen.rend()));
  CHECK(seen.back() == r.makespan);
}

TEST_CASE("solve::best: what is thrown at a better plan reaches the caller, from whatever thread") {
  const auto w = generate::layered_sized(120, 10, 2, 6);
  const auto q = presets::make("paper_like_10");
  const problem p{w, q};
  for (const unsigned threads : {1u, 2u}) {
    const solve::best_options options{
      .moves = 4'000, .threads = threads, .chains = 2, .on_progress = [](const progress& x) {
        if (x.moves > 0) { // of the last part, on the threads
          throw error("enough");
        }
      }};
    CHECK_THROWS_WITH(solve::best(p, options), "enough");
  }
}

/// The makespan, as an objective that searches know nothing about; stops all after so many scores.
struct unknown_makespan {
  std::stop_source* stop;
  std::uint64_t* scores;
  std::uint64_t most;

  template <class Problem>
  double score(const Problem&, const simulation& run) const {
    if (++*scores == most) {
      stop->request_stop();
    }
    return run.makespan;
  }
};

TEST_CASE("solve::best: changes are run as long as there is time, for objectives that cannot be followed") {
  const auto made = generate::make_suite_instance({"fork_join", 1, generate::heterogeneity::unrelated, 1});
  const problem p{made.ops, made.devices, made.costs()};
  const auto runs = [&](budget spend) {
    std::stop_source source;
    const auto token = source.get_token();
    std::uint64_t scores = 0;
    const evaluation how{schedule::static_order{}, unknown_makespan{&source, &scores, 6'000}};
    evaluator judge{p, how};
    const auto start = judge.recorded({.placement = placement(p.num_ops(), 0)});
    spend.stop = &token;
    rng random{1};
    solve::detail::by_runs(judge, start, spend, random);
    return scores;
  };
  const auto most = solve::detail::moves_by_runs(p.num_ops());
  CHECK(most < 6'000);
  CHECK(runs({.seconds = 1e6}) >= 6'000);
  CHECK(runs({}) <= most + 2);
  CHECK(runs({.moves = 10 * p.num_ops(), .seconds = 1e6}) < 100);
}

/// A price in fractions whose sums depend on their order in the last bits only: all plans cost the same.
struct last_bits {
  bool then_makespan = false;

  template <class Problem>
  score score(const Problem&, const trace& run) const {
    double sum = 0;
    std::uint64_t way = run.ops.size();
    for (const auto& r : run.ops) {
      way = way * 31 + r.device;
    }
    for (std::uint64_t i = 0; i < 97; ++i) {
      sum += 0.1 * static_cast<double>((way + 13 * i) % 97);
    }
    return {0, sum, then_makespan ? run.makespan : 0};
  }
};

TEST_CASE("solve::best: the last bits of an objective make no plan better, and what decides between equals does") {
  const auto made = generate::make_suite_instance({"fork_join", 1, generate::heterogeneity::unrelated, 1});
  const problem p{made.ops, made.devices, made.costs()};
  std::vector<double> told;
  const solve::best_options few{.moves = 20'000, .on_progress = [&](const progress& x) { told.push_back(x.best); }};
  const auto first = solve::best(p, evaluation{schedule::static_order{}, last_bits{}}, few);
  REQUIRE(first.has_plan());
  CHECK(told.size() == 1);
  CHECK(first.score.value == doctest::Approx(told.front()).epsilon(1e-11)); // it may move less
  const auto tied = solve::best(p, evaluation{schedule::static_order{}, last_bits{true}}, {.moves = 20'000});
  CHECK(tied.score.value == doctest::Approx(first.score.value).epsilon(1e-11));
  CHECK(tied.makespan <= 1.1 * solve::best(p, {.moves = 20'000}).makespan);
}

TEST_CASE("solve::best: makespans are not refuted for an objective whose bound that would not raise") {
  const auto made = generate::make_suite_instance({"random_dag", 10, generate::heterogeneity::unrelated, 1});
  const problem p{made.ops, made.devices, made.costs()};
  REQUIRE(p.num_ops() > 60);
  const solve::best_options few{.moves = 5'000};
  const auto known = solve::best(p, few);
  CHECK(known.bound.which == lower_bound::rule::search); // it is worth it for the makespan
  const auto r = solve::best(p, evaluation{schedule::static_order{}, last_bits{}}, few);
  CHECK(r.bound.value == 0);
  CHECK(r.bound.which != lower_bound::rule::search);
}

} // namespace solve_best_test
