// SPDX-License-Identifier: BSL-1.0
// What is left of a run is told exactly: the old plan goes on as it would have, the best plans of what is left are the
// best continuations, and whatever is planned can happen.
#include "property/brute_force.hpp"
#include "property/property.hpp"

#include "weft/bound/best.hpp"
#include "weft/cost/compose.hpp"
#include "weft/partition/hash.hpp"
#include "weft/partition/heft.hpp"
#include "weft/refine/branch_and_bound.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/plan_of.hpp"
#include "weft/simulate/record.hpp"
#include "weft/solve/continuation.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/solve/replan.hpp"
#include "weft/validate/validate.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace weft::test {
namespace property_continuation_test {

using problem_type = sampled_problem::problem_type;
constexpr double never = std::numeric_limits<double>::infinity();

struct old_run {
  plan decided;
  trace record;
};

/// A run in the plan's order, of a good plan or of any.
std::optional<old_run> run_of(const problem_type& p, std::uint64_t seed) {
  rng random{seed};
  workspace scratch;
  const auto made = seed % 3 == 0 ? partition::run(partition::hash{}, p, random, scratch)
                                  : partition::run(partition::heft{}, p, random, scratch);
  if (!made) {
    return std::nullopt;
  }
  old_run r{made->plan, {}};
  if (r.decided.order.empty()) {
    for (const op_id v : p.topological_order()) {
      r.decided.order.push_back(step::run(v));
    }
  }
  simulator<problem_type, schedule::static_order> sim{p};
  sim.run(r.decided, simulate::recorder{r.record});
  return r.record.makespan < never ? std::optional{r} : std::nullopt;
}

/// A time within the run, or one at which something happens.
double any_time(const trace& run, rng& random) {
  if (random.below(2) == 0 || run.ops.empty()) {
    return random.uniform(0, run.makespan);
  }
  const auto& r = run.ops[random.below(run.ops.size())];
  return random.below(2) == 0 ? r.start : r.finish;
}

std::vector<device_id> any_devices(const problem_type& p, rng& random) {
  std::vector<device_id> gone;
  for (const device_id d : ids(p.num_devices())) {
    if (random.below(3) == 0 && gone.size() + 1 < p.num_devices()) {
      gone.push_back(d);
    }
  }
  return gone;
}

auto by_ids(std::vector<transfer_record> x) {
  std::sort(x.begin(), x.end(), [](const auto& a, const auto& b) {
    return std::tie(a.tensor, a.to) < std::tie(b.tensor, b.to);
  });
  return x;
}

sample_options any_problem() {
  sample_options o;
  o.max_ops = 25;
  o.max_devices = 4;
  return o;
}

TEST_CASE("a plan that goes on from any time runs as it would have, to the last bit") {
  holds_for_all("the same run", any_problem(), [](const sample& s) {
    const sampled_problem made{s};
    const auto old = run_of(made.task, s.seed);
    if (!old) {
      return;
    }
    rng random{s.seed};
    for (int k = 0; k < 20; ++k) {
      const auto state = state_at(old->record, any_time(old->record, random));
      const solve::continuation rest{made.task, state};
      const auto left = rest.left_of(old->decided);
      RC_ASSERT(left.has_value());
      const auto whole = rest.whole(*left);
      RC_ASSERT(whole.run.makespan == old->record.makespan);
      RC_ASSERT(whole.record.ops == old->record.ops);
      RC_ASSERT(by_ids(whole.record.transfers) == by_ids(old->record.transfers));
      RC_ASSERT(rest.again().empty());
      expect_none("the whole plan", validate(made.task, whole.plan));
      expect_none("the whole run", validate(made.task, whole.plan.placement, whole.record));
      expect_none("the continued run", validate(made.task, state, whole.record));
      // Again from there, by the plan of the whole.
      const auto later = state_at(whole.record, state.now + (old->record.makespan - state.now) / 2);
      const solve::continuation second{made.task, later};
      RC_ASSERT(second.whole(*second.left_of(whole.plan)).record.ops == old->record.ops);
    }
  });
}

/// Ops that have to run again by what the words say, looked at again and again until nothing changes.
std::vector<op_id> have_to_run_again(const problem_type& p, const run_state& s) {
  const auto is_gone = [&](device_id d) { return std::find(s.gone.begin(), s.gone.end(), d) != s.gone.end(); };
  const auto& w = p.workload();
  const auto survives = [&](tensor_id t) {
    const auto& u = s.begun.ops[w.producer(t)];
    if (u.device != none && !is_gone(u.device)) {
      return true;
    }
    for (const auto& x : s.begun.transfers) {
      if (x.tensor == t && !is_gone(x.to) && (x.arrival <= s.now || !is_gone(x.from))) {
        return true;
      }
    }
    return false;
  };
  std::vector<std::uint8_t> runs(p.num_ops(), 0);
  for (const op_id v : ids(p.num_ops())) {
    const auto& r = s.begun.ops[v];
    bool is_read = false;
    for (const tensor_id t : w.outputs(v)) {
      is_read = is_read || !w.consumers(t).empty();
    }
    runs[v] = r.device == none || (is_gone(r.device) && (r.finish > s.now || !is_read));
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const op_id v : ids(p.num_ops())) {
      for (const tensor_id t : w.inputs(v)) {
        if (runs[v] && !runs[w.producer(t)] && !survives(t)) {
          runs[w.producer(t)] = 1;
          changed = true;
        }
      }
    }
  }
  std::vector<op_id> again;
  for (const op_id v : ids(p.num_ops())) {
    if (runs[v] && s.begun.ops[v].device != none) {
      again.push_back(v);
    }
  }
  return again;
}

