// SPDX-License-Identifier: BSL-1.0
/// Records a run as a trace.
#pragma once

#include "weft/plan/trace.hpp"
#include "weft/schedule/placed_flow.hpp"

#include <algorithm>

namespace weft::simulate {

/// An observer that fills a trace; transfer k of the run is `transfers[k]`. After the first run with a problem, the
/// same trace is filled again without allocating.
class recorder {
public:
  constexpr explicit recorder(trace& into) : trace_{&into} {}

  template <class Problem>
  constexpr void on_begin(const placed_flow<Problem>& flow) {
    trace_->ops.assign(flow.num_ops(), op_record{});
    trace_->transfers.reserve(flow.max_items() - flow.num_ops());
    trace_->transfers.assign(flow.transfers().size(), transfer_record{});
    trace_->makespan = 0;
  }
  constexpr void on_op_start(op_id v, device_id d, double now) { trace_->ops[v] = {d, now, now}; }
  /// Only where ops have teams; see simulate/manycore.hpp.
  template <class Launch>
  constexpr void on_team(op_id v, const Launch& l, double) {
    trace_->ops[v].threads = l.team.threads;
  }
  constexpr void on_op_finish(op_id v, device_id, double now) {
    trace_->ops[v].finish = now;
    trace_->makespan = std::max(trace_->makespan, now);
  }
  constexpr void on_send_start(std::uint32_t k, const transfer&, double now) { trace_->transfers[k].send_start = now; }
  constexpr void on_transfer(std::uint32_t k, const transfer& x, double possible, double now) {
    const double send_start = x.send_time > 0 ? trace_->transfers[k].send_start : possible;
    trace_->transfers[k] = {x.tensor, x.from, x.to, send_start, possible, now, now};
  }
  constexpr void on_arrival(std::uint32_t k, const transfer&, double now) {
    trace_->transfers[k].arrival = now;
    trace_->makespan = std::max(trace_->makespan, now);
  }

private:
  trace* trace_;
};

} // namespace weft::simulate
