// SPDX-License-Identifier: BSL-1.0
/// A stretch of a schedule as a problem of its own, whose surroundings stay as they are.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/cost/concepts.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/platform/concepts.hpp"
#include "weft/problem.hpp"
#include "weft/refine/detail/timed_plan.hpp"
#include "weft/workload/builder.hpp"
#include "weft/workload/workload.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace weft::refine::detail {

/// The devices of a platform and two more: the past, from where comes what was made before the window, and the future,
/// which takes what is needed behind it.
template <class P>
class window_platform {
public:
  window_platform(const P& whole, std::vector<byte_count> capacities, std::size_t num_sinks)
      : whole_{&whole}, capacities_{std::move(capacities)}, sinks_{std::max<std::size_t>(1, num_sinks)} {}

  std::size_t num_devices() const { return capacities_.size() + 2; }
  device_kind kind(device_id d) const { return whole_->kind(d < capacities_.size() ? d : 0); }
  byte_count memory_capacity(device_id d) const { return d < capacities_.size() ? capacities_[d] : 0; }
  std::uint32_t slots(device_id d) const {
    return d < capacities_.size()    ? static_cast<std::uint32_t>(whole_->slots(d))
           : d == capacities_.size() ? 1
                                     : static_cast<std::uint32_t>(sinks_);
  }

private:
  const P* whole_;
  std::vector<byte_count> capacities_;
  std::size_t sinks_;
};

/// What the ops and tensors of a window stand for. Times are from the window's origin on.
template <class Problem>
struct window_facts {
  struct op_facts {
    op_id op = none;       ///< of the whole; `none`: stands for something around the window, and takes `seconds`
    device_id only = none; ///< the one device on which it may run
    double seconds = 0;
  };
  struct tensor_facts {
    tensor_id tensor = none;     ///< of the whole
    std::uint32_t row = none;    ///< of what comes from before the window, in `arrival`
    std::uint32_t first_need = 0, last_need = 0; ///< behind the window, in `needs`
  };
  /// A tensor is needed on a device behind the window; `rest` seconds follow its arrival there. Negative if there is time.
  struct need {
    device_id on = none;
    double rest = 0;
    bool is_sent = false; ///< to the window's own ops there anyway
  };

  const Problem* whole = nullptr;
  std::vector<op_facts> ops = {};
  std::vector<tensor_facts> tensors = {};
  std::vector<need> needs = {};
  std::vector<double> arrival = {}; ///< per row and device; infinite where it would have to be sent

  std::size_t num_devices() const { return whole->num_devices(); }
};

template <class Problem>
class window_costs {
  using base = typename Problem::cost_type;
  using facts_type = window_facts<Problem>;
  static constexpr double never = std::numeric_limits<double>::infinity();

public:
  explicit window_costs(const facts_type& facts) : facts_{&facts} {}

  template <class W, class P>
  double compute_time(const W&, op_id v, const P&, device_id d) const {
    const auto& o = facts_->ops[v];
    if (o.op == none) {
      return d == o.only ? o.seconds : never;
    }
    return d < facts_->num_devices() && (o.only == none || o.only == d) ? facts_->whole->compute_time(o.op, d) : never;
  }
  template <class W, class P>
  double transfer_time(const W&, tensor_id t, const P&, device_id from, device_id to) const {
    const auto& x = facts_->tensors[t];
    const auto real = [&](device_id d) { return d < facts_->num_devices(); };
    if (x.row != none) {
      return real(to) ? facts_->arrival[x.row * facts_->num_devices() + to] : 0;
    }
    if (!real(from) || real(to) || x.first_need == x.last_need) {
      return real(from) && real(to) ? facts_->whole->transfer_time(x.tensor, from, to) : 0;
    }
    double rest = 0;
    for (auto k = x.first_need; k < x.last_need; ++k) {
      const auto& n = facts_->needs[k];
      rest = std::max(rest, n.rest + (n.on == from ? 0 : facts_->whole->transfer_time(x.tensor, from, n.on)));
    }
    return rest;
  }
  template <class W, class P>
    requires cost_parts::has_send_time<base, typename Problem::workload_type, typename Problem::platform_type>
  double send_time(const W&, tensor_id t, const P&, device_id from, device_id to) const {
    const auto& x = facts_->tensors[t];
    if (x.row != none || from >= facts_->num_devices()) {
      return 0;
    }
    if (to < facts_->num_devices()) {
      return facts_->whole->send_time(x.tensor, from, to);
    }
    double sum = 0;
    for (auto k = x.first_need; k < x.last_need; ++k) {
      const auto& n = facts_->needs[k];
      sum += n.is_sent || n.on == from ? 0 : facts_->whole->send_time(x.tensor, from, n.on);
    }
    return sum;
  }

private:
  const facts_type* facts_;
};

