// SPDX-License-Identifier: BSL-1.0
/// Changes of a schedule that shorten, or may shorten, one of its longest paths.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/ids.hpp"
#include "weft/core/random.hpp"
#include "weft/core/sort.hpp"
#include "weft/schedule/placed_flow.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace weft::refine {

/// A change of one item of a longest path: an op goes to another device, or an item to another place in its lane.
struct critical_change {
  item_id item = none;
  device_id to = none;     ///< where an op goes; `none`: it stays on its device
  item_id other = none;    ///< of its lane, which the item is put next to if it stays
  bool before = false;     ///< before the other item
  double estimate = 0;     ///< about how long the longest path through what is moved will be
  std::uint32_t tie = 0;   ///< drawn: of equal estimates the least comes first
};

/// Collects the changes that may shorten a longest path, and estimates each without making it. A schedule only gets
/// shorter if every longest path is broken, and a path is only broken if
/// - an op of it runs elsewhere: each goes to each device that can run it, to the place where the path through it is
///   shortest,
/// - or, of a **block**, items of the path that follow each other in a lane, one goes before the first or behind the
///   last: each does that is among the 32 at that end, and neighbours at both ends change places.
/// Items are what `incremental_schedule` calls so: sends, which occupy devices, are in blocks like ops.
///
/// Source: Nowicki, Smutnicki, A Fast Taboo Search Algorithm for the Job Shop Problem, Management Science 42(6), 1996;
/// Mastrolilli, Gambardella, Effective Neighbourhood Functions for the Flexible Job Shop Problem, J. Scheduling 3,
/// 2000; the estimates in blocks: Balas, Vazacopoulos, Guided Local Search with Shifting Bottleneck for Job Shop
/// Scheduling, Management Science 44(2), 1998. Complexity of `collect`: O(path · devices · (fan-in + fan-out)), of
/// which at most `max_moves` pairs of an op and a device are looked at, and O(32 · 32 · (fan-in + fan-out)) for each
/// block.
template <class Problem>
class critical_neighbourhood {
public:
  explicit critical_neighbourhood(const Problem& p) : p_{&p}, first_(p.num_ops() + 1, 0) {
    for (const op_id v : ids(p.num_ops())) {
      for (const device_id d : ids(p.num_devices())) {
        if (p.allows(p.component(v), d) && p.compute_time(v, d) < std::numeric_limits<double>::infinity()) {
          can_.push_back(d);
        }
      }
      first_[v + 1] = can_.size();
    }
  }

  /// The devices that can run v.
  std::span<const device_id> devices(op_id v) const {
    return std::span{can_}.subspan(first_[v], first_[v + 1] - first_[v]);
  }

  /// The changes around a longest path that is drawn, best estimate first; until the next call.
  template <class Schedule>
  const buffer<critical_change>& collect(const Schedule& s, rng& random, std::size_t max_moves) {
    changes_.clear();
    draw_path(s, random);
    collect_moves(s, random, max_moves);
    for (std::size_t from = 0, to = 0; from < path_.size(); from = to) {
      for (to = from + 1; to < path_.size() && s.after(path_[to - 1]) == path_[to]; ++to) {
      }
      collect_in_block(s, std::span{path_}.subspan(from, to - from));
    }
    for (auto& x : changes_) {
      x.tie = random.below(1u << 16);
    }
    weft::sort(changes_, [](const critical_change& a, const critical_change& b) {
      return a.estimate != b.estimate ? a.estimate < b.estimate : a.tie < b.tie;
    });
    return changes_;
  }

  /// Makes a change. False: it cannot be made; roll back.
  template <class Schedule>
  bool apply(Schedule& s, const critical_change& x) const {
    if (x.to == none) {
      return s.put_next_to(x.item, x.other, x.before);
    }
    const component_id c = p_->component(x.item);
    return s.fits(c, x.to) && s.move(c, x.to);
  }

  /// The items of the path that was drawn last that stand in lanes.
  std::span<const item_id> path() const { return path_; }

private:
  static constexpr std::size_t max_passed = 32; ///< items of a block that one goes past, and itself

