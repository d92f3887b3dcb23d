// SPDX-License-Identifier: BSL-1.0
/// Checks a run that continues from a state under another plan, independently of the code that makes such plans.
#pragma once

#include "weft/core/error.hpp"
#include "weft/plan/run_state.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"
#include "weft/validate/occupation.hpp"
#include "weft/validate/trace.hpp"
#include "weft/validate/violation.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft {

namespace detail {

/// The checks of one trace against the state from which it goes on.
template <class Problem>
struct continued_checker {
  using kind = violation::kind;

  struct presence { ///< of a tensor on a device
    tensor_id tensor;
    device_id device;
    double since;
    bool before; ///< it was there, or on its way, in the state
  };

  const Problem& p;
  const run_state& state;
  const trace& run;
  instant_comparison cmp;
  std::vector<violation> found = {};
  std::vector<std::uint8_t> gone = std::vector<std::uint8_t>(p.num_devices(), 0);
  std::vector<std::uint8_t> fresh = std::vector<std::uint8_t>(p.num_ops(), 0); ///< ops that ran from the state on
  std::vector<presence> present = {}; ///< by tensor and device
  std::vector<const transfer_record*> moves = {}; ///< those from the state on

  bool is_lost(const transfer_record& x) const { return x.arrival > state.now && (gone[x.from] || gone[x.to]); }

  /// Returns whether further checks have something to work on.
  bool check_records() {
    if (run.ops.size() != p.num_ops()) {
      found.push_back({.what = kind::wrong_size, .expected = static_cast<double>(p.num_ops()),
                       .actual = static_cast<double>(run.ops.size())});
      return false;
    }
    for (const device_id d : state.gone) {
      gone[d] = 1;
    }
    for (const op_id v : ids(p.num_ops())) {
      const auto& r = run.ops[v];
      if (r.device == none) {
        found.push_back({.what = kind::op_missing, .op = v});
      } else if (r.device >= p.num_devices()) {
        found.push_back({.what = kind::bad_device, .op = v, .device = r.device});
      } else if (!is_time(r.start) || !is_time(r.finish)) {
        found.push_back({.what = kind::bad_time, .op = v, .device = r.device,
                         .actual = is_time(r.start) ? r.finish : r.start});
      }
    }
    for (const auto& x : run.transfers) {
      if (x.tensor >= p.num_tensors() || x.from >= p.num_devices() || x.to >= p.num_devices()) {
        found.push_back({.what = kind::bad_device, .tensor = x.tensor, .device = x.to});
      }
      for (const double time : {x.send_start, x.send_finish, x.start, x.arrival}) {
        if (!is_time(time)) {
          found.push_back({.what = kind::bad_time, .tensor = x.tensor, .device = x.to, .actual = time});
        }
      }
    }
    return found.empty();
  }

  /// What had begun is as it was, unless its device is gone; all else is from now on, on devices that are there.
  void check_history() {
    for (const op_id v : ids(p.num_ops())) {
      const auto& was = state.begun.ops[v];
      const auto& r = run.ops[v];
      const bool stays = was.device != none && !(gone[was.device] && was.finish > state.now);
      if (stays && r == was) {
        continue;
      }
      fresh[v] = 1;
      if (stays && !gone[was.device]) {
        found.push_back({.what = kind::op_on_wrong_device, .op = v, .device = r.device});
      } else if (gone[r.device]) {
        found.push_back({.what = kind::bad_device, .op = v, .device = r.device});
      } else if (cmp.before(r.start, state.now)) {
        found.push_back({.what = kind::bad_time, .op = v, .device = r.device, .actual = r.start});
      }
      if (!p.workload().kinds(v).contains(p.platform().kind(r.device))) {
        found.push_back({.what = kind::kind_not_allowed, .op = v, .device = r.device});
      }
      if (const double time = p.compute_time(v, r.device); !cmp.same(r.start + time, r.finish)) {
        found.push_back({.what = kind::wrong_duration, .op = v, .device = r.device, .expected = time,
                         .actual = r.finish - r.start});
      }
    }
    const auto earlier = [](const transfer_record* a, const transfer_record* b) {
      return a->tensor != b->tensor ? a->tensor < b->tensor : a->to != b->to ? a->to < b->to : a->arrival < b->arrival;
    };
    std::vector<const transfer_record*> begun;
    for (const auto& x : state.begun.transfers) {
      if (!is_lost(x)) {
        begun.push_back(&x);
      }
    }
    for (const auto& x : run.transfers) {
      moves.push_back(&x);
    }
    std::sort(begun.begin(), begun.end(), earlier);
    std::sort(moves.begin(), moves.end(), earlier);
    auto next = begun.begin();
    const auto is_begun = [&](const transfer_record* x) {
      for (; next != begun.end() && earlier(*next, x); ++next) {
        found.push_back({.what = kind::transfer_missing, .tensor = (*next)->tensor, .device = (*next)->to});
      }
      const bool is_it = next != begun.end() && **next == *x;
      next += is_it ? 1 : 0;
      return is_it;
    };
    moves.erase(std::remove_if(moves.begin(), moves.end(), is_begun), moves.end());
    for (; next != begun.end(); ++next) {
      found.push_back({.what = kind::transfer_missing, .tensor = (*next)->tensor, .device = (*next)->to});
    }
  }

