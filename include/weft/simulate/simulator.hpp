// SPDX-License-Identifier: BSL-1.0
/// The simulator: runs a plan, event by event, under a policy on devices and a network.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/config.hpp"
#include "weft/core/heap.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/release_counter.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"
#include "weft/simulate/contention.hpp"
#include "weft/simulate/device_model.hpp"
#include "weft/simulate/network.hpp"
#include "weft/simulate/observer.hpp"
#include "weft/simulate/simulation.hpp"
#include "weft/simulate/slot_devices.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace weft {

/// Runs plans of one problem under one policy, on a network and on devices; the execution model is
/// docs/execution_model.md. Set up once, run often: `run` does not allocate, and neither do the library's policies,
/// networks and devices, `fair_sharing` and `shared_cores` once they have seen as much at a time. Refers to the
/// problem: temporaries are refused.
///
/// Everything that happens at one instant takes effect before the devices on which something became ready or ended
/// choose what runs next, in ascending order. Items that become ready at one instant are pushed in this order: first
/// what the finished items of the instant release, by item (ops ascending, then sends), then what arrivals release, by
/// transfer; where devices decide when items end, arrivals go first, then items as the devices end them. Of one op's,
/// the sends of all its tensors come first (others wait for them), then their local consumers, tensor by tensor.
///
/// Complexity: O((n + m) log(n + m)) per run on devices with slots. Memory: O(n + m).
template <must_be::problem Problem, class Policy, class Network = simulate::no_contention,
          class Devices = simulate::devices_of<Policy>>
  requires must_be::device_model_for<Devices, Problem, Policy>
class simulator {
  using network_type = decltype(std::declval<const Network&>().state_for(std::declval<const Problem&>()));
  using devices_type =
    decltype(std::declval<const Devices&>().state_for(std::declval<const Problem&>(), std::declval<const Policy&>()));
  static constexpr bool holds_transfers = simulate::holds_transfers<network_type>;
  static constexpr bool network_has_clock = simulate::has_clock<network_type>;
  static constexpr bool devices_have_clock = simulate::ends_items<devices_type>;
  static_assert(
    holds_transfers || !simulate::resembles_network<network_type>,
    "weft: this network's state has some of reset(std::span<const transfer>), request(std::uint32_t, double), "
    "settle(double, begin), idle(), next() and advance(double, arrive), but not the first three, without which "
    "transfers would not affect each other; see docs/concepts/network_for.md");

public:
  constexpr explicit simulator(const Problem& p, Policy policy = {}, Network network = {}, Devices devices = {})
      : problem_{&p}, flow_{p}, devices_{devices.state_for(p, policy)}, network_{network.state_for(p)},
        waiting_{p.workload()}, touched_(p.num_devices(), 0), is_touched_(p.num_devices(), 0) {
    std::size_t items = devices_have_clock ? 0 : flow_.max_items();
    if constexpr (requires { devices_.num_places(); }) {
      items = std::min(devices_.num_places(), items);
    }
    events_.assign(items + p.num_edges(), event{});
  }
  explicit simulator(const Problem&&, Policy = {}, Network = {}, Devices = {}, detail::problem_must_outlive_it = {})
      = delete;

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
    devices_.reset(flow_, decided.order);
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
        happen(now, result, observer);
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
  constexpr const placed_flow<std::remove_const_t<Problem>>& flow() const { return flow_; }
  /// The state of the devices, with what they know.
  constexpr const devices_type& devices() const { return devices_; }
  /// Makes the next run depend on its plan alone, where devices learn from runs.
  constexpr void forget()
    requires requires(devices_type& d) { d.forget(); }
  {
    devices_.forget();
  }

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
  /// When something happens next on the network or on the devices; nothing where they are idle or have no clock.
  template <class Part>
  static constexpr std::optional<double> next_of(const Part& x) {
    if constexpr (simulate::has_instants<Part>) {
      return x.idle() ? std::nullopt : std::optional<double>{x.next()};
    } else {
      return std::nullopt;
    }
  }
  constexpr bool something_is_under_way() const { return num_events_ > 0 || next_of(network_) || next_of(devices_); }
  constexpr bool something_ends_at(double now) const {
    return next_event_is_at(now) || next_of(network_) == now || next_of(devices_) == now;
  }
  constexpr double next_time() const {
    if constexpr (!network_has_clock && !devices_have_clock) {
      return events_[0].time;
    }
    constexpr double never = std::numeric_limits<double>::infinity();
    const double first = num_events_ > 0 ? events_[0].time : never;
    return std::min({first, next_of(network_).value_or(never), next_of(devices_).value_or(never)});
  }

