// SPDX-License-Identifier: BSL-1.0
#include "weft/planner/best.hpp"
#include "weft/planner/devices.hpp"
#include "weft/planner/share.hpp"
#include "weft/planner/steps_of.hpp"

#include "planner/random_model.hpp"
#include "support/rounds.hpp"
#include "weft/cost/linear.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace planner_share_test {

using namespace weft;
using planner::reason;
using planner::way_kind;
using which = planner::wanted_ways::which;

/// A random question.
struct question {
  explicit question(std::uint64_t seed)
      : batch{4u << (seed % 3)}, machine{test::random_machine(seed)},
        net{planner::steps_of([seed](std::uint64_t b) { return test::random_layers(seed, b); },
                              {.train = seed % 5 == 0 ? std::nullopt : std::optional{optimizer::adam}})},
        whole{net(batch, {})} {
    how.contention = seed % 2 == 0 ? contention_model::none : contention_model::port;
  }
  planner::comparison ask(const planner::wanted_ways& ways) const {
    auto with = how;
    with.ways = ways;
    return planner::share(net, whole, machine, costs, with);
  }

  std::uint64_t batch;
  platform<> machine;
  planner::step_source net;
  planner::model_step whole;
  planner::step_costs costs{planner::any_cost{cost::linear{}}};
  planner::options how = {};
};

/// All ways to share a step that few devices have.
std::vector<planner::way> all_ways(std::uint32_t devices, std::uint64_t batch) {
  std::vector<planner::way> all;
  for (std::uint32_t n = 2; n <= devices; ++n) {
    for (const bool sharded : {false, true}) {
      all.push_back({.replicas = n, .shards_updates = sharded});
    }
    all.push_back({.replicas = n, .shards_updates = true, .shards_parameters = true});
    all.push_back({.kind = way_kind::ops, .ranks = n});
  }
  if (devices == 4) {
    for (const bool updates : {false, true}) {
      all.push_back({.kind = way_kind::ops, .replicas = 2, .ranks = 2, .shards_updates = updates});
    }
    all.push_back(
      {.kind = way_kind::ops, .replicas = 2, .ranks = 2, .shards_updates = true, .shards_parameters = true});
  }
  for (std::uint32_t replicas = 1; replicas <= devices; ++replicas) {
    for (std::uint32_t stages = 1; replicas * stages <= devices; ++stages) {
      for (std::uint64_t m = 2; m * replicas <= batch; m *= 2) {
        all.push_back({.kind = way_kind::stages, .replicas = replicas, .stages = stages, .micro_batches = m});
      }
    }
  }
  return all;
}

void check_made(const question& q, const planner::made_way& x) {
  CAPTURE(to_string(x.how()));
  CHECK(x.run.makespan == x.figures.seconds);
  CHECK(x.run.makespan >= x.bound.value * (1 - 1e-9));
  for (const auto& bad : validate(*x.problem, x.plan, memory_rule::over_time)) {
    FAIL_CHECK(to_string(bad));
  }
  for (const device_id d : x.devices) {
    CHECK(d < q.machine.num_devices());
  }
  CHECK(x.features.devices == x.how().num_devices());
}

TEST_CASE("share: every way that is kept is a plan that keeps all rules, above the bound, and is made again alone") {
  for (int seed = 0; seed < test::rounds(60); ++seed) {
    CAPTURE(seed);
    const question q{static_cast<std::uint64_t>(seed)};
    const auto all = q.ask({});
    for (const auto& x : all.kept) {
      check_made(q, *x);
      const auto again = q.ask(planner::only(x->how()));
      const bool is_there = std::any_of(again.kept.begin(), again.kept.end(), [&](const auto& y) {
        return y->how() == x->how() && y->run.makespan <= x->run.makespan;
      });
      CHECK(is_there);
    }
    for (const auto& w : all.ways) {
      CHECK((w.is_made() || w.why_not));
    }
    CHECK(std::is_sorted(all.ways.begin(), all.ways.end(), [](const auto& a, const auto& b) {
      return !a.why_not && !b.why_not && a.seconds < b.seconds;
    }));
  }
}

/// The time of everything on one device, as if it had the memory.
double seconds_on_one(const question& q) {
  const auto d = planner::alike_devices(q.machine).front();
  double seconds = 0;
  for (const op_id v : ids(q.whole.ops.num_ops())) {
    seconds += cost::linear{}.compute_time(q.whole.ops, v, q.machine, d);
  }
  return seconds;
}

