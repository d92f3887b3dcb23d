// SPDX-License-Identifier: BSL-1.0
/// The reference simulator: runs a placement under a ready policy, event by event.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/heap.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/release_counter.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/keyed_queue.hpp"
#include "weft/simulate/contention.hpp"
#include "weft/simulate/network.hpp"
#include "weft/simulate/observer.hpp"
#include "weft/simulate/simulation.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace weft {

/// Runs plans of one problem under one ready policy on one network; the execution model is docs/execution_model.md. Set
/// up once, run often: `run` does not allocate, and neither do the library's policies and networks, `fair_sharing` once
/// it has seen as many pairs of devices that talk to each other.
///
/// A device that is free asks the policy's queue for the next of its ready items. Everything that happens at one
/// instant takes effect before any device asks; devices then ask in ascending order. What becomes ready at one
/// instant is queued in this order: first what the finished items of the instant release, by item (ops ascending,
/// then sends), then what arrivals release, by transfer; of one op's, the sends of all its tensors first (others wait
/// for them), then their local consumers, tensor by tensor.
///
/// Complexity: O((n + m) log(n + m)) per run. Memory: O(n + m).
template <must_be::problem Problem, class Policy, class Network = simulate::no_contention>
  requires must_be::ready_policy_for<Policy, Problem>
class simulator {
  using queue_type = schedule::queue_for<Policy, Problem>;
  using network_type = decltype(std::declval<const Network&>().state_for(std::declval<const Problem&>()));
  static constexpr bool holds_transfers = simulate::holds_transfers<network_type>;
  static constexpr bool has_clock = simulate::has_clock<network_type>;
  static_assert(holds_transfers || !simulate::resembles_network<network_type>,
                "weft: this network's state has some of reset(std::span<const transfer>), request(std::uint32_t, double), "
                "settle(double, begin), idle(), next() and advance(double, arrive), but not the first three, without which "
                "transfers would not affect each other; see docs/concepts/network_for.md");

public:
  constexpr explicit simulator(const Problem& p, Policy policy = {}, Network network = {})
      : problem_{&p}, policy_{policy}, flow_{p}, queue_{p}, network_{network.state_for(p)},
        waiting_{p.workload()}, free_slots_(p.num_devices(), 0), touched_(p.num_devices(), 0),
        is_touched_(p.num_devices(), 0) {
    std::size_t slots = 0;
    for (const device_id d : ids(p.num_devices())) {
      slots += p.platform().slots(d);
    }
    events_.assign(std::min(slots, flow_.max_items()) + p.num_edges(), event{});
  }

  /// Simulates one run. Throws `value_error` or `dangling_id_error` if the plan does not place every op on a device
  /// that exists, or, under a policy that follows it, if its order does not have every op once; the former costs O(n).
  template <class Observer = simulate::no_observer>
  constexpr simulation run(const plan& decided, Observer&& observer = {}) {
    prepare(decided);
    return run_prepared(observer);
  }

  template <class Other, class Observer = simulate::no_observer>
    requires(!std::convertible_to<const Other&, const plan&>)
  constexpr simulation run(const Other&, Observer&& = {}) {
    return (void)must_be::plan<Other>, simulation{};
  }

  /// The first half of `run`: finds the transfers and lets the policy rank what there is to run. The plan must
  /// outlive the second half.
  constexpr void prepare(const plan& decided) {
    flow_.assign(decided.placement);
    queue_.reset(policy_, schedule::context<Problem>{flow_, decided.order});
  }

  /// The second half of `run`, once after each `prepare`.
  template <class Observer = simulate::no_observer>
  constexpr simulation run_prepared(Observer&& observer = {}) {
    simulate::check_observer<std::remove_cvref_t<Observer>>();
    start();
    if constexpr (requires { observer.on_begin(flow_); }) {
      observer.on_begin(flow_);
    }
    simulation result;
    double now = 0;
    dispatch(now, observer);
    while (something_is_under_way()) {
      now = next_time();
      do {
        if (!has_clock || next_event_is_at(now)) {
          const auto code = events_[0].code;
          event_operations.pop(events_.data(), num_events_--);
          ++result.num_events;
          complete(code, now, observer);
        } else if constexpr (has_clock) {
          network_.advance(now, [&](std::uint32_t k) {
            ++result.num_events;
            arrive(k, now, observer);
          });
        }
      } while (goes_on(now, observer));
      dispatch(now, observer);
    }
    for (const transfer& x : flow_.transfers()) {
      result.transfer_bytes += problem_->workload().bytes(x.tensor);
    }
    result.complete = num_finished_ == flow_.num_ops();
    result.makespan = result.complete ? now : std::numeric_limits<double>::infinity();
    return result;
  }

