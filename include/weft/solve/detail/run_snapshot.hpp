// SPDX-License-Identifier: BSL-1.0
/// A snapshot of a run: the ops still to run, the copies of tensors, and the times at which devices become free.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/error.hpp"
#include "weft/core/readable.hpp"
#include "weft/core/sort.hpp"
#include "weft/plan/run_state.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::solve::detail {

/// A tensor on a device from some time on, which may still come.
struct tensor_copy {
  tensor_id tensor = none;
  device_id device = none;
  double time = 0;
};
/// What holds a slot of a device, and until when; `op` is `none` for a send.
struct busy_slot {
  double until = 0;
  op_id op = none;
  device_id device = none;
};

/// What follows from a state. Copies stay where they are until the end of the run; what a device that is gone had, or
/// was about to send, is lost. Complexity: O((n + m) log(n + m)).
template <class Problem>
class run_snapshot {
public:
  /// Throws `value_error` or `dangling_id_error` if the state is not one of the problem.
  run_snapshot(const Problem& p, run_state s) : p_{&p}, state_{std::move(s)}, gone_(p.num_devices(), 0) {
    check();
    for (const device_id d : state_.gone) {
      gone_[d] = 1;
    }
    drop_what_was_lost();
    find_copies();
    find_what_is_left();
    find_busy_slots();
    find_makespan();
  }

  /// Without what was lost.
  const run_state& state() const { return state_; }
  double now() const { return state_.now; }
  bool is_gone(device_id d) const { return gone_[d] != 0; }
  /// The ops that have to run from now on, ascending, and those of them that had begun before.
  std::span<const op_id> left() const { return left_; }
  std::span<const op_id> again() const { return again_; }
  bool is_left(op_id v) const { return is_left_[v] != 0; }
  /// Where t is, by device.
  std::span<const tensor_copy> copies(tensor_id t) const {
    return {copies_.data() + first_copy_[t], copies_.data() + first_copy_[t + 1]};
  }
  /// What holds the slots of d, the last to end first; a slot that is free is held until now.
  std::vector<busy_slot> slots(device_id d) const {
    std::vector<busy_slot> held(p_->platform().slots(d), busy_slot{now(), none, d});
    std::size_t next = 0;
    for (auto b = busy_.begin() + first_busy_[d]; b != busy_.begin() + first_busy_[d + 1] && next < held.size(); ++b) {
      held[next++] = *b;
    }
    return held;
  }

private:
  void check() const {
    const auto& [now, begun, gone] = state_;
    const auto bad_time = [](double x) { return !(x >= 0 && x <= std::numeric_limits<double>::max()); };
    if (bad_time(now)) {
      throw value_error("run_state", "its time, " + readable_number(now) + ", is not a time");
    }
    if (begun.ops.size() != p_->num_ops()) {
      throw value_error("run_state", "it has records of " + std::to_string(begun.ops.size()) +
                                       " ops, and the workload has " + std::to_string(p_->num_ops()));
    }
    const auto check_device = [this](device_id d, const auto& who) {
      if (d >= p_->num_devices()) {
        throw dangling_id_error("run_state", who() + " device " + std::to_string(d) + ", and there are only " +
                                               std::to_string(p_->num_devices()) + " devices, from 0");
      }
    };
    for (const op_id v : ids(p_->num_ops())) {
      if (const auto& r = begun.ops[v]; r.device != none) {
        check_device(r.device, [&] { return p_->describe_op(v) + " is on"; });
        if (bad_time(r.start) || bad_time(r.finish)) {
          throw value_error("run_state", "a time of " + p_->describe_op(v) + " is negative or not finite");
        }
      }
    }
    for (const auto& x : begun.transfers) {
      if (x.tensor >= p_->num_tensors()) {
        throw dangling_id_error("run_state", "a transfer is of tensor " + std::to_string(x.tensor) +
                                               ", and the workload has only " + std::to_string(p_->num_tensors()));
      }
      const auto who = [&] { return "a transfer of tensor " + std::to_string(x.tensor); };
      check_device(x.from, [&] { return who() + " is from"; });
      check_device(x.to, [&] { return who() + " is to"; });
      if (bad_time(x.arrival) || bad_time(x.send_finish)) {
        throw value_error("run_state", "a time of " + who() + " is negative or not finite");
      }
    }
    for (const device_id d : gone) {
      check_device(d, [] { return std::string{"what is gone is"}; });
    }
  }

  /// Ops that ran on a device when it went, and what was on its way from one or is to go to one.
  void drop_what_was_lost() {
    for (const op_id v : ids(p_->num_ops())) {
      if (auto& r = state_.begun.ops[v]; r.device != none && is_gone(r.device) && r.finish > now()) {
        r = {};
        again_.push_back(v);
      }
    }
    auto& sent = state_.begun.transfers;
    sent.erase(std::remove_if(sent.begin(), sent.end(),
                              [this](const transfer_record& x) {
                                return x.arrival > now() && (is_gone(x.from) || is_gone(x.to));
                              }),
               sent.end());
  }

