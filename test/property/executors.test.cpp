// SPDX-License-Identifier: BSL-1.0
/// Random graphs on real threads: each op computes a number from its inputs' numbers, some throw, cancel or take until
/// the deadline.
#include "property/property.hpp"
#include "support/random_plans.hpp"

#include "weft/execute/concurrent_executor.hpp"
#include "weft/execute/static_executor.hpp"

#include "weft/concurrency/scaling_laws.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace property_executors_test {

using namespace weft;
using namespace weft::test;
using concurrency::launch;
using execute::run_options;
using execute::run_report;
using execute::run_status;
using clock = std::chrono::steady_clock;

const sample_options graphs{.max_ops = 40, .max_devices = 4, .sends = false, .limits = false, .any_cost = false};

/// What an op throws: itself.
struct op_failure {
  op_id op;
};

/// The producers of the tensors that v reads.
std::vector<op_id> inputs_of(const workload& w, op_id v) {
  std::vector<op_id> from;
  for (const tensor_id t : w.inputs(v)) {
    from.push_back(w.producer(t));
  }
  return from;
}

std::uint64_t value_of(op_id v, const workload& w, const std::vector<std::uint64_t>& values) {
  std::uint64_t x = rng::mix(v + 1);
  for (const tensor_id t : w.inputs(v)) {
    x = rng::mix(x * 31 + values[w.producer(t)]);
  }
  return x;
}

/// How a run is to end.
struct ending {
  std::vector<bool> throws;
  std::vector<bool> cancels;
  std::vector<bool> late; ///< takes until after the deadline
  bool from_outside = false;
  std::uint32_t patience = 0; ///< of the one outside
  double seconds = std::numeric_limits<double>::infinity();

  explicit ending(std::size_t n) : throws(n, false), cancels(n, false), late(n, false) {}
  ending(std::size_t n, rng& random) : ending(n) {
    const auto draw = [&](std::vector<bool>& ops) {
      if (random.below(2) == 0) {
        for (std::size_t v = 0; v < n; ++v) {
          ops[v] = random.below(n) == 0;
        }
      }
    };
    draw(throws);
    draw(cancels);
    if (random.below(3) == 0) {
      seconds = 5e-5;
      draw(late);
    }
    from_outside = random.below(4) == 0;
    patience = random.below(20'000);
  }
};

/// One run: what the ops did.
struct run_data {
  const workload& w;
  const ending& end;
  std::vector<std::uint64_t> value;
  std::vector<std::uint8_t> starts;
  std::vector<std::uint8_t> is_done;
  std::vector<std::uint32_t> threads;
  std::stop_source stop = {};

  run_data(const workload& ops, const ending& e)
      : w{ops}, end{e}, value(ops.num_ops(), 0), starts(ops.num_ops(), 0), is_done(ops.num_ops(), 0),
        threads(ops.num_ops(), 0) {}

  void operator()(op_id v, team t) {
    ++starts[v];
    threads[v] = t.threads;
    const auto begin = clock::now();
    value[v] = value_of(v, w, value);
    if (end.cancels[v]) {
      stop.request_stop();
    }
    while (end.late[v] && clock::now() - begin < std::chrono::duration<double>(end.seconds)) {
    }
    if (end.throws[v]) {
      throw op_failure{v};
    }
    is_done[v] = 1;
  }

  template <class Executor>
  run_report go(Executor& run, bool record) {
    std::thread outside;
    if (end.from_outside) {
      outside = std::thread{[this] {
        for (std::atomic<std::uint32_t> i = 0; i < end.patience; ++i) {
        }
        stop.request_stop();
      }};
    }
    const auto report = run(*this, run_options{stop.get_token(), end.seconds, record});
    if (outside.joinable()) {
      outside.join();
    }
    return report;
  }

