// SPDX-License-Identifier: BSL-1.0
// Whatever is changed in an incremental schedule, its times are those of a run of its plan, and what is taken back
// leaves nothing behind.
#include "property/property.hpp"

#include "weft/partition/hash.hpp"
#include "weft/partition/heft.hpp"
#include "weft/refine/incremental_schedule.hpp"
#include "weft/refine/neighbourhood.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace weft::test {
namespace property_incremental_test {

using problem_type = instance::problem_type;

/// Looks into a schedule.
struct probe : refine::incremental_schedule<problem_type> {
  using incremental_schedule::incremental_schedule;

  /// All that has to be as before after a rollback; labels only up to their order, which the lanes have.
  bool same_state(const probe& other) const {
    const auto items = [](const lane_entry& a, const lane_entry& b) { return a.item == b.item; };
    const auto lane = [&](const auto& a, const auto& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end(), items); };
    return makespan_ == other.makespan_ && device_ == other.device_ && free_ == other.free_ &&
           source_ == other.source_ && dest_ == other.dest_ && count_ == other.count_ && travel_ == other.travel_ &&
           lane_ == other.lane_ && prev_ == other.prev_ && next_ == other.next_ && start_ == other.start_ &&
           duration_ == other.duration_ && tail_ == other.tail_ &&
           std::equal(lanes_.begin(), lanes_.end(), other.lanes_.begin(), other.lanes_.end(), lane);
  }

  /// What does not hold between transactions, or nothing.
  std::string violation() const {
    if (!log_.empty() || !pending_.empty() || !touched_.empty() || heap_size_ != 0 ||
        std::any_of(queued_.begin(), queued_.end(), [](auto x) { return x != 0; })) {
      return "something of a change is left";
    }
    if (auto wrong = wrong_lanes(); !wrong.empty()) {
      return wrong;
    }
    double longest = 0;
    double last = 0;
    for (const item_id i : ids(num_items())) {
      if (!is_live(i)) {
        continue;
      }
      const auto name = "item " + std::to_string(i);
      if (start(i) != earliest(i)) {
        return name + " does not start as early as it can";
      }
      if (const way w = longest_way(i); tail(i) != w.length || tail_of(i, through_[i]) != w.length) {
        return name + " has a wrong tail";
      }
      if (fresh_[i]) {
        return name + " was not evaluated";
      }
      bool rises = true;
      for_each_predecessor(i, [&](item_id u) { rises = rises && label_[u] < label_[i]; });
      if (!rises) {
        return name + " is labelled before what it waits for";
      }
      longest = std::max(longest, path(i));
      last = std::max(last, finish(i));
    }
    if (last != makespan()) {
      return "the makespan is not the last finish";
    }
    return about(longest, makespan()) ? "" : "no path is as long as the makespan";
  }

  /// What the placement says and the schedule does not, or the other way round.
  std::string misplaced() const {
    const auto& p = problem();
    std::vector<byte_count> free;
    for (const device_id d : ids(p.num_devices())) {
      free.push_back(static_cast<byte_count>(p.platform().memory_capacity(d)));
    }
    for (component_id c = 0; c < p.num_components(); ++c) {
      const device_id d = device(p.members(c).front());
      if (!p.kinds(c).contains(p.platform().kind(d)) || free[d] < p.demand(c)) {
        return "a component does not fit its device";
      }
      free[d] -= p.demand(c);
      for (const op_id v : p.members(c)) {
        if (device(v) != d) {
          return "a component is torn apart";
        }
      }
    }
    for (const device_id d : ids(p.num_devices())) {
      if (free[d] != this->free(d)) {
        return "free memory is miscounted";
      }
    }
    std::size_t transfers = 0;
    for (const item_id i : ids(num_items())) {
      transfers += !is_op(i) && is_live(i);
    }
    const plan now = to_plan();
    placed_flow<problem_type> flow{p};
    flow.assign(now.placement);
    return transfers == flow.transfers().size() ? "" : "there are other transfers than the placement causes";
  }

private:
  /// The length of the way from i that goes on through one of its successors, or ends with i.
  double tail_of(item_id i, item_id through) const {
    if (through == none) {
      return duration_[i];
    }
    double length = -1;
    for_each_successor(i, [&](item_id s) {
      if (s == through) {
        length = std::max(length, (s != next_[i] && !is_op(i) ? travel_[i - n_] : 0) + tail_[s] + duration_[i]);
      }
    });
    return length;
  }

  std::string wrong_lanes() const {
    std::size_t standing = 0;
    for (std::size_t l = 0; l < lanes_.size(); ++l) {
      item_id before = none;
      for (const auto& [label, i] : lanes_[l]) {
        if (lane_[i] != l || label_[i] != label || prev_[i] != before || (before != none && next_[before] != i)) {
          return "lane " + std::to_string(l) + " is torn";
        }
        const auto first = first_lane_[device_of(i)];
        if (l < first || l >= first_lane_[device_of(i) + 1]) {
          return "item " + std::to_string(i) + " stands on another device";
        }
        before = i;
        ++standing;
      }
    }
    for (const item_id i : ids(num_items())) {
      standing -= is_live(i) && stands_in_lane(i);
    }
    return standing == 0 ? "" : "lanes hold other items than they should";
  }
};