  void find_copies() {
    const auto& w = p_->workload();
    buffer<tensor_copy> all;
    const auto add = [&](tensor_id t, device_id d, double time) {
      if (!is_gone(d)) {
        all.push_back({t, d, time});
      }
    };
    for (const op_id v : ids(p_->num_ops())) {
      if (const auto& r = state_.begun.ops[v]; r.device != none) {
        for (const tensor_id t : w.outputs(v)) {
          add(t, r.device, r.finish);
        }
        for (const tensor_id t : w.inputs(v)) {
          add(t, r.device, r.start); // it could not begin without
        }
      }
    }
    for (const auto& x : state_.begun.transfers) {
      add(x.tensor, x.to, x.arrival);
    }
    weft::sort(all, [](const tensor_copy& a, const tensor_copy& b) {
      return a.tensor != b.tensor ? a.tensor < b.tensor : a.device != b.device ? a.device < b.device : a.time < b.time;
    });
    first_copy_.assign(p_->num_tensors() + 1, 0);
    for (const auto& c : all) {
      if (copies_.empty() || copies_.back().tensor != c.tensor || copies_.back().device != c.device) {
        copies_.push_back(c);
        ++first_copy_[c.tensor + 1];
      }
    }
    for (const tensor_id t : ids(p_->num_tensors())) {
      first_copy_[t + 1] += first_copy_[t];
    }
  }

  /// What has not begun; results that were on devices that are gone; and what makes tensors that these need and that
  /// are nowhere, and so on.
  void find_what_is_left() {
    const auto& w = p_->workload();
    is_left_.assign(p_->num_ops(), 0);
    const auto is_result = [&](op_id v) {
      for (const tensor_id t : w.outputs(v)) {
        if (std::ranges::size(w.consumers(t)) > 0) {
          return false;
        }
      }
      return true;
    };
    std::vector<op_id> open;
    const auto run = [&](op_id v) {
      is_left_[v] = 1;
      open.push_back(v);
    };
    for (const op_id v : ids(p_->num_ops())) {
      if (const device_id d = state_.begun.ops[v].device; d == none) {
        run(v);
      } else if (is_gone(d) && is_result(v)) {
        again_.push_back(v);
        run(v);
      }
    }
    while (!open.empty()) {
      const op_id v = open.back();
      open.pop_back();
      for (const tensor_id t : w.inputs(v)) {
        const op_id u = w.producer(t);
        if (!is_left(u) && copies(t).empty()) {
          again_.push_back(u);
          run(u);
        }
      }
    }
    for (const op_id v : ids(p_->num_ops())) {
      if (is_left(v)) {
        left_.push_back(v);
        state_.begun.ops[v] = {};
      }
    }
    std::sort(again_.begin(), again_.end());
  }

  void find_busy_slots() {
    for (const op_id v : ids(p_->num_ops())) {
      if (const auto& r = state_.begun.ops[v]; r.device != none && !is_gone(r.device) && r.finish > now()) {
        busy_.push_back({r.finish, v, r.device});
      }
    }
    for (const auto& x : state_.begun.transfers) {
      if (!is_gone(x.from) && x.send_start < x.send_finish && x.send_finish > now()) {
        busy_.push_back({x.send_finish, none, x.from});
      }
    }
    weft::sort(busy_, [](const busy_slot& a, const busy_slot& b) {
      return a.device != b.device ? a.device < b.device : a.until != b.until ? a.until > b.until : a.op < b.op;
    });
    first_busy_.assign(p_->num_devices() + 1, 0);
    for (const auto& b : busy_) {
      ++first_busy_[b.device + 1];
    }
    for (const device_id d : ids(p_->num_devices())) {
      first_busy_[d + 1] += first_busy_[d];
    }
  }

  void find_makespan() {
    state_.begun.makespan = 0;
    for (const auto& r : state_.begun.ops) {
      state_.begun.makespan = std::max(state_.begun.makespan, r.finish);
    }
    for (const auto& x : state_.begun.transfers) {
      state_.begun.makespan = std::max(state_.begun.makespan, x.arrival);
    }
  }

  const Problem* p_;
  run_state state_;
  std::vector<std::uint8_t> gone_, is_left_;
  buffer<tensor_copy> copies_; // by tensor, then device
  std::vector<std::uint32_t> first_copy_;
  buffer<busy_slot> busy_; // by device, the last to end first
  std::vector<std::uint32_t> first_busy_;
  std::vector<op_id> left_, again_;
};

} // namespace weft::solve::detail
