// SPDX-License-Identifier: BSL-1.0
/// Runs a workload's ops on one machine and decides online, by a concurrency strategy, which run side by side and with
/// how many threads.
#pragma once

#include "weft/concurrency/controller.hpp"
#include "weft/execute/detail/backoff.hpp"
#include "weft/execute/run_report.hpp"
#include "weft/execute/teams.hpp"
#include "weft/workload/concepts.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft {

/// Executes a workload under a concurrency strategy. As many threads ("runners") as ops can run at once wait for work;
/// one that ends an op takes the lock, tells the controller, starts what the strategy wants started, and goes on with
/// the first of these itself. A decision takes 0.1 to 0.3 µs with empty kernels (docs/executors.md) and
/// more among real ones; use `static_executor` for ops of a few microseconds.
///
/// Ops whose predicted time is zero (constants, views, joins of control flow) are not dispatched: the thread that makes
/// them ready calls their kernels on the spot, under the lock.
///
/// The calling thread is a runner. Runs of one executor from several threads, or from inside one of its own kernels, do
/// not wait for each other: the one that finds the executor taken runs all ops by itself, one after the other, each
/// with a team of one thread. Kernels of a team with several threads get these from `Teams`. A runner that gets no op
/// in a run is not woken. If the strategy throws, the run ends as failed, with no op to blame.
/// ```
/// weft::concurrent_executor run{workload, times, machine, weft::concurrency::s1_s2_s3, weft::execute::openmp_teams{}};
/// auto report = run([&](weft::op_id v, weft::team) { kernels[v](); }, {.record = true});
/// ```
/// What it learns of interference stays for the next run. Memory: 12 bytes per op and per edge.
template <must_be::concurrency_strategy Strategy, team_runner Teams = execute::kernel_threads>
class concurrent_executor {
public:
  /// `times` is what the strategy believes, by op class; it is copied. Throws `value_error` if it was made for another
  /// workload, `cycle_error`.
  template <must_be::dataflow_workload W>
  concurrent_executor(const W& w, concurrency::time_table times, const machine& m, const Strategy& s, Teams teams = {})
      : graph_{w}, times_{std::make_unique<concurrency::time_table>(std::move(times))}, teams_{std::move(teams)},
        missing_{graph_} {
    if (times_->classes().num_ops() != num_ops()) {
      throw value_error("concurrent_executor", "the times are for " + std::to_string(times_->classes().num_ops()) +
                                                 " ops, the workload has " + std::to_string(num_ops()));
    }
    m.check();
    control_ = std::make_unique<concurrency::controller<Strategy>>(*times_, m, s, graph_);
    num_runners_ = static_cast<std::uint32_t>(std::min<std::size_t>(
      std::size_t{m.cores()} * std::min(m.threads_per_core, 2u), std::max<std::size_t>(num_ops(), 1)));
    mailbox_ = std::make_unique<mailbox[]>(num_runners_);
    for (std::uint32_t i = 0; i < num_runners_; ++i) {
      mailbox_[i].cores.reserve(m.cores());
    }
    try {
      for (std::uint32_t i = 1; i < num_runners_; ++i) {
        threads_.emplace_back([this, i] { serve(i); });
      }
    } catch (...) { // the system has no more threads
      close_runners();
      throw;
    }
  }
  concurrent_executor(const concurrent_executor&) = delete;
  concurrent_executor& operator=(const concurrent_executor&) = delete;
  ~concurrent_executor() { close_runners(); }

  std::size_t num_ops() const { return graph_.num_ops(); }
  std::uint32_t num_runners() const { return num_runners_; }
  const concurrency::controller<Strategy>& control() const { return *control_; }

  /// Runs every op once and returns when nothing runs any more. Complexity: O(n + m) plus the strategy's decisions.
  template <must_be::op_kernel Kernel>
  execute::run_report operator()(Kernel&& kernel, const execute::run_options& options = {}) {
    if (taken_.test_and_set(std::memory_order_acquire)) {
      return run_alone(kernel, options);
    }
    struct release {
      std::atomic_flag& flag;
      ~release() { flag.clear(std::memory_order_release); }
    } at_end{taken_};
    run_state state{options};
    {
      const std::lock_guard lock{mutex_};
      state_ = &state;
      kernel_ = const_cast<void*>(static_cast<const void*>(std::addressof(kernel))); // call_ knows if it is const
      call_ = [](void* k, op_id v, team t) {
        execute::call_kernel(*static_cast<std::remove_reference_t<Kernel>*>(k), v, t);
      };
      start();
    }
    serve(0);
    const std::lock_guard lock{mutex_}; // the runner that ended the last op has left the state alone
    return conclude(state);
  }

private:
  using clock = std::chrono::steady_clock;
  static constexpr std::uint32_t closed = none - 1; ///< in a mailbox: nothing more comes

