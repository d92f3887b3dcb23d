// SPDX-License-Identifier: BSL-1.0
// Problems whose times differ by many orders of magnitude: the search ends, soon, and keeps to its budget.
#include "partition/place.hpp"
#include "property/brute_force.hpp"
#include "support/rounds.hpp"

#include "weft/bound/best.hpp"
#include "weft/bound/exact/conflict_search.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/refine/branch_and_bound.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace bound_wide_times_test {

using namespace weft;
using bound::exact::conflict_search;
using bound::exact::whole_times;

struct table_costs {
  std::size_t num_devices = 1;
  std::vector<double> seconds;  ///< ops x devices
  std::vector<double> transfer; ///< of what an op makes: ops x from x to

  template <class W, class P>
  double compute_time(const W&, op_id v, const P&, device_id d) const {
    return seconds[v * num_devices + d];
  }
  template <class W, class P>
  double transfer_time(const W& w, tensor_id t, const P&, device_id from, device_id to) const {
    return transfer[(w.producer(t) * num_devices + from) * num_devices + to];
  }
};

struct wide_problem {
  using pairs = std::vector<std::pair<op_id, op_id>>;
  pairs edges;
  table_costs costs;
  pairs colocated = {};
  std::vector<byte_count> resident = {};                        ///< per op
  byte_count capacity = std::numeric_limits<byte_count>::max(); ///< of each device

  wide_problem(std::size_t num_devices, std::vector<double> seconds, pairs e) : edges{std::move(e)} {
    const std::size_t n = seconds.size() / num_devices;
    costs = {num_devices, std::move(seconds), std::vector<double>(n * num_devices * num_devices, 0)};
  }
  std::size_t num_ops() const { return costs.seconds.size() / costs.num_devices; }
  double& transfer(op_id v, std::size_t from, std::size_t to) {
    return costs.transfer[(v * costs.num_devices + from) * costs.num_devices + to];
  }

  /// Calls use(problem).
  template <class Use>
  auto with(Use use) const {
    workload_builder b;
    for (std::size_t v = 0; v < num_ops(); ++v) {
      b.add_op({.work = 1, .bytes = 1, .resident_bytes = resident.empty() ? 0 : resident[v]});
    }
    for (const auto& [u, v] : edges) {
      b.add_edge(u, v);
    }
    for (const auto& [u, v] : colocated) {
      b.colocate(u, v);
    }
    const workload w = std::move(b).build();
    const std::vector<device> devices(costs.num_devices, device{.memory_capacity = capacity});
    const platform<> where{devices, link_matrix{costs.num_devices}};
    return use(problem{w, where, costs});
  }
};

/// Times are 0, or a small number times a power of ten, down to 10⁻⁸ of the longest.
wide_problem draw(rng& random) {
  const auto n = static_cast<op_id>(3 + random.below(4));
  const std::size_t k = 2 + random.below(3);
  const auto seconds = [&] {
    return random.below(3) == 0 ? 0.0 : (1.0 + random.below(4)) * std::pow(10.0, -1.0 * random.below(9));
  };
  wide_problem::pairs edges;
  for (op_id v = 1; v < n; ++v) {
    for (op_id u = 0; u < v; ++u) {
      if (random.below(4) == 0) {
        edges.emplace_back(u, v);
      }
    }
  }
  wide_problem s{k, std::vector<double>(n * k), edges};
  for (op_id v = 1; v < n; ++v) {
    if (random.below(6) == 0) {
      s.colocated.emplace_back(random.below(v), v);
    }
  }
  std::generate(s.costs.seconds.begin(), s.costs.seconds.end(), seconds);
  const bool by_tensor = random.below(2) == 0;
  for (std::size_t from = 0; from < k; ++from) {
    for (std::size_t to = 0; to < k; ++to) {
      double time = random.below(2) == 0 ? 0 : seconds();
      for (op_id v = 0; v < n && from != to; ++v) {
        time = by_tensor && random.below(2) == 0 ? seconds() : time;
        s.transfer(v, from, to) = time;
      }
    }
  }
  return s;
}

/// Four ops of which one takes next to nothing; the optimum is 1.
wide_problem one_is_tiny(double tiny) {
  wide_problem s{3, {1, 1, 1, 0, 1, 1, 0, 0, 1, tiny, 0, 1}, {{1, 3}}};
  s.transfer(1, 0, 1) = 1;
  return s;
}

