// SPDX-License-Identifier: BSL-1.0
/// The state that the threads of one run share: whether it goes on, and the records for its report.
#pragma once

#include "weft/execute/run_report.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

namespace weft::execute {

/// For authors of executors: keeps to the options of a run and makes its report. All but `conclude` may be called by
/// several threads at the same time.
class ongoing_run {
public:
  /// The options must outlive it.
  ongoing_run(const run_options& o, std::size_t num_ops) : options_{o}, num_ops_{num_ops} {
    if (o.record) {
      report_.trace.ops.assign(num_ops, op_record{});
    }
  }

  const run_options& options() const { return options_; }

  /// Seconds from the start of the run.
  double now() const { return std::chrono::duration<double>(clock::now() - begin_).count(); }

  /// Whether the run was ended.
  bool is_over() const { return over_.load(std::memory_order_relaxed); }

  /// Whether no further op may start. Asks the token itself: a callback of it is late, since `request_stop` returns
  /// at once where another thread is inside it and has not come to the callback.
  bool must_end() {
    if (options_.stop.stop_requested()) {
      end(run_status::cancelled);
    }
    return is_over();
  }

  /// No further op is to start. The first reason is reported, and the first exception.
  void end(run_status why, op_id v = none, std::exception_ptr thrown = {}) {
    if (!claimed_.exchange(true, std::memory_order_relaxed)) {
      report_.status = options_.stop.stop_requested() ? run_status::cancelled : why;
    }
    if (thrown && !threw_.exchange(true, std::memory_order_relaxed)) { // also when the run was cancelled before
      report_.failed = v;
      report_.exception = std::move(thrown);
    }
    over_.store(true, std::memory_order_relaxed);
  }

  /// Calls `call()`, which computes op v on device d; false if the run must end, because that threw or the deadline has
  /// passed. Not `Clocked`, it keeps to no deadline and records nothing.
  template <bool Clocked = true, class Call>
  bool run_op(op_id v, device_id d, Call&& call) {
    double start = 0;
    if constexpr (Clocked) {
      start = now();
      if (start >= options_.seconds) {
        end(run_status::timed_out);
        return false;
      }
    }
    bool fine = true;
    try {
      call();
    } catch (...) {
      end(run_status::failed, v, std::current_exception());
      fine = false;
    }
    if constexpr (Clocked) {
      if (!report_.trace.ops.empty()) {
        report_.trace.ops[v] = {d, start, now()};
      }
    }
    return fine;
  }

  /// So many more ops ran to their end.
  void add_finished(std::size_t count) { num_finished_.fetch_add(count, std::memory_order_relaxed); }

  /// For the report's trace: a place for each of so many transfers, which several threads may fill. Those without a
  /// tensor are left out.
  void expect_transfers(std::size_t count) { report_.trace.transfers.resize(count); }
  transfer_record& transfer(std::size_t i) { return report_.trace.transfers[i]; }

  /// The report, when nothing runs any more.
  run_report conclude() {
    report_.seconds = now();
    report_.num_finished = num_finished_.load(std::memory_order_relaxed);
    if (report_.num_finished == num_ops_) {
      report_.status = run_status::finished; // a cancel or a deadline came too late to matter
    }
    trace& t = report_.trace;
    std::erase_if(t.transfers, [](const transfer_record& r) { return r.tensor == none; });
    for (const op_record& r : t.ops) {
      t.makespan = std::max(t.makespan, r.finish);
    }
    for (const transfer_record& r : t.transfers) {
      t.makespan = std::max(t.makespan, r.arrival);
    }
    return std::move(report_);
  }

private:
  using clock = std::chrono::steady_clock;

  clock::time_point begin_ = clock::now();
  const run_options& options_;
  std::size_t num_ops_;
  std::atomic<bool> over_{false};
  std::atomic<bool> claimed_{false}; // somebody writes why
  std::atomic<bool> threw_{false};   // somebody writes the exception
  std::atomic<std::size_t> num_finished_{0};
  run_report report_;
};

} // namespace weft::execute
