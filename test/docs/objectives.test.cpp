// SPDX-License-Identifier: BSL-1.0
// The code of docs/concepts/objective_for.md and docs/energy.md, each piece between two lines with its name.
#include "weft/objective/energy.hpp"
#include "weft/objective/lexicographic.hpp"
#include "weft/objective/within_deadline.hpp"
#include "weft/platform/presets.hpp"
#include "weft/refine/simulated_annealing.hpp"
#include "weft/partition/heft.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/pareto.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

namespace docs_objectives_test {

// [objective]
/// What a step costs where machines are rented: so much a second while it runs, and so much a byte between nodes.
struct rent {
  double per_second = 0.01;  // dollars, all machines together
  double per_byte = 0.02e-9;
  std::size_t devices_per_node = 4;

  static constexpr std::string_view unit = "$";

  template <class Problem>
  double score(const Problem& p, const weft::trace& run) const {
    double dollars = price(p).of(run.makespan);
    for (const weft::transfer_record& x : run.transfers) {
      dollars += transfer_charge(p, x.tensor, x.from, x.to);
    }
    return dollars;
  }

  // So that plans can be proven good: no plan has a smaller value.
  template <class Problem>
  double bound(const Problem& p, const weft::lower_bound& makespan) const {
    return price(p).of(makespan.value);
  }

