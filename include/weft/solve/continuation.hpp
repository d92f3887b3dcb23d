// SPDX-License-Identifier: BSL-1.0
/// The rest of an interrupted run as a problem of its own, for any strategy, and its plans as plans of the whole.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"
#include "weft/cost/lowered.hpp"
#include "weft/evaluate/evaluated_plan.hpp"
#include "weft/instance.hpp"
#include "weft/partition/assignment.hpp"
#include "weft/plan/run_state.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/check_plan.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/plan_of.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/detail/rest_of_run.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace weft::solve {

/// A run that goes on from a state. `problem()` is what is left, an ordinary problem: its ops are those that have not
/// begun, or have to run again since a device that is gone had what they made; its times are those of the whole run,
/// so that a makespan, a bound or a deadline of it is one of the whole. What had begun is an op on one more device,
/// the past, whose tensors arrive on each device when an op there can have them: at once where they are, when they
/// arrive where they are on their way, else after a transfer from the device that has them and is nearest. No op
/// starts on a device before what runs there has ended. An op whose group has begun stays with it. Capacities are less
/// what was placed.
/// ```
/// const weft::solve::continuation rest{problem, weft::state_at(trace, 0.3)};
/// const auto r = weft::solve::best(rest.problem()); // or a pipeline, a bound, an exact search …
/// const auto whole = rest.whole(r.plan);            // whole.plan, whole.record, whole.run.makespan
/// ```
/// Without contention. Exact on devices of one slot if sends take no time: then plans of `problem()` and continuations
/// are the same, with the same makespans. Else what holds slots, and what lies on a device and may be sent from there,
/// are ops there, which no strategy should delay but may; `whole` puts them first, and tells the exact makespan.
///
/// Works on an instance of the problem (`weft::lower`), and refers to the problem's workload and platform, which must
/// outlive it. The problem may have other costs, and a platform with other speeds or more devices, than the one that
/// the run began with, but the same workload. Complexity: O((n + m) log(n + m) + n · devices) and as many times of the
/// cost model; memory: a number per device for each tensor that was made and is needed, besides.
template <class Numbers = instance> // which it always is: a template costs nobody who does not use it
class continuation {
  static_assert(std::same_as<Numbers, instance>, "weft: write solve::continuation rest{problem, state}; it works on an "
                                                 "instance of any problem");

public:
  /// Throws `value_error` or `dangling_id_error` if the state is none of the problem, or if all devices are gone.
  template <must_be::problem Problem>
  continuation(const Problem& p, run_state s)
      : numbers_{p}, rest_{whole_problem(), lowered(std::move(s))}, workload_{rest_.make_workload()},
        platform_{rest_.make_platform()},
        problem_{workload_, platform_,
                 cost::lower(detail::continued_costs<Numbers>{rest_.facts()}, workload_, platform_)} {}
  continuation(const continuation&) = delete; // the problem refers to the rest
  continuation& operator=(const continuation&) = delete;

  const Numbers& problem() const { return problem_; }
  /// The ops of the whole that are ops 0, 1, 2, … of `problem()`. Those that follow are of the past.
  std::span<const op_id> left() const { return rest_.state().left(); }
  /// Of these the ones that had begun before: they run again.
  std::span<const op_id> again() const { return rest_.state().again(); }

  /// The rest of a plan of the whole, in its order, as a plan of `problem()`: a start for refiners. Nothing if it
  /// has ops on devices that are gone or where the problem forbids them, apart from their group, or where there is no
  /// memory to reserve for them.
  std::optional<plan> left_of(const plan& of_whole) const {
    const plan old = numbers_.tensors().lowered(of_whole);
    check_placement(whole_problem(), old.placement, "plan");
    plan x{placement(problem_.num_ops(), none), {}};
    const auto& facts = rest_.facts();
    for (const op_id i : ids(problem_.num_ops())) {
      const auto& o = facts.ops[i];
      const device_id d = x.placement[i] = o.op == none ? o.only : old.placement[o.op];
      if (o.op != none && (!facts.usable(d) || (o.only != none && o.only != d))) {
        return std::nullopt;
      }
    }
    if (!is_allowed(x.placement)) {
      return std::nullopt;
    }
    if (!old.order.empty()) {
      std::vector<std::uint8_t> marks(whole_problem().num_ops(), 0);
      check_order(whole_problem(), old.order, marks, "plan");
      translate(old, x);
    }
    return x;
  }