  bool can_end_early() const {
    const auto any = [](const std::vector<bool>& ops) { return std::find(ops.begin(), ops.end(), true) != ops.end(); };
    return any(end.throws) || any(end.cancels) || end.from_outside || end.seconds < 1e9;
  }
};

/// Values, order and number of calls, and whether the report tells them right.
void check_run(const run_data& r, const run_report& report, bool recorded) {
  const auto& w = r.w;
  std::size_t count = 0;
  std::vector<std::uint64_t> expected(w.num_ops(), 0);
  rng any_order{1};
  for (const op_id v : random_topological_order(w, any_order)) {
    expected[v] = value_of(v, w, expected);
    RC_ASSERT(r.starts[v] <= 1);
    count += r.is_done[v];
    if (r.starts[v] == 0) {
      continue;
    }
    RC_ASSERT(r.value[v] == expected[v]);
    for (const op_id u : inputs_of(w, v)) {
      RC_ASSERT(r.is_done[u] == 1);
      RC_ASSERT(!r.end.cancels[u] && !r.end.late[u]); // nothing starts after those
    }
  }
  RC_ASSERT(report.num_finished == count);
  RC_ASSERT((report.status == run_status::finished) == (count == w.num_ops()));
  RC_ASSERT(report.status == run_status::finished || r.can_end_early());
  RC_ASSERT(report.status != run_status::failed || report.failed != none);
  RC_ASSERT(report.status != run_status::finished || report.failed == none);
  RC_ASSERT(report.status != run_status::cancelled || r.stop.stop_requested());
  RC_ASSERT(report.status != run_status::timed_out || r.end.seconds < 1e9);
  if (report.failed != none) { // maybe after a cancel or a deadline
    RC_ASSERT(report.failed < w.num_ops());
    RC_ASSERT(r.end.throws[report.failed] && r.starts[report.failed] == 1);
    try {
      report.rethrow();
      RC_FAIL("there is no exception");
    } catch (const op_failure& thrown) {
      RC_ASSERT(thrown.op == report.failed);
    }
  } else {
    RC_ASSERT(report.exception == nullptr);
  }
  if (!recorded) {
    RC_ASSERT(report.trace.ops.empty());
    return;
  }
  RC_ASSERT(report.trace.ops.size() == w.num_ops());
  double last = 0;
  for (const op_id v : ids(w.num_ops())) {
    const auto& x = report.trace.ops[v];
    RC_ASSERT((x.device != none) == (r.starts[v] == 1));
    if (x.device == none) {
      continue;
    }
    RC_ASSERT(x.threads == r.threads[v]);
    RC_ASSERT(x.start >= 0 && x.finish >= x.start);
    for (const op_id u : inputs_of(w, v)) {
      RC_ASSERT(x.start >= report.trace.ops[u].finish);
    }
    last = std::max(last, x.finish);
  }
  RC_ASSERT(report.trace.makespan == last);
  RC_ASSERT(report.seconds >= last);
}

/// Every op on its device, one at a time, in the plan's order.
void check_workers(const plan& p, const run_report& report) {
  std::array<double, 4> free{};
  std::vector<op_id> by_start;
  for (const op_id v : ids(p.placement.size())) {
    const auto& x = report.trace.ops[v];
    if (x.device != none) {
      RC_ASSERT(x.device == p.placement[v]);
      by_start.push_back(v);
    }
  }
  std::vector<std::size_t> position(p.placement.size(), 0); // without an order, all are 0
  for (std::size_t i = 0; i < p.order.size(); ++i) {
    if (!p.order[i].is_send()) {
      position[p.order[i].op] = i;
    }
  }
  std::sort(by_start.begin(), by_start.end(), [&](op_id a, op_id b) {
    const auto& x = report.trace.ops[a];
    const auto& y = report.trace.ops[b];
    return std::tuple{x.start, x.finish, position[a]} < std::tuple{y.start, y.finish, position[b]};
  });
  std::array<std::size_t, 4> last{};
  for (const op_id v : by_start) {
    const auto& x = report.trace.ops[v];
    RC_ASSERT(x.start >= free[x.device]);
    RC_ASSERT(position[v] >= last[x.device]);
    free[x.device] = x.finish;
    last[x.device] = position[v];
  }
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
    const auto threads = [&](std::uint32_t most) { return 1 + random.below(std::min(most, view.times->max_threads())); };
    if (view.idle_second > 0 && random.below(2) == 0) {
      return launch{v, {threads(view.idle_second)}, true};
    }
    if (view.idle_cores == 0) {
      return {};
    }
    return launch{v, {threads(view.idle_cores), random.below(2) == 0 ? affinity::packed : affinity::spread}};
  }
};

machine random_machine(rng& random) {
  machine m;
  m.cores_per_tile = 1 + random.below(2);
  m.cores_per_socket = 1 + random.below(4);
  m.threads_per_core = 1 + random.below(2);
  m.smt_gain = m.threads_per_core == 2 ? random.uniform(1, 2) : 1;
  return m;
}

/// Times between 0 (an op that is not dispatched) and 1.
concurrency::time_table random_times(const workload& w, const machine& m, rng& random) {
  const concurrency::op_classes classes{w};
  std::vector<concurrency::universal_scalability> laws;
  for (std::size_t c = 0; c < classes.num_classes(); ++c) {
    laws.push_back({random.below(4) == 0 ? 0 : random.uniform(), random.uniform(), random.uniform(0, 0.1)});
  }
  return {classes, 1 + random.below(m.cores()), [&](auto c, team t) { return laws[c](t); }};
}

/// Calls use(strategy) with one of several.
template <class Use>
void with_some_strategy(const machine& m, rng& random, Use use) {
  using namespace concurrency;
  switch (random.below(7)) {
  case 0: return use(s1);
  case 1: return use(s1_s2_s3);
  case 2: return use(s1_s2_s3_s4);
  case 3: return use(uniform(1 + random.below(m.cores()), 1 + random.below(m.cores())));
  case 4: return use(equally_split);
  default: return use(strategy{best_threads{}, by_lot{random()}});
  }
}

