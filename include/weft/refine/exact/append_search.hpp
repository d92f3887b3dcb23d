// SPDX-License-Identifier: BSL-1.0
/// Whether ops on any devices can meet a makespan when sending occupies nobody: op after op, where and when it starts.
#pragma once

#include "weft/bound/communication_path.hpp"
#include "weft/core/buffer.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"
#include "weft/graph/release_counter.hpp"
#include "weft/plan/plan.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::refine::exact {

/// Depth-first over pairs of a ready op and a device, in the order of starts: each op as early as its inputs, the
/// device and the op before it in the order allow. Every schedule in which nothing can start earlier is met, so an
/// optimal one is. Of devices that are alike, only the first one without ops is tried. A node is given up when
///  - some op must end too late, in its best place, after what has started and those that have not;
///  - the ops with the longest tails have more to do than all devices have time for, weighted as in bound/area.hpp;
///  - a node with the same ops started, and those whose results are still awaited on the same devices, was searched in
///    vain, and had everything done, every slot free and as much memory left as early.
/// Transfers begin when their producer ends. For up to 64 ops. Source of the state space, which needs no placement in
/// advance: Shahul, Sinnen, Scheduling task graphs optimally with A*, Journal of Supercomputing 51, 2010.
template <class Problem>
class append_search {
public:
  enum class answer : std::uint8_t { yes, no, unknown };
  static constexpr std::size_t max_ops = 64;

  /// `twin[d]`: the nearest earlier device that nothing tells from d, or `none`. Precondition: each component is
  /// allowed somewhere.
  append_search(const Problem& p, const std::vector<device_id>& twin)
      : p_{p}, twin_{twin}, n_{p.num_ops()}, k_{p.num_devices()}, time_(n_ * k_, infinity), where_(n_, none),
        finish_(n_, 0.0), done_by_(n_, 0.0), consumers_left_(n_, 0), free_bytes_(k_, 0), used_(k_, 0),
        component_at_(p.num_components(), none), component_members_(p.num_components(), 0) {
    tail_ = bound::communication_tails(p);
    byte_count demand = 0;
    for (component_id c = 0; c < p.num_components(); ++c) {
      demand += std::min(p.demand(c), std::numeric_limits<byte_count>::max() - demand);
    }
    std::vector<double> total(k_, 0.0);
    std::vector<std::uint8_t> usable(k_, 0);
    for (const op_id v : ids(n_)) {
      for (const device_id d : ids(k_)) {
        if (p.allows(p.component(v), d)) {
          time_[v * k_ + d] = p.compute_time(v, d);
          total[d] += time_[v * k_ + d];
          usable[d] = 1;
        }
      }
    }
    for (const device_id d : ids(k_)) {
      memory_matters_ =
        memory_matters_ || (usable[d] && static_cast<byte_count>(p.platform().memory_capacity(d)) < demand);
      slots_.emplace_back(usable[d] ? std::min<std::size_t>(p.platform().slots(d), n_) : 0, 0.0);
      weight_.push_back(total[d] > 0 ? 1 / total[d] : 0); // ops that take no time need no room
    }
    for (const op_id v : ids(n_)) {
      double least = infinity;
      for (const device_id d : ids(k_)) {
        if (time_[v * k_ + d] < infinity) {
          least = std::min(least, weight_[d] * time_[v * k_ + d]);
        }
      }
      load_.push_back(least);
      by_tail_.push_back(v);
    }
    weft::stable_sort(by_tail_, [&](op_id u, op_id v) { return tail_[u] > tail_[v]; });
    choices_.resize(n_ + 1);
  }

  /// Looks for a schedule that ends by `makespan`. `spend()` pays for a node and is false to end the search.
  template <class Spend>
  answer operator()(double makespan, Spend spend) {
    makespan_ = makespan;
    tolerance_ = 1e-12 * makespan;
    for (const op_id v : ids(n_)) {
      where_[v] = none;
      consumers_left_[v] = static_cast<std::uint32_t>(graph::out_degree(p_.workload(), v));
    }
    waiting_.reset(p_.workload());
    for (const device_id d : ids(k_)) {
      free_bytes_[d] = static_cast<byte_count>(p_.platform().memory_capacity(d));
      used_[d] = 0;
      std::fill(slots_[d].begin(), slots_[d].end(), 0.0);
    }
    std::fill(component_at_.begin(), component_at_.end(), none);
    std::fill(component_members_.begin(), component_members_.end(), 0u);
    started_ = 0;
    now_ = 0;
    stopped_ = false;
    sequence_.clear();
    heads_.clear();
    states_.clear();
    numbers_.clear();
    state_bytes_.clear();
    const bool found = descend(spend);
    return found ? answer::yes : stopped_ ? answer::unknown : answer::no;
  }

