// SPDX-License-Identifier: BSL-1.0
/// Checks a trace against a problem and a placement, rule by rule of the execution model (docs/execution_model.md).
#pragma once

#include "weft/plan/contention.hpp"
#include "weft/plan/trace.hpp"
#include "weft/validate/fair_arrivals.hpp"
#include "weft/validate/memory.hpp"
#include "weft/validate/occupation.hpp"
#include "weft/validate/placement.hpp"
#include "weft/validate/teams.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace weft {

/// Options of the check of a trace.
struct validate_options {
  contention_model contention = contention_model::none; ///< what the run was made with
  flow_weights weights = flow_weights::equal;           ///< under `fair`: the same
  double tolerance = 1e-9;   ///< relative: two instants a and b are the same if |a - b| <= tolerance * max(|a|, |b|)
  bool teams = false; ///< of a moldable problem: ops have teams and share cores, as under a concurrency strategy
  bool check_memory = false; ///< report `out_of_memory`; only for traces that are right in all other respects
  /// Over time: reservations need not hold, and `out_of_memory` is reported.
  memory_rule memory = memory_rule::reserved;
};

namespace detail {

constexpr bool is_time(double x) { return x >= 0 && x <= std::numeric_limits<double>::max(); }

/// Reports a makespan that is not when the last op or transfer ends.
constexpr void check_makespan(const trace& run, instant_comparison cmp, std::vector<violation>& found) {
  double last = 0;
  for (const auto& r : run.ops) {
    last = std::max(last, r.finish);
  }
  for (const auto& x : run.transfers) {
    last = std::max(last, x.arrival);
  }
  if (!is_time(run.makespan) || !cmp.same(last, run.makespan)) {
    found.push_back({.what = violation::kind::wrong_makespan, .expected = last, .actual = run.makespan});
  }
}

/// The checks of one trace; each member function looks at one group of rules.
template <class Problem>
struct trace_checker {
  using kind = violation::kind;

  const Problem& p;
  const placement& where;
  const trace& run;
  validate_options options;
  std::vector<violation> found = {};
  instant_comparison cmp{options.tolerance};
  std::vector<const transfer_record*> moves = {}; ///< the transfers that count, by tensor and destination

  /// Every op has a record on its device, and all times are usable.
  constexpr void check_records() {
    const auto n = static_cast<op_id>(p.num_ops());
    for (op_id v = 0; v < std::max<std::size_t>(n, run.ops.size()); ++v) {
      if (v >= n) {
        found.push_back({.what = kind::op_spurious, .op = v});
      } else if (v >= run.ops.size() || run.ops[v].device == none) {
        found.push_back({.what = kind::op_missing, .op = v});
      } else if (run.ops[v].device != where[v]) {
        found.push_back({.what = kind::op_on_wrong_device, .op = v, .device = run.ops[v].device});
      } else {
        for (const double time : {run.ops[v].start, run.ops[v].finish}) {
          if (!is_time(time)) {
            found.push_back({.what = kind::bad_time, .op = v, .device = where[v], .actual = time});
          }
        }
      }
    }
    for (const auto& x : run.transfers) {
      for (const double time : {x.send_start, x.send_finish, x.start, x.arrival}) {
        if (!is_time(time)) {
          found.push_back({.what = kind::bad_time, .tensor = x.tensor, .device = x.to, .actual = time});
        }
      }
    }
  }

  constexpr void check_durations() {
    if (options.teams) {
      if constexpr (moldable_problem<Problem>) {
        check_teams(p, where, run, cmp, found);
      } else {
        throw value_error("validate", "ops have teams where devices have machines and costs tell times by team; leave "
                                      "validate_options::teams out");
      }
      return;
    }
    for (const op_id v : ids(p.num_ops())) {
      const auto& r = run.ops[v];
      if (const double time = p.compute_time(v, where[v]); !cmp.same(r.start + time, r.finish)) {
        found.push_back({.what = kind::wrong_duration, .op = v, .device = where[v], .expected = time,
                         .actual = r.finish - r.start});
      }
    }
  }

