// SPDX-License-Identifier: BSL-1.0
/// The execution model once more, as plainly as it can be written: lists that are searched from end to end. It shares
/// no code with the simulator, its queues or its policies.
#pragma once

#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace weft::test {

/// A run of one placement. `pick(run, device)` returns the position in `run.queue[device]` of what goes next, or
/// nothing.
template <class Problem>
class list_simulator {
public:
  using picker = std::function<std::optional<std::size_t>(const list_simulator&, device_id)>;

  struct busy_item {
    step what;
    double finish;
  };
  struct move { ///< a tensor that must go to a device
    tensor_id tensor;
    device_id from;
    device_id to;
    bool begun = false; ///< its send has started, or, without a send, the transfer itself
    bool arrived = false;
    double arrival = -1; ///< when it will be there, if it has begun
  };

  const Problem& p;
  const placement& where;
  double now = 0;
  std::vector<std::vector<step>> queue;        ///< per device, in the order of becoming ready
  std::vector<std::vector<busy_item>> running; ///< per device
  std::vector<move> moves;                     ///< by tensor, then by first consumer
  std::vector<bool> started;                   ///< per op
  std::vector<bool> finished;                  ///< per op
  trace result;
  std::size_t num_events = 0;

  list_simulator(const Problem& problem, const placement& placed, picker choose, bool one_port = false)
      : p{problem}, where{placed}, queue(p.num_devices()), running(p.num_devices()), started(p.num_ops(), false),
        finished(p.num_ops(), false), pick_{std::move(choose)}, one_port_{one_port}, queued_(p.num_ops(), false) {
    for (const tensor_id t : ids(p.num_tensors())) {
      for (const op_id c : p.workload().consumers(t)) {
        if (const device_id from = where[p.workload().producer(t)]; where[c] != from && !find(t, where[c])) {
          moves.push_back({t, from, where[c]});
        }
      }
    }
    result.ops.resize(p.num_ops());
    result.transfers.resize(moves.size());
  }

  /// Returns whether every op ran.
  bool run() {
    queue_ready_ops(ids(p.num_ops()));
    for (;;) {
      for (const device_id d : ids(p.num_devices())) {
        serve(d);
      }
      const auto next = next_event_time();
      if (!next) {
        break;
      }
      now = *next;
      do {
        while (process_one_event()) {
        }
      } while (begin_waiting_transfers());
    }
    return std::find(finished.begin(), finished.end(), false) == finished.end();
  }

  std::optional<std::size_t> find(tensor_id t, device_id to) const {
    for (std::size_t k = 0; k < moves.size(); ++k) {
      if (moves[k].tensor == t && moves[k].to == to) {
        return k;
      }
    }
    return std::nullopt;
  }

  double send_time(const move& m) const { return p.send_time(m.tensor, m.from, m.to); }

  /// Whether tensor t is on device d by now.
  bool is_there(tensor_id t, device_id d) const {
    const op_id u = p.workload().producer(t);
    return where[u] == d ? finished[u] : moves[*find(t, d)].arrived;
  }

private:
  void queue_ready_ops(auto&& candidates) {
    for (const op_id v : candidates) {
      bool ready = !queued_[v];
      for (const tensor_id t : p.workload().inputs(v)) {
        ready = ready && is_there(t, where[v]);
      }
      if (ready) {
        queued_[v] = true;
        queue[where[v]].push_back(step::run(v));
      }
    }
  }

  void serve(device_id d) {
    while (running[d].size() < p.platform().slots(d)) {
      const auto at = pick_(*this, d);
      if (!at) {
        return;
      }
      const step s = queue[d].at(*at);
      queue[d].erase(queue[d].begin() + static_cast<std::ptrdiff_t>(*at));
      if (s.is_send()) {
        const auto k = *find(s.tensor, s.to);
        auto& m = moves[k];
        running[d].push_back({s, now + send_time(m)});
        m.begun = true;
        m.arrival = now + send_time(m) + p.transfer_time(s.tensor, d, s.to);
        result.transfers[k].send_start = now;
      } else {
        running[d].push_back({s, now + p.compute_time(s.op, d)});
        started[s.op] = true;
        result.ops[s.op] = {d, now, now + p.compute_time(s.op, d)};
      }
    }
  }

  std::optional<double> next_event_time() const {
    std::optional<double> first;
    const auto consider = [&](double time) { first = first ? std::min(*first, time) : time; };
    for (const auto& items : running) {
      for (const auto& i : items) {
        consider(i.finish);
      }
    }
    for (std::size_t k = 0; k < moves.size(); ++k) {
      if (on_link(k)) {
        consider(moves[k].arrival);
      }
    }
    return first;
  }

  /// The link carries move k now.
  bool on_link(std::size_t k) const { return result.transfers[k].tensor != none && !moves[k].arrived; }