  /// The first thing of those that happen now.
  template <class Observer>
  constexpr void happen(double now, simulation& result, Observer& observer) {
    if ((!network_has_clock && !devices_have_clock) || next_event_is_at(now)) {
      const auto code = events_[0].code;
      event_operations.pop(events_.data(), num_events_--);
      ++result.num_events;
      complete(code, now, observer);
      return;
    }
    if constexpr (network_has_clock) {
      if (!devices_have_clock || next_of(network_) == now) {
        network_.advance(now, [&](std::uint32_t k) {
          ++result.num_events;
          arrive(k, now, observer);
        });
        return;
      }
    }
    if constexpr (devices_have_clock) {
      const auto finish = [&](item_id i) {
        ++result.num_events;
        complete(i, now, observer);
      };
      devices_.advance(now, finish, [this](device_id d) { touch(d); });
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
    waiting_.for_each_ready([this](op_id v) { make_ready(v, flow_.device_of(v), 0); });
  }

  constexpr void touch(device_id d) {
    if (!is_touched_[d]) {
      is_touched_[d] = 1;
      touched_[num_touched_++] = d;
    }
  }

  constexpr void make_ready(item_id i, device_id d, double now) {
    devices_.push(i, d, now);
    touch(d);
  }

  constexpr void schedule_event(double time, std::uint64_t code) {
    WEFT_ASSERT(num_events_ < events_.size()); // or `num_places` is too small
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
    simulate::detail::on_transfer(observer, k, x, possible, now);
    if constexpr (!network_has_clock) {
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
    simulate::detail::on_arrival(observer, k, x, now);
    deliver(flow_.consumers_of_transfer(k), x.to, now);
  }

  template <class Observer>
  constexpr void finish_send(std::uint32_t k, double now, Observer& observer) {
    release(flow_.send_of(k), flow_.transfers()[k].from, now);
    simulate::detail::on_send_finish(observer, k, flow_.transfers()[k], now);
    allow_transfer(k, now, observer);
  }

  template <class Observer>
  constexpr void finish_op(op_id v, double now, Observer& observer) {
    const device_id d = flow_.device_of(v);
    release(v, d, now);
    ++num_finished_;
    simulate::detail::on_op_finish(observer, v, d, now);
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

  constexpr void release(item_id i, device_id d, double now) {
    if constexpr (requires { devices_.release(i, d, now); }) {
      devices_.release(i, d, now);
    }
    touch(d);
  }

  template <class Observer>
  constexpr void dispatch(double now, Observer& observer) {
    if (num_touched_ > 1) { // mostly it is one device
      weft::sort(touched_.data(), touched_.data() + num_touched_);
    }
    for (std::uint32_t n = 0; n < num_touched_; ++n) {
      const device_id d = touched_[n];
      is_touched_[d] = 0;
      devices_.serve(d, now, [&](item_id i, const auto&... more) { begin(i, d, now, observer, more...); });
    }
    num_touched_ = 0;
  }

  /// Item i starts. `more` is when it ends, or, where devices decide that as they go, the team that it has, if any.
  template <class Observer, class... More>
  constexpr void begin(item_id i, device_id d, double now, Observer& observer, const More&... more) {
    if (flow_.is_send(i)) {
      const std::uint32_t k = flow_.transfer_of(i);
      simulate::detail::on_send_start(observer, k, flow_.transfers()[k], now);
    } else {
      simulate::detail::on_op_start(observer, i, d, now);
    }
    if constexpr (!devices_have_clock) {
      schedule_event(more..., i);
    } else if constexpr (sizeof...(More) > 0) {
      simulate::detail::on_team(observer, i, more..., now);
    }
  }

  const Problem* problem_;
  placed_flow<std::remove_const_t<Problem>> flow_;
  devices_type devices_;
  [[no_unique_address]] network_type network_;
  std::size_t num_events_ = 0;
  std::size_t num_finished_ = 0;
  std::uint32_t num_touched_ = 0;
  buffer<event> events_;
  graph::release_counter<> waiting_; // for inputs
  std::vector<device_id> touched_; // devices that may have something new to run
  std::vector<std::uint8_t> is_touched_;
};

} // namespace weft
