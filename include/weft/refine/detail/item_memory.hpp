// SPDX-License-Identifier: BSL-1.0
/// How much memory an incremental schedule needs when, change by change.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/level_profile.hpp"
#include "weft/core/revertible.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/plan/tensor_stays.hpp"
#include "weft/refine/detail/item_schedule.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft::refine::detail {

/// The peak of each device, by the lifetimes of `stay_finder`. What a change retimes or moves says which tensors have
/// to be looked at again.
///
/// Complexity of a change: for each op or transfer that it moves in time, O(log n + consumers) for each of its tensors.
template <class Problem>
class item_memory {
public:
  item_memory(const Problem& p, memory_limit limit)
      : p_{&p}, find_{p.workload(), p.num_devices()}, first_(p.num_tensors() + 1, 0), is_marked_(p.num_tensors(), 0),
        where_(p.num_ops(), none), resident_(p.num_devices(), 0), peak_(p.num_devices(), 0),
        is_touched_(p.num_devices(), 0) {
    for (const tensor_id t : ids(p.num_tensors())) {
      const auto uses = static_cast<std::size_t>(std::ranges::size(p.workload().consumers(t)));
      first_[t + 1] = first_[t] + 1 + static_cast<std::uint32_t>(std::min(uses, p.num_devices()));
    }
    stays_ = revertible<stay>(first_.back());
    levels_.resize(p.num_devices());
    for (const device_id d : ids(p.num_devices())) {
      limit_.push_back(limit.of(static_cast<byte_count>(p.platform().memory_capacity(d))));
    }
  }

  /// Looks at the schedule anew. Precondition: no change is pending in it, nor here.
  void assign(const item_schedule& s) {
    stays_.fill({});
    where_.fill(none);
    resident_.fill(0);
    for (auto& x : levels_) {
      x.clear();
    }
    for (const op_id v : ids(p_->num_ops())) {
      settle(s, v);
    }
    for (const tensor_id t : ids(p_->num_tensors())) {
      mark(t);
    }
    std::fill(is_touched_.begin(), is_touched_.end(), 1);
    update(s);
    commit();
  }
  /// Looks at what the change that is pending in the schedule, and was evaluated, has moved.
  void follow(const item_schedule& s) {
    s.for_each_retimed([&](item_id i) {
      if (!s.flow().is_op(i)) {
        mark(s.flow().tensor(i));
        return;
      }
      settle(s, i);
      for (const auto e : s.flow().inputs(i)) {
        mark(s.flow().tensor_of_edge(e));
      }
      s.flow().for_each_output(i, [this](tensor_id t) { mark(t); });
    });
    update(s);
  }
  void commit() { commit_all(stays_, where_, resident_, peak_); }
  void rollback() {
    stays_.for_each_change_back([this](std::uint32_t k, const stay& before) {
      put(stays_[k], before);
      stays_.settle(k, before);
    });
    rollback_all(stays_, where_, resident_, peak_);
    std::fill(is_touched_.begin(), is_touched_.end(), 0);
  }

  /// Bytes at the worst moment.
  byte_count peak(device_id d) const { return peak_[d]; }
  /// What devices lack at their worst moments, in their limits; 0 if nothing.
  double excess() const {
    double sum = 0;
    for (const device_id d : ids(limit_.size())) {
      if (peak_[d] > limit_[d]) {
        sum += static_cast<double>(peak_[d] - limit_[d]) / std::max(1.0, static_cast<double>(limit_[d]));
      }
    }
    return sum;
  }

private:
  struct stay {
    device_id device = none; // none: there is no such stay
    double begin = 0;
    double end = 0;
    std::int64_t bytes = 0;
  };
  /// The schedule as `stay_finder` asks for it.
  struct run {
    const item_schedule& s;

    device_id device(op_id v) const { return s.flow().device(v); }
    double start(op_id v) const { return s.start(v); }
    double finish(op_id v) const { return s.finish(v); }
    template <class G>
    void for_each_transfer(tensor_id t, G g) const {
      s.flow().for_each_transfer(t, [&](item_id i) {
        g(s.flow().destination(i), s.finish(i), s.finish(i), s.available(i));
      });
    }
  };

  void mark(tensor_id t) {
    if (!is_marked_[t]) {
      is_marked_[t] = 1;
      marked_.push_back(t);
    }
  }
  /// v is where the schedule has it.
  void settle(const item_schedule& s, op_id v) {
    const device_id from = where_[v];
    const device_id to = s.flow().device(v);
    if (from == to) {
      return;
    }
    const byte_count bytes = p_->workload().resident_bytes(v);
    if (from != none) {
      resident_.set(from, resident_[from] - bytes);
      is_touched_[from] = 1;
    }
    resident_.set(to, resident_[to] + bytes);
    is_touched_[to] = 1;
    where_.set(v, to);
  }

  void update(const item_schedule& s) {
    for (const tensor_id t : marked_) {
      is_marked_[t] = 0;
      const auto bytes = static_cast<std::int64_t>(p_->workload().bytes(t));
      std::uint32_t k = first_[t];
      find_(t, run{s}, [&](const tensor_stay& x) { replace(k++, {x.device, x.begin, x.end, bytes}); });
      for (; k < first_[t + 1]; ++k) {
        replace(k, {});
      }
    }
    marked_.clear();
    for (const device_id d : ids(levels_.size())) {
      if (is_touched_[d]) {
        is_touched_[d] = 0;
        peak_.set(d, resident_[d] + static_cast<byte_count>(levels_[d].peak()));
      }
    }
  }
  void replace(std::uint32_t k, const stay& now) {
    const stay& before = stays_[k];
    if (now.device != before.device || now.begin != before.begin || now.end != before.end) {
      put(before, now);
      stays_.set(k, now);
    }
  }
  /// Takes a stay from the levels and puts another one there.
  void put(const stay& before, const stay& now) {
    const bool here = now.device == before.device;
    const bool begins_alike = here && now.begin == before.begin;
    const bool ends_alike = here && now.end == before.end;
    for (const stay* x : {&before, &now}) {
      if (x->device == none) {
        continue;
      }
      is_touched_[x->device] = 1;
      auto& level = levels_[x->device];
      const auto change = x == &now ? &level_profile::add : &level_profile::remove;
      if (!begins_alike) {
        (level.*change)(x->begin, x->bytes);
      }
      if (!ends_alike) {
        (level.*change)(x->end, -x->bytes);
      }
    }
  }

  const Problem* p_;
  stay_finder<typename Problem::workload_type> find_;
  std::vector<std::uint32_t> first_; // stay of each tensor, and the end
  std::vector<std::uint8_t> is_marked_;
  std::vector<tensor_id> marked_; // to be looked at again
  revertible<device_id> where_;   // per op
  revertible<stay> stays_;
  revertible<byte_count> resident_, peak_; // per device, as all that follow
  buffer<level_profile> levels_;           // without what is resident
  std::vector<std::uint8_t> is_touched_;
  std::vector<byte_count> limit_;
};

} // namespace weft::refine::detail
