// SPDX-License-Identifier: BSL-1.0
// What every strategy under every ready policy and every contention model promises, on random problems.
#include "property/property.hpp"
#include "property/strategies.hpp"

#include "weft/bound/best.hpp"
#include "weft/simulate/memory.hpp"
#include "weft/validate/validate.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace weft::test {
namespace property_strategies_test {

using problem_type = sampled_problem::problem_type;
/// The reason is about a component that exists, and is true as far as one can say without redoing the placement.
void check_reason(const std::string& who, const problem_type& p, const infeasibility& i) {
  const auto expect = [&](bool holds, const char* what) {
    if (!holds) {
      RC_FAIL(who + " gives a wrong reason (" + what + "): " + to_string(i));
    }
  };
  if (i.cause == infeasibility::kind::not_found) {
    expect(who == "quick branch_and_bound", "only a search that ran out of budget does not know");
    return;
  }
  expect(i.op < p.num_ops(), "op");
  const component_id c = p.component(i.op);
  expect(i.op == p.members(c).front() && i.num_members == p.members(c).size(), "component");
  expect(i.kinds == p.kinds(c) && i.demand == p.demand(c), "its needs");
  std::optional<byte_count> largest;
  byte_count total = 0;
  byte_count smallest = std::numeric_limits<byte_count>::max();
  for (const device_id d : ids(p.num_devices())) {
    const auto capacity = p.platform().memory_capacity(d);
    smallest = std::min(smallest, capacity);
    if (p.kinds(c).contains(p.platform().kind(d))) {
      largest = std::max(largest.value_or(0), capacity);
    }
  }
  for (component_id each = 0; each < p.num_components(); ++each) {
    total += p.demand(each);
  }
  if (i.cause == infeasibility::kind::no_device_of_kind) {
    expect(!largest, "there is a device of that kind");
    return;
  }
  expect(largest.has_value(), "there is no device of that kind");
  expect(i.demand > i.largest_free && i.largest_free <= *largest, "it would fit");
  expect(p.num_components() > 1 || i.largest_free == *largest, "nothing else takes memory");
  expect(total > smallest, "everything fits on each device");
}

/// Runs a plan twice and checks the record of the run against the model.
double check_run(const std::string& who, const problem_type& p, const plan& decided, const named_simulator& s) {
  const std::string name = who + " + " + s.policy + " (" + std::string{to_string(s.contention)} + ")";
  trace record;
  trace again;
  s.run->prepare(decided);
  const simulation result = s.run->run_prepared(record);
  s.run->prepare(decided);
  const simulation repeated = s.run->run_prepared(again);
  if (!result.complete || !(record == again) || repeated.makespan != result.makespan) {
    RC_FAIL(name + (result.complete ? ": a second run differs" : ": some ops never ran"));
  }
  expect_none(name, validate(p, decided.placement, record,
                             {.contention = s.contention, .tolerance = 1e-9, .check_memory = true}));
  byte_count bytes = 0;
  std::uint64_t events = p.num_ops();
  for (const auto& x : record.transfers) {
    bytes += p.workload().bytes(x.tensor);
    events += p.send_time(x.tensor, x.from, x.to) > 0 ? 2u : 1u;
  }
  RC_ASSERT(result.makespan == record.makespan);
  RC_ASSERT(result.transfer_bytes == bytes);
  RC_ASSERT(result.num_events == events);
  simulate::memory_tracker memory{p};
  memory.follow(decided.placement, record);
  RC_ASSERT(memory.peaks() == peak_memory_of(p, decided.placement, record));
  RC_ASSERT(!memory.overflow());
  return result.makespan;
}

/// The same seed gives the same decision, whatever the scratch memory was used for before.
void check_repeats(const std::string& name, const problem_type& p, std::uint64_t seed,
                   const outcome<partition::decided>& first) {
  rng random{seed};
  workspace fresh;
  const auto second = (*all_strategies().find_partitioner(name))(p, random, fresh);
  RC_ASSERT(first.has_value() == second.has_value());
  if (first) {
    RC_ASSERT(first->plan == second->plan);
    RC_ASSERT(first->bound == second->bound);
  } else {
    RC_ASSERT(first.error() == second.error());
  }
}

TEST_CASE("property: every strategy under every policy makes a valid run, or says truly why there is none") {
  holds_for_all("strategies", {}, [](const sample& s) {
    const sampled_problem made{s};
    const auto& p = made.task;
    const lower_bound bound = bound::best(p);
    const auto simulators = all_simulators(p);
    workspace used;
    double proven = bound.value;
    double least = std::numeric_limits<double>::infinity();
    bool impossible = false;
    for (const auto& name : partitioner_names(p.num_ops(), 6)) {
      rng random{s.seed};
      const auto decided = (*all_strategies().find_partitioner(name))(p, random, used);
      check_repeats(name, p, s.seed, decided);
      if (!decided) {
        check_reason(name, p, decided.error());
        const bool is_proof = name.ends_with("branch_and_bound");
        impossible = impossible || (is_proof && decided.error().cause != infeasibility::kind::not_found);
        continue;
      }
      expect_none(name, validate(p, decided->plan));
      proven = std::max(proven, decided->bound);
      for (const auto& simulator : simulators) {
        least = std::min(least, check_run(name, p, decided->plan, simulator));
      }
    }
    RC_ASSERT(!impossible || least == std::numeric_limits<double>::infinity());
    RC_ASSERT(at_least(least, proven)); // also under contention
  });
}

TEST_CASE("property: with unlimited memory and all kinds there is always a plan") {
  sample_options o;
  o.limits = false;
  holds_for_all("feasible", o, [](const sample& s) {
    const sampled_problem made{s};
    const auto& p = made.task;
    for (const auto& name : partitioner_names(p.num_ops(), 0)) {
      rng random{s.seed};
      workspace scratch;
      const auto decided = (*all_strategies().find_partitioner(name))(p, random, scratch);
      RC_ASSERT(decided.has_value());
      RC_ASSERT(decided->plan.placement.size() == p.num_ops());
    }
  });
}

} // namespace property_strategies_test
} // namespace weft::test
