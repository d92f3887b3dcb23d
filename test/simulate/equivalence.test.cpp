// SPDX-License-Identifier: BSL-1.0
/// The simulator against the list simulator, on thousands of random problems, for every policy.
#include "simulate/list_simulator.hpp"
#include "simulate/random_problem.hpp"

#include "weft/schedule/fifo.hpp"
#include "weft/schedule/largest_remaining_work.hpp"
#include "weft/schedule/maximum_successor_rank.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace simulate_equivalence_test {

using namespace weft;
using weft::test::drawn;
using weft::test::drawn_problem;
using naive = weft::test::list_simulator<drawn_problem>;

/// Runs both on many placements and compares everything that they tell. `pick(problem, placement, order)` makes the
/// picker of the list simulator.
template <class Contention = simulate::no_contention, class Policy, class MakePick, class MakeOrder>
void compare(const Policy& policy, std::uint64_t seed, int rounds, MakePick make_pick, MakeOrder make_order,
             const weft::test::draw_options& draw = {}) {
  constexpr bool port = std::is_same_v<Contention, simulate::port_contention>;
  const validate_options options{.contention = port ? contention_model::port : contention_model::none};
  rng random{seed};
  std::size_t waited = 0;
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    const drawn s{random, draw};
    simulator<drawn_problem, Policy, Contention> sim{s.p, policy};
    trace run;
    for (int again = 0; again < 3; ++again) { // the same simulator serves one placement after another
      const auto where = weft::test::random_placement(random, s.p);
      const plan decided{where, make_order(s.p, where, random)};
      naive expected{s.p, where, make_pick(s.p, decided), port};
      const bool complete = expected.run();
      const simulation got = sim.run(decided, simulate::recorder{run});
      REQUIRE(got.complete == complete);
      CHECK(got.makespan == (complete ? expected.result.makespan : std::numeric_limits<double>::infinity()));
      CHECK(got.num_events == expected.num_events);
      CHECK(run.makespan == expected.result.makespan);
      CHECK(run.ops == expected.result.ops);
      CHECK(run.transfers == expected.result.transfers);
      byte_count moved = 0;
      for (const auto& m : expected.moves) {
        moved += s.w.bytes(m.tensor);
      }
      CHECK(got.transfer_bytes == moved);
      if (complete) {
        const auto wrong = validate(s.p, where, run, options);
        CHECK_MESSAGE(wrong.empty(), (wrong.empty() ? "" : to_string(wrong.front())));
      }
      for (const auto& x : run.transfers) {
        waited += x.start > x.send_finish;
      }
    }
  }
  CHECK((waited > 0) == port); // the comparison has seen what it is about
}

const auto no_order = [](const auto&, const auto&, rng&) { return order{}; };

TEST_CASE("simulator: as the list simulator, fifo") {
  const auto pick = [](const auto&, const plan&) { return weft::test::pick_first<drawn_problem>(); };
  compare(schedule::fifo{}, 1, 700, pick, no_order);
  compare<simulate::port_contention>(schedule::fifo{}, 2, 500, pick, no_order);
  compare<simulate::port_contention>(schedule::fifo{}, 22, 700, pick, no_order, {.max_ops = 30, .max_devices = 8});
}

TEST_CASE("simulator: as the list simulator, path_completion_time") {
  const auto pick = [](const drawn_problem& p, const plan& decided) {
    return weft::test::pick_largest<drawn_problem>([keys = weft::test::completion_times{p, decided.placement}](
                                                     const naive&, const step& what) { return keys(what); });
  };
  compare(schedule::path_completion_time{}, 3, 500, pick, no_order);
  compare<simulate::port_contention>(schedule::path_completion_time{}, 4, 300, pick, no_order);
}

TEST_CASE("simulator: as the list simulator, largest_remaining_work") {
  const auto pick = [](const drawn_problem& p, const plan& decided) {
    return weft::test::pick_largest<drawn_problem>(
      [keys = weft::test::remaining_work{p, decided.placement}](const naive&, const step& what) { return keys(what); });
  };
  compare(schedule::largest_remaining_work{}, 5, 500, pick, no_order);
}

TEST_CASE("simulator: as the list simulator, maximum_successor_rank") {
  const auto pick = [](const drawn_problem& p, const plan& decided) {
    return weft::test::pick_largest<drawn_problem>(
      [keys = weft::test::completion_times{p, decided.placement}](const naive& s, const step& what) {
        return std::pair{weft::test::successor_count(s, what), keys(what)};
      });
  };
  compare(schedule::maximum_successor_rank{}, 6, 1500, pick, no_order);
  compare(schedule::maximum_successor_rank{}, 66, 300, pick, no_order, {.max_ops = 40, .max_devices = 3, .slots = 1});
}