  /// A plan of `problem()` as one of the whole run, with its record: what had begun, as it was, and what the plan
  /// makes of the rest when its order is followed. Transfers are those that were or will be made, also where nobody
  /// needs them any more; ops that run again have the times of their last run. If the order contradicts the graph,
  /// there is no record, and the run is not complete.
  evaluated_plan whole(const plan& of_rest) const {
    const plan x = begun_first(of_rest);
    simulator<Numbers, schedule::static_order> sim{problem_};
    trace record;
    evaluated_plan made;
    made.run = sim.run(x, simulate::recorder{record});
    if (made.run.complete) {
      made.record = whole_record(record);
      made.run.makespan = made.record.makespan;
      made.run.transfer_bytes = 0;
      for (const auto& t : made.record.transfers) {
        made.run.transfer_bytes += whole_problem().workload().bytes(t.tensor);
      }
      made.plan = numbers_.tensors().original(whole_plan(x, made.record));
      made.record = numbers_.tensors().original(std::move(made.record));
    }
    made.score = made.run.makespan;
    return made;
  }

private:
  const Numbers& whole_problem() const { return *numbers_; }
  run_state lowered(run_state s) const {
    s.begun = numbers_.tensors().lowered(std::move(s.begun));
    return s;
  }
  /// Whether a placement of `problem()` keeps to kinds, groups and capacities.
  bool is_allowed(const placement& where) const {
    partition::assignment<Numbers> books{problem_};
    for (component_id c = 0; c < problem_.num_components(); ++c) {
      const auto members = problem_.members(c);
      const device_id d = where[members.front()];
      if (!books.fits(c, d) || std::any_of(members.begin(), members.end(), [&](op_id i) { return where[i] != d; })) {
        return false;
      }
      books.place(c, d);
    }
    return true;
  }
  bool is_past(op_id i) const { return i >= left().size(); }
  /// Whether tensor r of those that were made, made by u, would be sent to d, which is no op's affair if it is there.
  bool is_sent(std::uint32_t r, device_id d) const {
    const auto& x = rest_.made()[r];
    return x.sent.op != none && !rest_.is_there(r, d) && whole_problem().send_time(x.tensor, x.home, d) > 0;
  }
  tensor_id tensor(const detail::output_number& of) const {
    return *workload_.outputs(of.op).begin() + of.number;
  }
  /// Calls f(tensor number, d) for each send of v's tensors, which were made, that a placement of the rest causes, in
  /// the order of tensors, and of the first consumer on d.
  template <class F>
  void for_each_send(op_id sender, const placement& where, F f) const {
    std::vector<device_id> sent_to;
    for (const tensor_id t : workload_.outputs(sender)) {
      const auto& facts = rest_.facts().tensors[t];
      if (facts.home == none) {
        continue;
      }
      sent_to.clear();
      for (const op_id c : workload_.consumers(t)) {
        const device_id d = where[c];
        if (d != facts.home && is_sent(facts.row, d) && std::find(sent_to.begin(), sent_to.end(), d) == sent_to.end()) {
          sent_to.push_back(d);
          f(t, d);
        }
      }
    }
  }

  /// The steps of an order of the whole that are left, in x, whose placement is that.
  void translate(const plan& whole, plan& x) const {
    const auto& w = whole_problem().workload();
    for (const op_id v : rest_.first()) {
      x.order.push_back(step::run(v));
    }
    std::vector<std::uint8_t> is_mentioned(problem_.num_tensors() * whole_problem().num_devices(), 0);
    const auto mentioned = [&](tensor_id t, device_id d) -> std::uint8_t& {
      return is_mentioned[std::size_t{t} * whole_problem().num_devices() + d];
    };
    const auto is_needed = [&](tensor_id t, device_id d) {
      const auto consumers = workload_.consumers(t);
      return d != x.placement[workload_.producer(t)] &&
             std::any_of(consumers.begin(), consumers.end(), [&](op_id c) { return x.placement[c] == d; });
    };
    const auto of_rest = [&](tensor_id t) { // what is sent of it, or `none`
      if (rest_.op(w.producer(t)) != none) {
        return tensor(rest_.output(t));
      }
      const auto r = rest_.made_number(t);
      return r == none || rest_.made()[r].sent.op == none ? none : tensor(rest_.made()[r].sent);
    };
    for (const step& s : whole.order) {
      if (s.is_send()) {
        if (const tensor_id t = of_rest(s.tensor); t != none) {
          mentioned(t, s.to) = 1;
        }
      }
    }
    for (const step& s : whole.order) {
      if (s.is_send()) {
        const tensor_id t = of_rest(s.tensor);
        if (t != none && is_needed(t, s.to)) {
          const op_id u = workload_.producer(t);
          const auto r = rest_.facts().tensors[t].row;
          if (r == none || is_sent(r, s.to)) {
            x.order.push_back(step::send(u, t, s.to));
          }
        }
      } else if (const op_id i = rest_.op(s.op); i != none) {
        x.order.push_back(step::run(i));
      } else {
        for (const tensor_id t : w.outputs(s.op)) { // what comes right after it, of that what is not sent yet
          const auto r = rest_.made_number(t);
          if (r == none || rest_.made()[r].sent.op == none) {
            continue;
          }
          const auto& sent = rest_.made()[r].sent;
          for_each_send(sent.op, x.placement, [&](tensor_id of, device_id d) {
            if (of == tensor(sent) && !mentioned(of, d)) {
              mentioned(of, d) = 1;
              x.order.push_back(step::send(sent.op, of, d));
            }
          });
        }
      }
    }
  }

