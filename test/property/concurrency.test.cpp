// SPDX-License-Identifier: BSL-1.0
/// Random moldable problems: what holds in a simulated run whatever the strategy, and what some strategies owe.
#include "property/property.hpp"

#include "weft/concurrency/moldable.hpp"
#include "weft/concurrency/scaling_laws.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/manycore.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/under.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/generate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace property_concurrency_test {

using namespace weft;
using namespace weft::test;
using concurrency::launch;

/// A law and a traffic for each op; spread threads are a little slower or faster.
struct per_op {
  const std::vector<concurrency::universal_scalability>* laws = nullptr;
  const std::vector<double>* traffic = nullptr;
  double spread = 1;
  double scale = 1;

  template <class W>
  double seconds(const W&, op_id v, const machine&, team t) const {
    return scale * ((*laws)[v](t) * (t.affinity == affinity::spread && t.threads > 1 ? spread : 1));
  }
  template <class W>
  double memory_traffic(const W&, op_id v, const machine&, team) const {
    return scale * (*traffic)[v];
  }
};

using platform_type = with_machines<platform<uniform_links>>;
using problem_type = problem<workload, platform_type, concurrency::moldable<per_op>>;

/// What the machines may be like.
struct machine_options {
  std::uint32_t max_devices = 3;
  std::uint32_t max_cores = 4; ///< per socket
  std::uint32_t max_sockets = 2;
  bool hyper_threads = true;
  bool limited_bandwidth = true;
  bool resize_costs = true;
  bool sends = false;
};

/// A problem and all that it refers to; costs are `scale` times what the seed says.
struct moldable_instance {
  workload ops;
  platform_type devices;
  std::vector<concurrency::universal_scalability> laws;
  std::vector<double> traffic;
  problem_type task;
  plan decided;

  moldable_instance(std::uint32_t levels, std::uint32_t width, std::uint64_t seed, const machine_options& o,
                    double scale = 1)
      : moldable_instance{levels, width, rng{seed}, seed, o, scale} {}
  moldable_instance(const moldable_instance&) = delete;
  moldable_instance& operator=(const moldable_instance&) = delete;

  const machine& machine_of(op_id v) const { return devices.machine(decided.placement[v]); }
  double seconds(op_id v, team t) const { return task.cost().seconds(ops, v, machine_of(v), t); }
  /// The smallest of f(team, seconds) over all teams of op v's device.
  template <class F>
  double least(op_id v, F f) const {
    double smallest = std::numeric_limits<double>::infinity();
    for (std::uint32_t p = 1; p <= machine_of(v).cores(); ++p) {
      for (const auto a : {affinity::packed, affinity::spread}) {
        smallest = std::min(smallest, f(team{p, a}, seconds(v, {p, a})));
      }
    }
    return smallest;
  }

private:
  moldable_instance(std::uint32_t levels, std::uint32_t width, rng random, std::uint64_t seed, const machine_options& o,
                    double scale)
      : ops{generate::layered({.shape = {.levels = levels,
                                         .min_width = 1,
                                         .max_width = width,
                                         .edge_probability = random.uniform(0, 0.5),
                                         .long_range_share = 0.2},
                               .cpu_only_probability = 0,
                               .gpu_only_probability = 0,
                               .colocation_share = 0},
                              seed)},
        devices{make_devices(random, o, scale)}, laws{make_laws(random)}, traffic{make_traffic(random)},
        task{ops, devices, {{}, {&laws, &traffic, random.uniform(0.8, 1.2), scale}}} {
    for ([[maybe_unused]] const op_id v : ids(ops.num_ops())) {
      decided.placement.push_back(random.below(devices.num_devices()));
    }
  }

  static platform_type make_devices(rng& random, const machine_options& o, double scale) {
    std::vector<machine> machines(1 + random.below(o.max_devices));
    for (machine& m : machines) {
      m.sockets = 1 + random.below(o.max_sockets);
      m.cores_per_socket = 1 + random.below(o.max_cores);
      m.cores_per_tile = 1 + random.below(3);
      m.threads_per_core = o.hyper_threads ? 1 + random.below(2) : 1;
      m.smt_gain = m.threads_per_core == 2 ? random.uniform(1, 2) : 1;
      m.socket_bandwidth = o.limited_bandwidth ? random.uniform(10, 200) : 1e9;
      m.resize_seconds = o.resize_costs && random.below(2) == 0 ? scale * random.uniform() : 0;
    }
    const double latency = random.uniform();
    const double bandwidth = random.uniform(1, 100);
    const double send = o.sends ? scale * random.uniform(0.01, 2) : 0;
    return {platform<uniform_links>{std::vector<device>(machines.size()),
                                    uniform_links{{latency * scale, bandwidth / scale}}, send},
            machines};
  }
  std::vector<concurrency::universal_scalability> make_laws(rng& random) const {
    std::vector<concurrency::universal_scalability> made;
    for ([[maybe_unused]] const op_id v : ids(ops.num_ops())) {
      const double one = random.below(10) == 0 ? 0 : random.uniform(0.1, 5);
      made.push_back({one, random.uniform(0, 0.5), random.below(2) == 0 ? 0 : random.uniform(0, 0.2)});
    }
    return made;
  }
  std::vector<double> make_traffic(rng& random) const {
    std::vector<double> made;
    for ([[maybe_unused]] const op_id v : ids(ops.num_ops())) {
      made.push_back(random.below(3) == 0 ? 0 : random.uniform(0, 100));
    }
    return made;
  }
};

