// SPDX-License-Identifier: BSL-1.0
/// The changes that searches on an incremental schedule try.
#pragma once

#include "weft/core/buffer.hpp"
#include "weft/core/elementary.hpp"
#include "weft/core/random.hpp"
#include "weft/core/rounding.hpp"
#include "weft/core/sort.hpp"
#include "weft/refine/incremental_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace weft::refine {

/// A producer or a consumer of v, each with the same chance for each tensor between them; `none` if it has neither.
template <class Workload>
op_id random_neighbour(const Workload& w, op_id v, rng& random) {
  const auto& inputs = w.inputs(v);
  const auto num_inputs = static_cast<std::size_t>(std::ranges::size(inputs));
  const std::size_t count = num_inputs + graph::out_degree(w, v);
  if (count == 0) {
    return none;
  }
  std::size_t pick = random.below(count);
  if (pick < num_inputs) {
    return w.producer(*std::ranges::next(std::ranges::begin(inputs), static_cast<std::ptrdiff_t>(pick)));
  }
  pick -= num_inputs;
  for (const tensor_id t : w.outputs(v)) {
    const auto& consumers = w.consumers(t);
    const auto size = static_cast<std::size_t>(std::ranges::size(consumers));
    if (pick < size) {
      return *std::ranges::next(std::ranges::begin(consumers), static_cast<std::ptrdiff_t>(pick));
    }
    pick -= size;
  }
  return none;
}

/// The item of the longest path among `rounds` random ones that stand in lanes. Where anything is charged, half of the
/// time any one: what is on no long path has its charge, too. Precondition: there is an op.
template <class Schedule>
item_id near_critical(const Schedule& s, rng& random, std::uint32_t rounds) {
  item_id best = none;
  rounds = s.charges() > 0 && random.below(2) == 0 ? 1 : rounds;
  for (std::uint32_t k = 0; k < rounds; ++k) {
    item_id i = random.below(s.num_items());
    while (!s.is_live(i) || !s.stands_in_lane(i)) {
      i = random.below(s.num_items());
    }
    if (best == none || s.path(i) > s.path(best)) {
      best = i;
    }
  }
  return best;
}

/// Draws changes of a schedule: reassign a component, put an item before the one that it waits for on its device, put
/// it to its best place, take a connected cluster to another device, or take all that a device does in a stretch of
/// time to another one or exchange it with what that one does. Places are chosen by start and tail (see
/// `incremental_schedule::move`), devices half of the time near neighbours of the component, half of the time anywhere.
template <class Problem>
class neighbourhood {
public:
  /// The size of changes.
  struct options {
    double stretches = 0.3;       ///< share of changes that move stretches of a device's time
    std::uint32_t largest_cluster = 12;  ///< components
    std::uint32_t largest_stretch = 60;  ///< items of a lane
  };

  explicit neighbourhood(const Problem& p, options o = {}) : p_{&p}, options_{o} {}

  /// Changes the schedule around item i. False: nothing sensible was drawn; roll back.
  template <class Schedule>
  bool change(Schedule& s, item_id i, rng& random) {
    const bool enough_devices = p_->num_devices() > 1;
    if (enough_devices && random.uniform() < options_.stretches) {
      return move_stretch(s, i, random);
    }
    const auto kind = random.below(6);
    if (s.is_op(i) && enough_devices) {
      if (kind < 2) {
        return reassign(s, i, random);
      }
      if (kind < 4) {
        return move_cluster(s, i, random);
      }
    }
    if (kind % 2 == 0) {
      return s.before(i) != none && s.put_before(i, s.before(i));
    }
    if (random.below(2) == 0) {
      return s.shift(i, s.ready(i));
    }
    const double earlier = random.uniform();
    const double mostly_little = random.uniform();
    return s.shift(i, s.start(i) * (1 - rounded(0.1 * earlier * mostly_little)));
  }

  /// Moves v's component to another device. False: it does not fit the one that was drawn; roll back.
  template <class Schedule>
  bool reassign(Schedule& s, op_id v, rng& random) const {
    const component_id c = p_->component(v);
    const device_id d = draw_device(s, v, random);
    return d != s.device(v) && s.fits(c, d) && s.move(c, d);
  }

