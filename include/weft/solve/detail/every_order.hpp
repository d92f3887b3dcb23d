// SPDX-License-Identifier: BSL-1.0
/// Every plan of a small problem that may keep to the memory: all placements, and all orders of each.
#pragma once

#include "weft/bound/device_memory.hpp"
#include "weft/plan/plan.hpp"
#include "weft/schedule/placed_flow.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::solve::detail {

/// Offers plans until one is taken: with each placement that leaves every device what it holds in some order
/// (bound/device_memory.hpp), every order of the ops and sends of each device. Of the ways to interleave these, the one
/// in which no item could be exchanged with those right before it to put a smaller number first: Cartier, Foata,
/// *Problèmes combinatoires de commutation et réarrangements*, 1969. For what no search without contention sees, as
/// transfers that wait for each other may leave room. Complexity: exponential.
template <class Problem>
class every_order {
public:
  static constexpr std::size_t max_ops = 10;
  enum class answer : std::uint8_t { taken, none_left, unfinished };

  explicit every_order(const Problem& p)
      : p_{p}, memory_{p}, flow_{p}, here_(p.num_devices(), 0), plan_{placement(p.num_ops(), none), {}} {}

  /// `offer(plan)` is true to take it; at most so many.
  template <class Offer>
  answer operator()(std::uint64_t max_plans, Offer offer) {
    left_ = max_plans;
    return place(0, offer);
  }

private:
  template <class Offer>
  answer place(component_id c, Offer& offer) {
    if (c == p_.num_components()) {
      flow_.assign(plan_.placement);
      prepare();
      return extend(offer);
    }
    std::uint64_t members = 0;
    for (const op_id v : p_.members(c)) {
      members |= std::uint64_t{1} << v;
    }
    for (const device_id d : ids(p_.num_devices())) {
      here_[d] |= members;
      if (p_.allows(c, d) && memory_.fits(d, here_[d])) {
        for (const op_id v : p_.members(c)) {
          plan_.placement[v] = d;
        }
        if (const answer a = place(c + 1, offer); a != answer::none_left) {
          return a;
        }
      }
      here_[d] &= ~members;
    }
    return answer::none_left;
  }

  void prepare() {
    const std::size_t n = p_.num_ops();
    const std::size_t items = n + flow_.transfers().size();
    before_.assign(items, {});
    device_.assign(items, none);
    num_queued_ = 0;
    for (item_id i = 0; i < items; ++i) {
      const bool queued = flow_.needs_queue(i);
      num_queued_ += queued ? 1 : 0;
      device_[i] = !queued ? none : i < n ? plan_.placement[i] : flow_.transfers()[flow_.transfer_of(i)].from;
    }
    const auto& w = p_.workload();
    for (const tensor_id t : ids(p_.num_tensors())) {
      const op_id u = w.producer(t);
      for (const op_id c : flow_.local_consumers(t)) {
        before_[c].push_back(u);
      }
      for (const std::uint32_t k : flow_.transfers_of(t)) {
        const item_id send = flow_.send_of(k);
        before_[send].push_back(u);
        for (const op_id c : flow_.consumers_of_transfer(k)) {
          before_[c].push_back(device_[send] == none ? u : send);
        }
      }
    }
    done_.assign(items, 0);
    sequence_.clear();
  }

  bool comes_before(item_id a, item_id b) const {
    return device_[a] == device_[b] || std::find(before_[b].begin(), before_[b].end(), a) != before_[b].end();
  }
  bool may_follow(item_id i) const {
    if (device_[i] == none || done_[i] != 0 ||
        !std::all_of(before_[i].begin(), before_[i].end(), [&](item_id a) { return done_[a] != 0; })) {
      return false;
    }
    for (std::size_t k = sequence_.size(); k-- > 0 && !comes_before(sequence_[k], i);) {
      if (i < sequence_[k]) {
        return false;
      }
    }
    return true;
  }

  template <class Offer>
  answer extend(Offer& offer) {
    if (sequence_.size() == num_queued_) {
      if (left_ == 0) {
        return answer::unfinished;
      }
      --left_;
      plan_.order.clear();
      for (const item_id i : sequence_) {
        if (i < p_.num_ops()) {
          plan_.order.push_back(step::run(i));
        } else {
          const auto& x = flow_.transfers()[flow_.transfer_of(i)];
          plan_.order.push_back(step::send(p_.workload().producer(x.tensor), x.tensor, x.to));
        }
      }
      return offer(std::as_const(plan_)) ? answer::taken : answer::none_left;
    }
    for (item_id i = 0; i < before_.size(); ++i) {
      if (may_follow(i)) {
        done_[i] = 1;
        sequence_.push_back(i);
        const answer a = extend(offer);
        sequence_.pop_back();
        done_[i] = 0;
        if (a != answer::none_left) {
          return a;
        }
      }
    }
    return answer::none_left;
  }

  const Problem& p_;
  bound::device_memory<Problem> memory_;
  placed_flow<Problem> flow_;
  std::vector<std::uint64_t> here_; // ops, per device
  plan plan_;
  std::uint64_t left_ = 0;
  std::size_t num_queued_ = 0;
  std::vector<std::vector<item_id>> before_; // per item
  std::vector<device_id> device_;            // per item; `none`: it waits in no queue
  std::vector<std::uint8_t> done_;
  std::vector<item_id> sequence_;
};

} // namespace weft::solve::detail
