// SPDX-License-Identifier: BSL-1.0
#include "weft/partition/m_sct.hpp"

#include "partition/cluster/costs_of.hpp"
#include "partition/place.hpp"
#include "simulate/random_problem.hpp"

#include "weft/refine/branch_and_bound.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/generate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace partition_m_sct_test {

using namespace weft;
namespace sct = partition::sct;

sct::program program_for(const workload& w) {
  const auto q = test::unit_devices(3);
  const problem p{w, q};
  return sct::program_of(partition::cluster::mean_costs{p});
}

void check_constraints(const sct::program& lp, const std::vector<double>& share) {
  std::vector<double> leaving(lp.num_ops(), 0.0), entering(lp.num_ops(), 0.0);
  REQUIRE(share.size() == lp.arcs.size());
  for (std::size_t a = 0; a < share.size(); ++a) {
    CHECK(share[a] >= 0);
    leaving[lp.arcs[a].from] += share[a];
    entering[lp.arcs[a].to] += share[a];
  }
  for (const op_id v : ids(lp.num_ops())) {
    CHECK(leaving[v] <= 1 + 1e-12);
    CHECK(entering[v] <= 1 + 1e-12);
  }
}

/// The least makespan with whole favourites, by trying all.
double best_whole(const sct::program& lp, std::vector<double>& share, std::vector<int>& out, std::vector<int>& in,
                  std::size_t next = 0) {
  if (next == lp.arcs.size()) {
    return sct::makespan_of(lp, share);
  }
  double least = best_whole(lp, share, out, in, next + 1);
  const auto& a = lp.arcs[next];
  if (out[a.from] == 0 && in[a.to] == 0) {
    out[a.from] = in[a.to] = 1;
    share[next] = 1;
    least = std::min(least, best_whole(lp, share, out, in, next + 1));
    share[next] = 0;
    out[a.from] = in[a.to] = 0;
  }
  return least;
}

template <class Problem>
double run_in_order(const Problem& p, const plan& decided) {
  const auto wrong = validate(p, decided);
  CHECK_MESSAGE(wrong.empty(), (wrong.empty() ? "" : to_string(wrong.front())));
  simulator<Problem, schedule::static_order> sim{p};
  const auto result = sim.run(decided);
  CHECK(result.complete);
  return result.makespan;
}

TEST_CASE("program_of: one arc per pair of ops, with the longest transfer; paths through arcs") {
  auto b = test::ops_of({1, 2, 3}, {});
  b.add_edge(0, 2, b.add_output(0, 4));
  b.add_edge(0, 2, b.add_output(0, 6));
  b.add_edge(1, 2, b.add_output(1, 5));
  b.add_edge(0, 1, b.add_output(0, 1));
  const auto lp = program_for(std::move(b).build());
  REQUIRE(lp.arcs.size() == 3);
  CHECK(lp.compute == std::vector<double>{1, 2, 3});
  CHECK(lp.first_input == std::vector<std::size_t>{0, 0, 1, 3});
  CHECK(lp.arcs[1].transfer == 6);
  std::vector<double> through;
  CHECK(sct::makespan_of(lp, {0, 0, 0}, &through) == 12); // 0 -1-> 1 -5-> 2
  CHECK(through == std::vector<double>{12, 10, 12});
  CHECK(sct::makespan_of(lp, {0.5, 0, 0.5}, &through) == 10); // 0 -6-> 2
  CHECK(through == std::vector<double>{9, 10, 9});
}

TEST_CASE("averaged_matchings: what can be said without a library") {
  // A chain: every arc is a favourite, no transfer is left. A fork: shares that make both paths equally long, which is
  // better than any whole choice: 1 + 9 / 4 + 2 = 1 + 3 · 3 / 4 + 2.
  const sct::averaged_matchings solve;
  const auto chain = program_for(test::timed_graph({1, 2, 3}, {{0, 1, 5}, {1, 2, 6}}));
  CHECK(sct::makespan_of(chain, solve(chain)) == 6);
  const auto fork = program_for(test::timed_graph({1, 2, 2}, {{0, 1, 9}, {0, 2, 3}}));
  CHECK(sct::makespan_of(fork, solve(fork)) == doctest::Approx(5.25).epsilon(0.002));
  const auto even = program_for(test::timed_graph({1, 2, 2}, {{0, 1, 8}, {0, 2, 8}}));
  CHECK(sct::makespan_of(even, solve(even)) == doctest::Approx(7).epsilon(0.01)); // 11 with whole favourites
  CHECK(solve(program_for(test::timed_graph({}, {}))).empty());
  CHECK(solve(program_for(test::timed_graph({0, 0}, {{0, 1, 0}}))) == std::vector<double>{0});
}

