// SPDX-License-Identifier: BSL-1.0
#include "weft/concurrency/hill_climbing.hpp"

#include "weft/concurrency/scaling_laws.hpp"
#include "weft/core/random.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <set>
#include <vector>

namespace concurrency_hill_climbing_test {

using namespace weft;
using namespace weft::concurrency;
using doctest::Approx;

/// Measures what the climber asks for until it is done; returns the packed thread counts, each once.
template <class Measure>
std::vector<std::uint32_t> climb(hill_climber& c, Measure measure) {
  std::vector<std::uint32_t> packed;
  int guard = 0;
  while (const auto t = c.next()) {
    REQUIRE(++guard < 100'000);
    if (t->affinity == affinity::packed && (packed.empty() || packed.back() != t->threads)) {
      packed.push_back(t->threads);
    }
    c.record(*t, measure(*t));
  }
  CHECK(c.done());
  return packed;
}

using numbers_of_threads = std::vector<std::uint32_t>;

/// Normally distributed, by Box and Muller.
double normal(rng& random) {
  return std::sqrt(-2 * std::log(1 - random.uniform())) * std::cos(2 * std::numbers::pi * random.uniform());
}

/// An op's true times: Amdahl, USL, or a roofline with a barrier.
std::function<double(team)> random_law(rng& random) {
  const double one = std::pow(10.0, random.uniform(-5, 0));
  switch (random.below(3)) {
  case 0: return amdahl{one, random.uniform(0.5, 1)};
  case 1: return universal_scalability{one, random.uniform(0, 0.2), std::pow(10.0, random.uniform(-4, -2))};
  default: break;
  }
  const double saturates = random.uniform(4, 40);   // threads that exhaust the bandwidth
  const double memory_share = random.uniform(0, 1); // of the time of one thread
  const double barrier = one * std::pow(10.0, random.uniform(-5, -3));
  return [=](team t) {
    const double p = t.threads;
    return std::max(one / p, one * memory_share / std::min(p, saturates)) + (t.threads > 1 ? barrier * p : 0);
  };
}

struct score {
  double accuracy = 0;      ///< mean of 1 − |error|, over teams that were not measured
  double runs_per_op = 0;
};

/// Noise of 5 %, and now and then a spike of ten times as long.
score assess(std::uint32_t step, std::uint32_t cores) {
  rng random{2018};
  constexpr int num_ops = 600;
  double sum = 0;
  std::size_t count = 0;
  std::size_t runs = 0;
  for (int i = 0; i < num_ops; ++i) {
    const auto law = random_law(random);
    hill_climber c{{.step = step}, cores};
    climb(c, [&](team t) {
      return law(t) * std::max(0.1, 1 + 0.05 * normal(random)) * (random.uniform() < 0.02 ? 10 : 1);
    });
    const auto curve = c.curve();
    std::set<std::uint32_t> measured;
    for (const sample& s : curve.points(affinity::packed)) {
      measured.insert(s.threads);
    }
    for (std::uint32_t p = 1; p <= cores; ++p) {
      if (!measured.contains(p)) {
        sum += std::max(0.0, 1 - std::abs(curve({p}) - law({p})) / law({p}));
        ++count;
      }
    }
    runs += c.num_runs();
  }
  REQUIRE(count > 0);
  return {sum / static_cast<double>(count), static_cast<double>(runs) / num_ops};
}

TEST_CASE("hill_climber: climbs in steps until more threads do not help, then looks at what lies beyond") {
  hill_climber c{{.step = 4, .patience = 2, .runs = 1}, 64};
  // Best at 9; then two points in a row are no improvement; then doubling up to all cores.
  const auto seen = climb(c, [](team t) { return 1 + std::abs(9.0 - t.threads); });
  CHECK(seen == numbers_of_threads{1, 5, 9, 13, 17, 34, 64});
}

TEST_CASE("hill_climber: without a survey it stops where the hill ends") {
  hill_climber c{{.step = 4, .patience = 2, .runs = 1, .survey = 0}, 64};
  CHECK(climb(c, [](team t) { return 1 + std::abs(9.0 - t.threads); }) == numbers_of_threads{1, 5, 9, 13, 17});
}

TEST_CASE("hill_climber: as long as it helps, up to all cores") {
  hill_climber c{{.step = 4, .runs = 1}, 11};
  CHECK(climb(c, [](team t) { return 1.0 / t.threads; }) == numbers_of_threads{1, 5, 9, 11});
  CHECK(c.num_runs() == 7); // one thread is the same when spread
  CHECK(c.curve()({11}) == Approx(1.0 / 11));
}

TEST_CASE("hill_climber: machines with one and two cores") {
  hill_climber one{{.runs = 1}, 1};
  CHECK(climb(one, [](team) { return 3.0; }) == numbers_of_threads{1});
  CHECK(one.num_runs() == 1);
  CHECK(one.curve()({1, affinity::spread}) == 3);
  hill_climber two{{.runs = 1}, 2};
  CHECK(climb(two, [](team t) { return t.affinity == affinity::packed ? 3.0 / t.threads : 2.0; }) ==
        numbers_of_threads{1, 2});
  CHECK(two.num_runs() == 3);
  CHECK(two.curve()({2}) == 1.5);
  CHECK(two.curve()({2, affinity::spread}) == 2);
  hill_climber nothing{{.runs = 1}, 0};
  CHECK(climb(nothing, [](team) { return 3.0; }) == numbers_of_threads{1});
}

TEST_CASE("hill_climber: options that make no sense are mended") {
  hill_climber c{{.step = 0, .patience = 0, .runs = 0, .survey = 0}, 3};
  CHECK(climb(c, [](team t) { return 1.0 / t.threads; }).front() == 1);
}

TEST_CASE("hill_climber: a spike makes two runs disagree and is outvoted") {
  hill_climber c{{.step = 1, .runs = 2}, 2};
  int calls = 0;
  climb(c, [&](team t) { return (++calls == 2 ? 10.0 : 1.0) / t.threads; });
  CHECK(c.curve()({1}) == 1);
  CHECK(c.num_runs() == 3 + 2 + 2); // one more for the point with the spike
}

TEST_CASE("hill_climber: ignores what it did not ask for") {
  hill_climber c{{.runs = 1}, 8};
  c.record({5}, 1);
  c.record({1, affinity::spread}, 1);
  CHECK(c.num_runs() == 0);
  c.record({1}, 1);
  CHECK(c.num_runs() == 1);
  CHECK(c.next() == team{5});
}

TEST_CASE("hill_climbing: accurate between its points, with noise and spikes, from few runs") {
  const auto fine = assess(2, 68);
  CHECK(fine.accuracy >= 0.95);
  const auto coarse = assess(8, 68);
  CHECK(coarse.accuracy >= 0.90);
  CHECK(coarse.runs_per_op <= 2 * 68 / 3.0); // a third of trying every team once
}

TEST_CASE("profiler: climbs one hill per class, until all are done") {
  workload_builder b;
  for (const double work : {1.0, 2.0, 1.0, 2.0, 2.0}) {
    b.add_op({.work = work});
  }
  const workload w = std::move(b).build();
  profiler learn{op_classes{w}, 4, {.step = 1, .runs = 1}};
  const auto law = [&](op_id v, team t) { return amdahl{w.work(v), 0.5}(t); };
  int steps = 0;
  while (!learn.done()) {
    REQUIRE(++steps < 1000);
    for (const op_id v : ids(w.num_ops())) {
      const team t = learn.team_for(v);
      learn.record(v, t, law(v, t));
    }
  }
  CHECK(learn.team_for(0) == team{});
  const auto times = learn.times();
  CHECK(times.max_threads() == 4);
  for (const op_id v : ids(w.num_ops())) {
    for (std::uint32_t p = 1; p <= 4; ++p) {
      CHECK(times.seconds(v, {p}) == Approx(law(v, {p})));
      CHECK(times.seconds(v, {p, affinity::spread}) == Approx(law(v, {p})));
    }
  }
  CHECK(learn.num_runs() == learn.climber(0).num_runs() + learn.climber(1).num_runs());
}

} // namespace concurrency_hill_climbing_test