template <class Cost>
struct slower_device : Cost {
  device_id slow = 0;
  double factor = 1;
  template <class W, class P>
  double compute_time(const W& w, op_id v, const P& p, device_id d) const {
    return (d == slow ? factor : 1) * Cost::compute_time(w, v, p, d);
  }
};

TEST_CASE("whatever is planned for the rest can happen, on slower devices and without some") {
  holds_for_all("possible runs", any_problem(), [](const sample& s) {
    const sampled_problem made{s};
    const auto old = run_of(made.task, s.seed);
    if (!old) {
      return;
    }
    rng random{s.seed};
    for (int k = 0; k < 10; ++k) {
      const auto slow = static_cast<device_id>(random.below(made.task.num_devices()));
      const slower_device<any_cost> costs{made.task.cost(), slow, random.uniform(0.5, 4)};
      const problem p{made.ops, made.devices, costs};
      const double now = any_time(old->record, random);
      const auto gone = k % 2 == 0 ? std::vector<device_id>{} : any_devices(made.task, random);
      const auto state = state_at(old->record, now, gone);
      const solve::continuation rest{p, state};
      const auto again = have_to_run_again(made.task, state);
      RC_ASSERT(std::equal(again.begin(), again.end(), rest.again().begin(), rest.again().end()));

      const auto least = bound::best(rest.problem());
      const auto check = [&](const plan& x, const std::string& who) {
        const auto whole = rest.whole(x);
        RC_ASSERT(whole.run.complete);
        if (!(whole.run.makespan < never)) {
          return;
        }
        expect_none(who, validate(p, state, whole.record));
        RC_ASSERT(at_least(whole.run.makespan, least.value));
      };
      workspace scratch;
      const auto heft = partition::run(partition::heft{}, rest.problem(), random, scratch);
      if (heft) {
        expect_none("HEFT's plan", validate(rest.problem(), heft->plan));
        check(heft->plan, "by HEFT");
      }
      if (const auto hash = partition::run(partition::hash{}, rest.problem(), random, scratch)) {
        check(hash->plan, "by hash");
      }
      const auto found = solve::replan(p, state, old->decided,
                                       pipeline(partition::heft{}, schedule::static_order{}));
      const auto refined = solve::replan(p, state, old->decided, {.moves = 300});
      RC_ASSERT(!heft || found.has_plan());
      for (const auto* r : {&found, &refined}) {
        RC_ASSERT(r->again == again);
        RC_ASSERT(r->makespan <= r->carried_on);
        if (r->has_plan()) {
          expect_none("replanned", validate(p, state, r->run));
          RC_ASSERT(r->run.makespan == r->makespan);
        }
        if (r->has_plan() && gone.empty()) {
          expect_none("the replanned plan", validate(p, r->plan));
        }
      }
      if (gone.empty()) {
        RC_ASSERT(found.carried_on < never);
      }
    }
  });
}

/// The smallest makespan of all continuations of a state, by trying all placements of what is left and all sequences,
/// with nothing of the library but the problem. For devices of one slot and sends that take no time.
class best_continuation {
public:
  best_continuation(const problem_type& p, const run_state& s, std::span<const op_id> left)
      : p_{p}, s_{s}, left_{left.begin(), left.end()}, where_(p.num_ops(), none), finish_(p.num_ops(), -1),
        free_(p.num_devices(), s.now), demand_(p.num_devices(), 0) {
    for (const op_id v : ids(p.num_ops())) {
      if (std::find(left_.begin(), left_.end(), v) == left_.end()) {
        const auto& r = s.begun.ops[v];
        where_[v] = r.device;
        if (!is_gone(r.device)) {
          free_[r.device] = std::max(free_[r.device], r.finish);
          demand_[p.memory_of(r.device)] += demand(v);
        }
        least_ = std::max(least_, r.finish);
      }
    }
    for (const auto& x : s.begun.transfers) {
      if (x.arrival <= s.now || (!is_gone(x.from) && !is_gone(x.to))) {
        least_ = std::max(least_, x.arrival);
      }
    }
  }
  double makespan() {
    place(0);
    return best_;
  }

private:
  bool is_gone(device_id d) const { return std::find(s_.gone.begin(), s_.gone.end(), d) != s_.gone.end(); }
  bool is_left(op_id v) const { return std::find(left_.begin(), left_.end(), v) != left_.end(); }
  byte_count demand(op_id v) const {
    byte_count sum = p_.workload().resident_bytes(v);
    for (const tensor_id t : p_.workload().inputs(v)) {
      sum += p_.workload().bytes(t);
    }
    for (const tensor_id t : p_.workload().outputs(v)) {
      sum += p_.workload().bytes(t);
    }
    return sum;
  }

