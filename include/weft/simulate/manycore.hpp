// SPDX-License-Identifier: BSL-1.0
/// Simulates plans on devices that run several moldable ops at once under a concurrency strategy.
#pragma once

#include "weft/concurrency/controller.hpp"
#include "weft/core/heap.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/release_counter.hpp"
#include "weft/plan/plan.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/placed_flow.hpp"
#include "weft/simulate/observer.hpp"
#include "weft/simulate/run_policy.hpp"
#include "weft/simulate/simulator.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace weft {

/// A problem whose devices have insides and whose costs depend on threads: the platform has `machine(d)` and the cost
/// model is moldable; see concurrency/moldable.hpp.
template <class Problem>
concept moldable_problem = platform_parts::has_machines<typename Problem::platform_type> &&
                           moldable_cost_for<typename Problem::cost_type, typename Problem::workload_type>;

namespace why_not {
template <class Problem>
struct moldable_problem : problem<Problem> {
  static_assert(!is_problem<Problem> || platform_parts::has_machines<typename Problem::platform_type>,
                "weft: concurrency strategies need to know devices from the inside; this platform lacks "
                "machine(device_id) const; weft::with_machines{platform, machines} adds it");
  static_assert(!is_problem<Problem> ||
                  moldable_cost_for<typename Problem::cost_type, typename Problem::workload_type>,
                "weft: concurrency strategies need times by team; this cost model lacks seconds(workload, op_id, "
                "machine, team) const; see docs/concepts/moldable_cost_for.md");
};
} // namespace why_not

namespace must_be {
template <class Problem>
concept moldable_problem = weft::moldable_problem<Problem> || explained<why_not::moldable_problem<Problem>>;
} // namespace must_be

namespace simulate {

/// Divides a capacity among demands so that nobody gets more than asked and nobody could get more without taking from
/// one that has less (max–min fairness). Returns each demand's share of what it asked, from 0 to 1.
/// Complexity: O(k log k).
class max_min_shares {
public:
  void divide(std::span<const double> demands, double capacity, std::span<double> granted) {
    by_size_.clear();
    for (std::uint32_t i = 0; i < demands.size(); ++i) {
      by_size_.push_back(i);
    }
    weft::sort(by_size_, [demands](auto a, auto b) {
      return demands[a] < demands[b] || (demands[a] == demands[b] && a < b);
    });
    double left = capacity;
    for (std::size_t k = 0; k < by_size_.size(); ++k) {
      const auto i = by_size_[k];
      const double share = left / static_cast<double>(by_size_.size() - k);
      const double got = std::min(demands[i], share);
      granted[i] = demands[i] > 0 ? got / demands[i] : 1;
      left -= got;
    }
  }

private:
  std::vector<std::uint32_t> by_size_;
};

} // namespace simulate

/// Runs plans of one moldable problem under one concurrency strategy. On each device the strategy decides when an op
/// starts and with how many threads; a plan's order is not used. What it knows of times is a table per device (by
/// default what the cost model says, or one from a profile), what happens is the cost model plus interference:
/// - ops that run side by side share their sockets' memory bandwidth max–min fairly; an op that asks for B bytes/s
///   when alone and is granted g < B runs at g / B of its speed,
/// - an op whose threads share a core with another op's runs at `smt_gain / 2` of its speed (its slowest thread counts),
/// - an op with several threads whose type's last team had another number takes `resize_seconds` longer.
/// Transfers between devices take `transfer_time` at full rate; the sends of the execution model are not queued here.
///
/// Complexity: O((n + m)(log(n + m) + running + ready)) per run.
template <must_be::moldable_problem Problem, must_be::concurrency_strategy Strategy>
class manycore_simulator {
  using workload_type = typename Problem::workload_type;

public:
  /// Times as the cost model has them; classes by `op_classes`.
  manycore_simulator(const Problem& p, const Strategy& s)
      : manycore_simulator{p, s, tables_of(p, concurrency::op_classes{p.workload()})} {}

  /// One table per device: what the strategy believes. Throws `value_error` unless there is one per device.
  manycore_simulator(const Problem& p, const Strategy& s, std::vector<concurrency::time_table> beliefs)
      : problem_{&p}, flow_{p}, beliefs_{std::move(beliefs)}, waiting_{p.workload()} {
    if (beliefs_.size() != p.num_devices()) {
      throw value_error("manycore_simulator", std::to_string(beliefs_.size()) + " time tables for " +
                                                std::to_string(p.num_devices()) + " devices");
    }
    const concurrency::op_graph graph{p.workload()};
    for (const device_id d : ids(p.num_devices())) {
      const machine& m = p.platform().machine(d);
      m.check();
      devices_.push_back({m, {beliefs_[d], m, s, graph}});
    }
  }

