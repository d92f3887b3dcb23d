// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/model.hpp"

#include "support/small_problem.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace workload_model_test {

using namespace weft;

TEST_CASE("model: work is a time where every op has a measured time and that is its work") {
  model m{.ops = test::diamond()};
  CHECK_FALSE(m.work_is_time());
  for (const op_id v : ids(m.ops.num_ops())) {
    m.seconds.push_back(m.ops.work(v));
  }
  CHECK(m.work_is_time());
  m.seconds[1] += 1;
  CHECK_FALSE(m.work_is_time());
  m.seconds[1] = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(m.work_is_time());
  CHECK_FALSE(model{}.work_is_time());
}

} // namespace workload_model_test
