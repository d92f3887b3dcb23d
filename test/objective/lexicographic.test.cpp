// SPDX-License-Identifier: BSL-1.0
#include "weft/objective/lexicographic.hpp"

#include "weft/evaluate/evaluation.hpp"
#include "weft/evaluate/makespan.hpp"
#include "weft/objective/energy.hpp"
#include "weft/objective/within_deadline.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

namespace objective_lexicographic_test {

using namespace weft;

TEST_CASE("lexicographic: the second objective decides between equals") {
  workload_builder b;
  b.add_op({.work = 4});
  b.add_op({.work = 1});
  const workload w = std::move(b).build();
  const platform<uniform_links> q{{{.active_watts = 1}, {.active_watts = 5}, {.active_watts = 2}}, {}};
  const problem p{w, q};

  evaluator fast_then_green{p, evaluation{schedule::fifo{}, objective::lexicographic{objective::makespan{},
                                                                                     objective::energy{}}}};
  CHECK(fast_then_green.judge({.placement = {0, 1}}) == score{0, 4, 9});
  CHECK(fast_then_green.judge({.placement = {0, 2}}) == score{0, 4, 6});
  CHECK(fast_then_green.judge({.placement = {0, 0}}) == score{0, 5, 5});
  CHECK(score{0, 4, 6} < score{0, 4, 9});
  CHECK(score{0, 4, 9} < score{0, 5, 5});
  CHECK(fast_then_green.bound({.value = 4}).value == 4);

  using green_in_time = objective::within_deadline<objective::energy<>>;
  const objective::lexicographic green_then_fast{green_in_time{{}, 4.5}, objective::makespan{}};
  evaluator judge{p, evaluation{schedule::fifo{}, green_then_fast}};
  CHECK(judge.judge({.placement = {0, 0}}) == score{0.5, 5, 5});
  CHECK(judge.judge({.placement = {0, 2}}) == score{0, 6, 4});
  static_assert(objective_parts::is_sum<decltype(green_then_fast), decltype(p)>);
  static_assert(decltype(green_then_fast)::unit == "J");

  evaluator twice{p, evaluation{schedule::fifo{}, objective::lexicographic{objective::makespan{},
                                                                           objective::makespan{}}}};
  CHECK(twice.judge({.placement = {0, 0}}) == score{0, 5, 5}); // of summaries
}

} // namespace objective_lexicographic_test
