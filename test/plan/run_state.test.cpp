// SPDX-License-Identifier: BSL-1.0
#include "weft/plan/run_state.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

namespace plan_run_state_test {

using namespace weft;

const trace run{.ops = {{0, 0, 2}, {1, 6, 8}, {0, 3, 9}, {none, 0, 0}},
                .transfers = {{0, 0, 1, 2, 3, 3, 6}, {1, 0, 1, 9, 9, 9, 11}},
                .makespan = 11};

TEST_CASE("state_at: what began before the time, with the ends that are recorded") {
  const run_state s = state_at(run, 6, {1});
  CHECK(s.now == 6);
  CHECK(s.gone == std::vector<device_id>{1});
  CHECK(s.begun.ops == std::vector<op_record>{{0, 0, 2}, {}, {0, 3, 9}, {}});
  CHECK(s.begun.transfers == std::vector{run.transfers[0]});
  CHECK(s.begun.makespan == 9);
}

TEST_CASE("state_at: a transfer has begun with its send") {
  CHECK(state_at(run, 2).begun.transfers.empty());
  CHECK(state_at(run, 2.5).begun.transfers.size() == 1);
  CHECK(state_at(run, 9).begun.transfers.size() == 1);
  CHECK(state_at(run, 9.5).begun.transfers.size() == 2);
  CHECK(state_at(run, 9.5).begun.makespan == 11);
}

TEST_CASE("state_at: at the start nothing has begun") {
  const run_state s = state_at(run, 0);
  CHECK(s == run_state{0, {std::vector<op_record>(4), {}, 0}, {}});
}

TEST_CASE("state_at: refuses what is no time") {
  for (const double bad : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    try {
      (void)state_at(run, bad);
      FAIL("it was taken");
    } catch (const value_error& e) {
      CHECK(std::string{e.what()}.ends_with("is not a time of a run; give seconds from its start, at least 0"));
    }
  }
}

} // namespace plan_run_state_test
