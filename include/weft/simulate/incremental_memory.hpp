// SPDX-License-Identifier: BSL-1.0
/// Incremental peak memory of each device in a schedule that changes.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/level_profile.hpp"
#include "weft/core/revertible.hpp"
#include "weft/plan/live_ranges.hpp"
#include "weft/plan/memory_rule.hpp"
#include "weft/problem.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft::simulate {

/// The peaks that a `memory_tracker` finds in a run, change by change. The items that a change moves in time determine
/// the tensors to be looked at again; each device has the moments when they come and go in a `level_profile`. A
/// schedule is what a `live_range_finder` takes, with `for_each_retimed(f, g)`, which calls f(op) and g(tensor of a
/// transfer) for what has another time or place since the last commit.
///
/// Complexity of a change: for each op or transfer that it moves in time, O(log n + consumers) for each of its
/// tensors. Memory: about 70 bytes per tensor and per copy that there could be.
template <class Problem>
class incremental_memory {
public:
  explicit incremental_memory(const Problem& p)
      : p_{&p}, find_{p.workload(), p.platform()}, first_(p.num_tensors() + 1, 0), is_marked_(p.num_tensors(), 0),
        where_(p.num_ops(), none), resident_(p.num_devices(), 0), peak_(p.num_devices(), 0),
        is_touched_(p.num_devices(), 0) {
    for (const tensor_id t : ids(p.num_tensors())) {
      const auto uses = static_cast<std::size_t>(std::ranges::size(p.workload().consumers(t)));
      first_[t + 1] = first_[t] + 1 + static_cast<std::uint32_t>(std::min(uses, p.num_devices()));
    }
    live_ranges_ = revertible<stay>(first_.back());
    levels_.resize(p.num_devices());
    for (const device_id d : ids(p.num_devices())) {
      limit_.push_back(p.capacity(d));
    }
  }

  explicit incremental_memory(const Problem&&, weft::detail::problem_must_outlive_it = {}) = delete;

  /// Looks at the schedule anew. Precondition: no change is pending in it, nor here.
  template <class Schedule>
  void assign(const Schedule& s) {
    live_ranges_.fill({});
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
  template <class Schedule>
  void follow(const Schedule& s) {
    s.for_each_retimed(
      [&](op_id v) {
        settle(s, v);
        for (const tensor_id t : p_->workload().inputs(v)) {
          mark(t);
        }
        for (const tensor_id t : p_->workload().outputs(v)) {
          mark(t);
        }
      },
      [this](tensor_id t) { mark(t); });
    update(s);
  }
  void commit() { commit_all(live_ranges_, where_, resident_, peak_); }
  void rollback() {
    live_ranges_.for_each_change_back([this](std::uint32_t k, const stay& before) {
      put(live_ranges_[k], before);
      live_ranges_.settle(k, before);
    });
    rollback_all(live_ranges_, where_, resident_, peak_);
    std::fill(is_touched_.begin(), is_touched_.end(), 0);
  }

  /// Bytes at the worst moment.
  byte_count peak(device_id d) const { return peak_[d]; }
  /// Whether d lacks some at its worst moment.
  bool is_short(device_id d) const { return peak_[d] > limit_[d]; }
  /// The memory that devices lack at their worst moments, in their limits; 0 if nothing.
  double excess() const {
    double sum = 0;
    for (const device_id d : ids(limit_.size())) {
      if (is_short(d)) {
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

  void mark(tensor_id t) {
    if (!is_marked_[t]) {
      is_marked_[t] = 1;
      marked_.push_back(t);
    }
  }
  /// v is where the schedule has it.
  template <class Schedule>
  void settle(const Schedule& s, op_id v) {
    const device_id from = where_[v];
    const device_id to = p_->memory_of(s.device(v));
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

  template <class Schedule>
  void update(const Schedule& s) {
    for (const tensor_id t : marked_) {
      is_marked_[t] = 0;
      const auto bytes = static_cast<std::int64_t>(p_->workload().bytes(t));
      std::uint32_t k = first_[t];
      find_(t, s, [&](const live_range& x) { replace(k++, {x.device, x.begin, x.end, bytes}); });
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
    const stay& before = live_ranges_[k];
    if (now.device != before.device || now.begin != before.begin || now.end != before.end) {
      put(before, now);
      live_ranges_.set(k, now);
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
  live_range_finder<typename Problem::workload_type> find_;
  std::vector<std::uint32_t> first_; // stay of each tensor, and the end
  std::vector<std::uint8_t> is_marked_;
  std::vector<tensor_id> marked_; // to be looked at again
  revertible<device_id> where_;   // per op
  revertible<stay> live_ranges_;
  revertible<byte_count> resident_, peak_; // per device, as all that follow
  buffer<level_profile> levels_;           // without what is resident
  std::vector<std::uint8_t> is_touched_;
  std::vector<byte_count> limit_;
};

} // namespace weft::simulate
