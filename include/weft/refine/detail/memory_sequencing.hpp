// SPDX-License-Identifier: BSL-1.0
/// The best order of ops and sends for a given placement, of those whose run keeps to the memory.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/sort.hpp"
#include "weft/plan/plan.hpp"
#include "weft/refine/detail/placed_live_ranges.hpp"
#include "weft/schedule/placed_flow.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

namespace weft::refine::detail {

/// Searches the runs of a placed workload from their beginning, moment by moment: a device that is free takes one of
/// the items that are ready, or waits for one that is not. Every plan's run under `schedule::static_order` is among
/// them, as an item starts as soon as it can in its place in the order; so what waited for nothing but memory is not,
/// and a run is given up as soon as more than a limit is in use. First descents by several rules, which choose only
/// what leaves a way to the end; then all runs, the longest way to the end first.
/// Source: the enumeration of semi-active schedules (Baker, *Introduction to Sequencing and Scheduling*, 1974) with
/// memory as a resource that ops take and give back.
class memory_sequencing {
public:
  enum class answer : std::uint8_t {
    ended,   ///< there is no other run below the limit
    unknown, ///< more would have been searched
  };

  /// Looks for a run with a makespan below `below`, and for better and better ones. `spend(n)` pays for n visits of
  /// items and returns false to end the search; at most `max_choices` are made when all runs are searched.
  answer search(const placed_live_ranges& x, double below, std::uint64_t max_choices,
                const std::function<bool(std::uint64_t)>& spend) {
    least_ = below;
    best_.clear();
    flow_ = &x;
    for (const double seconds : x.seconds) {
      if (!(seconds < infinity)) {
        return answer::ended; // no run comes to its end
      }
    }
    total_ = 0;
    for (item_id i = 0; i < x.seconds.size(); ++i) {
      total_ += is_queued(i) ? 1u : 0u;
    }
    careful_ = true;
    for (const rule how : {rule::frees_first, rule::in_given_order, rule::longest_way}) {
      for (const double share : {1.0, 0.9, 0.75}) {
        share_ = share;
        begin(how);
        if (descend(4 * total_, spend); !paid_) {
          return answer::unknown;
        }
      }
    }
    careful_ = false;
    share_ = 1;
    begin(rule::longest_way);
    return descend(max_choices, spend);
  }

  /// Of the best run; what was given if none was found.
  double makespan() const { return least_; }
  /// The order of the best run, which is of a placement with this flow.
  template <class Problem>
  order best_order(const placed_flow<Problem>& f) const {
    order steps;
    for (const item_id i : best_) {
      if (is_send(i)) {
        const auto& x = f.transfers()[f.transfer_of(i)];
        steps.push_back(weft::step::send(f.problem().workload().producer(x.tensor), x.tensor, x.to));
      } else {
        steps.push_back(weft::step::run(i));
      }
    }
    return steps;
  }

private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  enum class rule : std::uint8_t { frees_first, in_given_order, longest_way };
  enum class room : std::uint8_t { everywhere, here, none };
  enum class position : std::uint8_t { choice, dead_end, end };

  /// What a device may do at one moment.
  struct choice {
    std::uint32_t next;   // in options_: the one to try next
    std::uint32_t end;
    std::size_t num_undo; // changes before it
    std::size_t num_steps;
  };
  struct flight {
    double end = 0;
    std::uint32_t id = 0; // an item, or `arrival` | a transfer
  };
  struct change {
    void* where;
    std::uint32_t size;
    unsigned char before[sizeof(flight)];
  };
  static constexpr std::uint32_t waiting = none;
  static constexpr std::uint32_t arrival = std::uint32_t{1} << 31;

  bool is_send(item_id i) const { return i >= flow_->num_ops; }
  bool is_queued(item_id i) const { return !is_send(i) || flow_->seconds[i] > 0; }

