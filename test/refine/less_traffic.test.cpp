// SPDX-License-Identifier: BSL-1.0
#include "weft/refine/less_traffic.hpp"

#include "simulate/random_problem.hpp"
#include "support/rounds.hpp"

#include "weft/evaluate/evaluation.hpp"
#include "weft/refine/concepts.hpp"
#include "weft/schedule/static_order.hpp"
#include "weft/validate/validate.hpp"
#include "weft/workload/builder.hpp"

#include <doctest/doctest.h>

namespace refine_less_traffic_test {

using namespace weft;
using test::drawn;
using test::drawn_problem;

static_assert(refiner_for<refine::less_traffic, drawn_problem, schedule::static_order>);

TEST_CASE("less_traffic: what may be anywhere goes where its input is") {
  workload_builder b; // a long op beside a short one that reads much
  const op_id source = b.add_op({.work = 1, .bytes = 1000});
  const op_id slow = b.add_op({.work = 9, .bytes = 1});
  const op_id quick = b.add_op({.work = 2, .bytes = 1});
  b.add_edge(source, quick);
  const workload w = std::move(b).build();
  const platform<> q{std::vector<device>(2), link_matrix{2}};
  const problem p{w, q};
  placement where(3, 0);
  where[slow] = 1;
  where[quick] = 1; // for no good
  rng random;
  const plan start{where, {step::run(source), step::run(quick), step::run(slow)}};
  const auto better = refine::improve(p, start, refine::less_traffic{}, schedule::static_order{}, random);
  CHECK(better.run.transfer_bytes == 0);
  CHECK(better.run.makespan <= 12);
}

TEST_CASE("less_traffic: never a worse score nor more bytes, and memory is kept") {
  rng random{5};
  int fewer = 0;
  for (int round = 0; round < test::rounds(600); ++round) {
    CAPTURE(round);
    const drawn s{random, {.capacity = 20 + random.below(150)}};
    const placement where = test::random_placement(random, s.p);
    const bool over_time = random.below(2) == 0;
    const auto memory = over_time ? memory_rule::over_time : memory_rule::reserved;
    evaluator judge{s.p, schedule::static_order{}};
    simulate::memory_tracker<drawn_problem> tracker{s.p};
    const auto keeps = [&](const plan& x, const trace& run) {
      tracker.follow(x.placement, run);
      return over_time ? tracker.excess() == 0 : validate(s.p, x.placement).empty();
    };
    const auto start = judge.recorded({where, {}});
    if (!keeps(start.plan, start.record)) {
      continue;
    }
    auto found = refine::less_traffic{.memory = memory}(judge, start, random);
    CHECK(found.score <= start.score);
    CHECK(found.run.transfer_bytes <= start.run.transfer_bytes);
    CHECK(keeps(found.plan, judge.record_of(found)));
    fewer += found.run.transfer_bytes < start.run.transfer_bytes;
  }
  CHECK(fewer * 20 > test::rounds(600));
}

} // namespace refine_less_traffic_test
