// SPDX-License-Identifier: BSL-1.0
/// Devices that run several moldable ops at once under a concurrency strategy.
#pragma once

#include "weft/concurrency/controller.hpp"
#include "weft/core/indexed_heap.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"
#include "weft/problem.hpp"
#include "weft/simulate/device_model.hpp"
#include "weft/simulate/simulator.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace weft {

namespace simulate {
struct shared_cores;
}

namespace why_not {
template <class Problem, class Policy>
struct device_model_for<simulate::shared_cores, Problem, Policy>
    : moldable_problem<Problem>, concurrency_strategy<Policy> {};
} // namespace why_not

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

/// Devices whose ops share cores under a concurrency strategy, which decides when an op starts and with how many
/// threads; a plan's order is not used. The strategy's estimates of times are a table per device; what happens is the
/// cost model plus interference:
/// - ops that run side by side share their sockets' memory bandwidth max–min fairly; an op that asks for B bytes/s
///   when alone and is granted g < B runs at g / B of its speed,
/// - an op whose threads share a core with another op's runs at `smt_gain / 2` of its speed (its slowest thread
///   counts),
/// - an op with several threads whose type's last team had another number takes `resize_seconds` longer.
/// A send has a core for itself, with all its hardware threads, for its send time. Sends go in the order in which they
/// became ready, before ops, as soon as a core is idle; to the strategy they are something that runs.
///
/// Complexity: O(running + ready + log devices) per start and end of an item.
struct shared_cores {
  static constexpr bool runs_teams = true;
  /// By device, what the strategy believes. None: times as the cost model has them, classes by `op_classes`.
  std::vector<concurrency::time_table> beliefs = {};

  template <class Problem, class Strategy>
  class state {
  public:
    state(const Problem& p, const Strategy& s, std::vector<concurrency::time_table> tables)
        : problem_{&p}, beliefs_{std::move(tables)} {
      if (beliefs_.empty()) {
        const concurrency::op_classes classes{p.workload()};
        for (const device_id d : ids(p.num_devices())) {
          beliefs_.push_back(concurrency::tabulate(p.workload(), classes, p.platform().machine(d), p.cost()));
        }
      }
      if (beliefs_.size() != p.num_devices()) {
        throw value_error("shared_cores", std::to_string(beliefs_.size()) + " time tables for " +
                                            std::to_string(p.num_devices()) + " devices");
      }
      const concurrency::op_graph graph{p.workload()};
      for (const device_id d : ids(p.num_devices())) {
        const machine& m = p.platform().machine(d);
        m.check();
        devices_.push_back({m, {beliefs_[d], m, s, graph}});
      }
    }
    state(state&&) = default; // not copied: the controllers refer to the tables
    state& operator=(state&&) = default;

    /// Keeps what was learned of interference.
    void reset(const placed_flow<Problem>& flow, const order&) {
      flow_ = &flow;
      ending_.reset(devices_.size());
      for (auto& d : devices_) {
        d.control.reset();
        d.running.clear();
        d.sends.clear();
        d.next_send = d.num_sending = 0;
        d.since = 0;
      }
    }
    void push(item_id i, device_id where, double) {
      auto& d = devices_[where];
      flow_->is_send(i) ? d.sends.push_back(i) : d.control.on_ready(i);
    }
    template <class Begin>
    void serve(device_id where, double now, Begin begin) {
      auto& d = devices_[where];
      bring_up_to_date(d, now);
      for (; d.next_send < d.sends.size(); ++d.next_send) {
        const item_id i = d.sends[d.next_send];
        if (!d.control.start_send(flow_->duration(i), now)) {
          break;
        }
        d.running.push_back({i, flow_->duration(i)});
        ++d.num_sending;
        begin(i);
      }
      while (const auto index = d.control.start_next(now)) {
        const auto& a = d.control.active(*index);
        d.running.push_back(started(d.machine, a));
        begin(a.what.op, a.what);
      }
      set_rates(where);
    }