/// The ops of a stretch of a `timed_plan`, in the order of their starts, as a problem. What comes from before arrives
/// when it does; where it is not, it comes by a transfer if that needs no send, else not at all. A device is free from
/// when it is. What is needed behind the window is followed by as many seconds as if nothing behind it moved, counted to
/// when the last device has its next op; a device's next op as well. So a window's makespan falls by as much as all that
/// is behind it could begin sooner. Sends belong to the window of their op. Groups that reach beyond the window stay where
/// they are.
///
/// Exact but for tensors that are needed on a device both inside and behind the window, which count as sent for those
/// inside, and for what runs at the window's beginning on devices of several slots.
template <class Problem>
class window_problem {
  using facts_type = window_facts<Problem>;

public:
  using platform_type = window_platform<typename Problem::platform_type>;
  using problem_type = weft::problem<workload, platform_type, window_costs<Problem>>;

  /// Ops number `begin` to `end` of the plan; of the bytes that no op has reserved, a share of 1 / `shares` is its own.
  window_problem(const timed_plan<Problem>& whole, std::size_t begin, std::size_t end, std::size_t shares)
      : whole_{whole}, p_{whole.problem()}, begin_{begin}, end_{end}, k_{static_cast<device_id>(p_.num_devices())} {
    facts_.whole = &p_;
    find_surroundings();
    add_ops();
    add_past();
    add_future();
    add_neighbours();
    connect();
    facts_.tensors.resize(0);
    for (const auto& outputs : outputs_) {
      facts_.tensors.insert(facts_.tensors.end(), outputs.begin(), outputs.end());
    }
    workload_.emplace(std::move(builder_).build());
    platform_.emplace(p_.platform(), capacities(shares), num_sinks_);
    problem_.emplace(*workload_, *platform_, window_costs<Problem>{facts_});
  }
  window_problem(const window_problem&) = delete; // the problem refers to the parts
  window_problem& operator=(const window_problem&) = delete;

  const problem_type& problem() const { return *problem_; }

  /// The present schedule of the window.
  trace present() const {
    trace run;
    run.ops = records_;
    std::vector<std::uint8_t> seen(k_ + 2, 0);
    for (const tensor_id t : ids(facts_.tensors.size())) {
      const op_id v = workload_->producer(t);
      const device_id from = records_[v].device;
      std::fill(seen.begin(), seen.end(), 0);
      for (const op_id c : workload_->consumers(t)) {
        const device_id to = records_[c].device;
        if (to == from || seen[to]) {
          continue;
        }
        seen[to] = 1;
        double sent = records_[v].finish;
        if (const auto& x = facts_.tensors[t]; x.tensor != none && x.row == none && to < k_) {
          sent = std::max(sent, local(whole_.send_start(x.tensor, to)));
        }
        const double done = sent + problem_->send_time(t, from, to);
        run.transfers.push_back({t, from, to, sent, done, done, done});
      }
    }
    return run;
  }

  /// The steps of the whole that a plan of `problem()` stands for; sets the places of its ops.
  void take_over(const plan& x, placement& where, std::vector<step>& steps) const {
    const std::size_t m = end_ - begin_;
    for (std::size_t i = 0; i < m; ++i) {
      where[whole_.op(begin_ + i)] = x.placement[i];
    }
    std::vector<std::uint8_t> is_sent(facts_.needs.size(), 0); // each need at most once
    for (const step& s : x.order) {
      if (s.op >= m) {
        continue;
      }
      const op_id v = whole_.op(begin_ + s.op);
      if (!s.is_send()) {
        steps.push_back(step::run(v));
        continue;
      }
      const auto& t = facts_.tensors[s.tensor];
      bool mentioned = s.to >= k_;
      for (auto n = t.first_need; n < t.last_need; ++n) {
        const device_id to = facts_.needs[n].on;
        if ((s.to >= k_ || s.to == to) && to != x.placement[s.op]) {
          mentioned = true;
          if (std::exchange(is_sent[n], std::uint8_t{1}) == 0) {
            steps.push_back(step::send(v, t.tensor, to));
          }
        }
      }
      if (!mentioned) {
        steps.push_back(step::send(v, t.tensor, s.to));
      }
    }
  }

private:
  static constexpr double never = std::numeric_limits<double>::infinity();
  static constexpr std::size_t needs_per_sink = 64;

