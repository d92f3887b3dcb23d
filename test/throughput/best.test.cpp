// SPDX-License-Identifier: BSL-1.0
#include "small.hpp"

#include "support/rounds.hpp"

#include "weft/throughput/best.hpp"
#include "weft/throughput/loads.hpp"
#include "weft/throughput/lowest_latency.hpp"

#include <doctest/doctest.h>

namespace throughput_best_test {

using namespace weft;

/// What the solvers must keep on any problem, against everything tried; returns whether `best` found the optimum.
template <class Problem>
bool check_small(const Problem& p, std::uint64_t seed) {
  const auto optimum = weft_test::brute_force(p);
  const throughput::flow<Problem> f{p};
  rng random{seed};
  const auto r = throughput::best{.rounds = 2, .moves_per_round = 1500}(p, random);
  if (optimum.any > 1e300) {
    REQUIRE(!r);
    REQUIRE((r.error().cause == infeasibility::kind::out_of_memory ||
             r.error().cause == infeasibility::kind::no_device_of_kind));
    return true;
  }
  REQUIRE(r);
  REQUIRE(throughput::period_bound(f) <= optimum.any + 1e-9);
  REQUIRE(r->bound <= optimum.any + 1e-9);
  REQUIRE(weft_test::is_allowed(p, r->placement));
  REQUIRE(weft_test::about(r->period, weft_test::naive_period(p, r->placement)));
  REQUIRE(r->period >= optimum.any - 1e-9);
  if (r->contiguous_optimum && weft_test::has_no_orphans(p)) {
    REQUIRE(r->period <= optimum.contiguous + 1e-9);
  }
  return weft_test::about(r->period, optimum.any);
}

TEST_CASE("throughput: best finds what trying everything finds, and the bound is below it") {
  rng random{5};
  int staged = 0;
  int linear = 0;
  constexpr int runs = weft::test::rounds(700);
  for (int i = 0; i < runs; ++i) {
    const auto s = weft_test::random_small(random, {.training = i % 3 == 0});
    staged += check_small(s.staged(), 1) ? 1 : 0;
    linear += check_small(s.linear(), 2) ? 1 : 0;
  }
  CHECK(staged >= runs * 99 / 100);
  CHECK(linear >= runs * 99 / 100);
}

TEST_CASE(
  "throughput: best and annealing claim no period that is not one where transfers differ by many orders of magnitude") {
  rng random{15};
  int found = 0;
  constexpr int runs = weft::test::rounds(300);
  for (int i = 0; i < runs; ++i) {
    auto s = weft_test::random_small(random, {.training = i % 3 == 0});
    const double huge = i % 2 == 0 ? 1e13 : 1e16;
    for (double& seconds : s.times.transfer) {
      seconds *= random.below(3) == 0 ? huge : 1;
    }
    const auto p = s.staged();
    found += check_small(p, 1) ? 1 : 0;
    const auto start = throughput::pack(throughput::flow{p});
    if (!start || p.num_ops() == 0) {
      continue;
    }
    double told = std::numeric_limits<double>::infinity();
    const auto listener = [&](const progress& x) { told = x.best; };
    placement where(p.num_ops());
    for (const op_id v : ids(p.num_ops())) {
      where[v] = (*start)[p.component(v)];
    }
    const double before = throughput::period(p, where);
    rng a{7};
    const double after =
      throughput::period(p, throughput::annealing{.budget = {.on_progress = listener}, .length = 3000}(p, where, a));
    REQUIRE(after <= before);
    REQUIRE((told > 1e300 ? after == before : weft_test::about(told, after)));
  }
  CHECK(found >= runs * 99 / 100);
}

TEST_CASE("throughput: the bound is exact where one op, one device or a forced union decides") {
  workload_builder b;
  b.add_op({.work = 1, .bytes = 0});
  b.add_op({.work = 1, .bytes = 0});
  b.add_op({.work = 1});
  b.add_edge(0, 1);
  b.add_edge(1, 2);
  const auto w = std::move(b).build();
  const platform<uniform_links> two{std::vector<device>(2, device{.kind = device_kind::fpga}), {}};
  const platform<uniform_links> one{std::vector<device>(1, device{.kind = device_kind::fpga}), {}};
  const cost::staged dear{{{9, 9, 9}, {4, 3, 5}, {100, 100}}}; // ends are better kept together
  const cost::staged cheap{{{9, 9, 9}, {4, 3, 8}, {0, 0}}};
  const auto bound = [](const auto& p) { return throughput::period_bound(throughput::flow{p}); };
  CHECK(bound(problem{w, two, dear}) == doctest::Approx(12).epsilon(1e-6));
  CHECK(bound(problem{w, one, cheap}) == doctest::Approx(15).epsilon(1e-6));
  CHECK(bound(problem{w, two, cheap}) == doctest::Approx(8).epsilon(1e-6));
  const auto nothing = workload_builder{}.build();
  CHECK(bound(problem{nothing, two, cost::staged{{}}}) == 0);
}

TEST_CASE("throughput: annealing never worsens, respects constraints, and repeats itself") {
  rng random{6};
  for (int i = 0; i < weft::test::rounds(150); ++i) {
    const auto s = weft_test::random_small(random, {.max_ops = 16, .max_devices = 5});
    const auto check = [&](const auto& p) {
      const auto start = throughput::pack(throughput::flow{p});
      if (!start) {
        return;
      }
      placement where(p.num_ops());
      for (const op_id v : ids(p.num_ops())) {
        where[v] = (*start)[p.component(v)];
      }
      REQUIRE(weft_test::is_allowed(p, where));
      const throughput::annealing anneal{.length = 3000};
      rng a{7};
      rng b{7};
      const auto once = anneal(p, where, a);
      REQUIRE(once == anneal(p, where, b));
      REQUIRE(weft_test::is_allowed(p, once));
      REQUIRE(throughput::period(p, once) <= throughput::period(p, where) * (1 + 1e-9));
    };
    check(s.staged());
    check(s.linear());
  }
}

TEST_CASE("throughput: best on nothing, on one device, and on what fits nowhere") {
  rng random;
  const auto nothing = workload_builder{}.build();
  const platform<uniform_links> one{std::vector<device>(1, device{.kind = device_kind::fpga, .memory_capacity = 10}),
                                    {}};
  const auto empty = throughput::best{}(problem{nothing, one, cost::staged{{}}}, random);
  REQUIRE(empty);
  CHECK(empty->period == 0);
  CHECK(empty->gap() == 0);

  workload_builder b;
  b.add_op({.work = 1, .resident_bytes = 6});
  const auto w = std::move(b).build();
  const auto r = throughput::best{}(problem{w, one}, random);
  REQUIRE(r);
  CHECK(r->period == 1);
  CHECK(r->bound == doctest::Approx(1).epsilon(1e-6));
  CHECK(r->tried.front().method == "packing");

  workload_builder more;
  more.add_op({.work = 1, .resident_bytes = 6, .name = "a"});
  more.add_op({.work = 1, .resident_bytes = 6, .name = "b"});
  const auto too_much = std::move(more).build();
  const auto none_fits = throughput::best{}(problem{too_much, one}, random);
  REQUIRE(!none_fits);
  CHECK(none_fits.error().cause == infeasibility::kind::out_of_memory);
  CHECK(none_fits.error().largest_free == 4);

  workload_builder host;
  host.add_op({.work = 1, .kinds = device_kind::cpu});
  const auto needs_host = std::move(host).build();
  const auto no_kind = throughput::best{}(problem{needs_host, one}, random);
  REQUIRE(!no_kind);
  CHECK(no_kind.error().cause == infeasibility::kind::no_device_of_kind);
}

TEST_CASE("throughput: packing takes choices back where memory is tight") {
  workload_builder b; // 6 + 4 and 5 + 3 + 2 fill two devices of 10
  for (const byte_count bytes : {3u, 6u, 2u, 5u, 4u}) {
    b.add_op({.work = 1, .resident_bytes = bytes});
  }
  const auto w = std::move(b).build();
  const platform<uniform_links> two{std::vector<device>(2, device{.memory_capacity = 10}), {}};
  const problem p{w, two};
  rng random;
  const auto r = throughput::best{}(p, random);
  REQUIRE(r);
  CHECK(weft_test::is_allowed(p, r->placement));
  CHECK(r->period == 3);
}

TEST_CASE("throughput: best stops when it is asked to, and counts moves") {
  rng random{8};
  const auto s = weft_test::random_small(random, {.max_ops = 30, .max_devices = 5, .limits = false});
  const auto p = s.staged();
  std::stop_source stop;
  stop.request_stop();
  const auto token = stop.get_token();
  rng a;
  const auto stopped = throughput::best{.budget = {.stop = &token}}(p, a);
  REQUIRE(stopped);
  CHECK(weft_test::is_allowed(p, stopped->placement));
  rng b{1};
  rng c{1};
  const auto x = throughput::best{.budget = {.moves = 5000}}(p, b);
  const auto y = throughput::best{.budget = {.moves = 5000}}(p, c);
  REQUIRE((x && y));
  CHECK(x->placement == y->placement);
  CHECK(x->period <= stopped->period);
}

TEST_CASE("throughput: every search tells of better solutions and ends at its target") {
  rng random{8};
  const auto s = weft_test::random_small(random, {.max_ops = 30, .max_devices = 5, .limits = false});
  const auto p = s.staged();
  std::vector<progress> seen;
  const auto listener = [&](const progress& x) {
    CHECK((seen.empty() || x.best < seen.back().best));
    CHECK((seen.empty() || (x.moves >= seen.back().moves && x.seconds >= seen.back().seconds)));
    seen.push_back(x);
  };
  const budget told{.moves = 20'000, .on_progress = listener};
  const budget lenient{.moves = 20'000, .target = 1e9, .on_progress = listener};

  rng a{1};
  const auto found = throughput::best{.budget = told}(p, a);
  REQUIRE(found);
  CHECK(seen.size() > 1);
  CHECK(seen.back().best == doctest::Approx(found->period));
  seen.clear();
  const auto quick = throughput::best{.budget = lenient}(p, a);
  REQUIRE(quick);
  CHECK(quick->tried.size() == 1);
  CHECK(seen.size() == 1);
  CHECK(quick->bound <= quick->period * (1 + 1e-9));

  seen.clear();
  const auto& start = quick->placement;
  const auto annealed = throughput::annealing{.budget = told}(p, start, a);
  CHECK(!seen.empty());
  CHECK(seen.back().best == doctest::Approx(throughput::period(p, annealed)));
  seen.clear();
  CHECK(throughput::annealing{.budget = lenient}(p, start, a) == start);
  CHECK(seen.empty());

  const auto latency = throughput::lowest_latency{.budget = told}(p, a);
  REQUIRE(latency);
  CHECK(!seen.empty());
  CHECK(seen.back().best == doctest::Approx(latency->latency));
  seen.clear();
  CHECK(throughput::lowest_latency{.budget = lenient}(p, a));
  CHECK(seen.size() == 1);
  CHECK(seen[0].moves == 0);
}

} // namespace throughput_best_test
