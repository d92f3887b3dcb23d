// SPDX-License-Identifier: BSL-1.0
// What must not matter, or matter in a known way: the unit of time, the numbers of ops, devices that nobody can use.
#include "property/property.hpp"
#include "property/strategies.hpp"

#include "weft/bound/best.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/simulator.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

namespace weft::test {
namespace property_metamorphic_test {

using problem_type = sampled_problem::problem_type;

outcome<partition::decided> decide(const std::string& name, const problem_type& p, std::uint64_t seed) {
  rng random{seed};
  workspace scratch;
  return (*all_strategies().find_partitioner(name))(p, random, scratch);
}

double makespan(const named_simulator& s, const plan& decided) {
  trace ignored;
  s.run->prepare(decided);
  return s.run->run_prepared(ignored).makespan;
}

double run_in_order(const problem_type& p, const plan& decided) {
  simulator<problem_type, schedule::static_order> sim{p};
  const auto result = sim.run(decided);
  RC_ASSERT(result.complete);
  return result.makespan;
}

/// All times of a sample, times a factor. Either the ops grow or the devices slow down; the platform's links slow down.
sample slower(sample s, double factor, bool grow_ops) {
  for (auto& op : s.ops) {
    op.work *= grow_ops ? factor : 1;
  }
  for (auto& d : s.devices) {
    d.speed /= grow_ops ? 1 : factor;
    d.memory_bandwidth /= factor;
  }
  for (auto& l : s.links) {
    l.latency *= factor;
    l.bandwidth /= factor;
  }
  for (auto& x : s.seconds) {
    x *= factor;
  }
  s.send_work *= grow_ops ? factor : 1;
  s.launch_overhead *= factor;
  return s;
}

TEST_CASE("property: a unit of time that is a power of two changes no decision and scales every makespan exactly") {
  holds_for_all("scaling", {}, [](const sample& s) {
    const auto exponent = static_cast<int>(s.seed % 41) - 20;
    const double factor = std::ldexp(1.0, exponent == 0 ? 1 : exponent);
    const sampled_problem made{s};
    const sampled_problem scaled{slower(s, factor, s.seed % 3 != 0)};
    RC_ASSERT(bound::best(scaled.task).value == factor * bound::best(made.task).value);
    const auto simulators = all_simulators(made.task);
    const auto scaled_simulators = all_simulators(scaled.task);
    for (const auto& name : partitioner_names(s.ops.size(), 0)) {
      const auto before = decide(name, made.task, s.seed);
      const auto after = decide(name, scaled.task, s.seed);
      RC_ASSERT(before.has_value() == after.has_value());
      if (!before) {
        RC_ASSERT(before.error() == after.error());
        continue;
      }
      RC_ASSERT(before->plan == after->plan);
      RC_ASSERT(after->bound == factor * before->bound);
      for (std::size_t i = 0; i < simulators.size(); ++i) {
        RC_ASSERT(makespan(scaled_simulators[i], after->plan) == factor * makespan(simulators[i], before->plan));
      }
    }
  });
}

/// New numbers for the ops: `renumbered[v]` is that of op v.
using renumbering = std::vector<op_id>;

/// A random renumbering in which the ops of each list keep their order. The lists must be ascending.
renumbering renumber(std::size_t n, const std::vector<std::vector<op_id>>& keep, rng& random) {
  std::vector<std::vector<op_id>> after(n);
  std::vector<std::uint32_t> waiting(n, 0);
  for (const auto& list : keep) {
    for (std::size_t i = 1; i < list.size(); ++i) {
      after[list[i - 1]].push_back(list[i]);
      ++waiting[list[i]];
    }
  }
  std::vector<op_id> free;
  for (const op_id v : ids(n)) {
    if (waiting[v] == 0) {
      free.push_back(v);
    }
  }
  renumbering numbers(n, none);
  for (op_id next = 0; next < n; ++next) {
    std::swap(free[random.below(free.size())], free.back());
    const op_id v = free.back();
    free.pop_back();
    numbers[v] = next;
    for (const op_id u : after[v]) {
      if (--waiting[u] == 0) {
        free.push_back(u);
      }
    }
  }
  return numbers;
}

/// Ops that become ready together, as far as the graph alone says: the sources, and the consumers of each op.
std::vector<std::vector<op_id>> released_together(const workload& w) {
  std::vector<std::vector<op_id>> lists(1);
  for (const op_id v : ids(w.num_ops())) {
    if (w.inputs(v).empty()) {
      lists.front().push_back(v);
    }
    std::vector<op_id> consumers;
    for (const tensor_id t : w.outputs(v)) {
      consumers.insert(consumers.end(), w.consumers(t).begin(), w.consumers(t).end());
    }
    std::sort(consumers.begin(), consumers.end());
    consumers.erase(std::unique(consumers.begin(), consumers.end()), consumers.end());
    lists.push_back(std::move(consumers));
  }
  return lists;
}

/// Ops of equal importance, between which the sorting of batch_split can only choose by number.
std::vector<std::vector<op_id>> equally_important(const problem_type& p) {
  const auto imp = partition::importance(p);
  std::vector<op_id> sequence(p.num_ops(), 0);
  std::iota(sequence.begin(), sequence.end(), 0u);
  std::stable_sort(sequence.begin(), sequence.end(), [&](op_id u, op_id v) { return imp[u] < imp[v]; });
  std::vector<std::vector<op_id>> lists;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    if (i == 0 || imp[sequence[i]] != imp[sequence[i - 1]]) {
      lists.emplace_back();
    }
    lists.back().push_back(sequence[i]);
  }
  return lists;
}

sample renumbered(const sample& s, const renumbering& numbers) {
  sample other = s;
  const auto k = s.devices.size();
  for (op_id v = 0; v < s.ops.size(); ++v) {
    other.ops[numbers[v]] = s.ops[v];
    for (std::size_t d = 0; d < k && !s.seconds.empty(); ++d) {
      other.seconds[numbers[v] * k + d] = s.seconds[v * k + d];
    }
  }
  for (auto& e : other.edges) {
    e.from = numbers[e.from];
    e.to = numbers[e.to];
  }
  for (auto& [a, b] : other.colocations) {
    a = numbers[a];
    b = numbers[b];
  }
  return other;
}

placement renumbered(const placement& where, const renumbering& numbers) {
  placement other(where.size(), none);
  for (std::size_t v = 0; v < where.size(); ++v) {
    other[numbers[v]] = where[v];
  }
  return other;
}

/// Numbers whose sums are exact and differ, so that nothing but the numbers of the ops could break ties.
sample_options generic() {
  sample_options o;
  o.generic = true;
  return o;
}

TEST_CASE("property: the numbers of the ops do not matter to a run") {
  holds_for_all("renumbered runs", generic(), [](sample s) {
    if (s.send_work > 0) { // two sends of equal length that end at once would ask for a port in the order of their ops
      for (auto& d : s.devices) {
        d.slots = 1;
      }
    }
    const sampled_problem made{s};
    rng random{s.seed};
    workspace scratch;
    const auto decided = partition::run(partition::hash{}, made.task, random, scratch);
    if (!decided) {
      return;
    }
    // What becomes ready at once is served by number under fifo and asks for a port by number. Else any numbers do.
    const bool keep_ties = random.below(2) == 0;
    const auto keep = keep_ties ? released_together(made.ops) : std::vector<std::vector<op_id>>{};
    const auto numbers = renumber(s.ops.size(), keep, random);
    const sampled_problem other{renumbered(s, numbers)};
    const plan same{renumbered(decided->plan.placement, numbers), {}};
    const auto before = all_simulators(made.task);
    const auto after = all_simulators(other.task);
    for (std::size_t i = 0; i < before.size(); ++i) {
      const auto& [policy, contention, run] = before[i];
      if ((keep_ties || (policy != "fifo" && contention == contention_model::none)) &&
          makespan(before[i], decided->plan) != makespan(after[i], same)) {
        RC_FAIL(policy + (contention == contention_model::port ? " (port)" : ""));
      }
    }
  });
}

TEST_CASE("property: the numbers of the ops do not matter to bounds and to strategies without randomness") {
  holds_for_all("renumbered decisions", generic(), [](const sample& s) {
    const sampled_problem made{s};
    rng random{s.seed};
    auto keep = released_together(made.ops);
    const auto equal = equally_important(made.task);
    keep.insert(keep.end(), equal.begin(), equal.end());
    const auto numbers = renumber(s.ops.size(), keep, random);
    const sampled_problem other{renumbered(s, numbers)};
    RC_ASSERT(about(bound::best(made.task).value, bound::best(other.task).value));
    for (const std::string name : {"batch_split", "mite", "iterated_critical_path", "heft"}) {
      const auto before = decide(name, made.task, s.seed);
      const auto after = decide(name, other.task, s.seed);
      if (before.has_value() != after.has_value() ||
          (before && renumbered(before->plan.placement, numbers) != after->plan.placement)) {
        RC_FAIL(name);
      }
    }
  });
}

TEST_CASE("property: a device that no op may run on does not change bounds") {
  holds_for_all("unused device", {.max_ops = 12}, [](sample s) {
    for (auto& op : s.ops) {
      op.kinds = op.kinds & kind_set::from_bits(~kind_set{device_kind::dsp}.bits());
    }
    s.links.resize(1);
    s.connected = sample::topology::uniform;
    s.cost = sample::cost_kind::linear;
    sample more = s;
    for (auto& d : more.devices) {
      d.memory_of += d.memory_of == none ? 0 : 1;
    }
    more.devices.insert(more.devices.begin(), {.kind = device_kind::dsp, .speed = 1e15, .slots = 4});
    const sampled_problem made{s};
    const sampled_problem extended{more};
    const auto before = bound::best(made.task);
    const auto after = bound::best(extended.task);
    RC_ASSERT(about(before.value, after.value));
    const auto exact = decide("quick branch_and_bound", made.task, 0);
    const auto also = decide("quick branch_and_bound", extended.task, 0);
    // A search that ran out of budget may have come to different bounds, as it begins with different plans of HEFT,
    // whose mean costs count all devices. But what one has proven holds for the other's plan; equal bounds follow if
    // both ended.
    if (exact && also) {
      const double reached = run_in_order(made.task, exact->plan);
      const double also_reached = run_in_order(extended.task, also->plan);
      RC_ASSERT(at_least(reached, exact->bound));
      RC_ASSERT(at_least(reached, also->bound));
      RC_ASSERT(at_least(also_reached, exact->bound));
      RC_ASSERT(at_least(also_reached, also->bound));
    } else if (exact.has_value() != also.has_value()) {
      RC_ASSERT((exact ? also : exact).error().cause == infeasibility::kind::not_found);
    }
  });
}

} // namespace property_metamorphic_test
} // namespace weft::test
