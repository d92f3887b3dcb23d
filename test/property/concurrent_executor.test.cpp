// SPDX-License-Identifier: BSL-1.0
#include "property/real_runs.hpp"

#include "weft/concurrency/scaling_laws.hpp"
#include "weft/execute/concurrent_executor.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace property_concurrent_executor_test {

using namespace weft;
using namespace weft::test;
using namespace weft::test::real_runs;
using concurrency::launch;

/// Picks ops, teams and pauses by lot, within what a co-run policy may do.
struct by_lot {
  std::uint64_t seed = 0;
  std::optional<launch> operator()(const concurrency::run_view& view) const {
    rng random{rng::mix(seed + view.ready.front()) + view.ready.size() * 64 + view.running.size()};
    if (!view.running.empty() && random.below(3) == 0) {
      return {};
    }
    const op_id v = view.ready[random.below(view.ready.size())];
    const auto threads = [&](std::uint32_t most) {
      return 1 + random.below(std::min(most, view.times->max_threads()));
    };
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

TEST_SUITE("threads") {

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

} // TEST_SUITE

} // namespace property_concurrent_executor_test