  /// Groups that did not lose their device, and the rest of those that did, are together; and what runs from the state
  /// on has room besides what had begun, which is there even if its device has less memory now.
  void check_placement() {
    const auto& w = p.workload();
    std::vector<op_id> first(static_cast<std::size_t>(w.num_groups()), none);
    std::vector<double> demand(p.num_devices(), 0), begun(p.num_devices(), 0);
    for (const op_id v : ids(p.num_ops())) {
      const device_id d = run.ops[v].device;
      if (gone[d]) {
        continue;
      }
      if (const group_id g = w.group(v); g != none) {
        if (first[g] == none) {
          first[g] = v;
        } else if (run.ops[first[g]].device != d) {
          found.push_back({.what = kind::colocation_broken, .op = v, .other = first[g], .device = d});
        }
      }
      const device_id m = p.memory_of(d);
      const double before = demand[m];
      demand[m] += static_cast<double>(w.resident_bytes(v));
      for (const tensor_id t : w.outputs(v)) {
        demand[m] += static_cast<double>(w.bytes(t));
      }
      for (const tensor_id t : w.inputs(v)) {
        demand[m] += static_cast<double>(w.bytes(t));
      }
      begun[m] += fresh[v] == 0 ? demand[m] - before : 0;
    }
    for (const device_id d : ids(p.num_devices())) {
      if (const auto capacity = static_cast<double>(p.capacity(d)); demand[d] > std::max(capacity, begun[d])) {
        found.push_back({.what = kind::capacity_exceeded, .device = d, .expected = capacity, .actual = demand[d]});
      }
    }
  }

  void find_tensors() {
    const auto& w = p.workload();
    for (const op_id v : ids(p.num_ops())) {
      const auto& was = state.begun.ops[v];
      if (was.device != none && !gone[was.device]) {
        for (const tensor_id t : w.outputs(v)) {
          present.push_back({t, was.device, was.finish, true});
        }
        for (const tensor_id t : w.inputs(v)) {
          present.push_back({t, was.device, was.start, true});
        }
      }
      if (fresh[v]) {
        for (const tensor_id t : w.outputs(v)) {
          present.push_back({t, run.ops[v].device, run.ops[v].finish, false});
        }
      }
    }
    for (const auto& x : state.begun.transfers) {
      if (!is_lost(x) && !gone[x.to]) {
        present.push_back({x.tensor, x.to, x.arrival, true});
      }
    }
    for (const auto* x : moves) {
      present.push_back({x->tensor, x->to, x->arrival, false});
    }
    std::sort(present.begin(), present.end(), [](const presence& a, const presence& b) {
      return a.tensor != b.tensor   ? a.tensor < b.tensor
             : a.device != b.device ? a.device < b.device
                                    : a.since < b.since;
    });
  }
  /// The first time that t is on d, if it ever is.
  const presence* find(tensor_id t, device_id d) const {
    const auto at = std::lower_bound(present.begin(), present.end(), tensor_and_device{t, d},
                                     [](const presence& x, const tensor_and_device& key) {
                                       return tensor_and_device{x.tensor, x.device} < key;
                                     });
    return at != present.end() && at->tensor == t && at->device == d ? &*at : nullptr;
  }

  void check_inputs() {
    for (const op_id v : ids(p.num_ops())) {
      for (const tensor_id t : p.workload().inputs(v)) {
        if (!fresh[v]) {
          continue;
        }
        const device_id d = run.ops[v].device;
        if (const auto* there = find(t, d); there == nullptr) {
          found.push_back({.what = kind::transfer_missing, .op = v, .tensor = t, .device = d});
        } else if (cmp.before(run.ops[v].start, there->since)) {
          found.push_back({.what = kind::input_not_ready, .op = v, .other = p.workload().producer(t), .tensor = t,
                           .device = d, .expected = there->since, .actual = run.ops[v].start});
        }
      }
    }
  }

