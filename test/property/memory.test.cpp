// SPDX-License-Identifier: BSL-1.0
// No plan that claims to keep to the memory over time exceeds it; the validator's own count says so.
#include "property/property.hpp"

#include "weft/allocate/on_devices.hpp"
#include "weft/bound/live_memory.hpp"
#include "weft/refine/memory_descent.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/least_memory.hpp"
#include "weft/validate/validate.hpp"

#include <algorithm>
#include <vector>

namespace weft::test {
namespace property_memory_test {

using problem_type = sampled_problem::problem_type;

/// The same sample with devices that have about as much memory as all needs at once, shared unevenly.
sample tightened(sample s) {
  const sampled_problem made{s};
  rng random{s.seed};
  const auto all = bound::live_memory(made.task).bytes;
  for (auto& d : s.devices) {
    const double share = random.uniform(0.3, 2.5) / static_cast<double>(s.devices.size());
    d.memory_capacity = static_cast<byte_count>(static_cast<double>(all) * share) + random.below(8);
  }
  return s;
}

std::vector<byte_count> run_peaks(const problem_type& p, const plan& x, trace& run) {
  simulator<problem_type, schedule::static_order> sim{p};
  RC_ASSERT(sim.run(x, simulate::recorder{run}).complete);
  return peak_memory_of(p, x.placement, run);
}

TEST_CASE("memory over time: what is called feasible is") {
  sample_options o;
  o.max_ops = 25;
  o.max_devices = 4;
  holds_for_all("plans of best keep to the memory", o, [](const sample& plain) {
    const sample s = tightened(plain);
    const sampled_problem made{s};
    const problem_type& p = made.task;
    const solve::best_options options{.moves = 300, .seed = s.seed, .memory = memory_rule::over_time};
    const auto r = solve::best(p, options);
    const auto reserved = solve::best(p, {.moves = 300, .seed = s.seed});
    RC_ASSERT(r.has_plan() || !reserved.has_plan()); // what reservations admit, fits
    if (r.has_plan()) {
      trace run;
      RC_ASSERT(run_peaks(p, r.plan, run) == r.peaks);
      expect_none("best", validate(p, r.plan.placement, run, {.memory = memory_rule::over_time}));
      expect_none("best", validate(p, r.plan, memory_rule::over_time));
      for (const device_id d : ids(p.num_devices())) {
        RC_ASSERT(r.peaks[d] <= p.platform().memory_capacity(d));
      }
      RC_ASSERT(at_least(r.makespan, r.bound.value));
      RC_ASSERT(run.makespan == r.makespan);
    } else {
      RC_ASSERT(r.reason.has_value());
    }
  });
}

TEST_CASE("memory descent: never needs more than what it was given") {
  sample_options o;
  o.max_ops = 25;
  holds_for_all("memory descent", o, [](const sample& plain) {
    const sample s = tightened(plain);
    const sampled_problem made{s};
    const problem_type& p = made.task;
    rng random{s.seed};
    placement where(p.num_ops(), none);
    for (component_id c = 0; c < p.num_components(); ++c) {
      std::vector<device_id> allowed;
      for (const device_id d : ids(p.num_devices())) {
        if (p.kinds(c).contains(p.platform().kind(d))) {
          allowed.push_back(d);
        }
      }
      RC_PRE(!allowed.empty());
      const device_id d = allowed[random.below(allowed.size())];
      for (const op_id v : p.members(c)) {
        where[v] = d;
      }
    }
    const plan start{where, {}};
    trace run;
    const double before = solve::largest_share(p, run_peaks(p, start, run));
    const plan lower = refine::memory_descent{.budget = {.moves = 100}}(p, start, schedule::static_order{}, random);
    RC_ASSERT(solve::largest_share(p, run_peaks(p, lower, run)) <= before * (1 + 1e-12));
    for (component_id c = 0; c < p.num_components(); ++c) {
      const device_id d = lower.placement[p.members(c).front()];
      RC_ASSERT(p.kinds(c).contains(p.platform().kind(d)));
      for (const op_id v : p.members(c)) {
        RC_ASSERT(lower.placement[v] == d);
      }
    }
  });
}

TEST_CASE("offsets: a device needs no less than its peak, and nothing overlaps") {
  sample_options o;
  o.max_ops = 25;
  o.max_devices = 4;
  holds_for_all("offsets on devices", o, [](const sample& s) {
    const sampled_problem made{s};
    const problem_type& p = made.task;
    const auto r = solve::best(p, {.moves = 100, .seed = s.seed});
    RC_PRE(r.has_plan());
    trace run;
    const auto peaks = run_peaks(p, r.plan, run);
    const auto layouts = allocate::on_devices(p, r.plan.placement, run);
    for (const device_id d : ids(p.num_devices())) {
      const auto& m = layouts[d];
      RC_ASSERT(m.bound >= peaks[d]);
      RC_ASSERT(m.bytes >= m.bound);
      byte_count resident = 0;
      for (const auto& x : m.residents) {
        RC_ASSERT(x.offset == resident);
        resident += x.bytes;
      }
      for (std::size_t i = 0; i < m.stays.size(); ++i) {
        const auto& a = m.stays[i];
        const auto top = m.offsets[i] + p.workload().bytes(a.tensor);
        RC_ASSERT(a.device == d && m.offsets[i] >= resident && top <= m.bytes);
        for (std::size_t k = 0; k < i; ++k) {
          const auto& b = m.stays[k];
          RC_ASSERT(a.end <= b.begin || b.end <= a.begin || top <= m.offsets[k] ||
                    m.offsets[k] + p.workload().bytes(b.tensor) <= m.offsets[i]);
        }
      }
      RC_ASSERT(m.is_least() || m.nodes == 10'000); // so few are soon searched through
    }
  });
}

} // namespace property_memory_test
} // namespace weft::test