  void place(std::size_t i) {
    if (i == left_.size()) {
      run(0, 0, least_);
      return;
    }
    const op_id v = left_[i];
    for (const device_id d : ids(p_.num_devices())) {
      bool allowed = !is_gone(d) && p_.workload().kinds(v).contains(p_.platform().kind(d)) &&
                     demand_[p_.memory_of(d)] + demand(v) <= p_.platform().memory_capacity(d);
      for (const op_id u : ids(p_.num_ops())) {
        const group_id g = p_.workload().group(v);
        const bool is_tied = u != v && g != none && p_.workload().group(u) == g;
        allowed = allowed && !(is_tied && where_[u] != none && !is_gone(where_[u]) && where_[u] != d);
      }
      if (allowed) {
        where_[v] = d;
        demand_[p_.memory_of(d)] += demand(v);
        place(i + 1);
        demand_[p_.memory_of(d)] -= demand(v);
        where_[v] = none;
      }
    }
  }

  /// When t, which was made, can be on d. What is on its way there is not sent there again.
  double arrival_of_made(tensor_id t, device_id d) const {
    double least = never;
    double own = never;
    const auto from = [&](device_id e, double time) {
      if (e == d) {
        own = std::min(own, time);
      } else if (!is_gone(e)) {
        least = std::min(least, std::max(time, s_.now) + p_.transfer_time(t, e, d));
      }
    };
    const auto& u = s_.begun.ops[p_.workload().producer(t)];
    if (u.device != none && !is_left(p_.workload().producer(t))) {
      from(u.device, u.finish);
    }
    for (const auto& x : s_.begun.transfers) {
      if (x.tensor == t && (x.arrival <= s_.now || !is_gone(x.from))) {
        from(x.to, x.arrival);
      }
    }
    return own < never ? own : least;
  }

  void run(std::size_t num_done, double last_start, double makespan) {
    if (num_done == left_.size()) {
      best_ = std::min(best_, makespan);
      return;
    }
    for (const op_id v : left_) {
      if (finish_[v] >= 0) {
        continue;
      }
      const device_id d = where_[v];
      double start = free_[d];
      for (const tensor_id t : p_.workload().inputs(v)) {
        const op_id u = p_.workload().producer(t);
        double there = arrival_of_made(t, d);
        if (there == never && is_left(u)) {
          there = finish_[u] < 0 ? never : where_[u] == d ? finish_[u] : finish_[u] + p_.transfer_time(t, where_[u], d);
        }
        start = std::max(start, there);
      }
      const double finish = start + p_.compute_time(v, d);
      if (!(finish < never) || start < last_start || std::max(makespan, finish) >= best_) {
        continue;
      }
      const double before = std::exchange(free_[d], finish);
      finish_[v] = finish;
      run(num_done + 1, start, std::max(makespan, finish));
      finish_[v] = -1;
      free_[d] = before;
    }
  }

  const problem_type& p_;
  const run_state& s_;
  std::vector<op_id> left_;
  placement where_;
  std::vector<double> finish_, free_;
  std::vector<byte_count> demand_;
  double least_ = 0;
  double best_ = never;
};

TEST_CASE("the best plans of what is left are the best continuations") {
  sample_options o;
  o.max_ops = 6;
  o.max_devices = 3;
  o.max_slots = 1;
  o.sends = false;
  holds_for_all("the optimum", o, [](const sample& s) {
    const sampled_problem made{s};
    const auto old = run_of(made.task, s.seed);
    if (!old) {
      return;
    }
    rng random{s.seed};
    for (int k = 0; k < 4; ++k) {
      const auto gone = k % 2 == 0 ? std::vector<device_id>{} : any_devices(made.task, random);
      const auto state = state_at(old->record, any_time(old->record, random), gone);
      const solve::continuation rest{made.task, state};
      const double best = best_continuation{made.task, state, rest.left()}.makespan();
      brute_force<instance> all{rest.problem()};
      RC_ASSERT(all.makespan() == best);
      if (!(best < never)) {
        continue;
      }
      const auto found = solve::replan(made.task, state, old->decided,
                                       pipeline(refine::branch_and_bound{}, schedule::static_order{}));
      RC_ASSERT(found.has_plan());
      RC_ASSERT(about(found.makespan, best));
      RC_ASSERT(at_least(best, bound::best(rest.problem()).value));
    }
  });
}

} // namespace property_continuation_test
} // namespace weft::test