TEST_CASE("averaged_matchings: obeys the constraints; no worse than most whole choices") {
  rng random{3};
  int better = 0, worse = 0;
  double ratio = 1;
  for (int round = 0; round < 150; ++round) {
    CAPTURE(round);
    std::vector<double> work;
    std::vector<test::timed_edge> edges;
    for (op_id v = 0; v < 8; ++v) {
      work.push_back(random.below(6));
      for (op_id u = 0; u < v && edges.size() < 13; ++u) {
        if (random.below(3) == 0) {
          edges.push_back({u, v, random.below(12)});
        }
      }
    }
    const auto lp = program_for(test::timed_graph(work, edges));
    const auto share = sct::averaged_matchings{}(lp);
    check_constraints(lp, share);
    const double found = sct::makespan_of(lp, share);
    std::vector<double> none_yet(lp.arcs.size(), 0.0);
    std::vector<int> out(8, 0), in(8, 0);
    const double whole = best_whole(lp, none_yet, out, in);
    CHECK(found <= sct::makespan_of(lp, std::vector<double>(lp.arcs.size(), 0.0)));
    better += found < whole - 1e-9;
    worse += found > whole * 1.001;
    ratio = std::max(ratio, whole > 0 ? found / whole : 1);
  }
  CHECK(better > 30); // fractions help
  CHECK(worse < 15);
  CHECK(ratio < 1.1);
}

TEST_CASE("favourites: at most one child and one parent, even where rounding would give more") {
  const auto lp = program_for(test::timed_graph({1, 1, 1, 1}, {{0, 2, 8}, {0, 3, 9}, {1, 3, 7}, {2, 3, 1}}));
  REQUIRE(lp.arcs.size() == 4); // 0-2, 0-3, 1-3, 2-3
  CHECK(sct::favourites(lp, {0.5, 0.5, 0.5, 0}, 0.5) == std::vector<op_id>{3, none, none, none});
  CHECK(sct::favourites(lp, {0.6, 0.4, 0.5, 0}, 0.5) == std::vector<op_id>{2, 3, none, none});
  CHECK(sct::favourites(lp, {0.4, 0.4, 0.4, 0.4}, 0.5) == std::vector<op_id>(4, none));
}

TEST_CASE("m_sct: a device waits for the favourite of what it ran") {
  // 0 [0, 2) on device 0, 1 [0, 4) on device 1. Then 2 could start on device 0 at 5, when 1's tensor is there, and 3 at
  // 2. 2 is 0's favourite, and nowhere starts sooner, so device 0 waits for it: 3 would be urgent only at 12.
  const auto w = test::timed_graph({2, 4, 3, 6}, {{0, 2, 20}, {1, 2, 1}, {0, 3, 10}});
  const auto q = test::unit_devices(2);
  const problem p{w, q};
  const auto decided = test::decide(partition::m_sct<>{}, p);
  REQUIRE(decided);
  CHECK(decided->plan.placement == placement{0, 1, 0, 0});
  CHECK(run_in_order(p, decided->plan) == 14);
  CHECK(decided->plan.order.back() == step::run(3));
  // With 3 as favourite, or none, 3 [2, 8) comes first.
  const auto hasty = test::decide(partition::m_sct<>{{}, 1.1}, p);
  CHECK(run_in_order(p, hasty->plan) == 11);
  CHECK(hasty->plan.order.back() == step::run(2));
}

