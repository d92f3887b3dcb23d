// SPDX-License-Identifier: BSL-1.0
/// The worked example of docs/execution_model.md: every number that the page gives.
#include "scene.hpp"

#include "../bound/small.hpp"

#include "weft/bound/best.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/schedule/path_completion_time.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/simulate/record.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/validate/validate.hpp"

#include <doctest/doctest.h>

namespace validate_execution_model_test {

using weft::step;
using weft_test::scene;

template <class Policy>
weft::trace simulate(const scene& s, Policy policy, const weft::order& steps = {}) {
  weft::trace run;
  weft::simulator simulator{s.p, policy};
  simulator.run(weft::plan{s.where, steps}, weft::simulate::recorder{run});
  CHECK(validate(s.p, s.where, run).empty());
  return run;
}

TEST_CASE("execution model: the example of the documentation, under three policies") {
  const scene s;
  const weft::order steps{step::run(scene::a), step::send(scene::a, scene::x, 1), step::run(scene::c),
                          step::send(scene::c, scene::z, 1), step::run(scene::e), step::run(scene::b),
                          step::run(scene::d)};
  CHECK(validate(s.p, weft::plan{s.where, steps}).empty());
  const auto run = simulate(s, weft::schedule::static_order{}, steps);
  CHECK(run == s.run);
  CHECK(run.makespan == 12.5);
  CHECK(peak_memory_of(s.p, s.where, run) == std::vector<weft::byte_count>{110, 22});
  CHECK(simulate(s, weft::schedule::fifo{}).makespan == 13.5);
  CHECK(simulate(s, weft::schedule::path_completion_time{}).makespan == 15);
  CHECK(weft_test::least_makespan(s.p) == 12);
  CHECK(weft::bound::best(s.p) == weft::lower_bound{8.5, weft::lower_bound::rule::communication_path});
  CHECK(weft::bound::critical_path(s.p) == 6);
}

TEST_CASE("execution model: the example of the documentation, without sends") {
  const scene s;
  const weft::platform<weft::uniform_links> no_sends{s.platform.devices(), s.platform.links()};
  const weft::problem p{s.w, no_sends};
  weft::trace run;
  weft::simulator simulator{p, weft::schedule::fifo{}};
  simulator.run(weft::plan{s.where}, weft::simulate::recorder{run});
  CHECK(run.makespan == 10.5);
  CHECK(run.transfers[0] == weft::transfer_record{scene::x, 0, 1, 2, 2, 2, 5});
}

} // namespace validate_execution_model_test