/// Everything that an observer sees.
struct witness {
  trace* run;
  std::vector<launch> launches;
  std::vector<int> starts;
  std::vector<int> finishes;
  simulate::recorder record{*run};

  witness(trace& t, std::size_t n) : run{&t}, launches(n), starts(n, 0), finishes(n, 0) {}
  void on_begin(const placed_flow<problem_type>& flow) { record.on_begin(flow); }
  void on_op_start(op_id v, device_id d, double now) {
    ++starts[v];
    record.on_op_start(v, d, now);
  }
  void on_team(op_id v, const launch& l, double now) {
    launches[v] = l;
    record.on_team(v, l, now);
  }
  void on_op_finish(op_id v, device_id d, double now) {
    ++finishes[v];
    record.on_op_finish(v, d, now);
  }
  void on_transfer(std::uint32_t k, const transfer& x, double possible, double start) {
    record.on_transfer(k, x, possible, start);
  }
  void on_arrival(std::uint32_t k, const transfer& x, double now) { record.on_arrival(k, x, now); }
};

struct outcome_of_run {
  trace run;
  std::vector<launch> launches;
};

template <class Strategy>
outcome_of_run run_once(const moldable_instance& i, const Strategy& s) {
  manycore_simulator sim{i.task, s};
  outcome_of_run r;
  witness w{r.run, i.ops.num_ops()};
  const auto end = sim.run(i.decided, w);
  RC_ASSERT(end.complete);
  RC_ASSERT(end.makespan == r.run.makespan);
  RC_ASSERT(end.num_events == i.ops.num_ops() + r.run.transfers.size());
  RC_ASSERT(w.starts == std::vector<int>(i.ops.num_ops(), 1));
  RC_ASSERT(w.finishes == w.starts);
  r.launches = w.launches;
  return r;
}

/// Picks ops, teams and pauses by lot, within what a co-run policy may do.
struct by_lot {
  std::uint64_t seed = 0;
  std::optional<launch> operator()(const concurrency::run_view& view) const {
    rng random{rng::mix(seed + view.ready.front()) + view.ready.size() * 64 + view.running.size()};
    if (!view.running.empty() && random.below(3) == 0) {
      return {};
    }
    const op_id v = view.ready[random.below(view.ready.size())];
    if (view.idle_second > 0 && random.below(2) == 0) {
      return launch{v, {1 + random.below(view.idle_second)}, true};
    }
    if (view.idle_cores == 0) {
      return {};
    }
    return launch{v, {1 + random.below(view.idle_cores), random.below(2) == 0 ? affinity::packed : affinity::spread}};
  }
};

/// Calls use(strategy) with one of several.
template <class Use>
void with_some_strategy(std::uint64_t seed, Use use) {
  using namespace concurrency;
  rng random{seed};
  const std::uint32_t inter = 1 + random.below(4);
  const std::uint32_t intra = 1 + random.below(4);
  switch (random.below(9)) {
  case 0: return use(s1);
  case 1: return use(s1_s2);
  case 2: return use(s1_s2_s3);
  case 3: return use(s1_s2_s3_s4);
  case 4: return use(uniform(inter, intra));
  case 5: return use(symmetric(inter, intra));
  case 6: return use(equally_split);
  default: return use(strategy{best_threads{}, by_lot{seed}});
  }
}

/// The threads of the ops on a device that run at the same moment, at most.
std::int64_t max_threads(const moldable_instance& i, const outcome_of_run& r, device_id d, bool with_second) {
  std::vector<std::pair<double, std::int64_t>> changes;
  for (const op_id v : ids(i.ops.num_ops())) {
    const auto& x = r.run.ops[v];
    if (x.device == d && x.finish > x.start && (with_second || !r.launches[v].second)) {
      changes.emplace_back(x.start, x.threads);
      changes.emplace_back(x.finish, -std::int64_t{x.threads});
    }
  }
  std::sort(changes.begin(), changes.end());
  std::int64_t busy = 0;
  std::int64_t most = 0;
  for (const auto& [time, threads] : changes) {
    busy += threads;
    most = std::max(most, busy);
  }
  return most;
}

