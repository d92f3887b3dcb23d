// SPDX-License-Identifier: BSL-1.0
// Strategies, simulator and solvers ask no more of a problem than its concepts say.
#include "weft/platform/archetype.hpp"
#include "weft/refine/branch_and_bound.hpp"
#include "weft/refine/genetic.hpp"
#include "weft/refine/large_neighbourhood_search.hpp"
#include "weft/refine/local_search.hpp"
#include "weft/refine/simulated_annealing.hpp"
#include "weft/refine/tabu_search.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/solve/registry.hpp"
#include "weft/workload/archetype.hpp"

#include <span>
#include <utility>

using namespace weft;

namespace {

struct cost_archetype {
  double compute_time(const workload_archetype&, op_id, const platform_archetype&, device_id) const { return 0; }
  double transfer_time(const workload_archetype&, tensor_id, const platform_archetype&, device_id, device_id) const {
    return 0;
  }
  cost_archetype(const cost_archetype&) = default;
  cost_archetype& operator=(const cost_archetype&) = delete;
};
using problem_archetype = problem<workload_archetype, platform_archetype, cost_archetype>;

[[maybe_unused]] void use_all(const problem_archetype& p, rng& random, workspace& scratch, const plan& decided) {
  const auto all = registry<problem_archetype>::standard(); // instantiates every partitioner and every policy
  for (const auto& name : all.partitioner_names()) {
    (void)(*all.find_partitioner(name))(p, random, scratch);
  }
  (void)pipeline(partition::hash{}, refine::local_search{}, schedule::fifo{})(p);
  (void)pipeline(partition::hash{}, refine::tabu_search{}, refine::simulated_annealing{},
                 refine::large_neighbourhood_search{}, refine::genetic{}, schedule::static_order{})(p);
  (void)pipeline(refine::branch_and_bound{}, schedule::static_order{})(p);
  simulate::memory_tracker memory{p};
  memory.follow(decided.placement, {});
  (void)memory.samples(decided.placement);
}

// Strategies hold options, and need not be assignable: what offers exactly what is asked is taken.
struct partitioner_archetype {
  placement operator()(const problem_archetype&) const { return {}; }
  partitioner_archetype(const partitioner_archetype&) = default;
  partitioner_archetype& operator=(const partitioner_archetype&) = delete;
};
struct policy_archetype {
  void assign_keys(const schedule::context<problem_archetype>&, std::span<double>) const {}
  policy_archetype(const policy_archetype&) = default;
  policy_archetype& operator=(const policy_archetype&) = delete;
};
struct selection_archetype {
  template <class Problem>
  struct queue {
    explicit queue(const Problem&) {}
    void reset(const selection_archetype&, const schedule::context<Problem>&) {}
    void push(item_id, double) {}
    item_id pop(device_id, double) { return schedule::nothing; }
  };
  selection_archetype(const selection_archetype&) = default;
  selection_archetype& operator=(const selection_archetype&) = delete;
};
struct refiner_archetype {
  evaluated_plan operator()(evaluator<problem_archetype, policy_archetype>&, evaluated_plan start, rng&) const {
    return start;
  }
  refiner_archetype(const refiner_archetype&) = default;
  refiner_archetype& operator=(const refiner_archetype&) = delete;
};
[[maybe_unused]] void use_archetypes(const problem_archetype& p, const partitioner_archetype& s,
                                     const policy_archetype& key, const selection_archetype& selection,
                                     const refiner_archetype& refiner) {
  (void)pipeline(s, refiner, refiner, key)(p);
  (void)pipeline(s, selection)(p);
  auto all = registry<problem_archetype>{};
  all.add_partitioner("s", s);
  all.add_policy("key", key);
  all.add_policy("selection", selection);
}
static_assert(solver_for<decltype(pipeline(std::declval<partitioner_archetype>(), std::declval<policy_archetype>())),
                         problem_archetype>);

// Near misses.
struct needs_mutable : partitioner_archetype {
  placement operator()(const problem_archetype&) { return {}; }
};
struct returns_nothing {
  void operator()(const problem_archetype&) const {}
};
struct cannot_be_copied {
  placement operator()(const problem_archetype&) const { return {}; }
  cannot_be_copied(const cannot_be_copied&) = delete;
};
static_assert(partitioner_for<partitioner_archetype, problem_archetype>);
static_assert(!partitioner_for<needs_mutable, problem_archetype> &&
              !partitioner_for<returns_nothing, problem_archetype>);
static_assert(!partitioner_for<cannot_be_copied, problem_archetype> && !partitioner_for<int, problem_archetype>);
struct queue_without_pop : selection_archetype {
  template <class Problem>
  struct queue {
    explicit queue(const Problem&) {}
    void reset(const queue_without_pop&, const schedule::context<Problem>&) {}
    void push(item_id, double) {}
  };
};
static_assert(ready_policy_for<policy_archetype, problem_archetype> &&
              ready_policy_for<selection_archetype, problem_archetype>);
static_assert(!ready_policy_for<queue_without_pop, problem_archetype>);
struct returns_placement {
  plan operator()(evaluator<problem_archetype, policy_archetype>&, const evaluated_plan&, rng&) const { return {}; }
};
static_assert(refiner_for<refiner_archetype, problem_archetype, policy_archetype>);
static_assert(!refiner_for<refiner_archetype, problem_archetype, schedule::fifo>);
static_assert(!refiner_for<returns_placement, problem_archetype, policy_archetype>);

} // namespace