  struct alignas(64) mailbox {
    std::atomic<std::uint32_t> op{none};
    concurrency::launch what = {};
    std::vector<std::uint32_t> cores = {};
    bool waits = false; ///< nobody has given it an op yet; under the lock
  };

  /// The state that the threads of one run share, under the lock.
  struct run_state {
    const execute::run_options& options;
    clock::time_point begin = clock::now();
    execute::run_report report = {};
    bool ended_early = false;

    explicit run_state(const execute::run_options& o) : options{o} {}
    double now() const { return std::chrono::duration<double>(clock::now() - begin).count(); }
    /// Asks the token itself: a callback of it is late, since `request_stop` returns at once where another thread is
    /// inside it and has not come to the callback.
    void look_for_end(double time) {
      if (options.stop.stop_requested()) {
        end(execute::run_status::cancelled);
      } else if (time >= options.seconds) {
        end(execute::run_status::timed_out);
      }
    }
    void end(execute::run_status why, op_id v = none, std::exception_ptr thrown = {}) {
      if (!ended_early) {
        ended_early = true;
        report.status = options.stop.stop_requested() ? execute::run_status::cancelled : why;
      }
      if (thrown && !report.exception) { // also when the run was cancelled before
        report.failed = v;
        report.exception = std::move(thrown);
      }
    }
  };

  void close_runners() {
    for (std::uint32_t i = 1; i <= threads_.size(); ++i) {
      mailbox_[i].op.store(closed);
      mailbox_[i].op.notify_one();
      threads_[i - 1].join();
    }
  }

  void start() {
    control_->reset();
    missing_.assign(graph_.num_inputs());
    for (std::uint32_t i = 0; i < num_runners_; ++i) {
      mailbox_[i].waits = true;
    }
    mailbox_[0].op.store(none, std::memory_order_relaxed);
    if (state_->options.record) {
      state_->report.trace.ops.assign(num_ops(), op_record{});
    }
    for (const op_id v : ids(num_ops())) { // not by `missing_`: ops that take no time release others meanwhile
      if (graph_.num_inputs()[v] == 0) {
        make_ready(v);
      }
    }
    start_ops(0);
  }