  manycore_simulator(manycore_simulator&&) = default;
  manycore_simulator(const manycore_simulator&) = delete; // the controllers refer to the tables
  manycore_simulator& operator=(manycore_simulator&&) = default;
  manycore_simulator& operator=(const manycore_simulator&) = delete;

  /// Simulates one run. What was learned of interference stays for the next. Precondition: the placement is complete.
  template <class Observer = simulate::no_observer>
  simulation run(const plan& decided, Observer&& observer = {}) {
    simulate::check_observer<std::remove_cvref_t<Observer>>();
    flow_.assign(decided.placement);
    start();
    if constexpr (requires { observer.on_begin(flow_); }) {
      observer.on_begin(flow_);
    }
    simulation result;
    double now = 0;
    dispatch(now, observer);
    for (;;) {
      const auto [time, device] = next_event();
      if (time == std::numeric_limits<double>::infinity()) {
        break;
      }
      now = std::max(now, time);
      ++result.num_events;
      if (device == none) {
        arrive(now, observer);
      } else {
        finish(device, now, observer);
      }
      if (next_event().first > now) { // all that happens at one instant takes effect before anything starts
        dispatch(now, observer);
      }
    }
    result.complete = num_finished_ == flow_.num_ops();
    result.makespan = result.complete ? now : std::numeric_limits<double>::infinity();
    for (const transfer& x : flow_.transfers()) {
      result.transfer_bytes += problem_->workload().bytes(x.tensor);
    }
    return result;
  }
  template <class Other, class Observer = simulate::no_observer>
    requires(!std::convertible_to<const Other&, const plan&>)
  simulation run(const Other&, Observer&& = {}) {
    return (void)must_be::plan<Other>, simulation{};
  }

  /// Forgets what was learned of interference, so that the next run depends on its plan alone.
  void forget() {
    for (auto& d : devices_) {
      d.control.forget();
    }
  }

  /// What the strategy has learned of interference on a device.
  const concurrency::interference_memory& interference(device_id d) const {
    return devices_[d].control.interference();
  }

private:
  /// An op's way to its end: `left` seconds of work at full speed, done at `rate` per second since `since`.
  struct progress {
    double left = 0;
    double rate = 1;
    double bandwidth = 0; ///< bytes/s that it asks for at full speed
  };
  struct device_state {
    weft::machine machine;
    concurrency::controller<Strategy> control;
    std::vector<progress> running = {}; ///< by the controller's index
    double since = 0;                   ///< when `left` was last brought up to date
    double next_finish = std::numeric_limits<double>::infinity();
    std::size_t next_index = 0;
    bool changed = false;
  };

  static std::vector<concurrency::time_table> tables_of(const Problem& p, const concurrency::op_classes& classes) {
    std::vector<concurrency::time_table> tables;
    for (const device_id d : ids(p.num_devices())) {
      tables.push_back(concurrency::tabulate(p.workload(), classes, p.platform().machine(d), p.cost()));
    }
    return tables;
  }

  void start() {
    num_finished_ = 0;
    num_arrivals_ = 0;
    arrivals_.resize(flow_.transfers().size());
    waiting_.assign(flow_.num_inputs());
    for (auto& d : devices_) {
      d.control.reset();
      d.running.clear();
      d.since = 0;
      d.next_finish = std::numeric_limits<double>::infinity();
      d.changed = false;
    }
    waiting_.for_each_ready([this](op_id v) { make_ready(v); });
  }

  void make_ready(op_id v) {
    auto& d = devices_[flow_.placement()[v]];
    d.control.on_ready(v);
    d.changed = true;
  }

  /// When and where something happens next; the device is `none` for an arrival. Ties: arrivals, then devices.
  std::pair<double, device_id> next_event() const {
    std::pair<double, device_id> next{std::numeric_limits<double>::infinity(), none};
    if (num_arrivals_ > 0) {
      next.first = arrivals_[0].key;
    }
    for (device_id d = 0; d < devices_.size(); ++d) {
      if (devices_[d].next_finish < next.first) {
        next = {devices_[d].next_finish, d};
      }
    }
    return next;
  }

  template <class Observer>
  void finish(device_id where, double now, Observer& observer) {
    auto& d = devices_[where];
    advance(d, now);
    const std::size_t index = d.next_index;
    const op_id v = d.control.active(index).what.op;
    d.control.on_finish(index, now);
    d.running[index] = d.running.back();
    d.running.pop_back();
    d.changed = true;
    set_rates(d);
    ++num_finished_;
    if constexpr (requires { observer.on_op_finish(v, where, now); }) {
      observer.on_op_finish(v, where, now);
    }
    for (const tensor_id t : problem_->workload().outputs(v)) {
      for (const std::uint32_t k : flow_.transfers_of(t)) {
        const transfer& x = flow_.transfers()[k];
        const double there = now + x.transfer_time;
        keyed_heap.push(arrivals_.data(), num_arrivals_++, {there, k});
        if constexpr (requires { observer.on_transfer(k, x, now, now); }) {
          observer.on_transfer(k, x, now, now);
        }
      }
      deliver(flow_.local_consumers(t));
    }
  }