TEST_CASE("share: no way that can be asked for is much faster than the fastest of all") {
  int asked = 0, worse = 0;
  for (int seed = 0; seed < test::rounds(40); ++seed) {
    const question q{static_cast<std::uint64_t>(seed)};
    const double least = std::min(q.ask({}).least_seconds(), seconds_on_one(q));
    const auto alike = planner::alike_devices(q.machine).size();
    for (const auto& w : all_ways(static_cast<std::uint32_t>(alike), q.batch)) {
      CAPTURE(seed);
      CAPTURE(to_string(w));
      const auto one = q.ask(planner::only(w));
      CHECK((!one.kept.empty() || !one.why_not.empty() || one.ways.front().why_not));
      for (const auto& x : one.kept) {
        check_made(q, *x);
        const bool has_stages = w.kind == way_kind::stages;
        // Where replicas of several devices fit with all updates each, others are not tried.
        CHECK((has_stages || (w.kind == way_kind::ops && w.shards_updates) || least <= x->run.makespan * (1 + 1e-9)));
        asked += has_stages;
        worse += has_stages && least > x->run.makespan * 1.1; // of pipelines only those that seem fastest are made
      }
    }
  }
  CHECK(worse * 50 <= asked);
}

/// The kinds of the reasons for which nothing is shared, or not that way.
std::vector<reason::kind> why_not(const question& q, const planner::wanted_ways& ways) {
  const auto all = q.ask(ways);
  CHECK(all.kept.empty());
  std::vector<reason::kind> kinds;
  for (const auto& r : all.why_not) {
    kinds.push_back(r.is);
  }
  for (const auto& w : all.ways) {
    kinds.push_back(w.why_not.is);
  }
  return kinds;
}

/// A question about devices of these speeds, with a batch of 16.
question about(std::vector<double> speeds, byte_count memory = byte_count{1} << 40) {
  question q{2};
  q.batch = 16;
  q.whole = q.net(16, {});
  std::vector<device> devices;
  for (const double speed : speeds) {
    devices.push_back({.kind = device_kind::gpu, .speed = speed, .memory_capacity = memory});
  }
  const link_matrix links{devices.size(), {.latency = 1e-6, .bandwidth = 1e9}};
  q.machine = platform<>{std::move(devices), links};
  return q;
}

TEST_CASE("share: the reasons for which there is no way") {
  using enum reason::kind;
  using kinds = std::vector<reason::kind>;
  const auto four = about({1e9, 1e9, 1e9, 1e9});
  CHECK(why_not(four, {.of = which::data, .replicas = 3}) == kinds{batch_not_for_devices});
  CHECK(why_not(four, {.of = which::data, .replicas = 9}) == kinds{few_alike_devices});
  CHECK_THROWS_AS(four.ask({.of = which::data, .replicas = 1}), value_error);
  CHECK_THROWS_AS(four.ask({.of = which::tensor, .ranks = 1}), value_error);
  CHECK_THROWS_AS(planner::only({}), value_error);
  CHECK(four.ask({.of = which::data, .ranks = 2}).kept.size() == 1); // replicas of two devices
  CHECK(why_not(four, {.of = which::data, .replicas = 4, .splits_experts = true}) == kinds{no_experts});
  CHECK(why_not(four, {.of = which::data, .replicas = 2, .by_speed = true}) == kinds{no_unlike_devices});
  CHECK(why_not(four, {.of = which::data, .replicas = 2, .ranks = 4}) == kinds{few_alike_devices});
  CHECK(why_not(four, {.of = which::data, .replicas = 3, .ranks = 1}) == kinds{batch_not_for_devices});
  CHECK(why_not(four, {.of = which::tensor, .ranks = 5}) == kinds{few_alike_devices});
  CHECK(why_not(four, {.of = which::pipeline, .stages = 5}) == kinds{few_alike_devices});
  CHECK(why_not(four, {.of = which::pipeline, .stages = 1000}) == kinds{too_few_ops});
  CHECK(why_not(four, {.of = which::pipeline, .stages = 2, .micro_batches = 3}) == kinds{not_in_micro_batches});
  CHECK(why_not(four, {.of = which::pipeline, .replicas = 2, .stages = 2, .micro_batches = std::uint64_t{1} << 63}) ==
        kinds{not_in_micro_batches});
  CHECK(why_not(four, {.of = which::pipeline, .replicas = 3, .stages = 1}) == kinds{no_micro_batches});
  CHECK(four.ask({.of = which::pipeline}).kept.size() == 1); // accumulates

  const auto unlike = about({3e9, 1e9});
  CHECK(why_not(unlike, {.of = which::data, .by_speed = true, .examples = {3, 14}}) == kinds{examples_of_other_sum});
  CHECK(why_not(unlike, {.of = which::data, .by_speed = true, .examples = {16, 0}}) == kinds{few_by_speed});
  CHECK(why_not(unlike, {.of = which::data, .by_speed = true, .examples = {4, 4, 8}}) == kinds{few_accelerators});
  CHECK(unlike.ask({.of = which::data, .by_speed = true, .examples = {12, 4}}).kept.size() == 1);
  CHECK(why_not(about({1e9, 1e3}), {.of = which::data}) == kinds{few_by_speed});
  CHECK(why_not(unlike, {.of = which::tensor, .ranks = 2}) == kinds{no_alike_devices});

  auto one = about({1e9});
  CHECK(why_not(one, {.of = which::data}) == kinds{no_alike_devices});
  CHECK(why_not(one, {.of = which::tensor}) == kinds{no_alike_devices});
  CHECK(!one.ask({}).best); // it fits there without micro-batches
  one.whole.batch = 0;
  CHECK(why_not(one, {.of = which::pipeline, .stages = 1}) == kinds{batch_unknown});
  one.whole.batch = 1;
  CHECK(why_not(one, {.of = which::pipeline, .stages = 1}) == kinds{batch_of_one});
  one.whole.batch = 16;
  one.whole.times_of_whole = true;
  CHECK(why_not(one, {.of = which::pipeline, .stages = 1}) == kinds{times_of_whole_batch});

  auto fixed = four;
  fixed.net = [whole = four.whole](std::uint64_t, auto) { return whole; };
  CHECK(why_not(fixed, {.of = which::data, .replicas = 4}) == kinds{fixed_batch});
  auto without_graph = four;
  without_graph.whole.graph = nullptr;
  CHECK(why_not(without_graph, {.of = which::tensor, .ranks = 2}) == kinds{axes_unknown});
  auto broken = four;
  broken.net = [](std::uint64_t, auto) -> planner::model_step { throw value_error("net", "is broken"); };
  CHECK(why_not(broken, {.of = which::data, .replicas = 4}) == kinds{reason::kind::error});
  auto parts_without_graph = four;
  parts_without_graph.net = [net = four.net](std::uint64_t batch, auto again) {
    auto made = net(batch, again);
    made.graph = nullptr;
    return made;
  };
  CHECK(why_not(parts_without_graph, {.of = which::data, .replicas = 2, .ranks = 2}) == kinds{axes_unknown});
  CHECK(why_not(parts_without_graph, {.of = which::pipeline, .ranks = 2, .stages = 2}) == kinds{axes_unknown});
  CHECK(why_not(about({1e9, 1e9}, 10), {.of = which::data, .replicas = 2}) == kinds{too_large});
}

