// SPDX-License-Identifier: BSL-1.0
#include "weft/cost/alternatives.hpp"
#include "weft/cost/tabulated.hpp"
#include "weft/platform/identical.hpp"
#include "weft/problem.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace alternatives_test {

using namespace weft;
using list = std::vector<cost::alternatives::entry>;

TEST_CASE("alternatives: times where an op can run, infinite elsewhere, also as a table") {
  workload_builder b;
  b.add_op({});
  b.add_op({});
  const auto w = std::move(b).build();
  const auto p = presets::identical(3);
  cost::alternatives::builder times;
  times.add_op(list{{2, 5.0}, {0, 7.0}});
  times.add_op(list{{1, 0.0}});
  const auto made = std::move(times).build();
  CHECK(made.of(0).size() == 2);
  const problem direct{w, p, made};
  const problem table{w, p, cost::tabulated{made, w, p}};
  for (const op_id v : ids(2)) {
    for (const device_id d : ids(3)) {
      const double expected = v == 0 ? (d == 0 ? 7.0 : d == 2 ? 5.0 : INFINITY) : (d == 1 ? 0.0 : INFINITY);
      CHECK(direct.cost().compute_time(w, v, p, d) == expected);
      CHECK(table.cost().compute_time(w, v, p, d) == expected);
      CHECK(direct.component_time(direct.component(v), d) == expected);
    }
  }
}

TEST_CASE("alternatives: what cannot be is refused") {
  cost::alternatives::builder times;
  times.add_op(list{{0, 1.0}});
  CHECK_THROWS_WITH_AS(times.add_op(list{}), "alternatives of op 1: there is none: no device can run it", value_error);
  CHECK_THROWS_WITH_AS(times.add_op(list{{3, 1.0}, {3, 2.0}}), "alternatives of op 1: device 3 is listed twice",
                       value_error);
  CHECK_THROWS_AS(times.add_op(list{{0, -1.0}}), value_error);
  CHECK_THROWS_AS(times.add_op(list{{0, INFINITY}}), value_error);
  CHECK_THROWS_AS(times.add_op(list{{0, NAN}}), value_error);
}

} // namespace alternatives_test