  template <class T>
  void set(T& x, T value) {
    change c{&x, sizeof(T), {}};
    std::memcpy(c.before, &x, sizeof(T));
    undo_.push_back(c);
    x = value;
  }
  void take_back(std::size_t num_undo) {
    while (undo_.size() > num_undo) {
      const change& c = undo_.back();
      std::memcpy(c.where, c.before, c.size);
      undo_.pop_back();
    }
  }

  void begin(rule how) {
    const placed_live_ranges& x = *flow_;
    const std::size_t devices = x.limit.size();
    const std::size_t items = x.seconds.size();
    rule_ = how;
    undo_.clear();
    choices_.clear();
    options_.clear();
    steps_.clear();
    now_ = 0;
    waits_ = x.waits;
    holders_ = x.holders;
    ready_at_.assign(items, 0.0);
    used_ = x.resident;
    promised_.assign(devices, 0);
    able_since_.assign(devices, 0.0);
    busy_.assign(devices, 0);
    unready_.assign(devices, 0);
    left_.assign(devices, 0.0);
    num_over_ = 0;
    for (std::size_t d = 0; d < devices; ++d) {
      num_over_ += used_[d] > x.limit[d] ? 1u : 0u;
    }
    flying_.assign(items + x.moving.size(), {});
    num_flying_ = 0;
    first_ready_.assign(devices + 1, 0);
    for (item_id i = 0; i < items; ++i) {
      if (is_queued(i)) {
        ++first_ready_[x.device[i] + 1];
        ++unready_[x.device[i]];
        left_[x.device[i]] += x.seconds[i];
      }
    }
    for (std::size_t d = 0; d < devices; ++d) {
      first_ready_[d + 1] += first_ready_[d];
    }
    ready_.assign(total_, 0);
    num_ready_.assign(devices, 0);
    turn_ = 0;
    for (item_id i = 0; i < x.num_ops; ++i) {
      if (waits_[i] == 0) {
        make_ready(i);
      }
    }
    undo_.clear();
  }

  void make_ready(item_id i) {
    const device_id d = flow_->device[i];
    set(ready_at_[i], now_);
    set(unready_[d], unready_[d] - 1);
    set(ready_[first_ready_[d] + num_ready_[d]], i);
    set(num_ready_[d], num_ready_[d] + 1);
  }
  void one_less(item_id i) {
    set(waits_[i], waits_[i] - 1);
    if (waits_[i] == 0) {
      make_ready(i);
    }
  }

  void take(device_id by, byte_count bytes) {
    const device_id d = flow_->memory[by];
    const bool was = used_[d] > flow_->limit[d];
    set(used_[d], used_[d] + bytes); // wraps where it gives back
    const bool is = used_[d] > flow_->limit[d];
    if (was != is) {
      set(num_over_, is ? num_over_ + 1 : num_over_ - 1);
    }
  }
  void let_go(std::uint32_t s, device_id d) {
    set(holders_[s], holders_[s] - 1);
    if (holders_[s] == 0) {
      take(d, 0 - flow_->bytes[s]);
    }
  }
  void fly(std::uint32_t id, double end) {
    set(flying_[num_flying_], flight{end, id});
    set(num_flying_, num_flying_ + 1);
  }

  void start(item_id i) {
    const placed_live_ranges& x = *flow_;
    const device_id d = x.device[i];
    auto* const row = ready_.data() + first_ready_[d];
    for (std::uint32_t k = 0;; ++k) {
      if (row[k] == i) {
        set(row[k], row[num_ready_[d] - 1]);
        break;
      }
    }
    set(num_ready_[d], num_ready_[d] - 1);
    set(busy_[d], busy_[d] + 1);
    set(able_since_[d], now_);
    set(left_[d], left_[d] - x.seconds[i]);
    if (!is_send(i)) {
      for (const auto k : x.overwrites.positions(i)) {
        let_go(x.overwrites.numbers[k], d);
      }
      for (const auto k : x.makes.positions(i)) {
        take(d, x.bytes[x.makes.numbers[k]]);
      }
      for (const auto k : x.transfers.positions(i)) {
        const std::uint32_t sent = x.transfers.numbers[k];
        const device_id to = x.memory[x.to[sent]];
        set(promised_[to], promised_[to] + x.bytes[x.num_tensors + sent]);
      }
    }
    steps_.push_back(i);
    fly(i, now_ + x.seconds[i]);
  }

