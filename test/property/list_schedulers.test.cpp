// SPDX-License-Identifier: BSL-1.0
/// Random problems: what every list scheduler owes, and that the fast ones decide what slow ones would.
#include "property/property.hpp"

#include "weft/bound/best.hpp"
#include "weft/partition/bil.hpp"
#include "weft/partition/dls.hpp"
#include "weft/partition/etf.hpp"
#include "weft/partition/flb.hpp"
#include "weft/partition/heft.hpp"
#include "weft/partition/min_min.hpp"
#include "weft/partition/sufferage.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/standard_strategies.hpp"
#include "weft/validate/validate.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace property_list_schedulers_test {

using namespace weft;
using namespace weft::test;
using namespace weft::partition;
using problem_type = sampled_problem::problem_type;

/// A slot that remembers when the last op of all ends.
double planned_end = 0;
template <class Slot>
struct watched : Slot {
  void reserve(double start, double finish) {
    planned_end = std::max(planned_end, finish);
    Slot::reserve(start, finish);
  }
};

template <class S>
struct watch {
  using type = S; // its slots cannot be exchanged
};
template <class P, class C, class Slot, list::row_path Path>
struct watch<list_scheduler<P, C, Slot, Path>> {
  using type = list_scheduler<P, C, watched<Slot>, Path>;
};
template <class P, class O, class Slot>
struct watch<pair_scheduler<P, O, Slot>> {
  using type = pair_scheduler<P, O, watched<Slot>>;
};
template <class P, class Slot>
struct watch<batch_scheduler<P, Slot>> {
  using type = batch_scheduler<P, watched<Slot>>;
};

template <class S>
void check(const std::string& name, const S& scheduler, const problem_type& p, bool sends, std::uint64_t seed) {
  rng random{seed};
  workspace scratch;
  planned_end = 0;
  const auto decided = run(typename watch<S>::type{}, p, random, scratch);
  if (!decided) {
    RC_ASSERT(decided.error().cause != infeasibility::kind::not_found);
    return;
  }
  const auto unwatched = run(scheduler, p, random, scratch);
  RC_ASSERT(unwatched.has_value());
  RC_ASSERT(unwatched->plan == decided->plan); // again, and in scratch memory that was used
  expect_none(name, validate(p, decided->plan));
  trace record;
  simulator sim{p, schedule::static_order{}};
  const auto result = sim.run(decided->plan, simulate::recorder{record});
  RC_ASSERT(result.complete);
  expect_none(name, validate(p, decided->plan.placement, record));
  RC_ASSERT(at_least(result.makespan, bound::best(p).value));
  if (!sends && planned_end > 0) {
    RC_ASSERT(result.makespan <= planned_end * (1 + 1e-12));
  }
}

struct check_each {
  const problem_type& p;
  bool sends;
  std::uint64_t seed;

  template <class S>
  void add_partitioner(const std::string& name, const S& s) {
    check(name, s, p, sends, seed);
  }
};

TEST_CASE("property: list schedulers plan what can run, no later than planned") {
  holds_for_all("with sends and limits", {}, [](const sample& s) {
    const sampled_problem made{s};
    check_each all{made.task, true, s.seed};
    standard_strategies::list_schedulers(all);
  });
  holds_for_all("without sends", {.sends = false}, [](const sample& s) {
    const sampled_problem made{s};
    check_each all{made.task, false, s.seed};
    standard_strategies::list_schedulers(all);
  });
}

TEST_CASE("property: list schedulers find a place for everything where memory is ample and kinds do not matter") {
  holds_for_all("feasible", {.limits = false}, [](const sample& s) {
    const sampled_problem made{s};
    rng random{1};
    workspace scratch;
    RC_ASSERT(heft{}(made.task, random, scratch).has_value());
    RC_ASSERT(etf{}(made.task, random, scratch).has_value());
    RC_ASSERT(flb{}(made.task, random, scratch).has_value());
    RC_ASSERT(bil{}(made.task, random, scratch).has_value());
    RC_ASSERT(sufferage{}(made.task, random, scratch).has_value());
  });
}

/// Looks at all pairs of ready ops and devices at each step. `value(op, start, compute time, static level, mean compute
/// time)`, the least first; ties: `tie(op)`, the least first, then the device.
template <class Value, class Tie>
placement all_pairs(const problem_type& p, Value value, Tie tie) {
  const auto& w = p.workload();
  list::schedule_builder<problem_type, schedule::queue_end> b{p};
  while (b.num_scheduled() < p.num_ops()) {
    op_id best = none;
    list::option chosen;
    double least = 0;
    for (const op_id v : p.topological_order()) {
      bool ready = !b.is_scheduled(v);
      for (const tensor_id t : w.inputs(v)) {
        ready = ready && b.is_scheduled(w.producer(t));
      }
      for (device_id d = 0; ready && d < p.num_devices(); ++d) {
        if (!b.allows(v, d)) {
          continue;
        }
        const auto o = b.at(v, d);
        const double x = value(v, o);
        if (best == none || x < least || (x == least && tie(v) < tie(best))) {
          best = v;
          chosen = o;
          least = x;
        }
      }
    }
    if (best == none) {
      return {};
    }
    b.take(best, chosen);
  }
  workspace scratch;
  return std::move(b).decided(scratch).placement;
}

template <class S>
placement place(const problem_type& p) {
  rng random{0};
  workspace scratch;
  auto decided = S{}(p, random, scratch);
  return decided ? std::move(decided->placement) : placement{};
}

TEST_CASE("property: pair schedulers choose the best of all pairs") {
  holds_for_all("pairs", {.max_ops = 30, .generic = true}, [](const sample& s) {
    const sampled_problem made{s};
    const auto& p = made.task;
    const auto level = list::static_levels(p);
    const list::mean_costs mean{p};
    std::vector<std::uint32_t> position(p.num_ops(), 0);
    std::uint32_t number = 0;
    for (const op_id v : p.topological_order()) {
      position[v] = number++;
    }
    const auto first = [&](op_id v) { return position[v]; };
    const auto by_level = [&](op_id v) { return std::pair{-level[v], position[v]}; };
    RC_ASSERT(place<etf>(p) == all_pairs(p, [](op_id, const auto& o) { return o.start; }, by_level));
    RC_ASSERT(place<min_min>(p) == all_pairs(p, [](op_id, const auto& o) { return o.finish; }, first));
    RC_ASSERT(place<dls>(p) == all_pairs(
                                 p,
                                 [&](op_id v, const auto& o) {
                                   return o.start + (o.duration - mean.compute(v) - level[v]);
                                 },
                                 first));
  });
}

} // namespace property_list_schedulers_test