  /// The transfers are exactly those that the placement causes; those that are not are left out of all other checks.
  constexpr void check_transfer_set() {
    for (const auto& x : run.transfers) {
      moves.push_back(&x);
    }
    std::sort(moves.begin(), moves.end(), [](const auto* a, const auto* b) {
      return a->tensor != b->tensor ? a->tensor < b->tensor : a->to != b->to ? a->to < b->to : a->arrival < b->arrival;
    });
    const auto required = required_transfers(p, where);
    std::vector<const transfer_record*> good;
    std::vector<std::uint8_t> seen(required.size(), 0);
    for (const auto* x : moves) {
      const tensor_and_device key{x->tensor, x->to};
      const auto at = std::lower_bound(required.begin(), required.end(), key);
      if (at == required.end() || *at != key) {
        found.push_back({.what = kind::transfer_spurious, .tensor = x->tensor, .device = x->to});
        continue;
      }
      const op_id u = p.workload().producer(x->tensor);
      if (auto& once = seen[static_cast<std::size_t>(at - required.begin())]; once) {
        found.push_back({.what = kind::transfer_repeated, .op = u, .tensor = x->tensor, .device = x->to});
      } else {
        once = 1;
        good.push_back(x);
      }
    }
    for (std::size_t k = 0; k < required.size(); ++k) {
      const auto& [t, d] = required[k];
      if (!seen[k]) {
        op_id waiting = none;
        for (const op_id c : p.workload().consumers(t)) {
          waiting = where[c] == d && waiting == none ? c : waiting;
        }
        found.push_back({.what = kind::transfer_missing, .op = waiting, .tensor = t, .device = d});
      }
    }
    moves = std::move(good);
  }

  constexpr void check_transfer_times() {
    for (const auto* x : moves) {
      const op_id u = p.workload().producer(x->tensor);
      if (x->from != where[u]) {
        found.push_back({.what = kind::transfer_from_wrong_device, .op = u, .tensor = x->tensor, .device = x->from});
        continue;
      }
      const auto report = [&](kind what, double expected, double actual) {
        found.push_back({.what = what, .op = u, .tensor = x->tensor, .device = x->to, .expected = expected,
                         .actual = actual});
      };
      const double made = run.ops[u].finish;
      const double send = p.send_time(x->tensor, x->from, x->to);
      const double under_way = p.transfer_time(x->tensor, x->from, x->to);
      if (cmp.before(x->send_start, made)) {
        report(kind::transfer_before_producer, made, x->send_start);
      } else if (send == 0 && !cmp.same(x->send_start, made)) { // it waits for no queue
        report(kind::wrong_transfer_start, made, x->send_start);
      }
      if (!cmp.same(x->send_start + send, x->send_finish)) {
        report(kind::wrong_send_time, send, x->send_finish - x->send_start);
      }
      const bool may_wait = options.contention == contention_model::port;
      if (may_wait ? cmp.before(x->start, x->send_finish) : !cmp.same(x->start, x->send_finish)) {
        report(kind::wrong_transfer_start, x->send_finish, x->start);
      }
      if (options.contention != contention_model::fair && !cmp.same(x->start + under_way, x->arrival)) {
        report(kind::wrong_transfer_time, under_way, x->arrival - x->start);
      }
    }
  }

  /// Under `fair`, everything arrives when the links that it shares let it.
  void check_fair_arrivals() {
    std::vector<const transfer_record*> sent;
    for (const auto* x : moves) {
      if (x->from == where[p.workload().producer(x->tensor)]) {
        sent.push_back(x);
      }
    }
    const auto expected = fair_arrivals(p, sent, options.weights);
    for (std::size_t k = 0; k < sent.size(); ++k) {
      if (!cmp.same(expected[k], sent[k]->arrival)) {
        found.push_back({.what = kind::wrong_transfer_time,
                         .op = p.workload().producer(sent[k]->tensor),
                         .tensor = sent[k]->tensor,
                         .device = sent[k]->to,
                         .expected = expected[k] - sent[k]->start,
                         .actual = sent[k]->arrival - sent[k]->start});
      }
    }
  }

  /// No op starts before its inputs are on its device.
  constexpr void check_inputs() {
    for (const op_id v : ids(p.num_ops())) {
      for (const tensor_id t : p.workload().inputs(v)) {
        const op_id u = p.workload().producer(t);
        double ready = run.ops[u].finish;
        if (where[u] != where[v]) {
          const auto at = std::lower_bound(moves.begin(), moves.end(), tensor_and_device{t, where[v]},
                                           [](const auto* x, const auto& key) {
                                             return tensor_and_device{x->tensor, x->to} < key;
                                           });
          if (at == moves.end() || (*at)->tensor != t || (*at)->to != where[v]) {
            continue; // reported as missing
          }
          ready = (*at)->arrival;
        }
        if (cmp.before(run.ops[v].start, ready)) {
          found.push_back({.what = kind::input_not_ready, .op = v, .other = u, .tensor = t, .device = where[v],
                           .expected = ready, .actual = run.ops[v].start});
        }
      }
    }
  }