  // So that searches follow it change by change: the same, in parts.
  template <class Problem>
  weft::objective_parts::price_of_time price(const Problem&) const {
    return {.per_second = per_second};
  }
  template <class Problem>
  double op_charge(const Problem&, weft::op_id, weft::device_id) const {
    return 0;
  }
  template <class Problem>
  double transfer_charge(const Problem& p, weft::tensor_id t, weft::device_id from, weft::device_id to) const {
    const bool stays = from / devices_per_node == to / devices_per_node;
    return stays ? 0 : per_byte * static_cast<double>(p.workload().bytes(t));
  }
};
// [objective]

/// Branches of several ops that meet in the end.
weft::workload branches(std::size_t count, std::size_t length) {
  weft::workload_builder b;
  const auto last = b.add_op({.work = 1e9});
  for (std::size_t i = 0; i < count; ++i) {
    auto before = b.add_op({.work = 1e9, .bytes = 4'000'000});
    for (std::size_t k = 1; k < length; ++k) {
      const auto next = b.add_op({.work = 1e9 * static_cast<double>(1 + (i * k) % 5), .bytes = 4'000'000});
      b.add_edge(before, next);
      before = next;
    }
    b.add_edge(before, last);
  }
  return std::move(b).build();
}

/// Two nodes of four GPUs.
weft::platform<> eight_gpus() {
  return {std::vector<weft::device>(8, {.kind = weft::device_kind::gpu, .speed = 1e12}),
          weft::link_matrix{8, weft::hierarchical_links{{{1e-6, 1e11}, {1e-5, 1e10}}, {4}, 8}}};
}

/// A fast GPU, and an NPU that does more for a joule.
weft::platform<> laptop() {
  const weft::link pcie{.latency = 1e-5, .bandwidth = 1.5e10, .joules_per_byte = 8e-11};
  return {{{.kind = weft::device_kind::cpu, .speed = 1e12, .idle_watts = 2, .active_watts = 35},
           {.kind = weft::device_kind::gpu, .speed = 1.2e13, .idle_watts = 4, .active_watts = 90},
           {.kind = weft::device_kind::npu, .speed = 5e12, .idle_watts = 0.2, .active_watts = 8}},
          weft::link_matrix{3, pcie}};
}

TEST_CASE("docs: an objective of your own") {
  const auto w = branches(12, 6);
  const auto q = eight_gpus();
  const weft::problem p{w, q};
  static_assert(weft::objective_for<rent, decltype(p), weft::schedule::static_order>);
  static_assert(weft::objective_parts::is_sum<rent, decltype(p)>);
  const auto dollars_of = [&](const weft::plan& x) {
    return weft::evaluator{p, weft::evaluation{weft::schedule::static_order{}, rent{}}}.judge(x).value;
  };
  // [best_by_objective]
  const weft::evaluation cheap{weft::schedule::static_order{}, rent{.per_byte = 0.02e-9}};
  const auto r = weft::solve::best(p, cheap, {.moves = 4'000}); // r.score.value in dollars
  // [best_by_objective]
  CHECK(r.score.value == dollars_of(r.plan));
  CHECK(r.score.value < dollars_of(weft::solve::best(p, {.moves = 4'000}).plan));
  CHECK(r.score.value >= r.bound.value);
  // [refined_by_objective]
  const auto solve =
    weft::pipeline(weft::partition::heft{}, weft::refine::simulated_annealing{.budget = {.moves = 1'000}}, cheap);
  // [refined_by_objective]
  const auto heft = weft::pipeline(weft::partition::heft{}, weft::schedule::static_order{});
  CHECK(solve(p).score.value < dollars_of(heft(p).plan));
}

TEST_CASE("docs: energy") {
  const auto workload = branches(5, 8);
  const auto machine = laptop();
  const weft::problem problem{workload, machine};
  const auto run_of = [&](const weft::plan& x) {
    return weft::evaluator{problem, weft::schedule::static_order{}}.recorded(x).record;
  };
  const auto fastest = weft::solve::best(problem, {.moves = 3'000});
  // [energy]
  const weft::evaluation joules{weft::schedule::static_order{}, weft::objective::energy{}};
  const auto r = weft::solve::best(problem, joules, {.moves = 3'000}); // r.score.value in J, r.bound.value, too
  const auto used = weft::energy_of(problem, run_of(r.plan));          // by device and by what for
  // [energy]
  CHECK(used.total() == doctest::Approx(r.score.value));
  CHECK(r.score.value <= weft::energy_of(problem, run_of(fastest.plan)).total());
  CHECK(r.score.value >= r.bound.value);

  const double seconds = (fastest.makespan + r.makespan) / 2;
  // [deadline]
  const weft::objective::within_deadline in_time{weft::objective::energy{}, seconds};
  const auto s =
    weft::solve::best(problem, weft::evaluation{weft::schedule::static_order{}, in_time}, {.moves = 3'000});
  // [deadline]
  CHECK(s.makespan <= seconds);
  CHECK(s.score.admitted());

  // [pareto]
  const auto front = weft::solve::pareto(problem, {.moves = 12'000});
  for (const auto& [plan, makespan, value] : front.points) { // ascending seconds, descending joules
    std::printf("%.3f ms %.3f J\n", makespan * 1e3, value);
  }
  // [pareto]
  CHECK(front.points.size() > 1);

  // [own_power]
  const weft::objective::energy alike{weft::uniform_power{.idle = 50, .active = 300, .moved_byte = 1e-10}};
  // [own_power]
  CHECK(alike.price(problem).per_second == 150);
}

// [power_model]
/// Cooling takes as much again as the devices of the second rack draw.
struct with_cooling {
  weft::device_id second_rack;

  template <class P>
  double idle_watts(const P& p, weft::device_id d) const { return factor(d) * p.idle_watts(d); }
  template <class P>
  double active_watts(const P& p, weft::device_id d) const { return factor(d) * p.active_watts(d); }
  template <class P>
  double joules_per_byte(const P& p, weft::device_id from, weft::device_id to) const {
    return p.joules_per_byte(from, to);
  }

private:
  double factor(weft::device_id d) const { return d < second_rack ? 1 : 2; }
};
// [power_model]

TEST_CASE("docs: a power model of your own") {
  static_assert(weft::power_model_for<with_cooling, weft::platform<>>);
  const auto workload = weft::workload_builder{}.build();
  const auto machine = weft::presets::make("workstation_2gpu");
  const weft::problem problem{workload, machine};
  const double watts = weft::objective::energy{with_cooling{2}}.price(problem).per_second;
  CHECK(watts == doctest::Approx(weft::objective::energy{}.price(problem).per_second + machine.idle_watts(2)));
}

} // namespace docs_objectives_test