void check_rules(const moldable_instance& i, const outcome_of_run& r) {
  double last = 0;
  for (const op_id v : ids(i.ops.num_ops())) {
    const auto& x = r.run.ops[v];
    RC_ASSERT(x.device == i.decided.placement[v]);
    RC_ASSERT(x.threads == r.launches[v].team.threads);
    RC_ASSERT(at_least(x.finish - x.start + 1e-9, i.seconds(v, r.launches[v].team)));
    last = std::max(last, x.finish);
    for (const tensor_id t : i.ops.inputs(v)) {
      const auto& from = r.run.ops[i.ops.producer(t)];
      const double travels = from.device == x.device ? 0 : i.task.transfer_time(t, from.device, x.device);
      RC_ASSERT(x.start >= from.finish + travels);
    }
  }
  for (const auto& x : r.run.transfers) {
    last = std::max(last, x.arrival);
  }
  RC_ASSERT(r.run.makespan == last);
  for (const device_id d : ids(i.devices.num_devices())) {
    const machine& m = i.devices.machine(d);
    RC_ASSERT(max_threads(i, r, d, false) <= std::int64_t{m.cores()});
    RC_ASSERT(max_threads(i, r, d, true) <= std::int64_t{m.cores()} * m.threads_per_core);
  }
}

void check_bounds(const moldable_instance& i, double makespan) {
  std::vector<double> path(i.ops.num_ops(), 0);
  double longest = 0;
  std::vector<double> core_seconds(i.devices.num_devices(), 0);
  for (const op_id v : i.task.topological_order()) {
    for (const tensor_id t : i.ops.inputs(v)) {
      path[v] = std::max(path[v], path[i.ops.producer(t)]);
    }
    path[v] += i.least(v, [](team, double s) { return s; });
    longest = std::max(longest, path[v]);
    core_seconds[i.decided.placement[v]] += i.least(v, [](team t, double s) { return t.threads * s; });
  }
  RC_ASSERT(at_least(makespan, longest));
  for (const device_id d : ids(i.devices.num_devices())) {
    const machine& m = i.devices.machine(d);
    RC_ASSERT(at_least(makespan, core_seconds[d] / (m.cores() * m.smt_gain)));
  }
}

/// Checks `body(levels, width, seed)` for many of them.
template <class Body>
void holds_for_moldable(const std::string& what, Body body) {
  CHECK(rc::check(what, [&] {
    const auto levels = *rc::gen::inRange<std::uint32_t>(1, 12);
    const auto width = *rc::gen::inRange<std::uint32_t>(1, 10);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    body(levels, width, seed);
  }));
}

TEST_CASE("manycore_simulator: rules and bounds under any strategy") {
  holds_for_moldable("each op once, after its inputs, on threads that there are", [](auto levels, auto width,
                                                                                     auto seed) {
    const moldable_instance i{levels, width, seed, {}};
    with_some_strategy(seed, [&](const auto& s) {
      const auto r = run_once(i, s);
      check_rules(i, r);
      check_bounds(i, r.run.makespan);
    });
  });
}

TEST_CASE("manycore_simulator: with sends and on any network, the validator accepts every run") {
  holds_for_moldable("no rule is broken", [](auto levels, auto width, auto seed) {
    const moldable_instance i{levels, width, seed, {.sends = true}};
    const auto& where = i.decided.placement;
    with_some_strategy(seed, [&](const auto& s) {
      const auto check = [&](auto& sim, contention_model contention) {
        trace run;
        const auto end = sim.run(i.decided, simulate::recorder{run});
        RC_ASSERT(end.complete);
        RC_ASSERT(end.makespan == run.makespan);
        RC_ASSERT(end.num_events == i.ops.num_ops() + 2 * run.transfers.size());
        expect_none("cores", validate(i.task, where, run, {.contention = contention, .teams = true}));
        simulate::memory_tracker memory{i.task};
        memory.follow(where, run);
        RC_ASSERT(memory.peaks() == peak_memory_of(i.task, where, run));
      };
      manycore_simulator alone{i.task, s};
      check(alone, contention_model::none);
      for (const auto model : {contention_model::port, contention_model::fair}) {
        const simulate::under how{s, simulate::any_network{model}};
        simulator_for<problem_type, std::remove_const_t<decltype(how)>> sim{i.task, how};
        check(sim, model);
      }
    });
  });
}

TEST_CASE("manycore_simulator: runs can be repeated") {
  holds_for_moldable("the same input gives the same trace", [](auto levels, auto width, auto seed) {
    const moldable_instance i{levels, width, seed, {}};
    const moldable_instance again{levels, width, seed, {}};
    with_some_strategy(seed, [&](const auto& s) {
      const auto first = run_once(i, s);
      const auto second = run_once(again, s);
      RC_ASSERT(first.run == second.run);
      RC_ASSERT(first.launches == second.launches);
    });
  });
}

