// SPDX-License-Identifier: BSL-1.0
/// Reverse HEFT: list scheduling from the end to the beginning, where sends are known when they have to be booked.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/random.hpp"
#include "weft/core/reversed.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"
#include "weft/core/workspace.hpp"
#include "weft/partition/concepts.hpp"
#include "weft/partition/list/mean_costs.hpp"
#include "weft/partition/list/ranking.hpp"
#include "weft/partition/list/reservation.hpp"
#include "weft/partition/list/sort_by_key.hpp"
#include "weft/plan/plan.hpp"
#include "weft/problem.hpp"
#include "weft/schedule/timeline.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace weft::partition {

namespace detail {

/// A list scheduler on the reversed problem: all consumers of an op have their place when the op gets one, so that the
/// sends that a device would have to make are known, and are booked in one stretch with the op. An op goes where it
/// ends earliest in reversed time, plus `price` times what the stretch takes of the device, in seconds of an average
/// device: with a price, ops keep to devices that are good at them, and tensors to where they need not be sent, also
/// when others would be free a little earlier. Inserts into gaps. What is asked of a group's first member counts for
/// all.
///
/// Complexity: O(devices · (n + m) + n log n) for a pass, plus the gaps passed. Memory: 40 bytes per op.
template <class Problem>
class reverse_pass {
  static constexpr double infinity = std::numeric_limits<double>::infinity();

public:
  explicit constexpr reverse_pass(const Problem& p) : p_{&p}, worth_(p.num_devices(), 1), sequence_(p.num_ops(), 0) {
    std::reverse_copy(p.topological_order().begin(), p.topological_order().end(), sequence_.begin());
    auto key = list::downward_ranks(p);
    const list::mean_costs mean{p};
    for (const op_id v : ids(p.num_ops())) {
      key[v] += rounded(mean.compute(v));
    }
    workspace scratch;
    list::sort_by_key({sequence_.data(), sequence_.size()}, list::largest_first{key},
                                 list::in_given_order{}, scratch);
    find_worth();
  }

  struct result {
    weft::plan plan;                   ///< empty if an op fits nowhere
    double makespan = infinity;        ///< on devices of one slot, a run of the plan takes no longer
    std::optional<infeasibility> why = {}; ///< there is no plan
  };
  constexpr result operator()(double price) const {
    state s{*p_};
    double end = 0;
    for (const op_id v : sequence_) {
      find_uses(v, s);
      const option o = best(v, price, s);
      if (!(o.finish < infinity)) {
        return {.plan = {}, .why = s.placed.why_unplaced(v)};
      }
      s.placed.place(v, o.device);
      auto& used = s.slots[o.device];
      if (o.slot == used.size()) {
        used.push_back({});
      }
      used[o.slot].reserve(o.start, o.finish);
      s.start[v] = std::max(o.finish - o.compute, last_end(s)); // no sum of times may be rounded below it
      s.finish[v] = std::max(o.finish, s.start[v]);
      end = std::max(end, s.finish[v]);
    }
    return {decided(std::move(s)), end};
  }

private:

  /// Consumers of a tensor on a device; the last of them in reversed time, the first to need it, ends then.
  struct use {
    double until;
    tensor_id tensor;
    device_id on;
  };
  struct option {
    device_id device = none;
    std::size_t slot = 0;
    double compute = 0;
    double duration = 0; ///< with sends
    double start = infinity; ///< in reversed time, of the sends
    double finish = infinity;
  };
  struct state {
    explicit constexpr state(const Problem& p)
        : placed{p}, slots(p.num_devices()), start(p.num_ops(), 0), finish(p.num_ops(), 0) {}
    list::reservation<Problem> placed;
    buffer<buffer<schedule::timeline>> slots; // per device, those in use
    std::vector<double> start, finish; // per op, in reversed time
    buffer<use> uses; // of the op in hand, those that need it last in reversed time first
  };

  /// What a second of each device is worth, such that devices are equally good for the mean op; 1 in the mean.
  constexpr void find_worth() {
    std::vector<double> relative(p_->num_devices(), 0);
    for (const op_id v : ids(p_->num_ops())) {
      double sum = 0;
      std::size_t count = 0;
      for (const device_id d : ids(p_->num_devices())) {
        if (const double x = time(v, d); x < infinity) {
          sum += x;
          ++count;
        }
      }
      for (const device_id d : ids(p_->num_devices())) {
        const double x = time(v, d);
        relative[d] += sum > 0 && x < infinity ? rounded(x / sum * static_cast<double>(count)) : 1;
      }
    }
    double total = 0;
    for (const double x : relative) {
      total += x > 0 ? 1 / x : 0;
    }
    for (const device_id d : ids(p_->num_devices())) {
      worth_[d] = relative[d] > 0 && total > 0
                    ? 1 / relative[d] / total * static_cast<double>(p_->num_devices()) : 1;
    }
  }
  /// Infinite where v may not run.
  constexpr double time(op_id v, device_id d) const {
    return p_->kinds(p_->component(v)).contains(p_->platform().kind(d)) ? p_->compute_time(v, d) : infinity;
  }

