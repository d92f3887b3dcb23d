// SPDX-License-Identifier: BSL-1.0
#include "weft/workload/model.hpp"

#include "support/small_problem.hpp"

#include <doctest/doctest.h>

namespace workload_model_test {

using namespace weft;

TEST_CASE("model: work is FLOP unless its reader says otherwise, whatever times stand beside it") {
  model m{.ops = test::diamond()};
  CHECK(m.unit == work_unit::flop);
  for (const op_id v : ids(m.ops.num_ops())) {
    m.seconds.push_back(m.ops.work(v)); // FLOP in as many seconds by chance
  }
  CHECK(m.unit == work_unit::flop);
}

TEST_CASE("model: its numbers have the width of all but a hundredth of their bytes") {
  CHECK(number_bits({}) == 32);
  CHECK(number_bits({.float_bytes = {{16, 100}}}) == 16);
  CHECK(number_bits({.float_bytes = {{32, 1000}, {64, 8}}}) == 32);
  CHECK(number_bits({.float_bytes = {{16, 100}, {32, 50}}}) == 0);
}

} // namespace workload_model_test
