// SPDX-License-Identifier: BSL-1.0
/// Runs a plan: every worker runs its ops in the plan's order, and waits only where an input comes from another worker.
#pragma once

#include "weft/concurrency/op_graph.hpp"
#include "weft/core/error.hpp"
#include "weft/execute/detail/crew.hpp"
#include "weft/execute/run_report.hpp"
#include "weft/plan/plan.hpp"
#include "weft/workload/concepts.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// Executes a plan on one thread per device ("worker"), with the least overhead that we know how to get: no locks, no
/// allocation and no atomic read-modify-write per op. Each worker publishes how far it is in its own sequence, by one
/// store, and only after ops that other workers wait for; an op with inputs from other workers waits until these are
/// far enough. Waits that an earlier wait of the same worker implies are left out when the executor is made.
///
/// An op of worker w runs after all ops of w before it in the plan's order. The sends of a plan are skipped: workers
/// share memory. Runs of one executor from several threads, or from inside one of its own kernels, do not wait for each
/// other: the one that finds the workers taken runs all ops by itself on its thread, so nothing can deadlock.
/// ```
/// weft::static_executor run{workload, result.plan};
/// auto report = run([&](weft::op_id v) { kernels[v](); });
/// ```
/// Memory: 12 bytes per op, at most 8 per edge. The workload is not needed after construction.
class static_executor {
public:
  /// Sequences come from the plan's order, or from a topological order where it has none. Device d is worker d.
  /// Throws `value_error` if the plan does not fit the workload, `constraint_error` if its order contradicts the graph.
  /// Complexity: O(n + m).
  template <must_be::dataflow_workload W>
  static_executor(const W& w, const plan& p) {
    const concurrency::op_graph g{w};
    auto sequence = sequence_of(g, p);
    make_topological(w, g, p, sequence);
    pack(w, p, sequence);
    order_ = std::move(sequence);
    progress_ = std::make_unique<worker_progress[]>(workers_.size());
    crew_ = std::make_unique<execute::detail::crew>(workers_.empty() ? 0u
                                                                     : static_cast<std::uint32_t>(workers_.size() - 1));
  }

  std::size_t num_ops() const { return order_.size(); }
  /// Workers with ops, each a thread; the first is the thread that calls.
  std::size_t num_workers() const { return workers_.size(); }

  /// Runs every op once and returns when nothing runs any more. Complexity: O(n + waits).
  template <must_be::op_kernel Kernel>
  execute::run_report operator()(Kernel&& kernel, const execute::run_options& options = {}) {
    if (taken_.test_and_set(std::memory_order_acquire)) {
      return run_alone(kernel, options);
    }
    struct release {
      std::atomic_flag& flag;
      ~release() { flag.clear(std::memory_order_release); }
    } at_end{taken_};
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      progress_[i].done.store(0, std::memory_order_relaxed);
    }
    return run_on_workers(kernel, options);
  }

