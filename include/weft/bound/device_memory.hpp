// SPDX-License-Identifier: BSL-1.0
/// Sets of ops that no device holds together over time, in whatever order they run.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/numbering.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace weft::bound {

/// The ops of one device, judged by themselves: whether they can start in some order such that what is surely there
/// when one starts fits. That is what they hold all the time; what the op reads and makes, if it takes time; and what
/// was made or read there before and is read there later. Tensors from elsewhere count from their first reader on, and
/// what is sent only while it is made, so that the answer "no" holds for every run on every network, and for every
/// larger set of ops. For problems of up to `max_ops` ops; for others, and where more than `max_states` sets of started
/// ops would have to be looked at, everything fits. Of all ops of a problem, on a device of one slot, the answer is
/// exact unless `gave_up`, and `sequence` has their order.
///
/// Complexity: at worst exponential in the ops that keep memory; an op that leaves no more in memory than it found is
/// started at once. Memory: O(m), and a word per state.
template <class Problem>
class device_memory {
public:
  using op_set = std::uint64_t; ///< op v is the bit v
  static constexpr std::size_t max_ops = 64;
  static constexpr std::size_t max_states = 4096;

  explicit device_memory(const Problem& p) : p_{p} {
    if (!applies()) {
      return;
    }
    const auto& w = p.workload();
    before_.assign(p.num_ops(), 0);
    for (const tensor_id t : ids(p.num_tensors())) {
      op_set readers = 0;
      for (const op_id c : w.consumers(t)) {
        readers |= bit(c);
        before_[c] |= bit(w.producer(t));
      }
      if (w.bytes(t) > 0) {
        tensors_.push_back({w.bytes(t), bit(w.producer(t)), readers, is_overwritten(w, t) ? readers : 0,
                            is_resident(w, t) ? bit(w.producer(t)) : 0});
      }
    }
    for (const device_id d : ids(p.num_devices())) {
      op_set lasting = 0;
      for (const op_id v : ids(p.num_ops())) {
        lasting |= p.compute_time(v, d) > 0 ? bit(v) : 0;
      }
      lasting_.push_back(lasting);
    }
  }
  explicit device_memory(const Problem&&, weft::detail::problem_must_outlive_it = {}) = delete;

  static constexpr op_set bit(op_id v) { return op_set{1} << v; }
  bool applies() const { return p_.num_ops() <= max_ops; }

  /// False if the device never holds these ops.
  bool fits(device_id d, op_set ops) {
    gave_up_ = false;
    sequence_.clear();
    if (!applies()) {
      return true;
    }
    byte_count resident = 0;
    for (op_set left = ops; left != 0; left &= left - 1) {
      resident += p_.workload().resident_bytes(first(left));
    }
    if (resident > p_.capacity(d)) {
      return false;
    }
    device_ = d;
    is_shared_ = false; // what is resident on another device of the memory may be read there
    p_.memories().for_each_sharing(d, [&](device_id e) { is_shared_ = is_shared_ || e != d; });
    here_ = ops;
    room_ = p_.capacity(d) - resident;
    seen_.clear();
    return can_go_on(0) || gave_up_;
  }
  /// True if the last answer was "yes" only since too much would have had to be looked at.
  bool gave_up() const { return gave_up_; }
  /// After any other "yes": an order in which the ops can start.
  const std::vector<op_id>& sequence() const { return sequence_; }

private:
  struct tensor {
    byte_count bytes;
    op_set producer;
    op_set readers;
    op_set overwriter; // the reader that writes over it, if one does
    op_set keeper;     // the producer, if it is resident there
  };

  static op_id first(op_set ops) { return static_cast<op_id>(std::countr_zero(ops)); }

  /// Bytes there once v has started, after those that have begun; or, for v = `none`, when it is about to.
  byte_count held(op_set begun, op_id v) const {
    const op_set self = v == none ? 0 : bit(v);
    // Beside each other in slots, what is read by an op that takes no time may be gone.
    op_set later = here_ & ~begun;
    later &= p_.platform().slots(device_) > 1 ? lasting_[device_] : later;
    byte_count bytes = 0;
    for (const tensor& t : tensors_) {
      const op_set from = (t.producer & here_) != 0 ? t.producer : t.readers;
      const bool counts = ((t.producer | t.readers) & self) != 0 || ((from & begun) != 0 && (t.readers & later) != 0);
      const bool is_kept = (t.keeper & (is_shared_ ? ~op_set{0} : here_)) != 0;
      bytes += counts && (t.overwriter & self) == 0 && !is_kept ? t.bytes : 0;
    }
    return bytes;
  }

  /// True if the rest can start when these ops have.
  bool can_go_on(op_set begun) {
    op_set ready = 0;
    for (op_set left = here_ & ~begun; left != 0; left &= left - 1) {
      const op_id v = first(left);
      const bool takes_memory = (lasting_[device_] & bit(v)) != 0;
      if ((before_[v] & here_ & ~begun) == 0 && (!takes_memory || held(begun, v) <= room_)) {
        // What reads no less than it leaves never does so later: waiting gains nothing.
        if (held(begun | bit(v), none) <= held(begun, none)) {
          return can_go_on_after(v, begun);
        }
        ready |= bit(v);
      }
    }
    if ((here_ & ~begun) == 0) {
      return true;
    }
    for (; ready != 0; ready &= ready - 1) {
      gave_up_ = gave_up_ || seen_.size() >= max_states;
      const op_id v = first(ready);
      if (!gave_up_ && seen_.insert(begun | bit(v)) && can_go_on_after(v, begun)) {
        return true;
      }
    }
    return false;
  }
  bool can_go_on_after(op_id v, op_set begun) {
    sequence_.push_back(v);
    if (can_go_on(begun | bit(v))) {
      return true;
    }
    sequence_.pop_back();
    return false;
  }

  const Problem& p_;
  buffer<tensor> tensors_;
  std::vector<op_set> before_;  // per op
  std::vector<op_set> lasting_; // per device: the ops that take time there
  numbering<op_set> seen_;      // what has begun in states that were looked at
  std::vector<op_id> sequence_; // of those that have begun
  bool gave_up_ = false;
  device_id device_ = 0;
  op_set here_ = 0;
  byte_count room_ = 0;
  bool is_shared_ = false; // whether other devices work in its memory
};

} // namespace weft::bound