  /// The flow of the last run, for its observers.
  constexpr const placed_flow<Problem>& flow() const { return flow_; }

private:
  /// Something that ends: item `code`, or, from `num_items()` on, transfer `code - num_items()`.
  struct event {
    double time = 0;
    std::uint64_t code = 0; ///< items and transfers together may be more than an id can number
  };
  struct sooner {
    constexpr bool operator()(const event& a, const event& b) const {
      return a.time < b.time || (a.time == b.time && a.code < b.code);
    }
  };
  static constexpr heap_operations<event, sooner> event_operations{};

  constexpr bool next_event_is_at(double now) const { return num_events_ > 0 && events_[0].time == now; }
  constexpr double next_time() const {
    if constexpr (has_clock) {
      return num_events_ > 0 ? std::min(events_[0].time, network_.next()) : network_.next();
    } else {
      return events_[0].time;
    }
  }
  constexpr bool something_is_under_way() const {
    if constexpr (has_clock) {
      return num_events_ > 0 || !network_.idle();
    } else {
      return num_events_ > 0;
    }
  }
  constexpr bool something_ends_at(double now) const {
    if constexpr (has_clock) {
      return next_event_is_at(now) || (!network_.idle() && network_.next() == now);
    } else {
      return next_event_is_at(now);
    }
  }

  /// Whether something more ends now. If nothing else does, the network decides which transfers begin.
  template <class Observer>
  constexpr bool goes_on(double now, Observer& observer) {
    if (something_ends_at(now)) {
      return true;
    }
    if constexpr (holds_transfers) {
      network_.settle(now, [&](std::uint32_t k, double since) {
        return begin_transfer(k, since, now, observer) > now;
      });
      return something_ends_at(now);
    }
    return false;
  }

  constexpr void start() {
    if constexpr (holds_transfers) {
      network_.reset(flow_.transfers());
    }
    num_events_ = num_touched_ = 0;
    num_finished_ = 0;
    waiting_.assign(flow_.num_inputs());
    for (const device_id d : ids(problem_->num_devices())) {
      free_slots_[d] = problem_->platform().slots(d);
    }
    waiting_.for_each_ready([this](op_id v) { make_ready(v, flow_.device_of(v), 0); });
  }

  constexpr void touch(device_id d) {
    if (!is_touched_[d]) {
      is_touched_[d] = 1;
      touched_[num_touched_++] = d;
    }
  }

  constexpr void make_ready(item_id i, device_id d, double now) {
    if constexpr (requires { queue_.push(i, d, now); }) {
      queue_.push(i, d, now);
    } else {
      queue_.push(i, now);
    }
    touch(d);
  }

  constexpr void schedule_event(double time, std::uint64_t code) {
    event_operations.push(events_.data(), num_events_++, {time, code});
  }

  /// Transfer k may begin.
  template <class Observer>
  constexpr void allow_transfer(std::uint32_t k, double now, Observer& observer) {
    if constexpr (holds_transfers) {
      network_.request(k, now);
    } else {
      begin_transfer(k, now, now, observer);
    }
  }

  /// Returns when it will arrive if nothing slows it down.
  template <class Observer>
  constexpr double begin_transfer(std::uint32_t k, double possible, double now, Observer& observer) {
    const transfer& x = flow_.transfers()[k];
    const double arrival = now + x.transfer_time;
    if constexpr (requires { observer.on_transfer(k, x, possible, now); }) {
      observer.on_transfer(k, x, possible, now);
    }
    if constexpr (!has_clock) {
      schedule_event(arrival, flow_.num_items() + k);
    }
    return arrival;
  }