TEST_CASE("m_sct: of two that could start, the favourite does") {
  const auto w = test::timed_graph({2, 2, 3}, {{0, 1, 10}, {0, 2, 1}});
  const auto q = test::unit_devices(2);
  const problem p{w, q};
  const auto decided = test::decide(partition::m_sct<>{}, p);
  REQUIRE(decided);
  CHECK(decided->plan.placement == placement{0, 0, 1}); // 1 at 2 on device 0, 2 at 3 on the other
  CHECK(run_in_order(p, decided->plan) == 6);
}

TEST_CASE("m_sct: without favourites it is ETF, and both are near the optimum of small problems") {
  const auto no_favourites = [](const sct::program& lp) { return std::vector<double>(lp.arcs.size(), 0.0); };
  rng random{5};
  int differ = 0;
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    std::vector<double> work;
    std::vector<test::timed_edge> edges;
    for (op_id v = 0; v < 7; ++v) {
      work.push_back(1.0 + random.below(6));
      for (op_id u = 0; u < v; ++u) {
        if (random.below(4) == 0) {
          edges.push_back({u, v, random.below(10)});
        }
      }
    }
    const auto w = test::timed_graph(work, edges);
    const auto q = test::unit_devices(2);
    const problem p{w, q};
    const auto sct_plan = test::decide(partition::m_sct<>{}, p);
    const auto etf_plan = test::decide(partition::m_sct<decltype(no_favourites)>{no_favourites}, p);
    REQUIRE(sct_plan);
    REQUIRE(etf_plan);
    differ += sct_plan->plan.placement != etf_plan->plan.placement;
    const auto exact = test::decide(refine::branch_and_bound{}, p);
    CHECK(run_in_order(p, sct_plan->plan) >= exact->bound);
    CHECK(run_in_order(p, sct_plan->plan) <= 3 * exact->bound);
  }
  CHECK(differ > 5);
}

TEST_CASE("m_sct: kinds, colocation, memory, slots and sends; the same each time") {
  rng random{11};
  int placed = 0, failed = 0;
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const test::drawn s{random, {.capacity = 40 + random.below(120)}};
    const auto decided = test::decide(partition::m_sct<>{}, s.p);
    const auto again = test::decide(partition::m_sct<>{}, s.p);
    REQUIRE(decided.has_value() == again.has_value());
    if (decided) {
      ++placed;
      CHECK(decided->plan == again->plan);
      run_in_order(s.p, decided->plan);
    } else {
      ++failed;
      CHECK(decided.error() == again.error());
      CHECK(decided.error().cause == infeasibility::kind::out_of_memory);
      CHECK(decided.error().demand > decided.error().largest_free);
    }
  }
  CHECK(placed > 50);
  CHECK(failed > 10);
}

TEST_CASE("m_sct: no op, one op, one device, slots, no device of a kind") {
  const auto q = test::unit_devices(2);
  const workload nothing;
  CHECK(test::place(partition::m_sct<>{}, problem{nothing, q}).empty());
  const auto one = test::timed_graph({5}, {});
  CHECK(test::place(partition::m_sct<>{}, problem{one, q}) == placement{0});
  const auto single = test::unit_devices(1);
  const auto w = test::survey_graph();
  const problem alone{w, single};
  CHECK(run_in_order(alone, test::decide(partition::m_sct<>{}, alone)->plan) == 30);
  const platform<uniform_links> wide{{{.slots = 9}}, {}};
  const problem slots{w, wide};
  CHECK(run_in_order(slots, test::decide(partition::m_sct<>{}, slots)->plan) == 11); // the path without transfers
  workload_builder b;
  b.add_op({.work = 1, .kinds = device_kind::tpu});
  const workload refused = std::move(b).build();
  const auto decided = test::decide(partition::m_sct<>{}, problem{refused, q});
  REQUIRE_FALSE(decided);
  CHECK(decided.error().cause == infeasibility::kind::no_device_of_kind);
}

TEST_CASE("m_sct: on unequal devices a slow one is not taken because it is idle") {
  const auto w = test::timed_graph({10, 10}, {});
  const platform<uniform_links> q{{{.speed = 0.01}, {.speed = 10}}, {{.bandwidth = 1}}};
  CHECK(test::place(partition::m_sct<>{}, problem{w, q}) == placement{1, 1});
}

} // namespace partition_m_sct_test
