// SPDX-License-Identifier: BSL-1.0
/// Problems with other costs or demands share what was derived.
#include "support/counting_allocator.hpp"

#include "weft/cost/compose.hpp"
#include "weft/cost/measured.hpp"
#include "weft/platform/platform.hpp"
#include "weft/problem.hpp"
#include "weft/workload/generate.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace allocation_problem_test {

using namespace weft;
using weft::test::allocation_counter;

TEST_CASE("problem: other costs allocate nothing, other demands only what holds them, at any size") {
  for (const std::uint64_t n : {100u, 10'000u}) {
    const workload w = generate::layered_sized(n, 10, 2, 1);
    const platform<uniform_links> q{std::vector<device>(3), uniform_links{{1e-6, 1e6}}};
    const problem p{w, q};
    double sum = 0;
    {
      const allocation_counter counter;
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        sum += p.with_costs(cost::perturbed{p.cost(), 0.1, seed}).compute_time(3, 1);
      }
      CHECK(counter.count() == 0);
    }
    std::vector<byte_count> demand(p.num_components(), 1);
    {
      const allocation_counter counter;
      sum += static_cast<double>(p.with_demands(std::move(demand)).demand(0));
      CHECK(counter.bytes() < 100);
    }
    CHECK(sum > 0);
  }
}

TEST_CASE("problem: cost models that hold many times are as small as others") {
  for (const std::uint64_t n : {100u, 10'000u}) {
    const workload w = generate::layered_sized(n, 10, 2, 1);
    const platform<uniform_links> q{std::vector<device>(3), uniform_links{{1e-6, 1e6}}};
    cost::measured measured{cost::linear{}, q};
    measured.add(device_kind::cpu, std::vector<double>(n, 0.5));
    const problem p{w, q};
    const problem table{w, q, cost::cached{measured, w, q}};
    const allocation_counter counter;
    const auto same = table.with_costs(table.cost());
    CHECK(same.compute_time(3, 1) == table.compute_time(3, 1));
    const auto measured_anew = p.with_costs(measured);
    CHECK(measured_anew.compute_time(3, 1) == 0.5);
    CHECK(counter.bytes() < 400); // for devices and columns, not for ops
  }
}

} // namespace allocation_problem_test
