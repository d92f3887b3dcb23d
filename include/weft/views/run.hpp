// SPDX-License-Identifier: BSL-1.0
/// Views of a run: timelines of devices and links, gaps, the critical path, and tensors in memory.
#pragma once

#include "weft/core/sort.hpp"
#include "weft/evaluate/run_path.hpp"
#include "weft/plan/live_ranges.hpp"
#include "weft/plan/plan.hpp"
#include "weft/plan/trace.hpp"
#include "weft/views/view.hpp"

#include <range/v3/view/filter.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::views {

/// Seconds from the start of the run; half-open.
struct interval {
  double start = 0;
  double finish = 0;
  constexpr double length() const { return finish - start; }
  friend constexpr auto operator<=>(const interval&, const interval&) = default;
};

/// The gaps between intervals that are in order and apart. Random access.
class gaps_view : public view<gaps_view> {
public:
  gaps_view() = default;
  gaps_view(kept<interval> busy, double end)
      : busy_{std::move(busy)}, end_{end}, last_{busy_.size() + 1} {
    if (at(first_).length() <= 0) {
      ++first_;
    }
    if (last_ > first_ && at(last_ - 1).length() <= 0) {
      --last_;
    }
  }

private:
  friend ranges::range_access;
  struct cursor {
    const gaps_view* in = nullptr;
    std::size_t i = 0; // before interval i
    interval read() const { return in->at(i); }
    void next() { ++i; }
    void prev() { --i; }
    void advance(std::ptrdiff_t n) { i = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(i) + n); }
    bool equal(const cursor& other) const { return i == other.i; }
    std::ptrdiff_t distance_to(const cursor& other) const {
      return static_cast<std::ptrdiff_t>(other.i) - static_cast<std::ptrdiff_t>(i);
    }
  };
  cursor begin_cursor() const { return {this, first_}; }
  cursor end_cursor() const { return {this, last_}; }

  /// The gap before interval i, or the one before the end.
  interval at(std::size_t i) const {
    const auto busy = busy_.begin() + static_cast<std::ptrdiff_t>(i);
    return {i == 0 ? 0 : busy[-1].finish, i == busy_.size() ? end_ : busy->start};
  }

  kept<interval> busy_;
  double end_ = 0;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
};

/// A run by devices and links, sorted once. Its views are random-access and sized, and may outlive it; the trace
/// outlives them all. A device or link of which the trace has nothing has empty views, and is idle all the time.
/// ```
/// const views::timeline line{run};
/// for (const auto& [start, finish] : line.idle(0)) …
/// const auto waits = line.idle(0) | ranges::views::transform(&views::interval::length);
/// ```
/// Complexity: O((n + k) log(n + k)) time and O(n + k + devices) memory, for n ops and k transfers; of the views O(1),
/// of `transfers` O(log k).
class timeline {
public:
  explicit timeline(const trace& run) : run_{&run} {
    std::vector<op_id> ops;
    std::vector<std::pair<device_id, interval>> busy;
    for (const op_id v : ids(run.ops.size())) {
      if (const auto& x = run.ops[v]; x.device != none) {
        ops.push_back(v);
        busy.push_back({x.device, {x.start, x.finish}});
      }
    }
    std::vector<std::uint32_t> transfers;
    for (std::uint32_t k = 0; k < run.transfers.size(); ++k) {
      const auto& x = run.transfers[k];
      transfers.push_back(k);
      busy.push_back({x.from, {x.send_start, x.send_finish}});
    }
    const auto begins = [&](op_id v) {
      return std::pair{run.ops[v].device, interval{run.ops[v].start, run.ops[v].finish}};
    };
    weft::sort(ops, [&](op_id a, op_id b) { return std::pair{begins(a), a} < std::pair{begins(b), b}; });
    weft::sort(transfers, [&](std::uint32_t a, std::uint32_t b) {
      const auto key = [&](std::uint32_t k) { return std::pair{run.transfers[k].start, k}; };
      return link(a) != link(b) ? link(a) < link(b) : key(a) < key(b);
    });
    weft::sort(busy);
    std::vector<interval> together; // what overlaps or touches is one
    for (const auto& [d, x] : busy) {
      if (!(x.start < x.finish)) {
        continue;
      }
      while (first_busy_.size() <= d) {
        first_busy_.push_back(together.size());
      }
      if (together.size() > first_busy_[d] && x.start <= together.back().finish) {
        together.back().finish = std::max(together.back().finish, x.finish);
      } else {
        together.push_back(x);
      }
    }
    first_busy_.push_back(together.size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
      while (first_op_.size() <= run.ops[ops[i]].device) {
        first_op_.push_back(i);
      }
    }
    first_op_.push_back(ops.size());
    ops_ = kept<op_id>{std::move(ops)};
    transfers_ = kept<std::uint32_t>{std::move(transfers)};
    busy_ = kept<interval>{std::move(together)};
  }
  explicit timeline(trace&&) = delete; // would be read after its end