    bool idle() const { return ending_.empty(); }
    double next() const { return ending_.first_key(); }
    /// Of what ends together, devices ascending; on one, the one that the controller has first.
    template <class Finish, class Wake>
    void advance(double now, Finish finish, Wake) {
      const device_id where = ending_.first();
      auto& d = devices_[where];
      bring_up_to_date(d, now);
      const item_id i = d.running[d.next_index].item;
      d.control.on_finish(d.next_index, now);
      d.running[d.next_index] = d.running.back();
      d.running.pop_back();
      d.num_sending -= flow_->is_send(i);
      set_rates(where);
      finish(i);
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
    /// An item's way to its end: `left` seconds of work at full speed, done at `rate` per second since `since`.
    struct progress {
      item_id item = none;
      double left = 0;
      double bandwidth = 0; ///< bytes/s that it asks for at full speed
      double rate = 1;
    };
    struct device_state {
      weft::machine machine;
      concurrency::controller<Strategy> control;
      std::vector<progress> running = {}; ///< by the controller's index
      std::vector<item_id> sends = {};    ///< of the run, in the order in which they became ready …
      std::size_t next_send = 0;          ///< … and the first that has not started
      std::size_t num_sending = 0;
      double since = 0;                   ///< when `left` was last brought up to date
      std::size_t next_index = 0;         ///< what ends next
    };

    progress started(const machine& m, const concurrency::active_op& a) const {
      const auto& w = problem_->workload();
      const op_id v = a.what.op;
      const double alone = rounded(concurrency::checked_seconds(problem_->cost(), w, v, m, a.what.team));
      double bandwidth = 0;
      if constexpr (concurrency_parts::has_memory_traffic<typename Problem::cost_type,
                                                          typename Problem::workload_type>) {
        bandwidth = alone > 0 ? problem_->cost().memory_traffic(w, v, m, a.what.team) / alone : 0;
      }
      return {v, alone + (a.resized ? m.resize_seconds : 0), bandwidth};
    }

    static void bring_up_to_date(device_state& d, double now) {
      for (progress& r : d.running) {
        r.left = now < std::numeric_limits<double>::infinity() ? r.left - rounded((now - d.since) * r.rate) : 0;
      }
      d.since = now;
    }

    /// Recomputes how fast everything that runs on a device is, and what ends first.
    void set_rates(device_id where) {
      auto& d = devices_[where];
      const std::size_t k = d.running.size();
      for (std::size_t i = 0; i < k; ++i) {
        if (flow_->is_send(d.running[i].item)) {
          continue; // nobody is on its core
        }
        double users = 1;
        for (const auto core : d.control.active(i).cores) {
          users = std::max(users, static_cast<double>(d.control.cores().users(core)));
        }
        d.running[i].rate = users > 1 ? d.machine.smt_gain / users : 1;
      }
      share_bandwidth(d);
      double first = 0;
      for (std::size_t i = 0; i < k; ++i) {
        const double at = d.since + std::max(d.running[i].left, 0.0) / d.running[i].rate;
        if (i == 0 || at < first) {
          first = at;
          d.next_index = i;
        }
      }
      k > 0 ? ending_.set(where, first) : ending_.remove(where);
    }

    void share_bandwidth(device_state& d) {
      const std::size_t k = d.running.size();
      if (k - d.num_sending < 2) {
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
    const placed_flow<Problem>* flow_ = nullptr;
    std::vector<concurrency::time_table> beliefs_; // by device; the controllers refer to them
    std::vector<device_state> devices_;
    indexed_heap ending_; // devices by when the first item on them ends
    max_min_shares sharing_;
    std::vector<double> demands_, granted_, slowest_;
  };

  template <class Problem, concurrency_strategy Strategy>
    requires moldable_problem<Problem>
  state<Problem, Strategy> state_for(const Problem& p, const Strategy& s) const {
    return {p, s, beliefs};
  }
};

} // namespace simulate

/// Runs plans of one moldable problem under one concurrency strategy, on `simulate::shared_cores`.
template <must_be::moldable_problem Problem, must_be::concurrency_strategy Strategy>
class manycore_simulator : public simulator<Problem, Strategy> {
public:
  manycore_simulator(const Problem& p, const Strategy& s) : manycore_simulator{p, s, {}} {}
  /// One table per device: what the strategy believes. Throws `value_error` unless there is one per device.
  manycore_simulator(const Problem& p, const Strategy& s, std::vector<concurrency::time_table> beliefs)
      : simulator<Problem, Strategy>{p, s, {}, {std::move(beliefs)}} {}
  manycore_simulator(const Problem&&, const Strategy&, std::vector<concurrency::time_table> = {},
                     detail::problem_must_outlive_it = {}) = delete;

  /// What the strategy has learned of interference on a device.
  const concurrency::interference_memory& interference(device_id d) const { return this->devices().interference(d); }
};

} // namespace weft