  constexpr void deliver(std::span<const op_id> consumers, device_id d, double now) {
    for (const op_id c : consumers) {
      if (waiting_.arrive(c)) {
        make_ready(c, d, now);
      }
    }
  }

  template <class Observer>
  constexpr void complete(std::uint64_t code, double now, Observer& observer) {
    if (code >= flow_.num_items()) {
      arrive(static_cast<std::uint32_t>(code - flow_.num_items()), now, observer);
    } else if (const auto i = static_cast<item_id>(code); flow_.is_send(i)) {
      finish_send(flow_.transfer_of(i), now, observer);
    } else {
      finish_op(i, now, observer);
    }
  }

  template <class Observer>
  constexpr void arrive(std::uint32_t k, double now, Observer& observer) {
    const transfer& x = flow_.transfers()[k];
    if constexpr (requires { network_.release(k); }) {
      network_.release(k);
    }
    if constexpr (requires { observer.on_arrival(k, x, now); }) {
      observer.on_arrival(k, x, now);
    }
    deliver(flow_.consumers_of_transfer(k), x.to, now);
  }

  template <class Observer>
  constexpr void finish_send(std::uint32_t k, double now, Observer& observer) {
    release_slot(flow_.send_of(k), flow_.transfers()[k].from, now);
    if constexpr (requires { observer.on_send_finish(k, flow_.transfers()[k], now); }) {
      observer.on_send_finish(k, flow_.transfers()[k], now);
    }
    allow_transfer(k, now, observer);
  }

  template <class Observer>
  constexpr void finish_op(op_id v, double now, Observer& observer) {
    const device_id d = flow_.device_of(v);
    release_slot(v, d, now);
    ++num_finished_;
    if constexpr (requires { observer.on_op_finish(v, d, now); }) {
      observer.on_op_finish(v, d, now);
    }
    for (const tensor_id t : problem_->workload().outputs(v)) {
      for (const std::uint32_t k : flow_.transfers_of(t)) {
        if (flow_.transfers()[k].send_time > 0) {
          make_ready(flow_.send_of(k), d, now);
        } else {
          allow_transfer(k, now, observer);
        }
      }
    }
    for (const tensor_id t : problem_->workload().outputs(v)) {
      deliver(flow_.local_consumers(t), d, now);
    }
  }

  constexpr void release_slot(item_id i, device_id d, double now) {
    ++free_slots_[d];
    touch(d);
    if constexpr (requires { queue_.on_finish(i, now); }) {
      queue_.on_finish(i, now);
    }
  }

  template <class Observer>
  constexpr void dispatch(double now, Observer& observer) {
    if (num_touched_ > 1) { // mostly it is one device
      weft::sort(touched_.data(), touched_.data() + num_touched_);
    }
    for (std::uint32_t n = 0; n < num_touched_; ++n) {
      const device_id d = touched_[n];
      is_touched_[d] = 0;
      while (free_slots_[d] > 0) {
        const item_id i = queue_.pop(d, now);
        if (i == schedule::nothing) {
          break;
        }
        --free_slots_[d];
        const double finish = now + flow_.duration(i);
        if (flow_.is_send(i)) {
          if constexpr (requires { observer.on_send_start(0u, flow_.transfers()[0], now); }) {
            const auto k = flow_.transfer_of(i);
            observer.on_send_start(k, flow_.transfers()[k], now);
          }
        } else {
          if constexpr (requires { observer.on_op_start(i, d, now); }) {
            observer.on_op_start(i, d, now);
          }
        }
        if constexpr (requires { queue_.on_start(i, now, finish); }) {
          queue_.on_start(i, now, finish);
        }
        schedule_event(finish, i);
      }
    }
    num_touched_ = 0;
  }

  const Problem* problem_;
  [[no_unique_address]] Policy policy_;
  placed_flow<Problem> flow_;
  queue_type queue_;
  [[no_unique_address]] network_type network_;
  std::size_t num_events_ = 0;
  std::size_t num_finished_ = 0;
  std::uint32_t num_touched_ = 0;
  buffer<event> events_;
  graph::release_counter<> waiting_; // for inputs
  std::vector<std::uint32_t> free_slots_;
  std::vector<device_id> touched_; // devices that may have something new to run
  std::vector<std::uint8_t> is_touched_;
};

} // namespace weft