  device_id past() const { return k_; }
  device_id future() const { return k_ + 1; }
  double local(double time) const { return std::max(0.0, time - origin_); }
  bool is_inside(op_id v) const { return whole_.position(v) >= begin_ && whole_.position(v) < end_; }
  op_id local_op(op_id v) const { return static_cast<op_id>(whole_.position(v) - begin_); }

  void find_surroundings() {
    free_from_.assign(k_, 0);
    origin_ = never;
    for (const device_id d : ids(std::size_t{k_})) {
      const auto ops = whole_.ops_of(d);
      const auto first = whole_.first_from(d, begin_);
      const double start = first < ops.size() ? whole_.start(ops[first]) : never;
      const double free = p_.platform().slots(d) == 1 ? (first > 0 ? whole_.busy_until(ops[first - 1]) : 0)
                                                      : whole_.start(whole_.op(begin_));
      free_from_[d] = std::min(free, start);
      if (first < ops.size() && is_inside(ops[first])) { // what is idle for long does not set the origin
        origin_ = std::min(origin_, free_from_[d]);
      }
    }
    latest_ = 0;
    for (const device_id d : ids(std::size_t{k_})) {
      for_each_next(d, [&](op_id v) { latest_ = std::max(latest_, whole_.start(v)); });
    }
  }

  /// The first op on each slot of d behind the window, as far as there are that many.
  template <class F>
  void for_each_next(device_id d, F f) const {
    const auto ops = whole_.ops_of(d);
    const std::size_t first = whole_.first_from(d, end_);
    const std::size_t count = std::min<std::size_t>(p_.platform().slots(d), end_ - begin_);
    for (std::size_t i = first; i < std::min(ops.size(), first + count); ++i) {
      f(ops[i]);
    }
  }

  op_id add(weft::op o, typename facts_type::op_facts of, op_record record) {
    facts_.ops.push_back(of);
    outputs_.emplace_back();
    records_.push_back(record);
    return builder_.add_op(std::move(o));
  }
  op_id add_stub(device_id d, double seconds, double start) {
    return add({}, {none, d, seconds}, {d, start, start + seconds});
  }
  std::uint32_t add_tensor(op_id v, typename facts_type::tensor_facts of) {
    outputs_[v].push_back(of);
    return builder_.add_output(v, 0);
  }

  void add_ops() {
    for (std::size_t i = begin_; i < end_; ++i) {
      const op_id v = whole_.op(i);
      const component_id c = p_.component(v);
      const auto members = p_.members(c);
      const bool whole_group = std::all_of(members.begin(), members.end(), [&](op_id u) { return is_inside(u); });
      const byte_count demand = whole_group && v == members.front() ? std::max<byte_count>(1, p_.demand(c)) : 0;
      const device_id d = whole_.device(v);
      add({.work = 1, .resident_bytes = demand, .kinds = p_.kinds(c)}, {v, whole_group ? none : d, 0},
          {d, local(whole_.start(v)), local(whole_.finish(v))});
      last_ = std::max(last_, local(whole_.busy_until(v)));
      for (const tensor_id t : p_.workload().outputs(v)) {
        typename facts_type::tensor_facts of{.tensor = t};
        of.first_need = static_cast<std::uint32_t>(facts_.needs.size());
        whole_.for_each_need(t, end_, [&](device_id on, double until) {
          facts_.needs.push_back({on, latest_ - until, false});
        });
        of.last_need = static_cast<std::uint32_t>(facts_.needs.size());
        add_tensor(static_cast<op_id>(i - begin_), of);
      }
    }
    for (std::size_t i = begin_; i < end_; ++i) {
      const auto members = p_.members(p_.component(whole_.op(i)));
      if (members.size() > 1 && facts_.ops[i - begin_].only == none && whole_.op(i) != members.front()) {
        builder_.colocate(local_op(members.front()), static_cast<op_id>(i - begin_));
      }
    }
  }