/// Five ops on four devices, one slow link.
wide_problem one_slow_link() {
  wide_problem s{4, {1, 0, 0, 0, 1.5e6, 3e6, 7.5e5, 0, 1, 1, 0, 0, 2, 4, 1, 1, 0, 0, 0, 1e6}, {{0, 1}, {2, 3}}};
  s.transfer(0, 1, 3) = 6e6;
  return s;
}

/// Eight ops with groups and little memory.
wide_problem little_memory() {
  wide_problem s{3,
                 {0,  0,  .0025, 1.5, 1.5, .75, 0,  5e5, 2.5e5, 2,    2,    1,
                  0,  0,  0,     .5,  .5,  .25, 1,  1,   .5,    .015, .015, .0075},
                 {{0, 1}, {0, 7}, {3, 4}, {3, 7}}};
  const double of_0[]{0, 9, 12, 6e6, 0, 9e6, 6, 12, 0};
  const double of_3[]{0, 3e6, 6, .06, 0, 3, 3e6, .09, 0};
  for (std::size_t i = 0; i < 9; ++i) {
    s.transfer(0, i / 3, i % 3) = of_0[i];
    s.transfer(3, i / 3, i % 3) = of_3[i];
  }
  s.colocated = {{2, 6}, {2, 7}};
  s.resident = {0, 0, 0, 2, 0, 0, 5, 0};
  s.capacity = 25;
  return s;
}

/// The makespan of what a search has found.
template <class Problem>
double makespan_of(const Problem& p, const conflict_search& found) {
  plan made{placement(p.num_ops(), 0), {}};
  for (const op_id v : ids(p.num_ops())) {
    made.placement[v] = found.device_of(v);
  }
  for (const op_id v : found.sequence()) {
    made.order.push_back(step::run(v));
  }
  simulator<Problem, schedule::static_order> sim{p};
  const auto run = sim.run(made);
  REQUIRE(run.complete);
  return run.makespan;
}

TEST_CASE("wide times: a search ends at the optimum after a counted number of steps") {
  rng random{31};
  const int rounds = test::rounds(100'000);
  int compared = 0;
  for (int round = 0; round < rounds; ++round) {
    CAPTURE(round);
    draw(random).with([&](const auto& p) {
      double horizon = 0; // the longest times one after the other, which some plan keeps to
      for (const op_id v : ids(p.num_ops())) {
        double longest = 0;
        for (const device_id d : ids(p.num_devices())) {
          longest = std::max(longest, p.compute_time(v, d));
        }
        horizon += longest;
      }
      if (horizon == 0) {
        return;
      }
      const double rounding = 1e-9 * horizon;
      std::vector<device_id> usable;
      for (const device_id d : ids(p.num_devices())) {
        usable.push_back(d);
      }
      const whole_times q{p, usable, horizon};
      conflict_search search{q, q.limit(horizon), std::vector<std::size_t>(usable.size(), usable.size())};
      std::uint64_t steps = 0;
      double best = horizon;
      for (double asked = horizon; asked > rounding; asked = best - rounding) {
        const auto a = search(q.limit(asked), [&] { return ++steps < 20'000; });
        REQUIRE(a != conflict_search::answer::unknown);
        if (a == conflict_search::answer::no) {
          break;
        }
        best = makespan_of(p, search);
        REQUIRE(best <= asked + rounding);
      }
      if (round % 20 == 0 && p.num_ops() <= 5) {
        ++compared;
        CHECK(best <= test::brute_force{p}.makespan() + 2 * rounding);
      }
    });
  }
  CHECK(compared > rounds / 50);
}

TEST_CASE("wide times: bounds and searches end, and find the optimum") {
  std::vector<wide_problem> problems{one_slow_link(), little_memory()};
  for (const double tiny : {1e-3, 1e-5, 1e-6, 1e-8}) {
    problems.push_back(one_is_tiny(tiny));
  }
  for (std::size_t i = 0; i < problems.size(); ++i) {
    CAPTURE(i);
    problems[i].with([&](const auto& p) {
      const double optimum = test::brute_force{p}.makespan();
      CHECK(bound::best(p, {.moves = 1000}).value <= optimum * (1 + 1e-9));
      const auto found = test::decide(refine::branch_and_bound{{.moves = 1'000'000}}, p);
      REQUIRE(found);
      CHECK(found->bound == doctest::Approx(optimum));
      simulator<std::decay_t<decltype(p)>, schedule::static_order> sim{p};
      CHECK(sim.run(found->plan).makespan == doctest::Approx(optimum));
    });
  }
}

} // namespace bound_wide_times_test
