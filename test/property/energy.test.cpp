// SPDX-License-Identifier: BSL-1.0
// Energy, its bound and its trade-off with time against trying every placement and every order.
#include "property/brute_force.hpp"
#include "property/property.hpp"
#include "support/rounds.hpp"

#include "weft/bound/best.hpp"
#include "weft/core/random.hpp"
#include "weft/evaluate/evaluation.hpp"
#include "weft/objective/energy.hpp"
#include "weft/objective/within_deadline.hpp"
#include "weft/refine/exact/trade_off.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/static_order.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace weft::test {
namespace property_energy_test {

using problem_type = sampled_problem::problem_type;

constexpr int problems = rounds(10'000);

/// Up to 5 ops and 3 devices that draw power, some none while idle or none on top, over links that take energy.
sample random_sample(int round) {
  const auto seed = static_cast<std::uint64_t>(round);
  sample s = draw_sample({.max_ops = 5, .max_devices = 3, .max_slots = 2}, seed, 50);
  rng random{seed};
  const bool idles = random.below(4) != 0;
  for (device& d : s.devices) {
    d.idle_watts = idles ? 0.5 * random.below(6) : 0;
    d.active_watts = d.idle_watts + random.below(10);
  }
  for (link& l : s.links) {
    l.joules_per_byte = 1e-9 * random.below(3);
  }
  return s;
}

/// Joules by the definition, from what a run did: watts of each device in each stretch of time between two events, by
/// how many of its slots are busy, and of each transfer its bytes.
double joules_over_time(const problem_type& p, const sample& s, const trace& run) {
  struct stretch {
    device_id device;
    double from, to;
  };
  std::vector<stretch> busy;
  std::set<double> moments{0, run.makespan};
  for (const op_record& r : run.ops) {
    busy.push_back({r.device, r.start, r.finish});
  }
  double joules = 0;
  for (const transfer_record& x : run.transfers) {
    busy.push_back({x.from, x.send_start, x.send_finish});
    joules += static_cast<double>(p.workload().bytes(x.tensor)) * p.platform().links()(x.from, x.to).joules_per_byte;
  }
  for (const stretch& b : busy) {
    moments.insert({b.from, b.to});
  }
  for (auto next = std::next(moments.begin()); next != moments.end(); ++next) {
    const double from = *std::prev(next);
    for (const device_id d : ids(s.devices.size())) {
      const device& what = s.devices[d];
      const auto slots = std::ranges::count_if(
        busy, [&](const stretch& b) { return b.device == d && b.from <= from && b.to >= *next; });
      joules += (*next - from) * (what.idle_watts + (what.active_watts - what.idle_watts) *
                                                      static_cast<double>(slots) / what.slots);
    }
  }
  return joules;
}

/// What a placement takes whatever its order, beside idle devices.
double charges_of(const problem_type& p, const sample& s, const placement& where) {
  const auto busy = [&](device_id d, double seconds) {
    return seconds * (s.devices[d].active_watts - s.devices[d].idle_watts) / s.devices[d].slots;
  };
  double joules = 0;
  std::set<std::pair<tensor_id, device_id>> moved;
  for (const op_id v : ids(p.num_ops())) {
    joules += busy(where[v], p.compute_time(v, where[v]));
    for (const tensor_id t : p.workload().inputs(v)) {
      const device_id from = where[p.workload().producer(t)];
      if (from != where[v] && moved.emplace(t, where[v]).second) {
        joules += busy(from, p.send_time(t, from, where[v])) +
                  static_cast<double>(p.workload().bytes(t)) * p.platform().links()(from, where[v]).joules_per_byte;
      }
    }
  }
  return joules;
}

bool same(double a, double b) { return about(a, b) || std::abs(a - b) <= 1e-9 * std::abs(b); }

/// Whether some point of `line` is as good as `x` in both, up to rounding.
bool reached(const std::vector<std::pair<double, double>>& line, const std::pair<double, double>& x) {
  return std::ranges::any_of(line, [&](const auto& y) {
    return (y.first <= x.first || same(y.first, x.first)) && (y.second <= x.second || same(y.second, x.second));
  });
}

TEST_CASE("energy: scores, bounds and trade-offs are those of trying everything, on 10,000 problems") {
  int with_plans = 0;
  int tight = 0;
  int larger_fronts = 0;
  std::size_t max_points = 0;
  for (int round = 0; round < problems; ++round) {
    CAPTURE(round);
    const sample s = random_sample(round);
    const sampled_problem made{s};
    const problem_type& p = made.task;
    const objective::energy joules;
    double idle_watts = 0;
    for (const device& d : s.devices) {
      idle_watts += d.idle_watts;
    }
    const auto makespan_bound = bound::best(p);
    const double bound = joules.bound(p, makespan_bound);

    evaluator judge{p, evaluation{schedule::fifo{}, joules}};
    std::map<double, double> least; // joules by makespan, of the best order of each placement
    double least_joules = HUGE_VAL;
    brute_force<problem_type> all{p};
    all.each_placement([&](const placement& where, double makespan) {
      if (!(makespan < HUGE_VAL)) {
        return;
      }
      const double value = idle_watts * makespan + charges_of(p, s, where);
      least_joules = std::min(least_joules, value);
      auto& at = least.try_emplace(makespan, value).first->second;
      at = std::min(at, value);

      const auto run = judge.recorded({.placement = where});
      REQUIRE(run.run.complete);
      CHECK(run.score.value >= bound * (1 - 1e-9));
      CHECK(run.score.value >= value - 1e-9 * value); // no order takes less than the fastest
      CHECK(same(run.score.value, joules_over_time(p, s, run.record)));
      CHECK(same(run.score.value, energy_of(p, run.record).total()));
    });
    CHECK(bound <= least_joules * (1 + 1e-9));
    CHECK(std::isfinite(bound) >= std::isfinite(least_joules));
    with_plans += std::isfinite(least_joules);
    tight += std::isfinite(least_joules) && same(bound, least_joules);

    const std::vector<std::pair<double, double>> expected(least.begin(), least.end());
    std::vector<std::pair<double, double>> found;
    pareto_front front{.makespan_bound = makespan_bound, .value_bound = bound};
    REQUIRE(refine::exact::trade_off{p, joules, 100'000'000, front}.run());
    simulator<problem_type, schedule::static_order> sim{p};
    for (const pareto_point& x : front.points) {
      CHECK((found.empty() || (x.makespan > found.back().first && x.value < found.back().second)));
      found.emplace_back(x.makespan, x.value);
      CHECK(reached(expected, found.back()));                // it exists
      CHECK(same(sim.run(x.plan).makespan, x.makespan));     // its plan says what it promises
    }
    for (const auto& x : expected) {
      CHECK(reached(found, x)); // nothing is missing
    }
    larger_fronts += found.size() > 1;
    max_points = std::max(max_points, found.size());
  }
  CHECK(with_plans > problems * 3 / 4);
  CHECK(tight > problems / 10);
  CHECK(larger_fronts > problems / 10);
  CHECK(max_points > 3);
}

} // namespace property_energy_test
} // namespace weft::test