  /// A tensor goes from where it is to where somebody waits for it, once, as soon as it may.
  void check_transfers() {
    std::vector<tensor_and_device> seen;
    for (const auto* x : moves) {
      const op_id u = p.workload().producer(x->tensor);
      const auto report = [&](kind what, double expected = 0, double actual = 0) {
        found.push_back({.what = what, .op = u, .tensor = x->tensor, .device = x->to, .expected = expected,
                         .actual = actual});
      };
      bool is_needed = false;
      for (const op_id c : p.workload().consumers(x->tensor)) {
        is_needed = is_needed || (fresh[c] && run.ops[c].device == x->to);
      }
      if (const auto* there = find(x->tensor, x->to); !is_needed || there->before || gone[x->to]) {
        report(kind::transfer_spurious);
      }
      seen.emplace_back(x->tensor, x->to);
      const auto* there = gone[x->from] ? nullptr : find(x->tensor, x->from);
      if (there == nullptr || x->from == x->to) {
        found.push_back({.what = kind::transfer_from_wrong_device, .op = u, .tensor = x->tensor, .device = x->from});
        continue;
      }
      const double possible = std::max(there->since, state.now);
      const double send = p.send_time(x->tensor, x->from, x->to);
      const double under_way = p.transfer_time(x->tensor, x->from, x->to);
      if (cmp.before(x->send_start, possible)) {
        report(kind::transfer_before_producer, possible, x->send_start);
      } else if (send == 0 && !cmp.same(x->send_start, possible)) {
        report(kind::wrong_transfer_start, possible, x->send_start);
      }
      if (!cmp.same(x->send_start + send, x->send_finish)) {
        report(kind::wrong_send_time, send, x->send_finish - x->send_start);
      }
      if (!cmp.same(x->start, x->send_finish)) {
        report(kind::wrong_transfer_start, x->send_finish, x->start);
      }
      if (!cmp.same(x->start + under_way, x->arrival)) {
        report(kind::wrong_transfer_time, under_way, x->arrival - x->start);
      }
    }
    std::sort(seen.begin(), seen.end());
    for (std::size_t k = 1; k < seen.size(); ++k) {
      if (seen[k] == seen[k - 1]) {
        found.push_back({.what = kind::transfer_repeated, .tensor = seen[k].first, .device = seen[k].second});
      }
    }
  }

  /// What runs or is sent from now on, and what was under way, share the slots. What was over by then is history.
  void check_slots() {
    std::vector<std::vector<occupation>> slots(p.num_devices());
    for (const op_id v : ids(p.num_ops())) {
      if (const auto& r = run.ops[v]; fresh[v] || r.finish > state.now) {
        slots[r.device].push_back({std::max(r.start, state.now), r.finish, v, none});
      }
    }
    for (const auto& x : run.transfers) {
      if (x.send_start < x.send_finish && x.send_finish > state.now) {
        slots[x.from].push_back(
          {std::max(x.send_start, state.now), x.send_finish, p.workload().producer(x.tensor), x.tensor});
      }
    }
    for (const device_id d : ids(p.num_devices())) {
      check_overlaps(slots[d], fits_into(p.platform().slots(d)), d, kind::device_overlap, cmp, found);
    }
  }
};

} // namespace detail

/// Everything that is wrong with a whole run that went on from a state, such as `solve::continuation` makes; empty if
/// it is possible under the execution model without contention. What had begun must be as it was, and only what was on
/// devices that are gone may run again. Tensors stay where they are, and go, from now on, from any device that has
/// them, once to each that needs them and has them not. The problem is the one from which the run goes on: what had
/// begun may have taken other times. Of `options` the tolerance counts. Throws `value_error` if the state is of
/// another number of ops. Complexity: O((n + m) log(n + m)).
template <class W, class P, class C>
std::vector<violation> validate(const problem<W, P, C>& p, const run_state& state, const trace& run,
                                validate_options options = {}) {
  if (state.begun.ops.size() != p.num_ops()) {
    throw value_error("run_state", "it has records of " + std::to_string(state.begun.ops.size()) +
                                     " ops, and the workload has " + std::to_string(p.num_ops()));
  }
  detail::continued_checker<problem<W, P, C>> check{p, state, run, detail::instant_comparison{options.tolerance}};
  if (check.check_records()) {
    check.check_history();
    check.check_placement();
    check.find_tensors();
    check.check_inputs();
    check.check_transfers();
    check.check_slots();
    detail::check_makespan(run, check.cmp, check.found);
  }
  return std::move(check.found);
}

} // namespace weft
