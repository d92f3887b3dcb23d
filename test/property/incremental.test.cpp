// SPDX-License-Identifier: BSL-1.0
// Whatever is changed in an incremental schedule, its times are those of a run of its plan, and what is taken back
// leaves nothing behind.
#include "property/property.hpp"

#include "weft/partition/hash.hpp"
#include "weft/partition/heft.hpp"
#include "weft/refine/critical_neighbourhood.hpp"
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

using problem_type = sampled_problem::problem_type;

using schedule_type = refine::incremental_schedule<problem_type>;

/// The length of the way from i that goes on through one of its successors, or ends with i.
double tail_of(const refine::detail::item_schedule& s, item_id i, item_id through) {
  const double duration = s.duration(i);
  double length = through == none ? 0 : -1;
  if (through != none && through == s.lanes().after(i)) {
    length = s.tail(through);
  }
  s.flow().for_each_consumer(i, [&](item_id next) {
    if (next == through) {
      length = std::max(length, (s.flow().is_op(i) ? 0 : s.travel(i)) + s.tail(next));
    }
  });
  return length + duration;
}

std::string wrong_lanes(const refine::detail::item_schedule& s) {
  const auto& lanes = s.lanes();
  std::size_t standing = 0;
  for (std::uint32_t l = 0; l < lanes.size(); ++l) {
    item_id before = none;
    for (const auto& [label, i] : lanes[l]) {
      if (lanes.lane(i) != l || lanes.label(i) != label || lanes.before(i) != before ||
          (before != none && lanes.after(before) != i)) {
        return "lane " + std::to_string(l) + " is torn";
      }
      const auto of_device = lanes.of(s.flow().device_of(i));
      if (std::find(of_device.begin(), of_device.end(), l) == of_device.end()) {
        return "item " + std::to_string(i) + " stands on another device";
      }
      before = i;
      ++standing;
    }
  }
  for (const item_id i : ids(s.flow().num_items())) {
    standing -= s.flow().is_live(i) && s.stands_in_lane(i);
  }
  return standing == 0 ? "" : "lanes hold other items than they should";
}

/// What does not hold between transactions, or nothing.
std::string violation(const schedule_type& whole) {
  const auto& s = whole.items();
  if (!s.is_settled()) {
    return "something of a change is left";
  }
  if (auto wrong = wrong_lanes(s); !wrong.empty()) {
    return wrong;
  }
  double longest = 0;
  double last = 0;
  for (const item_id i : ids(s.flow().num_items())) {
    if (!s.flow().is_live(i)) {
      continue;
    }
    const auto name = "item " + std::to_string(i);
    if (s.start(i) != s.earliest(i)) {
      return name + " does not start as early as it can";
    }
    if (const double way = s.longest_way(i).length; s.tail(i) != way || tail_of(s, i, s.through(i)) != way) {
      return name + " has a wrong tail";
    }
    bool rises = true;
    const auto look_at = [&](item_id u) { rises = rises && s.lanes().label(u) < s.lanes().label(i); };
    s.flow().for_each_source(i, look_at);
    if (s.lanes().before(i) != none) {
      look_at(s.lanes().before(i));
    }
    if (!rises) {
      return name + " is labelled before what it waits for";
    }
    longest = std::max(longest, whole.path(i));
    last = std::max(last, s.finish(i));
  }
  if (last != s.makespan()) {
    return "the makespan is not the last finish";
  }
  return about(longest, s.makespan()) ? "" : "no path is as long as the makespan";
}

/// What the placement says and the schedule does not, or the other way round.
std::string misplaced(const schedule_type& s) {
  const auto& p = s.problem();
  std::vector<byte_count> free;
  for (const device_id d : ids(p.num_devices())) {
    free.push_back(static_cast<byte_count>(p.platform().memory_capacity(d)));
  }
  for (component_id c = 0; c < p.num_components(); ++c) {
    const device_id d = s.device(p.members(c).front());
    byte_count& left = free[p.memory_of(d)];
    if (!p.kinds(c).contains(p.platform().kind(d)) || left < p.demand(c)) {
      return "a component does not fit its device";
    }
    left -= p.demand(c);
    for (const op_id v : p.members(c)) {
      if (s.device(v) != d) {
        return "a component is torn apart";
      }
    }
  }
  for (const device_id d : ids(p.num_devices())) {
    if (free[p.memory_of(d)] != s.free(d)) {
      return "free memory is miscounted";
    }
  }
  std::size_t transfers = 0;
  for (const item_id i : ids(s.num_items())) {
    transfers += !s.is_op(i) && s.is_live(i);
  }
  const plan now = s.to_plan();
  placed_flow<problem_type> flow{p};
  flow.assign(now.placement);
  return transfers == flow.transfers().size() ? "" : "there are other transfers than the placement causes";
}