  /// A device for v's component: half of the time that of a producer or consumer of a member, half of the time that
  /// of eight random ones on which v takes least time or, where anything is charged and just as often, is charged
  /// least.
  template <class Schedule>
  device_id draw_device(const Schedule& s, op_id v, rng& random) const {
    if (random.below(2) == 0) {
      const auto members = p_->members(p_->component(v));
      const op_id u = neighbour(members[random.below(members.size())], random);
      if (u != none) {
        return s.device(u);
      }
    }
    const bool by_charge = s.charges() > 0 && random.below(2) == 0;
    const auto dear = [&](device_id d) { return by_charge ? s.op_charge(v, d) : p_->compute_time(v, d); };
    device_id best = random.below(p_->num_devices());
    for (int k = 1; k < 8; ++k) {
      const device_id d = random.below(p_->num_devices());
      if (dear(d) < dear(best)) {
        best = d;
      }
    }
    return best;
  }

  op_id neighbour(op_id v, rng& random) const { return random_neighbour(p_->workload(), v, random); }

private:
  struct planned_move {
    double start;
    component_id component;
    device_id to;
  };

  /// A random walk over neighbours on the same device; all of it goes to another device.
  template <class Schedule>
  bool move_cluster(Schedule& s, op_id v, rng& random) {
    const device_id here = s.device(v);
    const std::size_t wanted = 2 + random.below(options_.largest_cluster);
    moves_.clear();
    add(s, v, none);
    for (std::size_t step = 0; moves_.size() < wanted && step < 2 * wanted; ++step) {
      if (const op_id u = neighbour(v, random); u != none && s.device(u) == here) {
        v = u;
        add(s, v, none);
      }
    }
    const component_id c = moves_[random.below(moves_.size())].component;
    const device_id to = draw_device(s, p_->members(c).front(), random);
    if (to == here) {
      return false;
    }
    for (auto& m : moves_) {
      m.to = to;
    }
    return apply(s, true);
  }

  /// The items around i in its lane, up to `largest_stretch`, few more often than many.
  template <class Schedule>
  bool move_stretch(Schedule& s, item_id i, rng& random) {
    const auto count = static_cast<int>(portable_exp(portable_log(options_.largest_stretch) * random.uniform()));
    item_id first = i;
    item_id last = i;
    for (int k = 0; k < count; ++k) {
      if (random.below(2) == 0) {
        first = s.before(first) != none ? s.before(first) : first;
      } else {
        last = s.after(last) != none ? s.after(last) : last;
      }
    }
    const op_id v = s.is_op(i) ? i : s.producer(i);
    const device_id here = s.device(v);
    const device_id there = draw_device(s, v, random);
    if (there == here) {
      return false;
    }
    const double from = s.start(first);
    const double until = s.finish(last);
    const bool exchange = random.below(3) == 0;
    moves_.clear();
    collect(s, here, from, until, there);
    if (exchange) {
      collect(s, there, from, until, here);
    }
    return apply(s, false);
  }

  template <class Schedule>
  void collect(const Schedule& s, device_id d, double from, double until, device_id to) {
    s.for_each_in_window(d, from, until, [&](item_id i) {
      if (s.is_op(i) && moves_.size() < options_.largest_stretch) {
        add(s, i, to);
      }
    });
  }

  template <class Schedule>
  void add(const Schedule& s, op_id v, device_id to) {
    const component_id c = p_->component(v);
    if (std::none_of(moves_.begin(), moves_.end(), [&](const planned_move& m) { return m.component == c; })) {
      moves_.push_back({s.start(v), c, to});
    }
  }

  /// Moves in the order of starts. Components that do not fit stay where they are or, if `all` have to move, spoil the
  /// change.
  template <class Schedule>
  bool apply(Schedule& s, bool all) {
    weft::sort(moves_, [](const planned_move& a, const planned_move& b) {
      return a.start != b.start ? a.start < b.start : a.component < b.component;
    });
    bool moved = false;
    for (const auto& m : moves_) {
      if (s.fits(m.component, m.to)) {
        moved = true;
        if (!s.move(m.component, m.to)) {
          return false;
        }
      } else if (all) {
        return false;
      }
    }
    return moved;
  }

  const Problem* p_;
  options options_;
  buffer<planned_move> moves_;
};

} // namespace weft::refine