  template <class Observer>
  void arrive(double now, Observer& observer) {
    const std::uint32_t k = arrivals_[0].number;
    keyed_heap.pop(arrivals_.data(), num_arrivals_--);
    if constexpr (requires { observer.on_arrival(k, flow_.transfers()[k], now); }) {
      observer.on_arrival(k, flow_.transfers()[k], now);
    }
    deliver(flow_.consumers_of_transfer(k));
  }

  void deliver(std::span<const op_id> consumers) {
    for (const op_id v : consumers) {
      if (waiting_.arrive(v)) {
        make_ready(v);
      }
    }
  }

  template <class Observer>
  void dispatch(double now, Observer& observer) {
    for (device_id where = 0; where < devices_.size(); ++where) {
      auto& d = devices_[where];
      if (!d.changed) {
        continue;
      }
      d.changed = false;
      advance(d, now);
      while (const auto index = d.control.start_next(now)) {
        const auto& a = d.control.active(*index);
        const op_id v = a.what.op;
        const auto& w = problem_->workload();
        const double alone = rounded(concurrency::checked_seconds(problem_->cost(), w, v, d.machine, a.what.team));
        double bandwidth = 0;
        if constexpr (concurrency_parts::has_memory_traffic<typename Problem::cost_type, workload_type>) {
          bandwidth = alone > 0 ? problem_->cost().memory_traffic(w, v, d.machine, a.what.team) / alone : 0;
        }
        d.running.push_back({alone + (a.resized ? d.machine.resize_seconds : 0), 1, bandwidth});
        if constexpr (requires { observer.on_op_start(v, where, now); }) {
          observer.on_op_start(v, where, now);
        }
        if constexpr (requires { observer.on_team(v, a.what, now); }) {
          observer.on_team(v, a.what, now);
        }
      }
      set_rates(d);
    }
  }

  static void advance(device_state& d, double now) {
    for (progress& r : d.running) {
      r.left -= rounded((now - d.since) * r.rate);
    }
    d.since = now;
  }

  /// Recomputes how fast the running ops are, and which ends first.
  void set_rates(device_state& d) {
    const std::size_t k = d.running.size();
    for (std::size_t i = 0; i < k; ++i) {
      double users = 1;
      for (const auto core : d.control.active(i).cores) {
        users = std::max(users, static_cast<double>(d.control.cores().users(core)));
      }
      d.running[i].rate = users > 1 ? d.machine.smt_gain / users : 1;
    }
    share_bandwidth(d);
    d.next_finish = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < k; ++i) {
      const double at = d.since + std::max(d.running[i].left, 0.0) / d.running[i].rate;
      if (at < d.next_finish) {
        d.next_finish = at;
        d.next_index = i;
      }
    }
  }

  void share_bandwidth(device_state& d) {
    const std::size_t k = d.running.size();
    if (k < 2) {
      return; // alone, an op has what it asks for
    }
    demands_.assign(k, 0);
    granted_.assign(k, 1);
    slowest_.assign(k, 1);
    for (std::uint32_t socket = 0; socket < d.machine.sockets; ++socket) {
      double wanted = 0;
      for (std::size_t i = 0; i < k; ++i) {
        const auto& cores = d.control.active(i).cores;
        const auto here = std::count_if(cores.begin(), cores.end(), [&](std::uint32_t core) {
          return core / d.machine.cores_per_socket == socket;
        });
        demands_[i] = d.running[i].bandwidth * d.running[i].rate * static_cast<double>(here) /
                      static_cast<double>(cores.size());
        wanted += demands_[i];
      }
      if (wanted > d.machine.socket_bandwidth) {
        sharing_.divide(demands_, d.machine.socket_bandwidth, granted_);
        for (std::size_t i = 0; i < k; ++i) {
          slowest_[i] = std::min(slowest_[i], granted_[i]);
        }
      }
    }
    for (std::size_t i = 0; i < k; ++i) {
      d.running[i].rate *= slowest_[i];
    }
  }

  const Problem* problem_;
  placed_flow<Problem> flow_;
  std::vector<concurrency::time_table> beliefs_; // by device; the controllers refer to them
  std::vector<device_state> devices_;
  graph::release_counter<> waiting_;   // for inputs
  std::vector<keyed_number> arrivals_; // a heap of transfers by time
  std::size_t num_arrivals_ = 0;
  std::size_t num_finished_ = 0;
  simulate::max_min_shares sharing_;
  std::vector<double> demands_, granted_, slowest_;
};

namespace simulate {

template <concurrency_strategy Strategy, class Problem>
  requires moldable_problem<Problem>
struct engine<Strategy, Problem> {
  using type = manycore_simulator<Problem, Strategy>;
  static constexpr bool runs_teams = true;
};

} // namespace simulate

} // namespace weft
