// SPDX-License-Identifier: BSL-1.0
// Throughput on random problems of any cost model, links, slots, sends and limits.
#include "property/property.hpp"

#include "weft/throughput/best.hpp"
#include "weft/throughput/loads.hpp"
#include "weft/validate/placement.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace property_throughput_test {

using namespace weft;
using test::sampled_problem;
using test::sample;

TEST_CASE("property: throughput::best returns a valid placement, its period, and a bound below every period") {
  test::holds_for_all("best keeps its promises", {}, [](const sample& s) {
    const sampled_problem x{s};
    const auto& p = x.task;
    rng random{s.seed};
    const auto found = throughput::best{.rounds = 3, .moves_per_round = 2000}(p, random);
    if (!found) {
      return;
    }
    test::expect_none("best", validate(p, found->placement));
    RC_ASSERT(test::at_least(found->period, found->bound));
    RC_ASSERT(std::abs(found->period - throughput::period(p, found->placement)) <= 1e-9 * found->period);
    for (const auto& attempt : found->tried) {
      RC_ASSERT(found->period <= attempt.period);
    }
  });
}

TEST_CASE("property: a ledger equals the full evaluation under any cost model") {
  test::holds_for_all("moves are updated exactly", {.limits = false}, [](const sample& s) {
    const sampled_problem x{s};
    const auto& p = x.task;
    if (p.num_devices() < 2 || p.num_components() == 0) {
      return;
    }
    const throughput::flow<sampled_problem::problem_type> f{p};
    throughput::ledger<sampled_problem::problem_type> books{f, std::vector<device_id>(p.num_components(), 0)};
    rng random{s.seed};
    placement where(p.num_ops(), 0);
    for (int i = 0; i < 20; ++i) {
      const component_id c = random.below(p.num_components());
      const device_id to = random.below(p.num_devices());
      if (to == books.device(c)) {
        continue;
      }
      books.move(c, to);
      for (const op_id v : p.members(c)) {
        where[v] = to;
      }
    }
    const auto expected = throughput::loads(p, where);
    double most = 0; // what was taken away again leaves its rounding
    for (component_id c = 0; c < p.num_components(); ++c) {
      for (const device_id d : ids(p.num_devices())) {
        most = std::max(most, p.component_time(c, d));
      }
    }
    most = std::max(most, *std::ranges::max_element(expected));
    for (std::size_t r = 0; r < expected.size(); ++r) {
      RC_ASSERT(std::abs(books.loads()[r] - expected[r]) <= 1e-9 * most);
    }
  });
}

} // namespace property_throughput_test