  /// The plan that the last search with the answer `yes` found.
  plan found() const {
    plan made{where_, {}};
    for (const op_id v : sequence_) {
      made.order.push_back(step::run(v));
    }
    return made;
  }

private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr std::size_t max_numbers = std::size_t{1} << 24; // 128 MiB

  struct choice {
    double start;
    double urgency;
    double finish;
    op_id op;
    device_id device;
  };
  /// A node that was searched. Its numbers: when live ops end, in ascending order of ops, when slots are free;
  /// then where live ops and begun groups are. Which ops those are follows from those that have started.
  struct state {
    double now;
    std::size_t first;
    std::uint32_t next;
  };

  template <class Spend>
  bool descend(Spend& spend) {
    if (sequence_.size() == n_) {
      return true;
    }
    if (!spend()) {
      stopped_ = true;
      return false;
    }
    if (late() || overloaded() || known()) {
      return false;
    }
    auto& choices = choices_[sequence_.size()];
    choices.clear();
    for (const op_id v : ids(n_)) {
      if (where_[v] == none && waiting_.is_ready(v)) {
        for (const device_id d : ids(k_)) {
          if (may_go(v, d) && !shadowed(d)) {
            const double start = std::max({inputs_ready(v, d), *std::min_element(slots_[d].begin(), slots_[d].end()), now_});
            const double finish = start + time_[v * k_ + d];
            if (finish + tail_[v] <= makespan_ + tolerance_) {
              choices.push_back({start, time_[v * k_ + d] + tail_[v], finish, v, d});
            }
          }
        }
      }
    }
    weft::sort(choices, [](const choice& a, const choice& b) {
      return a.start != b.start       ? a.start < b.start
             : a.urgency != b.urgency ? a.urgency > b.urgency
             : a.finish != b.finish   ? a.finish < b.finish
             : a.op != b.op           ? a.op < b.op
                                      : a.device < b.device;
    });
    for (const choice& c : choices) {
      const double was_now = now_;
      auto slot = std::min_element(slots_[c.device].begin(), slots_[c.device].end());
      const double was_free = *slot;
      *slot = c.finish;
      begin(c);
      if (descend(spend)) {
        return true;
      }
      undo(c);
      *slot = was_free;
      now_ = was_now;
      if (stopped_) {
        return false;
      }
    }
    return false;
  }

  bool may_go(op_id v, device_id d) const {
    const component_id c = p_.component(v);
    if (component_at_[c] != none) {
      return component_at_[c] == d;
    }
    return time_[v * k_ + d] < infinity && free_bytes_[d] >= p_.demand(c);
  }

  /// d has no ops and a twin before it has none either: whatever could be done with d can be done with the twin.
  bool shadowed(device_id d) const {
    if (used_[d] != 0) {
      return false;
    }
    for (device_id e = twin_[d]; e != none; e = twin_[e]) {
      if (used_[e] == 0) {
        return true;
      }
    }
    return false;
  }

  /// When the inputs of v are on d at the earliest; those that have not started count from when they can be done.
  double inputs_ready(op_id v, device_id d) const {
    return graph::max_over_predecessors(p_.workload(), v, 0.0, [&](op_id u, const flow_edge& e) {
      return where_[u] == none ? done_by_[u]
             : where_[u] == d  ? finish_[u]
                               : finish_[u] + p_.transfer_time(e.tensor, where_[u], d);
    });
  }

  /// Whether some op must end too late, wherever it goes.
  bool late() {
    for (const op_id v : p_.topological_order()) {
      if (where_[v] != none) {
        continue;
      }
      double done = infinity;
      for (const device_id d : ids(k_)) {
        if (may_go(v, d)) {
          const double start =
            std::max({now_, *std::min_element(slots_[d].begin(), slots_[d].end()), inputs_ready(v, d)});
          done = std::min(done, start + time_[v * k_ + d]);
        }
      }
      done_by_[v] = done;
      if (!(done + tail_[v] <= makespan_ + tolerance_)) {
        return true;
      }
    }
    return false;
  }

