// SPDX-License-Identifier: BSL-1.0
/// Runs of ways that were made, and their figures.
#pragma once

#include "weft/core/ids.hpp"
#include "weft/cost/lowered.hpp"
#include "weft/instance.hpp"
#include "weft/parallel/copies_in_order.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/planner/kinds/task.hpp"
#include "weft/planner/made_way.hpp"
#include "weft/planner/reasons.hpp"
#include "weft/planner/run.hpp"
#include "weft/planner/shareable.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/solve/recomputation.hpp"
#include "weft/validate/memory_shortage.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weft::planner {

/// The figures of a plan that ran, but for why it does not fit. `sent_within`: bytes that its ops send while they run.
/// True if each device has the memory.
inline bool take_figures(const instance& p, const placement& where, const trace& run, double sent_within,
                         compared_way& figures) {
  simulate::memory_tracker<instance> memory{p};
  memory.follow(where, run);
  figures.seconds = run.makespan;
  figures.peak_memory = memory.largest_peak();
  figures.bytes_sent = sent_within;
  for (const auto& x : run.transfers) {
    figures.bytes_sent += static_cast<double>(p.workload().bytes(x.tensor));
  }
  return memory.excess() == 0;
}

/// Runs the plan of a way that has one, takes its figures, and says whether it fits.
inline void follow(const task& t, made_way& x, double sent_within = 0) {
  x.run = follow(*x.problem, x.plan, t.how().contention);
  const bool fits = take_figures(*x.problem, x.plan.placement, x.run, sent_within, x.figures);
  auto& why = x.figures.why_not;
  why = {};
  for (const op_id v : ids(x.plan.placement.size())) {
    if (!x.ops.kinds(v).contains(t.machine().kind(x.plan.placement[v]))) {
      why = {.is = reason::kind::no_device_may_run, .name = std::string{x.ops.name(v)}};
      return;
    }
  }
  if (!fits) {
    const auto s = memory_shortages(*x.problem, x.plan.placement, x.run).front();
    why = {.is = reason::kind::memory_exceeded, .needed = s.peak, .capacity = s.capacity, .device = s.device};
  }
}

namespace detail {

/// True if what stays on each device fits there.
inline bool resident_bytes_fit(const instance& p, const placement& where) {
  std::vector<byte_count> held(p.num_devices(), 0);
  for (const op_id v : ids(p.num_ops())) {
    held[p.memory_of(where[v])] += p.workload().resident_bytes(v);
  }
  const auto devices = ids(p.num_devices());
  return std::all_of(devices.begin(), devices.end(), [&](device_id d) { return held[d] <= p.capacity(d); });
}

/// The bytes that the device lacks that lacks most.
inline byte_count bytes_lacking(const made_way& x) {
  byte_count most = 0;
  for (const auto& s : memory_shortages(*x.problem, x.plan.placement, x.run)) {
    most = std::max(most, s.excess());
  }
  return most;
}

/// Looks for an order in which a way fits that does not, one with the longest way to the end first: as its part runs on
/// one device where it holds little, with what is sent whenever it arrives, or waiting for it. Keeps the order in which
/// it lacks least.
inline void hold_less(const task& t, made_way& x) {
  const auto& p = *x.problem;
  const auto shortages = memory_shortages(p, x.plan.placement, x.run);
  if (shortages.empty() || !resident_bytes_fit(p, x.plan.placement)) {
    return;
  }
  const auto list = parallel::copies_in_order(
    x.ops, x.origin, solve::order_within(x.part->ops, shortages.front().capacity).sequence);
  for (const bool waits : {false, true}) {
    plan other{x.plan.placement, {}};
    if (waits) {
      std::transform(list.begin(), list.end(), std::back_inserter(other.order), step::run);
    } else {
      other.order = order_by_list(p, x.plan.placement, list, t.how().contention);
    }
    const auto lacked = bytes_lacking(x);
    auto plan_before = std::exchange(x.plan, std::move(other));
    auto run_before = std::exchange(x.run, trace{});
    const auto figures_before = x.figures;
    follow(t, x);
    if (x.fits()) {
      return;
    }
    if (lacked <= bytes_lacking(x)) {
      x.plan = std::move(plan_before);
      x.run = std::move(run_before);
      x.figures = figures_before;
    }
  }
}

} // namespace detail

/// Runs a way whose ops, `origin` and `part` are made, with that placement. Where it does not fit as a framework would
/// run it, it takes an order in which the part holds little on one device.
inline void run_way(const task& t, placement where, made_way& x) {
  for (const op_id v : ids(x.origin.size())) {
    if (std::binary_search(x.part->returned.begin(), x.part->returned.end(), x.origin[v])) {
      x.returned.push_back(v);
    }
  }
  x.ops = with_memory(std::move(x.ops), x.part->sharing, x.returned);
  x.problem = std::make_unique<instance>(x.ops, t.machine(), cost::lowered{t.costs().ops, x.ops, t.machine()});
  x.plan = {std::move(where), {}};
  follow(t, x);
  if (!x.fits()) {
    detail::hold_less(t, x);
  }
}

} // namespace weft::planner
