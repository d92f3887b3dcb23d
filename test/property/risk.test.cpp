// SPDX-License-Identifier: BSL-1.0
#include "weft/objective/risk.hpp"

#include "bound/small.hpp"
#include "weft/evaluate/evaluation.hpp"
#include "weft/schedule/static_order.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace property_risk_test {

using namespace weft;

/// The makespan of ops in this order on their devices when times are those of the problem times factors, without any
/// part of the simulator: every op, and every send right after its producer, as early as its inputs, its device's slots
/// and those before it there allow.
template <class Problem>
double makespan_of(const Problem& p, const placement& where, const std::vector<op_id>& order,
                   const std::vector<double>& of_op, const std::vector<double>& of_tensor) {
  const auto& w = p.workload();
  struct queue {
    std::vector<double> slots;
    double last_start = 0;
    double take(double ready, double seconds) {
      auto& slot = *std::min_element(slots.begin(), slots.end());
      last_start = std::max({slot, ready, last_start});
      return slot = last_start + seconds;
    }
  };
  std::vector<queue> queues;
  for (const device_id d : ids(p.num_devices())) {
    queues.push_back({std::vector<double>(p.platform().slots(d), 0.0)});
  }
  std::map<std::pair<tensor_id, device_id>, double> there;
  double end = 0;
  for (const op_id v : order) {
    double ready = 0;
    for (const tensor_id t : w.inputs(v)) {
      ready = std::max(ready, there.at({t, where[v]}));
    }
    const double finish = queues[where[v]].take(ready, of_op[v] * p.compute_time(v, where[v]));
    end = std::max(end, finish);
    for (const tensor_id t : w.outputs(v)) {
      there[{t, where[v]}] = finish;
      for (const op_id c : w.consumers(t)) {
        const device_id to = where[c];
        if (!there.contains({t, to})) {
          const double send = of_tensor[t] * p.send_time(t, where[v], to);
          const double sent = send > 0 ? queues[where[v]].take(finish, send) : finish;
          there[{t, to}] = sent + of_tensor[t] * p.transfer_time(t, where[v], to);
          end = std::max(end, there.at({t, to}));
        }
      }
    }
  }
  return end;
}

/// Calls `use(placement, order)` for all placements that are allowed, and all orders that the graph allows.
template <class Problem, class Use>
void for_each_plan(const Problem& p, Use use) {
  std::vector<std::vector<op_id>> orders;
  std::vector<op_id> order(p.num_ops());
  std::iota(order.begin(), order.end(), op_id{0});
  do {
    std::vector<std::size_t> at(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      at[order[i]] = i;
    }
    bool allowed = true;
    for (const op_id v : order) {
      for (const tensor_id t : p.workload().inputs(v)) {
        allowed = allowed && at[p.workload().producer(t)] < at[v];
      }
    }
    if (allowed) {
      orders.push_back(order);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  placement where(p.num_ops(), 0);
  for (;;) {
    bool allowed = true;
    for (const op_id v : ids(p.num_ops())) {
      const auto c = p.component(v);
      allowed = allowed && p.allows(c, where[v]) && where[v] == where[p.members(c).front()];
    }
    for (std::size_t i = 0; allowed && i < orders.size(); ++i) {
      use(where, orders[i]);
    }
    std::size_t v = 0;
    while (v < where.size() && ++where[v] == p.num_devices()) {
      where[v++] = 0;
    }
    if (v == where.size()) {
      return;
    }
  }
}

order steps_of(const std::vector<op_id>& ops) {
  order steps;
  for (const op_id v : ops) {
    steps.push_back(step::run(v));
  }
  return steps;
}

#ifdef WEFT_SANITIZED
constexpr int rounds = 500;
#else
constexpr int rounds = 10'000;
#endif

TEST_CASE("risk: scores and bounds of random problems, beside longest paths for every plan and sample") {
  const std::vector<objective::risk_measure> measures{objective::mean, objective::quantile(0.7), objective::quantile(1),
                                                      objective::conditional_value_at_risk(0.7),
                                                      objective::conditional_value_at_risk(0.4)};
  rng random{13};
  std::size_t judged = 0, tight = 0, several_slots = 0, no_plan = 0;
  for (int round = 0; round < rounds; ++round) {
    auto small = weft_test::random_problem(random);
    while (small.num_ops() == 5 && round % 8 != 0) { // most of the time would go to them
      small = weft_test::random_problem(random);
    }
    objective::risk how{.measure = measures[random.below(measures.size())],
                        .times = round % 3 == 0 ? cost::uncertainty{cost::empirical{{0.5, 1, 3}}}
                                                : cost::uncertainty{cost::lognormal{0.5}},
                        .samples = 1 + random.below(20),
                        .seed = random()};
    if (round % 2 == 0) {
      how.times.set_transfers(cost::uniform{0.9});
    }
    small.with([&](const auto& p) {
      const cost::draws drawn{p.workload(), how.times, {how.samples, how.seed}};
      std::vector<std::vector<double>> of_op(how.samples), of_tensor(how.samples);
      for (std::uint32_t s = 0; s < how.samples; ++s) {
        for (const op_id v : ids(p.num_ops())) {
          of_op[s].push_back(drawn.of_op(v)[s]);
        }
        for (const tensor_id t : ids(p.num_tensors())) {
          of_tensor[s].push_back(drawn.of_tensor(t)[s]);
        }
      }
      const evaluation judged_by{schedule::static_order{}, how};
      evaluator e{p, judged_by};
      double best = std::numeric_limits<double>::infinity();
      std::size_t number = 0;
      std::vector<double> makespans(how.samples);
      for_each_plan(p, [&](const placement& where, const std::vector<op_id>& order) {
        for (std::uint32_t s = 0; s < how.samples; ++s) {
          makespans[s] = makespan_of(p, where, order, of_op[s], of_tensor[s]);
        }
        auto values = makespans;
        const double expected = how.measure.of(values);
        if (number++ % 13 == 0 || expected < best) {
          const auto s = e.judge({where, steps_of(order)});
          REQUIRE(s.value == expected);
          REQUIRE(s.violation == 0);
          REQUIRE(s.tie == makespan_of(p, where, order, std::vector<double>(p.num_ops(), 1),
                                       std::vector<double>(p.num_tensors(), 1)));
          ++judged;
        }
        best = std::min(best, expected);
      });
      const double bound = e.bound(e.makespan_bound()).value;
      if (best == std::numeric_limits<double>::infinity()) {
        ++no_plan;
      } else {
        REQUIRE(bound <= best * (1 + 1e-12));
        tight += bound > 0.9 * best;
      }
      several_slots += p.platform().slots(0) > 1;
    });
  }
  CHECK(judged > 5 * rounds);
  CHECK(tight > 3 * rounds / 10);
  CHECK(several_slots > rounds / 10);
  CHECK(no_plan < rounds / 5);
}

} // namespace property_risk_test
