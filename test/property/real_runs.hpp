// SPDX-License-Identifier: BSL-1.0
/// Random graphs on real threads: each op computes a number from its inputs' numbers, some throw, cancel or take until
/// the deadline.
#pragma once

#include "property/property.hpp"
#include "support/random_plans.hpp"

#include "weft/execute/static_executor.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <stop_token>
#include <thread>
#include <vector>

namespace weft::test::real_runs {

using execute::run_options;
using execute::run_report;
using execute::run_status;
using clock = std::chrono::steady_clock;

inline const sample_options graphs{.max_ops = 40, .max_devices = 4, .sends = false, .limits = false, .any_cost = false};

/// What an op throws: itself.
struct op_failure {
  op_id op;
};

/// The producers of the tensors that v reads.
inline std::vector<op_id> inputs_of(const workload& w, op_id v) {
  std::vector<op_id> from;
  for (const tensor_id t : w.inputs(v)) {
    from.push_back(w.producer(t));
  }
  return from;
}

inline std::uint64_t value_of(op_id v, const workload& w, const std::vector<std::uint64_t>& values) {
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
inline void check_run(const run_data& r, const run_report& report, bool recorded) {
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

} // namespace weft::test::real_runs
