// SPDX-License-Identifier: BSL-1.0
#include "weft/cost/table.hpp"

#include "support/small_problem.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

namespace cost_table_test {

using namespace weft;

static_assert(cost_model_for<cost::table, workload, platform<>>);

// It refers to the times, so what would be gone when they are read is refused; a span is a reference, too.
template <class Seconds>
inline constexpr bool takes = std::is_constructible_v<cost::table, Seconds, std::size_t, std::size_t>;
static_assert(takes<std::vector<double>&> && takes<const std::vector<double>&> && takes<const std::array<double, 4>&>);
static_assert(takes<std::span<const double>> && takes<const double (&)[4]>);
static_assert(!takes<std::vector<double>> && !takes<const std::vector<double>> && !takes<std::array<double, 4>>);

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