/// Counts the ops on each core.
struct core_watch {
  std::vector<std::atomic<int>>* ops;
  std::atomic<int>* most;
  std::atomic<int>* wrong_sizes;
  template <class Call>
  void operator()(const execute::seat& s, Call&& call) {
    *wrong_sizes += s.cores.size() != s.team.threads;
    struct leave {
      const execute::seat& s;
      std::vector<std::atomic<int>>& ops;
      ~leave() {
        for (const auto core : s.cores) {
          ops[core].fetch_sub(1);
        }
      }
    } at_end{s, *ops};
    for (const auto core : s.cores) {
      const int now = ops->at(core).fetch_add(1) + 1;
      for (int before = most->load(); before < now && !most->compare_exchange_weak(before, now);) {
      }
    }
    call();
  }
};

/// The threads of ops that ran at the same moment never exceed the machine's.
void check_teams(const machine& m, const run_report& report) {
  std::vector<std::pair<double, std::int64_t>> changes;
  for (const auto& x : report.trace.ops) {
    if (x.device != none && x.finish > x.start) {
      changes.emplace_back(x.start, x.threads);
      changes.emplace_back(x.finish, -std::int64_t{x.threads});
    }
  }
  std::sort(changes.begin(), changes.end());
  std::int64_t busy = 0;
  for (const auto& [time, threads] : changes) {
    busy += threads;
    RC_ASSERT(busy <= std::int64_t{m.cores()} * m.threads_per_core);
  }
}

/// Several threads call one executor at the same time, more than once, each with data of its own.
template <class Executor>
void call_from_many(Executor& run, const workload& w) {
  const ending never(w.num_ops());
  std::vector<run_data> data;
  for (int i = 0; i < 6; ++i) {
    data.emplace_back(w, never);
  }
  std::vector<run_report> reports(data.size());
  std::vector<std::thread> callers;
  for (std::size_t i = 0; i < 3; ++i) {
    callers.emplace_back([&, i] {
      reports[2 * i] = data[2 * i].go(run, true);
      reports[2 * i + 1] = data[2 * i + 1].go(run, false);
    });
  }
  for (auto& t : callers) {
    t.join();
  }
  for (std::size_t i = 0; i < data.size(); ++i) {
    check_run(data[i], reports[i], i % 2 == 0);
  }
}

/// Ops run the same executor again, or one of their own.
template <class Executor>
void nest(Executor& run, const workload& w, rng& random) {
  const std::size_t n = w.num_ops();
  std::vector<std::uint32_t> what(n, 0);
  for (auto& x : what) {
    x = random.below(8);
  }
  const ending never(n);
  const ending some(n, random);
  std::vector<run_data> inner;
  for (const op_id v : ids(n)) {
    inner.emplace_back(w, v % 2 == 0 ? never : some);
  }
  std::vector<run_report> reports(n);
  run_data outer{w, never};
  const auto report = run(
    [&](op_id v, team t) {
      outer(v, t);
      if (what[v] == 0) {
        reports[v] = inner[v].go(run, true);
      } else if (what[v] == 1) {
        const placement two = [&] {
          placement p(n, 0);
          p[n / 2] = 1;
          return p;
        }();
        static_executor own{w, {two}};
        reports[v] = inner[v].go(own, true);
      }
    },
    {.record = true});
  check_run(outer, report, true);
  for (const op_id v : ids(n)) {
    if (what[v] < 2) {
      check_run(inner[v], reports[v], true);
    }
  }
}

TEST_CASE("static_executor runs any plan") {
  holds_for_all("each op once, after its inputs, in the plan's order", graphs, [](const sample& s) {
    rng random{s.seed};
    const workload w = make_workload(s);
    const plan p = random_plan(w, random);
    static_executor run{w, p};
    const ending never(w.num_ops());
    for (int i = 0; i < 4; ++i) {
      run_data r{w, never};
      const bool record = i % 2 == 0;
      const auto report = r.go(run, record);
      check_run(r, report, record);
      if (record) {
        check_workers(p, report);
      }
    }
  });
}

TEST_CASE("static_executor ends early as it was told") {
  holds_for_all("exceptions, cancels, deadlines", graphs, [](const sample& s) {
    rng random{s.seed};
    const workload w = make_workload(s);
    const plan p = random_plan(w, random);
    static_executor run{w, p};
    for (int i = 0; i < 3; ++i) {
      const ending end(w.num_ops(), random);
      run_data r{w, end};
      const bool record = random.below(2) == 0;
      const auto report = r.go(run, record);
      check_run(r, report, record);
      if (record) {
        check_workers(p, report);
      }
    }
    const ending never(w.num_ops()); // nothing of that is left
    run_data r{w, never};
    check_run(r, r.go(run, false), false);
  });
}

