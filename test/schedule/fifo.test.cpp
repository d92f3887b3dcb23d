// SPDX-License-Identifier: BSL-1.0
#include "schedule/small_flow.hpp"

#include "weft/schedule/fifo.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"

#include <doctest/doctest.h>

namespace schedule_fifo_test {

using namespace weft;
using test::five_ops;

TEST_CASE("fifo: everything is equal") {
  const five_ops s{10};
  CHECK(test::keys_of(schedule::fifo{}, s.p, s.where) == std::vector<double>(7, 0.0));
}

TEST_CASE("fifo: an op's sends come before its local consumers, those by id") {
  // Device 0: a [0, 2), its send [2, 12), c [12, 18), e [18, 21), c's send [21, 31).
  // x arrives at 15: device 1 runs b [15, 17); c's tensor arrives at 33: d [33, 37).
  const five_ops s{10};
  trace run;
  simulator sim{s.p, schedule::fifo{}};
  const auto result = sim.run(plan{s.where}, simulate::recorder{run});
  CHECK(result.makespan == 37);
  CHECK(run.ops == std::vector<op_record>{{0, 0, 2}, {1, 15, 17}, {0, 12, 18}, {1, 33, 37}, {0, 18, 21}});
  CHECK(run.transfers == std::vector<transfer_record>{{0, 0, 1, 2, 12, 12, 15}, {2, 0, 1, 21, 31, 31, 33}});
}

} // namespace schedule_fifo_test