TEST_CASE("share: parts by speed are none larger than memory holds, and tell so") {
  auto q = about({3e9, 1e9, 1e9});
  const auto free = q.ask({.of = which::data, .by_speed = true});
  REQUIRE(!free.kept.empty());
  const auto& parts = free.kept.front()->how().examples;
  CHECK(parts.front() > parts.back());
  CHECK(std::accumulate(parts.begin(), parts.end(), std::uint64_t{0}) == 16);
  auto devices = std::vector<device>(q.machine.devices().begin(), q.machine.devices().end());
  devices.front().memory_capacity = free.kept.front()->figures.peak_memory * 8 / 10;
  q.machine = platform<>{devices, link_matrix{3, {.latency = 1e-6, .bandwidth = 1e9}}};
  const auto tight = q.ask({.of = which::data, .by_speed = true});
  REQUIRE(!tight.kept.empty());
  CHECK(tight.kept.front()->figures.limits.limits.size() == 3);
  for (const auto& x : tight.kept) {
    check_made(q, *x);
  }
}

TEST_CASE("best: no worse than the best way and than each op on one device, whatever the number of threads") {
  for (int seed = 0; seed < test::rounds(20); ++seed) {
    CAPTURE(seed);
    const question q{static_cast<std::uint64_t>(seed)};
    auto how = q.how;
    how.least_gain = 0;
    const planner::search_budget budget{.moves = 200};
    const auto one = planner::best(q.net, q.whole, q.machine, q.costs, how, budget);
    how.jobs = 3;
    const auto three = planner::best(q.net, q.whole, q.machine, q.costs, how, budget);
    REQUIRE(static_cast<bool>(one) == static_cast<bool>(three));
    if (!one) {
      continue;
    }
    CHECK(one.taken()->run.makespan == three.taken()->run.makespan);
    CHECK(one.taken()->how() == three.taken()->how());
    CHECK(one.taken()->run.makespan <= one.ways.least_seconds());
    if (one.placed) {
      CHECK(one.taken()->run.makespan <= one.placed->run.makespan);
      for (const auto& bad : validate(*one.placed->problem, one.placed->plan, memory_rule::over_time)) {
        FAIL_CHECK(to_string(bad));
      }
    }
  }
}

TEST_CASE("share: what runs again is tried until all ways fit") {
  auto q = about({1e9, 1e9}, 60'000);
  q.how.recomputations = {std::nullopt, recomputation::blocks};
  const auto all = q.ask({.of = which::data, .replicas = 2, .shards_updates = false});
  const auto free = about({1e9, 1e9}).ask({.of = which::data, .replicas = 2, .shards_updates = false});
  REQUIRE(free.kept.size() == 1);
  CHECK(!free.kept.front()->how().recomputes);
  CHECK(free.all_fit);
  auto none_to_run_again = q;
  none_to_run_again.how.recomputations = {recomputation::attention, std::nullopt}; // the model has no attentions
  const auto without = none_to_run_again.ask({.of = which::data, .replicas = 2, .shards_updates = false});
  CHECK(!without.ways.empty());
  CHECK(std::any_of(all.ways.begin(), all.ways.end(), [](const auto& w) { return w.how.recomputes.has_value(); }) ==
        std::any_of(all.ways.begin(), all.ways.end(), [](const auto& w) { return w.why_not && !w.how.recomputes; }));
}

} // namespace planner_share_test