TEST_CASE("static_executor refuses an order if and only if some op would wait for itself") {
  holds_for_all("contradictions", graphs, [](const sample& s) {
    rng random{s.seed};
    const workload w = make_workload(s);
    const auto n = static_cast<op_id>(w.num_ops());
    plan p = random_plan(w, random);
    auto ops = random_topological_order(w, random);
    for (auto swaps = random.below(4); swaps > 0 && n > 0; --swaps) {
      std::swap(ops[random.below(n)], ops[random.below(n)]);
    }
    p.order.clear();
    for (const op_id v : ops) {
      p.order.push_back(step::run(v));
    }
    std::vector<std::vector<bool>> waits(n, std::vector<bool>(n, false)); // for whom, over any number of steps
    std::array<op_id, 4> before{none, none, none, none};
    for (const op_id v : ops) {
      for (const op_id u : inputs_of(w, v)) {
        waits[v][u] = true;
      }
      if (auto& last = before[p.placement[v]]; last != none) {
        waits[v][last] = true;
      }
      before[p.placement[v]] = v;
    }
    for (op_id k = 0; k < n; ++k) {
      for (op_id i = 0; i < n; ++i) {
        for (op_id j = 0; waits[i][k] && j < n; ++j) {
          waits[i][j] = waits[i][j] || waits[k][j];
        }
      }
    }
    bool contradicts = false;
    for (op_id v = 0; v < n; ++v) {
      contradicts = contradicts || waits[v][v];
    }
    RC_CLASSIFY(contradicts, "contradicts");
    try {
      static_executor run{w, p};
      RC_ASSERT(!contradicts);
      const ending never(n);
      run_data r{w, never};
      check_run(r, r.go(run, false), false);
    } catch (const constraint_error& e) {
      RC_ASSERT(contradicts);
      RC_ASSERT(e.ops.size() == 1u);
      RC_ASSERT(waits[e.ops[0]][e.ops[0]]);
    }
  });
}

TEST_CASE("static_executor: called from several threads at once, and by its own ops") {
  holds_for_all("no run is in another's way", graphs, [](const sample& s) {
    rng random{s.seed};
    const workload w = make_workload(s);
    static_executor run{w, random_plan(w, random)};
    call_from_many(run, w);
    nest(run, w, random);
  });
}

TEST_CASE("concurrent_executor runs any graph under any strategy") {
  holds_for_all("each op once, after its inputs, on cores of its own", graphs, [](const sample& s) {
    rng random{s.seed};
    const workload w = make_workload(s);
    const machine m = random_machine(random);
    with_some_strategy(m, random, [&](const auto& strategy) {
      std::vector<std::atomic<int>> ops(m.cores());
      std::atomic<int> most{0};
      std::atomic<int> wrong_sizes{0};
      concurrent_executor run{w, random_times(w, m, random), m, strategy, core_watch{&ops, &most, &wrong_sizes}};
      const ending never(w.num_ops());
      for (int i = 0; i < 4; ++i) {
        run_data r{w, never};
        const bool record = i % 2 == 0;
        const auto report = r.go(run, record);
        check_run(r, report, record);
        check_teams(m, report);
        RC_ASSERT(run.control().cores().idle() == m.cores()); // all given back
      }
      RC_ASSERT(most.load() <= static_cast<int>(std::min(m.threads_per_core, 2u)));
      RC_ASSERT(wrong_sizes.load() == 0);
    });
  });
}

TEST_CASE("concurrent_executor ends early as it was told") {
  holds_for_all("exceptions, cancels, deadlines", graphs, [](const sample& s) {
    rng random{s.seed};
    const workload w = make_workload(s);
    const machine m = random_machine(random);
    with_some_strategy(m, random, [&](const auto& strategy) {
      concurrent_executor run{w, random_times(w, m, random), m, strategy};
      for (int i = 0; i < 3; ++i) {
        const ending end(w.num_ops(), random);
        run_data r{w, end};
        const bool record = random.below(2) == 0;
        check_run(r, r.go(run, record), record);
      }
      const ending never(w.num_ops());
      run_data r{w, never};
      check_run(r, r.go(run, false), false);
    });
  });
}

TEST_CASE("concurrent_executor: called from several threads at once, and by its own ops") {
  holds_for_all("no run is in another's way", graphs, [](const sample& s) {
    rng random{s.seed};
    const workload w = make_workload(s);
    const machine m = random_machine(random);
    with_some_strategy(m, random, [&](const auto& strategy) {
      concurrent_executor run{w, random_times(w, m, random), m, strategy};
      call_from_many(run, w);
      nest(run, w, random);
    });
  });
}

} // namespace property_executors_test
