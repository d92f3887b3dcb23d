// SPDX-License-Identifier: BSL-1.0
#include "weft/cost/congested.hpp"

#include "simulate/random_problem.hpp"

#include "weft/cost/tabulated.hpp"

#include <doctest/doctest.h>

namespace cost_congested_test {

using namespace weft;

TEST_CASE("congested: transfers between two devices take so much longer, and all else is the model's") {
  rng random{4};
  for (int round = 0; round < 50; ++round) {
    const test::drawn x{random};
    const auto n = x.p.num_devices();
    std::vector<double> factors(n * n, 1);
    for (auto& f : factors) {
      f = 1u << random.below(4);
    }
    const auto slow = x.p.with_costs(cost::congested{x.p.cost(), n, factors});
    static_assert(decltype(slow)::has_rates && decltype(slow)::sends_by_bytes);
    const auto table = x.p.with_costs(cost::congested{cost::tabulated{x.p.cost(), x.w, x.q}, n, factors});
    static_assert(decltype(table)::has_class_times);
    for (const device_id from : ids(n)) {
      for (const op_id v : ids(x.p.num_ops())) {
        REQUIRE(slow.compute_time(v, from) == x.p.compute_time(v, from));
        REQUIRE(table.compute_time(v, from) == x.p.compute_time(v, from));
      }
      for (const device_id to : ids(from == none ? 0 : n)) {
        for (const tensor_id t : ids(from == to ? 0 : x.p.num_tensors())) {
          REQUIRE(slow.transfer_time(t, from, to) == factors[from * n + to] * x.p.transfer_time(t, from, to));
          REQUIRE(slow.send_time(t, from, to) == x.p.send_time(t, from, to));
          REQUIRE(table.transfer_time(t, from, to) == slow.transfer_time(t, from, to));
        }
      }
    }
  }
}

} // namespace cost_congested_test
