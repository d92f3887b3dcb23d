// SPDX-License-Identifier: BSL-1.0
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
#include <optional>
#include <string>
#include <vector>

namespace planner_share_test {

using namespace weft;
using planner::way_kind;

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
    all.push_back({.kind = way_kind::ops, .ranks = n});
  }
  if (devices == 4) {
    all.push_back({.kind = way_kind::ops, .replicas = 2, .ranks = 2});
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
  for (const auto& bad : validate(*x.problem, x.found, memory_rule::over_time)) {
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
        CHECK((has_stages || least <= x->run.makespan * (1 + 1e-9)));
        asked += has_stages;
        worse += has_stages && least > x->run.makespan * 1.1; // of pipelines only those that seem fastest are made
      }
    }
  }
  CHECK(worse * 50 <= asked);
}

} // namespace planner_share_test