  /// The plan, with what had begun before all else. Sends that it does not mention follow.
  plan begun_first(const plan& of_rest) const {
    plan x = of_rest;
    if (x.order.empty()) {
      simulator<Numbers, schedule::static_order> sim{problem_};
      trace record;
      if (!sim.run(x, simulate::recorder{record}).complete) {
        return x;
      }
      x = simulate::plan_of(problem_, record);
    }
    order steps;
    steps.reserve(x.order.size());
    buffer<step> mentioned;
    for (const op_id v : rest_.first()) {
      steps.push_back(step::run(v));
    }
    const auto earlier = [](const step& a, const step& b) {
      return a.tensor != b.tensor ? a.tensor < b.tensor : a.to < b.to;
    };
    for (const step& s : x.order) {
      if (s.is_send() && is_past(s.op)) {
        mentioned.push_back(s);
      }
    }
    weft::sort(mentioned, earlier);
    for (const op_id v : rest_.first()) {
      for_each_send(v, x.placement, [&](tensor_id t, device_id d) {
        const step s = step::send(v, t, d);
        if (!std::binary_search(mentioned.begin(), mentioned.end(), s, earlier)) {
          steps.push_back(s);
        }
      });
    }
    for (const step& s : x.order) {
      if (s.is_send() || !is_past(s.op)) {
        steps.push_back(s);
      }
    }
    x.order = std::move(steps);
    return x;
  }

  trace whole_record(const trace& of_rest) const {
    const auto& state = rest_.state();
    trace whole = state.state().begun;
    for (const op_id v : left()) {
      whole.ops[v] = of_rest.ops[rest_.op(v)];
    }
    for (const auto& x : of_rest.transfers) {
      const auto& facts = rest_.facts().tensors[x.tensor];
      if (facts.row == none || (facts.home != none && is_sent(facts.row, x.to))) {
        whole.transfers.push_back(x);
        whole.transfers.back().tensor = facts.tensor;
      } else if (facts.home == none && facts.tensor != none && !rest_.is_there(facts.row, x.to)) {
        if (const device_id from = rest_.made()[facts.row].from[x.to]; from != none) {
          const double start = std::max(state.now(), time_of_copy(facts.tensor, from));
          whole.transfers.push_back({facts.tensor, from, x.to, start, start, start,
                                     start + whole_problem().transfer_time(facts.tensor, from, x.to)});
        }
      }
    }
    whole.makespan = 0;
    for (const auto& r : whole.ops) {
      whole.makespan = std::max(whole.makespan, r.finish);
    }
    for (const auto& x : whole.transfers) {
      whole.makespan = std::max(whole.makespan, x.arrival);
    }
    return whole;
  }
  double time_of_copy(tensor_id t, device_id d) const {
    for (const auto& c : rest_.state().copies(t)) {
      if (c.device == d) {
        return c.time;
      }
    }
    return 0;
  }

  /// What had begun, by start, then what is left, in the order of x.
  plan whole_plan(const plan& x, const trace& record) const {
    plan whole{placement(whole_problem().num_ops(), none), {}};
    buffer<op_id> begun;
    for (const op_id v : whole_problem().topological_order()) {
      whole.placement[v] = record.ops[v].device;
      if (rest_.op(v) == none) {
        begun.push_back(v);
      }
    }
    weft::stable_sort(begun, [&](op_id u, op_id v) {
      const auto& a = record.ops[u];
      const auto& b = record.ops[v];
      return a.start != b.start ? a.start < b.start : a.finish < b.finish;
    });
    for (const op_id v : begun) {
      whole.order.push_back(step::run(v));
    }
    for (const step& s : x.order) {
      if (!s.is_send()) {
        if (!is_past(s.op)) {
          whole.order.push_back(step::run(left()[s.op]));
        }
      } else if (const tensor_id t = rest_.facts().tensors[s.tensor].tensor;
                 whole.placement[whole_problem().workload().producer(t)] == x.placement[s.op]) {
        whole.order.push_back(step::send(whole_problem().workload().producer(t), t, s.to));
      }
    }
    return whole;
  }

  lowered_problem numbers_;
  detail::rest_of_run<Numbers> rest_;
  workload workload_;
  platform<> platform_;
  Numbers problem_;
};

} // namespace weft::solve