private:
  using clock = std::chrono::steady_clock;
  static constexpr device_id max_workers = 4096;

  /// One op in the sequence of a worker. Waits are stored in the order in which the worker meets them.
  struct entry {
    op_id op = none;
    std::uint32_t num_waits : 31 = 0;
    std::uint32_t publishes : 1 = 0; ///< another worker waits for it
  };
  /// "Worker `worker` has done `count` of its ops."
  struct milestone {
    std::uint32_t worker = 0;
    std::uint32_t count = 0;
  };
  struct worker {
    device_id device = none;
    std::vector<entry> entries = {};
    std::vector<milestone> waits = {};
  };
  struct alignas(64) worker_progress {
    std::atomic<std::uint32_t> done{0};
  };

  /// What the threads of one run share.
  struct run_state {
    clock::time_point begin = clock::now();
    const execute::run_options& options;
    std::atomic<bool> over{false};
    std::atomic<bool> claimed{false}; ///< somebody writes why
    std::atomic<bool> threw{false};   ///< somebody writes the exception
    execute::run_report report = {};
    std::atomic<std::size_t> num_finished{0};

    explicit run_state(const execute::run_options& o) : options{o} {}
    double now() const { return std::chrono::duration<double>(clock::now() - begin).count(); }
    /// Whether no further op may start. Asks the token itself: a callback of it is late, since `request_stop` returns
    /// at once where another thread is inside it and has not come to the callback.
    bool must_end() {
      if (options.stop.stop_requested()) {
        end(execute::run_status::cancelled);
      }
      return over.load(std::memory_order_relaxed);
    }
    void end(execute::run_status why, op_id v = none, std::exception_ptr thrown = {}) {
      if (!claimed.exchange(true, std::memory_order_relaxed)) {
        report.status = options.stop.stop_requested() ? execute::run_status::cancelled : why;
      }
      if (thrown && !threw.exchange(true, std::memory_order_relaxed)) { // also when the run was cancelled before
        report.failed = v;
        report.exception = std::move(thrown);
      }
      over.store(true, std::memory_order_relaxed);
    }
  };

  static std::vector<op_id> sequence_of(const concurrency::op_graph& g, const plan& p) {
    const auto n = g.num_ops();
    if (p.placement.size() != n) {
      throw value_error("static_executor", "the plan places " + std::to_string(p.placement.size()) + " ops, the workload has " +
                                             std::to_string(n));
    }
    for (const op_id v : ids(n)) {
      if (p.placement[v] == none) {
        throw value_error("op " + std::to_string(v), "has no device in the plan");
      }
      if (p.placement[v] >= max_workers) {
        throw value_error("op " + std::to_string(v), "is on device " + std::to_string(p.placement[v]) +
                                                       "; every device is a thread, and at most " +
                                                       std::to_string(max_workers) + " can be");
      }
    }
    if (p.order.empty()) {
      return {g.topological_order().begin(), g.topological_order().end()};
    }
    std::vector<op_id> ops;
    ops.reserve(n);
    std::vector<std::uint8_t> seen(n, 0);
    for (const step& s : p.order) {
      if (s.is_send()) {
        continue;
      }
      if (s.op >= n || seen[s.op]) {
        throw value_error("static_executor", "the plan's order has op " + std::to_string(s.op) +
                                               (s.op >= n ? ", which does not exist" : " twice"));
      }
      seen[s.op] = 1;
      ops.push_back(s.op);
    }
    if (ops.size() != n) {
      throw value_error("static_executor", "the plan's order has " + std::to_string(ops.size()) + " ops, the workload " +
                                             std::to_string(n));
    }
    return ops;
  }

  /// Follows all workers as if they ran, one op at a time: whoever is never reached waits for itself. Turns `ops` into an
  /// order that is topological, too.
  template <class W>
  static void make_topological(const W& w, const concurrency::op_graph& g, const plan& p, std::vector<op_id>& ops) {
    graph::release_counter waiting{g};
    const auto num_devices = ops.empty() ? 0 : std::size_t{*std::max_element(p.placement.begin(), p.placement.end())} + 1;
    std::vector<std::vector<op_id>> sequence(num_devices);
    for (const op_id v : ops) {
      sequence[p.placement[v]].push_back(v);
    }
    std::vector<std::size_t> next(num_devices, 0);
    std::vector<op_id> reached;
    reached.reserve(ops.size());
    const auto advance = [&](device_id d) {
      while (next[d] < sequence[d].size() && waiting.is_ready(sequence[d][next[d]])) {
        reached.push_back(sequence[d][next[d]++]);
      }
    };
    for (device_id d = 0; d < num_devices; ++d) {
      advance(d);
    }
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (const op_id u : g.consumers(reached[i])) {
        waiting.arrive(u);
        advance(p.placement[u]);
      }
      advance(p.placement[reached[i]]);
    }
    if (reached.size() != ops.size()) {
      std::vector<std::uint8_t> is_reached(ops.size(), 0);
      for (const op_id v : reached) {
        is_reached[v] = 1;
      }
      device_id stuck = 0;
      while (next[stuck] == sequence[stuck].size()) {
        ++stuck;
      }
      for (std::size_t i = 0; i < num_devices; ++i) { // some only wait for those that wait for themselves
        for (const tensor_id t : w.inputs(sequence[stuck][next[stuck]])) {
          if (const auto u = static_cast<op_id>(w.producer(t)); !is_reached[u]) {
            stuck = p.placement[u];
            break;
          }
        }
      }
      const op_id v = sequence[stuck][next[stuck]];
      throw constraint_error({v}, "the plan's order contradicts the graph: op " + std::to_string(v) + " on device " +
                                    std::to_string(stuck) + " waits, through its device's order, for itself");
    }
    ops = std::move(reached);
  }

  template <class W>
  void pack(const W& w, const plan& p, const std::vector<op_id>& ops) {
    std::vector<std::uint32_t> worker_of(ops.empty() ? 0 : *std::max_element(p.placement.begin(), p.placement.end()) + 1u,
                                         none);
    std::vector<std::uint32_t> position(ops.size(), 0);
    for (const device_id d : p.placement) {
      worker_of[d] = 0; // has ops
    }
    for (device_id d = 0; d < worker_of.size(); ++d) {
      if (worker_of[d] != none) {
        worker_of[d] = static_cast<std::uint32_t>(workers_.size());
        workers_.push_back({.device = d});
      }
    }
    const auto count = workers_.size();
    std::vector<std::uint32_t> known(count * count, 0);  // what worker a has already waited for of worker b
    std::vector<std::uint32_t> needed(count, 0);
    std::vector<std::uint32_t> touched;
    for (const op_id v : ops) {
      const auto a = worker_of[p.placement[v]];
      auto& mine = workers_[a];
      entry e;
      e.op = v;
      touched.clear();
      graph::for_each_predecessor(w, v, [&](op_id u) {
        const auto b = worker_of[p.placement[u]];
        if (b != a && position[u] + 1 > std::max(needed[b], known[a * count + b])) {
          if (needed[b] == 0) {
            touched.push_back(b);
          }
          needed[b] = position[u] + 1;
        }
      });
      for (const auto b : touched) {
        mine.waits.push_back({b, needed[b]});
        workers_[b].entries[needed[b] - 1].publishes = 1;
        known[a * count + b] = needed[b];
        needed[b] = 0;
        ++e.num_waits;
      }
      position[v] = static_cast<std::uint32_t>(mine.entries.size());
      mine.entries.push_back(e);
    }
  }

  template <class Kernel>
  execute::run_report run_on_workers(Kernel& kernel, const execute::run_options& options) {
    run_state state{options};
    if (options.record) {
      state.report.trace.ops.assign(num_ops(), op_record{});
    }
    const bool clocked = options.record || options.seconds < std::numeric_limits<double>::infinity();
    auto work = [&](std::uint32_t i) {
      clocked                      ? follow<true, true>(i, kernel, state)
      : options.stop.stop_possible() ? follow<false, true>(i, kernel, state)
                                     : follow<false, false>(i, kernel, state);
    };
    if (!workers_.empty()) {
      crew_->run(crew_->size(), work);
    }
    return conclude(state);
  }

  /// What worker i does in a run. Without a clock to read and a token to ask, ops pay for neither.
  template <bool Clocked, bool Stoppable, class Kernel>
  void follow(std::uint32_t i, Kernel& kernel, run_state& state) {
    const worker& mine = workers_[i];
    auto& done = progress_[i].done;
    const std::stop_token stop = Stoppable ? state.options.stop : std::stop_token{}; // for the compiler, in a register
    const milestone* wait = mine.waits.data();
    std::uint32_t count = 0;
    for (const entry& e : mine.entries) {
      for (const milestone* const last = wait + e.num_waits; wait != last; ++wait) {
        if (!reach(*wait, state)) {
          state.num_finished.fetch_add(count, std::memory_order_relaxed);
          return;
        }
      }
      if (Stoppable && stop.stop_requested()) {
        state.end(execute::run_status::cancelled);
      }
      if (state.over.load(std::memory_order_relaxed) || !run_op<Clocked>(e.op, mine.device, kernel, state)) {
        break;
      }
      ++count;
      if (e.publishes) {
        done.store(count, std::memory_order_release);
      }
    }
    state.num_finished.fetch_add(count, std::memory_order_relaxed);
  }

  /// Waits for another worker; false if the run ends first.
  bool reach(const milestone& m, run_state& state) {
    const auto& done = progress_[m.worker].done;
    execute::detail::backoff b;
    while (done.load(std::memory_order_acquire) < m.count) {
      if (state.must_end()) {
        return false;
      }
      b.wait();
    }
    return true;
  }

  /// False if the run must end.
  template <bool Clocked, class Kernel>
  bool run_op(op_id v, device_id d, Kernel& kernel, run_state& state) {
    double start = 0;
    if constexpr (Clocked) {
      start = state.now();
      if (start >= state.options.seconds) {
        state.end(execute::run_status::timed_out);
        return false;
      }
    }
    bool fine = true;
    try {
      execute::detail::call(kernel, v, team{});
    } catch (...) {
      state.end(execute::run_status::failed, v, std::current_exception());
      fine = false;
    }
    if constexpr (Clocked) {
      if (!state.report.trace.ops.empty()) {
        state.report.trace.ops[v] = {d, start, state.now()};
      }
    }
    return fine;
  }

  template <class Kernel>
  execute::run_report run_alone(Kernel& kernel, const execute::run_options& options) {
    run_state state{options};
    if (options.record) {
      state.report.trace.ops.assign(num_ops(), op_record{});
    }
    const device_id d = workers_.empty() ? 0 : workers_.front().device;
    for (const op_id v : order_) {
      if (state.must_end() || !run_op<true>(v, d, kernel, state)) {
        break;
      }
      state.num_finished.fetch_add(1, std::memory_order_relaxed);
    }
    return conclude(state);
  }

  execute::run_report conclude(run_state& state) {
    auto report = std::move(state.report);
    report.seconds = state.now();
    report.num_finished = state.num_finished.load(std::memory_order_relaxed);
    if (report.num_finished == num_ops()) {
      report.status = execute::run_status::finished; // a cancel or a deadline came too late to matter
    }
    for (const auto& r : report.trace.ops) {
      report.trace.makespan = std::max(report.trace.makespan, r.finish);
    }
    return report;
  }

  std::vector<op_id> order_; // one that is topological and that all workers' sequences agree with
  std::vector<worker> workers_;
  std::unique_ptr<worker_progress[]> progress_; // by worker
  std::unique_ptr<execute::detail::crew> crew_;
  std::atomic_flag taken_ = ATOMIC_FLAG_INIT;
};

} // namespace weft
