// SPDX-License-Identifier: BSL-1.0
#include "property/real_runs.hpp"

#include "weft/execute/static_executor.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <vector>

namespace property_static_executor_test {

using namespace weft;
using namespace weft::test;
using namespace weft::test::real_runs;

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

TEST_SUITE("threads") {

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

} // TEST_SUITE

} // namespace property_static_executor_test
