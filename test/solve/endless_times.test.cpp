// SPDX-License-Identifier: BSL-1.0
// solve::best where some ops never end on some devices, and some transfers never arrive.
#include "weft/solve/best.hpp"

#include "simulate/random_problem.hpp"
#include "support/rounds.hpp"

#include "weft/cost/linear.hpp"
#include "weft/simulate/any_network.hpp"
#include "weft/simulate/under.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace solve_endless_times_test {

using namespace weft;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Linear times, but for what takes for ever.
struct partly_endless : cost::link_transfers {
  std::size_t num_devices;
  std::vector<bool> never_ends, never_arrives; // op × device, device × device

  partly_endless(rng& random, std::size_t num_ops, std::size_t devices) : num_devices{devices} {
    const auto style = random.below(3);
    for (std::size_t i = 0; i < num_ops * devices; ++i) {
      never_ends.push_back(style != 0 && i % devices != 0 && random.below(4) == 0);
    }
    for (std::size_t i = 0; i < devices * devices; ++i) {
      never_arrives.push_back(style != 1 && i / devices != i % devices && random.below(2) == 0);
    }
  }
  template <class W, class P>
  double compute_time(const W& w, op_id v, const P& q, device_id d) const {
    return never_ends[v * num_devices + d] ? infinity : w.work(v) / q.speed(d);
  }
  template <class W, class P>
  double transfer_time(const W& w, tensor_id t, const P& q, device_id from, device_id to) const {
    return never_arrives[from * num_devices + to] ? infinity : link_transfers::transfer_time(w, t, q, from, to);
  }
};

template <class Problem>
bool fits_single_device(const Problem& p) {
  for (const device_id d : ids(p.num_devices())) {
    byte_count demand = 0;
    bool ends = true;
    for (component_id c = 0; c < p.num_components(); ++c) {
      demand += p.demand(c);
      ends = ends && p.allows(c, d) && p.component_time(c, d) < infinity;
    }
    if (ends && demand <= p.capacity(d)) {
      return true;
    }
  }
  return false;
}

TEST_CASE("solve::best: a plan ends, and where one device can run everything there is one, with any budget") {
  rng random{91};
  int easy = 0;
  int without = 0;
  for (int round = 0; round < test::rounds(300); ++round) {
    CAPTURE(round);
    const byte_count capacity = 100 + random.below(200);
    const test::drawn s{
      random, {.max_ops = 10, .sends = false, .groups = false, .kinds = false, .capacity = capacity}};
    const partly_endless cost{random, s.w.num_ops(), s.q.num_devices()};
    const problem p{s.w, s.q, cost};
    const bool is_easy = fits_single_device(p);
    easy += is_easy;
    for (const auto rule : {memory_rule::reserved, memory_rule::over_time}) {
      for (const auto effort : {solve::effort::full, solve::effort::first_plan}) {
        const solve::best_options options{.moves = random.below(50), .memory = rule, .effort = effort};
        const auto alone = solve::best(p, options);
        const auto on_links = solve::best(
          p, simulate::under{schedule::static_order{}, simulate::any_network{contention_model::port}}, options);
        for (const auto* r : {&alone, &on_links}) {
          CHECK(r->has_plan() == (r->makespan < infinity));
          CHECK((r->has_plan() || !is_easy));
          CHECK(r->has_plan() != r->reason.has_value());
          without += !r->has_plan();
        }
      }
    }
  }
  CHECK((easy > 100 || !test::are_all_rounds));
  CHECK((without > 20 || !test::are_all_rounds));
}

} // namespace solve_endless_times_test