  /// Of what ends now: the smallest op, else the first send by move, else the first arrival.
  bool process_one_event() {
    busy_item* next = nullptr;
    const auto rank = [&](const step& s) { return s.is_send() ? p.num_ops() + *find(s.tensor, s.to) : s.op; };
    for (auto& items : running) {
      for (auto& i : items) {
        if (i.finish == now && (next == nullptr || rank(i.what) < rank(next->what))) {
          next = &i;
        }
      }
    }
    if (next != nullptr) {
      ++num_events;
      result.makespan = now;
      const step s = next->what;
      auto& items = running[where[s.op]];
      items.erase(items.begin() + (next - items.data()));
      if (s.is_send()) {
        allow_transfer(*find(s.tensor, s.to));
      } else {
        finish_op(s.op);
      }
      return true;
    }
    for (std::size_t k = 0; k < moves.size(); ++k) {
      if (on_link(k) && moves[k].arrival == now) {
        ++num_events;
        result.makespan = now;
        moves[k].arrived = true;
        for (const op_id c : p.workload().consumers(moves[k].tensor)) {
          if (where[c] == moves[k].to) {
            queue_ready_ops(std::vector{c});
          }
        }
        return true;
      }
    }
    return false;
  }

  void finish_op(op_id v) {
    finished[v] = true;
    for (std::size_t k = 0; k < moves.size(); ++k) {
      if (p.workload().producer(moves[k].tensor) != v) {
        continue;
      }
      if (send_time(moves[k]) > 0) {
        queue[where[v]].push_back(step::send(v, moves[k].tensor, moves[k].to));
      } else {
        result.transfers[k].send_start = now;
        allow_transfer(k);
      }
    }
    for (const tensor_id t : p.workload().outputs(v)) {
      last_tensor_of_ready_op(t, v);
    }
  }

  /// Ops become ready with their last input, so of one producer's tensors with the largest.
  void last_tensor_of_ready_op(tensor_id t, op_id v) {
    for (const op_id c : p.workload().consumers(t)) {
      if (where[c] == where[v]) {
        tensor_id last = t;
        for (const tensor_id other : p.workload().inputs(c)) {
          if (p.workload().producer(other) == v) {
            last = std::max(last, other);
          }
        }
        if (last == t) {
          queue_ready_ops(std::vector{c});
        }
      }
    }
  }

  void allow_transfer(std::size_t k) {
    moves[k].begun = true;
    result.transfers[k].send_finish = now;
    if (one_port_) {
      waiting_.push_back(k);
    } else {
      begin_transfer(k);
    }
  }

  void begin_transfer(std::size_t k) {
    auto& m = moves[k];
    m.arrival = now + p.transfer_time(m.tensor, m.from, m.to);
    const auto& r = result.transfers[k];
    result.transfers[k] = {m.tensor, m.from, m.to, r.send_start, r.send_finish, now, m.arrival};
  }

  /// Each in its turn that finds both its ports free. Returns whether any began.
  bool begin_waiting_transfers() {
    const auto before = waiting_.size();
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      bool free = true;
      for (std::size_t k = 0; k < moves.size(); ++k) {
        const bool shares_port = moves[k].from == moves[*at].from || moves[k].to == moves[*at].to;
        free = free && !(shares_port && on_link(k) && moves[k].arrival > now);
      }
      if (free) {
        begin_transfer(*at);
        at = waiting_.erase(at);
      } else {
        ++at;
      }
    }
    return waiting_.size() < before;
  }

  picker pick_;
  bool one_port_;
  std::vector<std::size_t> waiting_; // for ports, in the order in which they could have begun
  std::vector<bool> queued_;
};

/// Picks the first of the queue.
template <class Problem>
auto pick_first() {
  return [](const list_simulator<Problem>& s, device_id d) -> std::optional<std::size_t> {
    return s.queue[d].empty() ? std::nullopt : std::optional<std::size_t>{0};
  };
}

/// Picks the first with the largest key, where `key(simulator, step)`.
template <class Problem, class Key>
auto pick_largest(Key key) {
  return [key](const list_simulator<Problem>& s, device_id d) -> std::optional<std::size_t> {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < s.queue[d].size(); ++i) {
      if (!best || key(s, s.queue[d][i]) > key(s, s.queue[d][*best])) {
        best = i;
      }
    }
    return best;
  };
}

/// For every op, the largest total of `own(op)`s and `between(tensor, from, to)`s on a path to a sink, found by
/// improving until nothing improves any more.
template <class Problem, class Own, class Between>
std::vector<double> longest_tails(const Problem& p, Own own, Between between) {
  std::vector<double> tail(p.num_ops(), 0.0);
  for (bool better = true; better;) {
    better = false;
    for (const op_id v : ids(p.num_ops())) {
      double rest = 0;
      for (const tensor_id t : p.workload().outputs(v)) {
        for (const op_id c : p.workload().consumers(t)) {
          rest = std::max(rest, between(t, v, c) + tail[c]);
        }
      }
      better = better || own(v) + rest != tail[v];
      tail[v] = own(v) + rest;
    }
  }
  return tail;
}