  constexpr void find_uses(op_id v, state& s) const {
    s.uses.clear();
    for (const tensor_id t : p_->workload().outputs(v)) {
      const std::size_t first = s.uses.size();
      for (const op_id c : p_->workload().consumers(t)) {
        const device_id d = s.placed.device(c);
        const auto at = std::find_if(s.uses.begin() + first, s.uses.end(), [&](const use& x) { return x.on == d; });
        if (at == s.uses.end()) {
          s.uses.push_back({s.finish[c], t, d});
        } else {
          at->until = std::max(at->until, s.finish[c]);
        }
      }
    }
    const auto before = [](const use& a, const use& b) {
      return a.until != b.until ? a.until < b.until : a.tensor != b.tensor ? a.tensor < b.tensor : a.on < b.on;
    };
    weft::sort(s.uses, before);
  }

  /// The end of the last consumer of the op in hand, in reversed time.
  static constexpr double last_end(const state& s) { return s.uses.empty() ? 0 : s.uses.back().until; }

  constexpr option best(op_id v, double price, state& s) const {
    if (const device_id there = s.placed.device(v); there != none) {
      return at(v, there, s);
    }
    option chosen;
    double least = infinity;
    for (const device_id d : ids(p_->num_devices())) {
      if (!s.placed.fits(v, d)) {
        continue;
      }
      const option o = at(v, d, s);
      const double others = s.placed.alone(v) ? 0 : p_->others_time(v, d);
      if (const double value = o.finish + rounded(price * rounded(worth_[d] * (o.duration + others))) + others;
          value < least) {
        least = value;
        chosen = o;
      }
    }
    return chosen;
  }

  /// The stretch is, in reversed time, the sends and then the op. A send ends no sooner than its tensor may be under
  /// way, and the op begins no sooner than its consumers on the same device have ended.
  constexpr option at(op_id v, device_id d, state& s) const {
    option o{.device = d, .compute = p_->compute_time(v, d)};
    double ready = 0;
    double sends = 0;
    for (const use& x : s.uses) {
      if (x.on != d) {
        ready = std::max(ready, x.until + p_->transfer_time(x.tensor, d, x.on) - sends);
        sends += p_->send_time(x.tensor, d, x.on);
      }
    }
    for (const use& x : s.uses) {
      ready = x.on == d ? std::max(ready, x.until - sends) : ready;
    }
    o.duration = o.compute + sends;
    auto& used = s.slots[d];
    if (used.size() < p_->platform().slots(d)) {
      o.start = ready;
      o.slot = used.size();
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (const double gap = used[i].earliest_gap(ready, o.duration); gap < o.start || (gap == o.start && i < o.slot)) {
        o.start = gap;
        o.slot = i;
      }
    }
    o.finish = o.start + o.duration;
    return o;
  }

  /// Ops in the order of their starts, each followed by its sends.
  constexpr weft::plan decided(state&& s) const {
    std::vector<op_id> order(sequence_.rbegin(), sequence_.rend());
    workspace scratch;
    list::sort_by_key({order.data(), order.size()}, list::largest_first{s.finish},
                                 [&](op_id a, op_id b) { return s.start[a] > s.start[b]; }, scratch);
    weft::plan made;
    made.order.reserve(order.size());
    for (const op_id v : order) {
      made.order.push_back(step::run(v));
      find_uses(v, s);
      const device_id d = s.placed.device(v);
      for (const use& x : reversed(s.uses)) {
        if (x.on != d && p_->send_time(x.tensor, d, x.on) > 0) {
          made.order.push_back(step::send(v, x.tensor, x.on));
        }
      }
    }
    made.placement = std::move(s.placed).take();
    return made;
  }

  const Problem* p_;
  std::vector<double> worth_; // per device
  std::vector<op_id> sequence_;
};

} // namespace detail

/// HEFT on the reversed problem, from the end to the beginning: by downward rank to where an op ends first in reversed
/// time, in a gap if there is one, sends booked with it. Its gain over HEFT is what a list scheduler loses that goes
/// forwards: it does not know the sends that its choice will cause, and takes a device that is bad at an op because
/// that one is free now. Against the second a device's time has a price: 1, 8, and others around the better one are
/// tried, and the shortest plan is returned, with its order.
///
/// Source: HEFT, Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002; backward scheduling is folklore.
/// Complexity: five times O(devices · (n + m) + n log n), plus the gaps passed. Uses no randomness.
/// Choose it for large graphs where sends take time, or where devices are good at different ops.
struct reverse_heft {
  template <class Problem>
  constexpr outcome<plan> operator()(const Problem& p, rng&, workspace&) const {
    const detail::reverse_pass<Problem> pass{p};
    auto least = pass(1);
    double price = 1;
    const auto try_price = [&](double x) {
      if (auto other = pass(x); other.makespan < least.makespan) {
        least = std::move(other);
        price = x;
      }
    };
    try_price(8);
    if (price == 1) {
      try_price(0);
      try_price(0.25);
    } else {
      try_price(20);
    }
    try_price(3);
    if (least.why) {
      return *least.why;
    }
    return std::move(least.plan);
  }
};

} // namespace weft::partition