  /// Whether the ops with the longest tails have more to do than there is time for.
  bool overloaded() const {
    double load = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      const op_id v = by_tail_[i];
      if (where_[v] != none) {
        continue;
      }
      load += load_[v];
      if (i + 1 < n_ && tail_[by_tail_[i + 1]] == tail_[v]) {
        continue;
      }
      double room = 0;
      for (const device_id d : ids(k_)) {
        for (const double free : slots_[d]) {
          room += rounded(weight_[d] * std::max(0.0, makespan_ - tail_[v] - std::max(free, now_)));
        }
      }
      if (load > rounded(room * (1 + 1e-9)) + 1e-12) {
        return true;
      }
    }
    return false;
  }

  /// Whether a node no worse than this one was searched before; if not, remembers this one.
  bool known() {
    current_.clear();
    for (const op_id v : ids(n_)) {
      if (where_[v] != none && consumers_left_[v] > 0) {
        current_.push_back(finish_[v]);
        places_.push_back(where_[v]);
      }
    }
    for (component_id c = 0; c < p_.num_components(); ++c) {
      if (component_at_[c] != none && component_members_[c] < p_.members(c).size()) {
        places_.push_back(component_at_[c]);
      }
    }
    for (const device_id d : ids(k_)) {
      sorted_.clear();
      for (const double free : slots_[d]) {
        sorted_.push_back(std::max(free, now_));
      }
      weft::sort(sorted_);
      current_.insert(current_.end(), sorted_.begin(), sorted_.end());
    }
    const auto num_places = places_.size();
    for (const device_id d : places_) {
      current_.push_back(d);
    }
    places_.clear();
    auto& head = heads_.try_emplace(started_, none).first->second;
    for (std::uint32_t i = head; i != none; i = states_[i].next) {
      const state& s = states_[i];
      if (s.now > now_) {
        continue;
      }
      const double* theirs = numbers_.data() + s.first;
      const std::size_t times = current_.size() - num_places;
      const auto has_no_more = [](byte_count mine, byte_count there) { return mine <= there; };
      bool no_worse = !memory_matters_ || std::equal(free_bytes_.begin(), free_bytes_.end(),
                                                     state_bytes_.data() + i * k_, has_no_more);
      for (std::size_t j = times; no_worse && j < current_.size(); ++j) {
        no_worse = theirs[j] == current_[j];
      }
      for (std::size_t j = 0; no_worse && j < times; ++j) {
        no_worse = theirs[j] <= current_[j];
      }
      if (no_worse) {
        return true;
      }
    }
    if (numbers_.size() < max_numbers) {
      states_.push_back({now_, numbers_.size(), head});
      head = static_cast<std::uint32_t>(states_.size() - 1);
      numbers_.insert(numbers_.end(), current_.begin(), current_.end());
      if (memory_matters_) {
        state_bytes_.insert(state_bytes_.end(), free_bytes_.begin(), free_bytes_.end());
      }
    }
    return false;
  }

  void begin(const choice& c) {
    const component_id group = p_.component(c.op);
    if (component_members_[group]++ == 0) {
      component_at_[group] = c.device;
      free_bytes_[c.device] -= p_.demand(group);
    }
    where_[c.op] = c.device;
    finish_[c.op] = c.finish;
    started_ |= std::uint64_t{1} << c.op;
    now_ = c.start;
    ++used_[c.device];
    sequence_.push_back(c.op);
    graph::for_each_predecessor(p_.workload(), c.op, [this](op_id u) { --consumers_left_[u]; });
    graph::for_each_successor(p_.workload(), c.op, [this](op_id s) { waiting_.arrive(s); });
  }

  void undo(const choice& c) {
    graph::for_each_successor(p_.workload(), c.op, [this](op_id s) { waiting_.take_back(s); });
    graph::for_each_predecessor(p_.workload(), c.op, [this](op_id u) { ++consumers_left_[u]; });
    sequence_.pop_back();
    --used_[c.device];
    started_ &= ~(std::uint64_t{1} << c.op);
    where_[c.op] = none;
    const component_id group = p_.component(c.op);
    if (--component_members_[group] == 0) {
      component_at_[group] = none;
      free_bytes_[c.device] += p_.demand(group);
    }
  }

  const Problem& p_;
  const std::vector<device_id>& twin_;
  std::size_t n_;
  std::size_t k_;
  std::vector<double> time_; // ops x devices; infinite where not allowed
  std::vector<double> tail_;
  std::vector<double> weight_; // per device: how much its time counts in loads
  std::vector<double> load_;   // per op: its least weighted time
  std::vector<op_id> by_tail_; // the longest first
  bool memory_matters_ = false;
  double makespan_ = 0;
  double tolerance_ = 0;
  placement where_;
  std::vector<double> finish_;
  std::vector<double> done_by_; // per op that has not started
  graph::release_counter<> waiting_;
  std::vector<std::uint32_t> consumers_left_; // (tensor, consumer) pairs
  std::vector<byte_count> free_bytes_;
  std::vector<std::uint32_t> used_;
  std::vector<device_id> component_at_;
  std::vector<std::uint32_t> component_members_; // that have started
  buffer<buffer<double>> slots_;                 // per device: when each is free; none where no op may run
  std::uint64_t started_ = 0;
  double now_ = 0;
  bool stopped_ = false;
  std::vector<op_id> sequence_;
  buffer<buffer<choice>> choices_; // per depth
  std::unordered_map<std::uint64_t, std::uint32_t> heads_; // by the set of ops that have started
  buffer<state> states_;
  std::vector<double> numbers_;
  std::vector<byte_count> state_bytes_; // states x devices: memory that is free, if it matters
  std::vector<double> current_, sorted_;
  std::vector<device_id> places_;
};

} // namespace weft::refine::exact