/// [CP]'s path completion time: compute times, and between devices a send, the transfer, and a receive that costs what
/// a send from there would.
template <class Problem>
class completion_times {
public:
  completion_times(const Problem& p, const placement& where)
      : p_{p}, where_{where},
        tail_{longest_tails(
          p, [&](op_id v) { return p.compute_time(v, where[v]); },
          [&](tensor_id t, op_id u, op_id v) { return where[u] == where[v] ? 0 : between(t, where[u], where[v]); })} {}

  double operator()(const step& s) const {
    if (!s.is_send()) {
      return tail_[s.op];
    }
    double rest = 0;
    for (const op_id c : p_.workload().consumers(s.tensor)) {
      rest = where_[c] == s.to ? std::max(rest, tail_[c]) : rest;
    }
    return rest + between(s.tensor, where_[s.op], s.to);
  }

private:
  double between(tensor_id t, device_id from, device_id to) const {
    return p_.send_time(t, from, to) + p_.transfer_time(t, from, to) + p_.send_time(t, to, from);
  }

  const Problem& p_;
  const placement& where_;
  std::vector<double> tail_;
};

/// The work on the best path to a sink; a send counts what its consumers count.
template <class Problem>
class remaining_work {
public:
  remaining_work(const Problem& p, const placement& where)
      : p_{p}, where_{where},
        tail_{longest_tails(
          p, [&](op_id v) { return p.workload().work(v); }, [](tensor_id, op_id, op_id) { return 0.0; })} {}

  double operator()(const step& s) const {
    if (!s.is_send()) {
      return tail_[s.op];
    }
    double rest = 0;
    for (const op_id c : p_.workload().consumers(s.tensor)) {
      rest = where_[c] == s.to ? std::max(rest, tail_[c]) : rest;
    }
    return rest;
  }

private:
  const Problem& p_;
  const placement& where_;
  std::vector<double> tail_;
};

/// Whether d will have nothing to run when it next becomes free, by the words of the definition of MSR: its queue is
/// empty, what it runs causes no send and makes no op there ready, nor does a transfer under way that arrives by then.
template <class Problem>
bool will_starve(const list_simulator<Problem>& s, device_id d) {
  const auto& w = s.p.workload();
  if (!s.queue[d].empty()) {
    return false;
  }
  double then = s.now;
  if (s.running[d].size() == s.p.platform().slots(d)) {
    then = std::numeric_limits<double>::infinity();
    for (const auto& r : s.running[d]) {
      then = std::min(then, r.finish);
    }
  }
  const auto runs = [&](op_id u) {
    return std::any_of(s.running[d].begin(), s.running[d].end(), [&](const auto& r) { return r.what == step::run(u); });
  };
  for (const auto& m : s.moves) { // a running op that causes a send
    if (m.from == d && runs(w.producer(m.tensor)) && s.send_time(m) > 0) {
      return false;
    }
  }
  for (const op_id v : ids(s.p.num_ops())) {
    if (s.where[v] != d || s.started[v]) {
      continue;
    }
    bool ready = true;
    for (const tensor_id t : w.inputs(v)) {
      const op_id u = w.producer(t);
      if (s.where[u] == d) {
        ready = ready && (s.finished[u] || runs(u));
      } else {
        const auto& m = s.moves[*s.find(t, d)];
        ready = ready && m.begun && m.arrival <= then;
      }
    }
    if (ready) {
      return false;
    }
  }
  return true;
}

/// What MSR counts for a step.
template <class Problem>
double successor_count(const list_simulator<Problem>& s, const step& what) {
  if (what.is_send()) {
    return will_starve(s, what.to) ? 8 : 3;
  }
  double count = 0;
  for (const tensor_id t : s.p.workload().outputs(what.op)) {
    for (const op_id c : s.p.workload().consumers(t)) {
      count += s.where[c] == s.where[what.op] ? 1 : 0;
    }
    for (const auto& m : s.moves) {
      count += m.tensor == t && s.send_time(m) > 0 ? 1 : 0;
    }
  }
  return count;
}

/// Each device takes the steps that are its own in this order, and waits for each.
template <class Problem>
auto pick_next_of(std::vector<std::vector<step>> sequence) {
  return [sequence = std::move(sequence)](const list_simulator<Problem>& s,
                                          device_id d) mutable -> std::optional<std::size_t> {
    if (sequence[d].empty()) {
      return std::nullopt;
    }
    const auto at = std::find(s.queue[d].begin(), s.queue[d].end(), sequence[d].front());
    if (at == s.queue[d].end()) {
      return std::nullopt;
    }
    sequence[d].erase(sequence[d].begin());
    return static_cast<std::size_t>(at - s.queue[d].begin());
  };
}

} // namespace weft::test
