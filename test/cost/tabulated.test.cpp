// SPDX-License-Identifier: BSL-1.0
#include "weft/cost/tabulated.hpp"

#include "weft/cost/compose.hpp"
#include "weft/cost/roofline.hpp"
#include "weft/cost/table.hpp"
#include "weft/problem.hpp"

#include "support/small_problem.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace cost_tabulated_test {

using namespace weft;

static_assert(cost_model_for<cost::tabulated, workload, platform<>>);
static_assert(cost_parts::sends_by_bytes<cost::tabulated, workload, platform<>>);
static_assert(!cost_parts::has_rates<cost::tabulated, workload, platform<>>);

/// Counts how often it is asked.
struct counting {
  int* asked = nullptr;
  template <class W, class P>
  double compute_time(const W& w, op_id v, const P&, device_id d) const {
    ++*asked;
    return w.work(v) + d;
  }
};

TEST_CASE("tabulated cost: asks once per op and device, and is one type whatever the times come from") {
  const workload w = test::diamond();
  const platform<> p = test::three_devices();
  int asked = 0;
  cost::tabulated c{counting{&asked}, w, p};
  CHECK(asked == 12);
  for (const op_id v : ids(w.num_ops())) {
    for (const device_id d : ids(p.num_devices())) {
      CHECK(c.compute_time(w, v, p, d) == w.work(v) + d);
      CHECK(c.device_class(w, p, d) == d);
    }
  }
  CHECK(asked == 12);

  const cost::roofline roofline;
  c = cost::tabulated{roofline, w, p};
  CHECK(c.compute_time(w, 3, p, 1) == roofline.compute_time(w, 3, p, 1));
  const std::vector<double> seconds{1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 8, 8};
  c = cost::tabulated{cost::table{seconds, 4, 3}, w, p};
  CHECK(c.compute_time(w, 2, p, 1) == 6);
  CHECK(c.device_class(w, p, 2) == 1);
}

TEST_CASE("tabulated cost: transfers over links, also where the model has others") {
  const workload w = test::diamond();
  const platform<> p = test::three_devices();
  const cost::linear base;
  const cost::tabulated c{cost::scaled{base, 2, 3}, w, p};
  CHECK(c.compute_time(w, 1, p, 0) == 2 * base.compute_time(w, 1, p, 0));
  CHECK(c.device_class(w, p, 2) == 1);
  CHECK(c.transfer_time(w, 3, p, 0, 2) == base.transfer_time(w, 3, p, 0, 2));
  CHECK(c.send_time(w, 3, p, 0, 2) == base.send_time(w, 3, p, 0, 2));
}

TEST_CASE("tabulated cost: a time that is not a number is the problem's to refuse") {
  const workload w = test::diamond();
  const platform<> p = test::three_devices();
  const cost::from_function broken{[](op_id v, device_id d) {
    return v == 2 && d > 0 ? std::numeric_limits<double>::quiet_NaN() : 1.0;
  }};
  const problem task{w, p, cost::tabulated{broken, w, p}};
  CHECK(task.cost().device_class(w, p, 1) == 1);
  CHECK(task.cost().device_class(w, p, 2) == 2);
  CHECK_THROWS_WITH_AS(task.compute_time(2, 1), doctest::Contains("compute_time of op 2 'c' on device 1"), value_error);
}

} // namespace cost_tabulated_test
