// SPDX-License-Identifier: BSL-1.0
// The code of docs/replanning.md.
#include "weft/bound/best.hpp"
#include "weft/refine/simulated_annealing.hpp"
#include "weft/solve/best.hpp"
#include "weft/solve/continuation.hpp"
#include "weft/validate/validate.hpp"

#include "../validate/scene.hpp"

#include <doctest/doctest.h>

namespace docs_replanning_test {

TEST_CASE("docs: the rest of a run is a problem") {
  const weft_test::scene s;
  const auto& problem = s.p;
  const weft::trace& trace = s.run;
  const weft::plan old{s.where, {}};
  weft::rng random{1};
  // [continuation]
  const weft::run_state state = weft::state_at(trace, 7);
  const weft::solve::continuation rest{problem, state};
  const auto found = weft::solve::best(rest.problem(), {.moves = 1000});
  const auto least = weft::bound::best(rest.problem()); // no continuation ends sooner

  const auto refined = weft::refine::improve(rest.problem(), *rest.left_of(old), weft::refine::simulated_annealing{},
                                             weft::schedule::static_order{}, random);

  const weft::evaluated_plan whole = rest.whole(found.plan); // whole.plan, whole.record, whole.run.makespan
  // [continuation]
  CHECK(whole.run.makespan == 12.5);
  CHECK(rest.whole(refined.plan).run.makespan == 12.5);
  CHECK(least.value <= 12.5);
  CHECK(validate(problem, state, whole.record).empty());
}

} // namespace docs_replanning_test