  void depart(std::uint32_t k) {
    const device_id d = flow_->memory[flow_->to[k]];
    const byte_count bytes = flow_->bytes[flow_->num_tensors + k];
    set(promised_[d], promised_[d] - bytes);
    take(d, bytes);
    fly(arrival | k, now_ + flow_->moving[k]);
  }

  void end_item(item_id i) {
    const placed_live_ranges& x = *flow_;
    const device_id d = x.device[i];
    if (busy_[d] == x.slots[d]) {
      set(able_since_[d], now_);
    }
    set(busy_[d], busy_[d] - 1);
    if (is_send(i)) {
      const std::uint32_t k = i - x.num_ops;
      let_go(x.sent[k], d);
      depart(k);
      return;
    }
    for (const auto k : x.leads_to.positions(i)) {
      one_less(x.leads_to.numbers[k]);
    }
    for (const auto k : x.transfers.positions(i)) {
      const std::uint32_t sent = x.transfers.numbers[k];
      if (is_queued(x.num_ops + sent)) {
        one_less(x.num_ops + sent);
      } else {
        depart(sent);
      }
    }
    for (const auto k : x.holds.positions(i)) {
      let_go(x.holds.numbers[k], d);
    }
  }

  /// Goes on to the next moment at which something ends; false if this run leads to nothing better.
  bool advance() {
    double next = infinity;
    for (std::uint32_t k = 0; k < num_flying_; ++k) {
      next = std::min(next, flying_[k].end);
    }
    if (!(next < (looks_ahead_ ? infinity : least_))) { // also if nothing is under way
      return false;
    }
    if (next > now_) {
      if (num_over_ > 0) {
        return false;
      }
      set(now_, next);
    }
    for (std::uint32_t k = 0; k < num_flying_;) { // what ends is followed by what ends in no time
      if (flying_[k].end > now_) {
        ++k;
        continue;
      }
      const std::uint32_t id = flying_[k].id;
      set(flying_[k], flying_[num_flying_ - 1]);
      set(num_flying_, num_flying_ - 1);
      if ((id & arrival) == 0) {
        end_item(id);
      } else {
        for (const auto c : flow_->reaches.positions(id - arrival)) {
          one_less(flow_->reaches.numbers[c]);
        }
      }
    }
    set(turn_, device_id{0});
    if (looks_ahead_) {
      return true;
    }
    for (device_id d = 0; d < left_.size(); ++d) {
      if (left_[d] > 0 && now_ + left_[d] / static_cast<double>(flow_->slots[d]) >= least_ * (1 + 1e-12)) {
        return false;
      }
      for (std::uint32_t k = 0; k < num_ready_[d]; ++k) {
        if (now_ + flow_->tail[ready_[first_ready_[d] + k]] >= least_ * (1 + 1e-12)) {
          return false;
        }
      }
    }
    return true;
  }

  /// Room for what i takes, now: `none` on its own device, `here` only there, or `everywhere` it sends to. What would
  /// keep memory leaves a share of it to what frees some.
  room room_for(item_id i) const {
    const placed_live_ranges& x = *flow_;
    if (is_send(i)) {
      return room::everywhere; // it was promised
    }
    const double share = left_behind(i) > 0 ? share_ : 1;
    const auto lacks = [&](device_id d, byte_count bytes, byte_count used) {
      return bytes > 0 && (used + bytes > x.limit[d] ||
                           (share < 1 && static_cast<double>(used + bytes) > share * static_cast<double>(x.limit[d])));
    };
    byte_count made = 0;
    for (const auto k : x.makes.positions(i)) {
      made += x.bytes[x.makes.numbers[k]];
    }
    for (const auto k : x.overwrites.positions(i)) { // as much as its first output
      made -= x.bytes[x.overwrites.numbers[k]];
    }
    const device_id d = x.memory[x.device[i]];
    if (lacks(d, made, used_[d])) {
      return room::none;
    }
    bool sends = lacks(d, made, used_[d] + promised_[d]);
    for (const auto k : x.transfers.positions(i)) {
      const std::uint32_t sent = x.transfers.numbers[k];
      const device_id to = x.memory[x.to[sent]];
      sends = sends || lacks(to, x.bytes[x.num_tensors + sent], used_[to] + promised_[to]);
    }
    return sends ? room::here : room::everywhere;
  }