  /// The ops that ran on a device, by start, then finish, then id.
  kept<op_id> ops(device_id d) const { return row(ops_, first_op_, d); }

  /// The intervals in which the compute queue of a device was busy with ops and sends: what overlaps or touches is one
  /// interval.
  kept<interval> busy(device_id d) const { return row(busy_, first_busy_, d); }

  /// The intervals in which it was idle, until the end of the run.
  gaps_view idle(device_id d) const { return {busy(d), run_->makespan}; }

  /// The transfers from one device to another, by start, as `const transfer_record&`.
  auto transfers(device_id from, device_id to) const {
    const auto before = [this](std::uint32_t k, const std::pair<device_id, device_id>& x) { return link(k) < x; };
    const auto first = std::lower_bound(transfers_.begin(), transfers_.end(), std::pair{from, to}, before);
    const auto goes_there = [&](std::uint32_t k) { return link(k) == std::pair{from, to}; };
    const auto last = std::find_if_not(first, transfers_.end(), goes_there);
    return ranges::views::transform(
      kept<std::uint32_t>{transfers_, static_cast<std::size_t>(first - transfers_.begin()),
                          static_cast<std::size_t>(last - first)},
      [run = run_](std::uint32_t k) -> const transfer_record& { return run->transfers[k]; });
  }

private:
  std::pair<device_id, device_id> link(std::uint32_t k) const {
    return {run_->transfers[k].from, run_->transfers[k].to};
  }

  template <class T>
  static kept<T> row(const kept<T>& all, const std::vector<std::size_t>& first, device_id d) {
    return d + std::size_t{1} < first.size() ? kept<T>{all, first[d], first[d + 1] - first[d]} : kept<T>{};
  }

  const trace* run_;
  kept<op_id> ops_;
  kept<std::uint32_t> transfers_;
  kept<interval> busy_;
  std::vector<std::size_t> first_op_;   // per device, plus the end
  std::vector<std::size_t> first_busy_; // per device, plus the end
};

/// The live ranges of tensors in memory, as `live_ranges` of devices that share none; of a run in which every op ran.
/// Random access.
/// Complexity: O(n + m) once.
template <class W>
kept<live_range> stays(const W& w, const trace& run) {
  placement where;
  std::size_t num_devices = 0;
  for (const auto& x : run.ops) {
    where.push_back(x.device);
    num_devices = std::max<std::size_t>(num_devices, x.device + std::size_t{1});
  }
  for (const auto& x : run.transfers) {
    num_devices = std::max<std::size_t>(num_devices, x.to + std::size_t{1});
  }
  return kept<live_range>{live_ranges(w, num_devices, where, run)};
}

/// Of the stays of tensors, those at a moment. Bidirectional. Complexity: O(all stays) for the whole range.
inline auto alive_at(kept<live_range> all, double time) {
  const auto is_there = [time](const live_range& s) { return s.begin <= time && time < s.end; };
  return ranges::views::filter(std::move(all), is_there);
}

/// The steps that made a run end when it did, as `path_of_run` finds them. Random access.
template <class Problem>
kept<path_step> critical_path(const Problem& p, const trace& run) {
  return kept<path_step>{path_of_run(p, run)};
}

} // namespace weft::views
