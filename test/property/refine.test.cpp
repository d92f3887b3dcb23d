// SPDX-License-Identifier: BSL-1.0
// Refiners never make a plan worse, and a plan that HEFT made without sends runs as planned.
#include "property/property.hpp"

#include "weft/partition/dfs.hpp"
#include "weft/partition/hash.hpp"
#include "weft/partition/heft.hpp"
#include "weft/refine/genetic.hpp"
#include "weft/refine/large_neighbourhood_search.hpp"
#include "weft/refine/local_search.hpp"
#include "weft/refine/simulated_annealing.hpp"
#include "weft/refine/tabu_search.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/largest_remaining_work.hpp"
#include "weft/schedule/maximum_successor_rank.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/validate/validate.hpp"

#include <algorithm>
#include <numeric>

namespace weft::test {
namespace property_refine_test {

using problem_type = sampled_problem::problem_type;

template <class Refiner, class Policy>
void check_refiner(const Refiner& search, const problem_type& p, const plan& start, std::uint64_t seed,
                   const Policy& policy) {
  rng random{seed};
  const plan refined = refine::improve(p, start, search, policy, random).plan;
  expect_none("refined", validate(p, refined));
  simulator<problem_type, Policy> sim{p, policy};
  const auto before = sim.run(start);
  const auto after = sim.run(refined);
  RC_ASSERT(before.complete && after.complete);
  RC_ASSERT(after.makespan <= before.makespan);
  RC_ASSERT(after.makespan < before.makespan || refined == start);
}

template <class Refiner>
void check_refiner(const Refiner& search, const problem_type& p, const plan& start, std::uint64_t seed) {
  check_refiner(search, p, start, seed, schedule::fifo{});
  check_refiner(search, p, start, seed, schedule::path_completion_time{});
  check_refiner(search, p, start, seed, schedule::static_order{});
  rng first{seed};
  rng second{seed};
  RC_ASSERT(refine::improve(p, start, search, schedule::fifo{}, first).plan ==
            refine::improve(p, start, search, schedule::fifo{}, second).plan);
}

template <class Refiner>
void never_worse(const std::string& what, const Refiner& search) {
  sample_options o;
  o.max_ops = 30;
  holds_for_all(what, o, [&](const sample& s) {
    const sampled_problem made{s};
    rng random{s.seed};
    workspace scratch;
    const auto start = s.seed % 2 == 0 ? partition::run(partition::heft{}, made.task, random, scratch)
                                       : partition::run(partition::hash{}, made.task, random, scratch);
    if (start) {
      check_refiner(search, made.task, start->plan, s.seed);
    }
  });
}

/// When each op starts if the ops, in descending rank, each go into the first gap on the device that the plan says.
/// Only for devices with one slot and without sends.
std::vector<op_record> planned_times(const problem_type& p, const placement& where) {
  const auto rank = partition::list::upward_ranks(p);
  std::vector<op_id> sequence(p.topological_order().begin(), p.topological_order().end());
  std::stable_sort(sequence.begin(), sequence.end(), [&](op_id u, op_id v) { return rank[u] > rank[v]; });
  std::vector<op_record> planned(p.num_ops());
  std::vector<op_id> done;
  for (const op_id v : sequence) {
    const device_id d = where[v];
    double ready = 0;
    for (const tensor_id t : p.workload().inputs(v)) {
      const op_id u = p.workload().producer(t);
      ready = std::max(ready, planned[u].finish + (where[u] == d ? 0 : p.transfer_time(t, where[u], d)));
    }
    // The first gap begins when the inputs are there or when another op on the device ends.
    const double duration = p.compute_time(v, d);
    std::vector<double> starts{ready};
    for (const op_id u : done) {
      if (where[u] == d && planned[u].finish > ready) {
        starts.push_back(planned[u].finish);
      }
    }
    std::sort(starts.begin(), starts.end());
    const double start = *std::find_if(starts.begin(), starts.end(), [&](double from) {
      bool touches_last = false;
      bool touches_next = false;
      bool free = true;
      for (const op_id u : done) {
        if (where[u] == d) {
          const bool lasts = planned[u].start < planned[u].finish;
          free = free && (planned[u].finish <= from || from + duration <= planned[u].start);
          touches_last = touches_last || (lasts && planned[u].finish == from);
          touches_next = touches_next || (lasts && planned[u].start == from);
        }
      }
      return free && !(touches_last && touches_next); // there is no gap between two ops that touch
    });
    planned[v] = {d, start, start + duration};
    done.push_back(v);
  }
  return planned;
}

TEST_CASE("property: local search never makes a plan worse under any policy") {
  refine::local_search search;
  search.budget.moves = 40;
  search.patience = 8;
  sample_options o;
  o.max_ops = 30;
  holds_for_all("refiners", o, [&](const sample& s) {
    const sampled_problem made{s};
    const auto& p = made.task;
    const auto check_start = [&](const auto& partitioner) {
      rng random{s.seed};
      workspace scratch;
      const auto start = partition::run(partitioner, p, random, scratch);
      if (start) {
        check_refiner(search, p, start->plan, s.seed, schedule::fifo{});
        check_refiner(search, p, start->plan, s.seed, schedule::path_completion_time{});
        check_refiner(search, p, start->plan, s.seed, schedule::maximum_successor_rank{});
        check_refiner(search, p, start->plan, s.seed, schedule::largest_remaining_work{});
        check_refiner(search, p, start->plan, s.seed, schedule::static_order{});
      }
    };
    check_start(partition::hash{});
    check_start(partition::dfs{});
    check_start(partition::heft{});
  });
}

TEST_CASE("property: simulated annealing never makes a plan worse") {
  never_worse("simulated_annealing", refine::simulated_annealing{.budget = {.moves = 100}});
}

TEST_CASE("property: tabu search never makes a plan worse") {
  never_worse("tabu_search", refine::tabu_search{.budget = {.moves = 100}, .patience = 5});
}

TEST_CASE("property: large-neighbourhood search never makes a plan worse") {
  never_worse("large_neighbourhood_search", refine::large_neighbourhood_search{.budget = {.moves = 30}});
}

TEST_CASE("property: a genetic algorithm never makes a plan worse") {
  never_worse("genetic", refine::genetic{.budget = {.moves = 30}, .population = 8});
}

TEST_CASE("property: without sends, a plan of HEFT runs exactly as planned") {
  sample_options o;
  o.sends = false;
  o.max_slots = 1;
  holds_for_all("planned times", o, [](const sample& s) {
    const sampled_problem made{s};
    const auto& p = made.task;
    rng random{s.seed};
    workspace scratch;
    const auto decided = partition::heft{}(p, random, scratch);
    if (decided) {
      const auto planned = planned_times(p, decided->placement);
      trace run;
      simulator<problem_type, schedule::static_order> sim{p};
      sim.run(*decided, simulate::recorder{run});
      RC_ASSERT(run.ops == planned);
    }
  });
}

} // namespace property_refine_test
} // namespace weft::test