void expect_sound(const probe& s) {
  for (const std::string& wrong : {s.violation(), s.misplaced()}) {
    if (!wrong.empty()) {
      RC_FAIL(wrong);
    }
  }
}

/// The plan runs in the time that the schedule says; on several slots a run can be shorter, since it does not keep to
/// lanes.
void expect_as_run(const probe& s) {
  const auto& p = s.problem();
  const plan made = s.to_plan();
  expect_none("plan", validate(p, made));
  simulator<problem_type, schedule::static_order> sim{p};
  const auto run = sim.run(made);
  RC_ASSERT(run.complete);
  bool one_slot = true;
  for (const device_id d : ids(p.num_devices())) {
    one_slot = one_slot && p.platform().slots(d) == 1;
  }
  RC_ASSERT((one_slot ? run.makespan == s.makespan() : run.makespan <= s.makespan()));
}

item_id any_in_lane(const probe& s, rng& random) {
  return refine::near_critical(s, random, 1);
}

/// A random change; false if it could not be made.
bool change(probe& s, refine::neighbourhood<problem_type>& moves, rng& random) {
  const auto& p = s.problem();
  const item_id i = any_in_lane(s, random);
  switch (random.below(6)) {
  case 0: {
    const component_id c = random.below(p.num_components());
    const device_id d = random.below(p.num_devices());
    const double delay = random.below(2) == 0 ? 0 : s.makespan() * random.uniform();
    return (d == s.device(p.members(c).front()) || s.fits(c, d)) && s.move(c, d, delay);
  }
  case 1: return s.shift(i, s.makespan() * random.uniform(-0.1, 1.1));
  case 2: return s.before(i) != none && s.put_before(i, s.before(i));
  case 3: {
    item_id other = i;
    for (auto steps = random.below(6); steps > 0 && other != none; --steps) {
      other = random.below(2) == 0 ? s.before(other) : s.after(other);
    }
    return other != none && s.put_before(i, other);
  }
  default: return moves.change(s, i, random);
  }
}

double draw_limit(double makespan, double before, rng& random) {
  switch (random.below(5)) {
  case 0: return makespan;
  case 1: return std::nextafter(makespan, 0);
  case 2: return before;
  case 3: return makespan * random.uniform(0.5, 1.5);
  default: return refine::incremental_schedule<problem_type>::infinity;
  }
}

/// One transaction: a few changes, evaluated with a limit and, on a copy, without; then made or taken back.
void transact(probe& s, refine::neighbourhood<problem_type>& moves, rng& random) {
  const probe before = s;
  bool made = true;
  for (auto count = 1 + random.below(3); count > 0 && made; --count) {
    made = change(s, moves, random);
  }
  if (made) {
    probe full = s;
    const double makespan = full.evaluate();
    RC_ASSERT(makespan < s.infinity);
    const double limit = draw_limit(makespan, before.makespan(), random);
    const double known = s.evaluate(limit);
    RC_ASSERT((known == (makespan > limit ? s.infinity : makespan)));
    if (known < s.infinity && random.below(3) != 0) {
      s.commit();
      full.commit();
      RC_ASSERT(s.makespan() == makespan);
      RC_ASSERT(s.same_state(full));
      expect_sound(s);
      expect_as_run(s);
      return;
    }
  }
  s.rollback();
  RC_ASSERT(s.same_state(before));
  expect_sound(s);
}

void walk(const problem_type& p, const plan& start, std::uint64_t seed) {
  trace run;
  simulator<problem_type, schedule::fifo> sim{p};
  const auto first = sim.run(start, simulate::recorder{run});
  probe s{p};
  s.assign(run);
  RC_ASSERT(s.makespan() <= first.makespan);
  expect_sound(s);
  expect_as_run(s);
  rng random{seed};
  refine::neighbourhood<problem_type> moves{p};
  probe::snapshot saved;
  s.save(saved);
  const plan kept = s.to_plan();
  const double makespan = s.makespan();
  for (int k = 0; k < 12; ++k) {
    transact(s, moves, random);
  }
  RC_ASSERT(s.to_plan(saved) == kept);
  s.restore(saved);
  RC_ASSERT(s.makespan() <= makespan);
  expect_sound(s);
  expect_as_run(s);
}

void walk_on_all(const std::string& what, const sample_options& o) {
  holds_for_all(what, o, [](const sample& s) {
    const instance made{s};
    const auto& p = made.task;
    rng random{s.seed};
    workspace scratch;
    const auto start = s.seed % 2 == 0 ? partition::run(partition::heft{}, p, random, scratch)
                                       : partition::run(partition::hash{}, p, random, scratch);
    if (start) {
      walk(p, start->plan, s.seed);
    }
  });
}

TEST_CASE("property: incremental schedules have the times of their plans' runs, and changes can be taken back") {
  walk_on_all("changes", {});
}

TEST_CASE("property: incremental schedules on devices of one slot run exactly as they say") {
  sample_options o;
  o.max_slots = 1;
  walk_on_all("changes, one slot", o);
}

TEST_CASE("property: incremental schedules with generic numbers") {
  sample_options o;
  o.generic = true;
  o.max_slots = 1;
  walk_on_all("changes, generic", o);
}

} // namespace property_incremental_test
} // namespace weft::test