  /// Queues an op, or, if it takes no time, runs it and whatever that makes ready. Under the lock.
  void make_ready(op_id v) {
    auto& state = *state_;
    if (!is_free(v)) {
      control_->on_ready(v);
      return;
    }
    free_.push_back(v);
    if (free_.size() > 1) {
      return; // the call that runs the first of them goes on with this one
    }
    const bool clocked = state.options.record || state.options.seconds < std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < free_.size(); ++i) {
      const op_id u = free_[i];
      const double now = clocked ? state.now() : 0;
      state.look_for_end(now);
      if (state.ended_early) {
        break;
      }
      try {
        call_(kernel_, u, team{});
      } catch (...) {
        state.end(execute::run_status::failed, u, std::current_exception());
      }
      if (state.options.record) {
        state.report.trace.ops[u] = {0, now, state.now()};
      }
      if (!state.ended_early) {
        finish(u);
      }
    }
    free_.clear();
  }

  void finish(op_id v) {
    ++state_->report.num_finished;
    missing_.finish(graph_, v, [this](op_id c) { make_ready(c); });
  }

  bool is_free(op_id v) const { return times_->seconds(v, team{}) == 0; }

  /// Starts what the strategy wants started; the first op goes to `preferred`, if that waits. Ends the run when nothing
  /// runs and nothing was started. Under the lock.
  void start_ops(std::uint32_t preferred) {
    auto& state = *state_;
    const double now = state.now();
    state.look_for_end(now);
    try {
      while (!state.ended_early) {
        const auto index = control_->start_next(now);
        if (!index) {
          break;
        }
        hand_out(control_->active(*index), preferred);
      }
    } catch (...) { // the strategy's
      state.end(execute::run_status::failed, none, std::current_exception());
    }
    idle_cores_.store(control_->cores().idle(), std::memory_order_relaxed);
    if (control_->num_active() == 0) {
      mailbox_[0].op.store(closed);
      mailbox_[0].op.notify_one();
    }
  }

  void hand_out(const concurrency::active_op& a, std::uint32_t preferred) {
    // Teams go to the first runner that waits, so that few runners need pools of threads; single threads stay here.
    const bool alone = a.what.team.threads == 1;
    const std::uint32_t runner = alone && mailbox_[preferred].waits ? preferred : next_waiting();
    auto& box = mailbox_[runner];
    box.waits = false;
    box.what = a.what;
    box.cores.assign(a.cores.begin(), a.cores.end());
    box.op.store(a.what.op); // sequentially consistent: libstdc++ 12 looks for waiters with a plain load
    if (runner != preferred) {
      box.op.notify_one();
    }
  }

  std::uint32_t next_waiting() const {
    std::uint32_t i = 0;
    while (!mailbox_[i].waits) {
      ++i;
    }
    return i;
  }

  /// The life of a runner: of the calling thread in one run, of the others in all runs.
  void serve(std::uint32_t runner) {
    auto& box = mailbox_[runner];
    for (;;) {
      const op_id v = await(box);
      if (v == closed) {
        return;
      }
      auto& state = *state_; // stays until this op is accounted for
      const double begin = state.now();
      std::exception_ptr thrown;
      try {
        teams_(execute::seat{runner, box.what.team, box.cores}, [&] { call_(kernel_, v, box.what.team); });
      } catch (...) {
        thrown = std::current_exception();
      }
      const double end = state.now();
      const std::lock_guard lock{mutex_};
      if (state.options.record) {
        state.report.trace.ops[v] = {0, begin, end, box.what.team.threads};
      }
      control_->on_finish(index_of(v), end, end - begin);
      if (thrown) {
        state.end(execute::run_status::failed, v, std::move(thrown));
      } else {
        finish(v);
      }
      box.op.store(none, std::memory_order_relaxed);
      box.waits = true;
      start_ops(runner);
    }
  }

  /// The next op of a runner. Spins for a moment if cores are idle, so that nobody misses the one it takes.
  op_id await(mailbox& box) {
    for (int spin = 0; spin < 4000; ++spin) {
      if (const op_id v = box.op.load(std::memory_order_acquire); v != none) {
        return v;
      }
      if (spin > 16 && idle_cores_.load(std::memory_order_relaxed) == 0) {
        break;
      }
      execute::detail::relax();
    }
    for (;;) {
      box.op.wait(none, std::memory_order_acquire);
      if (const op_id v = box.op.load(std::memory_order_acquire); v != none) {
        return v;
      }
    }
  }

  std::size_t index_of(op_id v) const {
    std::size_t i = 0;
    while (control_->running(i).launch.op != v) {
      ++i;
    }
    return i;
  }

  template <class Kernel>
  execute::run_report run_alone(Kernel& kernel, const execute::run_options& options) {
    run_state state{options};
    if (options.record) {
      state.report.trace.ops.assign(num_ops(), op_record{});
    }
    for (const op_id v : graph_.topological_order()) {
      const double begin = state.now();
      state.look_for_end(begin);
      if (state.ended_early) {
        break;
      }
      try {
        teams_(execute::seat{num_runners_, team{}, {}}, [&] { execute::call_kernel(kernel, v, team{}); });
        ++state.report.num_finished;
      } catch (...) {
        state.end(execute::run_status::failed, v, std::current_exception());
      }
      if (options.record) {
        state.report.trace.ops[v] = {0, begin, state.now()};
      }
    }
    return conclude(state);
  }

  execute::run_report conclude(run_state& state) {
    auto report = std::move(state.report);
    report.seconds = state.now();
    if (report.num_finished == num_ops()) {
      report.status = execute::run_status::finished; // a cancel or a deadline came too late to matter
    }
    for (const auto& r : report.trace.ops) {
      report.trace.makespan = std::max(report.trace.makespan, r.finish);
    }
    return report;
  }

  concurrency::op_graph graph_;
  std::unique_ptr<concurrency::time_table> times_; // the controller refers to it
  Teams teams_;
  std::uint32_t num_runners_ = 1;
  std::mutex mutex_;
  std::unique_ptr<concurrency::controller<Strategy>> control_;
  graph::release_counter<> missing_;
  std::vector<op_id> free_; // ops that take no time and wait for their turn
  std::unique_ptr<mailbox[]> mailbox_;
  std::vector<std::thread> threads_; // runners 1, 2, …
  run_state* state_ = nullptr;       // of the run, as the next two
  void* kernel_ = nullptr;
  void (*call_)(void*, op_id, team) = nullptr;
  std::atomic<std::uint32_t> idle_cores_{0};
  std::atomic_flag taken_ = ATOMIC_FLAG_INIT;
};

} // namespace weft