  /// Ops and sends share the slots or cores of their device; under `port`, transfers take turns at both ends.
  constexpr void check_sharing() {
    const auto num_devices = p.num_devices();
    std::vector<std::vector<occupation>> slots(num_devices);
    std::vector<std::vector<occupation>> out_port(num_devices);
    std::vector<std::vector<occupation>> in_port(num_devices);
    for (const op_id v : ids(p.num_ops())) {
      slots[where[v]].push_back({run.ops[v].start, run.ops[v].finish, v, none, run.ops[v].threads});
    }
    for (const auto* x : moves) {
      const op_id u = p.workload().producer(x->tensor);
      if (x->from != where[u]) {
        continue; // reported already
      }
      if (p.send_time(x->tensor, x->from, x->to) > 0) {
        slots[x->from].push_back({x->send_start, x->send_finish, u, x->tensor});
      }
      out_port[x->from].push_back({x->start, x->arrival, u, x->tensor});
      in_port[x->to].push_back({x->start, x->arrival, u, x->tensor});
    }
    for (const device_id d : ids(num_devices)) {
      check_device(d, slots[d]);
      if (options.contention == contention_model::port) {
        check_overlaps(out_port[d], fits_into(1), d, kind::out_port_overlap, cmp, found);
        check_overlaps(in_port[d], fits_into(1), d, kind::in_port_overlap, cmp, found);
      }
    }
    if (options.contention == contention_model::port) {
      check_waits(std::move(out_port), std::move(in_port));
    }
  }

  /// A device has a slot, or, under `teams`, cores for what runs on it.
  constexpr void check_device(device_id d, const std::vector<occupation>& items) {
    if constexpr (moldable_problem<Problem>) {
      if (options.teams) {
        check_overlaps(items, fits_onto(p.platform().machine(d)), d, kind::device_overlap, cmp, found);
        return;
      }
    }
    check_overlaps(items, fits_into(p.platform().slots(d)), d, kind::device_overlap, cmp, found);
  }

  /// No transfer waits while both its ports are free. The order in which a policy picks among ready items is not
  /// checked.
  constexpr void check_waits(std::vector<std::vector<occupation>> out_port,
                             std::vector<std::vector<occupation>> in_port) {
    std::vector<busy_times> out, in;
    for (const device_id d : ids(p.num_devices())) {
      out.emplace_back(std::move(out_port[d]), cmp);
      in.emplace_back(std::move(in_port[d]), cmp);
    }
    for (const auto* x : moves) {
      const op_id u = p.workload().producer(x->tensor);
      double possible = x->send_finish;
      while (x->from == where[u] && cmp.before(possible, x->start)) {
        const double later = in[x->to].free_from(out[x->from].free_from(possible));
        if (later == possible) {
          found.push_back({.what = kind::wrong_transfer_start, .op = u, .tensor = x->tensor, .device = x->to,
                           .expected = possible, .actual = x->start});
          break;
        }
        possible = later;
      }
    }
  }

  constexpr void check_memory() {
    const auto peak = peak_memory_of(p, where, run);
    for (const device_id d : ids(p.num_devices())) {
      if (const auto capacity = p.capacity(d); peak[d] > capacity) {
        found.push_back({.what = kind::out_of_memory, .device = d, .expected = static_cast<double>(capacity),
                         .actual = static_cast<double>(peak[d])});
      }
    }
  }
};

} // namespace detail

/// Everything that is wrong with a trace; empty if it is a possible run of the placement under the execution model.
/// What makes later checks meaningless ends the check: an incomplete placement, ops without records or on other
/// devices, unusable times. Under `port`, transfers must not wait while both their ports are free; which of several
/// goes first is left open; under `fair`, arrivals must be those that sharing makes of the starts. With teams, how much
/// ops that share cores and bandwidth slow each other down is left open. Complexity: O((n + m) log
/// (n + m)); under `port` a transfer that waits adds a look-up for each time that one of its ports gets free before it
/// starts; under `fair`, O(transfers × links of those under way at the same time), squared where all share.
template <class W, class P, class C>
constexpr std::vector<violation> validate(const problem<W, P, C>& p, const placement& where, const trace& run,
                                          validate_options options = {}) {
  auto found = validate(p, where, options.memory);
  if (!detail::is_complete(found)) {
    return found;
  }
  const auto of_placement = found.size();
  detail::trace_checker<problem<W, P, C>> check{p, where, run, options, std::move(found)};
  check.check_records();
  if (check.found.size() != of_placement) {
    return std::move(check.found);
  }
  check.check_durations();
  check.check_transfer_set();
  check.check_transfer_times();
  if (options.contention == contention_model::fair) {
    check.check_fair_arrivals();
  }
  check.check_inputs();
  check.check_sharing();
  detail::check_makespan(run, check.cmp, check.found);
  if ((options.check_memory || options.memory == memory_rule::over_time) && check.found.size() == of_placement) {
    check.check_memory();
  }
  return std::move(check.found);
}

} // namespace weft
