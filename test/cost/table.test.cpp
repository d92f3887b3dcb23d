// SPDX-License-Identifier: BSL-1.0
#include "weft/cost/table.hpp"

#include "support/small_problem.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace cost_table_test {

using namespace weft;

static_assert(cost_model_for<cost::table, workload, platform<>>);

TEST_CASE("cost table: rows are ops, columns are devices") {
  const workload w = test::diamond();
  const platform<> p = test::three_devices();
  const std::vector<double> seconds{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const cost::table c{seconds, 4, 3};
  CHECK(c.compute_time(w, 0, p, 2) == 3);
  CHECK(c.compute_time(w, 3, p, 0) == 10);
  CHECK(c.transfer_time(w, 0, p, 0, 1) == 1.5);
}

TEST_CASE("cost table: the wrong number of entries is refused") {
  const std::vector<double> seconds(11, 1);
  CHECK_THROWS_WITH_AS((cost::table{seconds, 4, 3}), "cost table: has 11 entries, not 4 ops x 3 devices", value_error);
}

TEST_CASE("cost table: an entry that makes no sense is refused and named") {
  for (const double bad : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    std::vector<double> seconds(12, 1);
    seconds[7] = bad;
    CHECK_THROWS_WITH_AS((cost::table{seconds, 4, 3}),
                         "cost table: op 2 on device 1: must be a finite number of seconds, not negative", value_error);
  }
}

} // namespace cost_table_test
