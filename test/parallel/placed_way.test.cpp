// SPDX-License-Identifier: BSL-1.0
#include "weft/parallel/placed_way.hpp"

#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace placed_way_test {

using namespace weft;

const platform<> machine{{{.kind = device_kind::gpu}, {.kind = device_kind::cpu}, {.kind = device_kind::gpu}},
                         link_matrix{3}};

/// A chain of ops, each of which takes so many seconds; the first runs on hosts only.
workload chain(std::size_t count, double seconds) {
  workload_builder b;
  for (std::size_t i = 0; i < count; ++i) {
    b.add_op({.work = seconds, .bytes = 1, .kinds = i == 0 ? kind_set{device_kind::cpu} : kind_set::all()});
    if (i > 0) {
      b.add_edge(static_cast<op_id>(i - 1), static_cast<op_id>(i));
    }
  }
  return std::move(b).build();
}

trace run_of(const problem<workload, platform<>>& p, const placement& where) {
  trace run;
  plan x{where, {}};
  for (const op_id v : ids(p.num_ops())) {
    x.order.push_back(step::run(v));
  }
  simulator{p, schedule::static_order{}}.run(x, simulate::recorder{run});
  return run;
}

TEST_CASE("placed_way: ops that have to be elsewhere are no choice of the plan's") {
  const auto w = chain(4, 1);
  const problem p{w, machine};
  const placement where{1, 0, 0, 0};
  const auto run = run_of(p, where);
  const auto way = parallel::placed_way(p, where, run);
  CHECK(way.how == parallel::configuration{});
  CHECK(run.transfers.size() == 1);
  CHECK(parallel::count_hand_overs(p, run) == 0); // what the host has to feed
  CHECK(way.seconds == run.makespan);
}

TEST_CASE("placed_way: devices that share the work, of one kind or of two") {
  const auto w = chain(5, 1);
  const problem p{w, machine};
  const placement two_alike{1, 0, 0, 2, 2}, two_kinds{1, 0, 0, 0, 1};
  CHECK(parallel::placed_way(p, two_alike, run_of(p, two_alike)).how ==
        parallel::configuration{.devices = 2, .places_ops = true});
  CHECK(parallel::count_hand_overs(p, run_of(p, two_alike)) == 0); // not between accelerators
  CHECK(parallel::count_hand_overs(p, run_of(p, two_kinds)) == 1);
  const placement there_and_back{1, 0, 1, 0, 0};
  const auto run = run_of(p, there_and_back);
  CHECK(parallel::count_hand_overs(p, run) == 2);
  CHECK(parallel::placed_way(p, there_and_back, run).seconds ==
        doctest::Approx(run.makespan + 2 * parallel::hand_over_seconds).epsilon(1e-12));
  CHECK(parallel::placed_way(p, two_kinds, run_of(p, two_kinds)).how ==
        parallel::configuration{.devices = 2, .places_ops = true, .on_unlike_devices = true});
}

TEST_CASE("placed_way: hundreds of hand-overs are not worth 15 % of a step that each of them delays") {
  const std::size_t rounds = 401;
  const auto w = chain(2 * rounds, 1e-4);
  const problem p{w, machine};
  const auto mixed_of = [&](std::size_t hand_overs, double seconds) {
    placement where(p.num_ops(), 0);
    trace run{.ops = std::vector<op_record>(p.num_ops()), .makespan = seconds};
    for (std::size_t i = 0; i < hand_overs; i += 2) { // op i + 2 is on the host
      where[i + 2] = 1;
      run.transfers.push_back({.tensor = static_cast<tensor_id>(i + 1), .from = 0, .to = 1});
      run.transfers.push_back({.tensor = static_cast<tensor_id>(i + 2), .from = 1, .to = 0});
    }
    for (const op_id v : ids(p.num_ops())) {
      run.ops[v].device = where[v];
    }
    return parallel::placed_way(p, where, run);
  };
  const parallel::timed_way alone{.seconds = 0.1};
  const auto takes = [&](const parallel::timed_way& mixed, double least_gain) {
    return parallel::simplest_within(std::vector{mixed, alone}, least_gain).number == 0;
  };
  CHECK(takes(mixed_of(10, 0.085), 0.05));
  CHECK(!takes(mixed_of(800, 0.085), 0.05));
  CHECK(!takes(mixed_of(10, 0.095), 0.05)); // two kinds of devices for 5 %
}

} // namespace placed_way_test