  /// Bytes more on its device when i has ended, less those that it is the last to hold.
  double left_behind(item_id i) const {
    const placed_live_ranges& x = *flow_;
    double bytes = 0;
    if (is_send(i)) {
      return bytes;
    }
    for (const auto k : x.makes.positions(i)) {
      bytes += x.holders[x.makes.numbers[k]] > 1 ? static_cast<double>(x.bytes[x.makes.numbers[k]]) : 0.0;
    }
    for (const auto* rows : {&x.holds, &x.overwrites}) {
      for (const auto k : rows->positions(i)) {
        const std::uint32_t s = rows->numbers[k];
        bytes -= holders_[s] == 1 ? static_cast<double>(x.bytes[s]) : 0.0;
      }
    }
    return bytes;
  }

  /// Whether all items can end if one runs at a time from now on, those that free memory first: a sign that this moment
  /// does not lead to one where every item takes more than there is.
  bool can_end(const std::function<bool(std::uint64_t)>& spend) {
    const std::size_t num_undo = undo_.size();
    const std::size_t num_steps = steps_.size();
    looks_ahead_ = true;
    bool possible = true;
    while (possible && (num_flying_ > 0 || steps_.size() < total_)) {
      std::uint64_t visits = 1;
      for (const std::uint32_t n : num_ready_) {
        visits += n;
      }
      if (!spend(visits)) {
        paid_ = false;
        break;
      }
      if (num_flying_ > 0) {
        possible = advance();
        continue;
      }
      item_id next = none;
      bool next_frees = false;
      for (device_id d = 0; d < left_.size(); ++d) {
        for (std::uint32_t k = 0; k < num_ready_[d]; ++k) {
          const item_id i = ready_[first_ready_[d] + k];
          const bool frees = left_behind(i) <= 0;
          if ((next == none || (frees != next_frees ? frees : i < next)) && room_for(i) == room::everywhere) {
            next = i;
            next_frees = frees;
          }
        }
      }
      possible = next != none;
      if (possible) {
        start(next);
      }
    }
    possible = possible && paid_ && num_over_ == 0;
    looks_ahead_ = false;
    take_back(num_undo);
    steps_.resize(num_steps);
    return possible;
  }

  /// What device d may do now, best first: nothing if it has no choice but to wait.
  void add_options(device_id d) {
    struct option {
      item_id item;
      std::uint8_t turn; // those that wait for nothing, the wait, and what should rather wait
      double key;
    };
    buffer<option> found;
    for (std::uint32_t k = 0; k < num_ready_[d]; ++k) {
      const item_id i = ready_[first_ready_[d] + k];
      if (ready_at_[i] == now_ || able_since_[d] == now_) { // else it would have started before
        const double kept = left_behind(i);
        const room has = room_for(i);
        const bool first = has == room::everywhere || (has == room::here && kept <= 0);
        found.push_back({i, static_cast<std::uint8_t>(first ? 0 : 2), rule_ == rule::frees_first ? -kept : 0.0});
      }
    }
    if (found.empty()) {
      return;
    }
    if (unready_[d] > 0) {
      found.push_back({waiting, 1, 0});
    }
    weft::sort(found, [&](const option& a, const option& b) {
      if (a.turn != b.turn) {
        return a.turn < b.turn;
      }
      if (a.key != b.key) {
        return a.key > b.key;
      }
      if (rule_ != rule::in_given_order && flow_->tail[a.item] != flow_->tail[b.item]) {
        return flow_->tail[a.item] > flow_->tail[b.item];
      }
      return a.item < b.item;
    });
    for (const option& x : found) {
      options_.push_back(x.item);
    }
  }

