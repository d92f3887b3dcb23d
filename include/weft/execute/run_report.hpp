// SPDX-License-Identifier: BSL-1.0
/// Options and reports of runs, the same for all executors.
#pragma once

#include "weft/core/error.hpp"
#include "weft/core/explained.hpp"
#include "weft/plan/run_state.hpp"
#include "weft/plan/trace.hpp"
#include "weft/platform/machine.hpp"

#include <concepts>
#include <cstdint>
#include <exception>
#include <limits>
#include <stop_token>
#include <string_view>
#include <utility>

namespace weft {

/// `k(op)` or `k(op, team)` computes one op: it reads the op's inputs and writes its outputs, which the caller keeps.
/// Calls for different ops happen at the same time on different threads, each after those of the op's inputs, whose
/// effects it sees. An exception ends the run.
template <class K>
concept op_kernel = std::invocable<K&, op_id, team> || std::invocable<K&, op_id>;

namespace why_not {
template <class K>
struct op_kernel {
  static_assert(weft::op_kernel<K>,
                "weft: a kernel is called with (op_id) or (op_id, team), which this one cannot be; see "
                "docs/concepts/op_kernel.md");
};
} // namespace why_not

namespace must_be {
template <class K>
concept op_kernel = weft::op_kernel<K> || explained<why_not::op_kernel<K>>;
} // namespace must_be

namespace execute {

/// Options of a run: conditions for ending it early, and its records.
struct run_options {
  std::stop_token stop = {};                                  ///< cancels: no further op starts
  double seconds = std::numeric_limits<double>::infinity();   ///< deadline, from the start; no op starts after it
  bool record = false; ///< fill the report's trace; costs two readings of the clock per op
};

enum class run_status : std::uint8_t {
  finished,  ///< every op ran
  failed,    ///< an op threw
  cancelled, ///< the stop token asked for it
  timed_out, ///< the deadline passed
};

constexpr std::string_view to_string(run_status s) {
  switch (s) {
  case run_status::finished: return "finished";
  case run_status::failed: return "failed";
  case run_status::cancelled: return "cancelled";
  case run_status::timed_out: return "timed out";
  }
  return "";
}

/// The report of a run. An op that had started when the run was ended early was waited for: nothing runs any more.
struct run_report {
  run_status status = run_status::finished;
  std::size_t num_finished = 0;       ///< ops that ran to their end
  op_id failed = none; ///< the op that threw, also in a run that was cancelled before; of several the first
  std::exception_ptr exception = {};  ///< what it threw, or a strategy
  double seconds = 0;                 ///< from the start of the run to its end
  /// By op, if it was asked for: times from the start of the run, and as device the worker of a static_executor, 0 in a
  /// concurrent_executor, which runs on one machine. Ops that did not run have device `none`; one that threw has a
  /// finish.
  weft::trace trace = {};

  /// Throws what the failed op threw, if one did.
  void rethrow() const {
    if (exception) {
      std::rethrow_exception(exception);
    }
  }
};

/// The state of a run that ended early, from where it can be planned again and go on (`solve::continuation`); an op
/// that threw has not run. Throws `value_error` for a run that was not recorded.
inline run_state state_of(const run_report& report) {
  if (report.trace.ops.empty()) {
    throw value_error("state_of", "the run was not recorded; run it with {.record = true}");
  }
  run_state s = state_at(report.trace, report.seconds);
  if (report.failed != none) {
    s.begun.ops[report.failed] = {};
  }
  return s;
}

/// Calls a kernel as it wants to be called.
template <op_kernel K>
void call_kernel(K& kernel, op_id v, team t) {
  if constexpr (std::invocable<K&, op_id, team>) {
    kernel(v, t);
  } else {
    kernel(v);
  }
}

} // namespace execute
} // namespace weft