TEST_CASE("manycore_simulator: later runs keep to the rules, whatever was learned of interference") {
  holds_for_moldable("five runs", [](auto levels, auto width, auto seed) {
    const moldable_instance i{levels, width, seed, {}};
    with_some_strategy(seed, [&](const auto& s) {
      manycore_simulator sim{i.task, s};
      for (int step = 0; step < 5; ++step) {
        outcome_of_run r;
        witness w{r.run, i.ops.num_ops()};
        RC_ASSERT(sim.run(i.decided, w).complete);
        r.launches = w.launches;
        check_rules(i, r);
        check_bounds(i, r.run.makespan);
      }
    });
  });
}

TEST_CASE("manycore_simulator: twice the costs take twice the time") {
  holds_for_moldable("all costs times two", [](auto levels, auto width, auto seed) {
    const moldable_instance i{levels, width, seed, {}};
    const moldable_instance slow{levels, width, seed, {}, 2};
    with_some_strategy(seed, [&](const auto& s) {
      const auto fast_run = run_once(i, s);
      const auto slow_run = run_once(slow, s);
      RC_ASSERT(slow_run.run.makespan == 2 * fast_run.run.makespan); // a power of two: exactly
      RC_ASSERT(slow_run.launches == fast_run.launches);
    });
  });
}

TEST_CASE("manycore_simulator: one at a time, times add up") {
  const machine_options one_device{.max_devices = 1};
  holds_for_moldable("the makespan is the sum of the times", [&](auto levels, auto width, auto seed) {
    const moldable_instance i{levels, width, seed, one_device};
    const auto check = [&](const auto& s) {
      const auto r = run_once(i, s);
      std::vector<op_id> by_start;
      for (const op_id v : ids(i.ops.num_ops())) {
        by_start.push_back(v);
      }
      std::sort(by_start.begin(), by_start.end(), [&](op_id a, op_id b) {
        return std::pair{r.run.ops[a].start, r.run.ops[a].finish} < std::pair{r.run.ops[b].start, r.run.ops[b].finish};
      });
      const concurrency::op_classes classes{i.ops};
      std::vector<std::uint32_t> last(classes.num_types(), 0);
      double sum = 0;
      for (const op_id v : by_start) {
        sum += i.seconds(v, r.launches[v].team);
        if (const auto threads = r.launches[v].team.threads; threads > 1) {
          auto& before = last[classes.type(classes.class_of(v))];
          sum += before != 0 && before != threads ? i.machine_of(v).resize_seconds : 0;
          before = threads;
        }
      }
      RC_ASSERT(std::abs(r.run.makespan - sum) <= 1e-9 * sum);
    };
    check(concurrency::s1);
    check(concurrency::s1_s2);
    check(concurrency::recommended);
  });
}

TEST_CASE("manycore_simulator: on one core all strategies are the same") {
  const machine_options one_core{.max_devices = 1, .max_cores = 1, .max_sockets = 1, .hyper_threads = false};
  holds_for_moldable("one after the other", [&](auto levels, auto width, auto seed) {
    const moldable_instance i{levels, width, seed, one_core};
    double sum = 0;
    for (const op_id v : ids(i.ops.num_ops())) {
      sum += i.seconds(v, {});
    }
    with_some_strategy(seed, [&](const auto& s) {
      RC_ASSERT(std::abs(run_once(i, s).run.makespan - sum) <= 1e-9 * sum);
    });
  });
}

TEST_CASE("manycore_simulator: without interference every op takes as long as alone") {
  const machine_options no_harm{.hyper_threads = false, .limited_bandwidth = false, .resize_costs = false};
  holds_for_moldable("nothing slows anything down", [&](auto levels, auto width, auto seed) {
    const moldable_instance i{levels, width, seed, no_harm};
    with_some_strategy(seed, [&](const auto& s) {
      const auto r = run_once(i, s);
      for (const op_id v : ids(i.ops.num_ops())) {
        const auto& x = r.run.ops[v];
        const double alone = i.seconds(v, r.launches[v].team);
        RC_ASSERT(std::abs(x.finish - x.start - alone) <= 1e-9 * (1 + x.finish));
      }
    });
  });
}

TEST_CASE("manycore_simulator: one at a time with the fastest teams is what the validator knows as a run") {
  const machine_options plain{.resize_costs = false};
  constexpr concurrency::strategy fastest{concurrency::best_threads{.tolerance = 0}, concurrency::one_at_a_time{}};
  holds_for_moldable("accepted by the validator", [&](auto levels, auto width, auto seed) {
    const moldable_instance i{levels, width, seed, plain};
    expect_none("manycore", validate(i.task, i.decided.placement, run_once(i, fastest).run));
  });
}

} // namespace property_concurrency_test