  /// Goes on until a device has a choice, or the run has ended.
  position go_on() {
    const auto devices = static_cast<device_id>(left_.size());
    for (;;) {
      for (; turn_ < devices; set(turn_, turn_ + 1)) {
        if (busy_[turn_] < flow_->slots[turn_] && num_ready_[turn_] > 0) {
          const auto first = static_cast<std::uint32_t>(options_.size());
          add_options(turn_);
          if (options_.size() > first) {
            choices_.push_back({first, static_cast<std::uint32_t>(options_.size()), undo_.size(), steps_.size()});
            return position::choice;
          }
        }
      }
      if (num_flying_ == 0) {
        return steps_.size() == total_ && num_over_ == 0 ? position::end : position::dead_end;
      }
      if (!advance()) {
        return position::dead_end;
      }
    }
  }

  /// From the beginning by the rule at hand, through at most so many choices. "ended" proves nothing if it is careful.
  answer descend(std::uint64_t max_choices, const std::function<bool(std::uint64_t)>& spend) {
    paid_ = true;
    bool fails = false; // what was chosen last
    for (position at = go_on();; at = fails ? position::dead_end : go_on()) {
      if (at == position::end && now_ < least_) {
        least_ = now_;
        best_ = steps_;
      }
      if (at != position::choice) { // back to the last moment with another option
        while (!choices_.empty() && choices_.back().next == choices_.back().end) {
          choices_.pop_back();
        }
        if (choices_.empty()) {
          return answer::ended;
        }
        options_.resize(choices_.back().end);
        take_back(choices_.back().num_undo);
        steps_.resize(choices_.back().num_steps);
      }
      if (max_choices-- == 0) {
        return answer::unknown;
      }
      if (!spend(1 + num_flying_)) {
        paid_ = false;
        return answer::unknown;
      }
      const item_id taken = options_[choices_.back().next++];
      fails = false;
      if (taken == waiting) {
        set(turn_, turn_ + 1);
      } else {
        const bool keeps = left_behind(taken) > 0;
        start(taken);
        fails = careful_ && keeps && !can_end(spend);
        if (!paid_) {
          return answer::unknown;
        }
      }
    }
  }

  const placed_live_ranges* flow_ = nullptr;
  rule rule_ = rule::frees_first;
  double least_ = infinity;
  std::size_t total_ = 0; // items of compute queues
  bool paid_ = true;
  double share_ = 1; // of the limits, for what keeps memory
  bool careful_ = false;     // choices after which not everything can end are not made
  bool looks_ahead_ = false; // bounds do not count
  std::vector<item_id> best_, steps_;
  buffer<change> undo_;
  buffer<choice> choices_;
  std::vector<std::uint32_t> options_; // of all choices, one after the other
  // What changes from moment to moment; none of these vectors grows during a search.
  double now_ = 0;
  device_id turn_ = 0; // which device chooses
  std::uint32_t num_over_ = 0; // memories over their limit
  std::uint32_t num_flying_ = 0;
  buffer<flight> flying_; // what runs and what is on a link
  std::vector<std::uint32_t> waits_, holders_;
  std::vector<double> ready_at_;
  std::vector<byte_count> used_, promised_; // per memory
  std::vector<double> able_since_;          // per device: from when it could have begun what was ready
  std::vector<std::size_t> busy_;
  std::vector<std::uint32_t> unready_, num_ready_;
  std::vector<double> left_; // seconds of what has not started
  std::vector<std::uint32_t> first_ready_;
  std::vector<item_id> ready_; // per device from first_ready_
};

} // namespace weft::refine::detail