TEST_CASE("simulator: as the list simulator, a key of one's own") {
  const auto newest = [](const placed_flow<drawn_problem>& f, item_id i) {
    return f.is_send(i) ? 1000.0 + f.transfers()[f.transfer_of(i)].to : static_cast<double>(i);
  };
  const auto pick = [](const auto&, const plan&) {
    return weft::test::pick_largest<drawn_problem>(
      [](const naive&, const step& what) { return what.is_send() ? 1000.0 + what.to : static_cast<double>(what.op); });
  };
  compare(newest, 7, 500, pick, no_order);
}

/// A random order of the ops that mostly respects the graph, with some of the sends anywhere.
order random_order(const drawn_problem& p, const placement& where, rng& random) {
  order steps;
  if (random.below(10) == 0) {
    return steps;
  }
  std::vector<std::uint32_t> missing(p.num_ops(), 0);
  std::vector<op_id> ready;
  for (const op_id v : ids(p.num_ops())) {
    missing[v] = static_cast<std::uint32_t>(p.workload().inputs(v).size());
    if (missing[v] == 0) {
      ready.push_back(v);
    }
  }
  while (!ready.empty()) {
    std::swap(ready[random.below(ready.size())], ready.back());
    const op_id v = ready.back();
    ready.pop_back();
    steps.push_back(step::run(v));
    for (const tensor_id t : p.workload().outputs(v)) {
      for (const op_id c : p.workload().consumers(t)) {
        if (--missing[c] == 0) {
          ready.push_back(c);
        }
      }
    }
  }
  if (random.below(5) == 0) {
    const auto i = random.below(steps.size());
    std::swap(steps[i], steps[random.below(steps.size())]);
  }
  for (const tensor_id t : ids(p.num_tensors())) {
    const op_id u = p.workload().producer(t);
    for (const op_id c : p.workload().consumers(t)) {
      const step send = step::send(u, t, where[c]);
      if (where[c] != where[u] && random.below(2) == 0 && std::find(steps.begin(), steps.end(), send) == steps.end()) {
        auto at = std::find(steps.begin(), steps.end(), step::run(u)) - steps.begin();
        at += 1 + random.below(steps.size() - static_cast<std::size_t>(at));
        steps.insert(steps.begin() + at, send);
      }
    }
  }
  return steps;
}

/// What each device does in turn, by the documentation of `static_order`.
std::vector<std::vector<step>> sequences(const drawn_problem& p, const plan& decided) {
  const auto& where = decided.placement;
  std::vector<std::vector<step>> result(p.num_devices());
  std::vector<step> sends; // those that take time, by tensor and first consumer
  for (const tensor_id t : ids(p.num_tensors())) {
    const op_id u = p.workload().producer(t);
    for (const op_id c : p.workload().consumers(t)) {
      const step s = step::send(u, t, where[c]);
      if (where[c] != where[u] && p.send_time(t, where[u], where[c]) > 0 &&
          std::find(sends.begin(), sends.end(), s) == sends.end()) {
        sends.push_back(s);
      }
    }
  }
  if (decided.order.empty()) {
    std::vector<step> all;
    for (const op_id v : p.topological_order()) {
      all.push_back(step::run(v));
      for (const step& s : sends) {
        if (s.op == v) {
          all.push_back(s);
        }
      }
    }
    const weft::test::completion_times keys{p, where};
    std::stable_sort(all.begin(), all.end(), [&](const step& a, const step& b) { return keys(a) > keys(b); });
    for (const step& s : all) {
      result[where[s.op]].push_back(s);
    }
    return result;
  }
  for (const step& s : decided.order) {
    const auto is_send = std::find(sends.begin(), sends.end(), s) != sends.end();
    if (!s.is_send() || is_send) {
      result[where[s.op]].push_back(s);
    }
    for (const step& x : sends) {
      if (!s.is_send() && x.op == s.op &&
          std::find(decided.order.begin(), decided.order.end(), x) == decided.order.end()) {
        result[where[s.op]].push_back(x);
      }
    }
  }
  return result;
}

TEST_CASE("simulator: as the list simulator, static_order") {
  const auto pick = [](const drawn_problem& p, const plan& decided) {
    return weft::test::pick_next_of<drawn_problem>(sequences(p, decided));
  };
  compare(schedule::static_order{}, 8, 700, pick, random_order);
  compare<simulate::port_contention>(schedule::static_order{}, 9, 300, pick, random_order);
}

} // namespace simulate_equivalence_test