  template <class Schedule>
  void draw_path(const Schedule& s, rng& random) {
    const auto& items = s.items();
    const double length = s.makespan();
    item_id at = none;
    std::uint32_t ways = 0;
    for (std::uint32_t l = 0; l < items.lanes().size(); ++l) {
      if (const auto& row = items.lanes()[l]; !row.empty() && s.path(row.front().item) >= length * (1 - 1e-9)) {
        ++ways;
        at = at == none || random.below(ways) == 0 ? row.front().item : at;
      }
    }
    path_.clear();
    for (; at != none; at = items.through(at)) {
      if (s.stands_in_lane(at)) {
        path_.push_back(at);
      }
    }
  }

  template <class Schedule>
  void collect_moves(const Schedule& s, rng& random, std::size_t most) {
    std::size_t pairs = 0;
    for (const item_id i : path_) {
      pairs += s.is_op(i) ? devices(i).size() - 1 : 0;
    }
    for (const item_id i : path_) {
      if (!s.is_op(i)) {
        continue;
      }
      const component_id c = p_->component(i);
      for (const device_id d : devices(i)) {
        if (d != s.device(i) && s.fits(c, d) &&
            (pairs <= most || random.below(static_cast<std::uint32_t>(pairs)) < most)) {
          changes_.push_back({i, d, none, false, s.path_if_moved(i, d)});
        }
      }
    }
  }

  /// Of long blocks, what is near an end goes past it, and so do neighbours at both ends.
  template <class Schedule>
  void collect_in_block(const Schedule& s, std::span<const item_id> block) {
    const std::size_t n = block.size();
    const std::size_t near = std::min(n, max_passed);
    for (std::size_t i = n - near; i + 1 < n; ++i) {
      add_behind(s, block.subspan(i));
    }
    for (std::size_t i = 2; i < near; ++i) { // the first two change places below
      add_before(s, block.first(i + 1));
    }
    if (n > 2) {
      add_behind(s, block.first(2));
    }
  }

  /// The first of these goes behind the last.
  template <class Schedule>
  void add_behind(const Schedule& s, std::span<const item_id> row) {
    const auto& items = s.items();
    const item_id v = row.front();
    const item_id before = s.before(v);
    const item_id after = s.after(row.back());
    double head = before == none ? 0 : s.finish(before);
    heads_.clear();
    for (const item_id l : row.subspan(1)) {
      head = std::max(head, items.ready(l));
      heads_.push_back(head);
      head += items.duration(l);
    }
    double tail = items.duration(v) + std::max(after == none ? 0 : s.tail(after), items.rest(v));
    double longest = std::max(head, items.ready(v)) + tail;
    for (std::size_t k = row.size() - 1; k > 0; --k) {
      tail = items.duration(row[k]) + std::max(tail, items.rest(row[k]));
      longest = std::max(longest, heads_[k - 1] + tail);
    }
    changes_.push_back({v, none, row.back(), false, longest});
  }
  /// The last of these goes before the first.
  template <class Schedule>
  void add_before(const Schedule& s, std::span<const item_id> row) {
    const auto& items = s.items();
    const item_id v = row.back();
    const item_id before = s.before(row.front());
    const item_id after = s.after(v);
    const double begin = std::max(before == none ? 0 : s.finish(before), items.ready(v));
    double head = begin + items.duration(v);
    heads_.clear();
    for (const item_id l : row.first(row.size() - 1)) {
      head = std::max(head, items.ready(l));
      heads_.push_back(head);
      head += items.duration(l);
    }
    double tail = after == none ? 0 : s.tail(after);
    double longest = 0;
    for (std::size_t k = row.size() - 1; k-- > 0;) {
      tail = items.duration(row[k]) + std::max(tail, items.rest(row[k]));
      longest = std::max(longest, heads_[k] + tail);
    }
    longest = std::max(longest, begin + items.duration(v) + std::max(tail, items.rest(v)));
    changes_.push_back({v, none, row.front(), true, longest});
  }

  const Problem* p_;
  std::vector<std::size_t> first_; // of the devices of each op, and one at the end
  std::vector<device_id> can_;
  std::vector<item_id> path_;
  buffer<critical_change> changes_;
  buffer<double> heads_; // in a block that was changed
};

} // namespace weft::refine