  void add_past() {
    for (std::size_t i = begin_; i < end_; ++i) {
      for (const tensor_id t : p_.workload().inputs(whole_.op(i))) {
        if (!is_inside(p_.workload().producer(t))) {
          made_.push_back(t);
        }
      }
    }
    weft::sort(made_);
    made_.erase(std::unique(made_.begin(), made_.end()), made_.end());
    past_op_ = add_stub(past(), 0, 0);
    const auto add_row = [&](tensor_id t, auto arrival) {
      const auto row = static_cast<std::uint32_t>(facts_.arrival.size() / k_);
      for (const device_id d : ids(std::size_t{k_})) {
        facts_.arrival.push_back(std::max(local(arrival(d)), local(free_from_[d])));
      }
      add_tensor(past_op_, {.tensor = t, .row = row});
    };
    add_row(none, [&](device_id d) { return free_from_[d]; });
    for (const tensor_id t : made_) {
      add_row(t, [&](device_id d) { return whole_.arrival(t, d); });
    }
  }

  /// What runs on devices of several slots when the window begins, and what comes next on each slot.
  void add_neighbours() {
    for (const device_id d : ids(std::size_t{k_})) {
      const std::size_t slots = p_.platform().slots(d);
      const auto ops = whole_.ops_of(d);
      std::size_t held = 0;
      for (std::size_t i = whole_.first_from(d, begin_); slots > 1 && i-- > 0 && held < slots;) {
        if (const double until = local(whole_.finish(ops[i])); until > local(free_from_[d])) {
          add_stub(d, until, 0);
          ++held;
        }
      }
      for_each_next(d, [&](op_id v) { add_stub(d, std::max(0.0, latest_ - whole_.start(v)), last_); });
    }
  }

  void add_future() {
    std::size_t count = 0;
    for (std::size_t v = 0; v < end_ - begin_; ++v) {
      for (const auto& t : outputs_[v]) {
        count += t.first_need < t.last_need ? 1u : 0u;
      }
    }
    num_sinks_ = (count + needs_per_sink - 1) / needs_per_sink;
    for (std::size_t i = 0; i < num_sinks_; ++i) {
      const op_id sink = add_stub(future(), 0, last_);
      first_sink_ = i == 0 ? sink : first_sink_;
    }
  }

  void connect() {
    std::size_t number = 0;
    for (op_id v = 0; v < end_ - begin_; ++v) {
      const op_id u = whole_.op(begin_ + v);
      std::uint32_t output = 0;
      for (const tensor_id t : p_.workload().outputs(u)) {
        auto& of = outputs_[v][output];
        for (const op_id c : p_.workload().consumers(t)) {
          if (!is_inside(c)) {
            continue;
          }
          builder_.add_edge(v, local_op(c), output);
          for (auto k = of.first_need; k < of.last_need; ++k) {
            auto& n = facts_.needs[k];
            n.is_sent = n.is_sent || n.on == whole_.device(c);
          }
        }
        if (of.first_need < of.last_need) {
          builder_.add_edge(v, first_sink_ + static_cast<op_id>(number++ / needs_per_sink), output);
        }
        ++output;
      }
      bool is_told = false; // not before when its device is free
      for (const tensor_id t : p_.workload().inputs(u)) {
        if (!is_inside(p_.workload().producer(t))) {
          const auto row = std::lower_bound(made_.begin(), made_.end(), t) - made_.begin();
          builder_.add_edge(past_op_, v, static_cast<std::uint32_t>(row) + 1);
          is_told = true;
        }
      }
      if (!is_told) {
        builder_.add_edge(past_op_, v, 0);
      }
    }
  }

  std::vector<byte_count> capacities(std::size_t shares) const {
    std::vector<byte_count> room(k_, 0);
    for (const device_id d : ids(std::size_t{k_})) {
      room[d] = whole_.free(d) / shares;
    }
    for (op_id v = 0; v < end_ - begin_; ++v) {
      const byte_count demand = workload_->resident_bytes(v);
      byte_count& x = room[records_[v].device];
      x += std::min(demand, std::numeric_limits<byte_count>::max() - x);
    }
    return room;
  }

  const timed_plan<Problem>& whole_;
  const Problem& p_;
  std::size_t begin_, end_;
  device_id k_;
  double origin_ = 0;
  double latest_ = 0; // when the last of the devices' next ops begins
  double last_ = 0;   // when all of the window has ended, from the origin on
  std::vector<double> free_from_; // per device
  std::vector<tensor_id> made_;   // before the window, and needed inside, ascending
  std::vector<op_record> records_;
  std::vector<std::vector<typename facts_type::tensor_facts>> outputs_; // per op
  op_id past_op_ = none;
  op_id first_sink_ = none;
  std::size_t num_sinks_ = 0;
  workload_builder builder_;
  facts_type facts_;
  std::optional<workload> workload_;
  std::optional<platform_type> platform_;
  std::optional<problem_type> problem_;
};

} // namespace weft::refine::detail