/// Labels only up to their order in lanes, which `before` and `after` tell.
bool same_state(const schedule_type& a, const schedule_type& b) {
  const auto& x = a.items().flow();
  const auto& y = b.items().flow();
  bool same = a.makespan() == b.makespan() && x.devices() == y.devices() && x.destinations() == y.destinations();
  for (const device_id d : ids(a.problem().num_devices())) {
    same = same && a.free(d) == b.free(d);
  }
  for (const std::uint32_t e : ids(a.problem().num_edges())) {
    same = same && x.source(e) == y.source(e);
  }
  for (const item_id i : ids(a.num_items())) {
    same = same && a.items().lanes().lane(i) == b.items().lanes().lane(i) && a.before(i) == b.before(i) &&
           a.after(i) == b.after(i) && a.start(i) == b.start(i) && a.items().duration(i) == b.items().duration(i) &&
           a.tail(i) == b.tail(i) && a.items().available(i) == b.items().available(i) &&
           (x.is_op(i) || x.users(i) == y.users(i));
  }
  return same;
}

void expect_sound(const schedule_type& s) {
  for (const std::string& wrong : {violation(s), misplaced(s)}) {
    if (!wrong.empty()) {
      RC_FAIL(wrong);
    }
  }
}

/// The plan runs in the time that the schedule says; on several slots a run can be shorter, since it does not keep to
/// lanes.
void expect_as_run(const schedule_type& s) {
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

item_id any_in_lane(const schedule_type& s, rng& random) {
  return refine::near_critical(s, random, 1);
}

/// An item of the same lane, or `none`.
item_id some_steps_from(const schedule_type& s, item_id i, rng& random) {
  const bool back = random.below(2) == 0;
  for (auto steps = random.below(6); steps > 0 && i != none; --steps) {
    i = back ? s.before(i) : s.after(i);
  }
  return i;
}

/// A random change; false if it could not be made.
bool change(schedule_type& s, refine::neighbourhood<problem_type>& moves, rng& random) {
  const auto& p = s.problem();
  const item_id i = any_in_lane(s, random);
  switch (random.below(8)) {
  case 6: {
    const item_id other = some_steps_from(s, i, random);
    return other != none && other != i && s.put_next_to(i, other, random.below(2) == 0);
  }
  case 7: {
    refine::critical_neighbourhood<problem_type> critical{p};
    const auto& all = critical.collect(s, random, 1 + random.below(40));
    return !all.empty() && critical.apply(s, all[random.below(static_cast<std::uint32_t>(all.size()))]);
  }
  case 0: {
    const component_id c = random.below(p.num_components());
    const device_id d = random.below(p.num_devices());
    const double delay = random.below(2) == 0 ? 0 : s.makespan() * random.uniform();
    return (d == s.device(p.members(c).front()) || s.fits(c, d)) && s.move(c, d, delay);
  }
  case 1: return s.shift(i, s.makespan() * random.uniform(-0.1, 1.1));
  case 2: return s.before(i) != none && s.put_before(i, s.before(i));
  case 3: {
    const item_id other = some_steps_from(s, i, random);
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
void transact(schedule_type& s, refine::neighbourhood<problem_type>& moves, rng& random) {
  const schedule_type before = s;
  bool made = true;
  for (auto count = 1 + random.below(3); count > 0 && made; --count) {
    made = change(s, moves, random);
  }
  if (made) {
    schedule_type full = s;
    const double makespan = full.evaluate();
    RC_ASSERT(makespan < s.infinity);
    const double limit = draw_limit(makespan, before.makespan(), random);
    const double known = s.evaluate(limit);
    RC_ASSERT((known == (makespan > limit ? s.infinity : makespan)));
    if (known < s.infinity && random.below(3) != 0) {
      s.commit();
      full.commit();
      RC_ASSERT(s.makespan() == makespan);
      RC_ASSERT(same_state(s, full));
      expect_sound(s);
      expect_as_run(s);
      return;
    }
  }
  s.rollback();
  RC_ASSERT(same_state(s, before));
  expect_sound(s);
}

void walk(const problem_type& p, const plan& start, std::uint64_t seed) {
  trace run;
  simulator<problem_type, schedule::fifo> sim{p};
  const auto first = sim.run(start, simulate::recorder{run});
  schedule_type s{p};
  s.assign(run);
  RC_ASSERT(s.makespan() <= first.makespan);
  expect_sound(s);
  expect_as_run(s);
  rng random{seed};
  refine::neighbourhood<problem_type> moves{p};
  schedule_type::snapshot saved;
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
    const sampled_problem made{s};
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
